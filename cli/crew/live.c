/* A crew whose agents are processes, or a script, with its transcript on standard output.
 *
 * Time is wall time at the beginning, or that of the last line of a log that is continued, and
 * advances with the monotonic clock, in whole milliseconds, so that it never goes back. The time of
 * a script is the number of its inputs. */
#include "cli/crew/live.h"

#include "base/text.h"
#include "cli/crew/transcript.h"
#include "evidence/json/write.h"
#include "gateway/crews/event.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LOG_LINE_SHOWN 1024

/* ---- what the drive calls */

static double
now_ms(void *ctx)
{
    const struct writ_live *live = ctx;

    return live->script != NULL ? live->script_ms : writ_drive_now_ms(&live->drive);
}

static writ_result
on_lines(void *ctx, struct writ_err *err)
{
    return writ_log_file_flush(((const struct writ_live *)ctx)->log, err);
}

static writ_result
on_step(void *ctx, struct writ_open_step *step, struct writ_err *err)
{
    struct writ_live *live = ctx;
    writ_result counted = WRIT_DONE;

    if (live->script != NULL) {
        counted = writ_script_turn(live->script, writ_buf_view(&step->agent), &step->turn);
    }
    return writ_is_ok(counted) ? counted : writ_fail(err, counted.code, "no memory");
}

static void
on_event(void *ctx, const struct writ_json *event)
{
    if (!((const struct writ_live *)ctx)->cli->json) {
        writ_transcript_event(event);
    }
}

static void
on_answer(void *ctx, struct writ_view agent, const struct writ_json *answer)
{
    if (!((const struct writ_live *)ctx)->cli->json) {
        writ_transcript_answer(agent, answer);
    }
}

static void
on_failed(void *ctx, struct writ_view agent, const char *why)
{
    if (!((const struct writ_live *)ctx)->cli->json) {
        writ_transcript_failed(agent, why);
    }
}

static void
on_settled(void *ctx)
{
    (void)ctx;
    (void)fflush(stdout); /* a failure is found at the end */
}

static void
on_log(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped)
{
    const struct writ_live *live = ctx;
    writ_auto_buf text = writ_buf_make(WRIT_DRIVE_VALUE_MAX);

    if (live->cli->json) {
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
    writ_loop_stop(((const struct writ_live *)ctx)->loop);
}

static const struct writ_drive_owner owner = {.now_ms = now_ms,
    .on_lines = on_lines,
    .on_step = on_step,
    .on_event = on_event,
    .on_answer = on_answer,
    .on_failed = on_failed,
    .on_settled = on_settled,
    .on_log = on_log,
    .on_gone = on_gone};

/* ---- life */

void
writ_live_init(struct writ_live *live, const struct writ_cli *cli)
{
    *live = (struct writ_live){
        .cli = cli, .limit_ms = INFINITY, .script_text = writ_buf_make(WRIT_ROSTER_TEXT_MAX)};
    writ_drive_init(&live->drive, &owner, live);
}

void
writ_live_wipe(struct writ_live *live)
{
    writ_drive_wipe(&live->drive);
    writ_loop_timer_cancel(&live->limit);
    writ_loop_unwatch(&live->signals);
    if (live->signals.fd > 0) {
        (void)close(live->signals.fd);
    }
    writ_loop_free(live->loop);
    writ_script_free(live->script);
    writ_buf_wipe(&live->script_text);
    writ_log_file_close(live->log);
}

/* ---- with workers */

/* The first signal ends the crew and its workers step by step, the second one at once. */
static void
on_signal(struct writ_watch *watch, uint32_t events)
{
    struct writ_live *live = watch->ctx;
    struct signalfd_siginfo info;

    (void)events;
    if (read(watch->fd, &info, sizeof info) != (ssize_t)sizeof info) {
        return;
    }
    if (live->drive.ending) {
        writ_loop_stop(live->loop);
    } else {
        writ_drive_cancel(&live->drive, WRIT_CREW_CANCELLED);
    }
}

static WRIT_RESULT
watch_signals(struct writ_live *live)
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
        WRIT_FAIL(&live->drive.err, WRIT_E_IO, "signals: %s", strerrordesc_np(errno));
    }
    live->signals.fd = fd;
    return writ_loop_watch(
        live->loop, &live->signals, fd, EPOLLIN, on_signal, live, &live->drive.err);
}

