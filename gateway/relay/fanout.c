/* fanout.c - one leg for each upstream, each with timers of its own. `done` is called exactly once,
 * when no leg is open. Only ungoverned messages go through here, so a leg may be sent again. */
#include "gateway/relay/fanout.h"

#include "gateway/request/client_stream.h"
#include "gateway/call/inspect.h"
#include "gateway/request/finish.h"
#include "gateway/review/meet.h"
#include "gateway/mcp/meta_namespace.h"
#include "gateway/relay/pass.h"
#include "gateway/request/refusal.h"

#include "base/id.h"
#include "evidence/json/write.h"

#define MINTED_BYTES 32 /* of randomness in the id of a child's session */

static void
copy_answer(struct writ_leg *leg, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = leg->request;
    struct writ_arena *arena = request->x->arena;
    const struct writ_json_limits limits = writ_mcp_limits(answer->body);

    leg->answer = *answer;
    leg->answer.body = writ_view_copy(answer->body, arena);
    leg->answer.session = writ_view_copy(answer->session, arena);
    leg->answer.content_type = writ_view_copy(answer->content_type, arena);
    leg->answer.retry_after = writ_view_copy(answer->retry_after, arena);
    leg->response = NULL;
    if (answer->end == WRIT_UPCALL_ANSWERED && answer->status < 300 && answer->body.len > 0 &&
        writ_header_has_type(answer->content_type, WRIT_LIT("application/json"))) {
        WRIT_IGNORE(writ_json_read(leg->answer.body, &limits, arena, &leg->response, NULL));
        if (leg->response != NULL && !writ_is_ok(writ_meta_namespace_clear(
                                         &limits, arena, &leg->answer.body, &leg->response))) {
            leg->response = NULL;
        }
    }
    if (leg->response != NULL && request->message.id != NULL &&
        !writ_json_equal(writ_json_get(leg->response, WRIT_LIT("id")), request->message.id)) {
        leg->response = NULL; /* it may belong to another request */
    }
}

static void
end_leg(struct writ_leg *leg)
{
    struct writ_fanout *legs = leg->request->part;

    writ_loop_timer_cancel(&leg->timer);
    if (leg->answer.end == WRIT_UPCALL_TIMEOUT && writ_request_is_merged(leg->request)) {
        writ_upstream_was_silent(leg->upstream, leg->request->worker);
    }
    if (--legs->open == 0) {
        writ_request_continue(leg->request);
    }
}

static bool meet_leg(struct writ_leg *leg);

static void send_leg(struct writ_leg *leg);

/* A fan-out is never governed: it may be sent once more. */
static bool
asks_again(struct writ_leg *leg)
{
    if (leg->cut || leg->rejoined) {
        return false;
    }
    leg->rejoined = true;
    writ_loop_timer_cancel(&leg->timer);
    if (writ_meet_is_late(leg->request, leg->upstream)) {
        return meet_leg(leg);
    }
    send_leg(leg); /* it has joined again meanwhile */
    return true;
}

static void
leg_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_leg *leg = upcall->ctx;
    bool lost = leg->request->message.kind == WRIT_MCP_REQUEST &&
                writ_meet_is_lost(leg->request, leg->upstream, &upcall->request, answer);

    if (lost && asks_again(leg)) {
        return;
    }
    copy_answer(leg, answer);
    if (lost) {
        leg->answer.end = WRIT_UPCALL_BROKEN; /* no answer about its lists */
    }
    if (leg->cut && answer->end == WRIT_UPCALL_CANCELLED) {
        leg->answer.end = WRIT_UPCALL_TIMEOUT;
        writ_metrics_count(leg->request->worker->metrics, WRIT_COUNTER_UPSTREAM_FAILURES, 1);
    }
    end_leg(leg);
}

static const struct writ_upcall_events leg_events = {.end = leg_end};

/* ---- one that says nothing */

