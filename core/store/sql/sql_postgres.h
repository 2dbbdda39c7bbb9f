/* sql_postgres.h - PostgreSQL 15 or later behind sql.h, over libpq.
 *
 * In a write transaction writ_sql_run only queues its statement: the next query, writ_sql_changed
 * or the commit sends everything in one round trip. The first failure of a transaction fails every
 * later call in it until the rollback.
 *
 * Every column of integers is bigint; every column of texts or blobs is bytea, so that a text may
 * hold U+0000. PostgreSQL gives a parameter the type of the place where it is first used:
 *   - write `tenant = ?3 OR ?3 IS NULL`: it refuses a parameter whose first use has no type;
 *   - write `CAST(?3 AS BIGINT) = 1`, also for a condition: beside a literal alone the type is
 *     that of the literal, a shorter integer (as that of INTEGER is), and the value is refused.
 *
 * A statement that begins with WRIT_SQL_MANY is read through a cursor. Outside of a transaction its
 * first step begins a read-only one, which lasts until the last such statement is reset; meanwhile
 * writ_sql_begin fails and other statements only read. A cursor ends with its transaction.
 *
 * libpq reads its environment variables (PGPASSFILE, PGPASSWORD, PGSSLROOTCERT). */
#ifndef WRIT_STORE_SQL_POSTGRES_H
#define WRIT_STORE_SQL_POSTGRES_H

#include "store/sql/sql.h"
#include "store/sql/sql_uri.h"

struct writ_sql_postgres_options {
    const char *uri; /* borrowed for the call */
    bool read_only;  /* no statement can write */
    int64_t wait_us; /* longest wait for the server; 0: WRIT_SQL_POSTGRES_WAIT_US */
};

/** The default longest wait for the server, and the most that is honoured. */
#define WRIT_SQL_POSTGRES_WAIT_US      INT64_C(10000000)
#define WRIT_SQL_POSTGRES_WAIT_MOST_US INT64_C(3600000000)

/**
 * Connects. When the server does not answer within the longest wait, the connection is lost. A
 * lock is waited for half as long; the server ends a transaction that waits twice as long for the
 * client. Each host of the URI is tried for connect_timeout, by default the longest wait and at
 * least 2 s.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  the URI is refused, as by writ_sql_uri_check
 *         WRIT_E_IO       unreachable, refused, or older than PostgreSQL 15
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_sql_postgres(
    const struct writ_sql_postgres_options *options, struct writ_sql **ret, struct writ_err *err);

bool writ_sql_is_postgres(const struct writ_sql *sql);

/** True when the connection is lost: every call fails until writ_sql_reconnect; one that only reads
 * makes a new connection with its next transaction or statement. False for SQLite. */
bool writ_sql_broken(const struct writ_sql *sql);

/** Gives the connection up: it is lost. Nothing for SQLite. */
void writ_sql_give_up(struct writ_sql *sql);

/** Gives the connection up and makes a new one; an open transaction is lost. Statements stay valid
 * and are prepared again when they are next used; reset those that were being read. As
 * writ_sql_postgres; WRIT_E_INVALID for SQLite. */
WRIT_RESULT writ_sql_reconnect(struct writ_sql *sql, struct writ_err *err);

/** The SQLSTATE of the last failure; "" when it had none, and for SQLite. Borrowed until the next
 * call. */
const char *writ_sql_state(const struct writ_sql *sql);

#endif
