/* A crew whose steps workers or the owner answer.
 *
 * (1) The session is called only from here, and never while its events are processed: those drive
 *     until the next call. A failure meanwhile waits for the loop's next task.
 * (2) Every open step of the session is in `steps`, and no other.
 * (3) What an input led to is in the log before an agent learns of it. */
#include "gateway/crews/drive.h"

#include "base/text.h"
#include "gateway/crews/agent_exchange.h"
#include "gateway/crews/event.h"

#include <math.h>

#define WHY_SHOWN 1024 /* bytes of a reason in the log */

/* ---- life */

void
writ_drive_init(struct writ_drive *drive, const struct writ_drive_owner *owner, void *ctx)
{
    *drive = (struct writ_drive){.owner = owner,
        .ctx = ctx,
        .output = writ_buf_make(WRIT_DRIVE_VALUE_MAX),
        .handler = writ_buf_make(WRIT_DRIVE_VALUE_MAX)};
    writ_open_steps_init(&drive->steps);
}

void
writ_drive_wipe(struct writ_drive *drive)
{
    writ_open_steps_wipe(&drive->steps);
    writ_workers_free(drive->workers);
    writ_event_reader_wipe(&drive->reader);
    writ_buf_wipe(&drive->output);
    writ_buf_wipe(&drive->handler);
}

static bool
has_failed(const struct writ_drive *drive)
{
    return drive->failed.code != WRIT_E_UNSET;
}

/* The first failure stays. */
static void
fail(struct writ_drive *drive, writ_result result)
{
    if (!has_failed(drive)) {
        drive->failed = result;
    }
}

void
writ_drive_begin(struct writ_drive *drive, double begin_ms)
{
    drive->begin_ms = begin_ms;
    drive->mono_us = drive->loop != NULL ? writ_loop_now_us(drive->loop) : 0;
}

double
writ_drive_now_ms(const struct writ_drive *drive)
{
    return drive->begin_ms + (double)((writ_loop_now_us(drive->loop) - drive->mono_us) / 1000);
}

static double
now_ms(const struct writ_drive *drive)
{
    return drive->owner->now_ms(drive->ctx);
}

static writ_result
own_lines(struct writ_drive *drive)
{
    return drive->owner->on_lines != NULL ? drive->owner->on_lines(drive->ctx, &drive->err)
                                          : WRIT_DONE;
}

static writ_result
own_step(struct writ_drive *drive, struct writ_open_step *step)
{
    return drive->owner->on_step != NULL ? drive->owner->on_step(drive->ctx, step, &drive->err)
                                         : WRIT_DONE;
}

/* ---- events of the crew */

static void
on_deadline(struct writ_timer *timer)
{
    writ_drive_tick(timer->ctx);
}

/* Hands a step to its worker. */
static void
ask_step(struct writ_drive *drive, struct writ_open_step *step)
{
    if (drive->workers == NULL) {
        return;
    }
    step->timer = (struct writ_timer){.fn = on_deadline, .ctx = drive};
    if (step->deadline_ms < drive->begin_ms + (double)WRIT_DRIVE_TIMEOUT_MAX_MS / 1000) {
        int64_t in_ms = (int64_t)(step->deadline_ms - drive->begin_ms);
        writ_loop_timer_set(drive->loop, &step->timer, drive->mono_us + in_ms * 1000);
    }
    writ_workers_ask(drive->workers, step);
}

/* A request: of a new step, or again of one that was open when the program ended. */
static void
open_step(struct writ_drive *drive, const struct writ_json *event, struct writ_view text)
{
    bool was = false;
    struct writ_open_step *step =
        writ_open_steps_find(&drive->steps, writ_event_text(event, "correlationId"), &was);
    writ_result opened = WRIT_DONE;

    if (step == NULL) {
        opened = writ_open_steps_open(&drive->steps, event, text, &step, &drive->err);
        if (writ_is_ok(opened)) {
            opened = own_step(drive, step);
        }
    }
    if (!writ_is_ok(opened)) {
        fail(drive, opened);
    } else if (!drive->again) {
        ask_step(drive, step);
    }
}

static void
tell_failed(struct writ_drive *drive, const struct writ_open_step *step, const char *why)
{
    if (drive->owner->on_failed != NULL && !drive->again) {
        drive->owner->on_failed(drive->ctx, writ_buf_view(&step->agent), why);
    }
}

static void
expire_step(struct writ_drive *drive, const struct writ_json *event, struct writ_view text)
{
    bool was = false;
    struct writ_open_step *step =
        writ_open_steps_find(&drive->steps, writ_event_text(event, "correlationId"), &was);

    WRIT_INVARIANT(step != NULL); /* keeps (2) */
    tell_failed(drive, step, "no answer in time");
    if (drive->workers != NULL && !drive->again) {
        writ_workers_done(drive->workers, step, text);
    }
    writ_open_steps_close(&drive->steps, step);
}

