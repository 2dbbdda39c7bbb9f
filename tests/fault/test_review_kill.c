/* Reviews over every durable step: the process is killed, or the step fails, at the n-th write or
 * sync, n = 1, 2, ... until the work completes. Every acknowledged change holds afterwards; a vote
 * and the verdict that it brings, and a redemption and its grant, are on disk both or neither; and
 * work that had begun can be continued, once. */
#include "support/store/poll.h"
#include "support/unit.h"
#include "support/store/vfs.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIALS_MAX 2000
#define PAID       "d-000000000000" /* decisions in the order of the work */
#define CANCELLED  "d-000000000002"
#define REJECTED   "d-000000000003"

typedef struct writ_poll_spec spec;

/** The acknowledged changes, in this order. */
enum told {
    OPENED = 0,
    VOTED,
    APPROVED,
    REDEEMED,
    ENDED,
    CANCEL_OPENED,
    CANCEL,
    REJECT_OPENED,
    REJECT,
    TOLD_COUNT
};

struct trial {
    struct writ_kit kit;
    bool told[TOLD_COUNT];
    bool finished;
};

typedef bool tell_fn(void *ctx, enum told what);

static spec
spec_of(const char *argument)
{
    return (spec){.spec = {.argument = argument}};
}

/* ---- the work: every step may fail, and ends it */

static bool
ask(struct writ_kit *kit, const char *argument, struct writ_poll_asking **ret)
{
    struct writ_poll_asking *a = writ_poll_asking(kit, spec_of(argument));

    *ret = a;
    return writ_kit_decide(kit, a->call) == WRIT_OK;
}

static bool
opens(struct writ_kit *kit, const char *argument)
{
    struct writ_poll_asking *a;
    bool open = ask(kit, argument, &a) && a->ask.state == WRIT_REVIEW_OPEN;

    writ_kit_call_free(a->call);
    return open;
}

static bool
votes(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote vote,
    enum writ_review_state want)
{
    struct writ_entry get = {
        .kind = WRIT_ENTRY_REVIEW_GET, .arena = writ_arena_new(WRIT_POLL_ARENA)};
    bool voted = false;

    get.review_get.id = writ_view_str(id);
    if (writ_kit_submit(kit, &get) == WRIT_OK) {
        struct writ_poll_event e =
            writ_poll_sent(kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
                                    .id = writ_view_str(id),
                                    .by = writ_view_str(by),
                                    .digest = writ_view_str(get.review_get.told.digest),
                                    .vote = vote,
                                    .feedback = WRIT_LIT("because")});

        voted = e.code == WRIT_OK && e.entry.review.refused == WRIT_REASON_NONE &&
                e.entry.review.told.state == want;
        writ_arena_free(e.entry.arena);
    }
    writ_arena_free(get.arena);
    return voted;
}

static bool
cancels(struct writ_kit *kit, const char *id)
{
    struct writ_poll_event e = writ_poll_sent(
        kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_CANCEL, .id = writ_view_str(id)});
    bool done = e.code == WRIT_OK && e.entry.review.refused == WRIT_REASON_NONE;

    writ_arena_free(e.entry.arena);
    return done;
}

static bool
redeems(struct writ_kit *kit, tell_fn *tell, void *ctx)
{
    struct writ_poll_asking *a;
    bool granted = ask(kit, "pay", &a) && a->call->entry.decision.granted;

    if (granted) {
        a->call->leaf = a->call->entry.decision.leaf;
        granted = tell(ctx, REDEEMED) &&
                  writ_kit_end(kit, a->call, WRIT_OUTCOME_EXECUTED, NULL) == WRIT_OK &&
                  tell(ctx, ENDED);
    }
    writ_kit_call_free(a->call);
    return granted;
}

