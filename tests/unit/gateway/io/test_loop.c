/* The event loop: timers, tasks, descriptors, and posts from other threads. Each callback runs
 * once and in order, and a cancelled one never runs. */
#include "support/unit.h"

#include "base/alloc.h"
#include "gateway/io/loop.h"

#include <limits.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMERS  500
#define THREADS 4
#define POSTS   20000 /* of one thread */

static struct writ_loop *
loop_of(size_t mailbox_max)
{
    struct writ_loop_options options = {.index = 3, .mailbox_max = mailbox_max};
    struct writ_loop *loop = NULL;

    ck_assert_ok(writ_loop_new(&options, &loop, NULL));
    return loop;
}

static void
stop_task(struct writ_task *task)
{
    writ_loop_stop(task->ctx);
}

/* runs one turn */
static void
turn(struct writ_loop *loop)
{
    struct writ_task task = {.fn = stop_task, .ctx = loop};

    writ_loop_defer(loop, &task, WRIT_LOOP_SOON);
    ck_assert_ok(writ_loop_run(loop, NULL));
}

/* ---- timers */

static struct writ_timer timers[TIMERS];
static int fired;
static int64_t last_due;
static struct writ_loop *the_loop;

static void
note_timer(struct writ_timer *timer)
{
    ck_assert_int_ge(timer->due_us, last_due);
    ck_assert_int_ge(writ_loop_now_us(the_loop), timer->due_us);
    last_due = timer->due_us;
    if (++fired == *(int *)timer->ctx) {
        writ_loop_stop(the_loop);
    }
}

START_TEST(loop_timers_fire_in_order_after_moves_and_cancels)
{
    int want = 0;
    unsigned seed = 7;

    the_loop = loop_of(0);
    fired = 0;
    last_due = 0;
    for (int i = 0; i < TIMERS; i++) {
        timers[i] = (struct writ_timer){.fn = note_timer, .ctx = &want};
        writ_loop_timer_set(the_loop, &timers[i],
            writ_loop_now_us(the_loop) + (int64_t)(seed = seed * 1103515245U + 12345U) % 20000);
    }
    for (int i = 0; i < TIMERS; i++) {
        if (i % 3 == 0) {
            writ_loop_timer_cancel(&timers[i]);
            writ_loop_timer_cancel(&timers[i]);
            continue;
        }
        want++;
        if (i % 3 == 1) { /* earlier and later */
            writ_loop_timer_set(the_loop, &timers[i],
                writ_loop_now_us(the_loop) + (int64_t)(seed = seed * 1103515245U + 12345U) % 30000);
        }
    }
    ck_assert_ok(writ_loop_run(the_loop, NULL));
    ck_assert_int_eq(fired, want);
    writ_loop_free(the_loop);
}
END_TEST

static void
again_timer(struct writ_timer *timer)
{
    if (++*(int *)timer->ctx == 5) {
        writ_loop_stop(the_loop);
        return;
    }
    writ_loop_timer_set(the_loop, timer, 0);
}

START_TEST(loop_timer_that_sets_itself_fires_in_a_later_turn)
{
    int count = 0;
    struct writ_timer timer = {.fn = again_timer, .ctx = &count};

    the_loop = loop_of(0);
    writ_loop_timer_set(the_loop, &timer, 0);
    turn(the_loop);
    ck_assert_int_eq(count, 1);
    ck_assert_ok(writ_loop_run(the_loop, NULL));
    ck_assert_int_eq(count, 5);
    writ_loop_free(the_loop);
}
END_TEST

/* ---- tasks */

struct order {
    struct writ_task task;
    struct writ_loop *loop;
    struct order *also; /* queued when this one runs */
    enum writ_phase also_phase;
    int *clock, at;
};

static void
note_order(struct writ_task *task)
{
    struct order *o = task->ctx;

    o->at = ++*o->clock;
    if (o->also != NULL) {
        writ_loop_defer(o->loop, &o->also->task, o->also_phase);
    }
}

