/* Every statement runs through step(): after an error that poisons, it reads and writes nothing
 * more. No code of a foreign file runs, and its schema must equal ours exactly. The numbers of
 * columns and kinds are on disk and must not change. */
#include "store/disk/disk.h"

#include "base/id.h"
#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"
#include "store/disk/lines.h"
#include "store/disk/wal_vfs.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#define CACHE_KIB   16384      /* of pages in memory */
#define LENGTH_MAX  (16 << 20) /* bytes of one value that SQLite will make or read */
#define US_PER_MS   1000
#define ROW_COLUMNS 12 /* of WRIT_DISK_ROW */

/* these numbers are on disk */
_Static_assert(WRIT_DECISION_DENY == 0 && WRIT_DECISION_ALLOW == 1 &&
                   WRIT_DECISION_REQUIRE_APPROVAL == 2 && WRIT_DECISION_REVISE == 3,
    "record.verdict of decisions");
_Static_assert(WRIT_OUTCOME_ERROR == 0 && WRIT_OUTCOME_EXECUTED == 1 && WRIT_OUTCOME_BLOCKED == 2 &&
                   WRIT_OUTCOME_TIMEOUT == 3,
    "record.verdict of outcomes");

static const char *const texts[WRIT_SQL_COUNT] = {
#define STATEMENT_TEXT(NAME, text) [WRIT_SQL_##NAME] = (text),
    WRIT_DISK_STATEMENTS(STATEMENT_TEXT)
#undef STATEMENT_TEXT
};

static const char *const schema[] = {
#define SCHEMA_TEXT(text) (text),
    WRIT_DISK_SCHEMA(SCHEMA_TEXT)
#undef SCHEMA_TEXT
};

#define SCHEMA_COUNT (sizeof schema / sizeof schema[0])

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
writ_disk_fault(sqlite3 *db, int rc, bool *ret_poison, struct writ_err *err)
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

static writ_result
fault(struct writ_disk *disk, int rc, struct writ_err *err)
{
    return writ_disk_fault(disk->db, rc, &disk->poisoned, err);
}

/* ---- opening ---- */

/* Without memory statistics SQLite takes no lock around an allocation. This call has no effect in a
 * process that has used SQLite before. */
static pthread_once_t configured = PTHREAD_ONCE_INIT;

static void
configure(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static WRIT_RESULT
execute(sqlite3 *db, const char *sql, struct writ_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_disk_fault(db, rc, NULL, err);
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
    return rc == SQLITE_OK ? WRIT_DONE : writ_disk_fault(db, rc, NULL, err);
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
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
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
        result = writ_disk_fault(db, rc, NULL, err);
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
check_schema(sqlite3 *db, struct writ_err *err)
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

            if (found >= SCHEMA_COUNT || !writ_view_is(sql, schema[found])) {
                found = SIZE_MAX;
                break;
            }
            found++;
        }
    }
    (void)sqlite3_finalize(statement);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW) {
        return writ_disk_fault(db, rc, NULL, err);
    }
    if (found != SCHEMA_COUNT) {
        WRIT_FAIL(err, WRIT_E_PARSE,
            "the tables of the database are not those of a ledger of version %d",
            WRIT_DISK_VERSION);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_ours(sqlite3 *db, struct writ_err *err)
{
    int64_t application = 0, version = 0;

    WRIT_TRY(number_of(db, "PRAGMA application_id", &application, err));
    WRIT_TRY(number_of(db, "PRAGMA user_version", &version, err));
    if (application != WRIT_DISK_APPLICATION) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the file is not a ledger (application_id %lld)",
            (long long)application);
    }
    if (version != WRIT_DISK_VERSION) {
        WRIT_FAIL(err, WRIT_E_PARSE,
            "the ledger has version %lld, and this program reads version %d: %s",
            (long long)version, WRIT_DISK_VERSION,
            version > WRIT_DISK_VERSION
                ? "use the newer writ that wrote it"
                : "keep it with the older writ that wrote it, and begin a new one with "
                  "`writ ledger init`");
    }
    return check_schema(db, err);
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
        return writ_disk_fault(db, rc, NULL, err);
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
        return writ_disk_fault(db, rc, NULL, err);
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
connect_prepared(const char *path, bool read_only, const char *vfs, int64_t busy_us, sqlite3 **ret,
    struct writ_err *err)
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
    *ret = db;
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_connect(
    const char *path, bool read_only, int64_t busy_us, sqlite3 **ret, struct writ_err *err)
{
    return connect_prepared(path, read_only, NULL, busy_us, ret, err);
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

WRIT_RESULT
writ_disk_open(const char *path, int64_t busy_us, struct writ_disk *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_disk, writ_disk_close) disk = {0};

    (void)pthread_once(&configured, configure);
    WRIT_TRY(writ_wal_vfs_install(err));
    WRIT_TRY(connect_prepared(path, false, WRIT_WAL_VFS_NAME, busy_us, &disk.db, err));
    for (int i = 0; i < WRIT_SQL_COUNT; i++) {
        int rc = sqlite3_prepare_v3(
            disk.db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &disk.statements[i], NULL);

        if (rc != SQLITE_OK) {
            return fault(&disk, rc, err);
        }
    }
    *ret = disk;
    (void)sqlite3_wal_hook(ret->db, note_wal, ret);
    disk = (struct writ_disk){0};
    return WRIT_DONE;
}

