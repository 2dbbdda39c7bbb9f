/* child.c - a state machine over one process at a time (STARTING, UP, ENDING, RESTING, STOPPED).
 *
 * Invariants:
 * (1) There is a process (spawned.pid > 0) in STARTING, UP and ENDING, and none in RESTING and
 *     STOPPED. Only gone() reaps it, after its group was killed: until then neither number can
 *     belong to another process.
 * (2) Lines are sent only in the state UP; the queue is empty in the states without a process.
 * (3) `why` is set when ENDING begins; gone() turns it into EXITED or KILLED when the process ended
 *     before we sent it a signal and before a stop was requested.
 * (4) Callbacks come from events, timers and tasks. After each the state may be ENDING. */
#include "gateway/io/child.h"

#include "base/bytes.h"
#include "gateway/io/stderr_log.h"
#include "gateway/io/line_queue.h"
#include "gateway/io/spawn.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_DEFAULT     ((size_t)8 << 20)
#define QUEUE_MAX_DEFAULT    ((size_t)16 << 20)
#define LOG_LINE_MAX_DEFAULT 1024
#define LOG_RATE_DEFAULT     50
#define SECOND_US            (INT64_C(1000) * 1000)
#define PAUSE_LEAST_DEFAULT  (SECOND_US / 5)
#define PAUSE_MOST_DEFAULT   (30 * SECOND_US)
#define SETTLED_DEFAULT      (10 * SECOND_US)
#define PAUSE_FORBIDDEN      SECOND_US /* a look at unchanged files is cheap */
#define GRACE_DEFAULT        (2 * SECOND_US)
#define INPUT_BYTES          65536
#define LAST_BYTES_MAX       ((size_t)4 << 20) /* read from the pipes of a process that has ended */

enum state {
    RESTING = 0, /* until the timer, or the first task, starts one */
    STARTING,
    UP,
    ENDING,
    STOPPED,
};

struct writ_child {
    struct writ_loop *loop;
    struct writ_child_options options; /* the values; their pointers point into the plan */
    struct writ_spawn_plan *plan;
    const struct writ_child_handler *handler;
    void *ctx;

    enum state state;
    struct writ_child_end end; /* `why`, while ENDING; all of it while a task is due to report it */
    bool stopping, signalled;
    bool finishing; /* stopping, but still read */
    bool deaf;      /* its output is not trusted any more */
    bool paused;    /* its output is not read for now */
    struct writ_spawned spawned;
    struct writ_watch in, out, err, status, process;
    struct writ_timer timer; /* next start, or next step of the end */
    struct writ_task task;   /* starts, or reports */
    int64_t up_since_us, pause_us;

    struct writ_line_queue queue;
    struct writ_buf line;
    struct writ_stderr_log stderr_log;
    struct writ_buf said; /* the last standard error of this process */
    char input[INPUT_BYTES];
};

const char *
writ_child_why_name(enum writ_child_why why)
{
    switch (why) {
    case WRIT_CHILD_UNSET:
        return "unset";
    case WRIT_CHILD_NOT_STARTED:
        return "not_started";
    case WRIT_CHILD_EXITED:
        return "exited";
    case WRIT_CHILD_KILLED:
        return "killed";
    case WRIT_CHILD_LINE_TOO_LONG:
        return "line_too_long";
    case WRIT_CHILD_BROKEN_PIPE:
        return "broken_pipe";
    case WRIT_CHILD_REJECTED:
        return "rejected";
    case WRIT_CHILD_FORBIDDEN:
        return "forbidden";
    case WRIT_CHILD_STOPPED:
        return "stopped";
    }
    return "unset";
}

size_t
writ_child_log_end(
    const struct writ_child_end *end, bool words, struct writ_log_field ret[WRIT_CHILD_LOG_FIELDS])
{
    ret[0] = writ_log_str("why", writ_child_why_name(end->why));
    ret[1] = writ_log_int("detail", end->detail);
    if (end->why == WRIT_CHILD_NOT_STARTED) {
        ret[2] = writ_log_str("error", strerrordesc_np(end->detail));
        return 3;
    }
    if (words && end->said.len > 0) {
        ret[2] = writ_log_text("said", end->said);
        return 3;
    }
    return 2;
}

