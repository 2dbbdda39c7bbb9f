/* Every step of a poisoned connection fails, except a rollback. BEGIN and COMMIT are prepared,
 * since they run with every group. */
#include "store/sql/sql_sqlite.h"

#include "base/alloc.h"
#include "store/sql/sql_engine.h"

#include <string.h>

struct connection {
    struct writ_sql base;
    sqlite3 *db;
    sqlite3_stmt *begin, *commit; /* NULL: not yet */
};

struct statement {
    struct writ_sql_statement base;
    sqlite3_stmt *sqlite;
    int bound; /* the first failure of a bind, or SQLITE_OK */
};

static struct connection *
connection_of(const struct writ_sql *sql)
{
    return (struct connection *)sql;
}

static struct statement *
statement_of(const struct writ_sql_statement *statement)
{
    return (struct statement *)statement;
}

/* ---- errors ---- */

/* Faults that may pass: the write is refused now and may succeed later. Every other code poisons,
 * also an unknown one. */
static bool
may_pass(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_READONLY:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL:
        return true;
    case SQLITE_IOERR:
        /* after a failed fsync the state of the disk is unknown, and a second fsync would report
         * success falsely */
        return rc != SQLITE_IOERR_FSYNC && rc != SQLITE_IOERR_DIR_FSYNC &&
               rc != SQLITE_IOERR_CORRUPTFS && rc != SQLITE_IOERR_DATA;
    default:
        return false;
    }
}

writ_result
writ_sql_sqlite_fault(sqlite3 *db, int rc, bool *ret_poison, struct writ_err *err)
{
    enum writ_code code = WRIT_E_IO;
    int system;

    if (ret_poison != NULL && !may_pass(rc)) {
        *ret_poison = true;
    }
    if ((rc & 0xff) == SQLITE_NOMEM) {
        code = WRIT_E_NOMEM;
    } else if ((rc & 0xff) == SQLITE_BUSY) {
        code = WRIT_E_BUSY;
    } else if ((rc & 0xff) == SQLITE_NOTADB) {
        code = WRIT_E_PARSE;
    }
    system = db != NULL ? sqlite3_system_errno(db) : 0;
    WRIT_FAIL(err, code, "database: %s (%d)%s%s", sqlite3_errstr(rc), rc, system != 0 ? ": " : "",
        system != 0 ? strerrordesc_np(system) : "");
}

writ_result
writ_sql_sqlite_failed(struct writ_sql *sql, int rc, struct writ_err *err)
{
    return writ_sql_sqlite_fault(connection_of(sql)->db, rc, &sql->poisoned, err);
}

/* ---- statements ---- */