/* A client that connects while all children start would get an empty list without one of them. */
static bool
is_waited_for(const struct writ_leg *leg)
{
    const struct writ_upstream_config *config = writ_upstream_config(leg->upstream);
    const struct writ_fanout *legs = leg->request->part;
    int64_t waited_us = writ_loop_now_us(leg->request->worker->loop) - leg->since_us;

    for (size_t i = 0; i < legs->n; i++) {
        if (writ_fanout_result(&legs->legs[i]) != NULL) {
            return false;
        }
    }
    return config->kind == WRIT_UPSTREAM_STDIO && waited_us < config->start_timeout_us &&
           writ_method_route(leg->request->method) == WRIT_ROUTE_HANDSHAKE;
}

/* A server that begins its answer in time gets more time for the rest. */
static void
leg_is_late(struct writ_timer *timer)
{
    struct writ_leg *leg = timer->ctx;
    struct writ_loop *loop = leg->request->worker->loop;

    if (leg->upcall.begun && writ_loop_now_us(loop) < leg->due_us) {
        writ_loop_timer_set(loop, &leg->timer, leg->due_us);
        return;
    }
    if (is_waited_for(leg)) {
        writ_loop_timer_set(loop, &leg->timer,
            writ_loop_now_us(loop) + writ_upstream_config(leg->upstream)->list_timeout_us);
        return;
    }
    leg->cut = true;
    writ_upcall_cancel(&leg->upcall, leg->request->method != WRIT_MCP_INITIALIZE);
}

static void
limit(struct writ_leg *leg)
{
    const struct writ_upstream_config *config = writ_upstream_config(leg->upstream);
    struct writ_upcall_request *request = &leg->upcall.request;
    struct writ_loop *loop = leg->request->worker->loop;
    int64_t now_us = writ_loop_now_us(loop);

    if (!writ_request_is_merged(leg->request)) {
        request->total_us = request->timeout_us;
        return;
    }
    request->timeout_us = config->list_timeout_us;
    request->total_us = WRIT_UPSTREAM_LIST_TIMES * config->list_timeout_us;
    leg->since_us = leg->pages == 0 ? now_us : leg->since_us;
    leg->due_us = now_us + request->total_us;
    if (config->kind == WRIT_UPSTREAM_STDIO) {
        request->timeout_us = request->total_us = config->timeout_us; /* the timer alone decides */
    }
    leg->timer = (struct writ_timer){.fn = leg_is_late, .ctx = leg};
    writ_loop_timer_set(loop, &leg->timer, now_us + config->list_timeout_us);
}

bool
writ_fanout_is_long(const struct writ_leg *leg)
{
    return writ_request_is_merged(leg->request) &&
           writ_loop_now_us(leg->request->worker->loop) - leg->since_us >=
               writ_upstream_config(leg->upstream)->list_timeout_us;
}

static bool
takes_part(struct writ_leg *leg)
{
    const struct writ_request *request = leg->request;

    return request->session == NULL ||
           writ_session_has(request->session, writ_upstream_config(leg->upstream)->name) ||
           (request->message.kind == WRIT_MCP_REQUEST && writ_meet_is_late(request, leg->upstream));
}

/* A session keeps the upstreams with which it was opened, so all of them get its requests.
 * Notifications and the end of a session go to every upstream. */
static bool
is_left_out(struct writ_leg *leg)
{
    const struct writ_request *request = leg->request;

    leg->answer = (struct writ_upcall_answer){.sent = WRIT_NOT_SENT};
    leg->response = NULL;
    if (!writ_request_is_merged(request)) {
        return false;
    }
    if (!takes_part(leg)) {
        return true;
    }
    leg->answer.end = WRIT_UPCALL_TIMEOUT;
    return request->message.kind == WRIT_MCP_REQUEST && request->method != WRIT_MCP_INITIALIZE &&
           !writ_upstream_lets(leg->upstream, request->worker);
}

/* The id of a child's session is known before the child has answered, so that the client's session
 * includes the child also when it starts late. */
