/* Child processes with lines on their pipes. Lines arrive whole and in order within their limits,
 * a start that fails is repeated with growing pauses, and no process outlives its stop. */
#include "support/unit.h"

#include "gateway/io/child.h"
#include "gateway/io/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEEN_MAX    (1 << 20)
#define WATCHDOG_US (INT64_C(60) * 1000 * 1000)
#define MS          INT64_C(1000)

/* one child and its events */
struct seen {
    struct writ_loop *loop;
    struct writ_child *child;
    struct writ_timer watchdog, tick;
    int ups, downs, lines, logs;
    int stop_after_ups, stop_after_downs, stop_after_lines; /* 0: do not stop the loop */
    int asked, later, forbid;  /* may_start: how often; first answers */
    bool quiet;                /* do not keep lines */
    struct writ_buf text, log; /* the lines, each with LF */
    size_t longest;
    uint64_t dropped;
    struct writ_child_end end;
    int64_t pauses_us[64];
};

static void
bark(struct writ_timer *timer)
{
    (void)timer;
    ck_abort_msg("the test hangs");
}

static void
stop_loop(struct seen *seen, int count, int after)
{
    if (after > 0 && count >= after) {
        writ_loop_stop(seen->loop);
    }
}

static void
on_up(void *ctx, struct writ_child *child)
{
    struct seen *seen = ctx;

    ck_assert(writ_child_is_up(child));
    ck_assert_int_gt(writ_child_pid(child), 0);
    ck_assert_int_eq(seen->ups, seen->downs);
    stop_loop(seen, ++seen->ups, seen->stop_after_ups);
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct seen *seen = ctx;

    ck_assert_ptr_eq(child, seen->child);
    ck_assert_uint_gt(line.len, 0);
    seen->longest = line.len > seen->longest ? line.len : seen->longest;
    if (!seen->quiet) {
        writ_buf_put(&seen->text, line);
        writ_buf_byte(&seen->text, '\n');
    }
    stop_loop(seen, ++seen->lines, seen->stop_after_lines);
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct seen *seen = ctx;

    ck_assert(!writ_child_is_up(child));
    ck_assert_int_eq(writ_child_pid(child), 0);
    seen->end = *end;
    if (seen->downs < 64) {
        seen->pauses_us[seen->downs] = end->restart_us;
    }
    seen->downs++;
    if (end->why == WRIT_CHILD_NOT_STARTED || end->why == WRIT_CHILD_FORBIDDEN) {
        seen->ups++; /* so that on_up finds them even */
    }
    stop_loop(seen, seen->downs, seen->stop_after_downs);
    if (end->why == WRIT_CHILD_STOPPED) {
        writ_loop_stop(seen->loop);
    }
}

static void
on_log(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped)
{
    struct seen *seen = ctx;

    (void)child;
    seen->logs += line.len > 0 ? 1 : 0; /* empty: only a count of dropped lines */
    seen->dropped += dropped;
    seen->longest = line.len > seen->longest ? line.len : seen->longest;
    writ_buf_put(&seen->log, line);
    writ_buf_byte(&seen->log, '\n');
}

/* First `later`, then `forbid` times, and then the program of the path. */
static enum writ_child_may
may_start(void *ctx, struct writ_child *child, int *ret_program)
{
    struct seen *seen = ctx;

    ck_assert_int_eq(writ_child_pid(child), 0);
    ck_assert_int_eq(*ret_program, -1);
    seen->asked++;
    if (seen->asked <= seen->later) {
        return WRIT_CHILD_MAY_LATER;
    }
    return seen->asked <= seen->later + seen->forbid ? WRIT_CHILD_MAY_NOT : WRIT_CHILD_MAY;
}

static const struct writ_child_handler handler = {.may_start = may_start,
    .on_up = on_up,
    .on_line = on_line,
    .on_down = on_down,
    .on_log = on_log};

static void
open_argv(struct seen *seen, const char *const *argv, struct writ_child_options options)
{
    struct writ_loop_options loop_options = {0};

    seen->watchdog = (struct writ_timer){.fn = bark};
    seen->text = writ_buf_make(SEEN_MAX);
    seen->log = writ_buf_make(SEEN_MAX);
    ck_assert_ok(writ_loop_new(&loop_options, &seen->loop, NULL));
    options.argv = argv;
    ck_assert_ok(writ_child_open(seen->loop, &options, &handler, seen, &seen->child, NULL));
    writ_loop_timer_set(seen->loop, &seen->watchdog, writ_loop_now_us(seen->loop) + WATCHDOG_US);
}