static WRIT_RESULT
prepare_on(struct writ_sql *sql, const char *text, sqlite3_stmt **ret, struct writ_err *err)
{
    int rc =
        sqlite3_prepare_v3(connection_of(sql)->db, text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_failed(sql, rc, err);
}

static writ_result
prepare(
    struct writ_sql *sql, const char *text, struct writ_sql_statement **ret, struct writ_err *err)
{
    struct statement *statement = writ_alloc(sizeof *statement);
    writ_result result;

    if (statement == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a statement");
    }
    statement->base.sql = sql;
    result = prepare_on(sql, text, &statement->sqlite, err);
    if (!writ_is_ok(result)) {
        writ_free(statement);
        return result;
    }
    *ret = &statement->base;
    return WRIT_DONE;
}

static void
finalize(struct writ_sql_statement *base)
{
    (void)sqlite3_finalize(statement_of(base)->sqlite);
    writ_free(base);
}

static void
note_bound(struct statement *statement, int rc)
{
    if (statement->bound == SQLITE_OK) {
        statement->bound = rc;
    }
}

static void
bind_int(struct writ_sql_statement *base, int at, int64_t value)
{
    struct statement *statement = statement_of(base);

    note_bound(statement, sqlite3_bind_int64(statement->sqlite, at, value));
}

static void
bind_bytes(struct writ_sql_statement *base, int at, struct writ_view value, bool text)
{
    struct statement *statement = statement_of(base);
    const char *ptr = value.ptr == NULL ? "" : value.ptr;

    /* SQLITE_STATIC: the bytes outlive the step, and every statement is reset after it */
    note_bound(statement,
        text
            ? sqlite3_bind_text64(statement->sqlite, at, ptr, value.len, SQLITE_STATIC, SQLITE_UTF8)
            : sqlite3_bind_blob64(statement->sqlite, at, ptr, value.len, SQLITE_STATIC));
}

static void
bind_null(struct writ_sql_statement *base, int at)
{
    struct statement *statement = statement_of(base);

    note_bound(statement, sqlite3_bind_null(statement->sqlite, at));
}

static int
step_one(struct writ_sql *sql, sqlite3_stmt *sqlite)
{
    return sql->poisoned ? SQLITE_ABORT : sqlite3_step(sqlite);
}

static writ_result
step(struct writ_sql_statement *base, bool *ret_row, struct writ_err *err)
{
    struct statement *statement = statement_of(base);
    int rc = statement->bound;

    if (rc == SQLITE_OK) {
        rc = step_one(base->sql, statement->sqlite);
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        return writ_sql_sqlite_failed(base->sql, rc, err);
    }
    *ret_row = rc == SQLITE_ROW;
    return WRIT_DONE;
}

static void
reset(struct writ_sql_statement *base)
{
    struct statement *statement = statement_of(base);

    (void)sqlite3_reset(statement->sqlite);
    (void)sqlite3_clear_bindings(statement->sqlite);
    statement->bound = SQLITE_OK;
}

static writ_result
run(struct writ_sql_statement *base, struct writ_err *err)
{
    bool row = false;
    writ_result result = step(base, &row, err);

    reset(base);
    return result;
}

static int64_t
get_int(const struct writ_sql_statement *base, int column)
{
    return sqlite3_column_int64(statement_of(base)->sqlite, column);
}

static bool
is_null(const struct writ_sql_statement *base, int column)
{
    return sqlite3_column_type(statement_of(base)->sqlite, column) == SQLITE_NULL;
}

static struct writ_view
get_bytes(const struct writ_sql_statement *base, int column)
{
    sqlite3_stmt *sqlite = statement_of(base)->sqlite;
    const void *bytes = sqlite3_column_blob(sqlite, column);

    if (bytes == NULL) { /* NULL, or of no length */
        return writ_view(is_null(base, column) ? NULL : "", 0);
    }
    return writ_view(bytes, (size_t)sqlite3_column_bytes(sqlite, column));
}

static writ_result
changed(struct writ_sql *sql, uint64_t *ret, struct writ_err *err)
{
    (void)err;
    *ret = (uint64_t)sqlite3_changes64(connection_of(sql)->db);
    return WRIT_DONE;
}

static writ_result
execute(struct writ_sql *sql, const char *text, struct writ_err *err)
{
    int rc =
        sql->poisoned ? SQLITE_ABORT : sqlite3_exec(connection_of(sql)->db, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_failed(sql, rc, err);
}

/* ---- transactions ---- */

/* Runs one of the prepared statements; prepares it the first time. */
static WRIT_RESULT
run_kept(struct writ_sql *sql, sqlite3_stmt **kept, const char *text, struct writ_err *err)
{
    int rc;

    if (*kept == NULL) {
        WRIT_TRY(prepare_on(sql, text, kept, err));
    }
    rc = step_one(sql, *kept);
    (void)sqlite3_reset(*kept);
    return rc == SQLITE_DONE ? WRIT_DONE : writ_sql_sqlite_failed(sql, rc, err);
}

static writ_result
begin(struct writ_sql *sql, enum writ_sql_mode mode, struct writ_err *err)
{
    return mode == WRIT_SQL_READ
               ? execute(sql, "BEGIN", err)
               : run_kept(sql, &connection_of(sql)->begin, "BEGIN IMMEDIATE", err);
}

static void
rollback(struct writ_sql *sql)
{
    sqlite3 *db = connection_of(sql)->db;

    /* most errors have rolled back already; then nothing is left to do */
    if (sqlite3_get_autocommit(db) == 0) {
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
}

static writ_result
commit(struct writ_sql *sql, bool *ret_unknown, struct writ_err *err)
{
    writ_result result = run_kept(sql, &connection_of(sql)->commit, "COMMIT", err);

    (void)ret_unknown; /* a failed fsync poisons */
    if (!writ_is_ok(result)) {
        rollback(sql);
    }
    return result;
}

/* ---- the connection ---- */

static void
close_it(struct writ_sql *sql)
{
    struct connection *connection = connection_of(sql);

    (void)sqlite3_finalize(connection->begin);
    (void)sqlite3_finalize(connection->commit);
    (void)sqlite3_close(connection->db);
    writ_free(connection);
}

static const struct writ_sql_engine engine = {
    .close = close_it,
    .prepare = prepare,
    .finalize = finalize,
    .bind_int = bind_int,
    .bind_bytes = bind_bytes,
    .bind_null = bind_null,
    .step = step,
    .run = run,
    .reset = reset,
    .get_int = get_int,
    .get_bytes = get_bytes,
    .is_null = is_null,
    .changed = changed,
    .execute = execute,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
};

WRIT_RESULT
writ_sql_sqlite(sqlite3 *db, struct writ_sql **ret, struct writ_err *err)
{
    struct connection *connection = writ_alloc(sizeof *connection);

    if (connection == NULL) {
        (void)sqlite3_close(db);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a connection");
    }
    connection->base.engine = &engine;
    connection->db = db;
    *ret = &connection->base;
    return WRIT_DONE;
}

sqlite3 *
writ_sql_sqlite_of(const struct writ_sql *sql)
{
    return sql->engine == &engine ? connection_of(sql)->db : NULL;
}
