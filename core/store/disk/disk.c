/* After an error that poisons, the log reads and writes nothing more. No code of a foreign file
 * runs, and its schema must equal ours exactly. The numbers of columns and kinds are on disk and
 * must not change. */
#include "store/disk/disk.h"

#include "base/id.h"
#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"
#include "store/disk/disk_postgres.h"
#include "store/disk/file.h"
#include "store/disk/lines.h"
#include "store/disk/wal_vfs.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#define CACHE_KIB    16384 /* of pages in memory */
#define US_PER_MS    1000
#define READ_WAIT_US INT64_C(5000000) /* a reader waits for a lock, or for the server */
#define LINES_SOFT   (16 << 10)       /* bytes of bodies in a row that may take another body */
#define LINES_PAGE   8100             /* what fits into a page of PostgreSQL with its row */

/* these numbers are on disk */
_Static_assert(WRIT_DECISION_DENY == 0 && WRIT_DECISION_ALLOW == 1 &&
                   WRIT_DECISION_REQUIRE_APPROVAL == 2 && WRIT_DECISION_REVISE == 3,
    "record.verdict of decisions");
_Static_assert(WRIT_OUTCOME_ERROR == 0 && WRIT_OUTCOME_EXECUTED == 1 && WRIT_OUTCOME_BLOCKED == 2 &&
                   WRIT_OUTCOME_TIMEOUT == 3,
    "record.verdict of outcomes");

#define STATEMENT_TEXT(NAME, text) [WRIT_SQL_##NAME] = (text),
static const char *const texts[WRIT_SQL_COUNT] = {
    WRIT_DISK_STATEMENTS(STATEMENT_TEXT) WRIT_POSTGRES_STATEMENTS(STATEMENT_TEXT)};
static const char *const postgres_texts[WRIT_SQL_COUNT] = {WRIT_POSTGRES_OTHERS(STATEMENT_TEXT)};
#undef STATEMENT_TEXT

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

/* ---- errors ---- */

static WRIT_RESULT
note(struct writ_disk *disk, writ_result result)
{
    disk->poisoned = disk->poisoned || writ_sql_poisoned(disk->sql);
    return result;
}

/* ---- opening ---- */

/* Without memory statistics SQLite takes no lock around an allocation. Without a first piece of the
 * page cache (20 pages for each database that is opened, all touched) it allocates pages when it
 * reads them. These calls have no effect in a process that has used SQLite before. */
static pthread_once_t configured = PTHREAD_ONCE_INIT;

