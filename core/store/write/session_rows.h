/* session_rows.h - the table in which sessions outlive a restart, as opaque bytes. */
#ifndef WRIT_STORE_SESSION_ROWS_H
#define WRIT_STORE_SESSION_ROWS_H

#include "store/write/store.h"

/** WRIT_ENTRY_SESSION_PUT: joins the group. Once on disk, the boundary of the session stays open
 * until the session expires or is dropped. A row that is only renewed does not come back after
 * another gateway dropped it. WRIT_E_LIMIT: a text is too long, or there are sessions_max other
 * sessions, unless it has no boundary, and so is no session of a client; WRIT_E_IO. */
WRIT_RESULT writ_session_rows_put(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_SESSION_GET: reads the row, in the arena of the entry. WRIT_E_ABSENT: no such
 * session, or expired; WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_session_rows_get(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_SESSION_DROP: joins the group. */
WRIT_RESULT writ_session_rows_drop(struct writ_ledger *ledger, struct writ_entry *entry);

#endif
