/* lists.c - takes each upstream's pages, filters and renames the items, and joins them in the order
 * of the configuration. A list is learned only when it passed completely, and a list that does not
 * fit is refused, not cut. */
#include "gateway/relay/lists.h"

#include "gateway/mcp/cursor.h"
#include "gateway/call/tool_discovery.h"
#include "gateway/relay/fanout.h"
#include "gateway/request/refusal.h"
#include "gateway/mcp/tool_name.h"

#include "base/hidden.h"
#include "evidence/json/write.h"

#define PAGES_ENOUGH 64         /* of one upstream's list, in one answer */
#define BYTES_ENOUGH (4u << 20) /* the same */

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

static enum writ_session_list
list_kind(enum writ_mcp_method method)
{
    if (method == WRIT_MCP_TOOLS_LIST) {
        return WRIT_SESSION_TOOLS;
    }
    return method == WRIT_MCP_PROMPTS_LIST ? WRIT_SESSION_PROMPTS : WRIT_SESSION_RESOURCES;
}

/* ---- an item ---- */

/* The identifier of an item must be shown unchanged. */
static bool
has_hiding_name(const struct writ_json *item)
{
    static const struct writ_view members[] = {
        WRIT_LIT("name"), WRIT_LIT("uri"), WRIT_LIT("uriTemplate")};

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct writ_view name = writ_json_string(writ_json_get(item, members[i]));
        writ_auto_buf seen = writ_buf_make(name.len);
        if (writ_hidden_strip(&seen, name) > 0) {
            return true;
        }
    }
    return false;
}

/* A list shows only the tools that the caller may call. */
static bool
is_callable(const struct writ_leg *leg, struct writ_view name, const struct writ_digest *digest)
{
    struct writ_request *request = leg->request;
    struct writ_view upstream = writ_upstream_config(leg->upstream)->name;
    const struct writ_tool_rule *rule;

    rule = writ_policy_find(
        writ_request_config(request), &request->identity.agent, upstream, name, NULL);
    return rule != NULL && (rule->shadow || writ_tool_discovery_judge(request, rule, upstream, name,
                                                digest) == WRIT_REASON_NONE);
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
        writ_tool_name_put_tool(separator, upstream, own, ret);
    } else {
        writ_tool_name_join(separator, upstream, own, ret);
    }
}

/* Notes the upstream of a resource. */
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
            leg->hidden += writ_write_visible(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

/* Hidden tools are noted as well: another one may have their name. */
static void
take_tool(struct writ_leg *leg, const struct writ_json *item)
{
    struct writ_listed_item listed = {
        .name = writ_json_string(writ_json_get(item, WRIT_LIT("name")))};
    bool known =
        writ_is_ok(writ_tool_discovery_notice(leg->request, leg->upstream, item, &listed.digest));

    if (!known || listed.name.ptr == NULL) {
        return;
    }
    listed.start = leg->items.len + (leg->items_n > 0 ? 1 : 0);
    if (has_hiding_name(item)) {
        writ_metrics_count(leg->request->x->metrics, WRIT_COUNTER_DEFINITIONS_HIDDEN, 1);
    } else if (is_callable(leg, listed.name, &listed.digest)) {
        put_item(leg, item);
        listed.len = leg->items.len - listed.start;
    }
    if (!writ_is_ok(writ_listed_add(&leg->listed, &listed))) {
        leg->items.failed = WRIT_E_NOMEM;
    }
}

static void
take_item(struct writ_leg *leg, const struct writ_json *item)
{
    if (leg->request->method == WRIT_MCP_TOOLS_LIST) {
        take_tool(leg, item);
    } else if (!has_hiding_name(item)) {
        put_item(leg, item);
        note_owner(leg, item);
    }
}

/* A definition that cannot be learned makes the list of tools incomplete. */
static void
learn_item(struct writ_leg *leg, const struct writ_json *item)
{
    writ_result r;

    if (leg->catalog == NULL) {
        return;
    }
    r = writ_catalog_add(leg->catalog, item);
    if (!writ_is_ok(r) && r.code != WRIT_E_INVALID) {
        writ_catalog_drop(WRIT_TAKE(leg->catalog));
    }
}

/* A list of tools that passed whole is learned. */
static void
learn_list(struct writ_leg *leg)
{
    struct writ_catalog_snapshot *snapshot = writ_upstream_snapshot(leg->upstream);

    if (leg->catalog == NULL || leg->incomplete || leg->next.ptr != NULL || leg->pages == 0) {
        return;
    }
    writ_catalog_seal(leg->catalog);
    writ_catalog_snapshot_put(snapshot, WRIT_TAKE(leg->catalog));
    writ_catalog_snapshot_settle(snapshot, leg->doubts, leg->asked_us, leg->stale_us);
}

static void
take_page(struct writ_leg *leg, const struct writ_json *result)
{
    const struct writ_json *items =
        writ_json_get_typed(result, list_member(leg->request->method), WRIT_JSON_ARRAY);

    WRIT_JSON_EACH(item, items)
    {
        learn_item(leg, item);
        if (writ_json_type(item) == WRIT_JSON_OBJECT) {
            take_item(leg, item);
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
    writ_write_text(&w, "method", request->message.method);
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
        writ_write_text(&w, "cursor", cursor);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_is_ok(writ_write_end(&w, NULL))
               ? writ_view_copy(writ_buf_view(&body), request->x->arena)
               : (struct writ_view){NULL, 0};
}

static void
ask_next_page(struct writ_fanout *legs, struct writ_leg *leg, const struct writ_json *result)
{
    const struct writ_json *cursor = writ_json_get(result, WRIT_LIT("nextCursor"));
    struct writ_view body = {NULL, 0};

    if (cursor == NULL || writ_json_type(cursor) == WRIT_JSON_NULL) {
        return;
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING &&
        (leg->pages >= PAGES_ENOUGH || leg->items.len >= BYTES_ENOUGH ||
            writ_fanout_is_long(leg))) {
        leg->next = writ_json_string(cursor); /* in the arena */
        return;
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING) {
        body = page_body(leg->request, writ_json_string(cursor));
    }
    if (body.ptr == NULL || !writ_fanout_ask(legs, leg, body)) {
        leg->incomplete = true;
    }
}

/* The other members of the first upstream's result. A filtered list is marked private. */
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
        writ_write_text(w, "cacheScope", WRIT_LIT("private"));
    }
}

/* An upstream whose list is missing or incomplete is named; it does not break the list of the
 * others. */
static void
put_list_meta(struct writ_write *w, const struct writ_fanout *legs)
{
    const struct writ_json *meta =
        writ_json_get_typed(legs->first, WRIT_LIT("_meta"), WRIT_JSON_OBJECT);

    if (meta == NULL && !writ_fanout_any_incomplete(legs)) {
        return;
    }
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, meta)
    {
        writ_write_name(w, writ_json_string(name));
        writ_write_verbatim(w, writ_json_value(name));
    }
    writ_fanout_put_unavailable(w, legs);
    writ_write_object_end(w);
}

