/* Kills the process at the n-th durable step of its ledger, n = 1, 2, ... until the work
 * completes: before the step, in the middle of a write, and after it. Then it opens the ledger and
 * compares it with the answers that the process had got before it died. */
#include "support/store/kit.h"
#include "support/store/vfs.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS      4
#define MORE       24
#define TRIALS_MAX 3000

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/** The child reports each answer as soon as it gets it. */
struct told {
    char what; /* g granted, e its outcome, s sealed; w waits, f followed, d both rounds done */
    int number;
};

static void
tell(int fd, char what, int number)
{
    struct told told = {.what = what, .number = number};

    if (write(fd, &told, sizeof told) != sizeof told) {
        _exit(3);
    }
}

static spec
spec_of(int number)
{
    static const char *const arguments[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    static const struct writ_reservation budget = {
        .key = {{1}},
        .name = {"calls", 5},
        .window_us = 3600 * WRIT_KIT_S,
        .counts_calls = true,
        .amount = {.coefficient = 1},
        .limit = {.coefficient = CALLS},
    };

    return (spec){
        .argument = arguments[number],
        .boundary = number % 2 == 0 ? "even" : "odd",
        .reservations = &budget,
        .reservations_n = 1,
        .route = WRIT_DECISION_ALLOW,
    };
}

static spec
rounds(void)
{
    return (spec){.argument = "rounds", .boundary = "rounds", .route = WRIT_DECISION_ALLOW};
}

/* A call of two rounds. */
static void
work_in_rounds(struct writ_kit *kit, int fd)
{
    call *first = writ_kit_call(kit, rounds()), *second;

    if (writ_kit_decide(kit, first) != WRIT_OK || !first->entry.decision.granted ||
        writ_kit_wait(kit, first, WRIT_WAIT_INPUT, (struct writ_digest){{7}}, 3600 * WRIT_KIT_S) !=
            WRIT_OK) {
        _exit(7);
    }
    tell(fd, 'w', 0);
    second = writ_kit_round(kit, first, rounds());
    if (writ_kit_decide(kit, second) != WRIT_OK || !second->entry.decision.granted) {
        _exit(8);
    }
    tell(fd, 'f', 0);
    if (writ_kit_end(kit, second, WRIT_OUTCOME_EXECUTED, NULL) != WRIT_OK) {
        _exit(9);
    }
    tell(fd, 'd', 0);
}

/* The work: opens (and so recovers what an earlier trial left), grants, ends, seals. */
static void
work(struct writ_kit *kit, int fd)
{
    call *calls[CALLS];
    struct writ_entry *entries[2];

    writ_kit_open(kit);
    for (int i = 0; i < CALLS; i++) {
        calls[i] = writ_kit_call(kit, spec_of(i));
    }
    for (int i = 0; i < CALLS; i += 2) { /* groups of two */
        entries[0] = &calls[i]->entry;
        entries[1] = &calls[i + 1]->entry;
        ck_assert_ok(writ_ledger_submit(kit->ledger, entries, 2));
        for (int k = i; k < i + 2; k++) {
            while (sem_wait(&calls[k]->done) != 0) {
            }
            if (calls[k]->entry.code != WRIT_OK || !calls[k]->entry.decision.granted) {
                _exit(4);
            }
            calls[k]->leaf = calls[k]->entry.decision.leaf;
            tell(fd, 'g', k);
        }
    }
    for (int i = 0; i < CALLS - 1; i++) { /* the last one stays in flight */
        if (writ_kit_end(kit, calls[i], WRIT_OUTCOME_EXECUTED, NULL) != WRIT_OK) {
            _exit(5);
        }
        tell(fd, 'e', i);
    }
    if (writ_kit_seal(kit, "even", NULL) != WRIT_OK) {
        _exit(6);
    }
    tell(fd, 's', 0);
    work_in_rounds(kit, fd);
    for (int i = 0; i < MORE; i++) { /* enough for another manifest */
        writ_kit_run(
            kit, (spec){.argument = spec_of(i % 8).argument,
                     .boundary = "more",
                     .duplicates = i < 8 ? WRIT_DUPLICATES_FORBID : WRIT_DUPLICATES_ALLOW});
    }
    _exit(0); /* no close: the end of the process is its death */
}

struct trial {
    struct writ_kit kit;
    bool granted[CALLS], ended[CALLS], sealed;
    bool waits, followed, done;
    bool finished;
};

static void
run_child(struct trial *t, enum writ_vfs_step step, enum writ_vfs_action action, long nth)
{
    struct told told;
    int fds[2], status = 0;
    pid_t child;

    ck_assert_int_eq(pipe(fds), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)close(fds[0]);
        writ_vfs_arm(step, nth, false, action, SQLITE_OK);
        work(&t->kit, fds[1]);
    }
    (void)close(fds[1]);
    while (read(fds[0], &told, sizeof told) == sizeof told) {
        t->granted[told.number] |= told.what == 'g';
        t->ended[told.number] |= told.what == 'e';
        t->sealed |= told.what == 's';
        t->waits |= told.what == 'w';
        t->followed |= told.what == 'f';
        t->done |= told.what == 'd';
    }
    (void)close(fds[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    t->finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ck_assert_msg(t->finished || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
        "the child ended with status %x", (unsigned)status);
}

static int64_t
outcomes(struct writ_kit *kit, int number, const char *condition)
{
    char sql[512];

    (void)snprintf(sql, sizeof sql,
        "SELECT count(*) FROM record AS d JOIN record AS o ON o.about = d.leaf AND o.kind = 2 "
        "WHERE d.kind = 1 AND d.verdict = 1 AND d.decision_id = 'd-%012d' AND %s",
        number, condition);
    return writ_kit_number(kit, sql);
}

static void
check_calls(struct trial *t)
{
    struct writ_reservation probe;
    int64_t granted = 0;

    for (int i = 0; i < CALLS; i++) {
        int64_t all = outcomes(&t->kit, i, "1");

        ck_assert_int_le(all, 1);
        ck_assert(!t->granted[i] || all == 1); /* every acknowledged entry is there */
        ck_assert(!t->ended[i] || outcomes(&t->kit, i, "o.verdict = 1") == 1);
        if (all == 1) {
            granted++;
            writ_kit_refused(&t->kit, spec_of(i),
                t->sealed && i % 2 == 0 ? WRIT_REASON_BOUNDARY_SEALED
                : outcomes(&t->kit, i, "o.verdict = 1") == 1
                    ? WRIT_REASON_DUPLICATE_OUTCOME
                    : WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
        }
    }
    /* the budget counts exactly the calls that may have run */
    probe = *spec_of(0).reservations;
    probe.limit = writ_decimal_of(granted);
    writ_kit_refused(&t->kit,
        (spec){
            .argument = "probe", .boundary = "probe", .reservations = &probe, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    probe.limit = writ_decimal_of(granted + 1);
    writ_kit_run(&t->kit,
        (spec){
            .argument = "probe", .boundary = "probe", .reservations = &probe, .reservations_n = 1});
}

/* A call of two rounds: an acknowledged wait still waits, unless the next round was granted; then
 * that round has an outcome. */
static void
check_rounds(struct trial *t)
{
    int64_t waits = writ_kit_number(&t->kit, "SELECT count(*) FROM wait");
    int64_t followed = writ_kit_number(&t->kit, "SELECT count(*) FROM record WHERE flags & 16");
    enum writ_code found =
        writ_kit_waiting(&t->kit, (struct writ_digest){{7}}, &(struct writ_entry_waiting){0});

    ck_assert_int_le(waits + followed, 1);
    ck_assert(!t->waits || waits + followed == 1);
    ck_assert(!t->followed || followed == 1);
    ck_assert_int_eq(found, waits == 1 ? WRIT_OK : WRIT_E_ABSENT);
    if (waits + followed == 1) {
        writ_kit_refused(&t->kit, rounds(),
            waits == 1 ? WRIT_REASON_DUPLICATE_IN_FLIGHT
            : writ_kit_number(&t->kit, "SELECT count(*) FROM record AS d JOIN record AS o ON "
                                       "o.about = d.leaf WHERE d.flags & 16 AND o.verdict = 1") == 1
                ? WRIT_REASON_DUPLICATE_OUTCOME
                : WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    }
    ck_assert(!t->done || followed == 1);
}

static void
check(struct trial *t, const char *where, long nth)
{
    struct writ_verify_report report;

    writ_kit_open(&t->kit);
    ck_assert_int_eq(
        writ_kit_number(&t->kit,
            "SELECT count(*) FROM record AS d WHERE kind = 1 AND flags & 1 AND NOT EXISTS "
            "(SELECT 1 FROM record AS o WHERE o.about = d.leaf)"),
        writ_kit_number(&t->kit, "SELECT count(*) FROM wait"));
    if (t->sealed) {
        ck_assert_int_eq(writ_kit_number(&t->kit, "SELECT count(*) FROM record WHERE kind = 3"), 1);
    } else {
        t->sealed = writ_kit_number(&t->kit, "SELECT count(*) FROM record WHERE kind = 3") == 1;
    }
    check_calls(t);
    check_rounds(t);
    writ_kit_run(&t->kit, (spec){.argument = "after", .boundary = "after"});
    writ_kit_close(&t->kit);
    ck_assert_ok(writ_verify_ledger(t->kit.path, t->kit.ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "%s %ld: record %llu: %s", where, nth,
        (unsigned long long)report.list[0].leaf, report.list[0].what);
    ck_assert_uint_eq(
        report.in_flight, (uint64_t)writ_kit_number(&t->kit, "SELECT count(*) FROM wait"));
}

static bool
run_trial(enum writ_vfs_step step, enum writ_vfs_action action, long nth, const char *where)
{
    struct trial t = {0};

    writ_kit_init(&t.kit);
    writ_kit_hurry(&t.kit);
    writ_kit_sign_together(&t.kit);
    run_child(&t, step, action, nth);
    if (t.finished) { /* with a manifest, and segments that it names */
        ck_assert_int_gt(
            writ_kit_number(&t.kit, "SELECT count(*) FROM segment WHERE id < 1 << 62 AND "
                                    "EXISTS (SELECT 1 FROM segment WHERE id = 1 << 62)"),
            0);
    }
    atomic_store(&t.kit.made, 100); /* the child's ids are its own */
    writ_kit_pass(&t.kit, WRIT_KIT_S);
    check(&t, where, nth);
    writ_kit_wipe(&t.kit);
    return !t.finished;
}

static void
run_trials(enum writ_vfs_step step, enum writ_vfs_action action, const char *where)
{
    long nth = 1;

    while (run_trial(step, action, nth, where)) {
        nth++;
        ck_assert_int_lt(nth, TRIALS_MAX);
    }
    ck_assert_int_gt(nth, 5); /* it was reached */
}

START_TEST(kill_before_a_write_keeps_every_acknowledged_entry)
{
    run_trials(WRIT_VFS_WRITE, WRIT_VFS_KILL, "before write");
}
END_TEST

START_TEST(kill_within_a_write_keeps_every_acknowledged_entry)
{
    run_trials(WRIT_VFS_WRITE, WRIT_VFS_KILL_TORN, "in write");
}
END_TEST

START_TEST(kill_around_a_sync_keeps_every_acknowledged_entry)
{
    run_trials(WRIT_VFS_SYNC, WRIT_VFS_KILL, "before sync");
    run_trials(WRIT_VFS_SYNC, WRIT_VFS_KILL_DONE, "after sync");
}
END_TEST

/* Killed while it recovers from a kill, again and again: it still comes through in the end. */
START_TEST(kill_at_each_step_of_a_recovery_keeps_every_entry)
{
    struct trial t = {0};
    long nth = 1;

    writ_kit_init(&t.kit);
    writ_kit_hurry(&t.kit);
    writ_kit_sign_together(&t.kit);
    run_child(&t, WRIT_VFS_SYNC, WRIT_VFS_KILL_DONE, 4);
    for (bool died = true; died; nth++) {
        pid_t child = fork();
        int status = 0;

        if (child == 0) {
            writ_vfs_arm(WRIT_VFS_WRITE, nth, false, WRIT_VFS_KILL_TORN, SQLITE_OK);
            writ_kit_open(&t.kit);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        died = !WIFEXITED(status);
    }
    ck_assert_int_gt(nth, 3);
    atomic_store(&t.kit.made, 100);
    writ_kit_pass(&t.kit, WRIT_KIT_S);
    check(&t, "recovery", nth);
    writ_kit_wipe(&t.kit);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {kill_before_a_write_keeps_every_acknowledged_entry,
        kill_within_a_write_keeps_every_acknowledged_entry,
        kill_around_a_sync_keeps_every_acknowledged_entry,
        kill_at_each_step_of_a_recovery_keeps_every_entry};

    writ_vfs_install();
    return writ_unit_run("store_kill", tests, sizeof tests / sizeof tests[0]);
}
