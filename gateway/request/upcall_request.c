/* upcall_request.c - collects the fields of a request to an upstream. From the client only the
 * trace fields (field.tbl.h) and Mcp-Param-* are passed on, and none that Connection names. */
#include "gateway/request/upcall_request.h"

#include "evidence/json/write.h"
#include "gateway/request/request_span.h"
#include "policy/model/field.h"

/* for what a client and a definition give */
#define GIVEN_MAX (WRIT_UPCALL_HEADERS_MAX - WRIT_UPCALL_ADDED)

_Static_assert(WRIT_UPCALL_ADDED >= WRIT_REQUEST_SPAN_HEADERS + 3, "own fields have no room");

static const struct writ_view param_prefix = {"Mcp-Param-", sizeof "Mcp-Param-" - 1};

/* Fields that Connection names are for this hop alone (RFC 9110 7.6.1). */
static bool
is_for_this_hop(const struct writ_request *request, struct writ_view name)
{
    size_t n = 0;
    const struct writ_header *all = writ_exchange_headers(request->x, &n);

    for (size_t i = 0; i < n; i++) {
        struct writ_view rest = all[i].value;
        while (writ_view_equal_nocase(all[i].name, WRIT_LIT("Connection")) && rest.len > 0) {
            size_t comma = writ_view_find(rest, ',');
            if (writ_view_equal_nocase(writ_view_trim(writ_view_sub(rest, 0, comma)), name)) {
                return true;
            }
            rest = writ_view_sub(rest, comma + 1, SIZE_MAX);
        }
    }
    return false;
}

/* `traced`: the gateway has a trace context of its own for the upstream. */
static bool
is_passed(struct writ_view name, bool traced)
{
    return (writ_field_owner(name) == WRIT_FIELD_TRACE &&
               !(traced && !writ_view_equal_nocase(name, WRIT_LIT("baggage")))) ||
           (name.len > param_prefix.len &&
               writ_view_equal_nocase(writ_view_sub(name, 0, param_prefix.len), param_prefix));
}

static struct writ_view
encoded_name(struct writ_request *request, struct writ_view name)
{
    writ_auto_buf text = writ_buf_make(2 * name.len + 64);

    writ_mcp_header_encode(&text, name);
    return writ_is_ok(writ_buf_check(&text, NULL))
               ? writ_view_copy(writ_buf_view(&text), request->x->arena)
               : (struct writ_view){NULL, 0};
}

/* The trace context, and the members of the message that the stateless revision repeats in the
 * head. */
static writ_result
add_names(
    struct writ_request *request, struct writ_view name, struct writ_header *headers, size_t *count)
{
    struct writ_view value;

