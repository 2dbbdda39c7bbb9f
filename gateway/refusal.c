#include "gateway/refusal.h"

#include "gateway/api_answer.h"
#include "gateway/client_stream.h"
#include "gateway/continuation.h"
#include "gateway/refusal_text.h"
#include "gateway/resource.h"
#include "gateway/review_tell.h"
#include "gateway/review_url.h"
#include "gateway/tally.h"

#define VERSION_MAX    64    /* bytes of a revision's name that are said again */
#define VOICES_MAX     16384 /* bytes of what voters said, in one refusal */
#define RETRY_AFTER_MS 2000  /* what a caller that has to ask again is told */

/* What is wrong with a message, as its endpoint tells faults. */
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

/* Begins an error up to the members of its data, which go on. */
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
        writ_api_answer_put_problem(buf, fault->status, fault->reason, fault->text);
        return;
    }
    writ_refusal_put_fault(buf, id, fault->code, fault->reason,
        fault->text != NULL ? writ_view_str(fault->text) : writ_reason_sentence(fault->reason));
}

static void
reply(struct writ_exchange *x, unsigned status, const struct writ_header *headers, size_t count,
    const struct writ_buf *body)
{
    if (!writ_is_ok(writ_buf_check(body, NULL))) {
        writ_exchange_reply(x, 500, NULL, 0, (struct writ_view){NULL, 0});
        return;
    }
    writ_exchange_reply(x, status, headers, count, writ_buf_view(body));
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
    struct writ_exchange *x = request->x;

    if (request->streaming) {
        writ_client_stream_close(
            request, writ_is_ok(writ_buf_check(body, NULL)) &&
                         writ_is_ok(writ_sse_put(&request->pending, &last, NULL)));
        return WRIT_STEP_DONE;
    }
    writ_request_finish(request);
    reply(x, status, headers, count, body);
    return WRIT_STEP_DONE;
}

/* What of the data the revision asks for (2026-07-28, UnsupportedProtocolVersionError). */
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
    struct writ_header headers[2] = {type_of(request->endpoint)};
    size_t count = 1;
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
    reply(x, 503, headers, 2, &body);
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

/* An answer with a challenge (401 and 403 alone). Ends the request. */
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
        .agent = &request->agent,
        .wanted = &request->call->verdict.rule->scopes,
    };

    return reply_challenge(request, 403, &challenge, body);
}

struct writ_view
writ_refusal_wait_name(enum writ_wait_kind kind)
{
    switch (kind) {
    case WRIT_WAIT_INPUT:
        return WRIT_LIT("input");
    case WRIT_WAIT_TASK:
        return WRIT_LIT("task");
    case WRIT_WAIT_BIND:
        return WRIT_LIT("bind");
    case WRIT_WAIT_RUN:
        return WRIT_LIT("outcome");
    case WRIT_WAIT_NONE:
        break;
    }
    return writ_view(NULL, 0);
}

/* What became of the first call of a pair. */
static void
put_prior(struct writ_write *w, const struct writ_prior *prior)
{
    writ_write_text_if(w, "first_decision_id", prior->decision_id);
    writ_write_text_if(w, "first_outcome",
        prior->in_flight ? WRIT_LIT("in_flight") : writ_outcome_kind_name(prior->outcome));
    writ_write_text_if(w, "first_waits_for", writ_refusal_wait_name(prior->waits));
}

/* What the voters said, as data: text of strangers', which whoever shows it escapes. */
static void
put_voices(struct writ_write *w, const struct writ_ask *ask)
{
    size_t left = VOICES_MAX;

    if (ask->voices_n == 0) {
        return;
    }
    writ_write_name(w, WRIT_LIT("feedback"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < ask->voices_n && ask->voices[i].feedback.len <= left; i++) {
        const struct writ_ask_voice *voice = &ask->voices[i];

        writ_write_object_begin(w);
        writ_write_text_if(w, "voter", voice->voter);
        writ_write_text_if(w, "vote", writ_review_vote_name(voice->vote));
        writ_write_text_if(w, "feedback", voice->feedback);
        writ_write_object_end(w);
        left -= voice->feedback.len;
    }
    writ_write_array_end(w);
}

/* Under which review the call is, in which state, and for how long. */
static void
put_review(struct writ_write *w, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_URL_MAX);
    char until[WRIT_TIME_TEXT];

    if (ask->id.ptr == NULL) {
        return;
    }
    writ_write_text_if(w, "continuation_id", ask->id);
    writ_write_text_if(w, "review_state", writ_review_state_name(ask->state));
    put_voices(w, ask);
    if (writ_review_phase(ask->state) == WRIT_REVIEW_LIVE) {
        writ_time_format(ask->until_us, until);
        writ_write_text_if(w, "expires_at", writ_view_str(until));
        writ_review_url_put(&url, request->worker->gateway, writ_request_config(request), ask->id);
        writ_write_text_if(w, "review_url", writ_buf_view(&url));
        writ_write_integer(w, "retry_after_ms", RETRY_AFTER_MS);
    }
}

