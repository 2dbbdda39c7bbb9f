/* disk.c - the log itself: opening, statements, transactions, and the write-ahead log. It is the
 * one place that knows whether the log is poisoned: after that it reads and writes nothing more. */
#include "store/disk/disk.h"

#include "store/disk/disk_parts.h"
#include "store/disk/disk_postgres.h"
#include "store/disk/file.h"
#include "store/disk/wal_vfs.h"

#include <pthread.h>
#include <stdarg.h>

#define US_PER_MS 1000

#define STATEMENT_TEXT(NAME, text) [WRIT_SQL_##NAME] = (text),
static const char *const texts[WRIT_SQL_COUNT] = {
    WRIT_DISK_STATEMENTS(STATEMENT_TEXT) WRIT_POSTGRES_STATEMENTS(STATEMENT_TEXT)};
static const char *const postgres_texts[WRIT_SQL_COUNT] = {WRIT_POSTGRES_OTHERS(STATEMENT_TEXT)};
#undef STATEMENT_TEXT

/* ---- errors ---- */

WRIT_RESULT
writ_disk_parts_note(struct writ_disk *disk, writ_result result)
{
    disk->poisoned = disk->poisoned || writ_sql_poisoned(disk->sql);
    return result;
}

WRIT_RESULT
writ_disk_parts_check(const struct writ_disk *disk, struct writ_err *err)
{
    if (disk->poisoned) {
        WRIT_FAIL(err, WRIT_E_IO, "database: the ledger writes nothing until it is opened again");
    }
    return WRIT_DONE;
}

/* ---- opening ---- */

WRIT_RESULT
writ_disk_connect(
    const char *path, bool read_only, int64_t busy_us, struct writ_sql **ret, struct writ_err *err)
{
    if (writ_sql_is_uri(writ_view_str(path))) {
        return writ_disk_postgres_connect(path, read_only, busy_us, ret, err);
    }
    return writ_disk_parts_connect(path, read_only, NULL, busy_us, ret, err);
}

WRIT_RESULT
writ_disk_connect_reader(const char *path, struct writ_sql **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};

    if (!writ_sql_is_uri(writ_view_str(path))) {
        WRIT_TRY(writ_file_name(path, &file, err));
        WRIT_TRY(writ_file_check(&file, err));
    }
    return writ_disk_connect(path, true, WRIT_DISK_PARTS_WAIT_US, ret, err);
}

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
    WRIT_TRY(writ_disk_parts_connect(path, false, WRIT_WAL_VFS_NAME, busy_us, &disk.sql, err));
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

WRIT_RESULT
writ_disk_run(struct writ_disk *disk, enum writ_statement statement, struct writ_err *err,
    const char *fmt, ...)
{
    va_list args;

    WRIT_TRY(writ_disk_parts_check(disk, err));
    disk->waits = disk->waits || statement == WRIT_SQL_WAIT_PUT ||
                  statement == WRIT_SQL_WAIT_BIND || statement == WRIT_SQL_WAIT_DROP;
    va_start(args, fmt);
    bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    return writ_disk_parts_note(disk, writ_sql_run(disk->statements[statement], err));
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

    WRIT_TRY(writ_disk_parts_check(disk, err));
    va_start(args, fmt);
    bind_all(disk->statements[statement], fmt, args);
    va_end(args);
    return writ_disk_parts_note(disk, writ_sql_ask(disk->statements[statement], err));
}

WRIT_RESULT
writ_disk_records(struct writ_disk *disk, struct writ_view id, bool *ret_row, struct writ_err *err)
{
    uint64_t from = 0;

    WRIT_TRY(writ_disk_parts_check(disk, err));
    WRIT_TRY(writ_disk_parts_note(disk, writ_span_from(&disk->span, disk->sql, id, &from, err)));
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
    WRIT_TRY(writ_disk_parts_check(disk, err));
    return writ_disk_parts_note(disk, writ_sql_step(disk->statements[statement], ret_row, err));
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
    return writ_disk_parts_note(disk, writ_sql_changed(disk->sql, ret, err));
}

/* ---- transactions ---- */

WRIT_RESULT
writ_disk_begin(struct writ_disk *disk, struct writ_err *err)
{
    WRIT_TRY(writ_disk_parts_check(disk, err));
    disk->waits = disk->unknown = false;
    return writ_disk_parts_note(disk, writ_sql_begin(disk->sql, WRIT_SQL_WRITE, err));
}

WRIT_RESULT
writ_disk_finish(struct writ_disk *disk, writ_result result, struct writ_err *err)
{
    if (writ_is_ok(result)) {
        result = writ_disk_parts_check(disk, err);
    }
    if (writ_is_ok(result)) {
        return writ_disk_parts_note(disk, writ_sql_commit(disk->sql, &disk->unknown, err));
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
    WRIT_TRY(writ_disk_parts_check(disk, err));
    if (writ_disk_is_shared(disk)) { /* VACUUM of the server gives the pages back */
        return WRIT_DONE;
    }
    return writ_disk_parts_note(disk, writ_sql_execute(disk->sql, renew, err));
}

/* After a checkpoint of SQLite that returned `rc`: *ret_done is left as it is when another
 * connection prevented it. */
static WRIT_RESULT
end_checkpoint(struct writ_disk *disk, int rc, bool *ret_done, struct writ_err *err)
{
    if ((rc & 0xff) == SQLITE_BUSY) {
        return WRIT_DONE;
    }
    if (rc != SQLITE_OK) {
        return writ_disk_parts_note(disk, writ_sql_sqlite_failed(disk->sql, rc, err));
    }
    disk->wal_pages = 0; /* the next commit reports the number */
    disk->wal_begun = true;
    *ret_done = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_copy_wal(struct writ_disk *disk, struct writ_err *err)
{
    bool done = false;
    int rc;

    if (writ_disk_is_shared(disk)) {
        return WRIT_DONE;
    }
    rc = sqlite3_wal_checkpoint_v2(
        writ_sql_sqlite_of(disk->sql), "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return end_checkpoint(disk, rc, &done, err);
}

WRIT_RESULT
writ_disk_cut_wal(struct writ_disk *disk, int64_t busy_us, bool *ret_done, struct writ_err *err)
{
    sqlite3 *db = writ_sql_sqlite_of(disk->sql);
    int rc;

    *ret_done = db == NULL; /* the server has its own write-ahead log */
    WRIT_TRY(writ_disk_parts_check(disk, err));
    if (db == NULL) {
        return WRIT_DONE;
    }
    (void)sqlite3_busy_timeout(db, 0);
    rc = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    (void)sqlite3_busy_timeout(db, (int)(busy_us / US_PER_MS));
    return end_checkpoint(disk, rc, ret_done, err);
}