static struct writ_view
mint_session(const struct writ_leg *leg)
{
    const struct writ_upstream_config *config = writ_upstream_config(leg->upstream);
    struct writ_buf text = writ_buf_in(leg->request->x->arena, 2 * MINTED_BYTES);
    unsigned char random[MINTED_BYTES];

    if (config->kind != WRIT_UPSTREAM_STDIO || config->sharing != WRIT_SHARING_SESSION ||
        !writ_is_ok(writ_random(random, sizeof random, NULL))) {
        return (struct writ_view){NULL, 0};
    }
    writ_base64url_put(&text, writ_view(random, sizeof random));
    return writ_buf_view(&text);
}

static void
send_leg(struct writ_leg *leg)
{
    leg->upcall = (struct writ_upcall){.events = &leg_events, .ctx = leg};
    if (!writ_is_ok(writ_upcall_request_make(leg->request, leg->upstream,
            leg->request->message.name, leg->headers, &leg->upcall.request))) {
        leg->upcall.request.headers_n = 0;
    }
    leg->upcall.request.body = leg->body;
    if (leg->request->method == WRIT_MCP_INITIALIZE) {
        leg->upcall.request.session = mint_session(leg);
    }
    limit(leg);
    writ_upcall_start(leg->upstream, leg->request->worker, &leg->upcall);
}

/* ---- one that missed the session's initialize */

static void
leg_met(struct writ_late_wait *wait)
{
    struct writ_leg *leg = wait->ctx;

    writ_loop_timer_cancel(&leg->timer);
    if (writ_meet_is_late(leg->request, leg->upstream)) {
        leg->answer = wait->answer;
        end_leg(leg);
    } else {
        send_leg(leg);
    }
}

static void
leg_is_not_met(struct writ_timer *timer)
{
    struct writ_leg *leg = timer->ctx;

    writ_late_leave(&leg->late);
    leg->answer = (struct writ_upcall_answer){.end = WRIT_UPCALL_TIMEOUT, .sent = WRIT_NOT_SENT};
    end_leg(leg);
}

/* False: no memory. */
static bool
meet_leg(struct writ_leg *leg)
{
    const struct writ_upstream_config *config = writ_upstream_config(leg->upstream);
    struct writ_worker *worker = leg->request->worker;

    leg->late = (struct writ_late_wait){.done = leg_met, .ctx = leg};
    if (!writ_is_ok(writ_late_start(worker, leg->request->session, leg->upstream, &leg->late))) {
        return false;
    }
    leg->timer = (struct writ_timer){.fn = leg_is_not_met, .ctx = leg};
    writ_loop_timer_set(
        worker->loop, &leg->timer, writ_loop_now_us(worker->loop) + config->list_timeout_us);
    return true;
}

bool
writ_fanout_ask(struct writ_fanout *legs, struct writ_leg *leg, struct writ_view body)
{
    leg->asking = true;
    leg->body = body;
    if (is_left_out(leg)) {
        return false;
    }
    if (writ_meet_is_late(leg->request, leg->upstream)) {
        leg->answer.end = WRIT_UPCALL_BROKEN;
        if (!meet_leg(leg)) {
            return false;
        }
    } else {
        send_leg(leg);
    }
    legs->open++;
    return true;
}

struct writ_fanout *
writ_fanout_make(struct writ_request *request, size_t from, enum writ_step then)
{
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_upstream *only = request->endpoint->only;
    size_t n = only != NULL ? 1 : gateway->upstreams_n - from;
    struct writ_fanout *legs = writ_arena_get(request->x->arena, sizeof *legs);

    if (legs == NULL) {
        return NULL;
    }
    *legs = (struct writ_fanout){.n = n, .then = then};
    legs->legs = writ_arena_get(request->x->arena, (n + 1) * sizeof *legs->legs);
    if (legs->legs == NULL) {
        return NULL;
    }
    request->part = legs;
    for (size_t i = 0; i < n; i++) {
        legs->legs[i] = (struct writ_leg){.request = request,
            .upstream = only != NULL ? only : gateway->upstreams[from + i],
            .items = writ_buf_make(WRIT_FANOUT_ANSWER_MAX)};
    }
    return legs;
}

