/* conclude.c - CHECK, RECORD, KEPT and ANSWER: the end of a governed call.
 *
 * The client gets a result only when its outcome is durable. When the outcome cannot be written,
 * the client learns that the call ran, and the ledger keeps the outcome until it can write it. */
#include "gateway/call/conclude.h"

#include "gateway/call/after.h"
#include "gateway/call/follow.h"
#include "gateway/call/mrtr.h"
#include "gateway/call/retain.h"
#include "gateway/call/task_completion.h"
#include "gateway/mcp/meta_namespace.h"
#include "gateway/request/client_stream.h"
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"
#include "gateway/review/meet.h"

#include "evidence/json/write.h"
#include "gateway/request/resume.h"
#include "policy/decide/output.h"

#define REFUSAL_MAX         65536
#define RESPONSE_VALUES_MAX 262144

/* ---- CHECK ---- */

/* The answer arrived, but is too large to be checked. */
static void
large_answer(struct writ_conclusion *end)
{
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = WRIT_LIT("result_too_large");
    end->refusal = WRIT_REASON_RESULT_TOO_LARGE;
}

/* By its caller, or because its caller has left. */
static void
cancelled(struct writ_conclusion *end, bool gone)
{
    if (end->not_sent) {
        end->refusal = WRIT_REASON_CLIENT_GONE;
        return;
    }
    end->error_type = gone ? WRIT_LIT("client_gone") : WRIT_LIT("cancelled");
    end->refusal = WRIT_REASON_CALL_CANCELLED;
}

static void
no_answer(struct writ_conclusion *end, const struct writ_upcall_answer *answer, bool gone)
{
    end->not_sent = answer->sent == WRIT_NOT_SENT;
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = end->not_sent            ? WRIT_LIT(WRIT_OUTCOME_NOT_SENT)
                      : answer->detail != NULL ? writ_view_str(answer->detail)
                                               : WRIT_LIT("unknown");
    switch (answer->end) {
    case WRIT_UPCALL_TIMEOUT:
        end->outcome = end->not_sent ? WRIT_OUTCOME_ERROR : WRIT_OUTCOME_TIMEOUT;
        end->refusal = WRIT_REASON_UPSTREAM_TIMEOUT;
        return;
    case WRIT_UPCALL_CANCELLED:
        cancelled(end, gone);
        return;
    case WRIT_UPCALL_TOO_LARGE:
        large_answer(end);
        return;
    case WRIT_UPCALL_CROWDED:
        end->refusal = WRIT_REASON_SHARE_EXCEEDED;
        return;
    case WRIT_UPCALL_PROGRAM:
        end->refusal = WRIT_REASON_UPSTREAM_PROGRAM_CHANGED;
        return;
    case WRIT_UPCALL_NO_TOKEN:
        end->refusal =
            end->not_sent ? WRIT_REASON_UPSTREAM_TOKEN_MISSING : WRIT_REASON_UPSTREAM_FAILED;
        return;
    case WRIT_UPCALL_BROKEN:
    case WRIT_UPCALL_ANSWERED:
        break;
    }
    end->refusal = end->not_sent ? WRIT_REASON_UPSTREAM_UNAVAILABLE : WRIT_REASON_UPSTREAM_FAILED;
}

/* The reason of a refusal in Writ's own form, as a guard sends it. Any other answer gives no
 * reason: its words are the upstream's. */
static enum writ_reason
reason_in(struct writ_view body)
{
    writ_auto_arena arena = writ_arena_new(64 * REFUSAL_MAX);
    const struct writ_json *message = NULL;
    int64_t code = 0;

    if (arena == NULL || body.len > REFUSAL_MAX ||
        !writ_is_ok(writ_mcp_parse(body, arena, &message)) ||
        !writ_is_ok(writ_json_integer(
            writ_json_pointer(message, WRIT_LIT("/error/code")), INT64_MIN, INT64_MAX, &code)) ||
        code != WRIT_REFUSAL_CODE) {
        return WRIT_REASON_NONE;
    }
    return writ_reason_find(
        writ_json_string(writ_json_pointer(message, WRIT_LIT("/error/data/reason"))));
}

/* The upstream refused the gateway itself. Whatever it did before that, the call is not
 * repeated. */
static void
unauthorized_answer(struct writ_conclusion *end, struct writ_view body)
{
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = WRIT_LIT("upstream_unauthorized");
    end->refusal = WRIT_REASON_UPSTREAM_UNAUTHORIZED;
    end->theirs = reason_in(body);
}

