/* pool_rows.h - insights that agents of one tenant share (crew/pool.h): a row of `pool` each, in
 * the transaction of the fact that records it.
 *
 * The rows are read from the disk for every request, so that all gateways of a ledger have the same
 * pool, and a start needs none of it. One thread, the writer's. Everything blocks on the disk. */
#ifndef WRIT_STORE_POOL_ROWS_H
#define WRIT_STORE_POOL_ROWS_H

#include "store/write/store.h"

/** WRIT_ENTRY_POOL_PUT: joins the group. WRIT_E_INVALID: no agent, not a canonical object, or a
 * time that has passed; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_pool_rows_put(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_POOL_REMOVE: joins the group. WRIT_E_ABSENT, WRIT_E_IO, WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_pool_rows_remove(struct writ_ledger *ledger, struct writ_entry *entry);
/** WRIT_ENTRY_POOL_READ. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_pool_rows_read(struct writ_ledger *ledger, struct writ_entry *entry);

/** WRIT_ENTRY_POOL_WATCH: the entry waits at least until the end of the turn. Returns true. */
bool writ_pool_rows_watch(struct writ_ledger *ledger, struct writ_entry *entry);
/** Between two groups: ends the watching entries that an insight was put for, or that have no time
 * left; all of them when the ledger is closed. */
void writ_pool_rows_tell(struct writ_ledger *ledger, bool ending);

/** Another gateway has put an insight with this number. */
void writ_pool_rows_heard(struct writ_ledger *ledger, uint64_t number);

#endif