enum writ_step
writ_fanout_wait(struct writ_request *request)
{
    const struct writ_fanout *legs = request->part;

    return legs->open > 0 ? writ_request_wait(request, legs->then) : legs->then;
}

enum writ_step
writ_fanout_begin(struct writ_request *request, struct writ_view body, enum writ_step then)
{
    struct writ_fanout *legs = writ_fanout_make(request, 0, then);

    if (legs == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    for (size_t i = 0; i < legs->n; i++) {
        (void)writ_fanout_ask(legs, &legs->legs[i], body); /* ends come in a later turn */
    }
    return writ_fanout_wait(request);
}

bool
writ_fanout_gave_nothing(const struct writ_leg *leg)
{
    const struct writ_upcall_answer *answer = &leg->answer;

    return answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 500 ||
           (answer->status < 300 && writ_fanout_result(leg) == NULL &&
               writ_json_get(leg->response, WRIT_LIT("error")) == NULL);
}

bool
writ_fanout_any_incomplete(const struct writ_fanout *legs)
{
    for (size_t i = 0; i < legs->n; i++) {
        if (legs->legs[i].incomplete) {
            return true;
        }
    }
    return false;
}

void
writ_fanout_put_unavailable(struct writ_write *w, const struct writ_fanout *legs)
{
    if (!writ_fanout_any_incomplete(legs)) {
        return;
    }
    writ_write_name(w, WRIT_LIT("io.writ/unavailable"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < legs->n; i++) {
        if (legs->legs[i].incomplete) {
            writ_write_string(w, writ_upstream_config(legs->legs[i].upstream)->name);
        }
    }
    writ_write_array_end(w);
}

const struct writ_json *
writ_fanout_result(const struct writ_leg *leg)
{
    return writ_json_get(leg->response, WRIT_LIT("result"));
}

void
writ_fanout_wipe(struct writ_request *request)
{
    struct writ_fanout *legs = request->part;

    for (size_t i = 0; i < legs->n; i++) {
        writ_catalog_drop(WRIT_TAKE(legs->legs[i].catalog));
        writ_buf_wipe(&legs->legs[i].items);
        writ_listed_wipe(&legs->legs[i].listed);
    }
}

/* The form in which the endpoint's only upstream answered; with several the gateway chooses. */
static bool
answers_as_stream(const struct writ_request *request)
{
    const struct writ_fanout *legs = request->part;

    return request->endpoint->only != NULL && legs->n == 1 && legs->legs[0].answer.is_stream;
}

enum writ_step
writ_fanout_answer(struct writ_request *request, struct writ_buf *body, struct writ_header more)
{
    const struct writ_header headers[] = {WRIT_HEADER_JSON, more};
    bool good = writ_is_ok(writ_buf_check(body, NULL));

    writ_fanout_wipe(request);
    if (good && answers_as_stream(request)) {
        return writ_client_stream_answer(request, more, writ_buf_view(body));
    }
    return writ_finish_reply(request, good ? 200 : 500, headers, more.name.len > 0 ? 2 : 1,
        good ? writ_buf_view(body) : (struct writ_view){NULL, 0});
}

enum writ_step
writ_fanout_tell(struct writ_request *request, const struct writ_leg *leg)
{
    writ_fanout_wipe(request);
    if (writ_inspect_is_another(request, leg->upstream, &leg->answer)) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    }
    return writ_pass_answer(request, &leg->answer);
}

enum writ_step
writ_fanout_tell_first(struct writ_request *request, struct writ_fanout *legs)
{
    if (legs->n == 0) {
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    return writ_fanout_tell(request, &legs->legs[0]);
}

struct writ_write
writ_fanout_response(struct writ_request *request, struct writ_buf *body)
{
    struct writ_write w = writ_write_to(body);

    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("result"));
    return w;
}