/* The upstream says that it did not take the call. Only its own session is over: the client's
 * session continues. */
static void
session_lost(struct writ_conclusion *end)
{
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = WRIT_LIT("upstream_session_lost");
    end->refusal = WRIT_REASON_UPSTREAM_SESSION_LOST;
}

/* The answer does not belong to this call. Whether the call ran is not known. */
static void
malformed_answer(struct writ_conclusion *end)
{
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = WRIT_LIT("upstream_malformed");
    end->refusal = WRIT_REASON_UPSTREAM_MALFORMED;
}

/* Judges a response to this request, with a result or an error. An error with an HTTP status of its
 * own may lack the id: the message was refused before it was read. */
static void
judge_response(struct writ_request *request, const struct writ_json *response, unsigned status)
{
    struct writ_conclusion *end = &request->call->end;
    const struct writ_json *id = writ_json_get(response, WRIT_LIT("id"));
    const struct writ_json *result = writ_json_get(response, WRIT_LIT("result"));
    const struct writ_json *error = writ_json_get(response, WRIT_LIT("error"));
    bool same_id = writ_json_equal(id, request->message.id);
    bool refused = status >= 400 && (id == NULL || writ_json_type(id) == WRIT_JSON_NULL);

    if ((result == NULL) == (error == NULL) || !(same_id || (refused && error != NULL))) {
        malformed_answer(end);
        return;
    }
    end->response = response;
    if (result != NULL && status < 300) {
        end->outcome = WRIT_OUTCOME_EXECUTED;
        writ_mrtr_look(request, result);
        writ_task_completion_await(request, result);
        writ_after_response(request, response);
        return;
    }
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = status >= 400 ? WRIT_LIT("upstream_refused") : WRIT_LIT("upstream_error");
    if (result != NULL) {
        malformed_answer(end);
    } else {
        writ_after_response(request, response);
    }
}

/* Reads the answer strictly, without Writ's own names; a long event was read when it came. */
static writ_result
read_answer(struct writ_request *request, struct writ_view *text, const struct writ_json **ret)
{
    struct writ_ahead *ahead = request->call->reply.ahead;
    const struct writ_json *read = request->call->reply.response;
    const struct writ_json_limits limits = {
        .bytes = (size_t)writ_request_config(request)->limits.response_bytes,
        .depth = writ_json_limits_default.depth,
        .values = RESPONSE_VALUES_MAX,
        .name_bytes = writ_json_limits_default.name_bytes,
        .string_bytes = (size_t)writ_request_config(request)->limits.response_bytes,
        .number_bytes = writ_json_limits_default.number_bytes,
        .late_bytes = WRIT_JSON_LATE_BYTES,
    };

    if (read != NULL) {
        *ret = read;
        return (writ_result){
            text->len > limits.bytes || read->span > limits.values ? WRIT_E_LIMIT : WRIT_OK};
    }
    WRIT_TRY(writ_ahead_read(*text, &limits, ahead, request->x->arena, ret, NULL));
    return writ_meta_namespace_clear(&limits, request->x->arena, text, ret);
}

static void
check(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_upcall_answer *answer = &request->forward.answer;
    struct writ_view text = call->reply.answered ? call->reply.last.data : answer->body;
    const struct writ_json *response;
    writ_result r;

    if (call->reply.malformed) {
        malformed_answer(&call->end);
        return;
    }
    if (answer->end != WRIT_UPCALL_ANSWERED && !call->reply.answered) {
        no_answer(&call->end, answer, request->x->gone);
        return;
    }
    if (answer->status == 401 || answer->status == 403) {
        unauthorized_answer(&call->end, text);
        return;
    }
    if (request->late.lost) {
        session_lost(&call->end);
        return;
    }
    if (!call->reply.answered) {
        if (text.len == 0 ||
            !writ_header_has_type(answer->content_type, WRIT_LIT("application/json"))) {
            malformed_answer(&call->end);
            return;
        }
        call->reply.ahead = request->forward.upcall.request.ahead;
        text = answer->whole != NULL ? writ_buf_give(answer->whole, request->x->arena)
                                     : writ_view_copy(text, request->x->arena);
        call->reply.last.data = text;
    }
    r = read_answer(request, &text, &response);
    if (writ_is_ok(r)) {
        call->reply.last.data = text;
    }
    if (r.code == WRIT_E_LIMIT || r.code == WRIT_E_NOMEM || text.ptr == NULL) {
        large_answer(&call->end);
        return;
    }
    if (!writ_is_ok(r) || (answer->status >= 300 && answer->status < 400)) {
        malformed_answer(&call->end);
        return;
    }
    judge_response(request, response, answer->status);
    if (answer->sent == WRIT_NOT_SENT && call->end.outcome == WRIT_OUTCOME_ERROR) {
        call->end.not_sent = true; /* stdio: refused in place of the child, which did not get it */
        call->end.error_type = WRIT_LIT(WRIT_OUTCOME_NOT_SENT);
    }
}