static void
open_shell(struct seen *seen, const char *script, struct writ_child_options options)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    open_argv(seen, argv, options);
}

static void
run(struct seen *seen)
{
    ck_assert_ok(writ_loop_run(seen->loop, NULL));
}

static void
on_tick(struct writ_timer *timer)
{
    writ_loop_stop(timer->ctx);
}

static void
run_for(struct seen *seen, int64_t span_us)
{
    seen->tick = (struct writ_timer){.fn = on_tick, .ctx = seen->loop};
    writ_loop_timer_set(seen->loop, &seen->tick, writ_clock_mono_us(writ_clock_system()) + span_us);
    run(seen);
    writ_loop_timer_cancel(&seen->tick); /* something else may have stopped the loop */
}

static void
stop(struct seen *seen)
{
    writ_child_stop(seen->child);
    writ_child_stop(seen->child);
    run(seen);
    ck_assert_int_eq(seen->end.why, WRIT_CHILD_STOPPED);
    ck_assert_int_eq(seen->end.restart_us, 0);
}

/* frees all, and looks for what may be left */
static void
done(struct seen *seen)
{
    writ_child_close(seen->child);
    writ_loop_timer_cancel(&seen->watchdog);
    writ_loop_free(seen->loop);
    writ_buf_wipe(&seen->text);
    writ_buf_wipe(&seen->log);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
    ck_assert_int_eq(errno, ECHILD);
}

/* runs a script to its first end */
static void
run_script(struct seen *seen, const char *script, struct writ_child_options options)
{
    options.pause_least_us = options.pause_most_us = WATCHDOG_US;
    seen->stop_after_downs = 1;
    open_shell(seen, script, options);
    run(seen);
}

/* true once a process has ended, or is a zombie (of another parent) */
static bool
is_gone(int pid)
{
    char path[64], state = 'Z';
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) {
            state = 'Z';
        }
        (void)fclose(file);
    }
    return state == 'Z' || state == 'X';
}

static void
await_gone(int pid)
{
    for (int i = 0; !is_gone(pid); i++) {
        ck_assert_msg(i < 30000, "process %d lives on", pid);
        (void)usleep(1000);
    }
}

/* ---- lines */

START_TEST(lines_go_both_ways)
{
    struct seen seen = {.stop_after_ups = 1};
    uint64_t first = 0, second = 0;

    open_shell(&seen, "cat", (struct writ_child_options){0});
    ck_assert_code(writ_child_send(seen.child, WRIT_LIT("{}"), &first), WRIT_E_ABSENT);
    run(&seen);
    ck_assert_ok(writ_child_send(seen.child, WRIT_LIT("{\"a\":1}"), &first));
    ck_assert_ok(writ_child_send(seen.child, WRIT_LIT("[]"), &second));
    ck_assert_uint_gt(second, first);
    seen.stop_after_lines = 2;
    run(&seen);
    ck_assert_view(writ_buf_view(&seen.text), "{\"a\":1}\n[]\n");
    stop(&seen);
    ck_assert_uint_gt(seen.end.first_unsent, second);
    ck_assert_code(writ_child_send(seen.child, WRIT_LIT("{}"), &first), WRIT_E_ABSENT);
    done(&seen);
}
END_TEST

START_TEST(graceful_stop_flushes_input_and_output)
{
    static char big[300000];
    struct seen seen = {.stop_after_ups = 1};
    uint64_t ticket = 0;

    for (size_t i = 0; i < sizeof big; i++) {
        big[i] = 'x';
    }
    open_shell(
        &seen, "sleep 0.2; wc -c; echo bye", (struct writ_child_options){.grace_us = 60000 * MS});
    run(&seen);
    ck_assert_ok(writ_child_send(seen.child, writ_view(big, sizeof big), &ticket));
    writ_child_finish(seen.child);
    ck_assert_code(writ_child_send(seen.child, WRIT_LIT("{}"), &ticket), WRIT_E_ABSENT);
    run(&seen);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_STOPPED);
    ck_assert_view(writ_buf_view(&seen.text), "300001\nbye\n");
    done(&seen);
}
END_TEST

START_TEST(graceful_stop_of_a_child_that_hangs_kills_it)
{
    struct seen seen = {.stop_after_ups = 1};
    static char big[300000];
    uint64_t ticket = 0;

    for (size_t i = 0; i < sizeof big; i++) {
        big[i] = 'x';
    }
    open_shell(&seen, "exec sleep 60", (struct writ_child_options){.grace_us = 50 * MS});
    run(&seen);
    ck_assert_ok(writ_child_send(seen.child, writ_view(big, sizeof big), &ticket));
    writ_child_finish(seen.child);
    run(&seen);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_STOPPED);
    done(&seen);
}
END_TEST

