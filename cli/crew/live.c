/* A crew whose agents are processes, or a script.
 *
 * (1) The session is called only from here, and never while its events are processed: those live
 *     until the next call. A failure meanwhile waits for the loop's next task.
 * (2) Every open step of the session is in `steps`, and no other.
 * (3) Time is wall time at the beginning, or that of the last line of a log that is continued, and
 *     advances with the monotonic clock, in whole milliseconds, so that it never goes back. The
 * time of a script is the number of its inputs. (4) What an input led to is in the log before an
 * agent learns of it. */
#include "cli/crew/live.h"

#include "base/text.h"
#include "cli/crew/event.h"
#include "cli/crew/exchange.h"
#include "cli/crew/transcript.h"
#include "evidence/json/write.h"

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

/* ---- life */

void
writ_live_init(struct writ_live *live, const struct writ_cli *cli)
{
    *live = (struct writ_live){.cli = cli,
        .limit_ms = INFINITY,
        .script_text = writ_buf_make(WRIT_ROSTER_TEXT_MAX),
        .output = writ_buf_make(WRIT_LIVE_VALUE_MAX),
        .handler = writ_buf_make(WRIT_LIVE_VALUE_MAX)};
    writ_steps_init(&live->steps);
}

void
writ_live_wipe(struct writ_live *live)
{
    writ_steps_wipe(&live->steps);
    writ_loop_timer_cancel(&live->limit);
    writ_workers_free(live->workers);
    writ_loop_unwatch(&live->signals);
    if (live->signals.fd > 0) {
        (void)close(live->signals.fd);
    }
    writ_loop_free(live->loop);
    writ_script_free(live->script);
    writ_event_reader_wipe(&live->reader);
    writ_buf_wipe(&live->script_text);
    writ_buf_wipe(&live->output);
    writ_buf_wipe(&live->handler);
    writ_log_file_close(live->log);
}

static bool
has_failed(const struct writ_live *live)
{
    return live->failed.code != WRIT_E_UNSET;
}

/* The first failure stays. */
static void
fail(struct writ_live *live, writ_result result)
{
    if (!has_failed(live)) {
        live->failed = result;
    }
}

/* Time begins where the log ends, and advances in whole milliseconds with the monotonic clock. */
static double
now_ms(const struct writ_live *live)
{
    return live->script != NULL
               ? live->script_ms
               : live->begin_ms + (double)((writ_loop_now_us(live->loop) - live->mono_us) / 1000);
}

/* ---- events of the crew */

static void on_deadline(struct writ_timer *timer);

/* Hands a step to its worker. */
static void
ask_step(struct writ_live *live, struct writ_step *step)
{
    if (live->workers == NULL) {
        return;
    }
    step->timer = (struct writ_timer){.fn = on_deadline, .ctx = live};
    if (step->deadline_ms < live->begin_ms + (double)WRIT_LIVE_TIMEOUT_MAX_MS / 1000) {
        int64_t in_ms = (int64_t)(step->deadline_ms - live->begin_ms);
        writ_loop_timer_set(live->loop, &step->timer, live->mono_us + in_ms * 1000);
    }
    writ_workers_ask(live->workers, step);
}

/* A request: of a new step, or again of one that was open when the program ended. */
static void
open_step(struct writ_live *live, const struct writ_json *event, struct writ_view text)
{
    bool was = false;
    struct writ_step *step =
        writ_steps_find(&live->steps, writ_event_text(event, "correlationId"), &was);
    writ_result opened = WRIT_DONE;

    if (step == NULL) {
        opened = writ_steps_open(&live->steps, event, text, &step, &live->err);
        if (writ_is_ok(opened) && live->script != NULL) {
            opened = writ_script_turn(live->script, writ_buf_view(&step->agent), &step->turn);
        }
    }
    if (!writ_is_ok(opened)) {
        fail(live, opened);
    } else if (!live->again) {
        ask_step(live, step);
    }
}

