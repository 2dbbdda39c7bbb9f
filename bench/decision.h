/* decision.h - the decision that the measurements record: one with all members that a governed call
 * of the gateway has. */
#ifndef WRIT_BENCH_DECISION_H
#define WRIT_BENCH_DECISION_H

#include "evidence/record/decision.h"

/** The three texts are borrowed as long as the decision is used. */
struct writ_decision writ_bench_decision(const char *id, const char *key, const char *boundary);

#endif