START_TEST(carriage_returns_and_empty_lines_are_not_lines)
{
    struct seen seen = {0};

    run_script(&seen, "printf 'a\\r\\n\\n\\r\\nb\\n'", (struct writ_child_options){0});
    ck_assert_view(writ_buf_view(&seen.text), "a\nb\n");
    done(&seen);
}
END_TEST

START_TEST(send_of_a_line_with_a_line_end_is_refused)
{
    static const struct writ_view bads[] = {
        {"", 0}, {"a\nb", 3}, {"a\n", 2}, {"a\rb", 3}, {"a\0b", 3}};
    struct seen seen = {.stop_after_ups = 1};
    uint64_t ticket = 77;

    open_shell(&seen, "cat", (struct writ_child_options){0});
    run(&seen);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        ck_assert_code(writ_child_send(seen.child, bads[i], &ticket), WRIT_E_INVALID);
    }
    ck_assert_uint_eq(ticket, 77);
    stop(&seen);
    ck_assert_int_eq(seen.lines, 0);
    done(&seen);
}
END_TEST

START_TEST(large_line_passes_both_ways)
{
    static char big[3000001];
    struct seen seen = {.stop_after_ups = 1, .quiet = true};
    uint64_t ticket;

    memset(big, 'x', sizeof big - 1);
    open_shell(&seen, "cat", (struct writ_child_options){.line_max = sizeof big - 1});
    run(&seen);
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(writ_child_send(seen.child, writ_view_str(big), &ticket));
    }
    seen.stop_after_lines = 3;
    run(&seen);
    ck_assert_uint_eq(seen.longest, sizeof big - 1);
    stop(&seen);
    done(&seen);
}
END_TEST

START_TEST(end_of_a_child_follows_its_whole_lines)
{
    struct seen seen = {.quiet = true};

    run_script(&seen, "seq 1 20000; printf half", (struct writ_child_options){0});
    ck_assert_int_eq(seen.lines, 20000);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_EXITED);
    ck_assert_int_eq(seen.end.detail, 0);
    done(&seen);
}
END_TEST

START_TEST(send_of_a_line_beyond_the_limit_is_refused)
{
    for (int over = 0; over < 2; over++) {
        struct seen seen = {.quiet = true};
        run_script(&seen,
            over ? "head -c 100001 /dev/zero | tr '\\0' x; echo; sleep 100"
                 : "head -c 100000 /dev/zero | tr '\\0' x; echo",
            (struct writ_child_options){.line_max = 100000});
        ck_assert_int_eq(seen.lines, over ? 0 : 1);
        ck_assert_int_eq(seen.end.why, over ? WRIT_CHILD_LINE_TOO_LONG : WRIT_CHILD_EXITED);
        done(&seen);
    }
}
END_TEST

START_TEST(endless_line_ends_the_child_at_its_limit)
{
    struct seen seen = {.quiet = true};
    struct rusage before, after;

    (void)getrusage(RUSAGE_SELF, &before);
    run_script(&seen, "head -c 100000000 /dev/zero | tr '\\0' x",
        (struct writ_child_options){.line_max = 1 << 20});
    (void)getrusage(RUSAGE_SELF, &after);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_LINE_TOO_LONG);
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 * 1024); /* KiB */
    done(&seen);
}
END_TEST

/* ---- a child that does not read */

START_TEST(send_to_a_child_that_never_reads_fills_its_queue_only)
{
    static char block[100001];
    struct seen seen = {.stop_after_ups = 1};
    uint64_t ticket = 0, untouched, last = 0;
    writ_result r = WRIT_DONE;

    memset(block, 'x', sizeof block - 1);
    open_shell(&seen, "exec sleep 1000",
        (struct writ_child_options){.queue_max = 1000000, .grace_us = 20 * MS});
    run(&seen);
    ck_assert_code(writ_child_send(seen.child, (struct writ_view){block, 1}, &ticket), WRIT_OK);
    for (int i = 0; i < 20 && writ_is_ok(r); i++) {
        last = ticket;
        r = writ_child_send(seen.child, writ_view_str(block), &ticket);
    }
    ck_assert_int_eq(r.code, WRIT_E_BUSY);
    untouched = ticket;
    ck_assert_code(writ_child_send(seen.child, writ_view_str(block), &ticket), WRIT_E_BUSY);
    ck_assert_uint_eq(ticket, untouched);
    /* the last one waits whole and may be taken back; the first one is gone */
    ck_assert(writ_child_recall(seen.child, last));
    ck_assert(!writ_child_recall(seen.child, last));
    ck_assert(!writ_child_recall(seen.child, 1));
    ck_assert(!writ_child_recall(seen.child, 2));
    ck_assert_ok(writ_child_send(seen.child, writ_view_str(block), &ticket));
    stop(&seen);
    /* line 1 filled the pipe, line 2 has begun; no byte of 3 and later was sent */
    ck_assert_uint_eq(seen.end.first_unsent, 3);
    done(&seen);
}
END_TEST

