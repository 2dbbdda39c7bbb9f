/* Processes that answer for agents: a step goes to a worker's child as a line, and its answer is
 * read.
 *
 * (1) A submitted step is in the list of its worker (owner set), or in `refused` (owner NULL,
 *     failed set), until it is done or reported as failed.
 * (2) Only the worker's own task closes a child, never one of its callbacks.
 * (3) A child that ends takes at least one step with it, so that restarts of a child that always
 *     ends are bounded.
 * (4) Only callbacks and tasks of the loop call the owner: a step that fails during its submission
 *     waits in `refused`. */
#include "gateway/crews/workers.h"

#include "gateway/crews/agent_exchange.h"
#include "gateway/io/child.h"

#include <stdio.h>
#include <string.h>

#define WHY_BYTES     160
#define OWN_VARIABLES 2

struct worker {
    TAILQ_ENTRY(worker) link;
    struct writ_workers *all;
    struct writ_buf name;
    struct writ_child *child; /* NULL: no request since it ended */
    bool served;              /* the child was sent a step */
    struct writ_open_step_list steps;
    struct writ_buf events; /* that wait for the child, one a line */
    struct writ_buf who;    /* variables that name the agent */
    struct writ_task task;  /* closes the child, and opens another one when needed */
    char why[WHY_BYTES];    /* the reason of its last end */
};

struct writ_workers {
    struct writ_workers_options options;
    TAILQ_HEAD(, worker) list;
    size_t n, children;
    struct writ_open_step_list refused;
    struct writ_task task; /* reports the refused steps, and the end */
    struct writ_event_reader reader;
    bool stopping;
};

/* ---- steps that get no answer */

static void
refuse(struct writ_workers *workers, struct writ_open_step *step, const char *why)
{
    if (step->owner != NULL) {
        TAILQ_REMOVE(&((struct worker *)step->owner)->steps, step, mine);
    }
    step->owner = NULL;
    step->failed = why;
    TAILQ_INSERT_TAIL(&workers->refused, step, mine); /* keeps (1), (4) */
    writ_loop_defer(workers->options.loop, &workers->task, WRIT_LOOP_SOON);
}

static void
on_task(struct writ_task *task)
{
    struct writ_workers *workers = task->ctx;
    struct writ_open_step *step;

    while (!workers->stopping && (step = TAILQ_FIRST(&workers->refused)) != NULL) {
        workers->options.handler->on_failed(workers->options.ctx, step, step->failed);
    }
    if (workers->stopping && workers->children == 0) {
        workers->options.handler->on_gone(workers->options.ctx);
    }
}

/* Refuses the steps that were sent to it, or all of them. */
static void
refuse_all(struct worker *worker, bool unsent_too)
{
    struct writ_open_step *step = TAILQ_FIRST(&worker->steps), *next;

    for (; step != NULL; step = next) {
        next = TAILQ_NEXT(step, mine);
        if (unsent_too || step->sent) {
            refuse(worker->all, step, worker->why);
        }
    }
}

/* ---- a process */

static void
send_step(struct worker *worker, struct writ_open_step *step)
{
    uint64_t ticket = 0;
    writ_result sent = writ_child_send(worker->child, writ_buf_view(&step->request), &ticket);

    if (writ_is_ok(sent)) {
        step->sent = worker->served = true;
    } else if (sent.code != WRIT_E_ABSENT) { /* it is about to end: start it again then */
        refuse(worker->all, step, "its worker does not read");
    }
}

/* What waited for the child, before its first step. */
static void
send_events(struct worker *worker)
{
    struct writ_view rest = writ_buf_view(&worker->events);
    uint64_t ticket = 0;

    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');
        WRIT_IGNORE(writ_child_send(
            worker->child, writ_view_sub(rest, 0, end), &ticket)); /* one that does not read */
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    writ_buf_clear(&worker->events);
}

