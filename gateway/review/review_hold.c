/* review_hold.c - HOLD and REJUDGE: a call whose review is open is held on its request, for a time:
 * with a timer that also checks the client and the gateway. Where the review says so, the person at
 * the client is asked first (review_question.h), and what that person said is cast as a vote. After
 * the verdict the request starts again from its first check, without its earlier results: caller,
 * policy, state of the target. */

#include "gateway/request/refusal.h"
#include "gateway/review/review_elicit.h"
#include "gateway/review/review_tell.h"
#include "policy/decide/approval.h"

#define SLICE_US INT64_C(1000000) /* between two checks of the client and of the gateway */
#define PROBE_MS 1000             /* after which a client that sent FIN is probed */

/* What the person at the client of a session said about the call's review. */
static enum writ_session_asked
asked(const struct writ_request *request)
{
    return request->session != NULL && request->call->review.ask.id.ptr != NULL
               ? writ_session_asked(request->session, request->call->review.ask.id)
               : WRIT_SESSION_NOT_ASKED;
}

/* Hold the call in any case if its caller returned as requested, or its client is showing the
 * question. Do not hold it if the person declined. */
static int64_t
hold_us(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_approval *approval = call->verdict.approval;

    if (call->returned.declined) {
        return 0;
    }
    if (call->returned.state.ptr != NULL) {
        return approval->hold_retry_us;
    }
    return asked(request) == WRIT_SESSION_WAS_ASKED && approval->hold_retry_us > approval->hold_us
               ? approval->hold_retry_us
               : approval->hold_us;
}

/* Whether the call waits for the verdict of its review. */
static bool
is_open(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_entry *decided = &request->hold.decided;

    return call->review.asks && decided->kind == WRIT_ENTRY_DECISION && decided->code == WRIT_OK &&
           call->review.ask.state == WRIT_REVIEW_OPEN;
}

/* No client would get the result. */
static bool
is_left(const struct writ_request *request)
{
    return request->x->gone || writ_request_is_cancelled(request) || request->worker->ending;
}

/* Whether the request waits, or keeps waiting. One whose client has left or cancelled it, or whose
 * gateway stops, does not. */
static bool
is_wanted(struct writ_request *request)
{
    int64_t now_us = writ_loop_now_us(request->x->loop), most_us = hold_us(request);

    if (most_us == 0 || is_left(request)) {
        return false;
    }
    if (request->hold.until_us == 0) {
        request->hold.from_us = now_us;
        request->hold.until_us = now_us + most_us;
        writ_exchange_probe(request->x, PROBE_MS);
    }
    if (request->hold.until_us > request->hold.from_us + most_us) { /* declined meanwhile */
        request->hold.until_us = request->hold.from_us + most_us;
    }
    return now_us < request->hold.until_us;
}

/* Starts again with the present configuration: the verdict is bound to the reviewed call, and
 * everything that may have changed since is checked again, the caller's token included. */
static enum writ_step
begin_again(struct writ_request *request)
{
    request->previous = request->generation; /* it has the agent, until that is authenticated
                                                again */
    request->generation = writ_generation_hold(request->worker->generation);
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_NONE};
    request->call = NULL;
    request->candidates = NULL;
    request->hold.question = NULL;
    request->late = (struct writ_late){0};                           /* it may be up by now */
    writ_shares_release(&request->worker->shares, &request->charge); /* it counts again */
    return WRIT_STEP_AUTHENTICATE;
}

enum writ_step
writ_review_hold_judge(struct writ_request *request)
{
    writ_generation_drop(WRIT_TAKE(request->previous));
    if (request->session != NULL &&
        !writ_session_is_of(request->session, &request->identity.agent)) {
        return writ_refusal_http(
            request, 404, WRIT_RPC_SERVER_ERROR, WRIT_REASON_SESSION_UNKNOWN, NULL);
    }
    return request->endpoint->kind->judge;
}

