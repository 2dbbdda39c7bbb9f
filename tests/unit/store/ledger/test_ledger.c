/* Creating, opening and closing a ledger, its queue and its health. A ledger that is not whole,
 * private and alone is refused, and it recovers by itself when the cause has gone. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/disk/migrate.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define PATH    160
#define REST_US 10000
#define RESTS   3000

static enum writ_code
opened(const char *path, const struct writ_ledger_options *options)
{
    struct writ_ledger *mark = (struct writ_ledger *)(void *)&mark, *ledger = mark;
    struct writ_err err = {0};
    enum writ_code code = writ_ledger_open(path, options, &ledger, &err).code;

    if (code == WRIT_OK) {
        writ_ledger_close(ledger);
    } else {
        ck_assert_ptr_eq(ledger, mark);
        ck_assert_int_ne(err.text[0], '\0');
    }
    return code;
}

/* ---- creating ---- */

START_TEST(create_makes_private_files)
{
    struct writ_kit kit;
    struct stat st;

    writ_kit_init(&kit);
    ck_assert_int_eq(stat(kit.path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_int_eq(writ_kit_number(&kit, "PRAGMA application_id"), WRIT_DISK_APPLICATION);
    ck_assert_int_eq(writ_kit_number(&kit, "PRAGMA user_version"), WRIT_DISK_VERSION);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(create_over_an_existing_file_is_refused)
{
    struct writ_kit kit;
    char path[PATH];

    writ_kit_init(&kit);
    ck_assert_code(
        writ_ledger_create(kit.path, (struct writ_view){0}, &kit.clock, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_OK);
    (void)snprintf(path, sizeof path, "%s/other.db", kit.dir);
    ck_assert_int_eq(symlink(kit.path, path), 0);
    ck_assert_code(
        writ_ledger_create(path, (struct writ_view){0}, &kit.clock, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/none/ledger.db", kit.dir);
    ck_assert_code(
        writ_ledger_create(path, (struct writ_view){0}, &kit.clock, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_ledger_create("", (struct writ_view){0}, &kit.clock, NULL), WRIT_E_LIMIT);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- opening ---- */

START_TEST(open_of_a_missing_ledger_creates_nothing)
{
    struct writ_kit kit;
    char path[PATH];

    writ_kit_init(&kit);
    (void)snprintf(path, sizeof path, "%s/missing.db", kit.dir);
    ck_assert_int_eq(opened(path, &kit.options), WRIT_E_ABSENT);
    ck_assert_int_ne(access(path, F_OK), 0);
    (void)snprintf(path, sizeof path, "%s/missing.db-lock", kit.dir);
    ck_assert_int_ne(access(path, F_OK), 0);
    writ_kit_wipe(&kit);
}
END_TEST

static void
write_file(const char *path, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, length), (ssize_t)length);
    (void)close(fd);
}

START_TEST(open_of_another_file_is_refused)
{
    static const char *const changes[] = {
        "PRAGMA application_id = 0",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 9",
        "PRAGMA user_version = 0",
        "CREATE TABLE more(x)",
        "DROP INDEX boundary_open",
        "CREATE TRIGGER t AFTER INSERT ON record BEGIN SELECT 1; END",
        "PRAGMA journal_mode = DELETE",
    };
    struct writ_kit kit;

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        writ_kit_init(&kit);
        writ_kit_sql(&kit, changes[i]);
        ck_assert_msg(opened(kit.path, &kit.options) == WRIT_E_PARSE, "%s", changes[i]);
        writ_kit_wipe(&kit);
    }
    writ_kit_init(&kit);
    write_file(kit.path, "", 0);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_PARSE);
    write_file(kit.path,
        "this is no database, and longer than the header of one, which has 100 "
        "bytes: so here are some more of them",
        105);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_PARSE);
    writ_kit_wipe(&kit);
}
END_TEST

static void
says_of_version(const char *pragma, const char *says)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};
    struct writ_kit kit;

    writ_kit_init(&kit);
    writ_kit_sql(&kit, pragma);
    ck_assert_code(writ_ledger_open(kit.path, &kit.options, &ledger, &err), WRIT_E_PARSE);
    ck_assert_ptr_null(ledger);
    ck_assert_int_eq(strncmp(err.text, kit.path, strlen(kit.path)), 0);
    ck_assert_int_eq(strncmp(err.text + strlen(kit.path), ": ", 2), 0);
    ck_assert_str_eq(err.text + strlen(kit.path) + 2, says);
    writ_kit_wipe(&kit);
}

START_TEST(open_of_another_version_names_the_remedy)
{
    ck_assert_int_eq(WRIT_DISK_VERSION, 8); /* else the texts below are others */
    says_of_version("PRAGMA user_version = 6",
        "the ledger has version 6, and this program reads version 8: keep it with the older writ "
        "that wrote it, and begin a new one with `writ ledger init`");
    says_of_version("PRAGMA user_version = 7",
        "the ledger has version 7, and this program reads version 8: run `writ ledger migrate` on "
        "it");
    says_of_version("PRAGMA user_version = 9",
        "the ledger has version 9, and this program reads version 8: use the newer writ that wrote "
        "it");
}
END_TEST

/* Version 7, as its program wrote it. */
static const char version_7[] = "DROP TABLE pool; PRAGMA user_version = 7";

static writ_result
migrate(const struct writ_kit *kit, struct writ_migrate_report *ret)
{
    return writ_migrate_file(kit->path, ret, NULL);
}

START_TEST(migration_keeps_every_record_and_is_done_once)
{
    struct writ_migrate_report report = {0};
    struct writ_kit kit;

    writ_kit_init(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){0});
    writ_kit_close(&kit);
    writ_kit_sql(&kit, version_7);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_PARSE);
    ck_assert_ok(migrate(&kit, &report));
    ck_assert_int_eq(report.from, 7);
    ck_assert_int_eq(report.to, WRIT_DISK_VERSION);
    ck_assert_ok(migrate(&kit, &report));
    ck_assert_int_eq(report.from, WRIT_DISK_VERSION);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 2);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_OK);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(migration_refuses_other_tables_other_versions_and_a_live_writer)
{
    static const char *const others[] = {"DROP TABLE pool; PRAGMA user_version = 6",
        "PRAGMA user_version = 7", "DROP TABLE pool; DROP TABLE wait; PRAGMA user_version = 7",
        "DROP TABLE pool; CREATE TABLE more(x INTEGER) STRICT; PRAGMA user_version = 7"};
    struct writ_migrate_report report = {.from = -1};
    struct writ_kit kit;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int64_t version;

        writ_kit_init(&kit);
        writ_kit_sql(&kit, others[i]);
        version = writ_kit_number(&kit, "PRAGMA user_version");
        ck_assert_code(migrate(&kit, &report), WRIT_E_PARSE);
        ck_assert_int_eq(writ_kit_number(&kit, "PRAGMA user_version"), version);
        writ_kit_wipe(&kit);
    }
    writ_kit_init(&kit);
    writ_kit_open(&kit);
    ck_assert_code(migrate(&kit, &report), WRIT_E_BUSY);
    writ_kit_wipe(&kit);
    ck_assert_int_eq(report.from, -1);
}
END_TEST