static void
expire_step(struct writ_live *live, const struct writ_json *event, struct writ_view text)
{
    bool was = false;
    struct writ_step *step =
        writ_steps_find(&live->steps, writ_event_text(event, "correlationId"), &was);

    WRIT_INVARIANT(step != NULL); /* keeps (2) */
    if (!live->cli->json && !live->again) {
        writ_transcript_failed(writ_buf_view(&step->agent), "no answer in time");
    }
    if (live->workers != NULL && !live->again) {
        writ_workers_done(live->workers, step, text);
    }
    writ_steps_close(&live->steps, step);
}

static void
take_event(struct writ_live *live, struct writ_view text)
{
    const struct writ_json *event = NULL;
    writ_result read = writ_event_read(&live->reader, text, &event, &live->err);

    if (!writ_is_ok(read)) {
        fail(live, read);
        return;
    }
    if (!live->cli->json && !live->again) {
        writ_transcript_event(event);
    }
    if (writ_event_is(event, "agent.step.requested")) {
        open_step(live, event, text);
    } else if (writ_event_is(event, "agent.step.timed_out")) {
        expire_step(live, event, text);
    } else if (writ_event_is(event, "crew.completed")) {
        writ_buf_clear(&live->output); /* that of a nested crew: the last one is ours */
        live->resolved = writ_event_json(event, "finalOutput", &live->output).ptr != NULL;
    } else if (writ_event_is(event, "dispatch.elected")) {
        writ_buf_clear(&live->handler);
        writ_buf_put(&live->handler, writ_event_text(event, "agentId"));
    } else if (live->workers != NULL && writ_exchange_is_for_worker(event)) {
        writ_workers_tell(live->workers, writ_event_text(event, "agentId"), text);
    }
}

static void end_live(struct writ_live *live);
static void cancel(struct writ_live *live, enum writ_crew_abort reason);

/* Processes the events of one call of the session, and ends the run after the last. They are in the
 * log before anything acts on them. */
static void
take_events(struct writ_live *live, writ_result called, struct writ_crew_events events)
{
    bool waits;

    if (writ_is_ok(called)) {
        called = writ_log_file_flush(live->log, &live->err);
    }
    if (!writ_is_ok(called)) {
        fail(live, called);
    } else {
        live->events += events.n;
        for (size_t at = 0; at < events.n && !has_failed(live); at++) {
            take_event(live, events.list[at]);
        }
    }
    waits = writ_recording_status(live->recording) == WRIT_CREW_AWAITING_RESPONSES;
    if (has_failed(live) || !waits) {
        end_live(live);
    } else if (TAILQ_EMPTY(&live->steps.open)) {
        cancel(live, WRIT_CREW_CANCELLED); /* no worker is left that could answer */
        return;
    }
    (void)fflush(stdout); /* a failure is found at the end */
}

/* ---- inputs of the crew */

static void
deliver_failure(struct writ_live *live, struct writ_view id, const char *why)
{
    struct writ_crew_events events = {NULL, 0};
    writ_auto_buf event = writ_buf_make(WRIT_LIVE_VALUE_MAX);

    writ_buf_str(&event, "{\"type\":\"agent.step.failed\",\"correlationId\":");
    writ_text_json(&event, id);
    writ_buf_str(&event, ",\"error\":{\"name\":\"WorkerFailed\",\"message\":");
    writ_text_json_safe(&event, writ_view_str(why), LOG_LINE_SHOWN);
    writ_buf_str(&event, "}}");
    take_events(live,
        writ_recording_deliver(
            live->recording, now_ms(live), writ_buf_view(&event), &events, &live->err),
        events);
}

