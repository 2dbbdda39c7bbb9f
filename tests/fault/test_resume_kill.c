/* A ledger that is resumed over a tail that nothing proves, killed at the n-th write or sync, n =
 * 1, 2, ... until it completes. Afterwards a start asks for the resume again; or the loss is on
 * record, and that start leaves no run, review or call from before it. */
#include "support/store/poll.h"
#include "support/unit.h"
#include "support/store/vfs.h"

#include "crew/panel.h"
#include "store/read/verify.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIALS_MAX 1000

typedef struct writ_kit_spec spec;

static const struct writ_view other_key = {"another key of it, with 32 bytes", 32};

static void
end_child(pid_t child, bool *ret_finished)
{
    int status = 0;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    *ret_finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ck_assert_msg(*ret_finished || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
        "the child ended with status %x", (unsigned)status);
}

static void
wait_for_input(struct writ_kit *kit)
{
    struct writ_digest name = {0};
    struct writ_kit_call *call =
        writ_kit_granted(kit, (spec){.argument = "waits", .boundary = "b"});

    ck_assert_ok(writ_digest_bytes(WRIT_LIT("its name"), &name, NULL));
    ck_assert_int_eq(writ_kit_wait(kit, call, WRIT_WAIT_INPUT, name, 600 * WRIT_KIT_S), WRIT_OK);
}

/* A run, a review, and a call that waits for input; the last groups have MACs of a key that is
 * lost. */
static void
leave_unproven(struct writ_kit *kit)
{
    bool finished = false;
    pid_t child;

    writ_kit_init(kit);
    kit->options.judge = &writ_panel_judge;
    writ_kit_sign_together(kit);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        writ_kit_open(kit);
        writ_kit_run(kit, (spec){.argument = "1", .boundary = "a"});
        (void)writ_poll_opened(kit, (struct writ_poll_spec){0});
        wait_for_input(kit);
        _exit(0);
    }
    end_child(child, &finished);
    ck_assert(finished);
    writ_kit_pass(kit, WRIT_KIT_S);
    kit->options.tail_key = other_key;
}

static bool
resume_until(struct writ_kit *kit, enum writ_vfs_step step, enum writ_vfs_action action, long nth)
{
    bool finished = false;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        kit->options.resume = true;
        writ_vfs_arm(step, nth, false, action, SQLITE_OK);
        writ_kit_open(kit);
        writ_kit_close(kit);
        _exit(0);
    }
    end_child(child, &finished);
    return finished;
}

static int64_t
losses(struct writ_kit *kit)
{
    return writ_kit_number(kit, "SELECT count(*) FROM record AS r JOIN body AS b ON b.leaf <= "
                                "r.leaf WHERE r.kind = 5 AND b.leaf = (SELECT max(leaf) FROM body "
                                "WHERE leaf <= r.leaf) AND instr(CAST(b.bytes AS TEXT), "
                                "'\"resumed\"') > 0");
}

/* A start without the resume. Returns whether it is refused. */
static bool
start(struct writ_kit *kit)
{
    struct writ_err err = {0};
    writ_result result = writ_ledger_open(kit->path, &kit->options, &kit->ledger, &err);

    if (result.code == WRIT_E_MISMATCH) {
        ck_assert_msg(strstr(err.text, "writ ledger resume") != NULL, "%s", err.text);
        ck_assert_int_eq(losses(kit), 0);
        return true;
    }
    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return false;
}

static void
check(struct writ_kit *kit)
{
    struct writ_ledger_health health;
    struct writ_verify_report report = {0};
    const struct writ_verify_sources sources = {
        .path = kit->path, .ring = kit->ring, .tail_key = other_key, .signed_all = true};

    if (start(kit)) {
        kit->options.resume = true;
        writ_kit_open(kit);
        kit->options.resume = false;
    }
    ck_assert_int_ge(losses(kit), 1);
    health = writ_kit_health(kit);
    ck_assert_uint_eq(health.boundaries, 0);
    ck_assert_uint_eq(health.reviews_waiting, 0);
    ck_assert_uint_eq(health.in_flight, 0);
    ck_assert_uint_eq(health.waits, 0);
    writ_kit_close(kit);
    writ_kit_open(kit);
    writ_kit_refused(kit, (spec){.key = "lost", .boundary = "c"}, WRIT_REASON_LEDGER_RESUMED);
    writ_kit_close(kit);
    ck_assert_ok(writ_verify_joined(&sources, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
}

static void
kill_at_every(enum writ_vfs_step step, enum writ_vfs_action action)
{
    bool finished = false;
    long nth = 0;

    while (!finished) {
        struct writ_kit kit;

        ck_assert_int_lt(++nth, TRIALS_MAX);
        leave_unproven(&kit);
        finished = resume_until(&kit, step, action, nth);
        atomic_store(&kit.made, 100);
        writ_kit_pass(&kit, WRIT_KIT_S);
        check(&kit);
        writ_kit_wipe(&kit);
    }
    ck_assert_int_gt(nth, 5); /* it was reached */
}

START_TEST(resume_killed_at_a_write_is_asked_for_again_or_completed)
{
    kill_at_every(WRIT_VFS_WRITE, WRIT_VFS_KILL);
    kill_at_every(WRIT_VFS_WRITE, WRIT_VFS_KILL_TORN);
}
END_TEST

START_TEST(resume_killed_around_a_sync_is_asked_for_again_or_completed)
{
    kill_at_every(WRIT_VFS_SYNC, WRIT_VFS_KILL);
    kill_at_every(WRIT_VFS_SYNC, WRIT_VFS_KILL_DONE);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {resume_killed_at_a_write_is_asked_for_again_or_completed,
        resume_killed_around_a_sync_is_asked_for_again_or_completed};

    writ_vfs_install();
    return writ_unit_run("resume_kill", tests, sizeof tests / sizeof tests[0]);
}