START_TEST(send_of_a_line_longer_than_the_queue_fails_differently)
{
    struct seen seen = {.stop_after_ups = 1};
    uint64_t ticket;

    open_shell(&seen, "cat", (struct writ_child_options){.queue_max = 8});
    run(&seen);
    ck_assert_ok(writ_child_send(seen.child, WRIT_LIT("1234567"), &ticket));
    ck_assert_code(writ_child_send(seen.child, WRIT_LIT("12345678"), &ticket), WRIT_E_LIMIT);
    stop(&seen);
    done(&seen);
}
END_TEST

/* ---- standard error */

START_TEST(stderr_flood_is_drained_and_capped)
{
    struct seen seen = {.stop_after_lines = 1};

    open_shell(&seen, "yes 0123456789 | head -c 50000000 >&2; echo done; sleep 1000",
        (struct writ_child_options){.log_rate = 10, .grace_us = 20 * MS});
    run(&seen);
    ck_assert_view(writ_buf_view(&seen.text), "done\n");
    stop(&seen);
    ck_assert_int_ge(seen.logs, 10);
    ck_assert_uint_eq(seen.dropped + (uint64_t)seen.logs, 50000000 / 11 + 1);
    done(&seen);
}
END_TEST

START_TEST(stderr_long_line_is_cut_and_the_last_one_is_kept)
{
    struct seen seen = {0};

    run_script(&seen, "head -c 100000 /dev/zero | tr '\\0' y >&2; printf '\\nlast words' >&2",
        (struct writ_child_options){.log_line_max = 100});
    ck_assert_int_eq(seen.logs, 2);
    ck_assert_uint_eq(seen.longest, 100);
    ck_assert(writ_view_has_suffix(writ_buf_view(&seen.log), WRIT_LIT("\nlast words\n")));
    done(&seen);
}
END_TEST

/* ---- environment and descriptors */

START_TEST(child_environment_has_the_fixed_and_configured_names_only)
{
    static const char *const environment[] = {"TOKEN=mine", "HOME=/elsewhere", NULL};
    struct seen seen = {0};
    struct writ_view text;

    (void)setenv("WRIT_TEST_SECRET", "hush", 1);
    (void)setenv("HOME", "/root", 1);
    (void)setenv("LC_ALL", "C", 1);
    (void)setenv("LD_PRELOAD_X", "x", 1);
    run_script(&seen, "env", (struct writ_child_options){.environment = environment});
    (void)unsetenv("WRIT_TEST_SECRET");
    (void)unsetenv("LD_PRELOAD_X");
    text = writ_buf_view(&seen.text);
    ck_assert_uint_eq(writ_view_search(text, WRIT_LIT("hush")), text.len);
    ck_assert_uint_eq(writ_view_search(text, WRIT_LIT("LD_PRELOAD_X")), text.len);
    ck_assert_uint_lt(writ_view_search(text, WRIT_LIT("TOKEN=mine\n")), text.len);
    ck_assert_uint_lt(writ_view_search(text, WRIT_LIT("HOME=/elsewhere\n")), text.len);
    ck_assert_uint_lt(writ_view_search(text, WRIT_LIT("LC_ALL=C\n")), text.len);
    ck_assert_uint_lt(writ_view_search(text, WRIT_LIT("PATH=")), text.len);
    done(&seen);
}
END_TEST

START_TEST(child_inherits_no_descriptor_signal_or_group)
{
    struct seen seen = {0};
    int leak = dup2(STDERR_FILENO, 57); /* not closed on exec */
    char want[128];
    struct writ_view text;

    ck_assert_int_eq(leak, 57);
    (void)signal(SIGUSR1, SIG_IGN);
    run_script(&seen,
        "[ -e /proc/$$/fd/57 ] && echo leaked || echo clean\n"
        "set -- $(cat /proc/$$/stat); [ $1 = $5 ] && [ $1 = $6 ] && echo leader\n"
        "grep -E 'SigBlk|SigIgn' /proc/$$/status | tr -d '\\t'; pwd",
        (struct writ_child_options){.directory = "/usr"});
    (void)signal(SIGUSR1, SIG_DFL);
    (void)close(leak);
    text = writ_buf_view(&seen.text);
    (void)snprintf(want, sizeof want,
        "clean\nleader\nSigBlk:0000000000000000\nSigIgn:0000000000000000\n/usr\n");
    ck_assert_msg(writ_view_is(text, want), WRIT_VIEW_FMT, WRIT_VIEW_ARG(text));
    done(&seen);
}
END_TEST

