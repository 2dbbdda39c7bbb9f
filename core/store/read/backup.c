/* 1. One read transaction is open during the whole copy: without it SQLite would begin again after
 * each commit of the gateway.
 * 2. Nothing has the name of the copy before the copy is verified and synced. */
#include "store/read/backup.h"

#include "store/disk/disk.h"
#include "store/disk/file.h"
#include "store/disk/heads.h"
#include "store/read/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUSY_US    5000000 /* how long it waits for a lock */
#define STEP_PAGES 1024    /* copied between two reports of progress */
#define PARTIAL    ".partial"

/* The databases of one copy. */
struct copying {
    struct writ_sql *from;
    sqlite3 *to;
    sqlite3_backup *backup;
};

static void
copying_wipe(struct copying *c)
{
    (void)sqlite3_backup_finish(c->backup);
    (void)sqlite3_close(c->to);
    writ_sql_close(c->from);
}

/* A wait for a state of the ledger that ends with a checkpoint. */
struct beginning {
    struct writ_sql *from;
    struct writ_heads heads;
    writ_result result;
    struct writ_err *err;
};

static bool
has_begun(void *ctx)
{
    struct beginning *b = ctx;
    struct writ_head all = {0}, covered = {0};

    writ_sql_rollback(b->from);
    b->result = writ_sql_begin(b->from, WRIT_SQL_READ, b->err);
    if (writ_is_ok(b->result)) {
        b->result = writ_heads_at(&b->heads, UINT64_MAX, NULL, &all, b->err);
    }
    if (writ_is_ok(b->result)) {
        b->result = writ_heads_last(&b->heads, NULL, &covered, b->err);
    }
    if (b->result.code == WRIT_E_ABSENT) { /* no records, or none that is signed */
        b->result = WRIT_DONE;
    }
    return !writ_is_ok(b->result) || covered.size == all.size;
}

/* Begins the transaction (1). A gateway that lives signs within the wait; a copy that ends with a
 * checkpoint needs no mark.key. */
static WRIT_RESULT
begin_signed(struct writ_sql *from, struct writ_err *err)
{
    struct beginning b = {.from = from, .err = err};

    WRIT_TRY(writ_heads_open(from, &b.heads, err));
    writ_clock_wait(writ_clock_system(), WRIT_HEADS_AWAIT_US, has_begun, &b);
    writ_heads_close(&b.heads);
    return b.result;
}

static WRIT_RESULT
begin(const struct writ_backup *b, const char *partial, struct copying *c, struct writ_err *err)
{
    sqlite3 *from;
    int rc;

    WRIT_TRY(writ_disk_connect(b->from, true, BUSY_US, &c->from, err));
    from = writ_sql_sqlite_of(c->from);
    if (from == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: only a ledger in a file is copied here. Back up PostgreSQL with pg_basebackup or "
            "pg_dump: see docs/scaling.md.",
            b->from);
    }
    WRIT_TRY(begin_signed(c->from, err));
    rc = sqlite3_open_v2(partial, &c->to,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
            SQLITE_OPEN_EXRESCODE,
        NULL);
    if (rc != SQLITE_OK) {
        return writ_sql_sqlite_fault(c->to, rc, NULL, err);
    }
    c->backup = sqlite3_backup_init(c->to, "main", from, "main");
    return c->backup != NULL ? WRIT_DONE
                             : writ_sql_sqlite_fault(c->to, sqlite3_errcode(c->to), NULL, err);
}

/* SQLite knows the numbers after the first step. */
static bool
goes_on(const struct writ_backup *b, const struct copying *c)
{
    int all = sqlite3_backup_pagecount(c->backup);
    int left = sqlite3_backup_remaining(c->backup);

    return b->copied == NULL || b->copied(b->ctx, (uint64_t)(all - left), (uint64_t)all);
}

static WRIT_RESULT
copy_pages(const struct writ_backup *b, struct copying *c, struct writ_err *err)
{
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK) {
        if (!goes_on(b, c)) {
            WRIT_FAIL(err, WRIT_E_BUSY, "the copy was ended before it was complete");
        }
        rc = sqlite3_backup_step(c->backup, STEP_PAGES);
    }
    return rc == SQLITE_DONE ? WRIT_DONE : writ_sql_sqlite_fault(c->to, rc, NULL, err);
}

static WRIT_RESULT
copy(const struct writ_backup *b, const char *partial, struct writ_err *err)
{
    WRIT_AUTO(struct copying, copying_wipe) c = {.from = NULL};

    WRIT_TRY(begin(b, partial, &c, err));
    return copy_pages(b, &c, err);
}

/* SQLite syncs what it commits; a file system may still have the end of the file in memory. */
static WRIT_RESULT
sync_file(const char *path, struct writ_err *err)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), synced;

    if (fd < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s cannot be opened (%s)", path, strerrordesc_np(errno));
    }
    synced = fsync(fd);
    (void)close(fd);
    if (synced != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s cannot be synced (%s)", path, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
give_name(const struct writ_file *partial, const struct writ_file *to, struct writ_err *err)
{
    const char *from_path = writ_file_path(partial, WRIT_FILE_DATABASE);
    const char *to_path = writ_file_path(to, WRIT_FILE_DATABASE);

    WRIT_TRY(sync_file(from_path, err));
    if (renameat2(AT_FDCWD, from_path, AT_FDCWD, to_path, RENAME_NOREPLACE) != 0) {
        WRIT_FAIL(err, errno == EEXIST ? WRIT_E_INVALID : WRIT_E_IO, "%s cannot be created (%s)",
            to_path, strerrordesc_np(errno));
    }
    return writ_file_settle(to, err);
}

static WRIT_RESULT
make(const struct writ_backup *b, const struct writ_file *partial, const struct writ_file *to,
    struct writ_verify_report *report, struct writ_err *err)
{
    const char *path = writ_file_path(partial, WRIT_FILE_DATABASE);
    const struct writ_verify_sources sources = {
        .path = path, .ring = b->ring, .tail_key = b->tail_key, .signed_all = true};

    WRIT_TRY(writ_file_make(partial, err));
    WRIT_TRY(copy(b, path, err));
    WRIT_TRY(writ_verify_joined(&sources, b->verified, b->ctx, report, err));
    return report->problems > 0 ? WRIT_DONE : give_name(partial, to, err); /* keeps (2) */
}

WRIT_RESULT
writ_backup_make(
    const struct writ_backup *backup, struct writ_verify_report *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) from = {0};
    WRIT_AUTO(struct writ_file, writ_file_wipe) to = {0};
    WRIT_AUTO(struct writ_file, writ_file_wipe) partial = {0};
    writ_auto_buf name = writ_buf_make(WRIT_FILE_PATH_MAX + sizeof PARTIAL);
    struct writ_verify_report report = {0};
    writ_result result;

    WRIT_TRY(writ_file_name(backup->from, &from, err));
    WRIT_TRY(writ_file_check(&from, err));
    WRIT_TRY(writ_file_name(backup->to, &to, err));
    WRIT_TRY(writ_file_check_new(&to, err));
    writ_buf_str(&name, backup->to);
    writ_buf_put(&name, writ_view(PARTIAL, sizeof PARTIAL)); /* with its NUL */
    WRIT_TRY(writ_buf_check(&name, err));
    WRIT_TRY(writ_file_name(name.ptr, &partial, err));
    writ_file_remove(&partial);
    result = make(backup, &partial, &to, &report, err);
    writ_file_remove(&partial); /* after a success what its verification left */
    if (writ_is_ok(result)) {
        *ret = report;
    }
    return result;
}
