/* Each table is a row of columns with a kind; a value of another kind is refused. Nothing else is
 * checked: tests make tampered ledgers here. */
#include "store/ledger/rows.h"

#include "store/disk/disk.h"
#include "store/ledger/ledger.h"

#define COLUMNS_MAX 12
#define SQL_MAX     1024
#define VALUE_MAX   ((size_t)16 << 20)

enum column_kind {
    COLUMN_NUMBER = 0,
    COLUMN_TEXT,
    COLUMN_BYTES,  /* a string, as a blob */
    COLUMN_BASE64, /* a blob, from the bytes of a string */
};

struct table {
    const char *name;
    struct {
        const char *name;
        enum column_kind kind;
    } columns[COLUMNS_MAX]; /* up to the one without name */
};

static const struct table tables[] = {
    {"boundary", {{"id", COLUMN_NUMBER}, {"tenant", COLUMN_TEXT}, {"name", COLUMN_TEXT},
                     {"first_leaf", COLUMN_NUMBER}, {"seal_leaf", COLUMN_NUMBER}}},
    {"record", {{"leaf", COLUMN_NUMBER}, {"kind", COLUMN_NUMBER}, {"boundary", COLUMN_NUMBER},
                   {"seq", COLUMN_NUMBER}, {"time_us", COLUMN_NUMBER}, {"verdict", COLUMN_NUMBER},
                   {"flags", COLUMN_NUMBER}, {"about", COLUMN_NUMBER}, {"decision_id", COLUMN_TEXT},
                   {"agent_id", COLUMN_TEXT}, {"tool", COLUMN_TEXT}, {"claim", COLUMN_BASE64}}},
    {"body", {{"leaf", COLUMN_NUMBER}, {"bytes", COLUMN_BYTES}}},
    {"head", {{"leaf", COLUMN_NUMBER}, {"size", COLUMN_NUMBER}, {"nodes", COLUMN_BASE64},
                 {"note", COLUMN_BYTES}}},
};

static void
end_statement(sqlite3_stmt **statement)
{
    (void)sqlite3_finalize(*statement);
}

static size_t
count_columns(const struct table *table)
{
    size_t n = 0;

    while (n < COLUMNS_MAX && table->columns[n].name != NULL) {
        n++;
    }
    return n;
}

static WRIT_RESULT
run(sqlite3 *db, const char *sql, struct writ_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

static WRIT_RESULT
prepare(sqlite3 *db, const struct table *table, sqlite3_stmt **ret, struct writ_err *err)
{
    writ_auto_buf sql = writ_buf_make(SQL_MAX);
    size_t n = count_columns(table);
    int rc;

    writ_buf_fmt(&sql, "INSERT INTO %s(", table->name);
    for (size_t i = 0; i < n; i++) {
        writ_buf_fmt(&sql, "%s%s", i > 0 ? "," : "", table->columns[i].name);
    }
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(&sql, i > 0 ? ",?" : ") VALUES(?");
    }
    writ_buf_str(&sql, ")");
    WRIT_TRY(writ_buf_check(&sql, err));
    rc = sqlite3_prepare_v2(db, sql.ptr, (int)sql.len, ret, NULL);
    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

/* Binds the value of a column. False: the value is not of its kind. */
static bool
bind(sqlite3_stmt *statement, int at, enum column_kind kind, const struct writ_json *value)
{
    writ_auto_buf bytes = writ_buf_make(VALUE_MAX);
    struct writ_view text = writ_json_string(value);
    int64_t number;

    if (writ_json_type(value) == WRIT_JSON_NULL) {
        return sqlite3_bind_null(statement, at) == SQLITE_OK;
    }
    if (kind == COLUMN_NUMBER) {
        return writ_is_ok(writ_json_integer(value, INT64_MIN, INT64_MAX, &number)) &&
               sqlite3_bind_int64(statement, at, number) == SQLITE_OK;
    }
    if (writ_json_type(value) != WRIT_JSON_STRING) {
        return false;
    }
    if (kind == COLUMN_TEXT) {
        return sqlite3_bind_text64(
                   statement, at, text.ptr, text.len, SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK;
    }
    if (kind == COLUMN_BASE64) {
        if (!writ_is_ok(writ_base64_read(text, &bytes))) {
            return false;
        }
        text = writ_buf_view(&bytes);
    }
    return sqlite3_bind_blob64(statement, at, text.len > 0 ? text.ptr : "", text.len,
               SQLITE_TRANSIENT) == SQLITE_OK;
}

static WRIT_RESULT
put_row(sqlite3 *db, const struct table *table, sqlite3_stmt *statement,
    const struct writ_json *row, struct writ_err *err)
{
    size_t n = count_columns(table), members = 0;
    int rc;

    (void)sqlite3_clear_bindings(statement);
    for (size_t i = 0; i < n; i++) {
        const struct writ_json *value = writ_json_get(row, writ_view_str(table->columns[i].name));

        members += value != NULL;
        if (value != NULL && !bind(statement, (int)i + 1, table->columns[i].kind, value)) {
            WRIT_FAIL(err, WRIT_E_PARSE, "a row of %s has another kind of %s", table->name,
                table->columns[i].name);
        }
    }
    if (writ_json_type(row) != WRIT_JSON_OBJECT || row->count != members) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a row of %s is not one of its columns", table->name);
    }
    rc = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    if ((rc & 0xff) == SQLITE_CONSTRAINT) { /* of whatever kind */
        WRIT_FAIL(err, WRIT_E_INVALID, "%s cannot have such a row", table->name);
    }
    return rc == SQLITE_DONE ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

static WRIT_RESULT
put_table(
    sqlite3 *db, const struct table *table, const struct writ_json *rows, struct writ_err *err)
{
    WRIT_AUTO(sqlite3_stmt *, end_statement) statement = NULL;

    if (writ_json_type(rows) != WRIT_JSON_ARRAY) {
        WRIT_FAIL(err, WRIT_E_PARSE, "%s is not a list of rows", table->name);
    }
    WRIT_TRY(prepare(db, table, &statement, err));
    WRIT_JSON_EACH(row, rows)
    {
        WRIT_TRY(put_row(db, table, statement, row, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_id(sqlite3 *db, const struct writ_json *id, struct writ_err *err)
{
    WRIT_AUTO(sqlite3_stmt *, end_statement) statement = NULL;
    int rc = sqlite3_prepare_v2(
        db, "UPDATE meta SET value = ? WHERE name = 'ledger'", -1, &statement, NULL);

    if (rc == SQLITE_OK && !bind(statement, 1, COLUMN_TEXT, id)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "ledger is not the id of one");
    }
    rc = rc == SQLITE_OK ? sqlite3_step(statement) : rc;
    return rc == SQLITE_DONE ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

WRIT_RESULT
writ_rows_create(const char *path, const struct writ_json *all, const struct writ_clock *clock,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;
    sqlite3 *db;

    WRIT_TRY(writ_ledger_create(path, (struct writ_view){0}, clock, err));
    WRIT_TRY(writ_disk_connect(path, false, 0, &sql, err));
    db = writ_sql_sqlite_of(sql);
    WRIT_TRY(run(db, "BEGIN", err));
    WRIT_TRY(put_id(db, writ_json_get(all, WRIT_LIT("ledger")), err));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        WRIT_TRY(put_table(db, &tables[i], writ_json_get(all, writ_view_str(tables[i].name)), err));
    }
    return run(db, "COMMIT", err);
}
