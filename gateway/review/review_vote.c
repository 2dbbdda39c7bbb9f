/* review_vote.c - VOTE: the answer to a question that was sent on the stream of a held call. Only
 * the session that was asked can answer, for the terms that it was asked about; its configuration
 * must still name a voter. An answer to anything else is dropped, as one to an unknown request. */
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"
#include "gateway/review/continuation.h"
#include "gateway/review/review_question.h"

#define US_PER_S 1000000

/* The question that the message answers. False: none of this session. */
static bool
find_question(const struct writ_request *request, struct writ_continuation *ret)
{
    int64_t now_s = writ_clock_wall_us(request->worker->gateway->clock) / US_PER_S;

    return request->session != NULL &&
           writ_is_ok(writ_continuation_read(writ_json_string(request->message.id),
               request->generation->keyring, now_s, request->x->arena, ret, NULL)) &&
           ret->terms.len > 0 && writ_view_equal(ret->session, request->session->boundary_id);
}

static enum writ_step
voted(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;

    if (entry->code != WRIT_OK) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    return entry->review.refused == WRIT_REASON_NONE
               ? writ_finish_accepted(request)
               : writ_refusal_http(
                     request, 409, WRIT_RPC_INVALID_REQUEST, entry->review.refused, NULL);
}

enum writ_step
writ_review_vote(struct writ_request *request)
{
    const struct writ_json *result = writ_json_get(request->message.body, WRIT_LIT("result"));
    struct writ_continuation question;
    struct writ_entry_review r;
    struct writ_view voter;

    if (request->entry.kind == WRIT_ENTRY_REVIEW) {
        return voted(request);
    }
    if (!find_question(request, &question)) {
        return writ_finish_accepted(request);
    }
    if (!writ_json_is(writ_json_get(result, WRIT_LIT("action")), WRIT_LIT("accept"))) {
        writ_session_note_asked(request->session, question.review, WRIT_SESSION_DECLINED);
        return writ_finish_accepted(request);
    }
    voter = writ_review_question_voter(request, question.name);
    if (voter.len == 0) {
        return writ_refusal_http(
            request, 403, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_VOTE_NOT_ENTITLED, NULL);
    }
    if (!writ_review_question_read(writ_json_get(result, WRIT_LIT("content")), &r)) {
        return writ_refusal_http(
            request, 422, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_VOTE_MALFORMED, NULL);
    }
    r.id = question.review;
    r.digest = question.terms;
    r.by = voter;
    r.agent_id = request->identity.agent.id;
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = r};
    return writ_request_submit(request, WRIT_STEP_VOTE);
}