static void
on_limit(struct writ_timer *timer)
{
    writ_drive_cancel(timer->ctx, WRIT_CREW_TIMEOUT);
}

static WRIT_RESULT
open_workers(struct writ_live *live)
{
    const struct writ_loop_options loop = {.clock = live->cli->clock};
    const struct writ_workers_options options = {.argv = live->argv,
        .environment = live->environment,
        .shared = writ_cli_has(live->cli, "shared")};

    live->argv[0] = "/bin/sh";
    live->argv[1] = "-c";
    live->argv[2] = writ_cli_get(live->cli, "agents").ptr;
    WRIT_TRY(writ_environment_inherit(live->environment, &live->drive.err));
    WRIT_TRY(writ_loop_new(&loop, &live->loop, &live->drive.err));
    WRIT_TRY(writ_drive_work(&live->drive, &options, live->loop, &live->drive.err));
    return watch_signals(live);
}

/* ---- with a script */

/* The first step that was not answered gets its next request or its answer; without one, time
 * advances to the next deadline. */
static struct writ_open_step *
next_step(const struct writ_live *live, double *ret_deadline)
{
    struct writ_open_step *step;

    *ret_deadline = INFINITY;
    TAILQ_FOREACH(step, &live->drive.steps.open, all)
    {
        if (!step->sent) {
            break;
        }
        *ret_deadline = fmin(*ret_deadline, step->deadline_ms);
    }
    return step;
}

static void
play_answer(struct writ_live *live, struct writ_open_step *step)
{
    writ_auto_buf text = writ_buf_make(WRIT_DRIVE_VALUE_MAX);
    struct writ_event_reader reader = {0};
    const struct writ_json *answer = NULL;
    bool silent = false;
    writ_result result = writ_script_answer(live->script, step, &text, &silent, &live->drive.err);

    step->sent = true;
    if (writ_is_ok(result) && !silent) {
        result = writ_event_read(&reader, writ_buf_view(&text), &answer, &live->drive.err);
    }
    if (!writ_is_ok(result)) {
        writ_drive_fail(&live->drive, result);
    } else if (!silent) {
        writ_drive_answer(&live->drive, step, writ_buf_view(&text), answer);
    }
    writ_event_reader_wipe(&reader);
}

static void
play_step(struct writ_live *live, struct writ_open_step *step)
{
    writ_auto_buf message = writ_buf_make(WRIT_DRIVE_VALUE_MAX);

    if (!writ_script_message(live->script, step, step->messages, &message)) {
        play_answer(live, step);
    } else if (writ_is_ok(writ_buf_check(&message, &live->drive.err))) {
        writ_drive_message(&live->drive, step, writ_buf_view(&message));
    } else {
        writ_drive_fail(&live->drive, (writ_result){WRIT_E_NOMEM});
    }
}

static void
play_script(struct writ_live *live)
{
    double end_ms = live->script_ms + live->limit_ms;

    while (!live->drive.ending) {
        double deadline = INFINITY;
        struct writ_open_step *step = next_step(live, &deadline);
        live->script_ms += 1;
        if (step != NULL && live->script_ms <= end_ms) {
            play_step(live, step);
            continue;
        }
        live->script_ms = step != NULL ? live->script_ms : fmax(live->script_ms, deadline);
        if (live->script_ms > end_ms) {
            live->script_ms = end_ms;
            writ_drive_cancel(&live->drive, WRIT_CREW_TIMEOUT);
        } else {
            writ_drive_tick(&live->drive);
        }
    }
}

/* ---- a crew */

