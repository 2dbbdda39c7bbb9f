/* writ crew run: a crew whose agents are processes, or a script.
 *
 * (1) The session is called only from here, and never while its events are processed: those live
 * until the next call. A failure meanwhile waits for the loop's next task.
 * (2) Every open step of the session is in `steps`, and no other.
 * (3) Time is wall time at the beginning and advances with the monotonic clock, in whole
 *     milliseconds, so that it never goes back. The time of a script is the number of its
 *     inputs. */
#include "base/text.h"
#include "cli/crew/command.h"
#include "cli/crew/event.h"
#include "cli/crew/recording.h"
#include "cli/crew/script.h"
#include "cli/crew/steps.h"
#include "cli/crew/transcript.h"
#include "cli/crew/workers.h"
#include "evidence/json/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define VALUE_BYTES_MAX    ((size_t)1 << 30)
#define LOG_LINE_SHOWN     1024
#define TIMEOUT_DEFAULT_MS 600000
#define TIMEOUT_MAX_MS     ((UINT64_C(1) << 53) - 1)

struct run {
    const struct writ_cli *cli;
    struct writ_roster roster;
    struct writ_recording *recording;
    struct writ_steps steps;
    struct writ_event_reader reader;
    FILE *log; /* NULL: none is kept */
    struct writ_buf input, task, output;
    bool resolved; /* the crew has completed, with a value */
    uint64_t events;
    writ_result failed; /* WRIT_E_UNSET without a failure */
    struct writ_err err;

    struct writ_script *script; /* or */
    struct writ_workers *workers;
    struct writ_loop *loop;
    struct writ_watch signals;
    int64_t wall_ms, mono_us; /* at the beginning */
    double script_ms;
    bool ending;
};

static void
run_wipe(struct run *run)
{
    writ_steps_wipe(&run->steps);
    writ_workers_free(run->workers);
    writ_loop_unwatch(&run->signals);
    if (run->signals.fd > 0) {
        (void)close(run->signals.fd);
    }
    writ_loop_free(run->loop);
    writ_script_free(run->script);
    writ_recording_free(run->recording);
    writ_roster_wipe(&run->roster);
    writ_event_reader_wipe(&run->reader);
    writ_buf_wipe(&run->input);
    writ_buf_wipe(&run->task);
    writ_buf_wipe(&run->output);
    if (run->log != NULL) {
        (void)fclose(run->log); /* flushed and checked before */
    }
}

static bool
has_failed(const struct run *run)
{
    return run->failed.code != WRIT_E_UNSET;
}

/* The first failure stays. */
static void
fail(struct run *run, writ_result result)
{
    if (!has_failed(run)) {
        run->failed = result;
    }
}

static double
now_ms(const struct run *run)
{
    int64_t ms;

    if (run->script != NULL) {
        return run->script_ms; /* there is no loop */
    }
    ms = run->wall_ms + (writ_loop_now_us(run->loop) - run->mono_us) / 1000;
    return (double)ms;
}

/* ---- events of the crew */

static void on_deadline(struct writ_timer *timer);

static void
open_step(struct run *run, const struct writ_json *event, struct writ_view text)
{
    struct writ_step *step = NULL;
    writ_result opened = writ_steps_open(&run->steps, event, text, &step, &run->err);

    if (!writ_is_ok(opened)) {
        fail(run, opened);
        return;
    }
    if (run->workers == NULL) {
        return;
    }
    step->timer = (struct writ_timer){.fn = on_deadline, .ctx = run};
    if (step->deadline_ms < (double)run->wall_ms + (double)TIMEOUT_MAX_MS / 1000) {
        int64_t in_ms = (int64_t)step->deadline_ms - run->wall_ms;
        writ_loop_timer_set(run->loop, &step->timer, run->mono_us + in_ms * 1000);
    }
    writ_workers_ask(run->workers, step);
}

static void
expire_step(struct run *run, const struct writ_json *event, struct writ_view text)
{
    bool was = false;
    struct writ_step *step =
        writ_steps_find(&run->steps, writ_event_text(event, "correlationId"), &was);

    WRIT_INVARIANT(step != NULL); /* keeps (2) */
    if (!run->cli->json) {
        writ_transcript_failed(writ_buf_view(&step->agent), "no answer in time");
    }
    if (run->workers != NULL) {
        writ_workers_done(run->workers, step, text);
    }
    writ_steps_close(&run->steps, step);
}

static void
take_event(struct run *run, struct writ_view text)
{
    const struct writ_json *event = NULL;
    writ_result read = writ_event_read(&run->reader, text, &event, &run->err);

    if (!writ_is_ok(read)) {
        fail(run, read);
        return;
    }
    if (!run->cli->json) {
        writ_transcript_event(event);
    }
    if (writ_event_is(event, "agent.step.requested")) {
        open_step(run, event, text);
    } else if (writ_event_is(event, "agent.step.timed_out")) {
        expire_step(run, event, text);
    } else if (writ_event_is(event, "crew.completed")) {
        run->resolved = writ_event_json(event, "finalOutput", &run->output).ptr != NULL;
    }
}

