/* forward.c - SIGN and FORWARD: makes the credential, writes the judged message, and sends it once.
 *
 * The forwarded message is written from the parsed value that was judged: members in the order of
 * the client, strings and numbers in canonical form, so that the upstream cannot read another value
 * and sees the order of the client. */
#include "gateway/call/forward.h"

#include "gateway/call/client_event.h"
#include "gateway/request/client_stream.h"
#include "gateway/call/conclude.h"
#include "gateway/request/resume.h"
#include "gateway/review/meet.h"
#include "gateway/mcp/meta_namespace.h"
#include "gateway/request/request.h"
#include "gateway/request/request_span.h"
#include "gateway/request/upcall_request.h"

#include "evidence/credential/credential.h"
#include "evidence/json/write.h"

#define CREDENTIAL_META WRIT_LIT("io.writ/credential")

#define US_PER_S INT64_C(1000000)

/* ---- SIGN ---- */

/* The call as stops see it; `policy` has room for its text. */
static struct writ_kill_call
seen_by_stops(const struct writ_request *request, char policy[WRIT_DIGEST_TEXT])
{
    const struct writ_call *call = request->call;

    writ_digest_text(&writ_request_config(request)->policy_digest, policy);
    return (struct writ_kill_call){
        .agent_id = request->identity.agent.id,
        .tenant = request->identity.agent.tenant,
        .upstream = call->callee.name,
        .tool = call->callee.tool,
        .policy = {policy, WRIT_DIGEST_TEXT - 1},
        .decision_id = call->record.authorization.decision_id.view,
    };
}

/* The credential's place in the list of revoked ones. WRIT_E_MISMATCH: a stop was pulled since the
 * call was judged. */
static WRIT_RESULT
find_place(
    const struct writ_request *request, struct writ_view issuer, struct writ_claim_status *ret)
{
    const struct writ_gateway *gateway = request->worker->gateway;
    int64_t lasts_s = writ_request_config(request)->credential.lifetime_us / US_PER_S + 1;
    char policy[WRIT_DIGEST_TEXT];
    const struct writ_kill_call seen = seen_by_stops(request, policy);
    struct writ_buf uri =
        writ_buf_in(request->x->arena, issuer.len + sizeof WRIT_STOP_RULES_WELL_KNOWN);

    writ_stop_rules_put_uri(&uri, issuer);
    WRIT_TRY(writ_buf_check(&uri, NULL));
    if (!writ_stop_rules_admit(gateway->stop_rules, &seen,
            writ_clock_wall_us(gateway->clock) / US_PER_S + lasts_s, &ret->place)) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    ret->uri = writ_buf_view(&uri);
    return WRIT_DONE;
}

writ_result
writ_forward_credential(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_config *config = writ_request_config(request);
    struct writ_credential_request wanted = {
        .decision = &call->record.authorization,
        .issuer = config->issuer.len > 0 ? config->issuer : request->worker->gateway->issuer,
        .audience = call->callee.framework != NULL
                        ? call->callee.framework->resource
                        : writ_upstream_config(call->callee.upstream)->resource,
        .tenant = request->identity.agent.tenant,
        .typ = config->credential.typ,
        .subject = request->identity.agent.subject,
    };
    struct writ_buf token = writ_buf_in(request->x->arena, WRIT_JWS_BYTES_MAX);

    WRIT_TRY(find_place(request, wanted.issuer, &wanted.status));
    WRIT_TRY(writ_credential_issue(request->generation->signer, &wanted, &token, NULL));
    call->grant.credential = writ_buf_view(&token);
    return WRIT_DONE;
}

/* Whether no other gateway may have given the call an end since it was granted here. */
static bool
is_ours(const struct writ_request *request)
{
    return writ_ledger_may_send(request->worker->gateway->ledger, request->call->record.epoch);
}

enum writ_step
writ_forward_sign(struct writ_request *request)
{
    writ_result issued;

    if (writ_meet_is_due(request, request->call->callee.upstream)) { /* it was lost since LATE */
        return writ_meet_start(request, request->call->callee.upstream, WRIT_STEP_SIGN);
    }
    if (writ_meet_is_late(
            request, request->call->callee.upstream)) { /* the upstream does not know the session */
        return writ_conclude_unsent(request, writ_meet_fault(request));
    }
    if (!is_ours(request)) {
        return writ_conclude_unsent(request, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
    issued = writ_forward_credential(request);
    if (!writ_is_ok(issued)) {
        return writ_conclude_unsent(request,
            issued.code == WRIT_E_MISMATCH ? WRIT_REASON_KILLED : WRIT_REASON_CREDENTIAL_FAILED);
    }
    return writ_request_together(request, request->endpoint->kind->sent);
}

/* ---- FORWARD: the message ---- */

/* Numbers of the arguments, and of input, whose digest is recorded, are forwarded in canonical
 * form, so that no parser reads another number than the judged one. Other numbers are forwarded as
 * written: they were not judged, and may have no canonical form. */

/* What the gateway adds to _meta; empty: nothing. */
struct own_meta {
    struct writ_view credential, traceparent, tracestate;
};

static bool
is_own(const struct own_meta *own, struct writ_view key)
{
    return writ_meta_namespace_is(key) ||
           (own->traceparent.len > 0 &&
               (writ_view_is(key, "traceparent") || writ_view_is(key, "tracestate")));
}

/* The client's members of our namespace are removed; only our credential is added
 * (meta_namespace.h), and our trace context in place of the client's. */
static void
put_meta(struct writ_write *w, const struct writ_json *meta, const struct own_meta *own)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, meta)
    {
        struct writ_view key = writ_json_string(name);
        if (!is_own(own, key)) {
            writ_write_name(w, key);
            writ_write_verbatim(w, writ_json_value(name));
        }
    }
    writ_write_text_if(w, "traceparent", own->traceparent);
    writ_write_text_if(w, "tracestate", own->tracestate);
    if (own->credential.len > 0) {
        writ_write_name(w, CREDENTIAL_META);
        writ_write_string(w, own->credential);
    }
    writ_write_object_end(w);
}

