/* notify.h - tells people about reviews and stops (`notify` of the configuration).
 *
 * Each place has a queue of WRIT_NOTIFY_QUEUE notices. What comes within `batch` of the first one
 * is one message. In quiet hours reviews wait; stops are sent at all times. A review that has ended
 * meanwhile is left out. What cannot be sent is tried WRIT_NOTIFY_TRIES times, later each time, and
 * then given up; both are logged and counted. A place that does not answer delays the others for
 * WRIT_NOTIFY_TIMEOUT_MS at most each time.
 *
 * One thread of its own; no caller waits for it. It watches the reviews of the ledger as reviewers
 * do: after a restart notices of all open reviews come again. */
#ifndef WRIT_GATEWAY_NOTIFY_H
#define WRIT_GATEWAY_NOTIFY_H

#include "gateway/state/gateway.h"
#include "gateway/stops/kill.h"

#define WRIT_NOTIFY_QUEUE      256
#define WRIT_NOTIFY_TRIES      6
#define WRIT_NOTIFY_RETRY_US   INT64_C(2000000)
#define WRIT_NOTIFY_LONGEST_US INT64_C(60000000)

struct writ_notify;

/** Starts the thread. Without `notify` in the configuration `ret` stays unchanged.
 *
 * @param shard  only this thread uses it
 * @param ret    new, free with writ_notify_free; written only on success
 *
 * WRIT_E_ABSENT, WRIT_E_INVALID (secrets), WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_notify_open(struct writ_gateway *gateway, struct writ_metrics_shard *shard,
    struct writ_notify **ret, struct writ_err *err);

/** A stop was pulled, or lifted. Does not block. NULL is permitted. Any thread. */
void writ_notify_stop(struct writ_notify *notify, bool pulled, const struct writ_kill *kill);

/** Ends the thread; what is queued is lost. Before the ledger is closed, and after the loops have
 * ended. NULL is permitted. */
void writ_notify_end(struct writ_notify *notify);

/** When the ledger is closed. NULL is permitted. */
void writ_notify_free(struct writ_notify *notify);

#endif