START_TEST(last_tasks_run_after_every_soon_task_and_once_a_turn)
{
    struct writ_loop *loop = loop_of(0);
    int clock = 0;
    struct order o[5] = {0};

    for (int i = 0; i < 5; i++) {
        o[i] =
            (struct order){.task = {.fn = note_order, .ctx = &o[i]}, .loop = loop, .clock = &clock};
    }
    o[1].also = &o[2]; /* soon -> soon */
    o[0].also = &o[3]; /* last -> last: next turn */
    o[0].also_phase = WRIT_LOOP_LAST;
    writ_loop_defer(loop, &o[0].task, WRIT_LOOP_LAST);
    writ_loop_defer(loop, &o[1].task, WRIT_LOOP_SOON);
    writ_loop_defer(loop, &o[1].task, WRIT_LOOP_SOON);
    writ_loop_defer(loop, &o[4].task, WRIT_LOOP_SOON);
    writ_loop_undefer(&o[4].task);
    turn(loop);
    ck_assert_int_eq(o[1].at, 1);
    ck_assert_int_eq(o[2].at, 2);
    ck_assert_int_eq(o[0].at, 3);
    ck_assert_int_eq(o[3].at, 0);
    ck_assert_int_eq(o[4].at, 0);
    turn(loop);
    ck_assert_int_eq(o[3].at, 4);
    writ_loop_free(loop);
}
END_TEST

/* ---- descriptors */

struct pair {
    int fds[2];
    struct writ_watch watch, *other;
    int events;
};

static void
note_watch(struct writ_watch *watch, uint32_t events)
{
    struct pair *pair = watch->ctx;

    ck_assert(events & EPOLLIN);
    pair->events++;
    writ_loop_unwatch(pair->other);
}

START_TEST(loop_unwatch_drops_pending_events)
{
    struct writ_loop *loop = loop_of(0);
    struct pair a = {0}, b = {0};

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, a.fds), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, b.fds), 0);
    a.other = &b.watch;
    b.other = &a.watch;
    ck_assert_ok(writ_loop_watch(loop, &a.watch, a.fds[0], EPOLLIN, note_watch, &a, NULL));
    ck_assert_ok(writ_loop_watch(loop, &b.watch, b.fds[0], EPOLLIN, note_watch, &b, NULL));
    ck_assert_int_eq(write(a.fds[1], "x", 1), 1);
    ck_assert_int_eq(write(b.fds[1], "x", 1), 1);
    turn(loop);
    ck_assert_int_eq(a.events + b.events, 1); /* the first one silenced the other */

    writ_loop_unwatch(&a.watch);
    writ_loop_unwatch(&b.watch);
    for (int i = 0; i < 2; i++) {
        (void)close(a.fds[i]);
        (void)close(b.fds[i]);
    }
    writ_loop_free(loop);
}
END_TEST

static void
count_event(struct writ_watch *watch, uint32_t events)
{
    struct pair *pair = watch->ctx;

    (void)events;
    pair->events++;
}

START_TEST(loop_rewatch_reports_pending_events)
{
    struct writ_loop *loop = loop_of(0);
    struct pair a = {0};

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, a.fds), 0);
    ck_assert_ok(
        writ_loop_watch(loop, &a.watch, a.fds[0], EPOLLRDHUP | EPOLLET, count_event, &a, NULL));
    ck_assert_int_eq(write(a.fds[1], "x", 1), 1);
    turn(loop);
    ck_assert_int_eq(a.events, 0);
    ck_assert_ok(writ_loop_rewatch(&a.watch, EPOLLIN | EPOLLRDHUP | EPOLLET, NULL));
    turn(loop);
    turn(loop);
    ck_assert_int_eq(a.events, 1);
    writ_loop_unwatch(&a.watch);
    (void)close(a.fds[0]);
    (void)close(a.fds[1]);
    writ_loop_free(loop);
}
END_TEST

/* ---- idle tasks */

