/* loop.h - an event loop: one thread that waits for descriptors, timers and messages.
 *
 * A loop owns an epoll set, timers, tasks to run before the turn ends, and a mailbox for other
 * threads. There is one loop per core; nothing is shared between loops on the hot path
 * (docs/architecture.md, "Threads").
 *
 * One turn: wait; run the functions of ready descriptors, messages and timers; then the SOON tasks,
 * until none is left; then the LAST tasks, once each; then, in a turn without events, the IDLE
 * tasks (where a loop hands its records to the ledger as one batch).
 *
 * Everything here is for the loop's own thread, except where a function says "any thread". Watches,
 * timers, tasks and posts are members of their owner's struct: the loop never allocates for them,
 * so that only adding a descriptor can fail. Zero-initialise them. */
#ifndef WRIT_GATEWAY_LOOP_H
#define WRIT_GATEWAY_LOOP_H

#include "base/clock.h"
#include "base/result.h"

#include <stdatomic.h>
#include <stdint.h>

#define WRIT_LOOP_MAILBOX_DEFAULT 65536 /* posts that may wait at once */

struct writ_loop;

struct writ_loop_options {
    unsigned index;                 /* which loop this is, from 0 */
    size_t mailbox_max;             /* 0: WRIT_LOOP_MAILBOX_DEFAULT */
    const struct writ_clock *clock; /* NULL: the system's; borrowed until the loop is freed */
};

/** A new loop; free with writ_loop_free. WRIT_E_NOMEM, WRIT_E_IO (no descriptors left). */
WRIT_RESULT writ_loop_new(
    const struct writ_loop_options *options, struct writ_loop **ret, struct writ_err *err);

/** Frees a loop that has stopped and gets no more posts; NULL is permitted. Messages left in the
 * mailbox are dropped without a call. */
void writ_loop_free(struct writ_loop *loop);

/** Runs the loop on the calling thread until writ_loop_stop. Blocks SIGPIPE on this thread. May be
 * called again after it has returned. WRIT_E_IO. */
WRIT_RESULT writ_loop_run(struct writ_loop *loop, struct writ_err *err);

/** Runs the loop on a thread of its own, with every signal blocked there. WRIT_E_IO. */
WRIT_RESULT writ_loop_start(struct writ_loop *loop, struct writ_err *err);

/** Any thread, also a signal handler: the loop returns at the end of its present turn, after the
 * messages that were posted before. */
void writ_loop_stop(struct writ_loop *loop);

/** Waits for the thread of writ_loop_start. Blocks; not from the loop's own thread. Returns the
 * result of writ_loop_run. */
WRIT_RESULT writ_loop_join(struct writ_loop *loop, struct writ_err *err);

/** Any thread. */
unsigned writ_loop_index(const struct writ_loop *loop);

/** Monotonic microseconds at the begin of this turn. Costs nothing. */
int64_t writ_loop_now_us(const struct writ_loop *loop);

/* ---- descriptors */

struct writ_watch;
typedef void writ_watch_fn(struct writ_watch *watch, uint32_t events);

/** Interest in one descriptor. The descriptor stays the owner's. */
struct writ_watch {
    writ_watch_fn *fn;
    void *ctx; /* for the owner */
    struct writ_loop *loop;
    int fd;
    bool active;
};

/**
 * Begins to watch.
 *
 * @param watch   zeroed or unwatched; borrowed until writ_loop_unwatch
 * @param events  EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLET of epoll(7); EPOLLHUP and EPOLLERR always
 *                come
 * @param fn      called from the loop with what happened; may unwatch and free anything
 *
 * @return WRIT_OK, WRIT_E_IO (the system refuses: too many watches, no memory)
 */
WRIT_RESULT writ_loop_watch(struct writ_loop *loop, struct writ_watch *watch, int fd,
    uint32_t events, writ_watch_fn *fn, void *ctx, struct writ_err *err);