static bool
has_process(const struct writ_child *child)
{
    return child->spawned.pid > 0;
}

static void
drop_fd(struct writ_watch *watch, int *fd)
{
    writ_loop_unwatch(watch);
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* ---- the end of a process */

static void
signal_group(struct writ_child *child, int signal)
{
    if (kill(-child->spawned.pid, signal) != 0) {
        (void)kill(child->spawned.pid, signal); /* not yet the leader of a group */
    }
    child->signalled = true;
}

/* Begins to end the process: `at_once` for a harmful one, else step by step. */
static void
begin_end(struct writ_child *child, enum writ_child_why why, bool at_once)
{
    if (child->state != ENDING) {
        child->end = (struct writ_child_end){
            .why = why, .first_unsent = writ_line_queue_first_unsent(&child->queue)};
        child->signalled = false;
        child->state = ENDING;
    }
    writ_line_queue_clear(&child->queue);
    drop_fd(&child->in, &child->spawned.in); /* end of input */
    if (at_once) {
        signal_group(child, SIGKILL);
    } else {
        writ_loop_timer_set(
            child->loop, &child->timer, writ_loop_now_us(child->loop) + child->options.grace_us);
    }
}

/* the next step of an end: SIGTERM, then SIGKILL */
static void
next_step(struct writ_child *child)
{
    signal_group(child, child->signalled ? SIGKILL : SIGTERM);
    writ_loop_timer_set(
        child->loop, &child->timer, writ_loop_now_us(child->loop) + child->options.grace_us);
}

static void
tell_down(struct writ_child *child)
{
    struct writ_child_end end = child->end;

    end.said = writ_buf_view(&child->said);
    while (end.said.len > 0 && end.said.ptr[end.said.len - 1] == '\n') {
        end.said.len--;
    }
    if (child->handler->on_down != NULL) {
        child->handler->on_down(child->ctx, child, &end);
    }
    writ_buf_clear(&child->said);
}

/* sets the pause before the next start: twice the last one, unless the process was up for long */
static int64_t
next_pause(struct writ_child *child)
{
    bool settled = child->up_since_us > 0 &&
                   writ_loop_now_us(child->loop) - child->up_since_us >= child->options.settled_us;
    int64_t twice_us = child->pause_us * 2;

    if (child->end.why == WRIT_CHILD_FORBIDDEN) {
        return PAUSE_FORBIDDEN;
    }
    if (settled || child->pause_us == 0) {
        twice_us = child->options.pause_least_us;
    }
    child->pause_us =
        twice_us < child->options.pause_most_us ? twice_us : child->options.pause_most_us;
    return child->pause_us;
}

/* the process has ended: reports that and decides what follows */
static void
rest(struct writ_child *child)
{
    if (child->stopping) {
        child->state = STOPPED;
        child->end.why = WRIT_CHILD_STOPPED;
    } else {
        child->state = RESTING;
        child->end.restart_us = next_pause(child);
        writ_loop_timer_set(
            child->loop, &child->timer, writ_loop_now_us(child->loop) + child->end.restart_us);
    }
    tell_down(child);
}

static void
reap(struct writ_child *child)
{
    siginfo_t info = {0};
    bool unasked = !child->signalled && (child->end.why == WRIT_CHILD_BROKEN_PIPE ||
                                            child->end.why == WRIT_CHILD_EXITED);

    (void)kill(-child->spawned.pid, SIGKILL); /* keeps (1): grandchildren first */
    (void)waitid(P_PIDFD, (id_t)child->spawned.pidfd, &info, WEXITED);
    if (unasked) { /* keeps (3) */
        child->end.why = info.si_code == CLD_EXITED ? WRIT_CHILD_EXITED : WRIT_CHILD_KILLED;
        child->end.detail = info.si_status;
    }
    drop_fd(&child->in, &child->spawned.in);
    drop_fd(&child->out, &child->spawned.out);
    drop_fd(&child->err, &child->spawned.err);
    drop_fd(&child->status, &child->spawned.status);
    drop_fd(&child->process, &child->spawned.pidfd);
    child->spawned.pid = 0;
    writ_loop_timer_cancel(&child->timer);
    writ_buf_wipe(&child->line);
    child->line = writ_buf_make(child->options.line_max);
}

/* ---- lines of standard output */

static void
hand_line(struct writ_child *child, struct writ_view line)
{
    if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
        line = writ_view_sub(line, 0, line.len - 1);
    }
    if (line.len > 0 && child->handler->on_line != NULL) {
        child->handler->on_line(child->ctx, child, line);
    }
}