START_TEST(open_of_a_file_writable_by_others_is_refused)
{
    struct writ_kit kit;
    char path[PATH], wal[PATH];

    writ_kit_init(&kit);
    ck_assert_int_eq(chmod(kit.path, 0620), 0);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_INVALID);
    ck_assert_int_eq(chmod(kit.path, 0602), 0);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_INVALID);
    ck_assert_int_eq(chmod(kit.path, 0600), 0);
    ck_assert_int_eq(chmod(kit.dir, 01777), 0);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_INVALID);
    ck_assert_code(
        writ_ledger_create(kit.path, (struct writ_view){0}, &kit.clock, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(chmod(kit.dir, 0700), 0);

    (void)snprintf(path, sizeof path, "%s/link.db", kit.dir);
    ck_assert_int_eq(symlink(kit.path, path), 0);
    ck_assert_int_eq(opened(path, &kit.options), WRIT_E_INVALID);
    ck_assert_int_eq(unlink(path), 0);
    (void)snprintf(wal, sizeof wal, "%s-wal", kit.path);
    ck_assert_int_eq(symlink("/dev/null", wal), 0);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_INVALID);
    ck_assert_int_eq(unlink(wal), 0);
    ck_assert_int_eq(opened(kit.dir, &kit.options), WRIT_E_INVALID);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_OK);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_twice_or_in_two_processes_is_refused)
{
    struct writ_kit kit;
    pid_t child;
    int status = 0;

    writ_kit_start(&kit);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_E_BUSY);
    child = fork();
    if (child == 0) {
        struct writ_ledger *ledger = NULL;

        _exit(writ_ledger_open(kit.path, &kit.options, &ledger, NULL).code == WRIT_E_BUSY ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    writ_kit_close(&kit);
    ck_assert_int_eq(opened(kit.path, &kit.options), WRIT_OK);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(options_out_of_range_are_refused_by_name)
{
    struct writ_kit kit;
    struct writ_ledger_options options;
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};

    writ_kit_init(&kit);
    options = kit.options;
    options.group_max = 0;
    ck_assert_code(writ_ledger_open(kit.path, &options, &ledger, &err), WRIT_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "group_max"));
    options.group_max = 1;
    ck_assert_int_eq(opened(kit.path, &options), WRIT_OK);
    options.group_max = (1 << 14) + 1;
    ck_assert_int_eq(opened(kit.path, &options), WRIT_E_INVALID);
    options = kit.options;
    options.claim_kept_us = 0;
    ck_assert_int_eq(opened(kit.path, &options), WRIT_E_INVALID);
    options.claim_kept_us = 1000;
    ck_assert_int_eq(opened(kit.path, &options), WRIT_OK);
    options = kit.options;
    options.keyring = NULL;
    ck_assert_int_eq(opened(kit.path, &options), WRIT_E_INVALID);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- submitting ---- */

START_TEST(groups_of_any_size_take_all_entries_in_order)
{
    struct writ_kit kit;
    call *calls[40];
    struct writ_entry *entries[40];
    char arguments[40][8];

    writ_kit_init(&kit);
    kit.options.group_max = 3;
    writ_kit_open(&kit);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(arguments[i], sizeof arguments[i], "%d", i);
        calls[i] =
            writ_kit_call(&kit, (spec){.argument = arguments[i], .route = WRIT_DECISION_ALLOW});
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 40));
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(sem_wait(&calls[i]->done), 0);
        ck_assert(calls[i]->entry.decision.granted);
        ck_assert_int_eq(calls[i]->decision.seq.value, i);
        writ_kit_call_free(calls[i]);
    }
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(submit_to_a_full_queue_refuses_whole_groups_and_no_outcome)
{
    struct writ_kit kit;
    call *c, *more[3];
    struct writ_entry *entries[3];

    writ_kit_init(&kit);
    kit.options.queue_max = 2;
    writ_kit_open(&kit);
    c = writ_kit_granted(&kit, (spec){.argument = "first"});
    for (int i = 0; i < 3; i++) {
        more[i] = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_DENY});
        entries[i] = &more[i]->entry;
    }
    ck_assert_code(writ_ledger_submit(kit.ledger, entries, 3), WRIT_E_BUSY);
    ck_assert_int_ne(sem_trywait(&more[0]->done), 0);
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 2));
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sem_wait(&more[i]->done), 0);
    }
    for (int i = 0; i < 3; i++) {
        writ_kit_call_free(more[i]);
    }
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(close_writes_submitted_entries)
{
    struct writ_kit kit;
    call *c;
    struct writ_entry *entries[1];

    writ_kit_start(&kit);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW});
    entries[0] = &c->entry;
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 1));
    writ_kit_close(&kit);
    ck_assert_int_eq(sem_trywait(&c->done), 0);
    ck_assert(c->entry.decision.granted);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 1);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(submit_of_an_entry_without_a_kind_is_refused)
{
    struct writ_kit kit;
    struct writ_entry entry = {0};

    writ_kit_start(&kit);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_INVALID);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(claim_digest_keeps_its_parts_apart)
{
    struct writ_view a = WRIT_LIT("a"), b = WRIT_LIT("b"), ab = WRIT_LIT("ab"), none = {"", 0};
    struct writ_digest digests[5];

    ck_assert_ok(writ_ledger_claim(a, b, none, none, none, &digests[0], NULL));
    ck_assert_ok(writ_ledger_claim(ab, none, none, none, none, &digests[1], NULL));
    ck_assert_ok(writ_ledger_claim(none, ab, none, none, none, &digests[2], NULL));
    ck_assert_ok(writ_ledger_claim(a, none, b, none, none, &digests[3], NULL));
    ck_assert_ok(writ_ledger_claim(a, none, none, none, b, &digests[4], NULL));
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < i; k++) {
            ck_assert(!writ_digest_equal(&digests[i], &digests[k]));
        }
    }
}
END_TEST