START_TEST(child_new_of_an_invalid_plan_is_refused)
{
    static const char *const no_argv[] = {NULL};
    static const char *const empty[] = {"", NULL};
    static const char *const argv[] = {"cat", NULL};
    static const char *const no_name[] = {"=x", NULL};
    static const char *const no_value[] = {"x", NULL};
    static char names[WRIT_SPAWN_ENVIRONMENT_MAX + 1][16];
    const char *many[WRIT_SPAWN_ENVIRONMENT_MAX + 2] = {NULL};
    const struct {
        const char *const *argv, *const *environment;
        enum writ_code code;
    } cases[] = {
        {NULL, NULL, WRIT_E_INVALID},
        {no_argv, NULL, WRIT_E_INVALID},
        {empty, NULL, WRIT_E_INVALID},
        {argv, no_name, WRIT_E_INVALID},
        {argv, no_value, WRIT_E_INVALID},
        {argv, many, WRIT_E_LIMIT},
    };
    struct writ_loop_options loop_options = {0};
    struct writ_loop *loop = NULL;
    struct writ_child *child = NULL;

    for (int i = 0; i <= WRIT_SPAWN_ENVIRONMENT_MAX; i++) {
        (void)snprintf(names[i], sizeof names[i], "N%d=x", i);
        many[i] = names[i];
    }
    ck_assert_ok(writ_loop_new(&loop_options, &loop, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_child_options options = {
            .argv = cases[i].argv, .environment = cases[i].environment};
        ck_assert_code(
            writ_child_open(loop, &options, &handler, NULL, &child, NULL), cases[i].code);
    }
    ck_assert_ptr_null(child);
    writ_loop_free(loop);
}
END_TEST

/* ---- starts and ends */

START_TEST(spawn_of_a_missing_program_reports_the_reason)
{
    static const struct {
        const char *program;
        int fault;
    } cases[] = {{"no-such-program-in-path", ENOENT}, {"/no/such/file", ENOENT}, {"/etc", EACCES},
        {"/etc/passwd", EACCES}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const argv[] = {cases[i].program, NULL};
        struct seen seen = {.stop_after_downs = 3};
        open_argv(&seen, argv, (struct writ_child_options){.pause_least_us = 1 * MS});
        run(&seen);
        ck_assert_int_eq(seen.end.why, WRIT_CHILD_NOT_STARTED);
        ck_assert_int_eq(seen.end.detail, cases[i].fault);
        ck_assert_int_eq(seen.pauses_us[1], 2 * MS);
        stop(&seen);
        done(&seen);
    }
}
END_TEST

START_TEST(spawn_in_a_missing_directory_reports_it)
{
    struct seen seen = {0};

    run_script(&seen, "true", (struct writ_child_options){.directory = "/no/such"});
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_NOT_STARTED);
    ck_assert_int_eq(seen.end.detail, ENOENT);
    done(&seen);
}
END_TEST

static void
nap(struct writ_task *task)
{
    const struct timespec moment = {.tv_nsec = 100000000};

    (void)task;
    (void)nanosleep(&moment, NULL);
}

/* All of its pipes report in one turn, in any order. */
START_TEST(spawn_failure_is_reported_after_the_child_ended)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct writ_child_options options = {
        .directory = "/no/such", .pause_least_us = WATCHDOG_US, .pause_most_us = WATCHDOG_US};
    struct writ_task busy = {.fn = nap};
    struct seen seen = {.stop_after_downs = 1};

    open_argv(&seen, argv, options);
    writ_loop_defer(seen.loop, &busy, WRIT_LOOP_SOON); /* behind the start of the child */
    run(&seen);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_NOT_STARTED);
    ck_assert_int_eq(seen.end.detail, ENOENT);
    done(&seen);
}
END_TEST

START_TEST(spawn_finds_the_program_in_the_path_of_its_environment)
{
    static const char *const environment[] = {"PATH=relative::/nowhere:/usr/bin:/bin", NULL};
    static const char *const argv[] = {"echo", "hi", NULL};
    struct seen seen = {.stop_after_downs = 1};

    open_argv(&seen, argv,
        (struct writ_child_options){.environment = environment,
            .pause_least_us = WATCHDOG_US,
            .pause_most_us = WATCHDOG_US});
    run(&seen);
    ck_assert_view(writ_buf_view(&seen.text), "hi\n");
    done(&seen);
}
END_TEST

