/* workers.h - agents as processes that exchange JSON lines.
 *
 * Each agent has a process of its own, or all share one. The first request starts it, in a
 * process group of its own, and it serves until its input ends. A process of its own finds its
 * agent in WRIT_CREW_AGENT and WRIT_CREW_ROLE.
 *
 * It reads events, one line each: agent.step.requested, and agent.step.timed_out for one of its
 * steps that has expired. It must skip unknown events. It writes events, one line each:
 * agent.step.completed, agent.step.failed or agent.step.timed_out with the correlationId of one of
 * its steps; requests of the agent of an open step (agent_exchange.h), which are answered on its
 * standard input; and agent.stream.chunk, which is skipped. What belongs to a step that is closed
 * already is late and skipped. A process that writes anything else, or a line longer than
 * WRIT_WORKERS_LINE_MAX, is killed. Its open steps fail when it ends, and the next request starts
 * it again.
 *
 * For the thread of the loop. Callbacks come from the loop, never from inside a function of this
 * header. */
#ifndef WRIT_GATEWAY_WORKERS_H
#define WRIT_GATEWAY_WORKERS_H

#include "gateway/crews/event.h"
#include "gateway/crews/open_steps.h"

#define WRIT_WORKERS_MAX             128               /* processes at a time */
#define WRIT_WORKERS_LINE_MAX        ((size_t)1 << 20) /* bytes of an answer */
#define WRIT_WORKERS_QUEUE_MAX       ((size_t)64 << 20) /* bytes that wait for a worker to read them */
#define WRIT_WORKERS_ENVIRONMENT_MAX 512
#define WRIT_WORKERS_MESSAGES_MAX    10000            /* requests of an agent during one step */
#define WRIT_WORKERS_GRACE_US        INT64_C(1000000) /* per step of stopping one */

/** The functions of the owner. */
struct writ_workers_handler {
    /** An answer to an open step, which the owner closes. Both borrowed. */
    void (*on_answer)(void *ctx, struct writ_open_step *step, struct writ_view text,
        const struct writ_json *answer);
    /** A request of the agent of an open step. Both borrowed. */
    void (*on_message)(void *ctx, struct writ_open_step *step, struct writ_view text,
        const struct writ_json *message);
    /** A step that gets no answer; the owner closes it. */
    void (*on_failed)(void *ctx, struct writ_open_step *step, const char *why);
    /** A line of standard error, of unknown bytes; `dropped` ones before it were too many. */
    void (*on_log)(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped);
    /** After writ_workers_stop: all processes have ended. */
    void (*on_gone)(void *ctx);
};

struct writ_workers_options {
    const char *const *argv;        /* the program, NULL-terminated */
    const char *const *environment; /* NULL-terminated; at most WRIT_WORKERS_ENVIRONMENT_MAX */
    const char *directory;          /* NULL: ours */
    bool shared;                    /* one process for all agents */
    struct writ_open_steps *steps;  /* those that are open; borrowed until the workers are freed */
    struct writ_loop *loop;         /* likewise */
    const struct writ_workers_handler *handler;
    void *ctx;
};

struct writ_workers;

/** Starts no process yet: the first step for it does. `options` is copied, the memory that it
 * points to is borrowed until the workers are freed. `ret` is new, free with writ_workers_free;
 * written only on success. WRIT_E_LIMIT (too many variables), WRIT_E_NOMEM. */
WRIT_RESULT writ_workers_new(
    const struct writ_workers_options *options, struct writ_workers **ret, struct writ_err *err);
/** Kills the remaining processes. */
void writ_workers_free(struct writ_workers *workers);

/** Hands a step to its worker. Failures come by on_failed. */
void writ_workers_ask(struct writ_workers *workers, struct writ_open_step *step);

/** Hands an event to the worker of an agent: at once, or when its process is there. A worker that
 * does not read gets no more of them than WRIT_WORKERS_QUEUE_MAX bytes. */
void writ_workers_tell(
    struct writ_workers *workers, struct writ_view agent, struct writ_view event);

/** Drops what waits for the worker of an agent: the agent has answered without it. */
void writ_workers_forget(struct writ_workers *workers, struct writ_view agent);

/** Takes a step away from its worker, which gets the event `expired` (absent: it has answered).
 * Call it before the step is closed. */
void writ_workers_done(
    struct writ_workers *workers, struct writ_open_step *step, struct writ_view expired);

/** Ends all processes: end of input, then SIGTERM, then SIGKILL. Calls on_gone, also when there are
 * none. */
void writ_workers_stop(struct writ_workers *workers);

#endif
