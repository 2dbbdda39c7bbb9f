/* drive.h - a crew that runs: the events of its session open steps, which workers or the owner
 * answer, and each answer is an input of the session.
 *
 * For the thread of the loop of the workers. */
#ifndef WRIT_GATEWAY_DRIVE_H
#define WRIT_GATEWAY_DRIVE_H

#include "gateway/crews/open_steps.h"
#include "gateway/crews/recording.h"
#include "gateway/crews/rerun.h"
#include "gateway/crews/workers.h"

#define WRIT_DRIVE_VALUE_MAX      ((size_t)1 << 30) /* bytes of a value, or of an event */
#define WRIT_DRIVE_TIMEOUT_MAX_MS ((UINT64_C(1) << 53) - 1)

/** The functions of the owner; `ctx` is that of the drive. A NULL function is not called. */
struct writ_drive_owner {
    /** The clock of the crew. */
    double (*now_ms)(void *ctx);
    /** All lines of an input are in the log, and nothing has acted on them. A failure ends the
     * crew.
     */
    writ_result (*on_lines)(void *ctx, struct writ_err *err);
    /** A step has opened, or is asked again. */
    writ_result (*on_step)(void *ctx, struct writ_open_step *step, struct writ_err *err);
    /** An event, an answer, a step without an answer; not while a log is repeated. Borrowed. */
    void (*on_event)(void *ctx, const struct writ_json *event);
    void (*on_answer)(void *ctx, struct writ_view agent, const struct writ_json *answer);
    void (*on_failed)(void *ctx, struct writ_view agent, const char *why);
    /** The events of an input were processed. */
    void (*on_settled)(void *ctx);
    /** A line of the standard error of a worker, as in struct writ_workers_handler. */
    void (*on_log)(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped);
    /** The crew has ended, and so have its processes: nothing is called any more. */
    void (*on_gone)(void *ctx);
};

/** Zero-initialise, then writ_drive_init; wipe. */
struct writ_drive {
    const struct writ_drive_owner *owner;
    void *ctx;
    struct writ_recording *recording; /* borrowed; set before the first input */

    /* results */
    struct writ_buf output, handler; /* of the last task of a consensual crew: its agent */
    bool resolved;                   /* the last crew that completed had a value */
    bool timed_out;                  /* it was cancelled for lack of time */
    bool ending;                     /* no further input */
    uint64_t events;
    writ_result failed; /* WRIT_E_UNSET without a failure */
    struct writ_err err;

    /* its own */
    bool again; /* a log is repeated: no step is asked */
    struct writ_open_steps steps;
    struct writ_event_reader reader;
    struct writ_workers *workers; /* NULL: the owner answers */
    struct writ_loop *loop;       /* of the workers; borrowed */
    double begin_ms;              /* the crew's clock at `mono_us` of the loop */
    int64_t mono_us;
};

void writ_drive_init(struct writ_drive *drive, const struct writ_drive_owner *owner, void *ctx);
/** Kills the remaining processes. */
void writ_drive_wipe(struct writ_drive *drive);

/** Lets workers answer. `options` has argv, environment, directory and shared; the rest is the
 * drive's. As writ_workers_new. */
WRIT_RESULT writ_drive_work(struct writ_drive *drive, const struct writ_workers_options *options,
    struct writ_loop *loop, struct writ_err *err);

/** Sets the crew's clock to `begin_ms` now; with workers it advances from there with the monotonic
 * clock, in whole milliseconds. */
void writ_drive_begin(struct writ_drive *drive, double begin_ms);
/** The crew's clock of a drive with workers. */
double writ_drive_now_ms(const struct writ_drive *drive);

/* Inputs. A failure is in `failed` and `err`, and ends the crew. */

void writ_drive_start(struct writ_drive *drive, struct writ_view input, struct writ_view task);
void writ_drive_resume(struct writ_drive *drive, enum writ_crew_resume policy, double stopped_ms);
/** Closes the step. An answer that the crew refuses (too long, too deep) fails the agent. */
void writ_drive_answer(struct writ_drive *drive, struct writ_open_step *step, struct writ_view text,
    const struct writ_json *answer);
/** Passes on a request of the agent of a step. One that the crew cannot read fails the agent. */
void writ_drive_message(
    struct writ_drive *drive, struct writ_open_step *step, struct writ_view text);
void writ_drive_tick(struct writ_drive *drive);
void writ_drive_cancel(struct writ_drive *drive, enum writ_crew_abort reason);
/** Ends it with a failure of the owner. */
void writ_drive_fail(struct writ_drive *drive, writ_result failed);

/** Takes what a repeated input led to (writ_rerun_taken): the steps and the result. */
WRIT_RESULT writ_drive_repeat(struct writ_drive *drive, const struct writ_json *input,
    struct writ_crew_events events, struct writ_err *err);

/** Whether the crew has completed, with a value. */
bool writ_drive_resolved(const struct writ_drive *drive);

#endif