static void
on_up(void *ctx, struct writ_child *child)
{
    struct worker *worker = ctx;
    struct writ_open_step *step = TAILQ_FIRST(&worker->steps), *next;

    (void)child;
    send_events(worker);
    for (; step != NULL; step = next) {
        next = TAILQ_NEXT(step, mine);
        if (!step->sent) {
            send_step(worker, step);
        }
    }
}

static void __attribute__((format(printf, 2, 3)))
set_why(struct worker *worker, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(worker->why, sizeof worker->why, fmt, args);
    va_end(args);
}

static void
reject(struct worker *worker, const char *what)
{
    set_why(worker, "its worker wrote a line that is not an answer: %s", what);
    writ_child_reject(worker->child);
}

static bool
is_terminal(const struct writ_json *answer)
{
    return writ_event_is(answer, "agent.step.completed") ||
           writ_event_is(answer, "agent.step.failed") ||
           writ_event_is(answer, "agent.step.timed_out");
}

static void
take_request(struct worker *worker, struct writ_open_step *step, struct writ_view line,
    const struct writ_json *message)
{
    const struct writ_workers_options *options = &worker->all->options;

    if (step == NULL) {
        return; /* it is late */
    }
    if (step->messages == WRIT_WORKERS_MESSAGES_MAX) {
        reject(worker, "there are too many requests in one step");
        return;
    }
    options->handler->on_message(options->ctx, step, line, message);
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct worker *worker = ctx;
    struct writ_workers *workers = worker->all;
    const struct writ_json *answer = NULL;
    struct writ_open_step *step;
    struct writ_err err = {0};
    bool was = false;

    (void)child;
    if (!writ_is_ok(writ_event_read(&workers->reader, line, &answer, &err))) {
        reject(worker, err.text);
        return;
    }
    step = writ_open_steps_find(
        workers->options.steps, writ_event_text(answer, "correlationId"), &was);
    if (!was || (step != NULL && step->owner != worker)) {
        reject(worker, "it was not asked for this correlationId");
    } else if (writ_agent_exchange_is_request(answer)) {
        take_request(worker, step, line, answer);
    } else if (is_terminal(answer)) {
        if (step != NULL) { /* else the answer is late */
            workers->options.handler->on_answer(workers->options.ctx, step, line, answer);
        }
    } else if (!writ_event_is(answer, "agent.stream.chunk")) {
        reject(worker, "its type is not one of an answer");
    }
}

static void
on_log(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped)
{
    struct worker *worker = ctx;

    (void)child;
    worker->all->options.handler->on_log(
        worker->all->options.ctx, writ_buf_view(&worker->name), line, dropped);
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct worker *worker = ctx;

    switch (end->why) {
    case WRIT_CHILD_STOPPED:
        writ_loop_defer(worker->all->options.loop, &worker->task, WRIT_LOOP_SOON); /* keeps (2) */
        return;
    case WRIT_CHILD_NOT_STARTED:
        set_why(worker, "its worker cannot be started: %s", strerrordesc_np(end->detail));
        break;
    case WRIT_CHILD_EXITED:
        set_why(worker, "its worker ended with status %d", end->detail);
        break;
    case WRIT_CHILD_KILLED:
        set_why(worker, "its worker was killed by signal %d", end->detail);
        break;
    case WRIT_CHILD_LINE_TOO_LONG:
        set_why(worker, "its worker wrote a line of more than %zu bytes", WRIT_WORKERS_LINE_MAX);
        break;
    case WRIT_CHILD_UNSET:
    case WRIT_CHILD_BROKEN_PIPE:
        set_why(worker, "its worker closed its input or output");
        break;
    case WRIT_CHILD_REJECTED:  /* `why` was set at that time */
    case WRIT_CHILD_FORBIDDEN: /* not of a worker: no may_start */
        break;
    }
    refuse_all(worker, !worker->served); /* keeps (3) */
    writ_child_stop(child);              /* started again at the next request, not before */
}

