/* The VFS that gathers the write-ahead log. A commit is one write and is published only after it;
 * a late failure fails the transaction. */
#include "support/store/vfs.h"
#include "support/unit.h"

#include "store/disk/wal_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEPS_MAX 2000

/** A database in its own directory: a writer through the gathering file system, and an ordinary
 * reader. */
struct pair {
    char dir[64], path[96];
    sqlite3 *writer, *reader;
};

static void
run(sqlite3 *db, const char *sql)
{
    char *text = NULL;
    int rc = sqlite3_exec(db, sql, NULL, NULL, &text);

    ck_assert_msg(rc == SQLITE_OK, "%s: %s", sql, text == NULL ? "" : text);
}

static int64_t
number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t ret;

    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    ret = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return ret;
}

static void
pair_open(struct pair *p, int cache_pages)
{
    char pragma[64];

    (void)snprintf(p->dir, sizeof p->dir, "/tmp/writ-wal-vfs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(p->dir));
    (void)snprintf(p->path, sizeof p->path, "%s/a.db", p->dir);
    (void)snprintf(pragma, sizeof pragma, "PRAGMA cache_size=%d", cache_pages);
    ck_assert_ok(writ_wal_vfs_install(NULL));
    ck_assert_int_eq(
        sqlite3_open_v2(p->path, &p->writer,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, WRIT_WAL_VFS_NAME),
        SQLITE_OK);
    run(p->writer, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
                   "CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)");
    run(p->writer, pragma);
    ck_assert_int_eq(
        sqlite3_open_v2(p->path, &p->reader, SQLITE_OPEN_READONLY | SQLITE_OPEN_EXRESCODE, NULL),
        SQLITE_OK);
}

static void
pair_close(struct pair *p)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};

    (void)sqlite3_close(p->reader);
    (void)sqlite3_close(p->writer);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[128];

        (void)snprintf(path, sizeof path, "%s%s", p->path, suffixes[i]);
        (void)unlink(path);
    }
    (void)rmdir(p->dir);
}

#define BLOBS(count, bytes)                                                                        \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #count ") "        \
    "INSERT INTO t(b) SELECT randomblob(" #bytes ") FROM n"

START_TEST(commit_of_many_pages_is_one_write)
{
    struct pair p;

    pair_open(&p, 1000);
    run(p.writer, BLOBS(1, 10)); /* the header of the log is a separate write */
    writ_vfs_arm(WRIT_VFS_WRITE, 2, true, WRIT_VFS_FAIL, SQLITE_IOERR_WRITE);
    run(p.writer, BLOBS(20, 4000));
    ck_assert(!writ_vfs_disarm());
    ck_assert_int_eq(number(p.reader, "SELECT count(*) FROM t"), 21);
    pair_close(&p);
}
END_TEST

START_TEST(commit_is_published_after_its_write)
{
    struct pair p;

    pair_open(&p, 1000);
    run(p.writer, "BEGIN");
    run(p.writer, BLOBS(20, 4000));
    ck_assert_int_eq(number(p.reader, "SELECT count(*) FROM t"), 0);
    /* the write succeeds, the sync does not: it is still invisible */
    writ_vfs_arm(WRIT_VFS_SYNC, 1, true, WRIT_VFS_FAIL, SQLITE_IOERR_FSYNC);
    ck_assert_int_eq(sqlite3_exec(p.writer, "COMMIT", NULL, NULL, NULL), SQLITE_IOERR_FSYNC);
    ck_assert(writ_vfs_disarm());
    ck_assert_int_eq(number(p.reader, "SELECT count(*) FROM t"), 0);
    pair_close(&p);
}
END_TEST