/* Ends a step without an answer. */
static void
fail_step(struct writ_live *live, struct writ_step *step, const char *why)
{
    writ_auto_buf id = writ_buf_make(WRIT_LIVE_VALUE_MAX);

    writ_buf_put(&id, writ_buf_view(&step->id));
    if (!live->cli->json) {
        writ_transcript_failed(writ_buf_view(&step->agent), why);
    }
    if (live->workers != NULL) {
        writ_workers_done(live->workers, step, writ_view(NULL, 0));
    }
    writ_steps_close(&live->steps, step);
    deliver_failure(live, writ_buf_view(&id), why);
}

/* Passes an answer on. One that the crew refuses (too long, too deep) fails the agent. */
static void
answer_step(struct writ_live *live, struct writ_step *step, struct writ_view text,
    const struct writ_json *answer)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_err err = {0};
    writ_result delivered =
        writ_recording_deliver(live->recording, now_ms(live), text, &events, &err);

    if (delivered.code == WRIT_E_PARSE || delivered.code == WRIT_E_LIMIT) {
        fail_step(live, step, err.text);
        return;
    }
    if (!writ_is_ok(delivered)) {
        live->err = err;
    }
    if (!live->cli->json) {
        writ_transcript_answer(writ_buf_view(&step->agent), answer);
    }
    if (live->workers != NULL) {
        writ_workers_done(live->workers, step, writ_view(NULL, 0));
    }
    writ_steps_close(&live->steps, step);
    take_events(live, delivered, events);
}

static void
tick(struct writ_live *live)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(
        live, writ_recording_tick(live->recording, now_ms(live), &events, &live->err), events);
}

static void
cancel(struct writ_live *live, enum writ_crew_abort reason)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(live,
        writ_recording_cancel(live->recording, now_ms(live), reason, &events, &live->err), events);
}

/* Passes a request of the agent of a step on. One that the crew cannot read fails the agent. */
static void
take_message(struct writ_live *live, struct writ_step *step, struct writ_view text)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_err err = {0};
    writ_result taken = writ_recording_message(
        live->recording, now_ms(live), writ_buf_view(&step->agent), text, &events, &err);

    if (taken.code == WRIT_E_PARSE || taken.code == WRIT_E_LIMIT) {
        fail_step(live, step, err.text);
        return;
    }
    if (!writ_is_ok(taken)) {
        live->err = err;
    }
    step->messages++;
    take_events(live, taken, events);
}

/* ---- with workers */