static void end_run(struct run *run);
static void cancel(struct run *run);

/* Processes the events of one call of the session, and ends the run after the last. */
static void
take_events(struct run *run, writ_result called, struct writ_crew_events events)
{
    bool waits;

    if (!writ_is_ok(called)) {
        fail(run, called);
    } else {
        run->events += events.n;
        for (size_t at = 0; at < events.n && !has_failed(run); at++) {
            take_event(run, events.list[at]);
        }
    }
    waits = writ_recording_status(run->recording) == WRIT_CREW_AWAITING_RESPONSES;
    if (has_failed(run) || !waits) {
        end_run(run);
    } else if (TAILQ_EMPTY(&run->steps.open)) {
        cancel(run); /* no worker is left that could answer */
        return;
    }
    if (run->log != NULL && fflush(run->log) != 0) {
        fail(run, writ_fail(&run->err, WRIT_E_IO, "the log: %s", strerrordesc_np(errno)));
        end_run(run);
    }
    (void)fflush(stdout); /* a failure is found at the end */
}

/* ---- inputs of the crew */

static void
deliver_failure(struct run *run, struct writ_view id, const char *why)
{
    struct writ_crew_events events = {NULL, 0};
    writ_auto_buf event = writ_buf_make(VALUE_BYTES_MAX);

    writ_buf_str(&event, "{\"type\":\"agent.step.failed\",\"correlationId\":");
    writ_text_json(&event, id);
    writ_buf_str(&event, ",\"error\":{\"name\":\"WorkerFailed\",\"message\":");
    writ_text_json_safe(&event, writ_view_str(why), LOG_LINE_SHOWN);
    writ_buf_str(&event, "}}");
    take_events(run,
        writ_recording_deliver(
            run->recording, now_ms(run), writ_buf_view(&event), &events, &run->err),
        events);
}

/* Ends a step without an answer. */
static void
fail_step(struct run *run, struct writ_step *step, const char *why)
{
    writ_auto_buf id = writ_buf_make(VALUE_BYTES_MAX);

    writ_buf_put(&id, writ_buf_view(&step->id));
    if (!run->cli->json) {
        writ_transcript_failed(writ_buf_view(&step->agent), why);
    }
    if (run->workers != NULL) {
        writ_workers_done(run->workers, step, writ_view(NULL, 0));
    }
    writ_steps_close(&run->steps, step);
    deliver_failure(run, writ_buf_view(&id), why);
}

/* Passes an answer on. One that the crew refuses (too long, too deep) fails the agent. */
static void
answer_step(
    struct run *run, struct writ_step *step, struct writ_view text, const struct writ_json *answer)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_err err = {0};
    writ_result delivered =
        writ_recording_deliver(run->recording, now_ms(run), text, &events, &err);

    if (delivered.code == WRIT_E_PARSE || delivered.code == WRIT_E_LIMIT) {
        fail_step(run, step, err.text);
        return;
    }
    if (!writ_is_ok(delivered)) {
        run->err = err;
    }
    if (!run->cli->json) {
        writ_transcript_answer(writ_buf_view(&step->agent), answer);
    }
    if (run->workers != NULL) {
        writ_workers_done(run->workers, step, writ_view(NULL, 0));
    }
    writ_steps_close(&run->steps, step);
    take_events(run, delivered, events);
}

static void
tick(struct run *run)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(run, writ_recording_tick(run->recording, now_ms(run), &events, &run->err), events);
}

static void
cancel(struct run *run)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(
        run, writ_recording_cancel(run->recording, now_ms(run), &events, &run->err), events);
}

static void
start(struct run *run)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(run,
        writ_recording_start(run->recording, now_ms(run), writ_buf_view(&run->input),
            writ_buf_view(&run->task), &events, &run->err),
        events);
}

/* ---- with workers */

static void
end_run(struct run *run)
{
    if (!run->ending && run->workers != NULL) {
        writ_workers_stop(run->workers);
    }
    run->ending = true;
}

static void
on_deadline(struct writ_timer *timer)
{
    tick(timer->ctx);
}

static void
on_answer(void *ctx, struct writ_step *step, struct writ_view text, const struct writ_json *answer)
{
    answer_step(ctx, step, text, answer);
}

static void
on_failed(void *ctx, struct writ_step *step, const char *why)
{
    fail_step(ctx, step, why);
}