void
writ_disk_close(struct writ_disk *disk)
{
    for (int i = 0; i < WRIT_SQL_COUNT; i++) {
        (void)sqlite3_finalize(disk->statements[i]);
    }
    (void)sqlite3_close(disk->db);
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
    return rc == SQLITE_DONE ? WRIT_DONE : writ_disk_fault(db, rc, NULL, err);
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
        return writ_disk_fault(NULL, rc, NULL, err);
    }
    return result;
}

/* ---- statements ---- */

static int
bind_view(sqlite3_stmt *statement, int at, struct writ_view view, bool text)
{
    /* SQLITE_STATIC: the bytes outlive the step, and every statement is reset after it */
    if (text) {
        return sqlite3_bind_text64(
            statement, at, view.ptr == NULL ? "" : view.ptr, view.len, SQLITE_STATIC, SQLITE_UTF8);
    }
    return sqlite3_bind_blob64(
        statement, at, view.ptr == NULL ? "" : view.ptr, view.len, SQLITE_STATIC);
}

static int
bind_all(sqlite3_stmt *statement, const char *fmt, va_list args)
{
    int rc = SQLITE_OK;

    for (int at = 1; *fmt != '\0' && rc == SQLITE_OK; fmt++, at++) {
        if (*fmt == 'i') {
            rc = sqlite3_bind_int64(statement, at, va_arg(args, int64_t));
        } else if (*fmt == 'u') {
            rc = sqlite3_bind_int64(statement, at, (int64_t)va_arg(args, uint64_t));
        } else {
            WRIT_INVARIANT(*fmt == 't' || *fmt == 'b');
            rc = bind_view(statement, at, va_arg(args, struct writ_view), *fmt == 't');
        }
    }
    return rc;
}

/* Runs one statement. A poisoned log runs none. */
static int
step(struct writ_disk *disk, enum writ_statement statement)
{
    if (disk->poisoned && statement != WRIT_SQL_ROLLBACK) {
        return SQLITE_ABORT;
    }
    return sqlite3_step(disk->statements[statement]);
}

WRIT_RESULT
writ_disk_run(struct writ_disk *disk, enum writ_statement statement, struct writ_err *err,
    const char *fmt, ...)
{
    va_list args;
    int rc;

    va_start(args, fmt);
    rc = bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    if (rc == SQLITE_OK) {
        rc = step(disk, statement);
    }
    (void)sqlite3_reset(disk->statements[statement]);
    return rc == SQLITE_DONE ? WRIT_DONE : fault(disk, rc, err);
}

