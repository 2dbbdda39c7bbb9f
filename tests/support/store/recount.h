/* recount.h - the reviews of a ledger counted by a look at all of them, as the kept counts must be.
 */
#ifndef WRIT_TESTS_RECOUNT_H
#define WRIT_TESTS_RECOUNT_H

#include "support/store/kit.h"

/** Compares, on the writer's thread between two groups; a difference fails the test. */
void writ_recount(struct writ_kit *kit, const char *when);

#endif