static void
on_log(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped)
{
    const struct run *run = ctx;
    writ_auto_buf text = writ_buf_make(VALUE_BYTES_MAX);

    if (run->cli->json) {
        writ_buf_fmt(&text, "{\"dropped\":%" PRIu64 ",\"line\":", dropped);
        writ_text_json_safe(&text, line, LOG_LINE_SHOWN);
        writ_buf_str(&text, ",\"worker\":");
        writ_text_json_safe(&text, worker, LOG_LINE_SHOWN);
        writ_buf_str(&text, "}\n");
    } else {
        writ_text_safe(&text, worker, LOG_LINE_SHOWN);
        writ_buf_str(&text, ": ");
        if (dropped > 0) {
            writ_buf_fmt(&text, "(%" PRIu64 " lines were too many) ", dropped);
        }
        writ_text_safe(&text, line, LOG_LINE_SHOWN);
        writ_buf_byte(&text, '\n');
    }
    (void)fwrite(text.ptr, 1, text.len, stderr);
}

static void
on_gone(void *ctx)
{
    writ_loop_stop(((const struct run *)ctx)->loop);
}

/* The first signal ends the crew and its workers step by step, the second one at once. */
static void
on_signal(struct writ_watch *watch, uint32_t events)
{
    struct run *run = watch->ctx;
    struct signalfd_siginfo info;

    (void)events;
    if (read(watch->fd, &info, sizeof info) != (ssize_t)sizeof info) {
        return;
    }
    if (run->ending) {
        writ_loop_stop(run->loop);
    } else {
        cancel(run);
    }
}

static WRIT_RESULT
watch_signals(struct run *run)
{
    sigset_t set;
    int fd;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        WRIT_FAIL(&run->err, WRIT_E_IO, "signals: %s", strerrordesc_np(errno));
    }
    run->signals.fd = fd;
    return writ_loop_watch(run->loop, &run->signals, fd, EPOLLIN, on_signal, run, &run->err);
}

static WRIT_RESULT
run_workers(struct run *run, const char *command)
{
    static const struct writ_workers_handler handler = {on_answer, on_failed, on_log, on_gone};
    const struct writ_loop_options loop = {.clock = run->cli->clock};

    WRIT_TRY(writ_loop_new(&loop, &run->loop, &run->err));
    const struct writ_workers_options options = {.command = command,
        .shared = writ_cli_has(run->cli, "shared"),
        .steps = &run->steps,
        .loop = run->loop,
        .handler = &handler,
        .ctx = run};
    WRIT_TRY(writ_workers_new(&options, &run->workers, &run->err));
    WRIT_TRY(watch_signals(run));
    run->wall_ms = writ_clock_wall_us(run->cli->clock) / 1000;
    run->mono_us = writ_loop_now_us(run->loop);
    start(run);
    return writ_loop_run(run->loop, &run->err);
}

/* ---- with a script */

/* The first step with an answer gets it; without one, time advances to the next deadline. */
static void
run_script(struct run *run)
{
    struct writ_step *step;

    start(run);
    while (!run->ending) {
        double deadline = INFINITY;
        writ_auto_buf text = writ_buf_make(VALUE_BYTES_MAX);
        struct writ_event_reader reader = {0};
        const struct writ_json *answer = NULL;
        bool silent = false;
        writ_result result;

        TAILQ_FOREACH(step, &run->steps.open, all)
        {
            if (!step->sent) {
                break;
            }
            deadline = fmin(deadline, step->deadline_ms);
        }
        run->script_ms += 1;
        if (step == NULL) {
            run->script_ms = fmax(run->script_ms, deadline);
            tick(run);
            continue;
        }
        step->sent = true;
        result = writ_script_answer(run->script, step, &text, &silent, &run->err);
        if (writ_is_ok(result) && !silent) {
            result = writ_event_read(&reader, writ_buf_view(&text), &answer, &run->err);
        }
        if (!writ_is_ok(result)) {
            fail(run, result);
            end_run(run);
        } else if (!silent) {
            answer_step(run, step, writ_buf_view(&text), answer);
        }
        writ_event_reader_wipe(&reader);
    }
}

/* ---- opening and reporting */

