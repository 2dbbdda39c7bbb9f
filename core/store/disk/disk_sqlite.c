/* disk_sqlite.c - the file of SQLite under a log: its connections, the check of its tables, making
 * and migrating them. It is its own file because nothing of it concerns a log on PostgreSQL
 * (disk_postgres.c). No code of a foreign file runs, and its schema must equal ours exactly. */
#include "store/disk/disk.h"

#include "base/id.h"
#include "base/text.h"
#include "store/disk/disk_parts.h"
#include "store/disk/lines.h"

#define US_PER_MS 1000

static const char *const schema[] = {
#define SCHEMA_TEXT(text) (text),
    WRIT_DISK_SCHEMA(SCHEMA_TEXT)
#undef SCHEMA_TEXT
};

#define SCHEMA_COUNT (sizeof schema / sizeof schema[0])

/* The rest of `schema`, for the migration. */
static const char *const added[] = {
#define SCHEMA_TEXT(text) (text),
    WRIT_DISK_ADDED(SCHEMA_TEXT)
#undef SCHEMA_TEXT
};

#define ADDED_COUNT (sizeof added / sizeof added[0])

/* ---- connecting ---- */

static WRIT_RESULT
execute(sqlite3 *db, const char *sql, struct writ_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

static WRIT_RESULT
execute_all(sqlite3 *db, const char *const *texts, size_t n, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(execute(db, texts[i], err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
number_of(sqlite3 *db, const char *sql, int64_t *ret, struct writ_err *err)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (rc == SQLITE_OK) {
        rc = sqlite3_step(statement);
    }
    if (rc == SQLITE_ROW) {
        *ret = sqlite3_column_int64(statement, 0);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

/* A foreign file must not run code: its schema may have no triggers, views, extensions or
 * functions, and no shadow tables that statements would write unseen. */
static void
harden(sqlite3 *db)
{
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, WRIT_DISK_BYTES_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

static WRIT_RESULT
connect_to(const char *path, int flags, const char *vfs, int64_t busy_us, sqlite3 **ret,
    struct writ_err *err)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db,
        flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, vfs);
    writ_result result = WRIT_DONE;

    if (rc != SQLITE_OK) {
        result = writ_sql_sqlite_fault(db, rc, NULL, err);
        (void)sqlite3_close(db);
        return result;
    }
    harden(db);
    (void)sqlite3_busy_timeout(db, (int)(busy_us / US_PER_MS));
    *ret = db;
    return WRIT_DONE;
}

/* The schema must match exactly: a column more or an index less means another program's file. */
static WRIT_RESULT
check_schema(sqlite3 *db, size_t count, struct writ_err *err)
{
    sqlite3_stmt *statement = NULL;
    size_t found = 0;
    int rc = sqlite3_prepare_v2(db,
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid", -1, &statement, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW) {
            struct writ_view sql = writ_view(
                sqlite3_column_text(statement, 0), (size_t)sqlite3_column_bytes(statement, 0));

            if (found >= count || !writ_view_is(sql, schema[found])) {
                found = SIZE_MAX;
                break;
            }
            found++;
        }
    }
    (void)sqlite3_finalize(statement);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        return writ_sql_sqlite_fault(db, rc, NULL, err);
    }
    if (found != count) {
        WRIT_FAIL(err, WRIT_E_PARSE,
            "the tables of the database are not those of a ledger of version %d",
            count == SCHEMA_COUNT ? WRIT_DISK_VERSION : WRIT_DISK_VERSION - 1);
    }
    return WRIT_DONE;
}

static const char *
remedy_of(int64_t version)
{
    if (version > WRIT_DISK_VERSION) {
        return "use the newer writ that wrote it";
    }
    return version == WRIT_DISK_VERSION - 1
               ? "run `writ ledger migrate` on it"
               : "keep it with the older writ that wrote it, and begin a new one with "
                 "`writ ledger init`";
}

static WRIT_RESULT
read_version(sqlite3 *db, int64_t *ret, struct writ_err *err)
{
    int64_t application = 0;

    WRIT_TRY(number_of(db, "PRAGMA application_id", &application, err));
    WRIT_TRY(number_of(db, "PRAGMA user_version", ret, err));
    if (application != WRIT_DISK_APPLICATION) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the file is not a ledger (application_id %lld)",
            (long long)application);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
refuse_version(int64_t version, struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_PARSE,
        "the ledger has version %lld, and this program reads version %d: %s", (long long)version,
        WRIT_DISK_VERSION, remedy_of(version));
}

static WRIT_RESULT
check_ours(sqlite3 *db, struct writ_err *err)
{
    int64_t version = 0;

    WRIT_TRY(read_version(db, &version, err));
    return version == WRIT_DISK_VERSION ? check_schema(db, SCHEMA_COUNT, err)
                                        : refuse_version(version, err);
}

static WRIT_RESULT
check_journal(sqlite3 *db, struct writ_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool wal = false;
    int rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &statement, NULL);

    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        wal = writ_view_is(writ_view_str((const char *)sqlite3_column_text(statement, 0)), "wal");
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(statement);
    if (rc != SQLITE_OK) {
        return writ_sql_sqlite_fault(db, rc, NULL, err);
    }
    if (!wal) {
        WRIT_FAIL(
            err, WRIT_E_PARSE, "the database is not in WAL mode, as that of a ledger must be");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
prepare_connection(sqlite3 *db, bool read_only, struct writ_err *err)
{
    int rc;

    WRIT_TRY(check_ours(db, err));
    WRIT_TRY(check_journal(db, err));
    rc = writ_lines_install(db);
    if (rc != SQLITE_OK) {
        return writ_sql_sqlite_fault(db, rc, NULL, err);
    }
    WRIT_TRY(execute(db, "PRAGMA synchronous=FULL", err));
    WRIT_TRY(execute(db, "PRAGMA wal_autocheckpoint=0", err));
    WRIT_TRY(execute(db, "PRAGMA temp_store=MEMORY", err));
    WRIT_TRY(execute(db, "PRAGMA cell_size_check=ON", err));
    WRIT_TRY(execute(db, "PRAGMA mmap_size=0", err));
    if (read_only) {
        return execute(db, "PRAGMA query_only=ON", err);
    }
    if (sqlite3_db_readonly(db, "main") != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "the ledger can only be read: check the modes of its file");
    }
    return execute(db, "PRAGMA secure_delete=ON", err); /* contents: deleted bytes become zeros */
}

/* Even a reader makes files beside a ledger that no process has open: SQLite keeps its locks there.
 */
static WRIT_RESULT
name_folder(const char *path, struct writ_err *err)
{
    writ_auto_buf folder = writ_buf_make(WRIT_TEXT_PATH_MAX);

    WRIT_TRY(writ_text_folder(path, &folder, err));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    WRIT_FAIL(err, WRIT_E_IO,
        "no gateway has this ledger open, so a reader makes files beside it, and this user cannot "
        "write to the folder %s. Read it as the owner of the folder, or read a copy of the ledger "
        "in a folder of your own",
        folder.ptr);
}

WRIT_RESULT
writ_disk_parts_connect(const char *path, bool read_only, const char *vfs, int64_t busy_us,
    struct writ_sql **ret, struct writ_err *err)
{
    sqlite3 *db = NULL;
    writ_result result = connect_to(
        path, read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, vfs, busy_us, &db, err);

    if (writ_is_ok(result)) {
        result = prepare_connection(db, read_only, err);
    }
    if (!writ_is_ok(result)) {
        if (read_only && sqlite3_extended_errcode(db) == SQLITE_READONLY_DIRECTORY) {
            result = name_folder(path, err);
        }
        (void)sqlite3_close(db);
        return writ_fail_in(err, result, path);
    }
    return writ_sql_sqlite(db, ret, err);
}

/* ---- creating ---- */

static WRIT_RESULT
write_origin(sqlite3 *db, struct writ_view origin, struct writ_err *err)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(
        db, "INSERT INTO meta(name, value) VALUES('origin', ?)", -1, &statement, NULL);

    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_text(statement, 1, origin.ptr, (int)origin.len, SQLITE_STATIC);
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
}

