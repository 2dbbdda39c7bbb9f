/* lists.c - takes each upstream's pages, filters and renames the items, and joins them in the order
 * of the configuration. A list is learned only when it passed completely, and a list that does not
 * fit is refused, not cut. */
#include "gateway/relay/lists.h"

#include "gateway/mcp/cursor.h"
#include "gateway/call/tool_discovery.h"
#include "gateway/relay/fanout.h"
#include "gateway/relay/resource_owner.h"
#include "gateway/request/refusal.h"
#include "gateway/mcp/tool_name.h"

#include "base/hidden.h"
#include "evidence/json/write.h"

#define PAGES_ENOUGH 64         /* of one upstream's list, in one answer */
#define BYTES_ENOUGH (4u << 20) /* the same */
#define SHORT_BYTES  1024       /* up to here a list needs no allocation */

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
is_callable(const struct writ_branch *branch, struct writ_view name,
    const struct writ_digest *digest, unsigned odd)
{
    struct writ_request *request = branch->request;
    struct writ_view upstream = writ_upstream_config(branch->upstream)->name;
    const struct writ_tool_rule *rule;
    enum writ_reason reason;

    rule = writ_policy_find(
        writ_request_config(request), &request->identity.agent, upstream, name, NULL);
    if (rule == NULL || rule->shadow) {
        return rule != NULL;
    }
    odd = writ_tool_discovery_withheld(request, branch->upstream, name, digest, odd);
    reason = writ_tool_discovery_judge(request, rule, upstream, name, digest, odd);
    if (reason == WRIT_REASON_DEFINITION_ODD) {
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_DEFINITIONS_HIDDEN, 1);
    }
    return reason == WRIT_REASON_NONE;
}

static bool
is_renamed(const struct writ_request *request)
{
    return request->endpoint->only == NULL &&
           (request->method == WRIT_MCP_TOOLS_LIST || request->method == WRIT_MCP_PROMPTS_LIST);
}

static void
put_wire_name(const struct writ_branch *branch, struct writ_view own, struct writ_buf *ret)
{
    struct writ_view separator = writ_request_config(branch->request)->separator;
    struct writ_view upstream = writ_upstream_config(branch->upstream)->name;

    if (branch->request->method == WRIT_MCP_TOOLS_LIST) {
        writ_tool_name_put_tool(separator, upstream, own, ret);
    } else {
        writ_tool_name_join(separator, upstream, own, ret);
    }
}

static bool
lists_resources(const struct writ_request *request)
{
    return request->method == WRIT_MCP_TEMPLATES_LIST || request->method == WRIT_MCP_RESOURCES_LIST;
}

