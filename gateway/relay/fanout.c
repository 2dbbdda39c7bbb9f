/* fanout.c - one branch for each upstream, each with timers of its own. `done` is called exactly
 * once, when no branch is open. Only ungoverned messages go through here, so a branch may be sent
 * again. */
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

/* The id of the request that the branch was sent. */
static const struct writ_json *
id_of(const struct writ_branch *branch)
{
    return branch->own ? branch->message.id : branch->request->message.id;
}

static void
copy_answer(struct writ_branch *branch, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = branch->request;
    struct writ_arena *arena = request->x->arena;
    const struct writ_json_limits limits = writ_mcp_limits(answer->body);

    branch->answer = *answer;
    branch->answer.body = writ_view_copy(answer->body, arena);
    branch->answer.session = writ_view_copy(answer->session, arena);
    branch->answer.content_type = writ_view_copy(answer->content_type, arena);
    branch->answer.retry_after = writ_view_copy(answer->retry_after, arena);
    branch->response = NULL;
    if (answer->end == WRIT_UPCALL_ANSWERED && answer->status < 300 && answer->body.len > 0 &&
        writ_header_has_type(answer->content_type, WRIT_LIT("application/json"))) {
        WRIT_IGNORE(writ_json_read(branch->answer.body, &limits, arena, &branch->response, NULL));
        if (branch->response != NULL && !writ_is_ok(writ_meta_namespace_clear(&limits, arena,
                                            &branch->answer.body, &branch->response))) {
            branch->response = NULL;
        }
    }
    if (branch->response != NULL && id_of(branch) != NULL &&
        !writ_json_equal(writ_json_get(branch->response, WRIT_LIT("id")), id_of(branch))) {
        branch->response = NULL; /* it may belong to another request */
    }
}

static void
end_branch(struct writ_branch *branch)
{
    struct writ_fanout *fanout = branch->request->part;

    writ_loop_timer_cancel(&branch->timer);
    if (branch->answer.end == WRIT_UPCALL_TIMEOUT && writ_request_is_merged(branch->request)) {
        writ_upstream_was_silent(branch->upstream, branch->request->worker);
    }
    if (--fanout->open == 0) {
        writ_request_continue(branch->request);
    }
}

static bool meet_branch(struct writ_branch *branch);

static bool send_branch(struct writ_branch *branch);

/* A fan-out is never governed: it may be sent once more. */
static bool
asks_again(struct writ_branch *branch)
{
    if (branch->cut || branch->rejoined) {
        return false;
    }
    branch->rejoined = true;
    writ_loop_timer_cancel(&branch->timer);
    if (writ_meet_is_late(branch->request, branch->upstream)) {
        return meet_branch(branch);
    }
    return send_branch(branch); /* it has joined again meanwhile */
}

static void
branch_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_branch *branch = upcall->ctx;
    bool lost = branch->request->message.kind == WRIT_MCP_REQUEST &&
                writ_meet_is_lost(branch->request, branch->upstream, &upcall->request, answer);

    if (lost && asks_again(branch)) {
        return;
    }
    copy_answer(branch, answer);
    if (lost) {
        branch->answer.end = WRIT_UPCALL_BROKEN; /* no answer about its lists */
    }
    if (branch->cut && answer->end == WRIT_UPCALL_CANCELLED) {
        branch->answer.end = WRIT_UPCALL_TIMEOUT;
        writ_metrics_count(branch->request->worker->metrics, WRIT_COUNTER_UPSTREAM_FAILURES, 1);
    }
    end_branch(branch);
}

static const struct writ_upcall_events branch_events = {.end = branch_end};

/* ---- one that says nothing */

/* A client that connects while all children start would get an empty list without one of them. */
static bool
is_waited_for(const struct writ_branch *branch)
{
    const struct writ_upstream_config *config = writ_upstream_config(branch->upstream);
    const struct writ_fanout *fanout = branch->request->part;
    int64_t waited_us = writ_loop_now_us(branch->request->worker->loop) - branch->since_us;

    for (size_t i = 0; i < fanout->n; i++) {
        if (writ_fanout_result(&fanout->branches[i]) != NULL) {
            return false;
        }
    }
    return config->kind == WRIT_UPSTREAM_STDIO && waited_us < config->start_timeout_us &&
           writ_method_route(branch->request->method) == WRIT_ROUTE_HANDSHAKE;
}

