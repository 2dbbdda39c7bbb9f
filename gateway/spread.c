/* spread.c - SPREAD: lists merged and filtered, notices to all, a resource to whoever has it. */
#include "gateway/spread.h"

#include "gateway/client_stream.h"
#include "gateway/cursor.h"
#include "gateway/inspect.h"
#include "gateway/learn.h"
#include "gateway/ours.h"
#include "gateway/pass.h"
#include "gateway/refusal.h"
#include "gateway/wire.h"

#include "evidence/write.h"

#define ANSWER_MAX   (64u << 20)
#define PAGES_ENOUGH 64         /* of one upstream's list, in one answer */
#define BYTES_ENOUGH (4u << 20) /* the same */

#define CODE_INTERNAL       (-32603)
#define CODE_INVALID_PARAMS (-32602)

/* ---- legs ---- */

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
writ_spread_again(struct writ_legs *legs, struct writ_leg *leg, struct writ_view body)
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

/* A leg for every upstream of the endpoint, from the `from`-th on; none is started. */
static struct writ_legs *
make_legs(struct writ_request *request, size_t from,
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
            .items = writ_buf_make(ANSWER_MAX)};
    }
    return legs;
}

struct writ_legs *
writ_spread_begin(struct writ_request *request, struct writ_view body,
    void (*done)(struct writ_request *request, struct writ_legs *legs))
{
    struct writ_legs *legs = make_legs(request, 0, done);

    for (size_t i = 0; legs != NULL && i < legs->n; i++) {
        writ_spread_again(legs, &legs->legs[i], body); /* ends come in a later turn */
    }
    return legs;
}

const struct writ_json *
writ_spread_result(const struct writ_leg *leg)
{
    return writ_json_get(leg->response, WRIT_LIT("result"));
}