static void
put_item(struct writ_branch *branch, const struct writ_json *item)
{
    struct writ_write w;
    const struct writ_limits *limits = &writ_request_config(branch->request)->limits;
    writ_auto_buf wire = writ_buf_make((size_t)limits->response_bytes + 64); /* holds any name */

    if (branch->items_n++ > 0) {
        writ_buf_byte(&branch->items, ',');
    }
    w = writ_write_to(&branch->items);
    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, item)
    {
        writ_write_name(&w, writ_json_string(name));
        if (is_renamed(branch->request) && writ_view_is(writ_json_string(name), "name")) {
            put_wire_name(branch, writ_json_string(writ_json_value(name)), &wire);
            writ_write_string(&w, writ_buf_view(&wire));
        } else {
            branch->hidden += writ_write_visible(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

/* Hidden tools are noted as well: another one may have their name. */
static void
take_tool(struct writ_branch *branch, const struct writ_json *item)
{
    struct writ_listed_item listed = {
        .name = writ_json_string(writ_json_get(item, WRIT_LIT("name")))};
    unsigned odd = 0;
    bool known = writ_is_ok(
        writ_tool_discovery_notice(branch->request, branch->upstream, item, &listed.digest, &odd));

    if (!known || listed.name.ptr == NULL) {
        return;
    }
    listed.start = branch->items.len + (branch->items_n > 0 ? 1 : 0);
    if (has_hiding_name(item)) {
        writ_metrics_count(branch->request->x->metrics, WRIT_COUNTER_DEFINITIONS_HIDDEN, 1);
    } else if (is_callable(branch, listed.name, &listed.digest, odd)) {
        put_item(branch, item);
        listed.len = branch->items.len - listed.start;
    }
    if (!writ_is_ok(writ_listed_add(&branch->listed, &listed))) {
        branch->items.failed = WRIT_E_NOMEM;
    }
}

static void
take_item(struct writ_branch *branch, const struct writ_json *item)
{
    if (branch->request->method == WRIT_MCP_TOOLS_LIST) {
        take_tool(branch, item);
    } else if (!has_hiding_name(item)) {
        put_item(branch, item);
        if (lists_resources(branch->request)) {
            writ_resource_owner_note(branch->request, branch->upstream, item);
        }
    }
}

/* A definition that cannot be learned makes the list of tools incomplete. */
static void
learn_item(struct writ_branch *branch, const struct writ_json *item)
{
    writ_result r;

    if (branch->catalog == NULL) {
        return;
    }
    r = writ_catalog_add(branch->catalog, item);
    if (!writ_is_ok(r) && r.code != WRIT_E_INVALID) {
        writ_catalog_drop(WRIT_TAKE(branch->catalog));
    }
}

/* A list of tools that passed whole is learned. */
static void
learn_list(struct writ_branch *branch)
{
    struct writ_catalog_snapshot *snapshot = writ_upstream_snapshot(branch->upstream);

    if (branch->catalog == NULL || branch->incomplete || branch->next.ptr != NULL ||
        branch->pages == 0) {
        return;
    }
    writ_catalog_seal(branch->catalog);
    writ_catalog_snapshot_put(snapshot, WRIT_TAKE(branch->catalog));
    writ_catalog_snapshot_settle(snapshot, branch->doubts, branch->asked_us, branch->stale_us);
}

static void
take_page(struct writ_branch *branch, const struct writ_json *result)
{
    const struct writ_json *items =
        writ_json_get_typed(result, list_member(branch->request->method), WRIT_JSON_ARRAY);

    WRIT_JSON_EACH(item, items)
    {
        learn_item(branch, item);
        if (writ_json_type(item) == WRIT_JSON_OBJECT) {
            take_item(branch, item);
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

/* False: no memory. */
static bool
note_cursor(struct writ_branch *branch, struct writ_view cursor)
{
    struct writ_sent_cursor *sent = writ_arena_get(branch->request->x->arena, sizeof *sent);

    if (sent != NULL) {
        *sent = (struct writ_sent_cursor){cursor, branch->sent};
        branch->sent = sent;
    }
    return sent != NULL;
}

/* A list that goes in a circle has no end: no client would ever get to the upstreams behind it. */
static bool
is_endless(struct writ_branch *branch, const struct writ_json *cursor)
{
    const struct writ_sent_cursor *sent = branch->sent;

    while (sent != NULL && !writ_view_equal(sent->cursor, writ_json_string(cursor))) {
        sent = sent->before;
    }
    if (sent != NULL) {
        branch->endless = true;
        WRIT_LOG(branch->request->worker->gateway->log, WRIT_EVENT_LIST_ENDLESS,
            writ_log_text("upstream", writ_upstream_config(branch->upstream)->name),
            writ_log_text("method", branch->request->message.method));
    }
    return sent != NULL;
}

static void
ask_next_page(
    struct writ_fanout *fanout, struct writ_branch *branch, const struct writ_json *result)
{
    const struct writ_json *cursor = writ_json_get(result, WRIT_LIT("nextCursor"));
    struct writ_view body = {NULL, 0};

    if (cursor == NULL || writ_json_type(cursor) == WRIT_JSON_NULL) {
        return;
    }
    if (is_endless(branch, cursor)) {
        branch->incomplete = true;
        return;
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING &&
        (branch->pages >= PAGES_ENOUGH || branch->items.len >= BYTES_ENOUGH ||
            writ_fanout_is_long(branch))) {
        branch->next = writ_json_string(cursor); /* in the arena */
        return;
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING &&
        note_cursor(branch, writ_json_string(cursor))) {
        body = page_body(branch->request, writ_json_string(cursor));
    }
    if (body.ptr == NULL || !writ_fanout_ask(fanout, branch, body)) {
        branch->incomplete = true;
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
put_list_meta(struct writ_write *w, const struct writ_fanout *fanout)
{
    const struct writ_json *meta =
        writ_json_get_typed(fanout->first, WRIT_LIT("_meta"), WRIT_JSON_OBJECT);

    if (meta == NULL && !writ_fanout_any_incomplete(fanout)) {
        return;
    }
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, meta)
    {
        writ_write_name(w, writ_json_string(name));
        writ_write_verbatim(w, writ_json_value(name));
    }
    writ_fanout_put_unavailable(w, fanout);
    writ_write_object_end(w);
}

/* Where the list continues: at the first branch that is not complete. Later ones wait for their
 * turn. Returns the number of branches in this answer. */
static size_t
cut_list(struct writ_fanout *fanout, struct writ_buf *ret_cursor)
{
    for (size_t i = 0; i < fanout->n; i++) {
        struct writ_branch *branch = &fanout->branches[i];
        if (branch->next.ptr == NULL) {
            continue;
        }
        writ_cursor_put(writ_upstream_config(branch->upstream)->name, branch->next, ret_cursor);
        if (writ_is_ok(writ_buf_check(ret_cursor, NULL))) {
            return i + 1;
        }
        branch->incomplete = true; /* without a cursor the rest cannot be requested */
        writ_buf_clear(ret_cursor);
    }
    return fanout->n;
}

/* Counts the items left out of the lists. */
static void
join_items(struct writ_request *request, struct writ_fanout *fanout)
{
    for (size_t i = 0; i < fanout->n; i++) {
        size_t hidden = 0;
        writ_listed_join(&fanout->branches[i].listed, &fanout->branches[i].items, &hidden);
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_DEFINITIONS_HIDDEN, hidden);
        writ_metrics_count(
            request->x->metrics, WRIT_COUNTER_CHARACTERS_HIDDEN, fanout->branches[i].hidden);
    }
}

/* So that the client is notified when it is back (back.h). One whose list has no end was not away:
 * its answer to the next question would not change that. */
static void
note_missed(struct writ_request *request, const struct writ_fanout *fanout)
{
    for (size_t i = 0; i < fanout->n && request->session != NULL; i++) {
        writ_session_note_list(request->session,
            writ_upstream_config(fanout->branches[i].upstream)->name, list_kind(request->method),
            fanout->branches[i].incomplete && !fanout->branches[i].endless);
    }
}

static enum writ_step
answer_list(struct writ_request *request, struct writ_fanout *fanout)
{
    writ_auto_buf cursor = writ_buf_make(2 * WRIT_CURSOR_MAX);
    size_t told = cut_list(fanout, &cursor);
    char body_room[SHORT_BYTES], items_room[SHORT_BYTES];
    writ_auto_buf body = writ_buf_from(body_room, sizeof body_room, WRIT_FANOUT_ANSWER_MAX);
    writ_auto_buf items = writ_buf_from(items_room, sizeof items_room, WRIT_FANOUT_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_fanout_response(request, &w);
    join_items(request, fanout);
    note_missed(request, fanout);
    writ_buf_byte(&items, '[');
    for (size_t i = 0; i < told; i++) {
        if (fanout->branches[i].items.len > 0) {
            writ_buf_str(&items, items.len > 1 ? "," : "");
            writ_buf_put(&items, writ_buf_view(&fanout->branches[i].items));
        }
    }
    writ_buf_byte(&items, ']');
    writ_write_object_begin(&w);
    put_others(&w, request, fanout->first);
    if (request->endpoint->only == NULL && fanout->lives) {
        writ_write_count(
            &w, "ttlMs", writ_fanout_any_incomplete(fanout) ? 0 : (uint64_t)fanout->ttl_ms);
    }
    if (cursor.len > 0) {
        writ_write_text(&w, "nextCursor", writ_buf_view(&cursor));
    }
    writ_write_name(&w, list_member(request->method));
    writ_write_raw(&w, writ_buf_view(&items));
    put_list_meta(&w, fanout);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    return writ_fanout_answer(request, &body, (struct writ_header){0});
}

/* A merged list is valid for as long as its part with the shortest time. */
static void
take_ttl(struct writ_fanout *fanout, struct writ_branch *branch, const struct writ_json *result)
{
    const struct writ_json *ttl = writ_json_get(result, WRIT_LIT("ttlMs"));
    int64_t stale_us =
        writ_tool_discovery_stale_us(branch->request->x->loop, branch->upstream, result);
    int64_t ttl_ms = 0;

    branch->stale_us =
        branch->pages == 0 || stale_us < branch->stale_us ? stale_us : branch->stale_us;
    fanout->lives = fanout->lives || ttl != NULL;
    if (!writ_is_ok(writ_json_integer(ttl, 0, INT64_MAX, &ttl_ms))) {
        ttl_ms = 0;
    }
    fanout->ttl_ms = fanout->first == NULL || ttl_ms < fanout->ttl_ms ? ttl_ms : fanout->ttl_ms;
}

static void
take_answer(struct writ_fanout *fanout, struct writ_branch *branch)
{
    const struct writ_json *result = writ_fanout_result(branch);

    if (writ_json_type(result) != WRIT_JSON_OBJECT) {
        /* only the first page may answer that there is no list */
        branch->incomplete =
            branch->incomplete || branch->pages > 0 || writ_fanout_gave_nothing(branch);
        return;
    }
    take_page(branch, result);
    take_ttl(fanout, branch, result);
    fanout->first = fanout->first != NULL ? fanout->first : result;
    branch->pages++;
    if (!writ_is_ok(writ_buf_check(&branch->items, NULL))) {
        writ_buf_wipe(&branch->items); /* too long: a part of it would look complete */
        branch->incomplete = true;
    } else if (branch->request->endpoint->only == NULL) {
        ask_next_page(fanout, branch, result);
    } else if (writ_json_string(writ_json_get(result, WRIT_LIT("nextCursor"))).ptr != NULL) {
        writ_catalog_drop(WRIT_TAKE(branch->catalog)); /* a page is not the list */
    }
}

/* A list of resources that passed from its first page to its last names all that its upstream
 * owns. */
static void
note_passed(struct writ_branch *branch)
{
    struct writ_request *request = branch->request;

    if (lists_resources(request) && !branch->incomplete && branch->next.ptr == NULL &&
        request->endpoint->only == NULL &&
        writ_json_get(request->message.params, WRIT_LIT("cursor")) == NULL) {
        writ_resource_owner_read(request, branch->upstream,
            request->method == WRIT_MCP_RESOURCES_LIST ? WRIT_OWNERS_RESOURCES
                                                       : WRIT_OWNERS_TEMPLATES,
            true);
    }
}

/* On the endpoint of all upstreams: a missing one that the configuration requires in every list. */
static bool
lacks_required(const struct writ_request *request, const struct writ_fanout *fanout)
{
    for (size_t i = 0; i < fanout->n && request->endpoint->only == NULL; i++) {
        if (fanout->branches[i].incomplete &&
            writ_upstream_config(fanout->branches[i].upstream)->required) {
            return true;
        }
    }
    return false;
}

enum writ_step
writ_lists_merge(struct writ_request *request)
{
    struct writ_fanout *fanout = request->part;

    for (size_t i = 0; i < fanout->n; i++) {
        struct writ_branch *branch = &fanout->branches[i];
        if (branch->asking) {
            branch->asking = false;
            take_answer(fanout, branch);
            branch->response = NULL;
        }
    }
    if (fanout->open > 0) {
        return writ_fanout_wait(request);
    }
    for (size_t i = 0; i < fanout->n; i++) {
        learn_list(&fanout->branches[i]);
        note_passed(&fanout->branches[i]);
    }
    if (lacks_required(request, fanout)) {
        writ_fanout_wipe(request);
        return writ_refusal_http(
            request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    return fanout->first == NULL ? writ_fanout_tell_first(request, fanout)
                                 : answer_list(request, fanout);
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
begin_learning(struct writ_branch *branch)
{
    if (branch->request->method == WRIT_MCP_TOOLS_LIST) {
        branch->doubts = writ_catalog_snapshot_doubts(writ_upstream_snapshot(branch->upstream));
        branch->asked_us = writ_loop_now_us(branch->request->x->loop);
        WRIT_IGNORE(writ_catalog_new(&branch->catalog)); /* without memory nothing is learned */
    }
}

/* The upstream where the list continues gives its next page, later ones their first. */
static enum writ_step
start_merged(struct writ_request *request)
{
    static const struct writ_view none = {NULL, 0};
    struct writ_view cursor = none;
    struct writ_fanout *fanout;
    size_t from = 0;

    if (!read_cursor(request, &from, &cursor)) {
        return writ_refusal_http(request, 200, WRIT_RPC_INVALID_PARAMS,
            WRIT_REASON_MALFORMED_REQUEST, "the cursor is of no list here");
    }
    fanout = writ_fanout_make(request, from, WRIT_STEP_MERGE);
    for (size_t i = 0; fanout != NULL && i < fanout->n; i++) {
        bool goes_on = i == 0 && cursor.ptr != NULL;
        struct writ_view body = page_body(request, goes_on ? cursor : none);
        if (!goes_on) {
            begin_learning(&fanout->branches[i]);
        }
        if (body.ptr != NULL && (!goes_on || note_cursor(&fanout->branches[i], cursor))) {
            (void)writ_fanout_ask(fanout, &fanout->branches[i], body);
        } else {
            fanout->branches[i].incomplete = true;
        }
    }
    return fanout != NULL ? writ_fanout_wait(request)
                          : writ_refusal_http(request, 503, WRIT_RPC_INTERNAL_ERROR,
                                WRIT_REASON_OVERLOADED, NULL);
}

/* The endpoint's only upstream gets the client's own message. */
static enum writ_step
start_filtered(struct writ_request *request)
{
    struct writ_fanout *fanout = writ_fanout_make(request, 0, WRIT_STEP_MERGE);

    if (fanout == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    if (writ_json_get(request->message.params, WRIT_LIT("cursor")) == NULL) {
        begin_learning(&fanout->branches[0]);
    }
    (void)writ_fanout_ask(fanout, &fanout->branches[0], request->x->body);
    return writ_fanout_wait(request);
}

enum writ_step
writ_lists_start(struct writ_request *request)
{
    return request->endpoint->only == NULL ? start_merged(request) : start_filtered(request);
}