WRIT_RESULT
writ_disk_query(struct writ_disk *disk, enum writ_statement statement, bool *ret_row,
    struct writ_err *err, const char *fmt, ...)
{
    va_list args;
    int rc;

    va_start(args, fmt);
    rc = bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    if (rc != SQLITE_OK) {
        return fault(disk, rc, err);
    }
    return writ_disk_next(disk, statement, ret_row, err);
}

WRIT_RESULT
writ_disk_next(
    struct writ_disk *disk, enum writ_statement statement, bool *ret_row, struct writ_err *err)
{
    int rc = step(disk, statement);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        return fault(disk, rc, err);
    }
    *ret_row = rc == SQLITE_ROW;
    return WRIT_DONE;
}

void
writ_disk_end(struct writ_disk *disk, enum writ_statement statement)
{
    (void)sqlite3_reset(disk->statements[statement]);
}

int64_t
writ_disk_int(struct writ_disk *disk, enum writ_statement statement, int column)
{
    return sqlite3_column_int64(disk->statements[statement], column);
}

static struct writ_view
column_bytes(sqlite3_stmt *statement, int column)
{
    const void *bytes = sqlite3_column_blob(statement, column);

    return bytes == NULL ? writ_view(NULL, 0)
                         : writ_view(bytes, (size_t)sqlite3_column_bytes(statement, column));
}

struct writ_view
writ_disk_column(sqlite3_stmt *statement, int column)
{
    struct writ_view bytes = column_bytes(statement, column);

    return bytes.ptr == NULL ? WRIT_LIT("") : bytes;
}

struct writ_view
writ_disk_bytes(struct writ_disk *disk, enum writ_statement statement, int column)
{
    return column_bytes(disk->statements[statement], column);
}

/* ---- transactions ---- */

WRIT_RESULT
writ_disk_begin(struct writ_disk *disk, struct writ_err *err)
{
    return writ_disk_run(disk, WRIT_SQL_BEGIN, err, "");
}

static void
roll_back(struct writ_disk *disk)
{
    /* most errors have rolled back already; then nothing is left to do */
    if (sqlite3_get_autocommit(disk->db) == 0) {
        (void)step(disk, WRIT_SQL_ROLLBACK);
        (void)sqlite3_reset(disk->statements[WRIT_SQL_ROLLBACK]);
    }
}