/* also while it ends by itself: its last output is still in the pipe */
static bool
wants_lines(const struct writ_child *child)
{
    return !child->deaf && (!child->stopping || child->finishing) &&
           (child->state == UP || child->state == ENDING);
}

static void
stop_listening(struct writ_child *child, enum writ_child_why why)
{
    child->deaf = true;
    begin_end(child, why, true);
    child->end.why = why;
}

static void
take_output(struct writ_child *child, struct writ_view input)
{
    while (input.len > 0 && wants_lines(child)) {
        size_t end = writ_view_find(input, '\n');
        struct writ_view line = writ_view_sub(input, 0, end);

        if (child->line.len + line.len > child->options.line_max) {
            stop_listening(child, WRIT_CHILD_LINE_TOO_LONG);
            return;
        }
        if (child->line.len > 0 || end == input.len) {
            writ_buf_put(&child->line, line);
            line = writ_buf_view(&child->line);
            if (!writ_is_ok(writ_buf_check(&child->line, NULL))) {
                stop_listening(child, WRIT_CHILD_BROKEN_PIPE); /* no memory for it */
                return;
            }
        }
        if (end == input.len) {
            return;
        }
        input = writ_view_sub(input, end + 1, input.len);
        hand_line(child, line);
        if (child->line.cap > INPUT_BYTES) { /* one large line must not hold memory for ever */
            writ_buf_wipe(&child->line);
            child->line = writ_buf_make(child->options.line_max);
        }
        writ_buf_clear(&child->line);
    }
}

/* ---- lines of standard error */

static void
take_log(struct writ_child *child, struct writ_view input)
{
    struct writ_view last = input;

    if (last.len > WRIT_CHILD_SAID_MAX) {
        last = writ_view_sub(last, last.len - WRIT_CHILD_SAID_MAX, WRIT_CHILD_SAID_MAX);
    }
    if (child->said.len + last.len > WRIT_CHILD_SAID_MAX) {
        writ_buf_consume(&child->said, child->said.len + last.len - WRIT_CHILD_SAID_MAX);
    }
    writ_buf_put(&child->said, last);
    writ_stderr_log_take(&child->stderr_log, input, writ_loop_now_us(child->loop));
}

static void
hand_log(void *ctx, struct writ_view line, uint64_t dropped)
{
    struct writ_child *child = ctx;

    if (child->handler->on_log != NULL) {
        child->handler->on_log(child->ctx, child, line, dropped);
    }
}

/* ---- whether it could be started */

static void
on_status(struct writ_watch *watch, uint32_t events)
{
    struct writ_child *child = watch->ctx;
    int fault = 0;
    ssize_t got = read(watch->fd, &fault, sizeof fault);

    (void)events;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    drop_fd(&child->status, &child->spawned.status);
    if (child->state != STARTING) {
        return;
    }
    if (got == (ssize_t)sizeof fault) {
        begin_end(child, WRIT_CHILD_NOT_STARTED, false);
        child->end.detail = fault;
        return;
    }
    child->state = UP;
    child->up_since_us = writ_loop_now_us(child->loop);
    if (child->handler->on_up != NULL) {
        child->handler->on_up(child->ctx, child);
    }
}

/* One turn may have events of several descriptors: the start is processed before the other
 * pipes. */
static void
learn_start(struct writ_child *child)
{
    if (child->state == STARTING) {
        on_status(&child->status, EPOLLIN);
    }
}

/* ---- the pipes */