static WRIT_RESULT
write_line(void *user, struct writ_view line, struct writ_err *err)
{
    FILE *log = ((const struct run *)user)->log;

    if (log != NULL && (fwrite(line.ptr, 1, line.len, log) != line.len || putc('\n', log) == EOF)) {
        WRIT_FAIL(err, WRIT_E_IO, "the log: %s", strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

/* Never overwrites a log. */
static WRIT_RESULT
open_log(struct run *run)
{
    struct writ_view path = writ_cli_get(run->cli, "log");
    int fd;

    if (path.ptr == NULL) {
        return WRIT_DONE;
    }
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, not a signal */
    fd = open(path.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    run->log = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (run->log == NULL) {
        int fault = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        WRIT_FAIL(&run->err, fault == EEXIST ? WRIT_E_INVALID : WRIT_E_IO, "%s: %s", path.ptr,
            strerrordesc_np(fault));
    }
    return WRIT_DONE;
}

/* A JSON text, or @FILE. */
static WRIT_RESULT
read_option(struct run *run, const char *name, struct writ_buf *ret)
{
    struct writ_view value = writ_cli_get(run->cli, name);

    *ret = writ_buf_make(WRIT_ROSTER_TEXT_MAX);
    if (writ_view_has_prefix(value, WRIT_LIT("@"))) {
        return writ_cli_read(value.ptr + 1, WRIT_ROSTER_TEXT_MAX, ret, &run->err);
    }
    writ_buf_put(ret, value);
    return writ_buf_check(ret, &run->err);
}

static WRIT_RESULT
open_script(struct run *run, struct writ_buf *text)
{
    struct writ_view path = writ_cli_get(run->cli, "agents");
    struct writ_err err = {0};
    writ_result result;

    if (!writ_view_has_suffix(path, WRIT_LIT(".json"))) {
        return WRIT_DONE; /* a command */
    }
    WRIT_TRY(writ_cli_read(path.ptr, WRIT_ROSTER_TEXT_MAX, text, &run->err));
    result = writ_script_read(writ_buf_view(text), &run->script, &err);
    return writ_is_ok(result) ? result
                              : writ_fail(&run->err, result.code, "%s: %s", path.ptr, err.text);
}

static WRIT_RESULT
open_run(struct run *run, uint64_t timeout_ms, struct writ_buf *script)
{
    const struct writ_cli *cli = run->cli;
    struct writ_view id = writ_cli_get(cli, "id");
    const struct writ_recording_options options = {.roster = &run->roster,
        .crew_id = id.ptr != NULL ? id : WRIT_LIT("run"),
        .default_timeout_ms = (double)timeout_ms,
        .sink = write_line,
        .user = run};

    WRIT_TRY(writ_roster_engines(&run->roster, writ_cli_get(cli, "engines"), &run->err));
    WRIT_TRY(
        writ_roster_read(&run->roster, writ_cli_get(cli, "registry"), writ_cli_operand(cli, 0).ptr,
            cli->operand_count > 1 ? writ_cli_operand(cli, 1).ptr : NULL, &run->err));
    WRIT_TRY(writ_roster_build(&run->roster, &run->err));
    WRIT_TRY(read_option(run, "input", &run->input));
    WRIT_TRY(read_option(run, "task", &run->task));
    WRIT_TRY(open_script(run, script));
    WRIT_TRY(open_log(run));
    return writ_recording_open(&options, &run->recording, &run->err);
}

static void
tell(const struct run *run)
{
    writ_auto_buf text = writ_buf_make(VALUE_BYTES_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    writ_write_count(&w, "events", run->events);
    if (run->resolved) {
        writ_write_name(&w, WRIT_LIT("output"));
        writ_write_raw(&w, writ_buf_view(&run->output));
    }
    writ_write_name(&w, WRIT_LIT("status"));
    writ_write_string(
        &w, writ_view_str(writ_crew_status_name(writ_recording_status(run->recording))));
    writ_write_object_end(&w);
    writ_cli_put(writ_buf_view(&text));
    writ_cli_print("\n");
}

static WRIT_RESULT
play(struct run *run, struct writ_buf *script, uint64_t timeout_ms)
{
    WRIT_TRY(open_run(run, timeout_ms, script));
    if (run->script != NULL) {
        run_script(run);
    } else {
        WRIT_TRY(run_workers(run, writ_cli_get(run->cli, "agents").ptr));
    }
    if (has_failed(run)) {
        return run->failed;
    }
    WRIT_TRY(writ_recording_close(run->recording, &run->err));
    if (run->log != NULL && fflush(run->log) != 0) {
        WRIT_FAIL(&run->err, WRIT_E_IO, "the log: %s", strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_crew_run(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe)
    run = {.cli = cli, .output = writ_buf_make(VALUE_BYTES_MAX)};
    writ_auto_buf script = writ_buf_make(WRIT_ROSTER_TEXT_MAX);
    struct writ_view timeout = writ_cli_get(cli, "timeout");
    uint64_t timeout_ms = TIMEOUT_DEFAULT_MS;
    writ_result result;

    writ_steps_init(&run.steps);
    if (timeout.ptr != NULL &&
        !writ_is_ok(writ_text_u64(timeout, 0, TIMEOUT_MAX_MS, &timeout_ms))) {
        return writ_cli_usage(cli, "--timeout must be a number of milliseconds");
    }
    result = play(&run, &script, timeout_ms);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &run.err);
    }
    if (cli->json) {
        tell(&run);
    }
    return run.resolved ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