WRIT_RESULT
writ_disk_finish(struct writ_disk *disk, writ_result result, struct writ_err *err)
{
    if (writ_is_ok(result)) {
        result = writ_disk_run(disk, WRIT_SQL_COMMIT, err, "");
    }
    if (!writ_is_ok(result)) {
        roll_back(disk);
    }
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
    int rc = disk->poisoned ? SQLITE_ABORT : sqlite3_exec(disk->db, renew, NULL, NULL, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : fault(disk, rc, err);
}

WRIT_RESULT
writ_disk_cut_wal(struct writ_disk *disk, int64_t busy_us, bool *ret_done, struct writ_err *err)
{
    int rc = SQLITE_ABORT;

    *ret_done = false;
    if (!disk->poisoned) {
        (void)sqlite3_busy_timeout(disk->db, 0);
        rc = sqlite3_wal_checkpoint_v2(disk->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        (void)sqlite3_busy_timeout(disk->db, (int)(busy_us / US_PER_MS));
    }
    if ((rc & 0xff) == SQLITE_BUSY) {
        return WRIT_DONE;
    }
    if (rc != SQLITE_OK) {
        return fault(disk, rc, err);
    }
    disk->wal_pages = 0;
    disk->wal_begun = true;
    *ret_done = true;
    return WRIT_DONE;
}

/* ---- records ---- */

static int
bind_optional(sqlite3_stmt *statement, int at, struct writ_view view)
{
    return view.ptr == NULL ? sqlite3_bind_null(statement, at)
                            : bind_view(statement, at, view, true);
}

static int
bind_row(sqlite3_stmt *statement, int at, const struct writ_row *row)
{
    const int64_t numbers[] = {(int64_t)row->leaf, (int64_t)row->kind, (int64_t)row->boundary,
        (int64_t)row->seq, row->time_us, row->verdict, (int64_t)row->flags};
    int rc = SQLITE_OK;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && rc == SQLITE_OK; i++) {
        rc = sqlite3_bind_int64(statement, at++, numbers[i]);
    }
    if (rc == SQLITE_OK) {
        bool about = row->kind == WRIT_ROW_OUTCOME || (row->flags & WRIT_ROW_FOLLOWS) != 0;

        rc = about ? sqlite3_bind_int64(statement, at, (int64_t)row->about)
                   : sqlite3_bind_null(statement, at);
    }
    at++;
    if (rc == SQLITE_OK) {
        rc = bind_optional(statement, at++, row->decision_id);
    }
    if (rc == SQLITE_OK) {
        rc = bind_optional(statement, at++, row->agent_id);
    }
    if (rc == SQLITE_OK) {
        rc = bind_optional(statement, at++, row->tool);
    }
    if (rc == SQLITE_OK) {
        rc = row->claim == NULL ? sqlite3_bind_null(statement, at)
                                : sqlite3_bind_blob(statement, at, row->claim,
                                      WRIT_DISK_CLAIM_BYTES, SQLITE_STATIC);
    }
    return rc;
}

static WRIT_RESULT
append(struct writ_disk *disk, enum writ_statement which, const struct writ_row *const *rows,
    size_t n, struct writ_err *err)
{
    sqlite3_stmt *statement = disk->statements[which];
    int rc = SQLITE_OK;

    for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
        rc = bind_row(statement, 1 + (int)i * ROW_COLUMNS, rows[i]);
    }
    if (rc == SQLITE_OK) {
        rc = step(disk, which);
    }
    (void)sqlite3_reset(statement);
    return rc == SQLITE_DONE ? WRIT_DONE : fault(disk, rc, err);
}

WRIT_RESULT
writ_disk_append(
    struct writ_disk *disk, const struct writ_row *const *rows, size_t n, struct writ_err *err)
{
    if (n == WRIT_DISK_ROWS) {
        return append(disk, WRIT_SQL_APPEND_RECORDS, rows, n, err);
    }
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(append(disk, WRIT_SQL_APPEND_RECORD, &rows[i], 1, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_append_bodies(
    struct writ_disk *disk, uint64_t leaf, struct writ_view lines, struct writ_err *err)
{
    return writ_disk_run(disk, WRIT_SQL_APPEND_BODY, err, "ub", leaf, lines);
}

WRIT_RESULT
writ_disk_row(sqlite3_stmt *statement, struct writ_row *ret, struct writ_err *err)
{
    struct writ_row row = {
        .leaf = (uint64_t)sqlite3_column_int64(statement, 0),
        .boundary = (uint64_t)sqlite3_column_int64(statement, 2),
        .seq = (uint64_t)sqlite3_column_int64(statement, 3),
        .time_us = sqlite3_column_int64(statement, 4),
        .verdict = sqlite3_column_int(statement, 5),
        .flags = (unsigned)sqlite3_column_int(statement, 6),
        .about = (uint64_t)sqlite3_column_int64(statement, 7),
        .decision_id = column_bytes(statement, 8),
        .agent_id = column_bytes(statement, 9),
        .tool = column_bytes(statement, 10),
    };
    struct writ_view claim = column_bytes(statement, 11);
    int kind = sqlite3_column_int(statement, 1);

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
    writ_result result = writ_disk_query(disk, WRIT_SQL_RECORD_AT, ret_there, err, "u", leaf);

    if (writ_is_ok(result) && *ret_there) {
        *ret_us = writ_disk_int(disk, WRIT_SQL_RECORD_AT, 4);
    }
    writ_disk_end(disk, WRIT_SQL_RECORD_AT);
    return result;
}

WRIT_RESULT
writ_disk_since(
    struct writ_disk *disk, uint64_t n, int64_t since_us, uint64_t *ret, struct writ_err *err)
{
    return writ_disk_search(time_of_record, disk, n, since_us, ret, err);
}
