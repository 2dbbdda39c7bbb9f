/* admit.c - the first steps of every request: its caller, message, session and route. A request
 * that fails one of them is refused before anything is judged or sent. */
#include "gateway/mcp/meta_namespace.h"
#include "gateway/request/refusal.h"
#include "gateway/request/request.h"
#include "gateway/state/session_row.h"
#include "gateway/upstream/client_env.h"
#include "store/ledger/ledger.h"

#define LOOK_US 10000000 /* between looks for the row of a session that other gateways may end */

/* Limits the open requests of one agent, so that others are served. */
static enum writ_step
crowded(struct writ_request *request, enum writ_code code)
{
    bool shared = code == WRIT_E_LIMIT;

    return writ_refusal_http(request, shared ? 429 : 503, WRIT_RPC_INTERNAL_ERROR,
        shared ? WRIT_REASON_SHARE_EXCEEDED : WRIT_REASON_OVERLOADED, NULL);
}

/* Why the environment that a client gives is not taken; NULL: it gives none, or it is taken. Only a
 * configuration that says so lets a client choose what surrounds a program of its user. */
static const char *
fault_of_environment(struct writ_request *request, struct writ_err *err)
{
    struct writ_view given = writ_exchange_header(request->x, WRIT_LIT(WRIT_CLIENT_ENV_FIELD));
    const struct writ_upstream *only = request->endpoint->only;
    struct writ_client_env env;

    if (given.ptr == NULL) {
        return NULL;
    }
    if (!request->x->peer->same_user) {
        return WRIT_CLIENT_ENV_FIELD " is taken over a Unix socket alone";
    }
    if (only == NULL) {
        return WRIT_CLIENT_ENV_FIELD " is taken on the endpoint of one server alone";
    }
    if (!writ_upstream_config(only)->client_environment) {
        return WRIT_CLIENT_ENV_FIELD " is taken for a server with client_environment: true alone";
    }
    if (!writ_is_ok(writ_client_env_read(
            given, writ_upstream_config(only), request->x->arena, &env, err))) {
        return err->text;
    }
    return NULL;
}

/* The upstreams are about to stop. What programs tell of their own tools needs none of them. */
static bool
is_too_late(const struct writ_request *request)
{
    return atomic_load(&request->worker->refuses) && !request->endpoint->kind->problems &&
           request->x->method == WRIT_METHOD_POST && request->previous == NULL;
}

enum writ_step
writ_admit_agent(struct writ_request *request)
{
    const struct writ_identity_question question = {
        .authorization = writ_exchange_header(request->x, WRIT_LIT("Authorization")),
        .loopback = request->worker->gateway->config->listen.loopback,
        .endpoint = request->endpoint->path,
    };
    struct writ_identity_result identity;
    struct writ_err err = {{0}, 0, 0};
    const char *fault;
    writ_result taken;

    if (is_too_late(request)) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_SHUTTING_DOWN, NULL);
    }
    writ_identity_ask(request->worker->identity, &question, request->x->arena, &identity);
    if (identity.answer != WRIT_IDENTITY_KNOWN) {
        return writ_refusal_identity(request, &identity);
    }
    request->identity = identity;
    fault = fault_of_environment(request, &err);
    if (fault != NULL) {
        return writ_refusal_http(
            request, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_ENVIRONMENT_REFUSED, fault);
    }
    taken = writ_shares_take(&request->worker->shares, request->identity.agent.tenant,
        request->identity.agent.id, &request->charge, NULL);
    if (!writ_is_ok(taken)) {
        return crowded(request, taken.code);
    }
    if (request->previous != NULL) {
        return WRIT_STEP_REJUDGE;
    }

    switch (request->x->method) {
    case WRIT_METHOD_POST:
        return WRIT_STEP_READ;
    case WRIT_METHOD_GET:
    case WRIT_METHOD_DELETE:
        return WRIT_STEP_SESSION;
    case WRIT_METHOD_OPTIONS:
    case WRIT_METHOD_NONE:
        break;
    }
    return writ_refusal_http(request, 405, WRIT_RPC_SERVER_ERROR, WRIT_REASON_MALFORMED_REQUEST,
        "the method is not allowed");
}