struct busy {
    struct pair pair;
    struct writ_task idle;
    struct writ_loop *loop;
    int64_t now_us, step_us, ran_us; /* a clock that moves by a step each time it is read */
    int turns, turns_busy;
};

static int64_t
busy_clock(void *ctx)
{
    struct busy *busy = ctx;

    return busy->now_us += busy->step_us;
}

static void
count_turn(struct writ_watch *watch, uint32_t events)
{
    struct busy *busy = watch->ctx;
    char byte;

    (void)events;
    if (++busy->turns == busy->turns_busy) {
        ck_assert_int_eq(read(busy->pair.fds[0], &byte, 1), 1);
    }
}

static void
note_idle(struct writ_task *task)
{
    struct busy *busy = task->ctx;

    busy->ran_us = writ_loop_now_us(busy->loop);
    writ_loop_stop(busy->loop);
}

/* Runs a loop that has something to do in each of `turns_busy` turns, until an IDLE task has run.
 */
static struct busy
stay_busy(int turns_busy, int64_t step_us)
{
    struct busy busy = {.turns_busy = turns_busy, .step_us = step_us};
    struct writ_clock clock = {busy_clock, busy_clock, &busy};
    struct writ_loop_options options = {.clock = &clock};

    ck_assert_ok(writ_loop_new(&options, &busy.loop, NULL));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, busy.pair.fds), 0);
    ck_assert_ok(writ_loop_watch(
        busy.loop, &busy.pair.watch, busy.pair.fds[0], EPOLLIN, count_turn, &busy, NULL));
    ck_assert_int_eq(write(busy.pair.fds[1], "x", 1), 1);
    busy.idle = (struct writ_task){.fn = note_idle, .ctx = &busy};
    writ_loop_defer(busy.loop, &busy.idle, WRIT_LOOP_IDLE);
    ck_assert_ok(writ_loop_run(busy.loop, NULL));

    writ_loop_unwatch(&busy.pair.watch);
    (void)close(busy.pair.fds[0]);
    (void)close(busy.pair.fds[1]);
    writ_loop_free(busy.loop);
    return busy;
}

START_TEST(idle_tasks_wait_for_a_turn_without_events)
{
    ck_assert_int_eq(stay_busy(3, 0).turns, 3);
}
END_TEST

START_TEST(idle_tasks_wait_no_longer_than_the_limit_however_busy_the_loop_is)
{
    struct busy busy = stay_busy(INT_MAX, WRIT_LOOP_IDLE_US / 5);

    ck_assert_int_ge(busy.turns, 2);
    ck_assert_int_ge(busy.ran_us, WRIT_LOOP_IDLE_US);
    ck_assert_int_lt(busy.ran_us, 2 * WRIT_LOOP_IDLE_US);
}
END_TEST

START_TEST(idle_tasks_run_before_a_loop_that_is_stopped_ends)
{
    struct writ_loop *loop = loop_of(0);
    struct order o = {.task = {.fn = note_order, .ctx = &o}, .loop = loop, .clock = &(int){0}};

    writ_loop_defer(loop, &o.task, WRIT_LOOP_IDLE);
    turn(loop);
    ck_assert_int_eq(o.at, 1);
    writ_loop_free(loop);
}
END_TEST

START_TEST(loop_watch_of_a_bad_descriptor_fails)
{
    struct writ_loop *loop = loop_of(0);
    struct writ_watch watch = {0};

    ck_assert_code(writ_loop_watch(loop, &watch, -1, EPOLLIN, note_watch, NULL, NULL), WRIT_E_IO);
    ck_assert(!watch.active);
    writ_loop_unwatch(&watch);
    writ_loop_free(loop);
}
END_TEST

START_TEST(loop_new_without_descriptors_or_memory_fails)
{
    struct writ_loop_options options = {0};
    struct writ_loop *loop = NULL;
    struct rlimit before, none;

    writ_fault_arm(1);
    ck_assert_code(writ_loop_new(&options, &loop, NULL), WRIT_E_NOMEM);
    ck_assert(writ_fault_disarm());

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_code(writ_loop_new(&options, &loop, NULL), WRIT_E_IO);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_ptr_null(loop);
}
END_TEST

