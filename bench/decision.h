/* decision.h - the decision that the measurements record, with all members of a governed call. */
#ifndef WRIT_BENCH_DECISION_H
#define WRIT_BENCH_DECISION_H

#include "evidence/record/decision.h"

/** Borrows the three texts as long as the decision is used. */
struct writ_decision writ_bench_decision(const char *id, const char *key, const char *boundary);

#endif
