/* The database of the ledger with its files and locks. One process writes, a connection that reads
 * writes nothing, and a database that was moved or exchanged is noticed. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/disk/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_US 1000

START_TEST(disk_error_is_temporary_or_poisons)
{
    static const struct {
        int rc;
        enum writ_code code;
        bool poisons;
    } rows[] = {
        {SQLITE_FULL, WRIT_E_IO, false},
        {SQLITE_BUSY, WRIT_E_BUSY, false},
        {SQLITE_BUSY_RECOVERY, WRIT_E_BUSY, false},
        {SQLITE_LOCKED, WRIT_E_IO, false},
        {SQLITE_READONLY, WRIT_E_IO, false},
        {SQLITE_CANTOPEN, WRIT_E_IO, false},
        {SQLITE_NOMEM, WRIT_E_NOMEM, false},
        {SQLITE_IOERR_NOMEM, WRIT_E_IO, false},
        {SQLITE_IOERR_WRITE, WRIT_E_IO, false},
        {SQLITE_IOERR_READ, WRIT_E_IO, false},
        {SQLITE_IOERR_SHMMAP, WRIT_E_IO, false},
        {SQLITE_IOERR_FSYNC, WRIT_E_IO, true},
        {SQLITE_IOERR_DIR_FSYNC, WRIT_E_IO, true},
        {SQLITE_IOERR_CORRUPTFS, WRIT_E_IO, true},
        {SQLITE_CORRUPT, WRIT_E_IO, true},
        {SQLITE_CORRUPT_INDEX, WRIT_E_IO, true},
        {SQLITE_NOTADB, WRIT_E_PARSE, true},
        {SQLITE_CONSTRAINT_PRIMARYKEY, WRIT_E_IO, true},
        {SQLITE_SCHEMA, WRIT_E_IO, true},
        {SQLITE_MISUSE, WRIT_E_IO, true},
        {SQLITE_INTERNAL, WRIT_E_IO, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_err err = {0};
        bool poisons = false;

        ck_assert_int_eq(
            writ_sql_sqlite_fault(NULL, rows[i].rc, &poisons, &err).code, rows[i].code);
        ck_assert_msg(poisons == rows[i].poisons, "%d", rows[i].rc);
        ck_assert_int_ne(err.text[0], '\0');
        ck_assert_int_eq(writ_sql_sqlite_fault(NULL, rows[i].rc, NULL, NULL).code, rows[i].code);
    }
}
END_TEST

static struct writ_row
decision_row(uint64_t leaf)
{
    return (struct writ_row){
        .kind = WRIT_ROW_DECISION,
        .leaf = leaf,
        .boundary = 1,
        .time_us = 5,
        .decision_id = WRIT_LIT("d"),
        .agent_id = WRIT_LIT("a"),
        .body = WRIT_LIT("{}"),
    };
}

START_TEST(disk_append_reads_back)
{
    static const uint8_t claim[WRIT_DISK_CLAIM_BYTES] = {1, 2, 3};
    struct writ_kit kit;
    struct writ_disk disk = {0};
    struct writ_row row = decision_row(0), got;
    const struct writ_row *rows[] = {&row};
    bool found = false;

    writ_kit_init(&kit);
    ck_assert_ok(writ_disk_open(kit.path, BUSY_US, &disk, NULL));
    row.claim = claim;
    row.flags = WRIT_ROW_GRANTED;
    row.seq = 7;
    row.verdict = 1;
    ck_assert_ok(writ_disk_begin(&disk, NULL));
    ck_assert_ok(writ_disk_append(&disk, rows, 1, NULL));
    ck_assert_ok(writ_disk_finish(&disk, WRIT_DONE, NULL));
    ck_assert_uint_gt(disk.wal_pages, 0);

    ck_assert_ok(writ_disk_query(&disk, WRIT_SQL_RECORD_AT, &found, NULL, "u", (uint64_t)0));
    ck_assert(found);
    ck_assert_ok(writ_disk_row(disk.statements[WRIT_SQL_RECORD_AT], &got, NULL));
    ck_assert_int_eq(got.kind, WRIT_ROW_DECISION);
    ck_assert_uint_eq(got.seq, 7);
    ck_assert_uint_eq(got.flags, WRIT_ROW_GRANTED);
    ck_assert_view(got.decision_id, "d");
    ck_assert_view(got.agent_id, "a");
    ck_assert_ptr_null(got.tool.ptr);
    ck_assert_int_eq(got.claim[2], 3);
    writ_disk_end(&disk, WRIT_SQL_RECORD_AT);
    ck_assert_ok(writ_disk_query(&disk, WRIT_SQL_RECORD_AT, &found, NULL, "u", (uint64_t)1));
    ck_assert(!found);
    writ_disk_end(&disk, WRIT_SQL_RECORD_AT);
    writ_disk_close(&disk);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(disk_append_of_one_and_of_many_agree)
{
    struct writ_kit kit;
    struct writ_disk disk = {0};
    struct writ_row made[WRIT_DISK_ROWS];
    const struct writ_row *rows[WRIT_DISK_ROWS];
    static const uint8_t claim[WRIT_DISK_CLAIM_BYTES] = {9};
    uint64_t leaf = 0;

    writ_kit_init(&kit);
    ck_assert_ok(writ_disk_open(kit.path, BUSY_US, &disk, NULL));
    ck_assert_ok(writ_disk_begin(&disk, NULL));
    for (size_t n = 1; n <= WRIT_DISK_ROWS; n++) {
        for (size_t i = 0; i < n; i++, leaf++) {
            made[i] = decision_row(leaf);
            made[i].seq = 1000 + leaf;
            made[i].claim = leaf % 2 == 0 ? claim : NULL;
            rows[i] = &made[i];
        }
        ck_assert_ok(writ_disk_append(&disk, rows, n, NULL));
    }
    ck_assert_ok(writ_disk_finish(&disk, WRIT_DONE, NULL));
    for (uint64_t at = 0; at < leaf; at++) {
        struct writ_row got = {0};
        bool found = false;

        ck_assert_ok(writ_disk_query(&disk, WRIT_SQL_RECORD_AT, &found, NULL, "u", at));
        ck_assert(found);
        ck_assert_ok(writ_disk_row(disk.statements[WRIT_SQL_RECORD_AT], &got, NULL));
        ck_assert_uint_eq(got.leaf, at);
        ck_assert_uint_eq(got.seq, 1000 + at);
        ck_assert((got.claim != NULL) == (at % 2 == 0));
        writ_disk_end(&disk, WRIT_SQL_RECORD_AT);
    }
    /* one of many exists already: the transaction leaves no row */
    ck_assert_ok(writ_disk_begin(&disk, NULL));
    made[WRIT_DISK_ROWS - 1] = decision_row(0);
    for (size_t i = 0; i + 1 < WRIT_DISK_ROWS; i++) {
        made[i] = decision_row(leaf + i);
    }
    ck_assert_code(writ_disk_append(&disk, rows, WRIT_DISK_ROWS, NULL), WRIT_E_IO);
    writ_disk_close(&disk);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), (int64_t)leaf);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(disk_when_poisoned_refuses_everything)
{
    struct writ_kit kit;
    struct writ_disk disk = {0};
    struct writ_row row = decision_row(0);
    const struct writ_row *rows[] = {&row};

    writ_kit_init(&kit);
    ck_assert_ok(writ_disk_open(kit.path, BUSY_US, &disk, NULL));
    ck_assert_ok(writ_disk_begin(&disk, NULL));
    ck_assert_ok(writ_disk_append(&disk, rows, 1, NULL));
    ck_assert_code(writ_disk_append(&disk, rows, 1, NULL), WRIT_E_IO); /* the same leaf again */
    ck_assert(disk.poisoned);
    ck_assert_code(writ_disk_finish(&disk, WRIT_DONE, NULL), WRIT_E_IO);
    ck_assert_int_eq(sqlite3_get_autocommit(writ_sql_sqlite_of(disk.sql)), 1); /* rolled back */
    ck_assert_code(writ_disk_begin(&disk, NULL), WRIT_E_IO);
    writ_disk_close(&disk);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(disk_open_for_reading_cannot_write)
{
    struct writ_kit kit;
    struct writ_sql *sql = NULL;

    writ_kit_init(&kit);
    ck_assert_ok(writ_disk_connect(kit.path, true, BUSY_US, &sql, NULL));
    ck_assert_code(writ_sql_execute(sql, "DELETE FROM meta", NULL), WRIT_E_IO);
    writ_sql_close(sql);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- file.h ---- */

START_TEST(files_are_named_after_the_database)
{
    struct writ_file file = {0};
    char path[WRIT_FILE_PATH_MAX + 2];

    ck_assert_ok(writ_file_name("/a/b.db", &file, NULL));
    ck_assert_str_eq(writ_file_path(&file, WRIT_FILE_DATABASE), "/a/b.db");
    ck_assert_str_eq(writ_file_path(&file, WRIT_FILE_WAL), "/a/b.db-wal");
    ck_assert_str_eq(writ_file_path(&file, WRIT_FILE_SHM), "/a/b.db-shm");
    ck_assert_str_eq(writ_file_path(&file, WRIT_FILE_LOCK), "/a/b.db-lock");
    writ_file_wipe(&file);
    writ_file_wipe(&file);

    memset(path, 'x', sizeof path);
    path[WRIT_FILE_PATH_MAX + 1] = '\0';
    ck_assert_code(writ_file_name(path, &file, NULL), WRIT_E_LIMIT);
    path[WRIT_FILE_PATH_MAX] = '\0';
    ck_assert_ok(writ_file_name(path, &file, NULL));
    writ_file_wipe(&file);
    ck_assert_code(writ_file_name("", &file, NULL), WRIT_E_LIMIT);
}
END_TEST

START_TEST(file_lock_is_exclusive_until_its_holder_ends)
{
    struct writ_kit kit;
    struct writ_file first = {0}, second = {0};

    writ_kit_init(&kit);
    ck_assert_ok(writ_file_name(kit.path, &first, NULL));
    ck_assert_ok(writ_file_name(kit.path, &second, NULL));
    ck_assert_ok(writ_file_lock(&first, NULL));
    ck_assert_code(writ_file_lock(&second, NULL), WRIT_E_BUSY);
    ck_assert_int_eq(unlink(writ_file_path(&first, WRIT_FILE_LOCK)), 0);
    ck_assert_code(writ_file_lock(&second, NULL), WRIT_E_BUSY); /* the database is locked, too */
    writ_file_wipe(&first);
    ck_assert_ok(writ_file_lock(&second, NULL));
    writ_file_wipe(&second);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(file_open_of_a_database_with_two_names_is_refused)
{
    struct writ_kit kit;
    struct writ_file file = {0}, linked = {0};
    char other[160];

    writ_kit_init(&kit);
    (void)snprintf(other, sizeof other, "%s.link", kit.path);
    ck_assert_ok(writ_file_name(kit.path, &file, NULL));
    ck_assert_ok(writ_file_name(other, &linked, NULL));
    ck_assert_ok(writ_file_lock(&file, NULL));
    ck_assert_int_eq(link(kit.path, other), 0);
    ck_assert_code(writ_file_lock(&linked, NULL), WRIT_E_BUSY);
    writ_file_wipe(&file);
    ck_assert_code(writ_file_lock(&linked, NULL), WRIT_E_INVALID);
    writ_file_wipe(&linked);
    ck_assert_ok(writ_file_name(kit.path, &file, NULL));
    ck_assert_code(writ_file_lock(&file, NULL), WRIT_E_INVALID);
    writ_file_wipe(&file);
    ck_assert_int_eq(unlink(other), 0);
    ck_assert_ok(writ_file_name(kit.path, &file, NULL));
    ck_assert_ok(writ_file_lock(&file, NULL));
    writ_file_wipe(&file);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(file_lock_of_a_link_is_refused)
{
    struct writ_kit kit;
    struct writ_file file = {0};
    char lock[160];

    writ_kit_init(&kit);
    (void)snprintf(lock, sizeof lock, "%s-lock", kit.path);
    ck_assert_int_eq(symlink("/dev/null", lock), 0);
    ck_assert_ok(writ_file_name(kit.path, &file, NULL));
    ck_assert_code(writ_file_check(&file, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_file_lock(&file, NULL), WRIT_E_INVALID);
    writ_file_wipe(&file);
    writ_kit_wipe(&kit);
}
END_TEST

static struct timespec
changed_of(const struct writ_file *file)
{
    struct stat st;

    ck_assert_int_eq(stat(file->directory.path.ptr, &st), 0);
    return st.st_ctim;
}

START_TEST(file_check_of_an_unchanged_directory_is_not_repeated)
{
    struct writ_kit kit;
    struct writ_file file = {0};
    struct timespec before;
    char away[160];

    writ_kit_start(&kit);
    (void)snprintf(away, sizeof away, "%s.away", kit.path);
    ck_assert_ok(writ_file_name(kit.path, &file, NULL));
    ck_assert_ok(writ_file_remember(&file, NULL));
    ck_assert_ok(writ_file_same(&file, NULL));
    ck_assert(!file.directory.known); /* it changed just now, and may have again */
    file.directory.known = true;      /* as if it had not for seconds */
    file.identity[WRIT_FILE_DATABASE].inode++;
    ck_assert_ok(writ_file_same(&file, NULL));
    file.identity[WRIT_FILE_DATABASE].inode--;
    before = changed_of(&file);
    ck_assert_int_eq(rename(kit.path, away), 0);
    while (changed_of(&file).tv_nsec == before.tv_nsec) { /* within one tick of the clock */
        ck_assert_int_eq(rename(away, kit.path), 0);
        ck_assert_int_eq(rename(kit.path, away), 0);
    }
    ck_assert_code(writ_file_same(&file, NULL), WRIT_E_IO);
    ck_assert_int_eq(rename(away, kit.path), 0);
    ck_assert_ok(writ_file_same(&file, NULL));
    writ_file_wipe(&file);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(file_check_of_a_replaced_file_fails)
{
    struct writ_kit kit;
    struct writ_file file = {0};
    char away[160];

    writ_kit_start(&kit);
    ck_assert_ok(writ_file_name(kit.path, &file, NULL));
    ck_assert_ok(writ_file_same(&file, NULL)); /* no name to compare */
    ck_assert_ok(writ_file_remember(&file, NULL));
    ck_assert_ok(writ_file_same(&file, NULL));
    (void)snprintf(away, sizeof away, "%s.away", kit.path);
    ck_assert_int_eq(rename(kit.path, away), 0);
    ck_assert_code(writ_file_same(&file, NULL), WRIT_E_IO);
    ck_assert_int_eq(rename(away, kit.path), 0);
    ck_assert_ok(writ_file_same(&file, NULL));
    writ_file_wipe(&file);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("disk", disk_error_is_temporary_or_poisons, disk_append_reads_back,
    disk_append_of_one_and_of_many_agree, disk_when_poisoned_refuses_everything,
    disk_open_for_reading_cannot_write, files_are_named_after_the_database,
    file_lock_is_exclusive_until_its_holder_ends, file_open_of_a_database_with_two_names_is_refused,
    file_lock_of_a_link_is_refused, file_check_of_an_unchanged_directory_is_not_repeated,
    file_check_of_a_replaced_file_fails)