static enum writ_step
await(struct writ_request *request)
{
    int64_t left_us = request->hold.until_us - writ_loop_now_us(request->x->loop);
    int64_t slice_us = left_us < SLICE_US ? left_us : SLICE_US;

    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_AWAIT,
        .review_await = {.id = request->call->review.ask.id,
            .until_us = writ_clock_wall_us(request->worker->gateway->clock) + slice_us}};
    return writ_request_submit(request, WRIT_STEP_HOLD);
}

/* ---- the person at the client */

/* What that person said, as the vote of the voter who it is. False: nothing that counts. */
static bool
make_vote(struct writ_request *request, struct writ_entry_review *ret)
{
    const struct writ_call *call = request->call;
    struct writ_view voter = writ_review_question_voter(request, call->review.terms.name);

    if (request->hold.voted || call->returned.terms.len == 0 || call->returned.content == NULL ||
        voter.len == 0 || !writ_review_question_read(call->returned.content, ret)) {
        return false;
    }
    ret->id = call->review.ask.id;
    ret->digest = call->returned.terms;
    ret->by = voter;
    ret->agent_id = request->identity.agent.id;
    return true;
}

static enum writ_step
submit(struct writ_request *request, struct writ_entry entry)
{
    request->entry = entry;
    return writ_request_submit(request, WRIT_STEP_HOLD);
}

static void
take_review(struct writ_request *request)
{
    if (request->entry.code == WRIT_OK &&
        request->entry.review_get.told.state == WRIT_REVIEW_OPEN) {
        request->hold.question = writ_review_elicit_make(request, &request->entry.review_get);
    }
    if (request->hold.question != NULL && request->message.era != WRIT_MCP_ERA_MODERN) {
        writ_review_elicit_send(request, request->hold.question);
    }
}

/* The question is the answer to this request, and its vote comes with the next one. */
static bool
is_question_answer(struct writ_request *request)
{
    if (request->hold.question == NULL || request->message.era != WRIT_MCP_ERA_MODERN ||
        request->call->returned.state.ptr != NULL) {
        return false;
    }
    request->entry = request->hold.decided;
    return true;
}

/* ---- HOLD */

static enum writ_step
begin(struct writ_request *request)
{
    struct writ_entry_review vote;

    request->hold.decided = request->entry;
    if (!is_open(request) || is_left(request)) {
        return request->endpoint->kind->refused;
    }
    if (make_vote(request, &vote)) {
        request->hold.voted = true;
        return submit(request, (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = vote});
    }
    if (request->hold.question == NULL && writ_review_elicit_is_due(request)) {
        return submit(request, (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET,
                                   .review_get = {.id = request->call->review.ask.id}});
    }
    return WRIT_STEP_HOLD;
}

/* The first wait. */
static enum writ_step
hold(struct writ_request *request)
{
    if (!is_wanted(request)) {
        request->entry = request->hold.decided;
        return request->endpoint->kind->refused;
    }
    writ_review_tell_begin(request);
    writ_review_tell_progress(request);
    return await(request);
}

static enum writ_step
held(struct writ_request *request)
{
    const struct writ_entry_review_await *awaited = &request->entry.review_await;
    bool decided = request->entry.code == WRIT_OK && awaited->state != WRIT_REVIEW_OPEN;

    writ_review_tell_progress(request);
    request->entry = request->hold.decided;
    if (decided && !is_left(request)) {
        return begin_again(request);
    }
    return is_wanted(request) && !decided ? await(request) : WRIT_STEP_ANSWER;
}

enum writ_step
writ_review_hold_wait(struct writ_request *request)
{
    enum writ_step next = WRIT_STEP_HOLD;

    if (request->entry.kind == WRIT_ENTRY_REVIEW_AWAIT) {
        return held(request);
    }
    if (request->entry.kind == WRIT_ENTRY_REVIEW_GET) {
        take_review(request);
        next = is_question_answer(request) ? WRIT_STEP_ANSWER : next;
    } else if (request->entry.kind != WRIT_ENTRY_REVIEW) {
        next = begin(request);
    }
    return next == WRIT_STEP_HOLD ? hold(request) : next;
}