static const struct writ_child_handler handler = {
    .on_up = on_up, .on_line = on_line, .on_down = on_down, .on_log = on_log};

/* The variables of a process: whose it is, unless it is that of all, and what all inherit. */
static void
name_agent(struct worker *worker, const char *ret[OWN_VARIABLES + WRIT_WORKERS_ENVIRONMENT_MAX + 1])
{
    struct writ_view agent = writ_buf_view(&worker->name);
    size_t n = 0, role = agent.len;

    while (role > 0 && agent.ptr[role - 1] != '-') {
        role--;
    }
    writ_buf_clear(&worker->who);
    writ_buf_fmt(&worker->who,
        "WRIT_CREW_AGENT=" WRIT_VIEW_FMT "%cWRIT_CREW_ROLE=" WRIT_VIEW_FMT "%c",
        WRIT_VIEW_ARG(agent), '\0', WRIT_VIEW_ARG(writ_view_sub(agent, 0, role > 0 ? role - 1 : 0)),
        '\0');
    if (!worker->all->options.shared && writ_is_ok(writ_buf_check(&worker->who, NULL)) &&
        writ_view_find(agent, '\0') == agent.len) {
        ret[n++] = worker->who.ptr;
        ret[n++] = worker->who.ptr + sizeof "WRIT_CREW_AGENT=" + agent.len;
    }
    for (const char *const *variable = worker->all->options.environment; *variable != NULL;
         variable++) {
        ret[n++] = *variable;
    }
    ret[n] = NULL;
}

static void
open_child(struct worker *worker)
{
    const struct writ_workers_options *options = &worker->all->options;
    const char *environment[OWN_VARIABLES + WRIT_WORKERS_ENVIRONMENT_MAX + 1];
    const struct writ_child_options child = {.argv = options->argv,
        .environment = environment,
        .directory = options->directory,
        .line_max = WRIT_WORKERS_LINE_MAX,
        .queue_max = WRIT_WORKERS_QUEUE_MAX,
        .grace_us = WRIT_WORKERS_GRACE_US};
    struct writ_err err = {0};

    name_agent(worker, environment);
    worker->served = false;
    if (writ_is_ok(
            writ_child_open(options->loop, &child, &handler, worker, &worker->child, &err))) {
        worker->all->children++;
    } else {
        set_why(worker, "its worker cannot be started: %s", err.text);
        refuse_all(worker, true);
    }
}

static void
on_worker_task(struct writ_task *task)
{
    struct worker *worker = task->ctx;
    struct writ_workers *workers = worker->all;

    writ_child_close(worker->child);
    worker->child = NULL;
    workers->children--;
    if (workers->stopping) {
        writ_loop_defer(workers->options.loop, &workers->task, WRIT_LOOP_SOON);
    } else if (!TAILQ_EMPTY(&worker->steps)) {
        open_child(worker);
    }
}

/* ---- what the owner calls */

WRIT_RESULT
writ_workers_new(
    const struct writ_workers_options *options, struct writ_workers **ret, struct writ_err *err)
{
    struct writ_workers *workers = NULL;
    size_t n = 0;

    while (options->environment[n] != NULL) {
        n++;
    }
    if (n > WRIT_WORKERS_ENVIRONMENT_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the workers get more than %d variables of the environment",
            WRIT_WORKERS_ENVIRONMENT_MAX);
    }
    workers = writ_alloc(sizeof *workers);
    if (workers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    workers->options = *options;
    workers->task = (struct writ_task){.fn = on_task, .ctx = workers};
    TAILQ_INIT(&workers->list);
    TAILQ_INIT(&workers->refused);
    *ret = workers;
    return WRIT_DONE;
}

