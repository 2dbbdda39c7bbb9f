/* Kills the process at the n-th durable step of an erase, n = 1, 2, ... until the erase completes:
 * before the step, in the middle of a write, and after it. Then it opens the ledger. Either nothing
 * was erased, or all of it is, no key of it is in any file, and one record says so. */
#include "support/store/contents_kit.h"
#include "support/store/vfs.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS      12
#define TRIALS_MAX 400

typedef struct writ_kit_spec spec;

static void
fill(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_kit_sign_together(kit);
    writ_contents_kit_key(kit);
    writ_kit_open(kit);
    for (int i = 0; i < CALLS; i++) {
        char argument[16];

        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_contents_kit_run(
            kit, (spec){.agent = i % 2 ? "a" : "b", .argument = argument}, argument, 0, NULL);
    }
    writ_kit_close(kit);
}

/* Whether the child got the answer of its erase. */
static bool
run_child(struct writ_kit *kit, enum writ_vfs_step step, enum writ_vfs_action action, long nth,
    bool *ret_finished)
{
    int fds[2], status = 0;
    char told = 0;
    pid_t child;

    ck_assert_int_eq(pipe(fds), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};

        (void)close(fds[0]);
        writ_vfs_arm(step, nth, false, action, SQLITE_OK);
        writ_kit_open(kit);
        if (writ_contents_kit_erase(kit, &erase) != WRIT_OK || erase.held ||
            erase.contents != CALLS || write(fds[1], "e", 1) != 1) {
            _exit(4);
        }
        writ_kit_turn(kit);
        _exit(0);
    }
    (void)close(fds[1]);
    if (read(fds[0], &told, 1) != 1) {
        told = 0;
    }
    (void)close(fds[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    *ret_finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ck_assert_msg(*ret_finished || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
        "the child ended with status %x", (unsigned)status);
    return told == 'e';
}

static void
check(struct writ_kit *kit, const struct writ_contents_kit_keys *keys, bool told)
{
    struct writ_verify_report report;
    bool begun;

    ck_assert(!told || writ_contents_kit_remaining(kit, keys) == 0);
    begun = writ_kit_number(kit, "SELECT count(*) FROM content") < 2 * CALLS;
    ck_assert(!told || begun);
    writ_kit_open(kit);
    while (writ_kit_number(kit, "SELECT count(*) FROM meta WHERE name = 'erasing'") > 0) {
        writ_kit_turn(kit);
    }
    writ_contents_kit_settle(kit);
    ck_assert_int_eq(
        writ_kit_number(kit, "SELECT count(*) FROM content"), begun ? CALLS : 2 * CALLS);
    ck_assert_int_eq(writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 5"), begun);
    ck_assert_uint_eq(writ_contents_kit_remaining(kit, keys) == 0, begun);
    writ_kit_close(kit);
    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
}

static bool
run_trial(enum writ_vfs_step step, enum writ_vfs_action action, long nth)
{
    struct writ_contents_kit_keys keys;
    struct writ_kit kit;
    bool finished = false, told;

    fill(&kit);
    keys = writ_contents_kit_keys(&kit,
        "leaf IN (SELECT leaf FROM record WHERE agent_id = 'a') OR leaf IN (SELECT o.leaf FROM "
        "record AS d JOIN record AS o ON o.about = d.leaf WHERE d.agent_id = 'a')");
    ck_assert_uint_eq(keys.n, CALLS);
    told = run_child(&kit, step, action, nth, &finished);
    ck_assert(!finished || told);
    writ_kit_pass(&kit, WRIT_KIT_S);
    check(&kit, &keys, told);
    writ_contents_kit_keys_free(&keys);
    writ_kit_wipe(&kit);
    return !finished;
}

static void
run_trials(enum writ_vfs_step step, enum writ_vfs_action action, long least)
{
    long nth = 1;

    while (run_trial(step, action, nth)) {
        nth++;
        ck_assert_int_lt(nth, TRIALS_MAX);
    }
    ck_assert_int_gt(nth, least); /* it was reached */
}

START_TEST(kill_around_a_write_erases_all_or_nothing)
{
    run_trials(WRIT_VFS_WRITE, WRIT_VFS_KILL, 8);
    run_trials(WRIT_VFS_WRITE, WRIT_VFS_KILL_TORN, 8);
}
END_TEST

START_TEST(kill_around_a_sync_erases_all_or_nothing)
{
    run_trials(WRIT_VFS_SYNC, WRIT_VFS_KILL, 4);
    run_trials(WRIT_VFS_SYNC, WRIT_VFS_KILL_DONE, 4);
}
END_TEST

START_TEST(kill_around_the_cut_of_the_log_erases_all_or_nothing)
{
    run_trials(WRIT_VFS_SIZE, WRIT_VFS_KILL, 4);
    run_trials(WRIT_VFS_SIZE, WRIT_VFS_KILL_DONE, 4);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {kill_around_a_write_erases_all_or_nothing,
        kill_around_a_sync_erases_all_or_nothing,
        kill_around_the_cut_of_the_log_erases_all_or_nothing};

    writ_vfs_install();
    return writ_unit_run("store_erase_kill", tests, sizeof tests / sizeof tests[0]);
}
