/* session_row.h - a session's row and run in the ledger: kept fresh while it is used, sealed when
 * it ends. What is submitted here outlives the request that submits it. */
#ifndef WRIT_GATEWAY_SESSION_ROW_H
#define WRIT_GATEWAY_SESSION_ROW_H

#include "gateway/state/session.h"
#include "gateway/state/worker.h"

/** Fills the entry that writes the session's row, good for another `idle_us`. `row` is the row's
 * value and borrowed until the entry is done. */
void writ_session_row_put(struct writ_entry *entry, const struct writ_session *session,
    struct writ_view row, const struct writ_clock *clock, int64_t idle_us);

/** Extends the row of a session that is in use, when half of its time is over. A failure leaves the
 * row as it is: it is tried again by the next request. */
void writ_session_row_refresh(struct writ_worker *worker, struct writ_session *session);

/** Seals the session's run, as soon as no call of it is in flight. Where that fails, the ledger
 * seals it when it is idle. */
void writ_session_row_seal(struct writ_worker *worker, struct writ_session *session);

#endif
