/* request.c - walks a request through its steps until one waits or ends it. A request is answered
 * once; when the ledger returns its entry, the request continues on its loop. */
#include "gateway/request/request.h"

#include "gateway/request/trace.h"

#include "gateway/upstream/client_env.h"

#define REQUEST_MAGIC 0x77726571u /* "wreq" */

static bool
is_end(enum writ_step step)
{
    return step == WRIT_STEP_WAIT || step == WRIT_STEP_DONE;
}

static void
log_broken(struct writ_log *log, enum writ_step from, enum writ_step to)
{
    WRIT_LOG(log, WRIT_EVENT_STEP_BROKEN, writ_log_str("from", writ_step_name(from)),
        writ_log_str("to", writ_step_name(to)));
}

static bool
is_allowed(struct writ_log *log, enum writ_step from, enum writ_step to)
{
    if (!writ_step_leads_to(from, to)) {
        log_broken(log, from, to);
        return false;
    }
    return true;
}

/* The request is in a state that its steps do not expect. Its open operation comes back here
 * first. */
static enum writ_step
give_up(struct writ_request *request)
{
    request->drive.broken = request->drive.away || request->forward.open;
    if (!request->drive.broken) {
        writ_loop_timer_cancel(&request->timer);
        return request->worker->gateway->steps->give_up(request);
    }
    if (request->forward.open) {
        writ_upcall_cancel(&request->forward.upcall, false);
    }
    return WRIT_STEP_WAIT;
}

/* After a WAIT or DONE the request may be freed: it is not touched. */
static void
run(struct writ_request *request, enum writ_step step)
{
    const struct writ_gateway *gateway = request->worker->gateway;

    while (!is_end(step)) {
        enum writ_step next;

        request->drive.at = step;
        request->drive.next = WRIT_STEP_DONE;
        next = gateway->steps->fn[step](request);
        step = is_allowed(gateway->log, step, next) || is_end(next) ? next : give_up(request);
    }
}

enum writ_step
writ_request_wait(struct writ_request *request, enum writ_step next)
{
    request->drive.next = next;
    writ_trace_wait(request->trace, request->drive.at, writ_loop_now_us(request->x->loop));
    return WRIT_STEP_WAIT;
}

void
writ_request_continue(struct writ_request *request)
{
    enum writ_step step = request->drive.next;

    WRIT_INVARIANT(request->magic == REQUEST_MAGIC);
    writ_trace_continue(request->trace, writ_loop_now_us(request->x->loop));
    if (!request->drive.broken && is_end(step)) {
        log_broken(
            request->worker->gateway->log, request->drive.at, step); /* it waits for nothing */
    }
    if (request->drive.broken || is_end(step) ||
        !is_allowed(request->worker->gateway->log, request->drive.at, step)) {
        step = give_up(request);
    }
    run(request, step);
}

void
writ_request_start(struct writ_exchange *x, void *ctx)
{
    const struct writ_endpoint *endpoint = ctx;
    struct writ_worker *worker = writ_gateway_worker(endpoint->gateway, x->loop);
    struct writ_request *request = writ_arena_get(x->arena, sizeof *request);

    if (request == NULL) {
        endpoint->kind->overloaded(x);
        return;
    }
    *request = (struct writ_request){
        .magic = REQUEST_MAGIC,
        .x = x,
        .worker = worker,
        .generation = writ_generation_hold(worker->generation),
        .endpoint = endpoint,
    };
    request->trace = writ_trace_new(worker->gateway->telemetry, worker->index, x->arena);
    x->user = request;
    run(request, WRIT_STEP_AUTHENTICATE);
}

enum writ_step
writ_request_answer(struct writ_request *request)
{
    return request->endpoint->kind->answer(request);
}

bool
writ_request_is_merged(const struct writ_request *request)
{
    return request->endpoint->only == NULL && request->worker->gateway->upstreams_n > 1;
}

const struct writ_config *
writ_request_config(const struct writ_request *request)
{
    return request->generation->config;
}

struct writ_view
writ_request_environment(const struct writ_request *request)
{
    return request->x->peer->same_user
               ? writ_exchange_header(request->x, WRIT_LIT(WRIT_CLIENT_ENV_FIELD))
               : writ_view(NULL, 0);
}

