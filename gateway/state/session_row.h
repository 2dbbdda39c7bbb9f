/* session_row.h - a session's row and run in the ledger: extended while it is used, sealed when it
 * ends. Entries submitted here outlive their request. */
#ifndef WRIT_GATEWAY_SESSION_ROW_H
#define WRIT_GATEWAY_SESSION_ROW_H

#include "gateway/state/session.h"
#include "gateway/state/worker.h"

/** Fills the entry that writes the session's row, valid for another `idle_us`. `row` is the row's
 * value and borrowed until the entry is done. */
void writ_session_row_put(struct writ_entry *entry, const struct writ_session *session,
    struct writ_view row, const struct writ_clock *clock, int64_t idle_us);

/** Extends the row of a session in use, when half of its time is over. A failure leaves the row
 * unchanged: the next request tries again. */
void writ_session_row_refresh(struct writ_worker *worker, struct writ_session *session);

/** Seals the session's run, as soon as none of its calls is in flight. When that fails, the ledger
 * seals it when it is idle. */
void writ_session_row_seal(struct writ_worker *worker, struct writ_session *session);

#endif