enum writ_step
writ_conclude_check(struct writ_request *request)
{
    if (request->forward.withheld != WRIT_REASON_NONE &&
        request->forward.answer.sent == WRIT_NOT_SENT) {
        return writ_conclude_unsent(request, request->forward.withheld);
    }
    check(request);
    return WRIT_STEP_RECORD;
}

enum writ_step
writ_conclude_unsent(struct writ_request *request, enum writ_reason reason)
{
    struct writ_conclusion *end = &request->call->end;

    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = WRIT_LIT(WRIT_OUTCOME_NOT_SENT);
    end->not_sent = true;
    end->refusal = reason;
    return WRIT_STEP_RECORD;
}

/* Nothing of the answer is passed on, and a sent call may have run. */
enum writ_step
writ_conclude_give_up(struct writ_request *request)
{
    struct writ_call *call = request->call;
    bool sent = request->forward.sent_us > 0;

    if (call == NULL || !call->grant.owes) {
        return writ_refusal_http(
            request, 500, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_INTERNAL_ERROR, NULL);
    }
    call->end = (struct writ_conclusion){.outcome = WRIT_OUTCOME_ERROR,
        .error_type = sent ? WRIT_LIT("internal_error") : WRIT_LIT(WRIT_OUTCOME_NOT_SENT),
        .not_sent = !sent,
        .refusal = WRIT_REASON_INTERNAL_ERROR};
    return WRIT_STEP_RECORD;
}

/* ---- RECORD ---- */

/* A round of which nothing was sent waits again: the client may answer again. */
static void
wait_again(struct writ_call *call, int64_t wait_us)
{
    if (call->end.not_sent && call->mrtr.follows && call->end.waits == WRIT_WAIT_NONE) {
        call->end.waits = WRIT_WAIT_INPUT;
        call->end.name = call->mrtr.name;
        call->end.wait_us = wait_us;
    }
}

static enum writ_step
record_wait(struct writ_request *request)
{
    struct writ_call *call = request->call;

    call->grant.owes = false;
    request->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_WAIT,
        .wait = {.leaf = call->record.leaf,
            .kind = call->end.waits,
            .name = call->end.name,
            .until_us = writ_clock_wall_us(request->worker->gateway->clock) + call->end.wait_us},
    };
    return writ_request_submit(request, WRIT_STEP_KEPT);
}

/* The result or error that the caller gets; NULL: none. */
static const struct writ_json *
shown(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_json *message = call->end.response, *result;

    if (call->end.refusal != WRIT_REASON_NONE || call->end.not_sent) {
        return NULL;
    }
    if ((call->end.after_hash.len > 0 || call->end.said != NULL) && call->reply.last.data.len > 0) {
        message = NULL;
        WRIT_IGNORE(writ_mcp_parse(call->reply.last.data, request->x->arena, &message));
    }
    result = writ_json_get(message, WRIT_LIT("result"));
    return result != NULL ? result : writ_json_get(message, WRIT_LIT("error"));
}

/* `flow` of the outcome. The caller of the hook API has a result that it need not send. */
static struct writ_run_flow
flow_of(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_conclusion *end = &call->end;
    const struct writ_json *result = shown(request);
    bool unseen = result == NULL && end->refusal == WRIT_REASON_NONE &&
                  (end->said != NULL || end->after_hash.len > 0) &&
                  end->outcome != WRIT_OUTCOME_BLOCKED;

    if (end->waits != WRIT_WAIT_NONE || end->not_sent) {
        return (struct writ_run_flow){.text = {NULL, 0}};
    }
    return writ_follow_result(request->generation, call->verdict.rule,
        call->learned.known ? &call->learned.hints : NULL, result, unseen, request->x->arena);
}