/* One read. More bytes: >0; nothing now: <0 with EAGAIN; end or fault otherwise. */
static ssize_t
read_once(struct writ_child *child, int fd, void (*take)(struct writ_child *, struct writ_view))
{
    ssize_t got = read(fd, child->input, sizeof child->input);

    if (got > 0) {
        take(child, writ_view(child->input, (size_t)got));
    }
    return got;
}

static bool
is_over(ssize_t got)
{
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void
on_output(struct writ_watch *watch, uint32_t events)
{
    struct writ_child *child = watch->ctx;

    (void)events;
    learn_start(child);
    if (child->paused) { /* the end of the pipe, which is found again */
        return;
    }
    if (is_over(read_once(child, watch->fd, take_output))) {
        drop_fd(&child->out, &child->spawned.out);
        if (child->state != ENDING) {
            begin_end(child, WRIT_CHILD_BROKEN_PIPE, false);
        }
    }
}

static void
on_error_output(struct writ_watch *watch, uint32_t events)
{
    struct writ_child *child = watch->ctx;

    (void)events;
    if (is_over(read_once(child, watch->fd, take_log))) {
        drop_fd(&child->err, &child->spawned.err);
    }
}

/* bytes that an ended process left in its pipes; a descendant that escaped may still write */
static void
read_last(struct writ_child *child, int fd, void (*take)(struct writ_child *, struct writ_view))
{
    ssize_t got = 1;

    for (size_t all = 0; fd >= 0 && got > 0 && all < LAST_BYTES_MAX; all += (size_t)got) {
        got = read_once(child, fd, take);
        if (got <= 0) {
            return;
        }
    }
}

/* ---- sending */

static void
on_input(struct writ_watch *watch, uint32_t events)
{
    struct writ_child *child = watch->ctx;

    learn_start(child);
    if (child->state == ENDING) {
        return; /* its input is closed */
    }
    if ((events & EPOLLERR) != 0) {
        begin_end(child, WRIT_CHILD_BROKEN_PIPE, false);
        return;
    }
    if (!writ_line_queue_flush(&child->queue, child->spawned.in)) {
        begin_end(child, WRIT_CHILD_BROKEN_PIPE, false);
    } else if (child->finishing && child->queue.bytes == 0) {
        begin_end(child, WRIT_CHILD_STOPPED, false);
    }
}

writ_result
writ_child_send(struct writ_child *child, struct writ_view line, uint64_t *ret_ticket)
{
    bool broken = false;
    writ_result r;

    if (!writ_line_queue_takes(line)) {
        return (writ_result){WRIT_E_INVALID};
    }
    if (child->state != UP || child->stopping) {
        return (writ_result){WRIT_E_ABSENT};
    }
    r = writ_line_queue_send(&child->queue, child->spawned.in, line, ret_ticket, &broken);
    if (broken) {
        begin_end(child, WRIT_CHILD_BROKEN_PIPE, true); /* half a line: nothing may follow */
    }
    return r;
}

void
writ_child_reject(struct writ_child *child)
{
    if (child->state == UP) {
        stop_listening(child, WRIT_CHILD_REJECTED);
    }
}

/* The end of a pipe is reported whatever is watched: as an edge it comes once. */
static void
watch_output(struct writ_child *child)
{
    uint32_t events = child->paused ? EPOLLET : EPOLLIN;

    if (child->out.active && !writ_is_ok(writ_loop_rewatch(&child->out, events, NULL))) {
        child->paused = false;
        begin_end(child, WRIT_CHILD_BROKEN_PIPE, false);
    }
}

void
writ_child_pause(struct writ_child *child)
{
    if (!child->paused && (!child->stopping || child->finishing)) {
        child->paused = true;
        watch_output(child);
    }
}

void
writ_child_resume(struct writ_child *child)
{
    if (!child->paused) {
        return;
    }
    child->paused = false;
    watch_output(child);
    if (child->state == ENDING && !child->signalled) { /* its time begins when it is read */
        writ_loop_timer_set(
            child->loop, &child->timer, writ_loop_now_us(child->loop) + child->options.grace_us);
    }
}

bool
writ_child_recall(struct writ_child *child, uint64_t ticket)
{
    return writ_line_queue_recall(&child->queue, ticket);
}

/* ---- starting */

static void
on_process(struct writ_watch *watch, uint32_t events)
{
    struct writ_child *child = watch->ctx;

    (void)events;
    (void)kill(-child->spawned.pid, SIGKILL);
    learn_start(child);
    if (child->state != ENDING) {
        begin_end(child, WRIT_CHILD_EXITED, false);
    }
    read_last(child, child->spawned.out, take_output);
    read_last(child, child->spawned.err, take_log);
    writ_stderr_log_flush(&child->stderr_log, writ_loop_now_us(child->loop));
    reap(child);
    rest(child);
}

static WRIT_RESULT
watch_all(struct writ_child *child)
{
    const struct writ_spawned *s = &child->spawned;
    struct writ_loop *loop = child->loop;

    /* output before the end of the process, so that its last lines come first; both
     * level-triggered, one read per turn each: a child that floods does not starve the loop */
    WRIT_TRY(writ_loop_watch(loop, &child->status, s->status, EPOLLIN, on_status, child, NULL));
    WRIT_TRY(writ_loop_watch(
        loop, &child->out, s->out, child->paused ? EPOLLET : EPOLLIN, on_output, child, NULL));
    WRIT_TRY(writ_loop_watch(loop, &child->err, s->err, EPOLLIN, on_error_output, child, NULL));
    WRIT_TRY(writ_loop_watch(loop, &child->in, s->in, EPOLLOUT | EPOLLET, on_input, child, NULL));
    return writ_loop_watch(loop, &child->process, s->pidfd, EPOLLIN, on_process, child, NULL);
}

static enum writ_child_may
ask_owner(struct writ_child *child, int *ret_program)
{
    *ret_program = -1;
    return child->handler->may_start != NULL
               ? child->handler->may_start(child->ctx, child, ret_program)
               : WRIT_CHILD_MAY;
}

static void
start_process(struct writ_child *child, int program)
{
    int fault = 0;

    if (!writ_is_ok(writ_spawn_start(child->plan, program, &child->spawned, &fault))) {
        child->spawned.pid = 0;
        child->end.detail = fault;
        rest(child);
        return;
    }
    child->state = STARTING;
    if (!writ_is_ok(watch_all(child))) {
        child->end.detail = ENOMEM;
        signal_group(child, SIGKILL);
        reap(child);
        rest(child);
    }
}

static void
start(struct writ_child *child)
{
    int program;

    child->up_since_us = 0;
    child->deaf = false;
    child->end = (struct writ_child_end){
        .why = WRIT_CHILD_NOT_STARTED, .first_unsent = child->queue.next_ticket};
    switch (ask_owner(child, &program)) {
    case WRIT_CHILD_MAY_NOT:
        child->end.why = WRIT_CHILD_FORBIDDEN;
        rest(child);
        return;
    case WRIT_CHILD_MAY_LATER:
        child->state = RESTING;
        writ_child_hurry(child);
        return;
    case WRIT_CHILD_MAY:
        break;
    }
    start_process(child, program);
}

static void
on_timer(struct writ_timer *timer)
{
    struct writ_child *child = timer->ctx;

    if (child->state == RESTING) {
        start(child);
    } else if (child->state == ENDING && child->finishing && child->paused) {
        writ_loop_timer_set(/* it cannot end before its output is read */
            child->loop, &child->timer, writ_loop_now_us(child->loop) + child->options.grace_us);
    } else if (child->state == ENDING) {
        next_step(child);
    } else if (child->finishing) { /* it does not read its waiting input */
        begin_end(child, WRIT_CHILD_STOPPED, false);
    }
}

static void
on_task(struct writ_task *task)
{
    struct writ_child *child = task->ctx;

    if (child->stopping) {
        rest(child);
    } else {
        start(child);
    }
}

void
writ_child_hurry(struct writ_child *child)
{
    if (child->state == RESTING && !child->stopping) {
        writ_loop_timer_set(child->loop, &child->timer, writ_loop_now_us(child->loop));
    }
}

void
writ_child_finish(struct writ_child *child)
{
    if (child->stopping || child->state != UP) {
        writ_child_stop(child);
        return;
    }
    child->stopping = child->finishing = true;
    if (child->queue.bytes == 0) {
        begin_end(child, WRIT_CHILD_STOPPED, false);
    } else {
        writ_loop_timer_set(
            child->loop, &child->timer, writ_loop_now_us(child->loop) + child->options.grace_us);
    }
}

void
writ_child_stop(struct writ_child *child)
{
    if (child->stopping && !child->finishing) {
        return;
    }
    child->stopping = true;
    child->finishing = false;
    writ_child_resume(child);
    if (has_process(child)) {
        begin_end(child, WRIT_CHILD_STOPPED, false);
        return;
    }
    writ_loop_timer_cancel(&child->timer);
    child->end = (struct writ_child_end){.first_unsent = child->queue.next_ticket};
    writ_loop_defer(child->loop, &child->task, WRIT_LOOP_SOON);
}

/* ---- life */

static void
set_defaults(struct writ_child_options *o)
{
    o->line_max = o->line_max > 0 ? o->line_max : LINE_MAX_DEFAULT;
    o->queue_max = o->queue_max > 0 ? o->queue_max : QUEUE_MAX_DEFAULT;
    o->log_line_max = o->log_line_max > 0 ? o->log_line_max : LOG_LINE_MAX_DEFAULT;
    o->log_rate = o->log_rate > 0 ? o->log_rate : LOG_RATE_DEFAULT;
    o->pause_least_us = o->pause_least_us > 0 ? o->pause_least_us : PAUSE_LEAST_DEFAULT;
    o->pause_most_us = o->pause_most_us > 0 ? o->pause_most_us : PAUSE_MOST_DEFAULT;
    o->settled_us = o->settled_us > 0 ? o->settled_us : SETTLED_DEFAULT;
    o->grace_us = o->grace_us > 0 ? o->grace_us : GRACE_DEFAULT;
    o->argv = o->environment = NULL;
    o->directory = NULL;
}

writ_result
writ_child_open(struct writ_loop *loop, const struct writ_child_options *options,
    const struct writ_child_handler *handler, void *ctx, struct writ_child **ret,
    struct writ_err *err)
{
    struct writ_child *child = writ_alloc(sizeof *child);
    writ_result r;

    if (child == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a child");
    }
    r = writ_spawn_plan_new(
        options->argv, options->environment, options->directory, &child->plan, err);
    if (!writ_is_ok(r)) {
        writ_free(child);
        return r;
    }
    child->loop = loop;
    child->options = *options;
    set_defaults(&child->options);
    child->handler = handler;
    child->ctx = ctx;
    child->spawned = (struct writ_spawned){0, -1, -1, -1, -1, -1};
    child->timer = (struct writ_timer){.fn = on_timer, .ctx = child};
    child->task = (struct writ_task){.fn = on_task, .ctx = child};
    child->line = writ_buf_make(child->options.line_max);
    child->said = writ_buf_make(WRIT_CHILD_SAID_MAX);
    writ_stderr_log_init(
        &child->stderr_log, child->options.log_line_max, child->options.log_rate, hand_log, child);
    writ_line_queue_init(&child->queue, child->options.queue_max);
    writ_loop_defer(loop, &child->task, WRIT_LOOP_SOON);
    *ret = child;
    return WRIT_DONE;
}

void
writ_child_close(struct writ_child *child)
{
    if (child == NULL) {
        return;
    }
    writ_loop_timer_cancel(&child->timer);
    writ_loop_undefer(&child->task);
    writ_line_queue_clear(&child->queue);
    if (has_process(child)) {
        signal_group(child, SIGKILL);
        reap(child);
    }
    writ_buf_wipe(&child->line);
    writ_buf_wipe(&child->said);
    writ_stderr_log_wipe(&child->stderr_log);
    writ_spawn_plan_free(child->plan);
    writ_free(child);
}

bool
writ_child_is_up(const struct writ_child *child)
{
    return child->state == UP;
}

const struct writ_spawn_plan *
writ_child_plan(const struct writ_child *child)
{
    return child->plan;
}

int
writ_child_pid(const struct writ_child *child)
{
    return child->spawned.pid;
}