/* ---- the mailbox */

struct sender {
    struct writ_loop *loop;
    struct writ_post *posts;
    pthread_t thread;
    int received;
};

static atomic_int total_received;

static void
note_post(struct writ_post *post)
{
    struct sender *sender = post->ctx;

    ck_assert_ptr_eq(post, &sender->posts[sender->received]); /* in the order of its thread */
    sender->received++;
    if (++total_received == THREADS * POSTS) {
        writ_loop_stop(sender->loop);
    }
}

static void *
send_all(void *arg)
{
    struct sender *sender = arg;

    for (int i = 0; i < POSTS; i++) {
        struct writ_post *post = &sender->posts[i];
        *post = (struct writ_post){.fn = note_post, .ctx = sender};
        if (i % 2 == 0) {
            writ_loop_answer(sender->loop, post);
            continue;
        }
        if (i % 3 == 0) {
            writ_loop_leave(sender->loop, post);
            continue;
        }
        while (!writ_is_ok(writ_loop_post(sender->loop, post))) {
            (void)sched_yield();
        }
    }
    writ_loop_nudge(sender->loop);
    return NULL;
}

START_TEST(posts_of_many_threads_all_arrive_each_thread_in_order)
{
    struct writ_loop *loop = loop_of(100);
    struct sender senders[THREADS] = {0};

    total_received = 0;
    ck_assert_ok(writ_loop_start(loop, NULL));
    for (int i = 0; i < THREADS; i++) {
        senders[i].loop = loop;
        senders[i].posts = writ_alloc(POSTS * sizeof *senders[i].posts);
        ck_assert_int_eq(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    }
    ck_assert_ok(writ_loop_join(loop, NULL));
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(senders[i].thread, NULL);
        ck_assert_int_eq(senders[i].received, POSTS);
        writ_free(senders[i].posts);
    }
    ck_assert_uint_eq(writ_loop_index(loop), 3);
    writ_loop_free(loop);
}
END_TEST

static void
count_post(struct writ_post *post)
{
    ++*(int *)post->ctx;
}

START_TEST(loop_post_to_a_full_mailbox_is_refused_but_answers_pass)
{
    struct writ_loop *loop = loop_of(2);
    int count = 0;
    struct writ_post posts[4];

    for (int i = 0; i < 4; i++) {
        posts[i] = (struct writ_post){.fn = count_post, .ctx = &count};
    }
    ck_assert_ok(writ_loop_post(loop, &posts[0]));
    ck_assert_ok(writ_loop_post(loop, &posts[1]));
    ck_assert_code(writ_loop_post(loop, &posts[2]), WRIT_E_BUSY);
    writ_loop_answer(loop, &posts[3]);
    turn(loop);
    ck_assert_int_eq(count, 3);
    ck_assert_ok(writ_loop_post(loop, &posts[2]));
    turn(loop);
    ck_assert_int_eq(count, 4);
    writ_loop_free(loop);
}
END_TEST

WRIT_UNIT_MAIN("loop", loop_timers_fire_in_order_after_moves_and_cancels,
    loop_timer_that_sets_itself_fires_in_a_later_turn,
    last_tasks_run_after_every_soon_task_and_once_a_turn, idle_tasks_wait_for_a_turn_without_events,
    idle_tasks_wait_no_longer_than_the_limit_however_busy_the_loop_is,
    idle_tasks_run_before_a_loop_that_is_stopped_ends, loop_unwatch_drops_pending_events,
    loop_rewatch_reports_pending_events, loop_watch_of_a_bad_descriptor_fails,
    loop_new_without_descriptors_or_memory_fails,
    posts_of_many_threads_all_arrive_each_thread_in_order,
    loop_post_to_a_full_mailbox_is_refused_but_answers_pass)
