/* session_rows.h - the table in which sessions outlive a restart, as opaque bytes. */
#ifndef WRIT_STORE_SESSION_ROWS_H
#define WRIT_STORE_SESSION_ROWS_H

#include "store/store.h"

WRIT_RESULT writ_session_rows_put(struct writ_ledger *ledger, struct writ_entry *entry);
WRIT_RESULT writ_session_rows_get(struct writ_ledger *ledger, struct writ_entry *entry);
WRIT_RESULT writ_session_rows_drop(struct writ_ledger *ledger, struct writ_entry *entry);
WRIT_RESULT writ_session_rows_write(
    struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err);
void writ_session_rows_finish(struct writ_ledger *ledger, const struct writ_op *op);

#endif