/* Where the list continues: at the first leg that is not complete. Later ones wait for their turn.
 * Returns the number of legs in this answer. */
static size_t
cut_list(struct writ_fanout *legs, struct writ_buf *ret_cursor)
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
        leg->incomplete = true; /* without a cursor the rest cannot be requested */
        writ_buf_clear(ret_cursor);
    }
    return legs->n;
}

/* Counts the items left out of the lists. */
static void
join_items(struct writ_request *request, struct writ_fanout *legs)
{
    for (size_t i = 0; i < legs->n; i++) {
        size_t hidden = 0;
        writ_listed_join(&legs->legs[i].listed, &legs->legs[i].items, &hidden);
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_DEFINITIONS_HIDDEN, hidden);
        writ_metrics_count(
            request->x->metrics, WRIT_COUNTER_CHARACTERS_HIDDEN, legs->legs[i].hidden);
    }
}

/* So that the client is notified when it is back (back.h). */
static void
note_missed(struct writ_request *request, const struct writ_fanout *legs)
{
    for (size_t i = 0; i < legs->n && request->session != NULL; i++) {
        writ_session_note_list(request->session, writ_upstream_config(legs->legs[i].upstream)->name,
            list_kind(request->method), legs->legs[i].incomplete);
    }
}

static enum writ_step
answer_list(struct writ_request *request, struct writ_fanout *legs)
{
    writ_auto_buf cursor = writ_buf_make(2 * WRIT_CURSOR_MAX);
    size_t told = cut_list(legs, &cursor);
    writ_auto_buf body = writ_buf_make(WRIT_FANOUT_ANSWER_MAX);
    writ_auto_buf items = writ_buf_make(WRIT_FANOUT_ANSWER_MAX);
    struct writ_write w = writ_fanout_response(request, &body);

    join_items(request, legs);
    note_missed(request, legs);
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
        writ_write_count(
            &w, "ttlMs", writ_fanout_any_incomplete(legs) ? 0 : (uint64_t)legs->ttl_ms);
    }
    if (cursor.len > 0) {
        writ_write_text(&w, "nextCursor", writ_buf_view(&cursor));
    }
    writ_write_name(&w, list_member(request->method));
    writ_write_raw(&w, writ_buf_view(&items));
    put_list_meta(&w, legs);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    return writ_fanout_answer(request, &body, (struct writ_header){0});
}

/* A merged list is valid for as long as its part with the shortest time. */
static void
take_ttl(struct writ_fanout *legs, struct writ_leg *leg, const struct writ_json *result)
{
    const struct writ_json *ttl = writ_json_get(result, WRIT_LIT("ttlMs"));
    int64_t stale_us = writ_tool_discovery_stale_us(leg->request->x->loop, leg->upstream, result);
    int64_t ttl_ms = 0;

    leg->stale_us = leg->pages == 0 || stale_us < leg->stale_us ? stale_us : leg->stale_us;
    legs->lives = legs->lives || ttl != NULL;
    if (!writ_is_ok(writ_json_integer(ttl, 0, INT64_MAX, &ttl_ms))) {
        ttl_ms = 0;
    }
    legs->ttl_ms = legs->first == NULL || ttl_ms < legs->ttl_ms ? ttl_ms : legs->ttl_ms;
}