static struct writ_json_limits
limits_of(const struct writ_limits *limits)
{
    return (struct writ_json_limits){
        .bytes = (size_t)limits->body_bytes,
        .depth = (size_t)limits->json_depth,
        .values = (size_t)limits->json_values,
        .name_bytes = writ_json_limits_default.name_bytes,
        .string_bytes = (size_t)limits->string_bytes,
        .number_bytes = writ_json_limits_default.number_bytes,
    };
}

enum writ_step
writ_admit_body(struct writ_request *request)
{
    struct writ_json_limits limits = limits_of(&writ_request_config(request)->limits);
    struct writ_err err = {{0}, 0, 0};

    writ_result r =
        writ_json_read(request->x->body, &limits, request->x->arena, &request->message.body, &err);
    if (writ_is_ok(r)) {
        return request->endpoint->kind->read;
    }
    request->message.body = NULL;
    if (r.code == WRIT_E_NOMEM) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    return writ_refusal_http(request, r.code == WRIT_E_LIMIT ? 413 : 400, WRIT_RPC_PARSE_ERROR,
        r.code == WRIT_E_LIMIT ? WRIT_REASON_REQUEST_TOO_LARGE : WRIT_REASON_MALFORMED_REQUEST,
        err.text);
}

/* Removes Writ's names from the _meta of a message that is forwarded unchanged. */
static enum writ_step
clear_ours(struct writ_request *request)
{
    writ_auto_buf text = writ_buf_make(2 * request->x->body.len + 65536);
    struct writ_view copy = {NULL, 0};

    if (writ_is_ok(writ_meta_namespace_put_without(request->message.body, &text, NULL))) {
        copy = writ_view_copy(writ_buf_view(&text), request->x->arena);
    }
    if (copy.ptr == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    request->x->body = copy;
    request->stated = request->message.meta;
    return WRIT_STEP_READ;
}

enum writ_step
writ_admit_message(struct writ_request *request)
{
    const struct writ_mcp_headers headers = {
        .version = writ_exchange_header(request->x, WRIT_LIT("MCP-Protocol-Version")),
        .method = writ_exchange_header(request->x, WRIT_LIT("Mcp-Method")),
        .name = writ_exchange_header(request->x, WRIT_LIT("Mcp-Name")),
    };
    struct writ_mcp_fault fault;

    if (writ_json_type(request->message.body) == WRIT_JSON_ARRAY) {
        return WRIT_STEP_BATCH;
    }
    if (!writ_is_ok(
            writ_mcp_classify(request->message.body, &headers, &request->message, &fault))) {
        request->message.id = writ_mcp_id(request->message.body);
        return writ_refusal_http(
            request, (unsigned)fault.status, fault.code, fault.reason, fault.text);
    }
    if (!writ_mcp_is_governed(request->message.method) &&
        writ_meta_namespace_in(request->message.body)) {
        return clear_ours(request);
    }
    request->method = writ_method_find(request->message.method);
    return WRIT_STEP_SESSION;
}

/* ---- the session ---- */

static enum writ_step
session_unknown(struct writ_request *request)
{
    return writ_refusal_http(
        request, 404, WRIT_RPC_SESSION_NOT_FOUND, WRIT_REASON_SESSION_UNKNOWN, NULL);
}

/* A session serves only the agent that opened it, on the endpoint where it was opened, until its
 * client ends it. */
static enum writ_step
use_session(struct writ_request *request, struct writ_session *session)
{
    request->session = session;
    if (!writ_session_is_of(session, &request->identity.agent) ||
        !writ_view_equal(session->endpoint, request->endpoint->path) ||
        atomic_load(&session->left)) {
        return session_unknown(request);
    }
    if (request->method == WRIT_MCP_INITIALIZE) {
        return writ_refusal_http(request, 400, WRIT_RPC_INVALID_REQUEST,
            WRIT_REASON_MALFORMED_REQUEST,
            "the session is initialized; a new one is asked for without an id");
    }
    writ_session_keep_environment(session, writ_request_environment(request));
    writ_session_row_refresh(request->worker, session);
    switch (request->x->method) {
    case WRIT_METHOD_GET:
        return WRIT_STEP_STREAM;
    case WRIT_METHOD_DELETE:
        return WRIT_STEP_LEAVE;
    case WRIT_METHOD_POST:
    case WRIT_METHOD_OPTIONS:
    case WRIT_METHOD_NONE:
        break;
    }
    return WRIT_STEP_ROUTE;
}

/* Its client may have ended it at another gateway of the ledger. Its run is sealed since then, so
 * that no call of it is granted; this ends the rest. */
static bool
is_to_be_looked_for(const struct writ_request *request, const struct writ_session *session)
{
    return writ_ledger_is_shared(request->worker->gateway->ledger) &&
           writ_loop_now_us(request->x->loop) - atomic_load(&session->looked_us) >= LOOK_US;
}

/* Its row was read. When it could not be, the session that is known goes on. */
static enum writ_step
session_again(struct writ_request *request, struct writ_session *session)
{
    if (request->entry.code == WRIT_OK) {
        atomic_store(&session->looked_us, writ_loop_now_us(request->x->loop));
    }
    return use_session(request, session);
}

/* Reads the row of a session that this process does not know: it was opened before a restart, or at
 * another gateway; or of one that was not looked for of late. */
static enum writ_step
session_from_row(struct writ_request *request, struct writ_view id)
{
    struct writ_session *session = NULL;
    struct writ_sessions *sessions = request->worker->gateway->sessions;

    if (request->entry.code == WRIT_E_ABSENT) {
        writ_sessions_remove(sessions, &request->entry.session.hash);
        return session_unknown(request);
    }
    session = writ_sessions_find(sessions, id, writ_loop_now_us(request->x->loop));
    if (session != NULL) {
        return session_again(request, session);
    }
    if (request->entry.code != WRIT_OK ||
        !writ_is_ok(writ_session_read(id, request->entry.session.value, &session, NULL))) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    atomic_store(&session->stored_us, request->entry.session.expires_us);
    if (!writ_is_ok(writ_sessions_add(sessions, &session, writ_loop_now_us(request->x->loop)))) {
        writ_session_drop(session);
        return writ_refusal_http(request, 503, WRIT_RPC_INTERNAL_ERROR,
            writ_sessions_crowded(sessions, &request->identity.agent) == WRIT_REASON_SHARE_EXCEEDED
                ? WRIT_REASON_SHARE_EXCEEDED
                : WRIT_REASON_OVERLOADED,
            NULL);
    }
    return use_session(request, session);
}

static enum writ_step
ask_row(struct writ_request *request, struct writ_view id)
{
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_SESSION_GET};
    if (!writ_is_ok(writ_session_hash(id, &request->entry.session.hash, NULL))) {
        return writ_refusal_http(
            request, 500, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_INTERNAL_ERROR, NULL);
    }
    return writ_request_submit(request, WRIT_STEP_SESSION);
}