START_TEST(child_end_reports_its_reason)
{
    static const struct {
        const char *script;
        enum writ_child_why why;
        int detail;
    } cases[] = {
        {"exit 0", WRIT_CHILD_EXITED, 0},
        {"exit 7", WRIT_CHILD_EXITED, 7},
        {"kill -9 $$", WRIT_CHILD_KILLED, SIGKILL},
        {"kill -15 $$", WRIT_CHILD_KILLED, SIGTERM},
        {"exec >&-; exec sleep 1000", WRIT_CHILD_BROKEN_PIPE, 0},
        {"exec <&-; exec sleep 1000", WRIT_CHILD_BROKEN_PIPE, 0},
        {"exec <&- >&-; exit 3", WRIT_CHILD_EXITED, 3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct seen seen = {0};
        run_script(&seen, cases[i].script, (struct writ_child_options){.grace_us = 200 * MS});
        ck_assert_msg(
            seen.end.why == cases[i].why, "case %zu: %s", i, writ_child_why_name(seen.end.why));
        ck_assert_int_eq(seen.end.detail, cases[i].detail);
        done(&seen);
    }
}
END_TEST

START_TEST(child_that_exits_at_once_restarts_with_growing_pauses)
{
    static const int64_t want[] = {10 * MS, 20 * MS, 40 * MS, 50 * MS, 50 * MS};
    struct seen seen = {.stop_after_downs = 5};

    open_shell(&seen, "exit 1",
        (struct writ_child_options){.pause_least_us = 10 * MS, .pause_most_us = 50 * MS});
    run(&seen);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(seen.pauses_us[i], want[i]);
    }
    stop(&seen); /* while it rests */
    done(&seen);
}
END_TEST

START_TEST(child_that_may_not_start_is_asked_for_again_and_then_runs)
{
    struct seen seen = {.later = 3, .forbid = 2, .stop_after_downs = 1};

    open_shell(&seen, "echo ran; exec cat", (struct writ_child_options){.pause_least_us = 10 * MS});
    run(&seen);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_FORBIDDEN);
    ck_assert_int_eq(seen.asked, 4);
    ck_assert_int_eq(seen.end.restart_us, 1000 * MS);
    seen.stop_after_downs = 2;
    writ_child_hurry(seen.child);
    run(&seen);
    ck_assert_int_eq(seen.asked, 5);
    ck_assert_int_eq(seen.lines, 0); /* it did not run */
    seen.stop_after_lines = 1;
    writ_child_hurry(seen.child);
    run(&seen);
    ck_assert_int_eq(seen.asked, 6);
    ck_assert_view(writ_buf_view(&seen.text), "ran\n");
    writ_child_hurry(seen.child); /* nothing: it runs */
    stop(&seen);
    done(&seen);
}
END_TEST

START_TEST(child_that_ran_long_restarts_soon)
{
    struct seen seen = {.stop_after_downs = 3};

    open_shell(&seen, "sleep 0.3",
        (struct writ_child_options){
            .pause_least_us = 5 * MS, .pause_most_us = 5000 * MS, .settled_us = 20 * MS});
    run(&seen);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(seen.pauses_us[i], 5 * MS);
    }
    stop(&seen);
    done(&seen);
}
END_TEST

START_TEST(child_restarted_many_times_leaks_nothing)
{
    struct seen seen = {.stop_after_downs = 200};
    int before = dup(0), after;

    open_shell(
        &seen, "echo hi", (struct writ_child_options){.pause_least_us = 1, .pause_most_us = 1});
    run(&seen);
    ck_assert_int_ge(seen.lines, 200);
    stop(&seen);
    done(&seen);
    (void)close(before);
    after = dup(0); /* no descriptor was lost */
    ck_assert_int_eq(after, before);
    (void)close(after);
}
END_TEST

START_TEST(child_stop_closes_the_input_first)
{
    struct seen seen = {.stop_after_ups = 1};

    open_shell(&seen, "cat; echo bye >&2; exit 0", (struct writ_child_options){0});
    run(&seen);
    stop(&seen); /* well within the default grace */
    ck_assert_view(writ_buf_view(&seen.log), "bye\n");
    done(&seen);
}
END_TEST

