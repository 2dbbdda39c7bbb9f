/* disk_postgres.h - a ledger on PostgreSQL: made, and connected to. The statements are in
 * postgres.tbl.h; disk.h uses this for a path that is a URI.
 *
 * Everything blocks. */
#ifndef WRIT_STORE_DISK_POSTGRES_H
#define WRIT_STORE_DISK_POSTGRES_H

#include "base/clock.h"
#include "store/sql/sql_postgres.h"

/**
 * Creates the tables of a ledger in the schema that the search path names first, in one
 * transaction.
 *
 * @param origin  the name in its checkpoints; empty: `writ-ledger/` and its id
 * @param role    gets the rights of a gateway (WRIT_POSTGRES_RIGHTS); empty: nobody
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  it has a ledger already, or the URI has a password
 *         WRIT_E_PARSE    not a URI
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_disk_postgres_create(const char *uri, struct writ_view origin,
    struct writ_view role, const struct writ_clock *clock, struct writ_err *err);

/** Whether the schema that the search path names first has a ledger. As writ_sql_postgres. */
WRIT_RESULT writ_disk_postgres_has(const char *uri, bool *ret, struct writ_err *err);

/** Gives a role the rights of a gateway. As writ_disk_postgres_create. */
WRIT_RESULT writ_disk_postgres_grant(const char *uri, struct writ_view role, struct writ_err *err);

/** Connects to a ledger. WRIT_E_PARSE: not a ledger, or of another version; WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_postgres_connect(
    const char *uri, bool read_only, int64_t wait_us, struct writ_sql **ret, struct writ_err *err);

/**
 * Checks that what is committed here is kept: the server is the primary, flushes each commit, and
 * waits for a synchronous standby. Call it for every new connection that writes.
 *
 * @param alone  the server has no standby (`replication: none_needed`)
 *
 * @return WRIT_OK
 *         WRIT_E_IO  with what to set
 *         WRIT_E_BUSY, WRIT_E_NOMEM
 */
WRIT_RESULT writ_disk_postgres_durable(struct writ_sql *sql, bool alone, struct writ_err *err);

/** Prepares a new connection of a gateway: its rows of `segment` and `head` get these numbers.
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_postgres_name(
    struct writ_sql *sql, uint64_t slot, uint64_t epoch, struct writ_err *err);

#endif