static void
configure(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

static WRIT_RESULT
execute(sqlite3 *db, const char *sql, struct writ_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_sql_sqlite_fault(db, rc, NULL, err);
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

static WRIT_RESULT
connect_prepared(const char *path, bool read_only, const char *vfs, int64_t busy_us,
    struct writ_sql **ret, struct writ_err *err)
{
    sqlite3 *db = NULL;
    writ_result result = connect_to(
        path, read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, vfs, busy_us, &db, err);

    if (writ_is_ok(result)) {
        result = prepare_connection(db, read_only, err);
    }
    if (!writ_is_ok(result)) {
        (void)sqlite3_close(db);
        return writ_fail_in(err, result, path);
    }
    return writ_sql_sqlite(db, ret, err);
}

WRIT_RESULT
writ_disk_connect(
    const char *path, bool read_only, int64_t busy_us, struct writ_sql **ret, struct writ_err *err)
{
    if (writ_sql_is_uri(writ_view_str(path))) {
        return writ_disk_postgres_connect(path, read_only, busy_us, ret, err);
    }
    return connect_prepared(path, read_only, NULL, busy_us, ret, err);
}

WRIT_RESULT
writ_disk_connect_reader(const char *path, struct writ_sql **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};

    if (!writ_sql_is_uri(writ_view_str(path))) {
        WRIT_TRY(writ_file_name(path, &file, err));
        WRIT_TRY(writ_file_check(&file, err));
    }
    return writ_disk_connect(path, true, READ_WAIT_US, ret, err);
}

static int
note_wal(void *ctx, sqlite3 *db, const char *name, int pages)
{
    struct writ_disk *disk = ctx;

    (void)db;
    (void)name;
    disk->wal_begun = disk->wal_begun || pages < 0 || (uint64_t)pages < disk->wal_pages;
    disk->wal_pages = pages < 0 ? 0 : (uint64_t)pages;
    return SQLITE_OK;
}

static WRIT_RESULT
open_shared(const char *uri, int64_t busy_us, struct writ_disk *disk, struct writ_err *err)
{
    WRIT_TRY(writ_disk_postgres_connect(uri, false, busy_us, &disk->sql, err));
    for (size_t i = 0; i < WRIT_SQL_COUNT; i++) {
        const char *text = postgres_texts[i] != NULL ? postgres_texts[i] : texts[i];

        WRIT_TRY(writ_sql_prepare(disk->sql, text, &disk->statements[i], err));
    }
    return WRIT_DONE;
}

bool
writ_disk_is_shared(const struct writ_disk *disk)
{
    return writ_sql_sqlite_of(disk->sql) == NULL;
}

WRIT_RESULT
writ_disk_open(const char *path, int64_t busy_us, struct writ_disk *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_disk, writ_disk_close) disk = {0};

    if (writ_sql_is_uri(writ_view_str(path))) {
        WRIT_TRY(open_shared(path, busy_us, &disk, err));
        *ret = disk;
        disk = (struct writ_disk){0};
        return WRIT_DONE;
    }
    (void)pthread_once(&configured, configure);
    WRIT_TRY(writ_wal_vfs_install(err));
    WRIT_TRY(connect_prepared(path, false, WRIT_WAL_VFS_NAME, busy_us, &disk.sql, err));
    WRIT_TRY(writ_sql_prepare_all(disk.sql, texts, WRIT_SQL_LOCAL_COUNT, disk.statements, err));
    *ret = disk;
    (void)sqlite3_wal_hook(writ_sql_sqlite_of(ret->sql), note_wal, ret);
    disk = (struct writ_disk){0};
    return WRIT_DONE;
}

void
writ_disk_close(struct writ_disk *disk)
{
    writ_sql_finalize_all(disk->statements, WRIT_SQL_COUNT);
    for (size_t i = 0; i < WRIT_DISK_COLUMNS; i++) {
        writ_sql_array_wipe(&disk->columns[i]);
    }
    writ_span_wipe(&disk->span);
    writ_sql_close(disk->sql);
    *disk = (struct writ_disk){0};
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
    for (size_t i = 0; i < SCHEMA_COUNT; i++) {
        WRIT_TRY(execute(db, schema[i], err));
    }
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
    for (size_t i = 0; i < SCHEMA_COUNT; i++) {
        WRIT_TRY(execute(db, schema[i], err));
    }
    return WRIT_DONE;
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
    for (size_t i = 0; i < ADDED_COUNT; i++) {
        WRIT_TRY(execute(db, added[i], err));
    }
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

    WRIT_TRY(connect_to(path, SQLITE_OPEN_READWRITE, NULL, READ_WAIT_US, &db, err));
    result = migrate(db, &from, err);
    (void)sqlite3_close(db);
    if (!writ_is_ok(result)) {
        return writ_fail_in(err, result, path);
    }
    *ret_from = (int)from;
    return WRIT_DONE;
}

/* ---- statements ---- */

static void
bind_all(struct writ_sql_statement *statement, const char *fmt, va_list args)
{
    for (int at = 1; *fmt != '\0'; fmt++, at++) {
        switch (*fmt) {
        case 'i':
            writ_sql_bind_int(statement, at, va_arg(args, int64_t));
            break;
        case 'u':
            writ_sql_bind_int(statement, at, (int64_t)va_arg(args, uint64_t));
            break;
        case 't':
            writ_sql_bind_text(statement, at, va_arg(args, struct writ_view));
            break;
        default:
            WRIT_INVARIANT(*fmt == 'b');
            writ_sql_bind_blob(statement, at, va_arg(args, struct writ_view));
        }
    }
}

