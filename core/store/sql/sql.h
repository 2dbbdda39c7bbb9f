/* sql.h - a connection to the database of a ledger, and the statements that run on it: SQLite
 * (sql_sqlite.h) or PostgreSQL (sql_postgres.h).
 *
 * A statement has one text for both. Parameters are `?` or `?1`; what SQLite and PostgreSQL write
 * differently (a type, a shift of bits, REPLACE INTO) is not used. Texts and blobs are bytes.
 *
 * One thread per connection. Everything here blocks. */
#ifndef WRIT_STORE_SQL_H
#define WRIT_STORE_SQL_H

#include "base/bytes.h"
#include "base/result.h"

/** A connection. */
struct writ_sql;

/** A statement, prepared on a connection. Finalize it before the connection is closed. */
struct writ_sql_statement;

/** The beginning of the text of a statement that may give any number of rows: PostgreSQL then sends
 * them in parts, and holds one state of the database while they are read. */
#define WRIT_SQL_MANY "/* many */ "

/** What a transaction is for. */
enum writ_sql_mode {
    WRIT_SQL_READ,  /* its statements see one state of the database */
    WRIT_SQL_WRITE, /* SQLite locks the database against other writers now */
};

/** Closes a connection whose statements are finalized; rolls back an open transaction. NULL is
 * permitted. */
void writ_sql_close(struct writ_sql *sql);
/** As writ_sql_close, for WRIT_AUTO; sets it to NULL. */
void writ_sql_closep(struct writ_sql **sql);

/** True after an error after which nothing may be written through this connection any more: a
 * failed fsync, a corrupt database. */
bool writ_sql_poisoned(const struct writ_sql *sql);

/* ---- statements ---- */

/** `text` must outlive the statement. PostgreSQL reports a faulty text at the first step.
 * WRIT_E_IO, _BUSY, _NOMEM. */
WRIT_RESULT writ_sql_prepare(
    struct writ_sql *sql, const char *text, struct writ_sql_statement **ret, struct writ_err *err);
/** Prepares `n` statements; `ret` has those that were made also on failure. As writ_sql_prepare. */
WRIT_RESULT writ_sql_prepare_all(struct writ_sql *sql, const char *const *texts, size_t n,
    struct writ_sql_statement **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_sql_finalize(struct writ_sql_statement *statement);
/** Finalizes `n` statements and sets them to NULL. */
void writ_sql_finalize_all(struct writ_sql_statement **statements, size_t n);

/** Parameters are counted from 1. Bytes are borrowed until the statement is reset; a parameter that
 * was not bound since is NULL. A failure to bind is reported by the step. */
void writ_sql_bind_int(struct writ_sql_statement *statement, int at, int64_t value);
void writ_sql_bind_text(struct writ_sql_statement *statement, int at, struct writ_view value);
void writ_sql_bind_blob(struct writ_sql_statement *statement, int at, struct writ_view value);
void writ_sql_bind_null(struct writ_sql_statement *statement, int at);
/** Text, or NULL when `ptr` is NULL. */
void writ_sql_bind_text_or_null(
    struct writ_sql_statement *statement, int at, struct writ_view value);

/** Runs the statement to its next row; *ret_row is false when all rows were read. WRIT_E_IO,
 * WRIT_E_BUSY (locked, or a transaction to be tried again), WRIT_E_NOMEM, WRIT_E_PARSE (not a
 * database). */
WRIT_RESULT writ_sql_step(
    struct writ_sql_statement *statement, bool *ret_row, struct writ_err *err);
/** Sends a query ahead in a transaction, so that its rows arrive with those of the next step of any
 * statement; its own first step then does not wait. Does nothing where that is not faster: SQLite,
 * WRIT_SQL_MANY, outside of a transaction. Bind before, and reset it even if it is never stepped.
 * As writ_sql_step. */
WRIT_RESULT writ_sql_ask(struct writ_sql_statement *statement, struct writ_err *err);
/** Runs a statement that gives no rows, and resets it. In a transaction PostgreSQL may only note
 * it: then a failure is reported by a later step, run or commit. As writ_sql_step. */
WRIT_RESULT writ_sql_run(struct writ_sql_statement *statement, struct writ_err *err);
/** Ends reading; bound parameters are NULL again. Always call it after writ_sql_step. */
void writ_sql_reset(struct writ_sql_statement *statement);

/** Columns are counted from 0. 0 for NULL. */
int64_t writ_sql_int(const struct writ_sql_statement *statement, int column);
/** Text or blob, ptr NULL for NULL; borrowed until the statement is stepped or reset. */
struct writ_view writ_sql_bytes(const struct writ_sql_statement *statement, int column);
bool writ_sql_is_null(const struct writ_sql_statement *statement, int column);

/** The rows that the last writ_sql_run inserted, updated or deleted. WRIT_E_IO when a noted
 * statement has failed. */
WRIT_RESULT writ_sql_changed(struct writ_sql *sql, uint64_t *ret, struct writ_err *err);

/** Runs one or several statements without parameters or rows. As writ_sql_step. */
WRIT_RESULT writ_sql_execute(struct writ_sql *sql, const char *text, struct writ_err *err);

/** Prepares a query and runs it once: appends the first column of its first row, if *ret_row.
 * `name` is its parameter; ptr NULL: it has none. As writ_sql_step; also the errors of the buffer.
 */
WRIT_RESULT writ_sql_read_one(struct writ_sql *sql, const char *text, struct writ_view name,
    struct writ_buf *ret, bool *ret_row, struct writ_err *err);

/* ---- transactions ---- */

/** As writ_sql_step. */
WRIT_RESULT writ_sql_begin(struct writ_sql *sql, enum writ_sql_mode mode, struct writ_err *err);
/** Commits. A commit that fails leaves no transaction open. *ret_unknown (may be NULL) is set when
 * the connection was lost before the answer arrived: the transaction may have been committed. As
 * writ_sql_step. */
WRIT_RESULT writ_sql_commit(struct writ_sql *sql, bool *ret_unknown, struct writ_err *err);
/** Rolls back; does nothing when no transaction is open. */
void writ_sql_rollback(struct writ_sql *sql);

#endif
