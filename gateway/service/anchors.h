/* anchors.h - sends each new checkpoint to the anchors (`ledger.anchors`, and the gateway's own
 * memory file, `ledger.remember`), one after the other, on a thread of its own. A failure is logged
 * and counted, and tried again after a pause that doubles. An anchor that does not answer delays
 * the others for WRIT_ANCHOR_TIMEOUT_MS (10 s) at most each time.
 *
 * A file with a trusted checkpoint that the ledger contradicts shows that records were lost or
 * exchanged: the thread reports it to the ledger, which grants nothing more. */
#ifndef WRIT_GATEWAY_ANCHORS_H
#define WRIT_GATEWAY_ANCHORS_H

#include "base/log.h"
#include "gateway/listener/metrics.h"
#include "policy/model/config.h"
#include "store/ledger/ledger.h"

#define WRIT_ANCHORS_RETRY_US    INT64_C(1000000) /* after the first failure */
#define WRIT_ANCHORS_LONGEST_US  INT64_C(60000000)
#define WRIT_ANCHORS_REMEMBER_US INT64_C(10000000) /* from one to the next of our own */

struct writ_anchors;

/**
 * Starts the thread; the first checkpoint is sent at once.
 *
 * @param config  has the anchors, the store and the keys, which are read again each time; outlives
 *                it
 * @param shard   only this thread uses it
 * @param ledger  gets the findings; outlives it
 * @param ret     new, free with writ_anchors_free; written only on success
 *
 * WRIT_E_NOMEM, WRIT_E_INVALID (a URL that is not allowed).
 */
WRIT_RESULT writ_anchors_open(const struct writ_config *config, struct writ_ledger *ledger,
    const struct writ_clock *clock, struct writ_log *log, struct writ_metrics_shard *shard,
    struct writ_anchors **ret, struct writ_err *err);

/** Cancels the running job. NULL is permitted. */
void writ_anchors_free(struct writ_anchors *anchors);

#endif