/* A poisoned log runs nothing. */
static WRIT_RESULT
check_poisoned(const struct writ_disk *disk, struct writ_err *err)
{
    if (disk->poisoned) {
        WRIT_FAIL(err, WRIT_E_IO, "database: the ledger writes nothing until it is opened again");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_run(struct writ_disk *disk, enum writ_statement statement, struct writ_err *err,
    const char *fmt, ...)
{
    va_list args;

    WRIT_TRY(check_poisoned(disk, err));
    disk->waits = disk->waits || statement == WRIT_SQL_WAIT_PUT ||
                  statement == WRIT_SQL_WAIT_BIND || statement == WRIT_SQL_WAIT_DROP;
    va_start(args, fmt);
    bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    return note(disk, writ_sql_run(disk->statements[statement], err));
}

WRIT_RESULT
writ_disk_query(struct writ_disk *disk, enum writ_statement statement, bool *ret_row,
    struct writ_err *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    return writ_disk_next(disk, statement, ret_row, err);
}

WRIT_RESULT
writ_disk_ask(struct writ_disk *disk, enum writ_statement statement, struct writ_err *err,
    const char *fmt, ...)
{
    va_list args;

    WRIT_TRY(check_poisoned(disk, err));
    va_start(args, fmt);
    bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    return note(disk, writ_sql_ask(disk->statements[statement], err));
}

WRIT_RESULT
writ_disk_records(struct writ_disk *disk, struct writ_view id, bool *ret_row, struct writ_err *err)
{
    uint64_t from = 0;

    WRIT_TRY(check_poisoned(disk, err));
    WRIT_TRY(note(disk, writ_span_from(&disk->span, disk->sql, id, &from, err)));
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_REVIEW_RECORDS, ret_row, err, "tu", id, from));
    if (from == 0 ||
        (*ret_row && writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) == WRIT_ROW_DECISION)) {
        return WRIT_DONE;
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_RECORDS); /* all of the log */
    return writ_disk_query(disk, WRIT_SQL_REVIEW_RECORDS, ret_row, err, "tu", id, (uint64_t)0);
}

WRIT_RESULT
writ_disk_next(
    struct writ_disk *disk, enum writ_statement statement, bool *ret_row, struct writ_err *err)
{
    WRIT_TRY(check_poisoned(disk, err));
    return note(disk, writ_sql_step(disk->statements[statement], ret_row, err));
}

void
writ_disk_end(struct writ_disk *disk, enum writ_statement statement)
{
    writ_sql_reset(disk->statements[statement]);
}

int64_t
writ_disk_int(struct writ_disk *disk, enum writ_statement statement, int column)
{
    return writ_sql_int(disk->statements[statement], column);
}

struct writ_view
writ_disk_bytes(struct writ_disk *disk, enum writ_statement statement, int column)
{
    return writ_sql_bytes(disk->statements[statement], column);
}

WRIT_RESULT
writ_disk_changed(struct writ_disk *disk, uint64_t *ret, struct writ_err *err)
{
    return note(disk, writ_sql_changed(disk->sql, ret, err));
}

/* ---- transactions ---- */

WRIT_RESULT
writ_disk_begin(struct writ_disk *disk, struct writ_err *err)
{
    WRIT_TRY(check_poisoned(disk, err));
    disk->waits = disk->unknown = false;
    return note(disk, writ_sql_begin(disk->sql, WRIT_SQL_WRITE, err));
}

WRIT_RESULT
writ_disk_finish(struct writ_disk *disk, writ_result result, struct writ_err *err)
{
    if (writ_is_ok(result)) {
        result = check_poisoned(disk, err);
    }
    if (writ_is_ok(result)) {
        return note(disk, writ_sql_commit(disk->sql, &disk->unknown, err));
    }
    writ_sql_rollback(disk->sql);
    return result;
}

/* ---- destroying ---- */

