#include "gateway/legs.h"

#include "gateway/client_stream.h"
#include "gateway/inspect.h"
#include "gateway/ours.h"
#include "gateway/pass.h"
#include "gateway/refusal.h"

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
        if (leg->response != NULL &&
            !writ_is_ok(writ_ours_clear(&limits, arena, &leg->answer.body, &leg->response))) {
            leg->response = NULL;
        }
    }
    if (leg->response != NULL && request->message.id != NULL &&
        !writ_json_equal(writ_json_get(leg->response, WRIT_LIT("id")), request->message.id)) {
        leg->response = NULL; /* it may be somebody else's */
    }
}

static void
leg_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_leg *leg = upcall->ctx;
    struct writ_legs *legs = leg->request->part;

    copy_answer(leg, answer);
    if (--legs->open == 0) {
        legs->done(leg->request, legs);
    }
}

static const struct writ_upcall_events leg_events = {.end = leg_end};

void
writ_legs_ask(struct writ_legs *legs, struct writ_leg *leg, struct writ_view body)
{
    legs->open++;
    leg->asking = true;
    leg->upcall = (struct writ_upcall){.events = &leg_events, .ctx = leg};
    if (!writ_is_ok(writ_upcall_request_make(leg->request, leg->upstream,
            leg->request->message.name, leg->headers, &leg->upcall.request))) {
        leg->upcall.request.headers_n = 0;
    }
    leg->upcall.request.body = body;
    leg->upcall.request.total_us = leg->upcall.request.timeout_us;
    writ_upcall_start(leg->upstream, leg->request->worker, &leg->upcall);
}

struct writ_legs *
writ_legs_make(struct writ_request *request, size_t from,
    void (*done)(struct writ_request *request, struct writ_legs *legs))
{
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_upstream *only = request->endpoint->only;
    size_t n = only != NULL ? 1 : gateway->upstreams_n - from;
    struct writ_legs *legs = writ_arena_get(request->x->arena, sizeof *legs);

    if (legs == NULL) {
        return NULL;
    }
    *legs = (struct writ_legs){.n = n, .done = done};
    legs->legs = writ_arena_get(request->x->arena, (n + 1) * sizeof *legs->legs);
    if (legs->legs == NULL) {
        return NULL;
    }
    request->part = legs;
    for (size_t i = 0; i < n; i++) {
        legs->legs[i] = (struct writ_leg){.request = request,
            .upstream = only != NULL ? only : gateway->upstreams[from + i],
            .items = writ_buf_make(WRIT_LEGS_ANSWER_MAX)};
    }
    return legs;
}

struct writ_legs *
writ_legs_begin(struct writ_request *request, struct writ_view body,
    void (*done)(struct writ_request *request, struct writ_legs *legs))
{
    struct writ_legs *legs = writ_legs_make(request, 0, done);

    for (size_t i = 0; legs != NULL && i < legs->n; i++) {
        writ_legs_ask(legs, &legs->legs[i], body); /* ends come in a later turn */
    }
    return legs;
}

const struct writ_json *
writ_legs_result(const struct writ_leg *leg)
{
    return writ_json_get(leg->response, WRIT_LIT("result"));
}

void
writ_legs_wipe(struct writ_request *request)
{
    struct writ_legs *legs = request->part;

    for (size_t i = 0; i < legs->n; i++) {
        writ_catalog_drop(WRIT_TAKE(legs->legs[i].catalog));
        writ_buf_wipe(&legs->legs[i].items);
        writ_listed_wipe(&legs->legs[i].listed);
    }
}

/* In the form in which the endpoint's only upstream answered; with several it is ours to choose. */
static bool
answers_as_stream(const struct writ_request *request)
{
    const struct writ_legs *legs = request->part;

    return request->endpoint->only != NULL && legs->n == 1 && legs->legs[0].answer.is_stream;
}

void
writ_legs_answer(struct writ_request *request, struct writ_buf *body, struct writ_header more)
{
    struct writ_exchange *x = request->x;
    const struct writ_header headers[] = {WRIT_HEADER_JSON, more};
    bool good = writ_is_ok(writ_buf_check(body, NULL));

    writ_legs_wipe(request);
    if (good && answers_as_stream(request)) {
        writ_client_stream_answer(request, more, writ_buf_view(body));
        return;
    }
    writ_request_finish(request);
    writ_exchange_reply(x, good ? 200 : 500, headers, more.name.len > 0 ? 2 : 1,
        good ? writ_buf_view(body) : (struct writ_view){NULL, 0});
}

void
writ_legs_tell(struct writ_request *request, const struct writ_leg *leg)
{
    writ_legs_wipe(request);
    if (writ_inspect_is_another(request, leg->upstream, &leg->answer)) {
        (void)writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    } else {
        (void)writ_pass_answer(request, &leg->answer);
    }
}

void
writ_legs_tell_first(struct writ_request *request, struct writ_legs *legs)
{
    if (legs->n == 0) {
        (void)writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
        return;
    }
    writ_legs_tell(request, &legs->legs[0]);
}

struct writ_write
writ_legs_response(struct writ_request *request, struct writ_buf *body)
{
    struct writ_write w = writ_write_to(body);

    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("result"));
    return w;
}