/* GET or DELETE; the stateless revision has neither (2026-07-28, basic/transports). */
static enum writ_step
session_missing(struct writ_request *request)
{
    struct writ_view version = writ_exchange_header(request->x, WRIT_LIT("MCP-Protocol-Version"));

    return writ_refusal_http(request, writ_view_is(version, WRIT_MCP_MODERN) ? 405 : 400,
        WRIT_RPC_SERVER_ERROR, WRIT_REASON_SESSION_UNKNOWN, "a session id is required");
}

enum writ_step
writ_admit_session(struct writ_request *request)
{
    struct writ_view id = writ_exchange_header(request->x, WRIT_LIT("Mcp-Session-Id"));
    struct writ_session *session;

    if (request->entry.kind == WRIT_ENTRY_SESSION_GET) {
        return session_from_row(request, id);
    }
    /* the stateless revision has no sessions: the header is ignored (2026-07-28) */
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        return WRIT_STEP_ROUTE;
    }
    if (id.ptr == NULL) {
        return request->x->method == WRIT_METHOD_POST ? WRIT_STEP_ROUTE : session_missing(request);
    }
    session = writ_sessions_find(
        request->worker->gateway->sessions, id, writ_loop_now_us(request->x->loop));
    if (session != NULL && is_to_be_looked_for(request, session)) {
        writ_session_drop(session);
        return ask_row(request, id);
    }
    return session != NULL ? use_session(request, session) : ask_row(request, id);
}

/* ---- the path ---- */

/* Methods that the stateless revision no longer has (2026-07-28); a single server answers that
 * itself. */
