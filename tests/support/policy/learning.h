/* learning.h - rules learned from written calls, for tests. A failure in here fails the test. */
#ifndef WRIT_TESTS_LEARNING_H
#define WRIT_TESTS_LEARNING_H

#include "policy/learn/apply.h"

/** Feeds one call of the tool s/t by the agent dev; `run` (0: a run of its own) and the number of
 * the call become its run and its decision. */
void writ_learning_add(struct writ_learn *learn, const char *arguments, size_t run);

/** The proposal for the first tool. */
struct writ_learned writ_learning_propose(
    const struct writ_learn *learn, uint64_t least, struct writ_arena *arena);

/** The text of a configuration with a rule for s/t that has these constraints; NUL-terminated. */
const char *writ_learning_yaml(
    const struct writ_learn *learn, const struct writ_learned *learned, struct writ_arena *arena);

/** What stands behind the argument; fails the test when there is nothing. */
const struct writ_learned_argument *writ_learning_argument(
    const struct writ_learned *learned, const char *pointer);

/** A configuration with the upstream "s" and nothing in `tools`. */
extern const char writ_learning_empty[];

#endif