static bool
work(struct writ_kit *kit, tell_fn *tell, void *ctx)
{
    return opens(kit, "pay") && tell(ctx, OPENED) &&
           votes(kit, PAID, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN) && tell(ctx, VOTED) &&
           votes(kit, PAID, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED) &&
           tell(ctx, APPROVED) && redeems(kit, tell, ctx) && opens(kit, "cancel") &&
           tell(ctx, CANCEL_OPENED) && cancels(kit, CANCELLED) && tell(ctx, CANCEL) &&
           opens(kit, "reject") && tell(ctx, REJECT_OPENED) &&
           votes(kit, REJECTED, "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN) &&
           votes(kit, REJECTED, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED) &&
           tell(ctx, REJECT);
}

/* ---- what must hold afterwards */

/* ABSENT: the review does not exist. */
static enum writ_review_state
state_of(struct writ_kit *kit, const char *id)
{
    struct writ_entry get = {
        .kind = WRIT_ENTRY_REVIEW_GET, .arena = writ_arena_new(WRIT_POLL_ARENA)};
    enum writ_review_state state = WRIT_REVIEW_ABSENT;
    enum writ_code code;

    get.review_get.id = writ_view_str(id);
    code = writ_kit_submit(kit, &get);
    ck_assert(code == WRIT_OK || code == WRIT_E_ABSENT);
    if (code == WRIT_OK) {
        state = get.review_get.told.state;
    }
    writ_arena_free(get.arena);
    return state;
}

static int64_t
rows(struct writ_kit *kit, const char *id, int kind)
{
    char sql[256];

    (void)snprintf(sql, sizeof sql,
        "SELECT count(*) FROM record WHERE kind = %d AND decision_id = '%s'", kind, id);
    return writ_kit_number(kit, sql);
}

static int64_t
grants(struct writ_kit *kit)
{
    return writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 1 AND verdict = 1");
}

/* A decision that opens a review and the review's first record: both or neither. */
static void
check_openings(struct trial *t)
{
    static const struct {
        const char *id;
        enum told told;
    } opened[] = {{PAID, OPENED}, {CANCELLED, CANCEL_OPENED}, {REJECTED, REJECT_OPENED}};

    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++) {
        bool there = rows(&t->kit, opened[i].id, 1) == 1;

        ck_assert_int_eq(there, rows(&t->kit, opened[i].id, 4) >= 1);
        ck_assert(!t->told[opened[i].told] || there);
    }
}

static void
check_states(struct trial *t)
{
    enum writ_review_state paid = state_of(&t->kit, PAID);
    enum writ_review_state cancelled = state_of(&t->kit, CANCELLED);
    enum writ_review_state rejected = state_of(&t->kit, REJECTED);
    int64_t records = rows(&t->kit, PAID, 4);

    ck_assert(!t->told[VOTED] || records >= 2);
    ck_assert(!t->told[APPROVED] || paid == WRIT_REVIEW_APPROVED || paid == WRIT_REVIEW_REDEEMED);
    ck_assert(!t->told[REDEEMED] || paid == WRIT_REVIEW_REDEEMED);
    ck_assert_int_eq(grants(&t->kit), paid == WRIT_REVIEW_REDEEMED); /* both or neither */
    /* the second vote brings the verdict, and is never recorded without it */
    ck_assert(paid != WRIT_REVIEW_OPEN || records <= 2);
    ck_assert(paid != WRIT_REVIEW_APPROVED || records == 4);
    ck_assert(!t->told[CANCEL] || cancelled == WRIT_REVIEW_CANCELLED);
    ck_assert(!t->told[REJECT] || rejected == WRIT_REVIEW_REJECTED);
    ck_assert(rejected != WRIT_REVIEW_OPEN || rows(&t->kit, REJECTED, 4) <= 2);
}