static WRIT_RESULT
write_schema(
    sqlite3 *db, struct writ_view origin, const struct writ_clock *clock, struct writ_err *err)
{
    char id[WRIT_ID_TEXT], created[WRIT_TIME_TEXT];
    writ_auto_buf meta = writ_buf_make(512);

    WRIT_TRY(writ_id_new(clock, id, err));
    writ_time_format(writ_clock_wall_us(clock), created);
    WRIT_TRY(execute_all(db, schema, SCHEMA_COUNT, err));
    writ_buf_fmt(&meta,
        "INSERT INTO meta(name, value) VALUES('ledger', '%s'), ('created', '%s');"
        "PRAGMA application_id=%d; PRAGMA user_version=%d",
        id, created, WRIT_DISK_APPLICATION, WRIT_DISK_VERSION);
    writ_buf_byte(&meta, '\0');
    WRIT_TRY(writ_buf_check(&meta, err));
    WRIT_TRY(execute(db, meta.ptr, err));
    return origin.len > 0 ? write_origin(db, origin, err) : WRIT_DONE;
}

static WRIT_RESULT
fill_new(sqlite3 *db, struct writ_view origin, const struct writ_clock *clock, struct writ_err *err)
{
    WRIT_TRY(execute(db, "PRAGMA page_size=4096", err));
    WRIT_TRY(execute(db, "PRAGMA journal_mode=WAL", err));
    WRIT_TRY(execute(db, "PRAGMA synchronous=FULL", err));
    WRIT_TRY(execute(db, "BEGIN IMMEDIATE", err));
    WRIT_TRY(write_schema(db, origin, clock, err));
    return execute(db, "COMMIT", err);
}