/* A requestState of the gateway itself is not for the tool server. */
static bool
is_between_us(const struct writ_call *call, struct writ_view key)
{
    return call->returned.state.ptr != NULL &&
           (writ_view_is(key, "requestState") || writ_view_is(key, "inputResponses"));
}

static void
put_params(struct writ_write *w, const struct writ_request *request, const struct own_meta *own)
{
    const struct writ_call *call = request->call;

    writ_write_object_begin(w);
    if ((own->credential.len > 0 || own->traceparent.len > 0) && request->message.meta == NULL) {
        writ_write_name(w, WRIT_LIT("_meta"));
        put_meta(w, NULL, own);
    }
    WRIT_JSON_EACH(name, request->message.params)
    {
        struct writ_view key = writ_json_string(name);

        if (is_between_us(call, key)) {
            continue;
        }
        writ_write_name(w, key);
        if (writ_view_is(key, "_meta")) {
            put_meta(w, request->message.meta, own);
        } else if (writ_view_is(key, "name")) {
            writ_write_string(w, call->callee.tool);
        } else if (writ_view_is(key, "task")) {
            writ_write_verbatim(w, writ_json_value(name));
        } else {
            writ_write_ordered(w, writ_json_value(name));
        }
    }
    writ_write_object_end(w);
}

static writ_result
make_meta(struct writ_request *request, struct own_meta *ret)
{
    const struct writ_call *call = request->call;

    *ret = (struct own_meta){.credential = {NULL, 0}};
    if (writ_upstream_config(call->callee.upstream)->credential_meta) {
        ret->credential = call->grant.credential;
    }
    return writ_request_span_is_sent(request)
               ? writ_request_span_texts(request, &ret->traceparent, &ret->tracestate)
               : WRIT_DONE;
}

static writ_result
write_message(const struct writ_request *request, const struct own_meta *own, struct writ_view *ret)
{
    size_t likely =
        request->x->body.len + own->credential.len + own->tracestate.len + 2 * own->traceparent.len;
    /* "1e20" has 21 digits in canonical form: nothing grows more */
    struct writ_buf body = writ_buf_in(request->x->arena, 6 * likely + 65536);
    struct writ_write w = writ_write_to(&body);

    (void)writ_buf_reserve(&body, likely + 64); /* a failure stays in the buffer */

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("id"));
    writ_write_value(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("jsonrpc"));
    writ_write_string(&w, WRIT_LIT("2.0"));
    writ_write_name(&w, WRIT_LIT("method"));
    writ_write_string(&w, request->message.method);
    writ_write_name(&w, WRIT_LIT("params"));
    put_params(&w, request, own);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    *ret = writ_buf_view(&body);
    return WRIT_DONE;
}

/* ---- FORWARD: the answer as it comes ---- */

static void
on_stream(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = upcall->ctx;

    (void)answer;
    if (!request->stream.open) { /* else it was held */
        writ_client_stream_begin(request);
    }
}

static struct writ_view
copy_or_absent(struct writ_view text, struct writ_arena *arena)
{
    return text.ptr != NULL ? writ_view_copy(text, arena) : text;
}

/* The server has answered but does not end its stream: no later event matters. */
static void
stop_listening(struct writ_timer *timer)
{
    struct writ_request *request = timer->ctx;

    writ_upcall_cancel(&request->forward.upcall, false);
}

