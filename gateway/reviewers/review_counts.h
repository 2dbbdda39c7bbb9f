/* review_counts.h - counts the votes of reviews whose engine is a plug-in.
 *
 * The writer of the ledger cannot wait for a plug-in. So a review in which all have voted is read,
 * counted on a thread of its own, by a process of the plug-in, and the result goes to the writer as
 * an entry that names the records that were counted: with a further record it is counted again.
 * Gateways of one ledger may count the same review; the writer takes the first result. One that
 * lacks the file of the review, or cannot start a process now, leaves the count to the others and
 * tries again, until the deadline of the review. */
#ifndef WRIT_GATEWAY_REVIEW_COUNTS_H
#define WRIT_GATEWAY_REVIEW_COUNTS_H

#include "gateway/state/gateway.h"
#include "policy/read/findings.h"

#define WRIT_REVIEW_COUNTS_MAX 4 /* at once; the others wait */

struct writ_review_counts;

/** Starts watching the reviews, on the first loop. `ret` is set also when it fails: end and free
 * it. WRIT_E_NOMEM, WRIT_E_IO, WRIT_E_INVALID (a plug-in cannot count), WRIT_E_BUSY. */
WRIT_RESULT writ_review_counts_open(
    struct writ_gateway *gateway, struct writ_review_counts **ret, struct writ_err *err);

/** After the loops have ended, and before the ledger is closed: ends the counts. NULL is
 * permitted. Blocks until their processes are gone. */
void writ_review_counts_end(struct writ_review_counts *counts);

/** After the ledger is closed. NULL is permitted. */
void writ_review_counts_free(struct writ_review_counts *counts);

/** Asks each plug-in of a configuration for its name, in a process. The first one that cannot count
 * is named. Blocks. WRIT_E_INVALID, WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_review_counts_check(const struct writ_config *config, struct writ_err *err);

/** The same, for all of them, as findings. */
void writ_review_counts_find(const struct writ_config *config, struct writ_findings *findings);

#endif