/* The review continues from its state, and the call runs once in all. */
static void
check_goes_on(struct trial *t)
{
    struct writ_kit *kit = &t->kit;
    enum writ_review_state paid = state_of(kit, PAID);
    const char *id = PAID;

    if (paid == WRIT_REVIEW_ABSENT) {
        id = writ_poll_opened(kit, spec_of("pay"));
        paid = WRIT_REVIEW_OPEN;
    }
    if (paid == WRIT_REVIEW_OPEN) {
        ck_assert(votes(kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN));
        ck_assert(votes(kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED));
    }
    if (paid != WRIT_REVIEW_REDEEMED) {
        struct writ_poll_asking *a = writ_poll_redeemed(kit, spec_of("pay"));

        ck_assert_int_eq(writ_kit_end(kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
        writ_kit_call_free(a->call);
    }
    writ_poll_told(kit, spec_of("pay"),
        paid == WRIT_REVIEW_REDEEMED &&
                writ_kit_number(kit, "SELECT count(*) FROM record AS d JOIN record AS o ON "
                                     "o.about = d.leaf WHERE d.verdict = 1 AND d.kind = 1 "
                                     "AND o.kind = 2 AND o.verdict = 1") == 0
            ? WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN
            : WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert_int_eq(grants(kit), 1);
}

static void
check(struct trial *t)
{
    atomic_store(&t->kit.made, 100); /* ids of the work are its own */
    writ_kit_pass(&t->kit, WRIT_KIT_S);
    check_openings(t);
    check_states(t);
    check_goes_on(t);
    writ_kit_close(&t->kit);
    writ_poll_sound(&t->kit);
}

/* ---- killed */

static bool
tell_parent(void *ctx, enum told what)
{
    char byte = (char)what;

    if (write(*(int *)ctx, &byte, 1) != 1) {
        _exit(3);
    }
    return true;
}

static void
run_child(struct trial *t, enum writ_vfs_step step, enum writ_vfs_action action, long nth)
{
    int fds[2], status = 0;
    char byte;
    pid_t child;

    ck_assert_int_eq(pipe(fds), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)close(fds[0]);
        writ_vfs_arm(step, nth, false, action, SQLITE_OK);
        writ_kit_open(&t->kit);
        _exit(work(&t->kit, tell_parent, &fds[1]) ? 0 : 4);
    }
    (void)close(fds[1]);
    while (read(fds[0], &byte, 1) == 1) {
        t->told[(int)byte] = true;
    }
    (void)close(fds[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    t->finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ck_assert_msg(t->finished || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
        "the child ended with status %x", (unsigned)status);
}

static void
start(struct trial *t)
{
    writ_poll_start(&t->kit);
    writ_kit_close(&t->kit);
}

static void
kill_at_every(enum writ_vfs_step step, enum writ_vfs_action action)
{
    long nth = 0;
    bool finished = false;

    while (!finished) {
        struct trial t = {0};

        ck_assert_int_lt(++nth, TRIALS_MAX);
        start(&t);
        run_child(&t, step, action, nth);
        writ_kit_open(&t.kit);
        check(&t);
        finished = t.finished;
        writ_kit_wipe(&t.kit);
    }
    ck_assert_int_gt(nth, 10); /* it was reached */
}

START_TEST(kill_before_a_write_keeps_every_acknowledged_change)
{
    kill_at_every(WRIT_VFS_WRITE, WRIT_VFS_KILL);
}
END_TEST

START_TEST(kill_within_a_write_leaves_no_partial_change)
{
    kill_at_every(WRIT_VFS_WRITE, WRIT_VFS_KILL_TORN);
}
END_TEST

START_TEST(kill_around_a_sync_keeps_every_acknowledged_change)
{
    kill_at_every(WRIT_VFS_SYNC, WRIT_VFS_KILL);
    kill_at_every(WRIT_VFS_SYNC, WRIT_VFS_KILL_DONE);
}
END_TEST

/* ---- a disk that fails */

static bool
note(void *ctx, enum told what)
{
    struct trial *t = ctx;

    t->told[what] = true;
    return true;
}

static void
fail_at_every(enum writ_vfs_step step, enum writ_vfs_action action, int code, bool persistent)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct trial t = {0};

        ck_assert_int_lt(nth, TRIALS_MAX);
        start(&t);
        t.kit.options.busy_us = 2000;
        writ_kit_open(&t.kit);
        writ_vfs_arm(step, nth, persistent, action, code);
        (void)work(&t.kit, note, &t);
        reached = writ_vfs_disarm();
        writ_kit_close(&t.kit);
        writ_kit_open(&t.kit);
        check(&t);
        writ_kit_wipe(&t.kit);
    }
}

START_TEST(failed_write_keeps_exactly_the_acknowledged_changes)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        fail_at_every(WRIT_VFS_WRITE, WRIT_VFS_FAIL, SQLITE_IOERR_WRITE, persistent != 0);
        fail_at_every(WRIT_VFS_WRITE, WRIT_VFS_TEAR, SQLITE_FULL, persistent != 0);
        fail_at_every(WRIT_VFS_WRITE_LOCK, WRIT_VFS_FAIL, SQLITE_BUSY, persistent != 0);
    }
}
END_TEST

START_TEST(failed_sync_keeps_every_acknowledged_change)
{
    fail_at_every(WRIT_VFS_SYNC, WRIT_VFS_FAIL, SQLITE_IOERR_FSYNC, false);
    fail_at_every(WRIT_VFS_SYNC, WRIT_VFS_FAIL, SQLITE_IOERR_FSYNC, true);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {kill_before_a_write_keeps_every_acknowledged_change,
        kill_within_a_write_leaves_no_partial_change,
        kill_around_a_sync_keeps_every_acknowledged_change,
        failed_write_keeps_exactly_the_acknowledged_changes,
        failed_sync_keeps_every_acknowledged_change};

    writ_vfs_install();
    return writ_unit_run("review_kill", tests, sizeof tests / sizeof tests[0]);
}