START_TEST(child_stop_of_a_stubborn_child_kills_its_group)
{
    struct seen seen = {.stop_after_lines = 2};
    int parent = 0, grandchild = 0;

    open_shell(&seen,
        "trap '' TERM HUP INT; sleep 1000 & echo $$; echo $!; while :; do sleep 1000; done",
        (struct writ_child_options){.grace_us = 20 * MS});
    run(&seen);
    writ_buf_byte(&seen.text, '\0');
    ck_assert_int_eq(sscanf(seen.text.ptr, "%d %d", &parent, &grandchild), 2);
    ck_assert_int_eq(parent, writ_child_pid(seen.child));
    ck_assert(!is_gone(grandchild));
    stop(&seen);
    ck_assert(is_gone(parent));
    await_gone(grandchild);
    done(&seen);
}
END_TEST

START_TEST(grandchildren_do_not_outlive_a_child_that_dies)
{
    struct seen seen = {.stop_after_downs = 1};
    int grandchild = 0;

    open_shell(&seen, "sleep 1000 & echo $!; exit 0",
        (struct writ_child_options){.pause_least_us = WATCHDOG_US, .pause_most_us = WATCHDOG_US});
    run(&seen);
    writ_buf_byte(&seen.text, '\0');
    ck_assert_int_eq(sscanf(seen.text.ptr, "%d", &grandchild), 1);
    await_gone(grandchild);
    done(&seen);
}
END_TEST

START_TEST(closing_without_a_stop_kills_and_reaps)
{
    struct seen seen = {.stop_after_ups = 1};
    int pid;

    open_shell(&seen, "trap '' TERM; sleep 1000", (struct writ_child_options){0});
    run(&seen);
    pid = writ_child_pid(seen.child);
    done(&seen);
    ck_assert(is_gone(pid));
}
END_TEST

START_TEST(child_stop_before_its_start_succeeds)
{
    struct seen seen = {0};

    open_shell(&seen, "echo never", (struct writ_child_options){0});
    stop(&seen);
    ck_assert_int_eq(seen.lines, 0);
    ck_assert_int_eq(seen.downs, 1);
    run_for(&seen, 10 * MS);
    ck_assert_int_eq(seen.ups, 0);
    done(&seen);
}
END_TEST

START_TEST(child_ends_with_its_parent)
{
    int pipes[2], pid = 0;
    pid_t gateway;

    ck_assert_int_eq(pipe(pipes), 0);
    gateway = fork();
    ck_assert_int_ge(gateway, 0);
    if (gateway == 0) {
        struct seen seen = {.stop_after_ups = 1};
        open_shell(&seen, "trap '' TERM HUP PIPE; while :; do sleep 1000; done",
            (struct writ_child_options){0});
        run(&seen);
        pid = writ_child_pid(seen.child);
        (void)!write(pipes[1], &pid, sizeof pid);
        for (;;) {
            (void)pause();
        }
    }
    ck_assert_int_eq(read(pipes[0], &pid, sizeof pid), sizeof pid);
    ck_assert(!is_gone(pid));
    (void)kill(gateway, SIGKILL);
    (void)waitpid(gateway, NULL, 0);
    await_gone(pid);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}
END_TEST

/* ---- out of everything */

START_TEST(child_start_without_descriptors_is_repeated)
{
    struct seen seen = {.stop_after_downs = 1};
    struct rlimit before, none;

    open_shell(&seen, "cat", (struct writ_child_options){.pause_least_us = 1 * MS});
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)dup(0);
    (void)close((int)none.rlim_cur);
    for (rlim_t spare = 0; spare < 12; spare++) { /* each descriptor of a start missing once */
        struct rlimit few = none;
        few.rlim_cur += spare;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        seen.stop_after_downs = seen.downs + 1;
        seen.stop_after_ups = seen.ups + 1;
        run(&seen);
        if (writ_child_is_up(seen.child)) {
            break;
        }
        ck_assert_int_eq(seen.end.why, WRIT_CHILD_NOT_STARTED);
        ck_assert_int_eq(seen.end.detail, EMFILE);
        seen.downs = seen.ups = 0;
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert(writ_child_is_up(seen.child));
    stop(&seen);
    done(&seen);
}
END_TEST