enum writ_step
writ_conclude_record(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_conclusion *end = &call->end;
    const struct writ_tool_rule *rule = call->verdict.rule;
    const struct writ_run_flow flow = flow_of(request);
    const struct writ_after_marks marks = {.rules = end->output_rules,
        .before = end->before_hash,
        .after = end->after_hash,
        .refused = end->refusal,
        .flow = flow.text,
        .too_large = call->contents.too_large,
        .blocked = end->outcome == WRIT_OUTCOME_BLOCKED};

    wait_again(call, writ_request_config(request)->sessions.wait_us);
    if (end->waits != WRIT_WAIT_NONE) {
        return record_wait(request);
    }
    call->grant.owes = false;
    call->outcome = writ_outcome_for(&call->record.decision, end->outcome);
    if (end->outcome == WRIT_OUTCOME_ERROR) {
        call->outcome.error_type = writ_member_text(end->error_type);
    }
    if (end->said != NULL) {
        call->outcome.error_message = end->said->error_message;
        call->outcome.extensions = end->said->extensions;
        call->outcome.others = end->said->others;
    }
    if (end->output_hash.len > 0) {
        call->outcome.tool_output_hash = writ_member_text(end->output_hash);
    }
    if (!writ_is_ok(writ_after_extend(&marks, request->x->arena, &call->outcome.extensions))) {
        call->end.refusal = WRIT_REASON_OVERLOADED; /* without a digest the result is withheld */
    }
    request->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_OUTCOME,
        .outcome = {.leaf = call->record.leaf,
            .decision = &call->record.decision,
            .profile = request->worker->gateway->profile,
            .outcome = &call->outcome,
            .result = end->result,
            .result_ttl_us = end->result.len > 0 ? rule->replay_ttl_us : 0,
            .content = writ_retain_result(request->generation->keyring, &call->contents,
                &call->record.decision, &call->outcome,
                writ_clock_wall_us(request->worker->gateway->clock), request->x->arena)},
    };
    writ_follow_ended(request->worker->gateway, request->generation, request->identity.agent.tenant,
        &call->record.decision, &call->outcome, &flow);
    return writ_request_submit(request, WRIT_STEP_ANSWER);
}

/* ---- KEPT ---- */

/* The call that the ledger could not put to wait is over: no client can continue it. */
enum writ_step
writ_conclude_kept(struct writ_request *request)
{
    struct writ_conclusion *end = &request->call->end;

    if (request->entry.code == WRIT_OK) {
        return WRIT_STEP_ANSWER;
    }
    end->refusal = request->entry.code == WRIT_E_LIMIT ? WRIT_REASON_OVERLOADED
                                                       : WRIT_REASON_LEDGER_UNAVAILABLE;
    end->outcome = WRIT_OUTCOME_ERROR;
    end->error_type = WRIT_LIT("wait_not_recorded");
    end->output_hash = end->result = (struct writ_view){NULL, 0};
    end->waits = WRIT_WAIT_NONE;
    end->not_sent = false;
    request->call->mrtr.follows = false;
    return WRIT_STEP_RECORD;
}

/* ---- ANSWER ---- */

static const struct writ_header json_type = WRIT_HEADER_JSON;

/* The last event of a stream, after all waiting ones. */
static enum writ_step
end_stream(struct writ_request *request, struct writ_view message, bool held)
{
    const struct writ_sse_event *with = &request->call->reply.last;
    const struct writ_sse_event last = {.kind = WRIT_SSE_EVENT,
        .id = with->id,
        .event = with->event.ptr != NULL ? with->event : WRIT_LIT("message"),
        .data = message,
        .retry_ms = WRIT_SSE_NO_RETRY};

    if (held) {
        return writ_client_stream_end_with(request, &last);
    }
    return writ_client_stream_end(
        request, writ_is_ok(writ_sse_put(&request->stream.pending, &last, NULL)));
}

/* One message to the client: as the last event of its stream, or as the body. Ends the request.
 * `held`: it is in the arena of the exchange. */
static enum writ_step
deliver(struct writ_request *request, unsigned status, struct writ_view message, bool held)
{
    struct writ_exchange *x = request->x;

    writ_metrics_observe(
        x->metrics, WRIT_HISTOGRAM_CALL_SECONDS, writ_loop_now_us(x->loop) - x->arrived_us);
    if (writ_resume_settle(request, message, request->call->end.refusal != WRIT_REASON_NONE)) {
        return writ_client_stream_end(request, true);
    }
    if (request->stream.open) {
        return end_stream(request, message, held);
    }
    writ_finish_request(request);
    if (held) {
        writ_exchange_reply_held(x, status, &json_type, 1, message);
    } else {
        writ_exchange_reply(x, status, &json_type, 1, message);
    }
    return WRIT_STEP_DONE;
}