    if (writ_request_span_is_sent(request)) {
        WRIT_TRY(writ_request_span_add_headers(request, headers, count));
    }
    if (request->message.era != WRIT_MCP_ERA_MODERN || request->message.method.len == 0) {
        return WRIT_DONE;
    }
    headers[(*count)++] = (struct writ_header){WRIT_LIT("Mcp-Method"), request->message.method};
    if (name.ptr == NULL) {
        return WRIT_DONE;
    }
    value = encoded_name(request, name);
    if (value.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    headers[(*count)++] = (struct writ_header){WRIT_LIT("Mcp-Name"), value};
    return WRIT_DONE;
}

static writ_result
collect_headers(struct writ_request *request, struct writ_view name, struct writ_header *headers,
    size_t *ret_count)
{
    size_t n = 0, count = 0;
    const struct writ_header *all = writ_exchange_headers(request->x, &n);
    bool traced = writ_request_span_is_sent(request);

    for (size_t i = 0; i < n; i++) {
        if (!is_passed(all[i].name, traced) || is_for_this_hop(request, all[i].name)) {
            continue;
        }
        if (count == GIVEN_MAX) {
            return (writ_result){WRIT_E_LIMIT};
        }
        headers[count++] = all[i];
    }
    for (size_t i = 0; request->call != NULL && i < request->call->learned.heads_n; i++) {
        if (count == GIVEN_MAX) {
            return (writ_result){WRIT_E_LIMIT};
        }
        headers[count++] = request->call->learned.heads[i];
    }
    *ret_count = count;
    return add_names(request, name, headers, ret_count);
}

/* The server judges the types that the client accepts; none given means any (RFC 9110 12.5.1). */
static struct writ_view
accepted(const struct writ_request *request)
{
    struct writ_view accept = writ_exchange_list(request->x, WRIT_LIT("Accept"));

    return accept.ptr != NULL ? accept : WRIT_LIT("*/*");
}

/* A session's is that of its first request, also while the gateway calls on its own. */
static struct writ_view
environment_of(const struct writ_request *request)
{
    return request->session != NULL ? writ_session_environment(request->session)
                                    : writ_request_environment(request);
}

static void
fill(struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_header *headers, size_t count, struct writ_upcall_request *ret)
{
    const struct writ_upstream_config *to = writ_upstream_config(upstream);

    *ret = (struct writ_upcall_request){
        .method = request->x->method,
        .message = &request->message,
        .body = request->x->body,
        .session = writ_session_upstream(request->session, to->name),
        .version = request->endpoint->kind->version.len > 0
                       ? request->endpoint->kind->version
                       : writ_exchange_header(request->x, WRIT_LIT("MCP-Protocol-Version")),
        .accept = request->x->method == WRIT_METHOD_POST ? accepted(request)
                                                         : (struct writ_view){NULL, 0},
        .headers = headers,
        .headers_n = count,
        .body_max = (size_t)writ_request_config(request)->limits.response_bytes,
        .event_max = (size_t)writ_request_config(request)->limits.event_bytes,
        .timeout_us = to->timeout_us,
        .scope = request->session != NULL ? request->session->id : NULL,
        .agent = &request->identity.agent,
        .environment = environment_of(request),
        .client = request->session != NULL ? request->session->client : (struct writ_view){NULL, 0},
    };
}

writ_result
writ_upcall_request_make(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_header *headers, struct writ_upcall_request *ret)
{
    size_t count = 0;

    WRIT_TRY(collect_headers(request, name, headers, &count));
    fill(request, upstream, headers, count, ret);
    return WRIT_DONE;
}

static writ_result
make_own(struct writ_request *request, struct writ_upstream *upstream, struct writ_view name,
    struct writ_header *headers, struct writ_upcall_request *ret)
{
    size_t count = 0;

    WRIT_TRY(add_names(request, name, headers, &count));
    fill(request, upstream, headers, count, ret);
    ret->accept = (struct writ_view){NULL, 0};
    return WRIT_DONE;
}

writ_result
writ_upcall_request_own(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view body, struct writ_mcp_message *message, struct writ_header *headers,
    struct writ_upcall_request *ret)
{
    const struct writ_mcp_message asked = request->message;
    writ_result r;

    (void)writ_request_span_is_sent(
        request); /* by the client's message: it names the client's span */
    *message = (struct writ_mcp_message){.kind = WRIT_MCP_REQUEST, .era = asked.era};
    WRIT_TRY(
        writ_json_read(body, &writ_json_limits_default, request->x->arena, &message->body, NULL));
    message->id = writ_json_get(message->body, WRIT_LIT("id"));
    message->params = writ_json_get(message->body, WRIT_LIT("params"));
    message->meta = writ_json_get(message->params, WRIT_LIT("_meta"));
    message->method = writ_json_string(writ_json_get(message->body, WRIT_LIT("method")));
    message->name = writ_mcp_mirrored_name(message->method, message->params);
    request->message = *message; /* the fields of the head are made from the message */
    r = make_own(request, upstream, message->name, headers, ret);
    request->message = asked;
    ret->method = WRIT_METHOD_POST;
    ret->message = message;
    ret->body = body;
    return r;
}