/* ---- trouble ---- */

static void
refuses(struct writ_kit *kit, enum writ_ledger_state state)
{
    call *c = writ_kit_call(kit, (spec){.argument = "x", .route = WRIT_DECISION_ALLOW});
    struct writ_ledger_health health;

    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_E_IO);
    ck_assert(!c->entry.decision.granted);
    writ_kit_call_free(c);
    health = writ_kit_health(kit);
    ck_assert_int_eq(health.state, state);
    ck_assert_int_ne(health.why.text[0], '\0');
    ck_assert_uint_eq(health.in_flight, 0);
}

START_TEST(lock_of_another_process_refuses_until_it_is_released)
{
    struct writ_kit kit;
    sqlite3 *other = NULL;

    writ_kit_init(&kit);
    kit.options.busy_us = 5000;
    writ_kit_open(&kit);
    ck_assert_int_eq(sqlite3_open_v2(kit.path, &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    refuses(&kit, WRIT_LEDGER_REFUSING);
    ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(other);
    writ_kit_run(&kit, (spec){.argument = "x"});
    ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_READY);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(ledger_recovers_without_a_call)
{
    struct writ_kit kit;
    struct writ_ledger_health health;
    sqlite3 *other = NULL;
    call *c;

    writ_kit_init(&kit);
    kit.options.busy_us = 1000;
    kit.options.retry_us = 2000;
    writ_kit_open(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    ck_assert_int_eq(sqlite3_open_v2(kit.path, &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_E_IO);
    ck_assert(c->entry.outcome.kept);
    ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    do {
        (void)usleep(1000);
        writ_ledger_health(kit.ledger, &health);
    } while (health.state != WRIT_LEDGER_READY);
    ck_assert_uint_eq(health.kept_outcomes, 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE verdict = 1 "
                                           "AND kind = 2"),
        1);
    (void)sqlite3_close(other);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(ledger_with_a_moved_database_refuses_until_it_is_back)
{
    struct writ_kit kit;
    char away[PATH];

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    (void)snprintf(away, sizeof away, "%s.away", kit.path);
    ck_assert_int_eq(rename(kit.path, away), 0);
    refuses(&kit, WRIT_LEDGER_REFUSING);
    ck_assert_int_ne(access(kit.path, F_OK), 0); /* never created again */
    ck_assert_int_eq(rename(away, kit.path), 0);
    writ_kit_run(&kit, (spec){.argument = "x"});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(ledger_with_an_exchanged_database_writes_nothing)
{
    struct writ_kit kit;
    char away[PATH], wal[PATH];

    writ_kit_start(&kit);
    (void)snprintf(away, sizeof away, "%s.away", kit.path);
    ck_assert_int_eq(rename(kit.path, away), 0);
    write_file(kit.path, "", 0);
    refuses(&kit, WRIT_LEDGER_REFUSING);
    ck_assert_int_eq(unlink(kit.path), 0);
    ck_assert_int_eq(rename(away, kit.path), 0);
    writ_kit_run(&kit, (spec){.argument = "1"});
    (void)snprintf(wal, sizeof wal, "%s-wal", kit.path);
    (void)snprintf(away, sizeof away, "%s-wal.away", kit.path);
    ck_assert_int_eq(rename(wal, away), 0);
    refuses(&kit, WRIT_LEDGER_REFUSING);
    ck_assert_int_eq(rename(away, wal), 0);
    writ_kit_run(&kit, (spec){.argument = "2"});
    writ_kit_wipe(&kit);
}
END_TEST

/* No other process may write while the lock is held; a write without it is found. */
START_TEST(ledger_with_a_second_writer_is_poisoned)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_sql(&kit, "INSERT INTO record SELECT 2, kind, boundary, 1, time_us + 1, verdict, "
                       "flags, about, 'other', agent_id, tool, claim FROM record WHERE leaf = 0");
    refuses(&kit, WRIT_LEDGER_POISONED);
    refuses(&kit, WRIT_LEDGER_POISONED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(health_counts_the_contents)
{
    struct writ_kit kit;
    struct writ_ledger_health health;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    writ_kit_run(&kit, (spec){.argument = "b"});
    health = writ_kit_health(&kit);
    ck_assert_int_eq(health.state, WRIT_LEDGER_READY);
    ck_assert_int_eq(health.why.text[0], '\0');
    ck_assert_uint_eq(health.records, 3);
    ck_assert_uint_eq(health.groups, 3);
    ck_assert_uint_eq(health.claims, 2);
    ck_assert_uint_eq(health.in_flight, 1);
    ck_assert_uint_eq(health.boundaries, 1);
    ck_assert_uint_eq(health.queued, 0);
    ck_assert_int_gt(health.last_time_us, WRIT_KIT_WALL_US);
    ck_assert_uint_gt(health.wal_pages, 0);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

/* What bounds it under load is `writ_wal_checkpoint_next` (unit.wal_checkpoint). */
START_TEST(wal_restarts_when_the_ledger_is_idle)
{
    struct writ_ledger_health health;
    struct writ_kit kit;
    uint64_t pages;

    writ_kit_start(&kit);
    for (int i = 0; i < 2000; i++) {
        char argument[16];
        call *c;

        (void)snprintf(argument, sizeof argument, "%d", i);
        c = writ_kit_call(&kit, (spec){.argument = argument, .route = WRIT_DECISION_DENY});
        ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
        writ_kit_call_free(c);
    }
    pages = writ_kit_health(&kit).wal_pages;
    for (int i = 0; i < RESTS && pages > 0; i++) {
        (void)usleep(REST_US); /* without an entry: it is idle */
        writ_ledger_health(kit.ledger, &health);
        pages = health.wal_pages;
    }
    ck_assert_uint_eq(pages, 0);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("ledger", create_makes_private_files, create_over_an_existing_file_is_refused,
    open_of_a_missing_ledger_creates_nothing, open_of_another_file_is_refused,
    open_of_another_version_names_the_remedy, migration_keeps_every_record_and_is_done_once,
    migration_refuses_other_tables_other_versions_and_a_live_writer,
    open_of_a_file_writable_by_others_is_refused, open_twice_or_in_two_processes_is_refused,
    options_out_of_range_are_refused_by_name, groups_of_any_size_take_all_entries_in_order,
    submit_to_a_full_queue_refuses_whole_groups_and_no_outcome, close_writes_submitted_entries,
    submit_of_an_entry_without_a_kind_is_refused, claim_digest_keeps_its_parts_apart,
    lock_of_another_process_refuses_until_it_is_released, ledger_recovers_without_a_call,
    ledger_with_a_moved_database_refuses_until_it_is_back,
    ledger_with_an_exchanged_database_writes_nothing, ledger_with_a_second_writer_is_poisoned,
    health_counts_the_contents, wal_restarts_when_the_ledger_is_idle)