static bool
is_gone(const struct writ_request *request)
{
    return request->message.era == WRIT_MCP_ERA_MODERN && request->endpoint->only == NULL &&
           (request->method == WRIT_MCP_PING || request->method == WRIT_MCP_SET_LEVEL ||
               request->method == WRIT_MCP_RESOURCES_SUBSCRIBE ||
               request->method == WRIT_MCP_RESOURCES_UNSUBSCRIBE);
}

/* Several upstreams have one answer about their revisions, the gateway's: that of server/discover.
 * A revision of the older family is known, or the session has agreed on it. */
static bool
is_version_taken(const struct writ_request *request)
{
    struct writ_view named = writ_exchange_header(request->x, WRIT_LIT("MCP-Protocol-Version"));

    if (request->endpoint->only != NULL || request->message.kind != WRIT_MCP_REQUEST ||
        request->method == WRIT_MCP_INITIALIZE || named.ptr == NULL) {
        return true;
    }
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        return writ_view_is(named, WRIT_MCP_MODERN);
    }
    return writ_mcp_is_legacy_version(named) ||
           (request->session != NULL && writ_view_equal(request->session->version, named));
}

/* The stateless revision has no tasks/result and tasks/list, the older one no tasks/update
 * (SEP-2663). */
static bool
is_of_era(const struct writ_request *request)
{
    if (request->message.kind != WRIT_MCP_REQUEST) {
        return false;
    }
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        return request->method != WRIT_MCP_TASKS_RESULT && request->method != WRIT_MCP_TASKS_LIST;
    }
    return request->method != WRIT_MCP_TASKS_UPDATE &&
           (request->method != WRIT_MCP_TASKS_LIST || request->endpoint->only != NULL);
}

/* A client may cancel it from here on. */
static enum writ_step
begin_call(struct writ_request *request)
{
    if (request->session != NULL && request->message.id != NULL) {
        request->open.id = request->message.id;
        writ_session_calls_add(&request->session->calls, &request->open);
    }
    return WRIT_STEP_JUDGE;
}

/* A call that was not sent will not be; of one that was, its tool server hears. */
static void
cancel(struct writ_request *request)
{
    const struct writ_json *id = writ_json_get(request->message.params, WRIT_LIT("requestId"));

    if (request->session != NULL && id != NULL) {
        writ_session_calls_cancel(&request->session->calls, id);
    }
}

enum writ_step
writ_admit_route(struct writ_request *request)
{
    bool only = request->endpoint->only != NULL;

    if (request->message.kind == WRIT_MCP_RESPONSE) {
        return WRIT_STEP_REPLY;
    }
    if (!is_version_taken(request)) {
        return writ_refusal_version(request);
    }
    if (is_gone(request)) {
        return writ_refusal_method(request);
    }
    switch (writ_method_route(request->method)) {
    case WRIT_ROUTE_UNKNOWN:
        return writ_method_may_pass(request->message.method) ? WRIT_STEP_PASS
                                                             : writ_refusal_method(request);
    case WRIT_ROUTE_CALL:
        return begin_call(request);
    case WRIT_ROUTE_HANDSHAKE:
        return WRIT_STEP_HANDSHAKE;
    case WRIT_ROUTE_NAMED:
    case WRIT_ROUTE_URI:
    case WRIT_ROUTE_COMPLETE:
        return WRIT_STEP_PASS;
    case WRIT_ROUTE_CANCEL:
        cancel(request);
        return only ? WRIT_STEP_PASS : WRIT_STEP_FANOUT;
    case WRIT_ROUTE_ALL:
    case WRIT_ROUTE_LOCAL:
        return only ? WRIT_STEP_PASS : WRIT_STEP_FANOUT;
    case WRIT_ROUTE_LIST: /* hidden characters are removed, also from the list of a single
                             upstream */
        return WRIT_STEP_FANOUT;
    case WRIT_ROUTE_SINGLE:
        return only ? WRIT_STEP_PASS : writ_refusal_method(request);
    case WRIT_ROUTE_STREAM:
        return WRIT_STEP_STREAM;
    case WRIT_ROUTE_TASK:
        return is_of_era(request) ? WRIT_STEP_TASK : writ_refusal_method(request);
    }
    return writ_refusal_method(request);
}