WRIT_RESULT
writ_live_agents(struct writ_live *live, struct writ_view agents)
{
    struct writ_err below = {0};
    writ_result result;

    if (!writ_view_has_suffix(agents, WRIT_LIT(".json"))) {
        return open_workers(live);
    }
    WRIT_TRY(writ_cli_read(agents.ptr, WRIT_ROSTER_TEXT_MAX, &live->script_text, &live->drive.err));
    result = writ_script_read(writ_buf_view(&live->script_text), &live->script, &below);
    return writ_is_ok(result)
               ? result
               : writ_fail(&live->drive.err, result.code, "%s: %s", agents.ptr, below.text);
}

WRIT_RESULT
writ_live_check(struct writ_live *live, const struct writ_roster *roster)
{
    if (live->script == NULL && !writ_cli_has(live->cli, "shared") &&
        writ_roster_exceeds(roster, WRIT_WORKERS_MAX)) {
        WRIT_FAIL(&live->drive.err, WRIT_E_LIMIT,
            "the crew has more than %d agents, and each needs a process: pass --shared to start "
            "one "
            "for all of them",
            WRIT_WORKERS_MAX);
    }
    return WRIT_DONE;
}

/* Runs until the end of the crew. */
static WRIT_RESULT
run(struct writ_live *live)
{
    if (live->script != NULL) {
        play_script(live);
    } else {
        WRIT_TRY(writ_loop_run(live->loop, &live->drive.err));
    }
    if (live->drive.failed.code != WRIT_E_UNSET) {
        return live->drive.failed;
    }
    WRIT_TRY(writ_recording_close(live->drive.recording, &live->drive.err));
    return writ_log_file_flush(live->log, &live->drive.err);
}

/* The crew's clock shows `begin_ms`, and goes. */
static void
begin(struct writ_live *live, double begin_ms)
{
    live->script_ms = begin_ms;
    writ_drive_begin(&live->drive, begin_ms);
    if (live->script == NULL && isfinite(live->limit_ms)) {
        live->limit = (struct writ_timer){.fn = on_limit, .ctx = &live->drive};
        writ_loop_timer_set(
            live->loop, &live->limit, live->drive.mono_us + (int64_t)live->limit_ms * 1000);
    }
}

static double
wall_ms(const struct writ_live *live)
{
    return (double)(writ_clock_wall_us(live->cli->clock) / 1000);
}

WRIT_RESULT
writ_live_start(struct writ_live *live, struct writ_view input, struct writ_view task)
{
    begin(live, live->script != NULL ? 0 : wall_ms(live));
    writ_drive_start(&live->drive, input, task);
    return run(live);
}

WRIT_RESULT
writ_live_resume(
    struct writ_live *live, const struct writ_rerun *rerun, enum writ_crew_resume policy)
{
    double stopped_ms = 0;

    begin(live, rerun->last_ms);
    if (live->script == NULL) {
        stopped_ms = fmax(0, wall_ms(live) - rerun->last_ms - rerun->stopped_ms);
    }
    writ_drive_resume(&live->drive, policy, stopped_ms);
    return run(live);
}

/* ---- reporting */

void
writ_live_tell(const struct writ_live *live)
{
    writ_auto_buf text = writ_buf_make(WRIT_DRIVE_VALUE_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    writ_write_count(&w, "events", live->drive.events);
    if (live->drive.handler.len > 0) {
        writ_write_text(&w, "handler", writ_buf_view(&live->drive.handler));
    }
    if (writ_drive_resolved(&live->drive)) {
        writ_write_name(&w, WRIT_LIT("output"));
        writ_write_raw(&w, writ_buf_view(&live->drive.output));
    }
    writ_write_name(&w, WRIT_LIT("status"));
    writ_write_string(
        &w, writ_view_str(writ_crew_status_name(writ_recording_status(live->drive.recording))));
    writ_write_object_end(&w);
    writ_cli_put(writ_buf_view(&text));
    writ_cli_print("\n");
}