static void
end_live(struct writ_live *live)
{
    if (!live->ending && live->workers != NULL) {
        writ_workers_stop(live->workers);
    }
    live->ending = true;
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
on_message(
    void *ctx, struct writ_step *step, struct writ_view text, const struct writ_json *message)
{
    (void)message;
    take_message(ctx, step, text);
}

static void
on_failed(void *ctx, struct writ_step *step, const char *why)
{
    fail_step(ctx, step, why);
}

static void
on_log(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped)
{
    const struct writ_live *live = ctx;
    writ_auto_buf text = writ_buf_make(WRIT_LIVE_VALUE_MAX);

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
    if (live->ending) {
        writ_loop_stop(live->loop);
    } else {
        cancel(live, WRIT_CREW_CANCELLED);
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
        WRIT_FAIL(&live->err, WRIT_E_IO, "signals: %s", strerrordesc_np(errno));
    }
    live->signals.fd = fd;
    return writ_loop_watch(live->loop, &live->signals, fd, EPOLLIN, on_signal, live, &live->err);
}

static void
on_limit(struct writ_timer *timer)
{
    cancel(timer->ctx, WRIT_CREW_TIMEOUT);
}

static WRIT_RESULT
open_workers(struct writ_live *live)
{
    static const struct writ_workers_handler handler = {
        on_answer, on_message, on_failed, on_log, on_gone};
    const struct writ_loop_options loop = {.clock = live->cli->clock};

    WRIT_TRY(writ_loop_new(&loop, &live->loop, &live->err));
    const struct writ_workers_options options = {.command = writ_cli_get(live->cli, "agents").ptr,
        .shared = writ_cli_has(live->cli, "shared"),
        .steps = &live->steps,
        .loop = live->loop,
        .handler = &handler,
        .ctx = live};
    WRIT_TRY(writ_workers_new(&options, &live->workers, &live->err));
    return watch_signals(live);
}

/* ---- with a script */

/* The first step that was not answered gets its next request or its answer; without one, time
 * advances to the next deadline. */
static struct writ_step *
next_step(const struct writ_live *live, double *ret_deadline)
{
    struct writ_step *step;

    *ret_deadline = INFINITY;
    TAILQ_FOREACH(step, &live->steps.open, all)
    {
        if (!step->sent) {
            break;
        }
        *ret_deadline = fmin(*ret_deadline, step->deadline_ms);
    }
    return step;
}

static void
play_answer(struct writ_live *live, struct writ_step *step)
{
    writ_auto_buf text = writ_buf_make(WRIT_LIVE_VALUE_MAX);
    struct writ_event_reader reader = {0};
    const struct writ_json *answer = NULL;
    bool silent = false;
    writ_result result = writ_script_answer(live->script, step, &text, &silent, &live->err);

    step->sent = true;
    if (writ_is_ok(result) && !silent) {
        result = writ_event_read(&reader, writ_buf_view(&text), &answer, &live->err);
    }
    if (!writ_is_ok(result)) {
        fail(live, result);
        end_live(live);
    } else if (!silent) {
        answer_step(live, step, writ_buf_view(&text), answer);
    }
    writ_event_reader_wipe(&reader);
}

static void
play_step(struct writ_live *live, struct writ_step *step)
{
    writ_auto_buf message = writ_buf_make(WRIT_LIVE_VALUE_MAX);

    if (!writ_script_message(live->script, step, step->messages, &message)) {
        play_answer(live, step);
    } else if (writ_is_ok(writ_buf_check(&message, &live->err))) {
        take_message(live, step, writ_buf_view(&message));
    } else {
        fail(live, (writ_result){WRIT_E_NOMEM});
        end_live(live);
    }
}

static void
play_script(struct writ_live *live)
{
    double end_ms = live->script_ms + live->limit_ms;

    while (!live->ending) {
        double deadline = INFINITY;
        struct writ_step *step = next_step(live, &deadline);
        live->script_ms += 1;
        if (step != NULL && live->script_ms <= end_ms) {
            play_step(live, step);
            continue;
        }
        live->script_ms = step != NULL ? live->script_ms : fmax(live->script_ms, deadline);
        if (live->script_ms > end_ms) {
            live->script_ms = end_ms;
            cancel(live, WRIT_CREW_TIMEOUT);
        } else {
            tick(live);
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
    WRIT_TRY(writ_cli_read(agents.ptr, WRIT_ROSTER_TEXT_MAX, &live->script_text, &live->err));
    result = writ_script_read(writ_buf_view(&live->script_text), &live->script, &below);
    return writ_is_ok(result)
               ? result
               : writ_fail(&live->err, result.code, "%s: %s", agents.ptr, below.text);
}

WRIT_RESULT
writ_live_check(struct writ_live *live, const struct writ_roster *roster)
{
    if (live->script == NULL && !writ_cli_has(live->cli, "shared") &&
        writ_roster_exceeds(roster, WRIT_WORKERS_MAX)) {
        WRIT_FAIL(&live->err, WRIT_E_LIMIT,
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
        WRIT_TRY(writ_loop_run(live->loop, &live->err));
    }
    if (has_failed(live)) {
        return live->failed;
    }
    WRIT_TRY(writ_recording_close(live->recording, &live->err));
    return writ_log_file_flush(live->log, &live->err);
}

/* The crew's clock shows `begin_ms`, and goes. */
static void
begin(struct writ_live *live, double begin_ms)
{
    live->begin_ms = live->script_ms = begin_ms;
    if (live->script != NULL) {
        return;
    }
    live->mono_us = writ_loop_now_us(live->loop);
    if (isfinite(live->limit_ms)) {
        live->limit = (struct writ_timer){.fn = on_limit, .ctx = live};
        writ_loop_timer_set(
            live->loop, &live->limit, live->mono_us + (int64_t)live->limit_ms * 1000);
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
    struct writ_crew_events events = {NULL, 0};

    begin(live, live->script != NULL ? 0 : wall_ms(live));
    take_events(live,
        writ_recording_start(live->recording, now_ms(live), input, task, &events, &live->err),
        events);
    return run(live);
}

/* ---- a crew that is continued */

/* Closes the step of an answer. */
static void
close_answered(struct writ_live *live, const struct writ_json *event)
{
    bool was = false;
    struct writ_step *step =
        writ_steps_find(&live->steps, writ_event_text(event, "correlationId"), &was);

    if (step != NULL && live->workers != NULL) {
        writ_workers_forget(live->workers, writ_buf_view(&step->agent));
    }
    if (step != NULL) {
        writ_steps_close(&live->steps, step);
    }
}

static void
close_all(struct writ_live *live)
{
    struct writ_step *step;

    while ((step = TAILQ_FIRST(&live->steps.open)) != NULL) {
        writ_steps_close(&live->steps, step);
    }
}

WRIT_RESULT
writ_live_repeat(struct writ_live *live, const struct writ_json *input,
    struct writ_crew_events events, struct writ_err *err)
{
    bool was = false;
    struct writ_step *step;

    live->again = true;
    if (writ_event_is(input, "input.deliver")) {
        close_answered(live, writ_json_get(input, WRIT_LIT("event")));
    } else if (writ_event_is(input, "input.message")) {
        step = writ_steps_find(&live->steps,
            writ_event_text(writ_json_get(input, WRIT_LIT("message")), "correlationId"), &was);
        if (step != NULL) {
            step->messages++;
        }
    } else if (writ_view_is(writ_event_text(input, "pending"), "fail")) {
        close_all(live);
    }
    live->events += events.n;
    for (size_t at = 0; at < events.n && !has_failed(live); at++) {
        take_event(live, events.list[at]);
    }
    live->again = false;
    return has_failed(live) ? writ_fail(err, live->failed.code, "%s", live->err.text) : WRIT_DONE;
}

WRIT_RESULT
writ_live_resume(
    struct writ_live *live, const struct writ_rerun *rerun, enum writ_crew_resume policy)
{
    struct writ_crew_events events = {NULL, 0};
    double stopped_ms = 0;
    writ_result resumed;

    begin(live, rerun->last_ms);
    if (live->script == NULL) {
        stopped_ms = fmax(0, wall_ms(live) - rerun->last_ms - rerun->stopped_ms);
    }
    if (policy == WRIT_CREW_RESUME_TREAT_AS_FAILED) {
        close_all(live);
    }
    resumed = writ_recording_resume(
        live->recording, now_ms(live), policy, stopped_ms, &events, &live->err);
    take_events(live, resumed, events);
    return run(live);
}

/* ---- reporting */

bool
writ_live_resolved(const struct writ_live *live)
{
    return live->resolved && writ_recording_status(live->recording) == WRIT_CREW_COMPLETED;
}

void
writ_live_tell(const struct writ_live *live)
{
    writ_auto_buf text = writ_buf_make(WRIT_LIVE_VALUE_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_write_object_begin(&w);
    writ_write_count(&w, "events", live->events);
    if (live->handler.len > 0) {
        writ_write_text(&w, "handler", writ_buf_view(&live->handler));
    }
    if (writ_live_resolved(live)) {
        writ_write_name(&w, WRIT_LIT("output"));
        writ_write_raw(&w, writ_buf_view(&live->output));
    }
    writ_write_name(&w, WRIT_LIT("status"));
    writ_write_string(
        &w, writ_view_str(writ_crew_status_name(writ_recording_status(live->recording))));
    writ_write_object_end(&w);
    writ_cli_put(writ_buf_view(&text));
    writ_cli_print("\n");
}