static bool
is_duplicate(enum writ_reason reason)
{
    return reason == WRIT_REASON_DUPLICATE_OUTCOME || reason == WRIT_REASON_DUPLICATE_IN_FLIGHT ||
           reason == WRIT_REASON_IDEMPOTENCY_KEY_REUSE ||
           reason == WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN;
}

/* No memory for the refusal. A stream that has begun has its status: it is cut, and never ends as
 * if it were complete. */
static enum writ_step
refuse_without_words(struct writ_request *request)
{
    if (!request->stream.open) {
        return writ_refusal_http(request, 503, WRIT_REFUSAL_CODE, WRIT_REASON_OVERLOADED, NULL);
    }
    return writ_client_stream_end(request, false);
}

struct writ_denial
writ_conclude_refusal(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_entry_decision *entry = &request->entry.decision;
    bool decided = request->entry.kind == WRIT_ENTRY_DECISION;

    return (struct writ_denial){
        .reason = call->end.refusal,
        .theirs = call->end.theirs,
        .decision_id = call->record.decision.decision_id.view,
        .argument = decided ? call->verdict.argument : (struct writ_view){NULL, 0},
        .constraint = decided ? call->verdict.constraint : (struct writ_view){NULL, 0},
        .accepted = decided ? call->verdict.accepted : (struct writ_view){NULL, 0},
        .hint = decided ? call->verdict.hint : (struct writ_view){NULL, 0},
        .ask = decided && call->review.asks ? &call->review.ask : NULL,
        .budget = decided ? entry->exceeded.budget : (struct writ_view){NULL, 0},
        .prior = decided && is_duplicate(call->end.refusal) ? &entry->prior : NULL,
        /* also for a call that ran and is not on disk: without this a client would think that it
         * did not run */
        .execution_unknown =
            !decided && !call->end.not_sent &&
            (request->entry.code != WRIT_OK || call->end.outcome != WRIT_OUTCOME_EXECUTED),
    };
}

static enum writ_step
answer_refusal(struct writ_request *request)
{
    const struct writ_denial refusal = writ_conclude_refusal(request);
    writ_auto_buf body = writ_buf_make(REFUSAL_MAX);

    writ_metrics_mark(request->x->metrics, WRIT_VECTOR_REFUSALS, refusal.reason);
    writ_denial_put(&body, request, &refusal);
    if (!writ_is_ok(writ_buf_check(&body, NULL))) {
        return refuse_without_words(request);
    }
    if (refusal.reason == WRIT_REASON_INSUFFICIENT_SCOPE && request->identity.issuer != NULL) {
        return writ_refusal_step_up(request, &body); /* the caller can request more scopes from its
                                                        issuer */
    }
    return deliver(request, 200, writ_buf_view(&body), false);
}

/* A duplicate under `duplicates: replay`: the first call's result under this call's id. */
static enum writ_step
answer_replay(struct writ_request *request)
{
    struct writ_view result = request->entry.decision.prior.result;
    writ_auto_buf body = writ_buf_make(2 * result.len + WRIT_OUTPUT_GROWTH_MAX + REFUSAL_MAX);
    struct writ_write w = writ_write_to(&body);
    enum writ_reason refused = writ_after_replay(request, &result);

    if (refused != WRIT_REASON_NONE) {
        request->call->end.refusal = refused;
        return answer_refusal(request);
    }
    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("result"));
    writ_write_raw(&w, result);
    writ_write_object_end(&w);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        return answer_refusal(request);
    }
    writ_metrics_count(request->x->metrics, WRIT_COUNTER_REPLAYS, 1);
    return deliver(request, 200, writ_buf_view(&body), false);
}

enum writ_step
writ_conclude_mcp(struct writ_request *request)
{
    struct writ_call *call = request->call;
    const struct writ_entry *entry = &request->entry;

    if (entry->kind == WRIT_ENTRY_DECISION) {
        return entry->code == WRIT_OK && entry->decision.prior.result.ptr != NULL
                   ? answer_replay(request)
                   : answer_refusal(request);
    }
    if (entry->code != WRIT_OK) { /* it ran, but that is not on disk: the answer is withheld */
        call->end.refusal = WRIT_REASON_LEDGER_UNAVAILABLE;
    }
    if (call->end.refusal != WRIT_REASON_NONE) {
        return answer_refusal(request);
    }
    return deliver(request,
        writ_meet_hides(request, request->forward.answer.status) ? 200
                                                                 : request->forward.answer.status,
        call->reply.last.data, true);
}