/* A server that begins its answer in time gets more time for the rest. */
static void
branch_is_late(struct writ_timer *timer)
{
    struct writ_branch *branch = timer->ctx;
    struct writ_loop *loop = branch->request->worker->loop;

    if (branch->upcall.begun && writ_loop_now_us(loop) < branch->due_us) {
        writ_loop_timer_set(loop, &branch->timer, branch->due_us);
        return;
    }
    if (is_waited_for(branch)) {
        writ_loop_timer_set(loop, &branch->timer,
            writ_loop_now_us(loop) + writ_upstream_config(branch->upstream)->list_timeout_us);
        return;
    }
    branch->cut = true;
    writ_upcall_cancel(&branch->upcall, branch->request->method != WRIT_MCP_INITIALIZE);
}

static void
limit(struct writ_branch *branch)
{
    const struct writ_upstream_config *config = writ_upstream_config(branch->upstream);
    struct writ_upcall_request *request = &branch->upcall.request;
    struct writ_loop *loop = branch->request->worker->loop;
    int64_t now_us = writ_loop_now_us(loop);

    if (!writ_request_is_merged(branch->request)) {
        request->total_us = request->timeout_us;
        return;
    }
    request->timeout_us = config->list_timeout_us;
    request->total_us = WRIT_UPSTREAM_LIST_TIMES * config->list_timeout_us;
    branch->since_us = branch->pages == 0 ? now_us : branch->since_us;
    branch->due_us = now_us + request->total_us;
    if (config->kind == WRIT_UPSTREAM_STDIO) {
        request->timeout_us = request->total_us = config->timeout_us; /* the timer alone decides */
    }
    branch->timer = (struct writ_timer){.fn = branch_is_late, .ctx = branch};
    writ_loop_timer_set(loop, &branch->timer, now_us + config->list_timeout_us);
}

bool
writ_fanout_is_long(const struct writ_branch *branch)
{
    return writ_request_is_merged(branch->request) &&
           writ_loop_now_us(branch->request->worker->loop) - branch->since_us >=
               writ_upstream_config(branch->upstream)->list_timeout_us;
}

static bool
takes_part(struct writ_branch *branch)
{
    const struct writ_request *request = branch->request;

    return request->session == NULL ||
           writ_session_has(request->session, writ_upstream_config(branch->upstream)->name) ||
           (request->message.kind == WRIT_MCP_REQUEST &&
               writ_meet_is_late(request, branch->upstream));
}

/* A session keeps the upstreams with which it was opened, so all of them get its requests.
 * Notifications and the end of a session go to every upstream. */
static bool
is_left_out(struct writ_branch *branch)
{
    const struct writ_request *request = branch->request;

    branch->answer = (struct writ_upcall_answer){.sent = WRIT_NOT_SENT};
    branch->response = NULL;
    if (!writ_request_is_merged(request)) {
        return false;
    }
    if (!takes_part(branch)) {
        return true;
    }
    branch->answer.end = WRIT_UPCALL_TIMEOUT;
    return request->message.kind == WRIT_MCP_REQUEST && request->method != WRIT_MCP_INITIALIZE &&
           !writ_upstream_lets(branch->upstream, request->worker);
}

/* The id of a child's session is known before the child has answered, so that the client's session
 * includes the child also when it starts late. */
static struct writ_view
mint_session(const struct writ_branch *branch)
{
    const struct writ_upstream_config *config = writ_upstream_config(branch->upstream);
    struct writ_buf text = writ_buf_in(branch->request->x->arena, 2 * MINTED_BYTES);
    unsigned char random[MINTED_BYTES];

    if (config->kind != WRIT_UPSTREAM_STDIO || config->sharing != WRIT_SHARING_SESSION ||
        !writ_is_ok(writ_random(random, sizeof random, NULL))) {
        return (struct writ_view){NULL, 0};
    }
    writ_base64url_put(&text, writ_view(random, sizeof random));
    return writ_buf_view(&text);
}