/** Changes the events of an active watch. Events that are ready now are reported in the next turn,
 * also to an edge-triggered watch. WRIT_E_IO. */
WRIT_RESULT writ_loop_rewatch(struct writ_watch *watch, uint32_t events, struct writ_err *err);

/** Ends it; do this before closing the descriptor. `fn` is not called again, not even for events of
 * this turn. Does nothing for an inactive watch. */
void writ_loop_unwatch(struct writ_watch *watch);

/* ---- timers */

struct writ_timer;
typedef void writ_timer_fn(struct writ_timer *timer);

/** One point in time. The members after ctx are the loop's. */
struct writ_timer {
    writ_timer_fn *fn; /* set by the owner before the first use */
    void *ctx;         /* for the owner */
    struct writ_loop *loop;
    int64_t due_us; /* when fn is wanted */
    int64_t key_us; /* its place in the heap: never after due_us */
    struct writ_timer *child, *next, **link;
    bool armed;
};

/** Calls `timer->fn` once when the monotonic time is `due_us` or later, in the order of due times.
 * Setting an armed timer moves it; moving it later costs nothing. Never fails. A timer set from
 * a timer's function, even for now, fires in the next turn at the earliest. */
void writ_loop_timer_set(struct writ_loop *loop, struct writ_timer *timer, int64_t due_us);

/** Disarms; does nothing for a timer that is not armed. */
void writ_loop_timer_cancel(struct writ_timer *timer);

/* ---- work for later */

struct writ_task;
typedef void writ_task_fn(struct writ_task *task);

enum writ_phase {
    WRIT_LOOP_SOON = 0, /* after the events of this turn; SOON tasks may queue more of them */
    WRIT_LOOP_LAST,     /* after every SOON task */
    WRIT_LOOP_IDLE,     /* after the LAST tasks of a turn without events */
};

/* the most an IDLE task waits while every turn has events */
#define WRIT_LOOP_IDLE_US 5000

/** One call of a function: later in this turn, or when there is nothing else to do. */
struct writ_task {
    writ_task_fn *fn; /* set by the owner before the first use */
    void *ctx;        /* for the owner */
    struct writ_task *next, *prev;
    bool queued;
};

/** Queues the task, once: a task that is queued already stays where it is. A LAST task queued by a
 * LAST task runs in the next turn, which then does not wait; neither does one while an IDLE task is
 * queued. IDLE tasks run together, WRIT_LOOP_IDLE_US after the first was queued at the latest: work
 * that is cheaper in batches covers everything that arrived while the loop was busy. */
void writ_loop_defer(struct writ_loop *loop, struct writ_task *task, enum writ_phase phase);

/** Takes a task out of its queue; does nothing for one that is not queued. */
void writ_loop_undefer(struct writ_task *task);

/* ---- the mailbox */

struct writ_post;
typedef void writ_post_fn(struct writ_post *post);

/** A message to a loop. It lies in the sender's memory until `fn` is called on the loop's thread.
 * From then on `fn` owns it, and may free or post it. */
struct writ_post {
    writ_post_fn *fn;
    void *ctx; /* for the sender */
    struct writ_post *next;
    bool counted;
};

/** Any thread: asks the loop to call `post->fn`. Posts of one thread arrive in order.
 * WRIT_E_BUSY when mailbox_max posts wait: refuse the work. */
WRIT_RESULT writ_loop_post(struct writ_loop *loop, struct writ_post *post);

/** Any thread: as writ_loop_post, for the answer to a request that this loop sent and counted:
 * never refused. */
void writ_loop_answer(struct writ_loop *loop, struct writ_post *post);

/** Any thread: as writ_loop_answer, and a loop that sleeps goes on sleeping until writ_loop_nudge
 * or another post: for a thread with many answers, which would else be interrupted by the first. */
void writ_loop_leave(struct writ_loop *loop, struct writ_post *post);
/** Any thread: wakes the loop when something was left for it. */
void writ_loop_nudge(struct writ_loop *loop);

#endif