static void
take_event(struct writ_drive *drive, struct writ_view text)
{
    const struct writ_json *event = NULL;
    writ_result read = writ_event_read(&drive->reader, text, &event, &drive->err);

    if (!writ_is_ok(read)) {
        fail(drive, read);
        return;
    }
    if (drive->owner->on_event != NULL && !drive->again) {
        drive->owner->on_event(drive->ctx, event);
    }
    if (writ_event_is(event, "agent.step.requested")) {
        open_step(drive, event, text);
    } else if (writ_event_is(event, "agent.step.timed_out")) {
        expire_step(drive, event, text);
    } else if (writ_event_is(event, "crew.completed")) {
        writ_buf_clear(&drive->output); /* that of a nested crew: the last one is ours */
        drive->resolved = writ_event_json(event, "finalOutput", &drive->output).ptr != NULL;
    } else if (writ_event_is(event, "dispatch.elected")) {
        writ_buf_clear(&drive->handler);
        writ_buf_put(&drive->handler, writ_event_text(event, "agentId"));
    } else if (drive->workers != NULL && writ_agent_exchange_is_for_worker(event)) {
        writ_workers_tell(drive->workers, writ_event_text(event, "agentId"), text);
    }
}

static void
end_drive(struct writ_drive *drive)
{
    if (!drive->ending && drive->workers != NULL) {
        writ_workers_stop(drive->workers);
    }
    drive->ending = true;
}

/* Processes the events of one call of the session, and ends the run after the last. They are in the
 * log before anything acts on them. */
static void
take_events(struct writ_drive *drive, writ_result called, struct writ_crew_events events)
{
    bool waits;

    if (writ_is_ok(called)) {
        called = own_lines(drive);
    }
    if (!writ_is_ok(called)) {
        fail(drive, called);
    } else {
        drive->events += events.n;
        for (size_t at = 0; at < events.n && !has_failed(drive); at++) {
            take_event(drive, events.list[at]);
        }
    }
    waits = writ_recording_status(drive->recording) == WRIT_CREW_AWAITING_RESPONSES;
    if (has_failed(drive) || !waits) {
        end_drive(drive);
    } else if (TAILQ_EMPTY(&drive->steps.open)) {
        writ_drive_cancel(drive, WRIT_CREW_CANCELLED); /* no worker is left that could answer */
        return;
    }
    if (drive->owner->on_settled != NULL) {
        drive->owner->on_settled(drive->ctx);
    }
}

void
writ_drive_fail(struct writ_drive *drive, writ_result failed)
{
    fail(drive, failed);
    end_drive(drive);
}

/* ---- inputs of the crew */

static void
deliver_failure(struct writ_drive *drive, struct writ_view id, const char *why)
{
    struct writ_crew_events events = {NULL, 0};
    writ_auto_buf event = writ_buf_make(WRIT_DRIVE_VALUE_MAX);

    writ_buf_str(&event, "{\"type\":\"agent.step.failed\",\"correlationId\":");
    writ_text_json(&event, id);
    writ_buf_str(&event, ",\"error\":{\"name\":\"WorkerFailed\",\"message\":");
    writ_text_json_safe(&event, writ_view_str(why), WHY_SHOWN);
    writ_buf_str(&event, "}}");
    take_events(drive,
        writ_recording_deliver(
            drive->recording, now_ms(drive), writ_buf_view(&event), &events, &drive->err),
        events);
}

/* Ends a step without an answer. */
static void
fail_step(struct writ_drive *drive, struct writ_open_step *step, const char *why)
{
    writ_auto_buf id = writ_buf_make(WRIT_DRIVE_VALUE_MAX);

    writ_buf_put(&id, writ_buf_view(&step->id));
    tell_failed(drive, step, why);
    if (drive->workers != NULL) {
        writ_workers_done(drive->workers, step, writ_view(NULL, 0));
    }
    writ_open_steps_close(&drive->steps, step);
    deliver_failure(drive, writ_buf_view(&id), why);
}

void
writ_drive_answer(struct writ_drive *drive, struct writ_open_step *step, struct writ_view text,
    const struct writ_json *answer)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_err err = {0};
    writ_result delivered =
        writ_recording_deliver(drive->recording, now_ms(drive), text, &events, &err);

    if (delivered.code == WRIT_E_PARSE || delivered.code == WRIT_E_LIMIT) {
        fail_step(drive, step, err.text);
        return;
    }
    if (!writ_is_ok(delivered)) {
        drive->err = err;
    }
    if (drive->owner->on_answer != NULL) {
        drive->owner->on_answer(drive->ctx, writ_buf_view(&step->agent), answer);
    }
    if (drive->workers != NULL) {
        writ_workers_done(drive->workers, step, writ_view(NULL, 0));
    }
    writ_open_steps_close(&drive->steps, step);
    take_events(drive, delivered, events);
}

void
writ_drive_tick(struct writ_drive *drive)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(
        drive, writ_recording_tick(drive->recording, now_ms(drive), &events, &drive->err), events);
}