void
writ_refusal_put_members(
    struct writ_write *w, const struct writ_request *request, const struct writ_refusal *refusal)
{
    writ_write_text_if(w, "reason", writ_reason_name(refusal->reason));
    writ_write_text_if(w, "decision_id", refusal->decision_id);
    writ_write_text_if(w, "argument", refusal->argument);
    writ_write_text_if(w, "constraint", refusal->constraint);
    writ_write_text_if(w, "accepted", refusal->accepted);
    writ_write_text_if(w, "budget", refusal->budget);
    if (refusal->prior != NULL && refusal->prior->known) {
        put_prior(w, refusal->prior);
    }
    if (refusal->ask != NULL) {
        put_review(w, request, refusal->ask);
    }
    if (refusal->execution_unknown) {
        writ_write_text_if(w, "execution", WRIT_LIT("unknown"));
    }
    writ_write_text_if(
        w, "hint", refusal->hint.len > 0 ? refusal->hint : writ_reason_hint(refusal->reason));
}

/* The same for programs, beside a result that is for people and models. */
static void
put_meta(
    struct writ_write *w, const struct writ_request *request, const struct writ_refusal *refusal)
{
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("io.writ/refusal"));
    writ_write_object_begin(w);
    writ_refusal_put_members(w, request, refusal);
    writ_write_object_end(w);
    writ_write_object_end(w);
}

static void
put_error(struct writ_write *w, const struct writ_request *request,
    const struct writ_refusal *refusal, enum writ_review_tell form)
{
    bool elicits = form == WRIT_REVIEW_TELL_ELICITATION;
    writ_auto_buf text = writ_buf_make(WRIT_REFUSAL_TEXT_MAX);

    writ_refusal_text_put(&text, request, refusal);
    writ_write_name(w, WRIT_LIT("error"));
    writ_write_object_begin(w);
    writ_write_integer(w, "code", elicits ? WRIT_REVIEW_TELL_CODE : WRIT_REFUSAL_CODE);
    writ_write_text_if(w, "message", writ_buf_view(&text));
    writ_write_name(w, WRIT_LIT("data"));
    writ_write_object_begin(w);
    if (elicits) {
        writ_review_tell_put_elicitations(w, request, refusal->ask);
    }
    writ_refusal_put_members(w, request, refusal);
    writ_write_object_end(w);
    writ_write_object_end(w);
}

/* It is no refusal to the protocol: the client asks a person, and comes back. */
static void
put_input_required(struct writ_write *w, const struct writ_request *request,
    const struct writ_refusal *refusal, struct writ_view state)
{
    writ_write_name(w, WRIT_LIT("result"));
    writ_write_object_begin(w);
    writ_review_tell_put_input(w, request, refusal->ask, state);
    put_meta(w, request, refusal);
    writ_write_object_end(w);
}

/* For hosts that show a model only results: why, as text, and the data beside it. */
static void
put_result(
    struct writ_write *w, const struct writ_request *request, const struct writ_refusal *refusal)
{
    writ_auto_buf text = writ_buf_make(WRIT_REFUSAL_TEXT_MAX);

    writ_refusal_text_put(&text, request, refusal);
    writ_write_name(w, WRIT_LIT("result"));
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("content"));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_text_if(w, "type", WRIT_LIT("text"));
    writ_write_text_if(w, "text", writ_buf_view(&text));
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_flag(w, "isError", true);
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        writ_write_text_if(w, "resultType", WRIT_LIT("complete"));
    }
    put_meta(w, request, refusal);
    writ_write_object_end(w);
}

void
writ_refusal_put(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_refusal *refusal)
{
    const struct writ_call *call = request->call;
    enum writ_review_tell form = writ_review_tell_form(request, refusal->ask);
    writ_auto_buf state = writ_buf_make(WRIT_CONTINUATION_MAX);
    struct writ_write w = writ_write_to(buf);

    if (form == WRIT_REVIEW_TELL_INPUT &&
        !writ_is_ok(writ_review_tell_state(request, refusal->ask, &state))) {
        form = WRIT_REVIEW_TELL_REFUSAL;
    }
    writ_mcp_open(&w, request->message.id);
    if (form == WRIT_REVIEW_TELL_INPUT) {
        put_input_required(&w, request, refusal, writ_buf_view(&state));
    } else if (form == WRIT_REVIEW_TELL_REFUSAL && call != NULL && call->verdict.rule != NULL &&
               call->verdict.rule->refusal == WRIT_REFUSAL_RESULT) {
        put_result(&w, request, refusal);
    } else {
        put_error(&w, request, refusal, form);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}
