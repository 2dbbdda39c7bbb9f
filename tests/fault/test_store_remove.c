/* Fails, and kills the process at, the n-th step of the file system under a removal of archived
 * records, n = 1, 2, ... until it is not reached. Afterwards the ledger opens and is sound; its
 * records are all there, or those before one that a fact names are gone. */
#include "support/store/faults.h"
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS       6
#define DAY_US     (86400 * WRIT_KIT_S)
#define TRIALS_MAX 400

typedef struct writ_kit_spec spec;

static uint64_t archived; /* records, by the archive of the kit that was filled last */
static struct writ_digest archived_root;

/* A sealed run each two days, with a fact between them. */
static void
fill(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_kit_sign_together(kit);
    kit->options.retry_us = 1000;
    kit->options.budget_window_us = 0;
    writ_kit_open(kit);
    for (int i = 0; i < RUNS; i++) {
        char run[16];

        (void)snprintf(run, sizeof run, "run-%d", i);
        writ_kit_run(kit, (spec){.boundary = run, .argument = run});
        ck_assert_int_eq(writ_kit_seal(kit, run, NULL), WRIT_OK);
        ck_assert_ok(writ_ledger_record(
            kit->ledger, WRIT_FACT_RELEASED, WRIT_LIT("{\"tool\":\"up/tool\"}"), NULL));
        writ_kit_pass(kit, 2 * DAY_US);
    }
    archived = (uint64_t)writ_kit_number(kit, "SELECT max(size) FROM head");
    archived_root = writ_kit_root(kit, archived);
}

static enum writ_code
remove_old(struct writ_kit *kit, struct writ_entry_remove *ret)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_REMOVE};
    enum writ_code code;

    entry.remove = (struct writ_entry_remove){.before_us = atomic_load(&kit->wall_us) - 5 * DAY_US,
        .archived = archived,
        .root = archived_root,
        .by = WRIT_LIT("tester")};
    code = writ_kit_submit(kit, &entry);
    *ret = entry.remove;
    return code;
}

static int64_t
first_of(struct writ_kit *kit)
{
    return writ_kit_number(kit, "SELECT min(leaf) FROM record");
}

/* Opens the ledger until nothing is to be removed, and checks it. */
static void
check(struct writ_kit *kit, bool told)
{
    bool recorded = writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 5 AND leaf > "
                                         "(SELECT max(leaf) FROM record WHERE kind = 3) + 1") > 0;
    struct writ_verify_report report;
    int64_t first;

    ck_assert(!told || recorded);
    ck_assert(recorded || first_of(kit) == 0);
    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 0);
    writ_kit_open(kit);
    for (int i = 0; i < 8; i++) {
        writ_kit_turn(kit);
    }
    writ_kit_close(kit);
    first = first_of(kit);
    ck_assert_int_eq(first > 0, recorded);
    ck_assert_int_eq(writ_kit_number(kit, "SELECT min(leaf) FROM body"), first);
    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
    ck_assert_uint_eq(report.facts, RUNS + recorded);
}

/* ---- kills ---- */

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
        struct writ_entry_remove removed;

        (void)close(fds[0]);
        writ_vfs_arm(step, nth, false, action, SQLITE_OK);
        writ_kit_open(kit);
        if (remove_old(kit, &removed) != WRIT_OK || removed.removed == 0 ||
            write(fds[1], "r", 1) != 1) {
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
    return told == 'r';
}

static bool
run_killed(enum writ_vfs_step step, enum writ_vfs_action action, long nth)
{
    struct writ_kit kit;
    bool finished = false, told;

    fill(&kit);
    writ_kit_close(&kit);
    told = run_child(&kit, step, action, nth, &finished);
    ck_assert(!finished || told);
    writ_kit_pass(&kit, WRIT_KIT_S);
    check(&kit, told);
    writ_kit_wipe(&kit);
    return !finished;
}

static void
run_all_killed(enum writ_vfs_step step, enum writ_vfs_action action, long least)
{
    long nth = 1;

    while (run_killed(step, action, nth)) {
        nth++;
        ck_assert_int_lt(nth, TRIALS_MAX);
    }
    ck_assert_int_gt(nth, least); /* it was reached */
}

START_TEST(kill_around_a_write_leaves_a_sound_ledger)
{
    run_all_killed(WRIT_VFS_WRITE, WRIT_VFS_KILL, 4);
    run_all_killed(WRIT_VFS_WRITE, WRIT_VFS_KILL_TORN, 4);
}
END_TEST

START_TEST(kill_around_a_sync_leaves_a_sound_ledger)
{
    run_all_killed(WRIT_VFS_SYNC, WRIT_VFS_KILL, 2);
    run_all_killed(WRIT_VFS_SYNC, WRIT_VFS_KILL_DONE, 2);
}
END_TEST

/* ---- failing steps ---- */

static bool
run_failing(const struct writ_vfs_fault *fault, long nth, bool persistent)
{
    struct writ_entry_remove removed;
    struct writ_kit kit;
    enum writ_code code;
    bool reached;

    fill(&kit);
    writ_vfs_arm(fault->step, nth, persistent, fault->action, fault->code);
    code = remove_old(&kit, &removed);
    reached = writ_vfs_disarm();
    ck_assert_msg(code == WRIT_OK || code == WRIT_E_IO || code == WRIT_E_NOMEM, "%s %ld: %s",
        fault->name, nth, writ_code_name(code));
    writ_kit_close(&kit);
    writ_kit_pass(&kit, WRIT_KIT_S);
    check(&kit, code == WRIT_OK);
    writ_kit_wipe(&kit);
    return reached;
}

START_TEST(removal_with_one_failed_step_is_finished_or_not_begun)
{
    writ_faults_try(run_failing, false, TRIALS_MAX);
}
END_TEST

START_TEST(removal_with_failing_steps_is_finished_or_not_begun)
{
    writ_faults_try(run_failing, true, TRIALS_MAX);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {kill_around_a_write_leaves_a_sound_ledger,
        kill_around_a_sync_leaves_a_sound_ledger,
        removal_with_one_failed_step_is_finished_or_not_begun,
        removal_with_failing_steps_is_finished_or_not_begun};

    writ_vfs_install();
    return writ_unit_run("store_remove", tests, sizeof tests / sizeof tests[0]);
}
