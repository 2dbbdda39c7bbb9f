/* review_return.c - takes the requestState and the person's answer out of the request. The state
 * must be for this call of this agent; an answer to any other question is refused. */
#include "gateway/review/review_return.h"

#include "gateway/review/continuation.h"
#include "gateway/review/review_question.h"

#define US_PER_S 1000000

/* The answer of a person: agreed to open the page, or voted, or not. */
static bool
read_answer(const struct writ_json *answer, struct writ_returned *ret)
{
    const struct writ_json *action = writ_json_get(answer, WRIT_LIT("action"));

    ret->shown = writ_json_is(action, WRIT_LIT("accept"));
    ret->content = ret->shown ? writ_json_get(answer, WRIT_LIT("content")) : NULL;
    ret->declined =
        writ_json_is(action, WRIT_LIT("decline")) || writ_json_is(action, WRIT_LIT("cancel"));
    return ret->shown || ret->declined;
}

/* An answer to any other question is refused: it must not bypass the voters. */
static bool
read_answers(const struct writ_json *answers, struct writ_returned *ret)
{
    if (answers == NULL) {
        return true;
    }
    if (writ_json_type(answers) != WRIT_JSON_OBJECT) {
        return false;
    }
    WRIT_JSON_EACH(name, answers)
    {
        if (!writ_view_equal(writ_json_string(name), WRIT_REVIEW_RETURN_KEY) ||
            !read_answer(writ_json_value(name), ret)) {
            return false;
        }
    }
    return true;
}

struct writ_returned
writ_review_return_read(const struct writ_request *request)
{
    const struct writ_json *params = request->message.params;
    struct writ_view state = writ_json_string(writ_json_get(params, WRIT_LIT("requestState")));
    struct writ_returned returned = {0};

    if (request->message.era != WRIT_MCP_ERA_MODERN || !writ_continuation_is(state)) {
        return returned;
    }
    returned.state = state;
    if (!read_answers(writ_json_get(params, WRIT_LIT("inputResponses")), &returned)) {
        returned.fault = WRIT_REASON_INPUT_NOT_AWAITED;
    }
    return returned;
}

enum writ_reason
writ_review_return_check(const struct writ_request *request, struct writ_call *call)
{
    int64_t now_s = writ_clock_wall_us(request->worker->gateway->clock) / US_PER_S;
    struct writ_continuation continuation;
    struct writ_entry_review vote;

    if (call->returned.state.ptr == NULL) {
        return WRIT_REASON_NONE;
    }
    if (!writ_is_ok(writ_continuation_read(call->returned.state, request->generation->keyring,
            now_s, request->x->arena, &continuation, NULL))) {
        return WRIT_REASON_CONTINUATION_INVALID;
    }
    if (!writ_digest_equal(&continuation.call, &call->review.ask.name) ||
        (call->caller_claims.continuation.ptr != NULL &&
            !writ_view_equal(call->caller_claims.continuation, continuation.review))) {
        return WRIT_REASON_CONTINUATION_MISMATCH;
    }
    if (continuation.terms.len > 0 && call->returned.content != NULL &&
        !writ_review_question_read(call->returned.content, &vote)) {
        return WRIT_REASON_INPUT_NOT_AWAITED;
    }
    call->returned.shown = call->returned.shown || continuation.shown;
    call->returned.terms = continuation.terms;
    call->review.ask.continuation = continuation.review;
    return WRIT_REASON_NONE;
}