struct writ_view
writ_request_wait_name(enum writ_wait_kind kind)
{
    switch (kind) {
    case WRIT_WAIT_INPUT:
        return WRIT_LIT("input");
    case WRIT_WAIT_TASK:
        return WRIT_LIT("task");
    case WRIT_WAIT_BIND:
        return WRIT_LIT("bind");
    case WRIT_WAIT_RUN:
        return WRIT_LIT("outcome");
    case WRIT_WAIT_NONE:
        break;
    }
    return writ_view(NULL, 0);
}

bool
writ_request_may_pass(const struct writ_request *request)
{
    return request->call->verdict.answer == WRIT_POLICY_ALLOW ||
           request->call->shadowed != WRIT_REASON_NONE;
}

static void
go_together(struct writ_task *task)
{
    struct writ_request *request = task->ctx;

    request->drive.away = false;
    writ_request_continue(request);
}

void
writ_request_continue_later(struct writ_request *request)
{
    if (request->drive.away) {
        return;
    }
    request->drive.away = true;
    request->drive.turn = (struct writ_task){.fn = go_together, .ctx = request};
    writ_loop_defer(request->worker->loop, &request->drive.turn, WRIT_LOOP_SOON);
}

enum writ_step
writ_request_together(struct writ_request *request, enum writ_step next)
{
    (void)writ_request_wait(request, next);
    writ_trace_wait_turn(request->trace);
    writ_request_continue_later(request);
    return WRIT_STEP_WAIT;
}

/* A review waits for people and a subscription for agents, not for the disk. */
static bool
waits_for_ledger(const struct writ_entry *entry)
{
    return entry->kind != WRIT_ENTRY_REVIEW_AWAIT && entry->kind != WRIT_ENTRY_POOL_WATCH;
}

void
writ_request_count_outcome(const struct writ_request *request, const struct writ_entry *entry)
{
    enum writ_outcome_kind kind;

    if (entry->kind == WRIT_ENTRY_OUTCOME && entry->code != WRIT_E_INVALID &&
        writ_outcome_kind_of(entry->outcome.outcome, &kind)) {
        writ_metrics_mark(request->x->metrics, WRIT_VECTOR_OUTCOMES, kind);
    }
}

static void
back_on_loop(struct writ_post *post)
{
    struct writ_request *request = post->ctx;

    request->drive.away = false;
    writ_request_count_outcome(request, &request->entry);
    if (request->entry.code == WRIT_OK && request->entry.kind != WRIT_ENTRY_SESSION_GET &&
        waits_for_ledger(&request->entry)) {
        writ_metrics_observe(request->x->metrics, WRIT_HISTOGRAM_LEDGER_SECONDS,
            writ_loop_now_us(request->x->loop) - request->drive.submitted_us);
    }
    writ_request_continue(request);
}

/* On the writer's thread: reads nothing. The loops are nudged when all of a group are done. */
static void
entry_done(struct writ_entry *entry)
{
    struct writ_request *request = entry->user;

    writ_loop_leave(request->worker->loop, &request->drive.post);
}

enum writ_step
writ_request_submit(struct writ_request *request, enum writ_step next)
{
    request->drive.away = true;
    request->drive.submitted_us = writ_loop_now_us(request->x->loop);
    request->entry.done = entry_done;
    request->entry.user = request;
    request->entry.arena = request->x->arena;
    request->drive.post = (struct writ_post){.fn = back_on_loop, .ctx = request};
    (void)writ_request_wait(request, next);
    if (waits_for_ledger(&request->entry)) {
        writ_trace_wait_ledger(request->trace);
    }
    writ_worker_submit(request->worker, &request->entry);
    return WRIT_STEP_WAIT;
}

static void
back_from_look(struct writ_post *post)
{
    struct writ_request *request = post->ctx;

    request->drive.away = false;
    writ_request_continue(request);
}

void
writ_request_park(struct writ_request *request, enum writ_step next)
{
    request->drive.post = (struct writ_post){.fn = back_from_look, .ctx = request};
    request->drive.away = true;
    (void)writ_request_wait(request, next);
}

WRIT_RESULT
writ_request_look(struct writ_request *request,
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader), void *ctx,
    enum writ_step next)
{
    request->drive.lookup = (struct writ_lookup){.work = work, .ctx = ctx};
    request->drive.post = (struct writ_post){.fn = back_from_look, .ctx = request};
    WRIT_TRY(writ_ledger_query_ask(request->worker->gateway->lookups, &request->drive.lookup));
    request->drive.away = true; /* the loop takes no answer before this returns */
    (void)writ_request_wait(request, next);
    return WRIT_DONE;
}

void
writ_request_looked(struct writ_request *request)
{
    writ_loop_answer(request->worker->loop, &request->drive.post);
}