void
writ_drive_cancel(struct writ_drive *drive, enum writ_crew_abort reason)
{
    struct writ_crew_events events = {NULL, 0};

    drive->timed_out |= reason == WRIT_CREW_TIMEOUT;
    take_events(drive,
        writ_recording_cancel(drive->recording, now_ms(drive), reason, &events, &drive->err),
        events);
}

void
writ_drive_message(struct writ_drive *drive, struct writ_open_step *step, struct writ_view text)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_err err = {0};
    writ_result taken = writ_recording_message(
        drive->recording, now_ms(drive), writ_buf_view(&step->agent), text, &events, &err);

    if (taken.code == WRIT_E_PARSE || taken.code == WRIT_E_LIMIT) {
        fail_step(drive, step, err.text);
        return;
    }
    if (!writ_is_ok(taken)) {
        drive->err = err;
    }
    step->messages++;
    take_events(drive, taken, events);
}

/* ---- a crew that is continued */

/* Closes the step of an answer. */
static void
close_answered(struct writ_drive *drive, const struct writ_json *event)
{
    bool was = false;
    struct writ_open_step *step =
        writ_open_steps_find(&drive->steps, writ_event_text(event, "correlationId"), &was);

    if (step != NULL && drive->workers != NULL) {
        writ_workers_forget(drive->workers, writ_buf_view(&step->agent));
    }
    if (step != NULL) {
        writ_open_steps_close(&drive->steps, step);
    }
}

static void
close_all(struct writ_drive *drive)
{
    struct writ_open_step *step;

    while ((step = TAILQ_FIRST(&drive->steps.open)) != NULL) {
        writ_open_steps_close(&drive->steps, step);
    }
}

WRIT_RESULT
writ_drive_repeat(struct writ_drive *drive, const struct writ_json *input,
    struct writ_crew_events events, struct writ_err *err)
{
    bool was = false;
    struct writ_open_step *step;

    drive->again = true;
    if (writ_event_is(input, "input.deliver")) {
        close_answered(drive, writ_json_get(input, WRIT_LIT("event")));
    } else if (writ_event_is(input, "input.message")) {
        step = writ_open_steps_find(&drive->steps,
            writ_event_text(writ_json_get(input, WRIT_LIT("message")), "correlationId"), &was);
        if (step != NULL) {
            step->messages++;
        }
    } else if (writ_view_is(writ_event_text(input, "pending"), "fail")) {
        close_all(drive);
    }
    drive->events += events.n;
    for (size_t at = 0; at < events.n && !has_failed(drive); at++) {
        take_event(drive, events.list[at]);
    }
    drive->again = false;
    return has_failed(drive) ? writ_fail(err, drive->failed.code, "%s", drive->err.text)
                             : WRIT_DONE;
}

void
writ_drive_start(struct writ_drive *drive, struct writ_view input, struct writ_view task)
{
    struct writ_crew_events events = {NULL, 0};

    take_events(drive,
        writ_recording_start(drive->recording, now_ms(drive), input, task, &events, &drive->err),
        events);
}

void
writ_drive_resume(struct writ_drive *drive, enum writ_crew_resume policy, double stopped_ms)
{
    struct writ_crew_events events = {NULL, 0};

    if (policy == WRIT_CREW_RESUME_TREAT_AS_FAILED) {
        close_all(drive);
    }
    take_events(drive,
        writ_recording_resume(
            drive->recording, now_ms(drive), policy, stopped_ms, &events, &drive->err),
        events);
}

bool
writ_drive_resolved(const struct writ_drive *drive)
{
    return drive->resolved && writ_recording_status(drive->recording) == WRIT_CREW_COMPLETED;
}

/* ---- with workers */

static void
on_answer(
    void *ctx, struct writ_open_step *step, struct writ_view text, const struct writ_json *answer)
{
    writ_drive_answer(ctx, step, text, answer);
}

static void
on_message(
    void *ctx, struct writ_open_step *step, struct writ_view text, const struct writ_json *message)
{
    (void)message;
    writ_drive_message(ctx, step, text);
}

static void
on_failed(void *ctx, struct writ_open_step *step, const char *why)
{
    fail_step(ctx, step, why);
}

static void
on_log(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped)
{
    struct writ_drive *drive = ctx;

    if (drive->owner->on_log != NULL) {
        drive->owner->on_log(drive->ctx, worker, line, dropped);
    }
}

static void
on_gone(void *ctx)
{
    struct writ_drive *drive = ctx;

    drive->owner->on_gone(drive->ctx);
}

WRIT_RESULT
writ_drive_work(struct writ_drive *drive, const struct writ_workers_options *options,
    struct writ_loop *loop, struct writ_err *err)
{
    static const struct writ_workers_handler handler = {
        on_answer, on_message, on_failed, on_log, on_gone};
    struct writ_workers_options own = *options;

    drive->loop = loop;
    own.steps = &drive->steps;
    own.loop = loop;
    own.handler = &handler;
    own.ctx = drive;
    return writ_workers_new(&own, &drive->workers, err);
}
