/* record.h - the three records of the contract, with what is needed to make and judge one.
 *
 * decision.h  the verdict, before the call       outcome.h   the result of the call
 * seal.h      the end of a run                   extension.h our part of `extensions`
 * member.h    the kinds of members               member.tbl.h every member of every record */
#ifndef WRIT_EVIDENCE_RECORD_H
#define WRIT_EVIDENCE_RECORD_H

#include "evidence/record/decision.h"
#include "evidence/record/extension.h"
#include "evidence/record/outcome.h"
#include "evidence/record/seal.h"

#endif
