/* loop.c - one epoll set, one timer heap, one task list and one mailbox for each thread.
 *
 * Invariants:
 * (1) Every event that is still to be dispatched in this turn belongs to an active watch: unwatch
 *     removes its events.
 * (2) timers is a pairing heap by key_us; key_us <= due_us. A timer that was moved later keeps its
 *     key and is reinserted when the key comes up: moving a deadline with each piece of data, which
 *     is hardly ever reached, costs one store.
 * (3) inbox is a stack that any thread pushes on and only the loop empties, whole. A thread that
 *     pushes while the loop is asleep (or about to be) writes to wake_fd: `asleep` is set before
 *     the last check of the inbox, and read after the push, or after the last of several.
 * (4) wake_fd is edge-triggered, so that it never needs to be read. */
#include "gateway/io/loop.h"

#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_MAX   256
#define SOON_MAX     65536 /* tasks of one turn; the rest waits for the next turn */
#define WAIT_MOST_US (INT64_C(3600) * 1000 * 1000)
#define THREAD_NAME  16

struct writ_loop {
    int epoll_fd, wake_fd;
    unsigned index;
    size_t mailbox_max;
    const struct writ_clock *clock;
    int64_t now_us;

    struct epoll_event events[EVENTS_MAX];
    int events_at, events_end;

    struct writ_timer *timers;
    bool in_timers;
    struct writ_task phases[WRIT_LOOP_IDLE + 1]; /* heads of circular lists */
    int64_t idle_since_us;                       /* when the first IDLE task was queued */

    _Atomic(struct writ_post *) inbox;
    atomic_size_t inbox_count;
    atomic_bool asleep, stopping;

    pthread_t thread;
    writ_result thread_result;
    struct writ_err thread_err;
};

/* ---- timers: a pairing heap (Fredman et al. 1986), two-pass */

static struct writ_timer *
heap_merge(struct writ_timer *a, struct writ_timer *b)
{
    if (a == NULL || b == NULL) {
        return a != NULL ? a : b;
    }
    if (b->key_us < a->key_us) {
        struct writ_timer *swap = a;
        a = b;
        b = swap;
    }
    b->next = a->child;
    if (b->next != NULL) {
        b->next->link = &b->next;
    }
    b->link = &a->child;
    a->child = b;
    return a;
}

