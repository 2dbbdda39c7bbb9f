/* 1. Each proposed call has a draft before any is recorded; only the draft of the first that policy
 *    does not refuse is, or of the first one when it refuses all.
 * 2. The review has a name of its own, from all proposed calls. For a caller that makes its calls
 *    itself, what was elected is looked up under it, without a record; the ledger checks it again
 *    when the elected call is granted. Another caller gets the place of the elected call, and sends
 *    that: only the message of the call itself is forwarded. */
#include "gateway/review/candidates.h"

#include "gateway/request/refusal.h"
#include "gateway/review/review_ask.h"
#include "gateway/review/review_return.h"

#include "evidence/json/write.h"
#include "policy/decide/approval.h"
#include "policy/model/config.h"

#define LEAST      2
#define RECORD_MAX 4096 /* bytes of what a record says of them */
#define SAME_TEXT  64
#define PIECES     (WRIT_REVIEW_CANDIDATES_MAX + 1)

struct writ_candidates {
    struct writ_call *calls[WRIT_REVIEW_CANDIDATES_MAX];
    size_t n, at; /* at: the one that is judged now */
    bool asked;   /* all have a draft */
    bool looked;  /* for what was elected */
    enum writ_review_vote elected;
};

/* ---- reading */

static writ_result
add(struct writ_request *request, const struct writ_json *arguments, const struct writ_call *like)
{
    struct writ_candidates *candidates = request->candidates;
    struct writ_call *call = writ_arena_get(request->x->arena, sizeof *call);

    if (call == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (writ_json_type(arguments) != WRIT_JSON_OBJECT ||
        candidates->n == WRIT_REVIEW_CANDIDATES_MAX) {
        return (writ_result){WRIT_E_PARSE};
    }
    *call = *like;
    call->callee.arguments = arguments;
    call->review.place = candidates->n;
    candidates->calls[candidates->n++] = call;
    return WRIT_DONE;
}

WRIT_RESULT
writ_candidates_read(struct writ_request *request, const struct writ_json *first,
    const struct writ_json *list, const struct writ_call *like)
{
    request->candidates = writ_arena_get(request->x->arena, sizeof *request->candidates);
    if (request->candidates == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *request->candidates = (struct writ_candidates){.n = 0};
    if (writ_json_type(list) != WRIT_JSON_ARRAY) {
        return (writ_result){WRIT_E_PARSE};
    }
    if (first != NULL) {
        WRIT_TRY(add(request, first, like));
    }
    WRIT_JSON_EACH(arguments, list)
    {
        WRIT_TRY(add(request, arguments, like));
    }
    if (request->candidates->n < LEAST) {
        return (writ_result){WRIT_E_PARSE};
    }
    request->call = request->candidates->calls[0];
    return WRIT_DONE;
}

/* ---- judging each */

/* The approval of the rule if it elects candidates, else NULL. */
static const struct writ_approval *
electing(const struct writ_call *call)
{
    const struct writ_approval *approval =
        call->verdict.rule != NULL && !call->verdict.shadow ? call->verdict.rule->approval : NULL;

    return approval != NULL && approval->review->candidates ? approval : NULL;
}

void
writ_candidates_bar(const struct writ_request *request, struct writ_call *call)
{
    if (request->candidates == NULL || !writ_request_may_pass(request)) {
        return;
    }
    call->verdict.approval = electing(call);
    if (call->verdict.approval == NULL) {
        call->barred = WRIT_REASON_CANDIDATES_NOT_REVIEWED;
    }
}

void
writ_candidates_require(const struct writ_request *request, struct writ_call *call)
{
    const struct writ_approval *approval = electing(call);

    if (call->verdict.answer != WRIT_POLICY_ALLOW || approval == NULL ||
        (request->candidates == NULL && call->caller_claims.continuation.ptr == NULL)) {
        return;
    }
    if (call->verdict.approval == NULL) {
        call->verdict.approval = approval;
    } else if (call->verdict.approval != approval && request->candidates != NULL) {
        call->barred = WRIT_REASON_CANDIDATES_NOT_REVIEWED; /* it needs one of other voters */
    }
}

/* ---- the review of all */

static bool
same_arguments(const struct writ_call *a, const struct writ_call *b)
{
    const struct writ_member_text *one = &a->record.decision.params_hash;

    return one->is == WRIT_PRESENT &&
           writ_member_text_equal(one, &b->record.decision.params_hash, false);
}

/* The first two that are the same call. False: none are. */
static bool
find_same(const struct writ_candidates *candidates, size_t *ret_one, size_t *ret_other)
{
    for (size_t i = 0; i < candidates->n; i++) {
        for (size_t j = i + 1; j < candidates->n; j++) {
            if (same_arguments(candidates->calls[i], candidates->calls[j])) {
                *ret_one = i + 1;
                *ret_other = j + 1;
                return true;
            }
        }
    }
    return false;
}

/* Of all that were proposed, in their order, also of those that policy refuses. */
static writ_result
name_all(const struct writ_candidates *candidates, struct writ_call *lead)
{
    struct writ_view pieces[PIECES] = {WRIT_LIT("candidates")},
                     boundary = lead->review.ask.boundary;
    struct writ_digest all;

    for (size_t i = 0; i < candidates->n; i++) {
        pieces[i + 1] = writ_view(candidates->calls[i]->record.state_free.bytes, WRIT_DIGEST_BYTES);
    }
    WRIT_TRY(writ_digest_pieces(pieces, candidates->n + 1, &all, NULL));
    return writ_ledger_review(
        &all, boundary, lead->caller_claims.key, &lead->review.ask.name, NULL);
}

/* What voters see of each. */
static writ_result
show_all(
    struct writ_request *request, const struct writ_candidates *candidates, struct writ_ask *ask)
{
    struct writ_buf text =
        writ_buf_in(request->x->arena, 2 * (size_t)writ_request_config(request)->limits.body_bytes);
    struct writ_write w = writ_write_to(&text);

    writ_write_array_begin(&w);
    for (size_t i = 0; i < candidates->n; i++) {
        const struct writ_call *call = candidates->calls[i];

        if (!call->review.asks) {
            continue;
        }
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("arguments"));
        writ_write_raw(&w, call->review.ask.arguments);
        writ_write_text(&w, "option", writ_review_vote_name(writ_review_candidate_at(i)));
        if (call->review.ask.target_state.len > 0) {
            writ_write_name(&w, WRIT_LIT("target_state"));
            writ_write_raw(&w, call->review.ask.target_state);
        }
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    ask->candidates = writ_buf_view(&text);
    return WRIT_DONE;
}

static writ_result
offer_all(
    struct writ_request *request, const struct writ_candidates *candidates, struct writ_call *lead)
{
    struct writ_review *terms = &lead->review.terms;
    const struct writ_review_ranking others = terms->options;
    struct writ_review_candidate *all =
        writ_arena_get(request->x->arena, candidates->n * sizeof *all);
    size_t n = 0;

    if (all == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < candidates->n; i++) {
        if (candidates->calls[i]->review.asks) {
            all[n++] = candidates->calls[i]->review.terms.candidates[0];
        }
    }
    terms->candidates = all;
    terms->candidates_n = n;
    writ_review_offer(terms, &others);
    lead->review.ask.proposes = true;
    return show_all(request, candidates, &lead->review.ask);
}

/* In the record: the digests of each, and why one is left out. */
static writ_result
record_all(
    struct writ_request *request, const struct writ_candidates *candidates, struct writ_call *lead)
{
    struct writ_buf text = writ_buf_in(request->x->arena, RECORD_MAX);
    struct writ_write w = writ_write_to(&text);

    w.sorted = true;
    writ_write_object_begin(&w);
    for (size_t i = 0; i < candidates->n; i++) {
        const struct writ_call *call = candidates->calls[i];
        const struct writ_decision *d = &call->record.decision;

        writ_write_name(&w, writ_review_vote_name(writ_review_candidate_at(i)));
        writ_write_object_begin(&w);
        writ_write_text_if(&w, "intent_digest", writ_member_view(&d->intent_digest));
        writ_write_text_if(&w, "params_hash", writ_member_view(&d->params_hash));
        if (!call->review.asks) {
            writ_write_text_if(&w, "reason", writ_reason_name(call->end.refusal));
        }
        writ_write_object_end(&w);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    lead->record.extension.candidates =
        (struct writ_member_object){WRIT_PRESENT, NULL, writ_buf_view(&text), NULL};
    return writ_extension_make(
        &lead->record.extension, request->x->arena, &lead->record.decision.extensions, NULL);
}

/* The first that policy does not refuse; else the first. */
static struct writ_call *
lead_of(const struct writ_candidates *candidates)
{
    for (size_t i = 0; i < candidates->n; i++) {
        if (candidates->calls[i]->review.asks) {
            return candidates->calls[i];
        }
    }
    return candidates->calls[0];
}

static writ_result
ask_for_all(struct writ_request *request, struct writ_call *lead)
{
    const struct writ_candidates *candidates = request->candidates;
    enum writ_reason fault = WRIT_REASON_NONE;

    if (lead->review.asks) {
        WRIT_TRY(offer_all(request, candidates, lead));
        WRIT_TRY(name_all(candidates, lead));
        fault = writ_review_return_check(request, lead);
    }
    WRIT_TRY(record_all(request, candidates, lead));
    if (fault != WRIT_REASON_NONE) {
        lead->review.asks = false;
        return writ_review_ask_refuse(lead, fault, request->x->arena);
    }
    return WRIT_DONE;
}

static enum writ_step
refuse_same(struct writ_request *request, size_t one, size_t other)
{
    char text[SAME_TEXT];
    struct writ_buf buf = writ_buf_over(text, sizeof text);

    writ_buf_fmt(&buf, "candidates %zu and %zu are the same call: remove one", one, other);
    writ_buf_byte(&buf, '\0');
    return writ_refusal_http(request, request->endpoint->kind->problems ? 422 : 400,
        WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST, text);
}

bool
writ_candidates_next(struct writ_request *request)
{
    struct writ_candidates *candidates = request->candidates;

    if (candidates->elected != WRIT_REVIEW_NO_VOTE || candidates->at + 1 >= candidates->n) {
        return false;
    }
    request->call = candidates->calls[++candidates->at];
    return true;
}

WRIT_RESULT
writ_candidates_ask(struct writ_request *request, enum writ_step *ret)
{
    struct writ_candidates *candidates = request->candidates;
    size_t one, other;

    if (candidates->elected != WRIT_REVIEW_NO_VOTE) {
        *ret = WRIT_STEP_CLAIM;
        return WRIT_DONE;
    }
    if (find_same(candidates, &one, &other)) {
        *ret = refuse_same(request, one, other);
        return WRIT_DONE;
    }
    request->call = lead_of(candidates);
    WRIT_TRY(ask_for_all(request, request->call));
    candidates->asked = true;
    if (!request->call->review.asks || candidates->looked ||
        request->call->callee.framework == NULL) {
        *ret = WRIT_STEP_CLAIM;
        return WRIT_DONE;
    }
    request->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_REVIEW_AWAIT, .review_await = {.name = &request->call->review.ask.name}};
    *ret = writ_request_submit(request, WRIT_STEP_ELECT);
    return WRIT_DONE;
}

/* ---- ELECT */

enum writ_step
writ_candidates_elect(struct writ_request *request)
{
    struct writ_candidates *candidates = request->candidates;
    const struct writ_entry_review_await *found = &request->entry.review_await;
    struct writ_call *call;

    candidates->looked = true;
    if (request->entry.code != WRIT_OK || found->elected == WRIT_REVIEW_NO_VOTE) {
        return WRIT_STEP_DRAFT;
    }
    candidates->elected = found->elected;
    call = candidates->calls[found->elected - WRIT_REVIEW_CANDIDATE_1];
    if (call->caller_claims.continuation.ptr == NULL) {
        call->caller_claims.continuation = found->found;
    }
    request->call = call;
    return WRIT_STEP_DRAFT;
}

/* ---- telling */

static void
put_one(struct writ_write *w, const struct writ_call *call)
{
    writ_write_object_begin(w);
    writ_write_text_if(
        w, "candidate", writ_review_vote_name(writ_review_candidate_at(call->review.place)));
    if (!call->review.asks) {
        writ_write_text_if(w, "reason", writ_reason_name(call->end.refusal));
        writ_write_text_if(w, "argument", call->verdict.argument);
        writ_write_text_if(w, "constraint", call->verdict.constraint);
        writ_write_text_if(w, "accepted", call->verdict.accepted);
    }
    writ_write_object_end(w);
}

/* The one that may run, or has run; NO_VOTE: none was elected. */
static enum writ_review_vote
elected_of(const struct writ_request *request)
{
    const struct writ_call_review *review = &request->call->review;

    if (request->candidates->elected != WRIT_REVIEW_NO_VOTE || !review->asks) {
        return request->candidates->elected;
    }
    return review->ask.state == WRIT_REVIEW_APPROVED || review->ask.state == WRIT_REVIEW_REDEEMED
               ? review->ask.elected
               : WRIT_REVIEW_NO_VOTE;
}

void
writ_candidates_put(struct writ_write *w, const struct writ_request *request)
{
    const struct writ_candidates *candidates = request->candidates;

    if (candidates == NULL || !candidates->asked) {
        return;
    }
    if (elected_of(request) != WRIT_REVIEW_NO_VOTE) {
        writ_write_text_if(w, "candidate", writ_review_vote_name(elected_of(request)));
        return;
    }
    writ_write_name(w, WRIT_LIT("candidates"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < candidates->n; i++) {
        put_one(w, candidates->calls[i]);
    }
    writ_write_array_end(w);
}