static WRIT_RESULT
make_request(struct writ_branch *branch)
{
    struct writ_upcall_request *ret = &branch->upcall.request;

    if (branch->headers == NULL) {
        branch->headers = writ_arena_get(
            branch->request->x->arena, WRIT_UPCALL_HEADERS_MAX * sizeof *branch->headers);
    }
    if (branch->headers == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (branch->own) {
        return writ_upcall_request_own(branch->request, branch->upstream, branch->body,
            &branch->message, branch->headers, ret);
    }
    return writ_upcall_request_make(
        branch->request, branch->upstream, branch->request->message.name, branch->headers, ret);
}

/* False: memory is exhausted, and nothing was sent. */
static bool
send_branch(struct writ_branch *branch)
{
    branch->upcall = (struct writ_upcall){.events = &branch_events, .ctx = branch};
    if (!writ_is_ok(make_request(branch))) {
        branch->answer =
            (struct writ_upcall_answer){.end = WRIT_UPCALL_BROKEN, .sent = WRIT_NOT_SENT};
        return false;
    }
    branch->upcall.request.body = branch->body;
    if (branch->request->method == WRIT_MCP_INITIALIZE) {
        branch->upcall.request.session = mint_session(branch);
    }
    limit(branch);
    writ_upcall_start(branch->upstream, branch->request->worker, &branch->upcall);
    return true;
}

/* ---- one that missed the session's initialize */

static void
branch_met(struct writ_late_wait *wait)
{
    struct writ_branch *branch = wait->ctx;

    writ_loop_timer_cancel(&branch->timer);
    if (writ_meet_is_late(branch->request, branch->upstream)) {
        branch->answer = wait->answer;
        end_branch(branch);
    } else if (!send_branch(branch)) {
        end_branch(branch);
    }
}

static void
branch_is_not_met(struct writ_timer *timer)
{
    struct writ_branch *branch = timer->ctx;

    writ_late_leave(&branch->late);
    branch->answer = (struct writ_upcall_answer){.end = WRIT_UPCALL_TIMEOUT, .sent = WRIT_NOT_SENT};
    end_branch(branch);
}

/* False: no memory. */
static bool
meet_branch(struct writ_branch *branch)
{
    const struct writ_upstream_config *config = writ_upstream_config(branch->upstream);
    struct writ_worker *worker = branch->request->worker;

    branch->late = (struct writ_late_wait){.done = branch_met, .ctx = branch};
    if (!writ_is_ok(
            writ_late_start(worker, branch->request->session, branch->upstream, &branch->late))) {
        return false;
    }
    branch->timer = (struct writ_timer){.fn = branch_is_not_met, .ctx = branch};
    writ_loop_timer_set(
        worker->loop, &branch->timer, writ_loop_now_us(worker->loop) + config->list_timeout_us);
    return true;
}

bool
writ_fanout_ask(struct writ_fanout *fanout, struct writ_branch *branch, struct writ_view body)
{
    branch->asking = true;
    branch->body = body;
    if (is_left_out(branch)) {
        return false;
    }
    if (writ_meet_is_late(branch->request, branch->upstream)) {
        branch->answer.end = WRIT_UPCALL_BROKEN;
        if (!meet_branch(branch)) {
            return false;
        }
    } else if (!send_branch(branch)) {
        return false;
    }
    fanout->open++;
    return true;
}

bool
writ_fanout_ask_own(struct writ_fanout *fanout, struct writ_branch *branch, struct writ_view body)
{
    branch->own = true;
    return writ_fanout_ask(fanout, branch, body);
}

struct writ_fanout *
writ_fanout_make(struct writ_request *request, size_t from, enum writ_step then)
{
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_upstream *only = request->endpoint->only;
    size_t n = only != NULL ? 1 : gateway->upstreams_n - from;
    struct writ_fanout *fanout = writ_arena_get(request->x->arena, sizeof *fanout);

    if (fanout == NULL) {
        return NULL;
    }
    *fanout = (struct writ_fanout){.n = n, .then = then};
    fanout->branches = writ_arena_get(request->x->arena, (n + 1) * sizeof *fanout->branches);
    if (fanout->branches == NULL) {
        return NULL;
    }
    request->part = fanout;
    for (size_t i = 0; i < n; i++) {
        fanout->branches[i] = (struct writ_branch){.request = request,
            .upstream = only != NULL ? only : gateway->upstreams[from + i],
            .items = writ_buf_make(WRIT_FANOUT_ANSWER_MAX)};
    }
    return fanout;
}

enum writ_step
writ_fanout_wait(struct writ_request *request)
{
    const struct writ_fanout *fanout = request->part;

    return fanout->open > 0 ? writ_request_wait(request, fanout->then) : fanout->then;
}

enum writ_step
writ_fanout_begin(struct writ_request *request, struct writ_view body, enum writ_step then)
{
    struct writ_fanout *fanout = writ_fanout_make(request, 0, then);

    if (fanout == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    for (size_t i = 0; i < fanout->n; i++) {
        (void)writ_fanout_ask(fanout, &fanout->branches[i], body); /* ends come in a later turn */
    }
    return writ_fanout_wait(request);
}

bool
writ_fanout_gave_nothing(const struct writ_branch *branch)
{
    const struct writ_upcall_answer *answer = &branch->answer;

    return answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 500 ||
           (answer->status < 300 && writ_fanout_result(branch) == NULL &&
               writ_json_get(branch->response, WRIT_LIT("error")) == NULL);
}

bool
writ_fanout_any_incomplete(const struct writ_fanout *fanout)
{
    for (size_t i = 0; i < fanout->n; i++) {
        if (fanout->branches[i].incomplete) {
            return true;
        }
    }
    return false;
}

void
writ_fanout_put_unavailable(struct writ_write *w, const struct writ_fanout *fanout)
{
    if (!writ_fanout_any_incomplete(fanout)) {
        return;
    }
    writ_write_name(w, WRIT_LIT("io.writ/unavailable"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < fanout->n; i++) {
        if (fanout->branches[i].incomplete) {
            writ_write_string(w, writ_upstream_config(fanout->branches[i].upstream)->name);
        }
    }
    writ_write_array_end(w);
}

const struct writ_json *
writ_fanout_result(const struct writ_branch *branch)
{
    return writ_json_get(branch->response, WRIT_LIT("result"));
}

void
writ_fanout_wipe(struct writ_request *request)
{
    struct writ_fanout *fanout = request->part;

    for (size_t i = 0; i < fanout->n; i++) {
        writ_catalog_drop(WRIT_TAKE(fanout->branches[i].catalog));
        writ_buf_wipe(&fanout->branches[i].items);
        writ_listed_wipe(&fanout->branches[i].listed);
    }
}

/* The form in which the endpoint's only upstream answered; with several the gateway chooses. */
static bool
answers_as_stream(const struct writ_request *request)
{
    const struct writ_fanout *fanout = request->part;

    return request->endpoint->only != NULL && fanout->n == 1 &&
           fanout->branches[0].answer.is_stream;
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
writ_fanout_tell(struct writ_request *request, const struct writ_branch *branch)
{
    writ_fanout_wipe(request);
    if (writ_inspect_is_another(request, branch->upstream, &branch->answer)) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    }
    return writ_pass_answer(request, &branch->answer);
}

enum writ_step
writ_fanout_tell_first(struct writ_request *request, struct writ_fanout *fanout)
{
    if (fanout->n == 0) {
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    return writ_fanout_tell(request, &fanout->branches[0]);
}

void
writ_fanout_response(const struct writ_request *request, struct writ_write *w)
{
    writ_mcp_open(w, request->message.id);
    writ_write_name(w, WRIT_LIT("result"));
}