WRIT_RESULT
writ_disk_create(
    const char *path, struct writ_view origin, const struct writ_clock *clock, struct writ_err *err)
{
    sqlite3 *db = NULL;
    writ_result result;
    int rc;

    WRIT_TRY(connect_to(path, SQLITE_OPEN_READWRITE, NULL, 0, &db, err));
    result = fill_new(db, origin, clock, err);
    rc = sqlite3_close(db); /* copies the write-ahead log and removes it */
    if (writ_is_ok(result) && rc != SQLITE_OK) {
        return writ_sql_sqlite_fault(NULL, rc, NULL, err);
    }
    return result;
}

static WRIT_RESULT
fill_temporary(sqlite3 *db, struct writ_err *err)
{
    int rc = writ_lines_install(db);

    if (rc != SQLITE_OK) {
        return writ_sql_sqlite_fault(db, rc, NULL, err);
    }
    WRIT_TRY(execute(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", err));
    return execute_all(db, schema, SCHEMA_COUNT, err);
}

WRIT_RESULT
writ_disk_connect_temporary(struct writ_sql **ret, struct writ_err *err)
{
    sqlite3 *db = NULL;
    writ_result result;

    WRIT_TRY(connect_to("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL, 0, &db, err));
    result = fill_temporary(db, err);
    if (!writ_is_ok(result)) {
        (void)sqlite3_close(db);
        return result;
    }
    return writ_sql_sqlite(db, ret, err);
}

/* ---- migrating ---- */

static WRIT_RESULT
add_tables(sqlite3 *db, struct writ_err *err)
{
    writ_auto_buf version = writ_buf_make(64);

    WRIT_TRY(check_schema(db, SCHEMA_COUNT - ADDED_COUNT, err));
    WRIT_TRY(execute_all(db, added, ADDED_COUNT, err));
    writ_buf_fmt(&version, "PRAGMA user_version=%d", WRIT_DISK_VERSION);
    writ_buf_byte(&version, '\0');
    WRIT_TRY(writ_buf_check(&version, err));
    return execute(db, version.ptr, err);
}

static WRIT_RESULT
migrate(sqlite3 *db, int64_t *ret_from, struct writ_err *err)
{
    writ_result result;

    WRIT_TRY(read_version(db, ret_from, err));
    if (*ret_from == WRIT_DISK_VERSION) {
        return check_schema(db, SCHEMA_COUNT, err);
    }
    if (*ret_from != WRIT_DISK_VERSION - 1) {
        return refuse_version(*ret_from, err);
    }
    WRIT_TRY(check_journal(db, err));
    WRIT_TRY(execute(db, "PRAGMA synchronous=FULL", err));
    WRIT_TRY(execute(db, "BEGIN IMMEDIATE", err));
    result = add_tables(db, err);
    if (writ_is_ok(result)) {
        result = execute(db, "COMMIT", err);
    }
    if (!writ_is_ok(result)) {
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return result;
}

WRIT_RESULT
writ_disk_migrate(const char *path, int *ret_from, struct writ_err *err)
{
    sqlite3 *db = NULL;
    int64_t from = 0;
    writ_result result;

    WRIT_TRY(connect_to(path, SQLITE_OPEN_READWRITE, NULL, WRIT_DISK_PARTS_WAIT_US, &db, err));
    result = migrate(db, &from, err);
    (void)sqlite3_close(db);
    if (!writ_is_ok(result)) {
        return writ_fail_in(err, result, path);
    }
    *ret_from = (int)from;
    return WRIT_DONE;
}