/* The first DELETE of a table without WHERE gives all its pages back at once, as zeros. */
static const char renew[] = "CREATE TEMP TABLE kept_result AS SELECT * FROM main.result;"
                            "CREATE TEMP TABLE kept_review AS SELECT * FROM main.review;"
                            "DELETE FROM main.result;"
                            "DELETE FROM main.review;"
                            "INSERT INTO main.result SELECT * FROM temp.kept_result;"
                            "INSERT INTO main.review SELECT * FROM temp.kept_review;"
                            "DROP TABLE temp.kept_result;"
                            "DROP TABLE temp.kept_review;";

WRIT_RESULT
writ_disk_renew(struct writ_disk *disk, struct writ_err *err)
{
    WRIT_TRY(check_poisoned(disk, err));
    if (writ_disk_is_shared(disk)) { /* VACUUM of the server gives the pages back */
        return WRIT_DONE;
    }
    return note(disk, writ_sql_execute(disk->sql, renew, err));
}

static writ_result
failed(struct writ_disk *disk, int rc, struct writ_err *err)
{
    return note(disk, writ_sql_sqlite_failed(disk->sql, rc, err));
}

WRIT_RESULT
writ_disk_copy_wal(struct writ_disk *disk, struct writ_err *err)
{
    int rc;

    if (writ_disk_is_shared(disk)) {
        return WRIT_DONE;
    }
    rc = sqlite3_wal_checkpoint_v2(
        writ_sql_sqlite_of(disk->sql), "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

    if ((rc & 0xff) == SQLITE_BUSY) {
        return WRIT_DONE;
    }
    if (rc != SQLITE_OK) {
        return failed(disk, rc, err);
    }
    disk->wal_pages = 0; /* the next commit reports the number */
    disk->wal_begun = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_cut_wal(struct writ_disk *disk, int64_t busy_us, bool *ret_done, struct writ_err *err)
{
    sqlite3 *db = writ_sql_sqlite_of(disk->sql);
    int rc;

    *ret_done = db == NULL; /* the server has its own write-ahead log */
    WRIT_TRY(check_poisoned(disk, err));
    if (db == NULL) {
        return WRIT_DONE;
    }
    (void)sqlite3_busy_timeout(db, 0);
    rc = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(db, (int)(busy_us / US_PER_MS));
    if ((rc & 0xff) == SQLITE_BUSY) {
        return WRIT_DONE;
    }
    if (rc != SQLITE_OK) {
        return failed(disk, rc, err);
    }
    disk->wal_pages = 0;
    disk->wal_begun = true;
    *ret_done = true;
    return WRIT_DONE;
}

/* ---- records ---- */

#define ROW_NUMBERS 7 /* the first columns of a record, which always have a value */

static void
numbers_of(const struct writ_row *row, int64_t ret[ROW_NUMBERS])
{
    const int64_t numbers[ROW_NUMBERS] = {(int64_t)row->leaf, (int64_t)row->kind,
        (int64_t)row->boundary, (int64_t)row->seq, row->time_us, row->verdict, (int64_t)row->flags};

    for (size_t i = 0; i < ROW_NUMBERS; i++) {
        ret[i] = numbers[i];
    }
}

static bool
has_about(const struct writ_row *row)
{
    return row->kind == WRIT_ROW_OUTCOME || (row->flags & WRIT_ROW_FOLLOWS) != 0;
}

static void
bind_row(struct writ_sql_statement *statement, int at, const struct writ_row *row)
{
    int64_t numbers[ROW_NUMBERS];

    numbers_of(row, numbers);
    for (size_t i = 0; i < ROW_NUMBERS; i++) {
        writ_sql_bind_int(statement, at++, numbers[i]);
    }
    if (has_about(row)) {
        writ_sql_bind_int(statement, at, (int64_t)row->about);
    } /* else it stays NULL */
    at++;
    writ_sql_bind_text_or_null(statement, at++, row->decision_id);
    writ_sql_bind_text_or_null(statement, at++, row->agent_id);
    writ_sql_bind_text_or_null(statement, at++, row->tool);
    if (row->claim != NULL) {
        writ_sql_bind_blob(statement, at, writ_view(row->claim, WRIT_DISK_CLAIM_BYTES));
    }
}

static WRIT_RESULT
append(struct writ_disk *disk, enum writ_statement which, const struct writ_row *const *rows,
    size_t n, struct writ_err *err)
{
    WRIT_TRY(check_poisoned(disk, err));
    for (size_t i = 0; i < n; i++) {
        bind_row(disk->statements[which], 1 + (int)i * WRIT_DISK_COLUMNS, rows[i]);
    }
    return note(disk, writ_sql_run(disk->statements[which], err));
}

/* ---- many rows in one statement ---- */

static void
begin_columns(struct writ_disk *disk, const char *types)
{
    for (size_t i = 0; types[i] != '\0'; i++) {
        writ_sql_array_begin(
            &disk->columns[i], types[i] == 'i' ? WRIT_SQL_ARRAY_INT : WRIT_SQL_ARRAY_BYTES);
    }
}

/* The first parameters of the statement are the columns. */
static WRIT_RESULT
bind_columns(struct writ_disk *disk, enum writ_statement statement, size_t n, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(writ_sql_array_end(&disk->columns[i], err));
        writ_sql_bind_blob(
            disk->statements[statement], (int)i + 1, writ_buf_view(&disk->columns[i].bytes));
    }
    return WRIT_DONE;
}

static void
add_row(struct writ_disk *disk, const struct writ_row *row)
{
    const struct writ_view claim = {(const char *)row->claim, WRIT_DISK_CLAIM_BYTES};
    struct writ_sql_array *column = disk->columns;
    int64_t numbers[ROW_NUMBERS];

    numbers_of(row, numbers);
    for (size_t i = 0; i < ROW_NUMBERS; i++) {
        writ_sql_array_int(column++, numbers[i]);
    }
    if (has_about(row)) {
        writ_sql_array_int(column++, (int64_t)row->about);
    } else {
        writ_sql_array_null(column++);
    }
    writ_sql_array_bytes(column++, row->decision_id);
    writ_sql_array_bytes(column++, row->agent_id);
    writ_sql_array_bytes(column++, row->tool);
    writ_sql_array_bytes(column, claim);
}

static WRIT_RESULT
append_shared(
    struct writ_disk *disk, const struct writ_row *const *rows, size_t n, struct writ_err *err)
{
    WRIT_TRY(check_poisoned(disk, err));
    begin_columns(disk, "iiiiiiiibbbb");
    for (size_t i = 0; i < n; i++) {
        add_row(disk, rows[i]);
    }
    WRIT_TRY(bind_columns(disk, WRIT_SQL_APPEND_RECORDS, WRIT_DISK_COLUMNS, err));
    return note(disk, writ_sql_run(disk->statements[WRIT_SQL_APPEND_RECORDS], err));
}

WRIT_RESULT
writ_disk_append(
    struct writ_disk *disk, const struct writ_row *const *rows, size_t n, struct writ_err *err)
{
    if (writ_disk_is_shared(disk)) {
        return append_shared(disk, rows, n, err);
    }
    for (; n >= WRIT_DISK_ROWS; n -= WRIT_DISK_ROWS, rows += WRIT_DISK_ROWS) {
        WRIT_TRY(append(disk, WRIT_SQL_APPEND_RECORDS, rows, WRIT_DISK_ROWS, err));
    }
    for (; n > 0; n--, rows++) {
        WRIT_TRY(append(disk, WRIT_SQL_APPEND_RECORD, rows, 1, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_claim(struct writ_disk *disk, const struct writ_disk_claim *claims, size_t n,
    int64_t now_us, struct writ_err *err)
{
    enum { CLAIM_COLUMNS = 4 };

    WRIT_TRY(check_poisoned(disk, err));
    begin_columns(disk, "biii");
    for (size_t i = 0; i < n; i++) {
        writ_sql_array_bytes(
            &disk->columns[0], writ_view((const char *)claims[i].key, WRIT_DISK_KEY_BYTES));
        writ_sql_array_int(&disk->columns[1], (int64_t)claims[i].leaf);
        writ_sql_array_int(&disk->columns[2], (int64_t)claims[i].boundary);
        writ_sql_array_int(&disk->columns[3], claims[i].until_us);
    }
    WRIT_TRY(bind_columns(disk, WRIT_SQL_CLAIMS_PUT, CLAIM_COLUMNS, err));
    writ_sql_bind_int(disk->statements[WRIT_SQL_CLAIMS_PUT], CLAIM_COLUMNS + 1, now_us);
    return note(disk, writ_sql_run(disk->statements[WRIT_SQL_CLAIMS_PUT], err));
}

/* ---- bodies ---- */

bool
writ_disk_takes_body(const struct writ_disk *disk, size_t bytes, size_t body)
{
    return writ_disk_is_shared(disk) ? bytes + 1 + body <= LINES_PAGE : bytes < LINES_SOFT;
}

WRIT_RESULT
writ_disk_append_bodies(
    struct writ_disk *disk, uint64_t leaf, struct writ_view lines, struct writ_err *err)
{
    return writ_disk_run(disk, WRIT_SQL_APPEND_BODY, err, "ub", leaf, lines);
}

WRIT_RESULT
writ_disk_row(
    const struct writ_sql_statement *statement, struct writ_row *ret, struct writ_err *err)
{
    struct writ_row row = {
        .leaf = (uint64_t)writ_sql_int(statement, 0),
        .boundary = (uint64_t)writ_sql_int(statement, 2),
        .seq = (uint64_t)writ_sql_int(statement, 3),
        .time_us = writ_sql_int(statement, 4),
        .verdict = (int)writ_sql_int(statement, 5),
        .flags = (unsigned)writ_sql_int(statement, 6),
        .about = (uint64_t)writ_sql_int(statement, 7),
        .decision_id = writ_sql_bytes(statement, 8),
        .agent_id = writ_sql_bytes(statement, 9),
        .tool = writ_sql_bytes(statement, 10),
    };
    struct writ_view claim = writ_sql_bytes(statement, 11);
    int64_t kind = writ_sql_int(statement, 1);

    if (kind < WRIT_ROW_DECISION || kind > WRIT_ROW_FACT ||
        (claim.len != 0 && claim.len != WRIT_DISK_CLAIM_BYTES) || row.verdict < 0 ||
        row.verdict > 3) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is not one that a ledger writes",
            (unsigned long long)row.leaf);
    }
    row.kind = (enum writ_row_kind)kind;
    row.claim = claim.len == 0 ? NULL : (const uint8_t *)claim.ptr;
    *ret = row;
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_search(writ_disk_time_fn *time_of, void *ctx, uint64_t n, int64_t since_us, uint64_t *ret,
    struct writ_err *err)
{
    uint64_t low = 0, high = n;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        bool there = false;
        int64_t time_us = 0;

        WRIT_TRY(time_of(ctx, middle, &there, &time_us, err));
        if (!there) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
                (unsigned long long)middle);
        }
        if (time_us < since_us) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret = low;
    return WRIT_DONE;
}

static writ_result
time_of_record(void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err)
{
    struct writ_disk *disk = ctx;
    writ_result result = writ_disk_query(disk, WRIT_SQL_TIME_AT, ret_there, err, "u", leaf);

    if (writ_is_ok(result) && *ret_there) {
        *ret_there = !writ_sql_is_null(disk->statements[WRIT_SQL_TIME_AT], 0);
        *ret_us = writ_disk_int(disk, WRIT_SQL_TIME_AT, 0);
    }
    writ_disk_end(disk, WRIT_SQL_TIME_AT);
    return result;
}

WRIT_RESULT
writ_disk_since(
    struct writ_disk *disk, uint64_t n, int64_t since_us, uint64_t *ret, struct writ_err *err)
{
    return writ_disk_search(time_of_record, disk, n, since_us, ret, err);
}

WRIT_RESULT
writ_disk_first(struct writ_disk *disk, uint64_t *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_FIRST, &row, err, "");

    if (writ_is_ok(result)) {
        *ret = row ? (uint64_t)writ_disk_int(disk, WRIT_SQL_FIRST, 0) : 0;
    }
    writ_disk_end(disk, WRIT_SQL_FIRST);
    return result;
}