void
writ_workers_free(struct writ_workers *workers)
{
    struct worker *worker;

    if (workers == NULL) {
        return;
    }
    while ((worker = TAILQ_FIRST(&workers->list)) != NULL) {
        TAILQ_REMOVE(&workers->list, worker, link);
        writ_loop_undefer(&worker->task);
        writ_child_close(worker->child);
        writ_buf_wipe(&worker->name);
        writ_buf_wipe(&worker->events);
        writ_buf_wipe(&worker->who);
        writ_free(worker);
    }
    writ_loop_undefer(&workers->task);
    writ_event_reader_wipe(&workers->reader);
    writ_free(workers);
}

/* The worker of an agent, or NULL: too many workers, or no memory. */
static struct worker *
find_worker(struct writ_workers *workers, struct writ_view agent)
{
    struct writ_view name = workers->options.shared ? WRIT_LIT("workers") : agent;
    struct worker *worker;

    TAILQ_FOREACH(worker, &workers->list, link)
    {
        if (writ_view_equal(writ_buf_view(&worker->name), name)) {
            return worker;
        }
    }
    worker = workers->n < WRIT_WORKERS_MAX ? writ_alloc(sizeof *worker) : NULL;
    if (worker == NULL) {
        return NULL;
    }
    worker->all = workers;
    worker->name = writ_buf_make(SIZE_MAX);
    worker->events = writ_buf_make(WRIT_WORKERS_QUEUE_MAX);
    worker->who = writ_buf_make(SIZE_MAX);
    worker->task = (struct writ_task){.fn = on_worker_task, .ctx = worker};
    TAILQ_INIT(&worker->steps);
    writ_buf_put(&worker->name, name);
    if (!writ_is_ok(writ_buf_check(&worker->name, NULL))) {
        writ_free(worker);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&workers->list, worker, link);
    workers->n++;
    return worker;
}

void
writ_workers_ask(struct writ_workers *workers, struct writ_open_step *step)
{
    struct worker *worker = find_worker(workers, writ_buf_view(&step->agent));

    if (worker == NULL) {
        refuse(workers, step, "there are too many workers");
        return;
    }
    step->owner = worker;
    TAILQ_INSERT_TAIL(&worker->steps, step, mine);
    if (worker->child == NULL) {
        open_child(worker);
    } else if (writ_child_is_up(worker->child)) {
        send_step(worker, step);
    }
}

void
writ_workers_tell(struct writ_workers *workers, struct writ_view agent, struct writ_view event)
{
    struct worker *worker = find_worker(workers, agent);
    uint64_t ticket = 0;

    if (worker == NULL) {
        return;
    }
    if (worker->child != NULL && writ_child_is_up(worker->child)) {
        WRIT_IGNORE(writ_child_send(worker->child, event, &ticket)); /* one that does not read */
    } else if (event.len + 1 <= WRIT_WORKERS_QUEUE_MAX - worker->events.len) {
        writ_buf_put(&worker->events, event);
        writ_buf_byte(&worker->events, '\n');
    }
}

void
writ_workers_forget(struct writ_workers *workers, struct writ_view agent)
{
    struct worker *worker = find_worker(workers, agent);

    if (worker != NULL) {
        writ_buf_clear(&worker->events);
    }
}

void
writ_workers_done(
    struct writ_workers *workers, struct writ_open_step *step, struct writ_view expired)
{
    struct worker *worker = step->owner;
    uint64_t ticket = 0;

    if (worker == NULL) {
        TAILQ_REMOVE(&workers->refused, step, mine);
        return;
    }
    TAILQ_REMOVE(&worker->steps, step, mine);
    step->owner = NULL;
    if (step->sent && expired.ptr != NULL && worker->child != NULL) {
        WRIT_IGNORE(
            writ_child_send(worker->child, expired, &ticket)); /* learns of it if it reads */
    }
}

void
writ_workers_stop(struct writ_workers *workers)
{
    struct worker *worker;

    workers->stopping = true;
    TAILQ_FOREACH(worker, &workers->list, link)
    {
        if (worker->child != NULL) {
            writ_child_stop(worker->child);
        }
    }
    writ_loop_defer(workers->options.loop, &workers->task, WRIT_LOOP_SOON);
}
