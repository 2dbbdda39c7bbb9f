/* refusal.c - builds an error for the form that the request's endpoint and revision use, and ends
 * the request with it. A refusal on a stream that has begun is its last event. */
#include "gateway/request/refusal.h"

#include "gateway/listener/problem.h"
#include "gateway/request/client_stream.h"
#include "gateway/auth/resource.h"
#include "gateway/request/finish.h"
#include "gateway/request/tally.h"

#define VERSION_MAX 64 /* bytes of a revision's name that are echoed */

/* The fault of a message, in the form of its endpoint. */
struct fault {
    unsigned status;
    int code; /* JSON-RPC */
    enum writ_reason reason;
    const char *text; /* NULL: the reason's sentence */
};

static struct writ_header
type_of(const struct writ_endpoint *endpoint)
{
    return endpoint->kind->problems ? (struct writ_header){WRIT_LIT("Content-Type"),
                                          WRIT_LIT("application/problem+json")}
                                    : (struct writ_header)WRIT_HEADER_JSON;
}

/* Begins an error up to the members of its data. */
static struct writ_write
begin_fault(struct writ_buf *buf, const struct writ_json *id, int code, enum writ_reason reason,
    struct writ_view text)
{
    struct writ_write w = writ_write_to(buf);

    writ_mcp_open(&w, id);
    writ_write_name(&w, WRIT_LIT("error"));
    writ_write_object_begin(&w);
    writ_write_integer(&w, "code", code);
    writ_write_text_if(&w, "message", text);
    writ_write_name(&w, WRIT_LIT("data"));
    writ_write_object_begin(&w);
    writ_write_text_if(&w, "reason", writ_reason_name(reason));
    writ_write_text_if(&w, "hint", writ_reason_hint(reason));
    return w;
}

void
writ_refusal_put_fault(struct writ_buf *buf, const struct writ_json *id, int code,
    enum writ_reason reason, struct writ_view text)
{
    struct writ_write w = begin_fault(buf, id, code, reason, text);

    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

static void
put_fault(struct writ_buf *buf, const struct writ_endpoint *endpoint, const struct writ_json *id,
    const struct fault *fault)
{
    if (endpoint->kind->problems) {
        writ_problem_put(buf, fault->status, fault->reason, fault->text, NULL);
        return;
    }
    writ_refusal_put_fault(buf, id, fault->code, fault->reason,
        fault->text != NULL ? writ_view_str(fault->text) : writ_reason_sentence(fault->reason));
}

/* Ends the request. A stream that has begun has its status: there it is the last event. */
static enum writ_step
end_with(struct writ_request *request, unsigned status, const struct writ_header *headers,
    size_t count, const struct writ_buf *body)
{
    const struct writ_sse_event last = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = writ_buf_view(body),
        .retry_ms = WRIT_SSE_NO_RETRY};
    bool good = writ_is_ok(writ_buf_check(body, NULL));

    if (request->stream.open) {
        return writ_client_stream_end(
            request, good && writ_is_ok(writ_sse_put(&request->stream.pending, &last, NULL)));
    }
    return good ? writ_finish_reply(request, status, headers, count, writ_buf_view(body))
                : writ_finish_reply(request, 500, NULL, 0, (struct writ_view){NULL, 0});
}

/* The members of the data that the revision requires (2026-07-28,
 * UnsupportedProtocolVersionError). */