START_TEST(frames_beyond_the_buffer_are_written_in_order)
{
    struct pair p;

    pair_open(&p, 10000);
    for (int round = 0; round < 3; round++) {
        run(p.writer, BLOBS(500, 4000)); /* 2 MB a commit */
        ck_assert_int_eq(number(p.reader, "SELECT count(*) FROM t"), 500 * (round + 1));
    }
    ck_assert_int_eq(
        number(p.reader, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
        1);
    run(p.writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    ck_assert_int_eq(number(p.reader, "SELECT sum(length(b)) FROM t"), INT64_C(1500) * 4000);
    pair_close(&p);
}
END_TEST

/* A cache of few pages writes frames before the commit, reads them back and writes them again. */
static int
spill(struct pair *p)
{
    static const char *const steps[] = {
        "BEGIN",
        BLOBS(60, 3000),
        "UPDATE t SET b = randomblob(3001) WHERE a % 7 = 0",
        "SELECT sum(length(b)) FROM t",
        "UPDATE t SET b = randomblob(3002) WHERE a % 5 = 0",
        "COMMIT",
    };
    int rc = SQLITE_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && rc == SQLITE_OK; i++) {
        rc = sqlite3_exec(p->writer, steps[i], NULL, NULL, NULL);
    }
    if (sqlite3_get_autocommit(p->writer) == 0) {
        (void)sqlite3_exec(p->writer, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

START_TEST(frames_written_early_read_back)
{
    struct pair p;

    pair_open(&p, 5);
    ck_assert_int_eq(spill(&p), SQLITE_OK);
    ck_assert_int_eq(number(p.reader, "SELECT sum(length(b)) FROM t"),
        INT64_C(60) * 3000 + 60 / 7 - 60 / 35 + 2 * (60 / 5));
    pair_close(&p);
}
END_TEST

/* One trial; false when the fault was not reached. */
static bool
fail_at(long nth, enum writ_vfs_step step, enum writ_vfs_action action, int code)
{
    struct pair p;
    bool reached;
    int rc;

    pair_open(&p, 5);
    run(p.writer, BLOBS(3, 5000));
    writ_vfs_arm(step, nth, false, action, code);
    rc = spill(&p);
    reached = writ_vfs_disarm();
    ck_assert_msg(reached ? rc == code : rc == SQLITE_OK, "step %ld: %d", nth, rc);
    ck_assert_int_eq(number(p.reader, "SELECT count(*) FROM t"), reached ? 3 : 63);
    run(p.writer, BLOBS(40, 5000)); /* at once */
    ck_assert_int_eq(number(p.reader, "SELECT count(*) FROM t"), reached ? 43 : 103);
    ck_assert_int_eq(
        number(p.reader, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check='ok'"),
        1);
    pair_close(&p);
    return reached;
}

START_TEST(late_write_failure_fails_the_transaction)
{
    long nth = 1;

    while (fail_at(nth, WRIT_VFS_WRITE, WRIT_VFS_FAIL, SQLITE_IOERR_WRITE)) {
        nth++;
        ck_assert_int_lt(nth, STEPS_MAX);
    }
    ck_assert_int_gt(nth, 3);
    for (nth = 1; fail_at(nth, WRIT_VFS_WRITE, WRIT_VFS_TEAR, SQLITE_FULL); nth++) {
        ck_assert_int_lt(nth, STEPS_MAX);
    }
}
END_TEST

START_TEST(install_twice_succeeds)
{
    ck_assert_ok(writ_wal_vfs_install(NULL));
    ck_assert_ok(writ_wal_vfs_install(NULL));
    ck_assert_ptr_nonnull(sqlite3_vfs_find(WRIT_WAL_VFS_NAME));
    ck_assert_ptr_ne(sqlite3_vfs_find(NULL), sqlite3_vfs_find(WRIT_WAL_VFS_NAME));
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {commit_of_many_pages_is_one_write,
        commit_is_published_after_its_write, frames_beyond_the_buffer_are_written_in_order,
        frames_written_early_read_back, late_write_failure_fails_the_transaction,
        install_twice_succeeds};

    writ_vfs_install();
    return writ_unit_run("wal_vfs", tests, sizeof tests / sizeof tests[0]);
}
