/* sql_sqlite.h - SQLite behind sql.h, and the one place that classifies its errors: a fault that
 * may pass (disk full, a lock, a read-only file system), or one after which this process must not
 * write (a failed fsync, a corrupt or foreign database). The second kind poisons the connection:
 * every later step fails. */
#ifndef WRIT_STORE_SQL_SQLITE_H
#define WRIT_STORE_SQL_SQLITE_H

#include "store/sql/sql.h"

#include <sqlite3.h>

/** A connection over `db`, which it closes, also on failure. WRIT_E_NOMEM. */
WRIT_RESULT writ_sql_sqlite(sqlite3 *db, struct writ_sql **ret, struct writ_err *err);

/** The connection of SQLite; borrowed. NULL: another database. */
sqlite3 *writ_sql_sqlite_of(const struct writ_sql *sql);

/** Maps a result of SQLite: fills `err`, returns WRIT_E_NOMEM, WRIT_E_BUSY, WRIT_E_PARSE (not a
 * database) or WRIT_E_IO, and sets *ret_poison (may be NULL) for a permanent fault. */
writ_result writ_sql_sqlite_fault(sqlite3 *db, int rc, bool *ret_poison, struct writ_err *err);

/** As writ_sql_sqlite_fault, of this connection, which it may poison. */
writ_result writ_sql_sqlite_failed(struct writ_sql *sql, int rc, struct writ_err *err);

#endif