/* the children of a removed timer become one heap */
static struct writ_timer *
heap_gather(struct writ_timer *child)
{
    struct writ_timer *pairs = NULL, *heap = NULL;

    while (child != NULL) {
        struct writ_timer *a = child, *b = a->next;
        child = b != NULL ? b->next : NULL;
        a->next = NULL;
        if (b != NULL) {
            b->next = NULL;
        }
        a = heap_merge(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs != NULL) {
        struct writ_timer *next = pairs->next;
        pairs->next = NULL;
        heap = heap_merge(heap, pairs);
        pairs = next;
    }
    return heap;
}

static void
heap_root(struct writ_loop *loop, struct writ_timer *root)
{
    loop->timers = root;
    if (root != NULL) {
        root->next = NULL;
        root->link = &loop->timers;
    }
}

static void
heap_remove(struct writ_loop *loop, struct writ_timer *timer)
{
    struct writ_timer *rest = heap_gather(timer->child);

    timer->child = NULL;
    if (loop->timers == timer) {
        heap_root(loop, rest);
        return;
    }
    *timer->link = timer->next;
    if (timer->next != NULL) {
        timer->next->link = timer->link;
    }
    heap_root(loop, heap_merge(loop->timers, rest));
}

static void
heap_insert(struct writ_loop *loop, struct writ_timer *timer)
{
    timer->key_us = timer->due_us;
    timer->child = NULL;
    timer->next = NULL;
    heap_root(loop, heap_merge(loop->timers, timer));
}

void
writ_loop_timer_set(struct writ_loop *loop, struct writ_timer *timer, int64_t due_us)
{
    if (loop->in_timers && due_us <= loop->now_us) {
        due_us = loop->now_us + 1; /* a timer that sets itself must not keep the turn alive */
    }
    timer->due_us = due_us;
    if (timer->armed) {
        if (due_us >= timer->key_us) {
            return; /* keeps (2) */
        }
        heap_remove(loop, timer);
    }
    timer->loop = loop;
    timer->armed = true;
    heap_insert(loop, timer);
}

void
writ_loop_timer_cancel(struct writ_timer *timer)
{
    if (timer->armed) {
        heap_remove(timer->loop, timer);
        timer->armed = false;
    }
}

static void
run_timers(struct writ_loop *loop)
{
    loop->in_timers = true;
    while (loop->timers != NULL && loop->timers->key_us <= loop->now_us) {
        struct writ_timer *timer = loop->timers;
        heap_remove(loop, timer);
        if (timer->due_us > timer->key_us) {
            heap_insert(loop, timer); /* (2): it was moved later; now in its order */
            continue;
        }
        timer->armed = false;
        timer->fn(timer);
    }
    loop->in_timers = false;
}

/* ---- tasks */

static void
list_init(struct writ_task *head)
{
    head->next = head->prev = head;
}

static bool
list_is_empty(const struct writ_task *head)
{
    return head->next == head;
}

void
writ_loop_undefer(struct writ_task *task)
{
    if (task->queued) {
        task->prev->next = task->next;
        task->next->prev = task->prev;
        task->queued = false;
    }
}

void
writ_loop_defer(struct writ_loop *loop, struct writ_task *task, enum writ_phase phase)
{
    struct writ_task *head = &loop->phases[phase];

    if (!task->queued) {
        if (phase == WRIT_LOOP_IDLE && list_is_empty(head)) {
            loop->idle_since_us = loop->now_us;
        }
        task->prev = head->prev;
        task->next = head;
        head->prev->next = task;
        head->prev = task;
        task->queued = true;
    }
}

static struct writ_task *
list_pop(struct writ_task *head)
{
    struct writ_task *task = head->next;

    writ_loop_undefer(task);
    return task;
}

static void
run_list(struct writ_task *head)
{
    struct writ_task now;

    if (list_is_empty(head)) {
        return;
    }
    now = *head; /* tasks that are queued from here on are for the next turn */
    now.next->prev = now.prev->next = &now;
    list_init(head);
    while (!list_is_empty(&now)) {
        struct writ_task *task = list_pop(&now);
        task->fn(task);
    }
}

static bool
is_idle(const struct writ_loop *loop)
{
    return loop->events_end == 0 || loop->now_us - loop->idle_since_us >= WRIT_LOOP_IDLE_US;
}

static void
run_tasks(struct writ_loop *loop)
{
    struct writ_task *soon = &loop->phases[WRIT_LOOP_SOON];

    for (int i = 0; i < SOON_MAX && !list_is_empty(soon); i++) {
        struct writ_task *task = list_pop(soon);
        task->fn(task);
    }
    run_list(&loop->phases[WRIT_LOOP_LAST]);
    if (is_idle(loop)) {
        run_list(&loop->phases[WRIT_LOOP_IDLE]);
    }
}

/* ---- the mailbox */

static void
wake(struct writ_loop *loop)
{
    uint64_t one = 1;
    int saved = errno; /* a signal handler may be the caller */

    while (write(loop->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
    errno = saved;
}

static void
push(struct writ_loop *loop, struct writ_post *post)
{
    struct writ_post *top = atomic_load(&loop->inbox);

    do {
        post->next = top;
    } while (!atomic_compare_exchange_weak(&loop->inbox, &top, post));
}

/* Keeps (3); one wake-up is enough for all. */
static void
wake_sleeping(struct writ_loop *loop)
{
    if (atomic_exchange(&loop->asleep, false)) {
        wake(loop);
    }
}

writ_result
writ_loop_post(struct writ_loop *loop, struct writ_post *post)
{
    if (atomic_fetch_add(&loop->inbox_count, 1) >= loop->mailbox_max) {
        atomic_fetch_sub(&loop->inbox_count, 1);
        return (writ_result){WRIT_E_BUSY};
    }
    post->counted = true;
    push(loop, post);
    wake_sleeping(loop);
    return WRIT_DONE;
}

void
writ_loop_answer(struct writ_loop *loop, struct writ_post *post)
{
    writ_loop_leave(loop, post);
    wake_sleeping(loop);
}

void
writ_loop_leave(struct writ_loop *loop, struct writ_post *post)
{
    post->counted = false;
    push(loop, post);
}

void
writ_loop_nudge(struct writ_loop *loop)
{
    if (atomic_load(&loop->inbox) != NULL) {
        wake_sleeping(loop);
    }
}

static void
run_inbox(struct writ_loop *loop)
{
    struct writ_post *stack = atomic_exchange(&loop->inbox, NULL), *queue = NULL;

    while (stack != NULL) { /* the last one pushed is on top: reverse the order */
        struct writ_post *next = stack->next;
        stack->next = queue;
        queue = stack;
        stack = next;
    }
    while (queue != NULL) {
        struct writ_post *post = queue;
        queue = post->next;
        if (post->counted) {
            atomic_fetch_sub(&loop->inbox_count, 1);
        }
        post->fn(post);
    }
}

/* ---- descriptors */

writ_result
writ_loop_watch(struct writ_loop *loop, struct writ_watch *watch, int fd, uint32_t events,
    writ_watch_fn *fn, void *ctx, struct writ_err *err)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    WRIT_INVARIANT(!watch->active);
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot watch a descriptor: errno %d", errno);
    }
    watch->fn = fn;
    watch->ctx = ctx;
    watch->loop = loop;
    watch->fd = fd;
    watch->active = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_loop_rewatch(struct writ_watch *watch, uint32_t events, struct writ_err *err)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    WRIT_INVARIANT(watch->active);
    if (epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot change a watch: errno %d", errno);
    }
    return WRIT_DONE;
}

void
writ_loop_unwatch(struct writ_watch *watch)
{
    struct writ_loop *loop = watch->loop;

    if (!watch->active) {
        return;
    }
    watch->active = false;
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    for (int i = loop->events_at; i < loop->events_end; i++) {
        if (loop->events[i].data.ptr == watch) {
            loop->events[i].data.ptr = NULL; /* keeps (1) */
        }
    }
}

static void
run_events(struct writ_loop *loop)
{
    while (loop->events_at < loop->events_end) {
        struct epoll_event *event = &loop->events[loop->events_at++];
        struct writ_watch *watch = event->data.ptr;
        if (watch != NULL) {
            watch->fn(watch, event->events);
        }
    }
}

/* ---- the turn */

static int
wait_ms(const struct writ_loop *loop)
{
    int64_t wait_us;

    for (size_t i = 0; i < sizeof loop->phases / sizeof loop->phases[0]; i++) {
        if (!list_is_empty(&loop->phases[i])) {
            return 0;
        }
    }
    if (loop->timers == NULL) {
        return -1;
    }
    wait_us = loop->timers->key_us - writ_clock_mono_us(loop->clock);
    if (wait_us <= 0) {
        return 0;
    }
    /* rounded up: a turn before the time would be for nothing */
    return (int)(((wait_us < WAIT_MOST_US ? wait_us : WAIT_MOST_US) + 999) / 1000);
}

static WRIT_RESULT
wait_events(struct writ_loop *loop, struct writ_err *err)
{
    int timeout_ms = wait_ms(loop), count;

    atomic_store(&loop->asleep, true);
    if (atomic_load(&loop->inbox) != NULL || atomic_load(&loop->stopping)) {
        timeout_ms = 0;
    }
    count = epoll_wait(loop->epoll_fd, loop->events, EVENTS_MAX, timeout_ms);
    atomic_store(&loop->asleep, false);
    if (count < 0 && errno != EINTR) {
        WRIT_FAIL(err, WRIT_E_IO, "epoll_wait failed: errno %d", errno);
    }
    loop->events_at = 0;
    loop->events_end = count > 0 ? count : 0;
    loop->now_us = writ_clock_mono_us(loop->clock);
    return WRIT_DONE;
}

static void
block_sigpipe(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE); /* a peer that left is an error code, not a signal */
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

writ_result
writ_loop_run(struct writ_loop *loop, struct writ_err *err)
{
    writ_result r = WRIT_DONE;

    block_sigpipe();
    loop->now_us = writ_clock_mono_us(loop->clock);
    do {
        r = wait_events(loop, err);
        if (!writ_is_ok(r)) {
            break;
        }
        run_events(loop);
        run_inbox(loop);
        run_timers(loop);
        run_tasks(loop);
    } while (!atomic_exchange(&loop->stopping, false));
    run_inbox(loop); /* messages posted before the stop, after this turn's check */
    run_list(&loop->phases[WRIT_LOOP_IDLE]); /* the stop may have come after this turn's check */
    return r;
}

void
writ_loop_stop(struct writ_loop *loop)
{
    atomic_store(&loop->stopping, true);
    wake(loop);
}

static void *
thread_main(void *arg)
{
    struct writ_loop *loop = arg;

    loop->thread_result = writ_loop_run(loop, &loop->thread_err);
    return NULL;
}

writ_result
writ_loop_start(struct writ_loop *loop, struct writ_err *err)
{
    char name[THREAD_NAME];

    (void)snprintf(name, sizeof name, "writ-loop-%u", loop->index % 1000);
    if (!writ_thread_start(&loop->thread, thread_main, loop, name)) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot start the thread of a loop");
    }
    return WRIT_DONE;
}