static void
put_versions(struct writ_buf *buf, const struct writ_request *request, const char *text)
{
    struct writ_view asked =
        writ_json_string(writ_json_get(request->message.meta, WRIT_LIT(WRIT_META_VERSION)));
    struct writ_write w = begin_fault(buf, request->message.id, WRIT_RPC_UNSUPPORTED_VERSION,
        WRIT_REASON_MALFORMED_REQUEST, writ_view_str(text));

    writ_write_name(&w, WRIT_LIT("supported"));
    writ_write_array_begin(&w);
    writ_write_string(&w, WRIT_LIT(WRIT_MCP_MODERN));
    writ_write_array_end(&w);
    writ_write_text(&w, "requested", asked.len <= VERSION_MAX ? asked : WRIT_LIT("longer"));
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

enum writ_step
writ_refusal_version(struct writ_request *request)
{
    static const char text[] = "MCP-Protocol-Version names a revision that is not spoken here";
    const struct writ_header headers[1] = {WRIT_HEADER_JSON};
    writ_auto_buf body = writ_buf_make(WRIT_REFUSAL_MAX);

    if (request->message.era != WRIT_MCP_ERA_MODERN) {
        return writ_refusal_http(
            request, 400, WRIT_RPC_SERVER_ERROR, WRIT_REASON_MALFORMED_REQUEST, text);
    }
    put_versions(&body, request, text);
    writ_metrics_mark(request->x->metrics, WRIT_VECTOR_REFUSALS, WRIT_REASON_MALFORMED_REQUEST);
    request->refused = WRIT_REASON_MALFORMED_REQUEST;
    return end_with(request, 400, headers, 1, &body);
}

enum writ_step
writ_refusal_http(struct writ_request *request, unsigned status, int code, enum writ_reason reason,
    const char *text)
{
    struct writ_exchange *x = request->x;
    const struct fault fault = {status, code, reason, text};
    struct writ_header headers[3] = {
        type_of(request->endpoint), {WRIT_LIT(WRIT_REFUSAL_FIELD), writ_reason_name(reason)}};
    size_t count = 2;
    writ_auto_buf body = writ_buf_make(WRIT_REFUSAL_MAX);

    put_fault(&body, request->endpoint, request->message.id, &fault);
    if (status == 503 || status == 429) {
        headers[count++] = (struct writ_header){WRIT_LIT("Retry-After"), WRIT_LIT("1")};
    }
    writ_metrics_mark(x->metrics, WRIT_VECTOR_REFUSALS, reason);
    request->refused = reason;
    return end_with(request, status, headers, count, &body);
}

void
writ_refusal_put_error(struct writ_buf *buf, const struct writ_json *id, enum writ_reason reason)
{
    writ_refusal_put_fault(buf, id, WRIT_REFUSAL_CODE, reason, writ_reason_sentence(reason));
}

void
writ_refusal_overloaded(struct writ_exchange *x)
{
    const struct writ_header headers[2] = {
        WRIT_HEADER_JSON, {WRIT_LIT("Retry-After"), WRIT_LIT("1")}};
    writ_auto_buf body = writ_buf_make(WRIT_REFUSAL_MAX);

    writ_refusal_put_error(&body, NULL, WRIT_REASON_OVERLOADED);
    writ_metrics_mark(x->metrics, WRIT_VECTOR_REFUSALS, WRIT_REASON_OVERLOADED);
    if (writ_is_ok(writ_buf_check(&body, NULL))) {
        writ_exchange_reply(x, 503, headers, 2, writ_buf_view(&body));
    } else {
        writ_exchange_reply(x, 500, NULL, 0, (struct writ_view){NULL, 0});
    }
}

static unsigned
identity_status(enum writ_identity_answer answer)
{
    switch (answer) {
    case WRIT_IDENTITY_INVALID:
    case WRIT_IDENTITY_MISSING:
        return 401;
    case WRIT_IDENTITY_MALFORMED:
        return 400;
    case WRIT_IDENTITY_NARROW:
        return 403;
    case WRIT_IDENTITY_UNAVAILABLE:
        return 503;
    case WRIT_IDENTITY_KNOWN:
        break;
    }
    return 500;
}

/* An answer with a challenge (only 401 and 403). Ends the request. */
static enum writ_step
reply_challenge(struct writ_request *request, unsigned status,
    const struct writ_resource_challenge *challenge, const struct writ_buf *body)
{
    struct writ_header headers[2] = {type_of(request->endpoint)};
    size_t count = 1;
    writ_auto_buf text = writ_buf_make(WRIT_REFUSAL_MAX);

    if (status == 401 || status == 403) {
        const struct writ_upstream *only = request->endpoint->only;
        const struct writ_resource resource = {
            .config = writ_request_config(request),
            .path = request->endpoint->path,
            .upstream = only != NULL ? writ_upstream_config(only)->name : writ_view(NULL, 0),
        };
        writ_resource_put_challenge(&resource, challenge, &text);
        headers[count++] = (struct writ_header){WRIT_LIT("WWW-Authenticate"), writ_buf_view(&text)};
    }
    return end_with(request, status, headers, count, body);
}

enum writ_step
writ_refusal_identity(struct writ_request *request, const struct writ_identity_result *identity)
{
    bool narrow = identity->answer == WRIT_IDENTITY_NARROW;
    const struct writ_resource_challenge challenge = {
        .error = identity->error,
        .description = identity->description,
        .agent = narrow ? &identity->agent : NULL,
    };
    const struct fault fault = {
        .status = identity_status(identity->answer),
        .code = WRIT_REFUSAL_CODE,
        .reason = narrow ? WRIT_REASON_INSUFFICIENT_SCOPE : WRIT_REASON_UNAUTHENTICATED,
    };
    writ_auto_buf body = writ_buf_make(WRIT_REFUSAL_MAX);

    put_fault(&body, request->endpoint, NULL, &fault);
    writ_metrics_mark(request->x->metrics, WRIT_VECTOR_REFUSALS, fault.reason);
    writ_tally_stranger(request->worker, request->x, identity);
    return reply_challenge(request, fault.status, &challenge, &body);
}

enum writ_step
writ_refusal_step_up(struct writ_request *request, const struct writ_buf *body)
{
    const struct writ_resource_challenge challenge = {
        .error = "insufficient_scope",
        .description = "the token lacks a scope that the tool needs",
        .agent = &request->identity.agent,
        .wanted = &request->call->verdict.rule->scopes,
    };

    return reply_challenge(request, 403, &challenge, body);
}

enum writ_step
writ_refusal_method(struct writ_request *request)
{
    bool elsewhere = request->endpoint->only == NULL && request->method == WRIT_MCP_UNKNOWN &&
                     writ_method_may_pass(request->message.method);

    if (request->message.kind == WRIT_MCP_REQUEST) {
        return writ_refusal_http(request, request->message.era == WRIT_MCP_ERA_MODERN ? 404 : 200,
            WRIT_RPC_METHOD_NOT_FOUND, WRIT_REASON_MALFORMED_REQUEST,
            elsewhere ? "Method not found: nothing in the message says which server is meant; send "
                        "it to the endpoint of that server, /mcp/NAME"
                      : "Method not found");
    }
    return writ_finish_accepted(request);
}
