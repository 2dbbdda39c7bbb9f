/* review_ask.c - turns the draft of a decision into a review with terms, or into a deny. A call
 * that needs an approval never stays an allow. */
#include "gateway/review/review_ask.h"

#include "gateway/review/review_return.h"

#include "evidence/json/jcs.h"
#include "policy/decide/approval.h"
#include "policy/decide/conditions.h"
#include "policy/decide/terms.h"

bool
writ_review_ask_needed(const struct writ_call *call)
{
    return call->verdict.approval != NULL && !call->mrtr.follows;
}

static struct writ_view
text_or_empty(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view("", 0);
}

writ_result
writ_review_ask_refuse(struct writ_call *call, enum writ_reason reason, struct writ_arena *arena)
{
    struct writ_extension *extension = &call->record.extension;
    struct writ_decision *d = &call->record.decision;

    d->decision = writ_decision_route_text(WRIT_DECISION_DENY);
    d->reason = writ_member_text(writ_reason_sentence(reason));
    extension->reason = writ_member_text(writ_reason_name(reason));
    call->end.refusal = reason;
    return writ_extension_make(extension, arena, &d->extensions, NULL);
}

/* The call is the only candidate so far. */
static writ_result
offer_alone(struct writ_request *request, struct writ_call *call)
{
    struct writ_review *terms = &call->review.terms;
    const struct writ_review_ranking others = terms->options;
    struct writ_review_candidate *candidate = writ_arena_get(request->x->arena, sizeof *candidate);
    char *digest = writ_arena_get(request->x->arena, WRIT_DIGEST_TEXT);

    if (candidate == NULL || digest == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_digest_text(&call->record.state_free, digest);
    *candidate = (struct writ_review_candidate){
        .option = writ_review_candidate_at(call->review.place),
        .state_free_digest = writ_view_str(digest),
        .intent_digest = terms->intent_digest,
        .target_state_digest = terms->target_state_digest,
    };
    terms->candidates = candidate;
    terms->candidates_n = 1;
    writ_review_offer(terms, &others);
    return WRIT_DONE;
}

static writ_result
fill_terms(struct writ_request *request, struct writ_call *call)
{
    struct writ_arena *arena = request->x->arena;
    struct writ_review *terms = &call->review.terms;
    char *rules = writ_arena_get(arena, WRIT_DIGEST_TEXT);

    if (rules == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_digest_text(&call->verdict.approval->rules, rules);
    terms->rules_digest = writ_view_str(rules);
    terms->id = call->record.decision.decision_id.view;
    terms->intent_digest = text_or_empty(&call->record.decision.intent_digest);
    terms->target_state_digest = text_or_empty(&call->record.decision.target_state_digest);
    return call->verdict.approval->review->candidates ? offer_alone(request, call) : WRIT_DONE;
}

static writ_result
make_ask(struct writ_request *request, struct writ_call *call)
{
    struct writ_buf arguments =
        writ_buf_in(request->x->arena, (size_t)writ_request_config(request)->limits.body_bytes);
    struct writ_view boundary = call->run.id, conditions;

    if (call->run.previous.ptr != NULL) { /* a window of time: any later one matches */
        boundary = (struct writ_view){NULL, 0};
    }
    WRIT_TRY(writ_jcs_put(&arguments, call->callee.arguments, NULL));
    WRIT_TRY(writ_buf_check(&arguments, NULL));
    WRIT_TRY(writ_conditions_make(call->verdict.approval,
        call->learned.known ? &call->learned.hints : NULL, call->callee.arguments,
        call->follow.conditions, request->x->arena, &conditions, NULL));
    call->review.ask = (struct writ_ask){
        .terms = &call->review.terms,
        .arguments = writ_buf_view(&arguments),
        .target_state = call->observed.text,
        .conditions = conditions,
        .continuation = call->caller_claims.continuation,
        .boundary = boundary,
        .delegable = call->review.delegable,
    };
    return writ_ledger_review(
        &call->record.state_free, boundary, call->caller_claims.key, &call->review.ask.name, NULL);
}

writ_result
writ_review_ask_make(struct writ_request *request, struct writ_call *call)
{
    struct writ_decision *d = &call->record.decision;
    const struct writ_policy_call asked = {.agent = &request->identity.agent,
        .upstream = call->callee.name,
        .tool = call->callee.tool,
        .arguments = call->callee.arguments};
    writ_result r = writ_terms_make(call->verdict.approval, &asked,
        writ_clock_wall_us(request->worker->gateway->clock), request->x->arena,
        &call->review.terms);
    enum writ_reason fault;

    if (r.code == WRIT_E_INVALID) { /* no voter is left that could decide */
        return writ_review_ask_refuse(call, WRIT_REASON_REVIEW_UNAVAILABLE, request->x->arena);
    }
    WRIT_TRY(r);
    WRIT_TRY(writ_terms_delegable(
        call->verdict.approval, &asked, request->x->arena, &call->review.delegable));
    WRIT_TRY(fill_terms(request, call));
    WRIT_TRY(make_ask(request, call));
    fault = request->candidates == NULL ? writ_review_return_check(request, call)
                                        : WRIT_REASON_NONE; /* once for all of them */
    if (fault != WRIT_REASON_NONE) {
        return writ_review_ask_refuse(call, fault, request->x->arena);
    }
    d->decision = writ_decision_route_text(WRIT_DECISION_REQUIRE_APPROVAL);
    d->reason = writ_member_text(writ_reason_sentence(WRIT_REASON_APPROVAL_REQUIRED));
    call->end.refusal = WRIT_REASON_APPROVAL_REQUIRED;
    call->review.asks = true;
    return WRIT_DONE;
}