static void
take_answer(struct writ_fanout *legs, struct writ_leg *leg)
{
    const struct writ_json *result = writ_fanout_result(leg);

    if (writ_json_type(result) != WRIT_JSON_OBJECT) {
        /* only the first page may answer that there is no list */
        leg->incomplete = leg->incomplete || leg->pages > 0 || writ_fanout_gave_nothing(leg);
        return;
    }
    take_page(leg, result);
    take_ttl(legs, leg, result);
    legs->first = legs->first != NULL ? legs->first : result;
    leg->pages++;
    if (!writ_is_ok(writ_buf_check(&leg->items, NULL))) {
        writ_buf_wipe(&leg->items); /* too long: a part of it would look complete */
        leg->incomplete = true;
    } else if (leg->request->endpoint->only == NULL) {
        ask_next_page(legs, leg, result);
    } else if (writ_json_string(writ_json_get(result, WRIT_LIT("nextCursor"))).ptr != NULL) {
        writ_catalog_drop(WRIT_TAKE(leg->catalog)); /* a page is not the list */
    }
}

/* On the endpoint of all upstreams: a missing one that the configuration requires in every list. */
static bool
lacks_required(const struct writ_request *request, const struct writ_fanout *legs)
{
    for (size_t i = 0; i < legs->n && request->endpoint->only == NULL; i++) {
        if (legs->legs[i].incomplete && writ_upstream_config(legs->legs[i].upstream)->required) {
            return true;
        }
    }
    return false;
}

enum writ_step
writ_lists_merge(struct writ_request *request)
{
    struct writ_fanout *legs = request->part;

    for (size_t i = 0; i < legs->n; i++) {
        struct writ_leg *leg = &legs->legs[i];
        if (leg->asking) {
            leg->asking = false;
            take_answer(legs, leg);
            leg->response = NULL;
        }
    }
    if (legs->open > 0) {
        return writ_fanout_wait(request);
    }
    for (size_t i = 0; i < legs->n; i++) {
        learn_list(&legs->legs[i]);
    }
    if (lacks_required(request, legs)) {
        writ_fanout_wipe(request);
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    return legs->first == NULL ? writ_fanout_tell_first(request, legs) : answer_list(request, legs);
}

/* Where a list begins: at the first upstream, or at the place in a cursor of the gateway. */
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
    upstream = writ_upstream_find(request->worker->gateway, name);
    *ret_from = upstream != NULL ? writ_upstream_index(upstream) : 0;
    return upstream != NULL;
}

static void
begin_learning(struct writ_leg *leg)
{
    if (leg->request->method == WRIT_MCP_TOOLS_LIST) {
        leg->doubts = writ_catalog_snapshot_doubts(writ_upstream_snapshot(leg->upstream));
        leg->asked_us = writ_loop_now_us(leg->request->x->loop);
        WRIT_IGNORE(writ_catalog_new(&leg->catalog)); /* without memory nothing is learned */
    }
}

/* The upstream where the list continues gives its next page, later ones their first. */
static enum writ_step
start_merged(struct writ_request *request)
{
    static const struct writ_view none = {NULL, 0};
    struct writ_view cursor = none;
    struct writ_fanout *legs;
    size_t from = 0;

    if (!read_cursor(request, &from, &cursor)) {
        return writ_refusal_http(request, 200, WRIT_RPC_INVALID_PARAMS,
            WRIT_REASON_MALFORMED_REQUEST, "the cursor is of no list here");
    }
    legs = writ_fanout_make(request, from, WRIT_STEP_MERGE);
    for (size_t i = 0; legs != NULL && i < legs->n; i++) {
        struct writ_view body = page_body(request, i == 0 ? cursor : none);
        if (i > 0 || cursor.ptr == NULL) {
            begin_learning(&legs->legs[i]);
        }
        if (body.ptr != NULL) {
            (void)writ_fanout_ask(legs, &legs->legs[i], body);
        } else {
            legs->legs[i].incomplete = true;
        }
    }
    return legs != NULL ? writ_fanout_wait(request)
                        : writ_refusal_http(
                              request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
}

/* The endpoint's only upstream gets the client's own message. */
static enum writ_step
start_filtered(struct writ_request *request)
{
    struct writ_fanout *legs = writ_fanout_make(request, 0, WRIT_STEP_MERGE);

    if (legs == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    if (writ_json_get(request->message.params, WRIT_LIT("cursor")) == NULL) {
        begin_learning(&legs->legs[0]);
    }
    (void)writ_fanout_ask(legs, &legs->legs[0], request->x->body);
    return writ_fanout_wait(request);
}

enum writ_step
writ_lists_start(struct writ_request *request)
{
    return request->endpoint->only == NULL ? start_merged(request) : start_filtered(request);
}