writ_result
writ_loop_join(struct writ_loop *loop, struct writ_err *err)
{
    (void)pthread_join(loop->thread, NULL);
    if (!writ_is_ok(loop->thread_result)) {
        WRIT_FAIL(err, loop->thread_result.code, "%s", loop->thread_err.text);
    }
    return WRIT_DONE;
}

/* ---- life */

writ_result
writ_loop_new(const struct writ_loop_options *options, struct writ_loop **ret, struct writ_err *err)
{
    struct writ_loop *loop = writ_alloc(sizeof *loop);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL}; /* (4) */

    if (loop == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a loop");
    }
    loop->index = options->index;
    loop->mailbox_max = options->mailbox_max > 0 ? options->mailbox_max : WRIT_LOOP_MAILBOX_DEFAULT;
    loop->clock = options->clock != NULL ? options->clock : writ_clock_system();
    loop->now_us = writ_clock_mono_us(loop->clock);
    for (size_t i = 0; i < sizeof loop->phases / sizeof loop->phases[0]; i++) {
        list_init(&loop->phases[i]);
    }
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 ||
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) != 0) {
        int fault = errno;
        writ_loop_free(loop);
        WRIT_FAIL(err, WRIT_E_IO, "cannot make a loop: errno %d", fault);
    }
    *ret = loop;
    return WRIT_DONE;
}

void
writ_loop_free(struct writ_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    if (loop->epoll_fd >= 0) {
        (void)close(loop->epoll_fd);
    }
    if (loop->wake_fd >= 0) {
        (void)close(loop->wake_fd);
    }
    writ_free(loop);
}

unsigned
writ_loop_index(const struct writ_loop *loop)
{
    return loop->index;
}

int64_t
writ_loop_now_us(const struct writ_loop *loop)
{
    return loop->now_us;
}