START_TEST(child_with_a_failed_allocation_delivers_no_partial_line)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        static const char *const argv[] = {"/bin/cat", NULL};
        const struct writ_child_options options = {
            .argv = argv, .pause_least_us = 1 * MS, .pause_most_us = 1 * MS};
        struct writ_loop_options loop_options = {0};
        struct seen seen = {
            .stop_after_ups = 1, .text = writ_buf_make(SEEN_MAX), .log = writ_buf_make(SEEN_MAX)};
        uint64_t ticket;
        writ_result r;

        seen.watchdog = (struct writ_timer){.fn = bark};
        writ_buf_reserve(&seen.text, 1000);
        writ_buf_reserve(&seen.log, 1000);
        ck_assert_ok(writ_loop_new(&loop_options, &seen.loop, NULL));
        writ_loop_timer_set(seen.loop, &seen.watchdog, writ_loop_now_us(seen.loop) + WATCHDOG_US);
        writ_fault_arm(nth);
        r = writ_child_open(seen.loop, &options, &handler, &seen, &seen.child, NULL);
        if (writ_is_ok(r)) {
            run(&seen); /* a start that fails is tried again */
            r = writ_child_send(seen.child, WRIT_LIT("{}"), &ticket);
            seen.stop_after_lines = writ_is_ok(r) ? 1 : 0;
            if (writ_is_ok(r)) {
                run(&seen);
            }
        }
        reached = writ_fault_disarm();
        if (!writ_is_ok(r)) {
            ck_assert_int_eq(r.code, WRIT_E_NOMEM);
        } else if (seen.lines > 0) {
            ck_assert_view(writ_buf_view(&seen.text), "{}\n");
        }
        done(&seen);
    }
}
END_TEST

static const char many_lines[] =
    "i=0; while [ $i -lt 300 ]; do printf '%01000d\\n' $i; i=$((i+1)); done; read x; exit 0";

START_TEST(child_that_is_paused_waits_and_reads_on)
{
    struct seen seen = {.stop_after_ups = 1};

    open_shell(&seen, many_lines, (struct writ_child_options){0});
    run(&seen);
    writ_child_pause(seen.child);
    run_for(&seen, 100000);
    ck_assert_int_lt(seen.lines, 300);
    seen.stop_after_lines = 300;
    writ_child_resume(seen.child);
    run(&seen);
    ck_assert_int_eq(seen.lines, 300);
    writ_child_pause(seen.child);
    stop(&seen); /* which reads on */
    done(&seen);
}
END_TEST

START_TEST(child_that_finishes_gets_no_signal_while_it_is_paused)
{
    struct seen seen = {.stop_after_ups = 1};

    open_shell(&seen, many_lines, (struct writ_child_options){.grace_us = 20000});
    run(&seen);
    writ_child_pause(seen.child);
    writ_child_finish(seen.child);
    run_for(&seen, 200000);
    ck_assert_int_gt(writ_child_pid(seen.child), 0);
    writ_child_resume(seen.child);
    run(&seen);
    ck_assert_int_eq(seen.end.why, WRIT_CHILD_STOPPED);
    ck_assert_int_eq(seen.lines, 300);
    done(&seen);
}
END_TEST

WRIT_UNIT_MAIN("child", lines_go_both_ways, graceful_stop_flushes_input_and_output,
    graceful_stop_of_a_child_that_hangs_kills_it, carriage_returns_and_empty_lines_are_not_lines,
    send_of_a_line_with_a_line_end_is_refused, large_line_passes_both_ways,
    end_of_a_child_follows_its_whole_lines, send_of_a_line_beyond_the_limit_is_refused,
    endless_line_ends_the_child_at_its_limit, send_to_a_child_that_never_reads_fills_its_queue_only,
    send_of_a_line_longer_than_the_queue_fails_differently, stderr_flood_is_drained_and_capped,
    stderr_long_line_is_cut_and_the_last_one_is_kept,
    child_environment_has_the_fixed_and_configured_names_only,
    child_inherits_no_descriptor_signal_or_group, child_new_of_an_invalid_plan_is_refused,
    spawn_of_a_missing_program_reports_the_reason, spawn_in_a_missing_directory_reports_it,
    spawn_failure_is_reported_after_the_child_ended,
    spawn_finds_the_program_in_the_path_of_its_environment, child_end_reports_its_reason,
    child_that_may_not_start_is_asked_for_again_and_then_runs,
    child_that_exits_at_once_restarts_with_growing_pauses, child_that_ran_long_restarts_soon,
    child_restarted_many_times_leaks_nothing, child_stop_closes_the_input_first,
    child_stop_of_a_stubborn_child_kills_its_group, grandchildren_do_not_outlive_a_child_that_dies,
    closing_without_a_stop_kills_and_reaps, child_stop_before_its_start_succeeds,
    child_ends_with_its_parent, child_start_without_descriptors_is_repeated,
    child_with_a_failed_allocation_delivers_no_partial_line,
    child_that_is_paused_waits_and_reads_on, child_that_finishes_gets_no_signal_while_it_is_paused)