static void
wipe_items(struct writ_request *request)
{
    struct writ_legs *legs = request->part;

    for (size_t i = 0; i < legs->n; i++) {
        writ_catalog_drop(WRIT_TAKE(legs->legs[i].catalog));
        writ_buf_wipe(&legs->legs[i].items);
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
writ_spread_answer(struct writ_request *request, struct writ_buf *body, struct writ_header more)
{
    struct writ_exchange *x = request->x;
    const struct writ_header headers[] = {WRIT_HEADER_JSON, more};
    bool good = writ_is_ok(writ_buf_check(body, NULL));

    wipe_items(request);
    if (good && answers_as_stream(request)) {
        writ_client_stream_answer(request, more, writ_buf_view(body));
        return;
    }
    writ_request_finish(request);
    writ_exchange_reply(x, good ? 200 : 500, headers, more.name.len > 0 ? 2 : 1,
        good ? writ_buf_view(body) : (struct writ_view){NULL, 0});
}

void
writ_spread_tell(struct writ_request *request, const struct writ_leg *leg)
{
    if (writ_inspect_is_another(request, leg->upstream, &leg->answer)) {
        (void)writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    } else {
        (void)writ_pass_answer(request, &leg->answer);
    }
}

/* No upstream gave what was asked for: the first one's own answer is passed on as it is. */
static void
answer_first(struct writ_request *request, struct writ_legs *legs)
{
    wipe_items(request);
    if (legs->n == 0) {
        (void)writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
        return;
    }
    writ_spread_tell(request, &legs->legs[0]);
}

static struct writ_write
response_begin(struct writ_request *request, struct writ_buf *body)
{
    struct writ_write w = writ_write_to(body);

    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("result"));
    return w;
}

/* ---- lists ---- */

static struct writ_view
list_member(enum writ_mcp_method method)
{
    if (method == WRIT_MCP_TOOLS_LIST) {
        return WRIT_LIT("tools");
    }
    if (method == WRIT_MCP_PROMPTS_LIST) {
        return WRIT_LIT("prompts");
    }
    return method == WRIT_MCP_RESOURCES_LIST ? WRIT_LIT("resources")
                                             : WRIT_LIT("resourceTemplates");
}

/* A list shows only what the caller may call. */
static bool
is_shown(const struct writ_leg *leg, const struct writ_json *item)
{
    struct writ_request *request = leg->request;
    struct writ_view name = writ_json_string(writ_json_get(item, WRIT_LIT("name")));
    struct writ_view upstream = writ_upstream_config(leg->upstream)->name;
    const struct writ_tool_rule *rule;
    struct writ_digest digest;
    bool known;

    if (request->method != WRIT_MCP_TOOLS_LIST) {
        return true;
    }
    known = writ_is_ok(writ_learn_notice(request, leg->upstream, item, &digest));
    rule = writ_policy_find(writ_request_config(request), &request->agent, upstream, name, NULL);
    return rule != NULL && (rule->shadow || writ_learn_judge(request, rule, upstream, name,
                                                known ? &digest : NULL) == WRIT_REASON_NONE);
}

static bool
is_renamed(const struct writ_request *request)
{
    return request->endpoint->only == NULL &&
           (request->method == WRIT_MCP_TOOLS_LIST || request->method == WRIT_MCP_PROMPTS_LIST);
}

static void
put_wire_name(const struct writ_leg *leg, struct writ_view own, struct writ_buf *ret)
{
    struct writ_view separator = writ_request_config(leg->request)->separator;
    struct writ_view upstream = writ_upstream_config(leg->upstream)->name;

    if (leg->request->method == WRIT_MCP_TOOLS_LIST) {
        writ_wire_put_tool(separator, upstream, own, ret);
    } else {
        writ_wire_join(separator, upstream, own, ret);
    }
}

/* Whose a resource is. */
static void
note_owner(const struct writ_leg *leg, const struct writ_json *item)
{
    bool template = leg->request->method == WRIT_MCP_TEMPLATES_LIST;
    struct writ_view uri =
        writ_json_string(writ_json_get(item, template ? WRIT_LIT("uriTemplate") : WRIT_LIT("uri")));

    if (template || leg->request->method == WRIT_MCP_RESOURCES_LIST) {
        writ_owners_note(
            leg->request->worker->gateway->owners, uri, writ_upstream_index(leg->upstream));
    }
}

static void
put_item(struct writ_leg *leg, const struct writ_json *item)
{
    struct writ_write w;
    const struct writ_limits *limits = &writ_request_config(leg->request)->limits;
    writ_auto_buf wire = writ_buf_make((size_t)limits->response_bytes + 64); /* holds any name */

    if (leg->items_n++ > 0) {
        writ_buf_byte(&leg->items, ',');
    }
    w = writ_write_to(&leg->items);
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, item)
    {
        writ_write_name(&w, writ_json_string(name));
        if (is_renamed(leg->request) && writ_view_is(writ_json_string(name), "name")) {
            put_wire_name(leg, writ_json_string(writ_json_value(name)), &wire);
            writ_write_string(&w, writ_buf_view(&wire));
        } else {
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

/* A definition that cannot be learned makes the list of tools one that was not seen whole. */
static void
learn_item(struct writ_leg *leg, const struct writ_json *item)
{
    writ_result r;

    if (leg->catalog == NULL) {
        return;
    }
    r = writ_catalog_add(leg->catalog, item);
    if (!writ_is_ok(r) && r.code != WRIT_E_INVALID && r.code != WRIT_E_PARSE) {
        writ_catalog_drop(WRIT_TAKE(leg->catalog));
    }
}

/* A list of tools that passed whole is learned. */
static void
learn_list(struct writ_leg *leg)
{
    struct writ_shelf *shelf = writ_upstream_shelf(leg->upstream);

    if (leg->catalog == NULL || leg->incomplete || leg->next.ptr != NULL || leg->pages == 0) {
        return;
    }
    writ_catalog_seal(leg->catalog);
    writ_shelf_put(shelf, WRIT_TAKE(leg->catalog));
    writ_shelf_settle(shelf, leg->doubts, leg->stale_us);
}

static void
take_page(struct writ_leg *leg, const struct writ_json *result)
{
    const struct writ_json *items =
        writ_json_get_typed(result, list_member(leg->request->method), WRIT_JSON_ARRAY);

    WRIT_JSON_EACH(item, items)
    {
        learn_item(leg, item);
        if (writ_json_type(item) == WRIT_JSON_OBJECT && is_shown(leg, item)) {
            put_item(leg, item);
            note_owner(leg, item);
        }
    }
}

/* The same request with another cursor. */
static struct writ_view
page_body(struct writ_request *request, struct writ_view cursor)
{
    writ_auto_buf body = writ_buf_make(request->x->body.len * 2 + cursor.len + 4096);
    struct writ_write w = writ_write_to(&body);

    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("method"));
    writ_write_string(&w, request->message.method);
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, request->message.params)
    {
        if (!writ_view_is(writ_json_string(name), "cursor")) {
            writ_write_name(&w, writ_json_string(name));
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    if (cursor.ptr != NULL) {
        writ_write_name(&w, WRIT_LIT("cursor"));
        writ_write_string(&w, cursor);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_is_ok(writ_write_end(&w, NULL))
               ? writ_view_copy(writ_buf_view(&body), request->x->arena)
               : (struct writ_view){NULL, 0};
}

static void
ask_next_page(struct writ_legs *legs, struct writ_leg *leg, const struct writ_json *result)
{
    const struct writ_json *cursor = writ_json_get(result, WRIT_LIT("nextCursor"));
    struct writ_view body = {NULL, 0};

    if (cursor == NULL || writ_json_type(cursor) == WRIT_JSON_NULL) {
        return;
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING &&
        (leg->pages >= PAGES_ENOUGH || leg->items.len >= BYTES_ENOUGH)) {
        leg->next = writ_json_string(cursor); /* in the arena */
        return;
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING) {
        body = page_body(leg->request, writ_json_string(cursor));
    }
    if (body.ptr != NULL) {
        writ_spread_again(legs, leg, body);
    } else {
        leg->incomplete = true;
    }
}

/* What the first upstream said beside its list; a filtered list is nobody else's. */
static void
put_others(struct writ_write *w, const struct writ_request *request, const struct writ_json *result)
{
    WRIT_JSON_EACH(name, result)
    {
        struct writ_view key = writ_json_string(name);
        if (writ_view_equal(key, list_member(request->method)) ||
            (request->endpoint->only == NULL &&
                (writ_view_is(key, "nextCursor") || writ_view_is(key, "ttlMs"))) ||
            writ_view_is(key, "cacheScope") || writ_view_is(key, "_meta")) {
            continue;
        }
        writ_write_name(w, key);
        writ_write_verbatim(w, writ_json_value(name));
    }
    if (request->message.era == WRIT_MCP_ERA_MODERN ||
        writ_json_get(result, WRIT_LIT("cacheScope")) != NULL) {
        writ_write_name(w, WRIT_LIT("cacheScope"));
        writ_write_string(w, WRIT_LIT("private"));
    }
}

static bool
any_incomplete(const struct writ_legs *legs)
{
    for (size_t i = 0; i < legs->n; i++) {
        if (legs->legs[i].incomplete) {
            return true;
        }
    }
    return false;
}

/* An upstream whose list is not there, or not whole, is named; it does not break the list of the
 * others. */
static void
put_list_meta(struct writ_write *w, const struct writ_legs *legs)
{
    const struct writ_json *meta =
        writ_json_get_typed(legs->first, WRIT_LIT("_meta"), WRIT_JSON_OBJECT);
    bool missing = any_incomplete(legs);

    if (meta == NULL && !missing) {
        return;
    }
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, meta)
    {
        writ_write_name(w, writ_json_string(name));
        writ_write_verbatim(w, writ_json_value(name));
    }
    if (missing) {
        writ_write_name(w, WRIT_LIT("io.writ/unavailable"));
        writ_write_array_begin(w);
        for (size_t i = 0; i < legs->n; i++) {
            if (legs->legs[i].incomplete) {
                writ_write_string(w, writ_upstream_config(legs->legs[i].upstream)->name);
            }
        }
        writ_write_array_end(w);
    }
    writ_write_object_end(w);
}

/* Where the list goes on: at the first leg that is not told to its end. Those behind it wait for
 * their turn. Gives how many legs are told here. */
static size_t
cut_list(struct writ_legs *legs, struct writ_buf *ret_cursor)
{
    for (size_t i = 0; i < legs->n; i++) {
        struct writ_leg *leg = &legs->legs[i];
        if (leg->next.ptr == NULL) {
            continue;
        }
        writ_cursor_put(writ_upstream_config(leg->upstream)->name, leg->next, ret_cursor);
        if (writ_is_ok(writ_buf_check(ret_cursor, NULL))) {
            return i + 1;
        }
        leg->incomplete = true; /* nobody can go on from there */
        writ_buf_clear(ret_cursor);
    }
    return legs->n;
}

static void
answer_list(struct writ_request *request, struct writ_legs *legs)
{
    writ_auto_buf cursor = writ_buf_make(2 * WRIT_CURSOR_MAX);
    size_t told = cut_list(legs, &cursor);
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    writ_auto_buf items = writ_buf_make(ANSWER_MAX);
    struct writ_write w = response_begin(request, &body);

    writ_buf_byte(&items, '[');
    for (size_t i = 0; i < told; i++) {
        if (legs->legs[i].items.len > 0) {
            writ_buf_str(&items, items.len > 1 ? "," : "");
            writ_buf_put(&items, writ_buf_view(&legs->legs[i].items));
        }
    }
    writ_buf_byte(&items, ']');
    writ_write_object_begin(&w);
    put_others(&w, request, legs->first);
    if (request->endpoint->only == NULL && legs->lives) {
        writ_write_name(&w, WRIT_LIT("ttlMs"));
        writ_write_u64(&w, any_incomplete(legs) ? 0 : (uint64_t)legs->ttl_ms);
    }
    if (cursor.len > 0) {
        writ_write_name(&w, WRIT_LIT("nextCursor"));
        writ_write_string(&w, writ_buf_view(&cursor));
    }
    writ_write_name(&w, list_member(request->method));
    writ_write_raw(&w, writ_buf_view(&items));
    put_list_meta(&w, legs);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_spread_answer(request, &body, (struct writ_header){0});
}

/* No list, and also no word that there is none: an error in JSON-RPC says that, a silence, a
 * broken answer or a server in trouble does not. A later page has no such excuse. */
static bool
gave_nothing(const struct writ_leg *leg)
{
    const struct writ_upcall_answer *answer = &leg->answer;

    return leg->pages > 0 || answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 500 ||
           (answer->status < 300 && writ_json_get(leg->response, WRIT_LIT("error")) == NULL);
}

/* What is told as one is good for as long as the part that is good for the shortest time. */
static void
take_ttl(struct writ_legs *legs, struct writ_leg *leg, const struct writ_json *result)
{
    const struct writ_json *ttl = writ_json_get(result, WRIT_LIT("ttlMs"));
    int64_t stale_us = writ_learn_stale_us(leg->request->x->loop, leg->upstream, result);
    int64_t ttl_ms = 0;

    leg->stale_us = leg->pages == 0 || stale_us < leg->stale_us ? stale_us : leg->stale_us;
    legs->lives = legs->lives || ttl != NULL;
    if (!writ_is_ok(writ_json_integer(ttl, 0, INT64_MAX, &ttl_ms))) {
        ttl_ms = 0;
    }
    legs->ttl_ms = legs->first == NULL || ttl_ms < legs->ttl_ms ? ttl_ms : legs->ttl_ms;
}

static void
take_answer(struct writ_legs *legs, struct writ_leg *leg)
{
    const struct writ_json *result = writ_spread_result(leg);

    if (writ_json_type(result) != WRIT_JSON_OBJECT) {
        leg->incomplete = leg->incomplete || gave_nothing(leg);
        return;
    }
    take_page(leg, result);
    take_ttl(legs, leg, result);
    legs->first = legs->first != NULL ? legs->first : result;
    leg->pages++;
    if (!writ_is_ok(writ_buf_check(&leg->items, NULL))) {
        writ_buf_wipe(&leg->items); /* more than fits: a part of it would look like all */
        leg->incomplete = true;
    } else if (leg->request->endpoint->only == NULL) {
        ask_next_page(legs, leg, result);
    } else if (writ_json_string(writ_json_get(result, WRIT_LIT("nextCursor"))).ptr != NULL) {
        writ_catalog_drop(WRIT_TAKE(leg->catalog)); /* a page is not the list */
    }
}

/* On the endpoint of all: one that the configuration wants in every list. */
static bool
lacks_required(const struct writ_request *request, const struct writ_legs *legs)
{
    for (size_t i = 0; i < legs->n && request->endpoint->only == NULL; i++) {
        if (legs->legs[i].incomplete && writ_upstream_config(legs->legs[i].upstream)->required) {
            return true;
        }
    }
    return false;
}

static void
lists_done(struct writ_request *request, struct writ_legs *legs)
{
    for (size_t i = 0; i < legs->n; i++) {
        struct writ_leg *leg = &legs->legs[i];
        if (leg->asking) {
            leg->asking = false;
            take_answer(legs, leg);
            leg->response = NULL;
        }
    }
    if (legs->open > 0) {
        return;
    }
    for (size_t i = 0; i < legs->n; i++) {
        learn_list(&legs->legs[i]);
    }
    if (lacks_required(request, legs)) {
        wipe_items(request);
        (void)writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    } else if (legs->first == NULL) {
        answer_first(request, legs);
    } else {
        answer_list(request, legs);
    }
}

/* Where a list begins: at the first upstream, or where a cursor of ours says. */
static bool
read_cursor(struct writ_request *request, size_t *ret_from, struct writ_view *ret_cursor)
{
    const struct writ_json *cursor = writ_json_get(request->message.params, WRIT_LIT("cursor"));
    struct writ_buf room = writ_buf_in(request->x->arena, WRIT_CURSOR_MAX);
    struct writ_view name;
    const struct writ_upstream *upstream;

    if (cursor == NULL) {
        return true;
    }
    if (!writ_is_ok(writ_cursor_read(writ_json_string(cursor), &room, &name, ret_cursor))) {
        return false;
    }
    upstream = writ_gateway_upstream(request->worker->gateway, name);
    *ret_from = upstream != NULL ? writ_upstream_index(upstream) : 0;
    return upstream != NULL;
}

static void
begin_learning(struct writ_leg *leg)
{
    if (leg->request->method == WRIT_MCP_TOOLS_LIST) {
        leg->doubts = writ_shelf_doubts(writ_upstream_shelf(leg->upstream));
        WRIT_IGNORE(writ_catalog_new(&leg->catalog)); /* without memory nothing is learned */
    }
}

/* The upstream where the list goes on gives its next page, those behind it their first. */
static enum writ_step
start_list(struct writ_request *request)
{
    static const struct writ_view none = {NULL, 0};
    struct writ_view cursor = none;
    struct writ_legs *legs;
    size_t from = 0;

    if (!read_cursor(request, &from, &cursor)) {
        return writ_refusal_http(request, 200, CODE_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
            "the cursor is of no list here");
    }
    legs = make_legs(request, from, lists_done);
    for (size_t i = 0; legs != NULL && i < legs->n; i++) {
        struct writ_view body = page_body(request, i == 0 ? cursor : none);
        if (i > 0 || cursor.ptr == NULL) {
            begin_learning(&legs->legs[i]);
        }
        if (body.ptr != NULL) {
            writ_spread_again(legs, &legs->legs[i], body);
        } else {
            legs->legs[i].incomplete = true;
        }
    }
    return legs != NULL && legs->open > 0
               ? WRIT_STEP_WAIT
               : writ_refusal_http(request, 503, CODE_INTERNAL, WRIT_REASON_OVERLOADED, NULL);
}

/* ---- notices, and requests without a list ---- */

static void
all_done(struct writ_request *request, struct writ_legs *legs)
{
    struct writ_exchange *x = request->x;

    if (request->message.kind == WRIT_MCP_NOTIFICATION) {
        wipe_items(request);
        writ_request_finish(request);
        writ_exchange_reply(x, 202, NULL, 0, (struct writ_view){NULL, 0});
        return;
    }
    for (size_t i = 0; i < legs->n; i++) {
        if (writ_spread_result(&legs->legs[i]) != NULL) {
            wipe_items(request);
            writ_spread_tell(request, &legs->legs[i]);
            return;
        }
    }
    answer_first(request, legs);
}

/* ---- what somebody has, and nobody has said who ---- */

/* The first word, rather than a silence. */
static struct writ_leg *
leg_that_answered(struct writ_legs *legs)
{
    for (size_t i = 0; i < legs->n; i++) {
        if (legs->legs[i].answer.end == WRIT_UPCALL_ANSWERED) {
            return &legs->legs[i];
        }
    }
    return &legs->legs[0];
}

/* One after the other, in the order of the configuration, until one has it. */
static void
turn_done(struct writ_request *request, struct writ_legs *legs)
{
    struct writ_leg *leg = &legs->legs[legs->turn];
    struct writ_view uri =
        writ_json_string(writ_json_get(request->message.params, WRIT_LIT("uri")));

    if (writ_spread_result(leg) != NULL) {
        writ_owners_note(request->worker->gateway->owners, uri, writ_upstream_index(leg->upstream));
    } else if (legs->turn + 1 < legs->n) {
        writ_spread_again(legs, &legs->legs[++legs->turn], request->x->body);
        return;
    } else {
        leg = leg_that_answered(legs);
    }
    wipe_items(request);
    writ_spread_tell(request, leg);
}

static enum writ_step
start_turns(struct writ_request *request)
{
    struct writ_legs *legs = make_legs(request, 0, turn_done);

    if (legs == NULL || legs->n == 0) {
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    writ_spread_again(legs, &legs->legs[0], request->x->body);
    return WRIT_STEP_WAIT;
}

static enum writ_step
answer_ping(struct writ_request *request)
{
    static struct writ_legs none;
    writ_auto_buf body = writ_buf_make(8192);
    struct writ_write w = response_begin(request, &body);

    writ_write_object_begin(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    request->part = &none;
    writ_spread_answer(request, &body, (struct writ_header){0});
    return WRIT_STEP_DONE;
}

enum writ_step
writ_spread_start(struct writ_request *request)
{
    bool is_list = writ_method_route(request->method) == WRIT_ROUTE_LIST;
    struct writ_legs *legs;

    if (request->method == WRIT_MCP_PING) {
        return answer_ping(request);
    }
    if (is_list && request->endpoint->only == NULL) {
        return start_list(request);
    }
    if (writ_method_route(request->method) == WRIT_ROUTE_URI ||
        request->method == WRIT_MCP_COMPLETE) {
        return start_turns(request);
    }
    legs = writ_spread_begin(request, request->x->body, is_list ? lists_done : all_done);
    if (legs == NULL) {
        return writ_refusal_http(request, 503, CODE_INTERNAL, WRIT_REASON_OVERLOADED, NULL);
    }
    if (is_list && writ_json_get(request->message.params, WRIT_LIT("cursor")) == NULL) {
        begin_learning(&legs->legs[0]);
    }
    return WRIT_STEP_WAIT;
}