/* The response is held until its outcome is durable; later events are dropped. */
static void
on_event(struct writ_upcall *upcall, const struct writ_sse_event *event)
{
    struct writ_request *request = upcall->ctx;
    struct writ_call *call = request->call;
    writ_auto_buf data = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    writ_auto_buf id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);

    if (call->reply.answered) {
        return;
    }
    writ_resume_note(request, event);
    if (!writ_client_event_pass_of_call(request, event, &data)) {
        return;
    }
    call->reply.answered = true;
    writ_loop_timer_cancel(&request->timer);
    request->timer = (struct writ_timer){.fn = stop_listening, .ctx = request};
    writ_loop_timer_set(request->x->loop, &request->timer,
        writ_loop_now_us(request->x->loop) + WRIT_UPCALL_REST_US);
    call->reply.last = *event;
    call->reply.last.memory = NULL;
    if (call->reply.response == NULL) {
        call->reply.last.data = writ_buf_give(&data, request->x->arena);
    }
    call->reply.last.id =
        copy_or_absent(writ_client_stream_event_id(request, event->id, &id), request->x->arena);
    call->reply.last.event = copy_or_absent(event->event, request->x->arena);
}

static void on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer);

static const struct writ_upcall_events call_events = {
    .stream = on_stream, .event = on_event, .end = on_end};

static void
on_rest(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)upcall;
    (void)answer;
}

/* The rest of an existing stream: the head is that of the client's stream. */
static const struct writ_upcall_events rest_events = {
    .stream = on_rest, .event = on_event, .end = on_end};

static void
on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = upcall->ctx;
    struct writ_upcall_answer end = *answer;
    bool lost = writ_meet_is_lost(request, request->forward.upstream, &upcall->request, answer);

    request->forward.open = false;
    request->late.lost = lost && !writ_resume_is_asking(request);
    writ_loop_timer_cancel(&request->timer);
    if (!writ_resume_goes_on(request, &end)) {
        writ_resume_conclude(request, &end);
    }
}

/* ---- FORWARD ---- */

/* Right before the first byte: while a connection was made or a child started, this process may
 * have been paused, another gateway may have given the call its end, a stop may have been pulled,
 * or its client may have cancelled it. For a child this runs on its loop; it reads what no longer
 * changes, and writes what is read after the end of the upcall. */
static bool
may_begin(void *ctx)
{
    struct writ_request *request = ctx;
    char policy[WRIT_DIGEST_TEXT];
    const struct writ_kill_call seen = seen_by_stops(request, policy);

    request->forward.withheld = WRIT_REASON_NONE;
    if (!is_ours(request)) {
        request->forward.withheld = WRIT_REASON_LEDGER_UNAVAILABLE;
    } else if (writ_stop_rules_stops(request->worker->gateway->stop_rules, &seen)) {
        request->forward.withheld = WRIT_REASON_KILLED;
    } else if (writ_request_is_cancelled(request)) {
        request->forward.withheld = WRIT_REASON_CLIENT_GONE;
    }
    return request->forward.withheld == WRIT_REASON_NONE;
}

enum writ_step
writ_forward_send(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_upstream_config *to = writ_upstream_config(call->callee.upstream);
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_upcall_request *wanted = &request->forward.upcall.request;
    const struct writ_tool_rule *rule = call->verdict.rule;
    struct own_meta own;

    if (!writ_is_ok(make_meta(request, &own)) ||
        !writ_is_ok(writ_upcall_request_make(
            request, call->callee.upstream, call->callee.tool, headers, wanted)) ||
        !writ_resume_prepare(request, &rest_events) ||
        !writ_is_ok(write_message(request, &own, &wanted->body))) {
        return writ_conclude_unsent(request, WRIT_REASON_OVERLOADED);
    }
    if (to->credential_header.len > 0) {
        headers[wanted->headers_n++] =
            (struct writ_header){to->credential_header, call->grant.credential};
    }
    if (rule->timeout_us > 0) {
        wanted->timeout_us = rule->timeout_us;
    }
    wanted->total_us = call->reply.total_us = wanted->timeout_us;
    wanted->once = true;
    wanted->ahead = writ_arena_get(request->x->arena, sizeof *wanted->ahead);
    if (wanted->ahead != NULL) {
        writ_ahead_begin(wanted->ahead, WRIT_LIT("result"), WRIT_AHEAD_BYTES);
    }
    wanted->may_begin = may_begin;
    wanted->begin_ctx = request;
    if (request->worker->expired) { /* the gateway stops and would not see the answer */
        return writ_conclude_unsent(request, WRIT_REASON_OVERLOADED);
    }
    if (writ_request_is_cancelled(request) ||
        (request->x->gone && request->message.era == WRIT_MCP_ERA_MODERN)) {
        return writ_conclude_unsent(request, WRIT_REASON_CLIENT_GONE);
    }
    if (!is_ours(request)) {
        return writ_conclude_unsent(request, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
    /* a governed call is only sent from here, and this takes the permit away */
    WRIT_INVARIANT(writ_binding_spend(&call->grant.permit, NULL));
    request->forward.sent_us = writ_loop_now_us(request->x->loop);
    request->forward.upcall.events = &call_events;
    request->forward.upcall.ctx = request;
    request->forward.upstream = call->callee.upstream;
    request->forward.open = true;
    writ_client_stream_watch(request);
    writ_upcall_start(call->callee.upstream, request->worker, &request->forward.upcall);
    return writ_request_wait(request, WRIT_STEP_CHECK);
}
