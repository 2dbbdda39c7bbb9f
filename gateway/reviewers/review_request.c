/* review_request.c - the tries of one request. Each has an arena of its own, and ends in one place:
 * voted, at rest, or failed, which waits for longer each time.
 *
 * Invariants:
 * 1. A request has at most one operation open: an entry in the ledger (READS, VOTES) or a question
 *    (OUT).
 * 2. A request is freed when it has no open operation: at once, or when that has come back.
 * 3. `out` counts the requests with an open operation, and `going` has them; `waiting` has those
 * that WAIT. */
#include "gateway/reviewers/review_request.h"

#include "base/text.h"
#include "gateway/admin/review_ballot.h"

#define TRY_ARENA  ((size_t)64 << 20)
#define OWN_ARENA  ((size_t)64 << 10)
#define TRIES      12                 /* of one request; then the reviewer stays silent */
#define PAUSE_US   INT64_C(1000000)   /* before the second try; doubled each time */
#define LONGEST_US INT64_C(300000000) /* before any */

/* ---- life */

/* Those that are over are hidden by a newer one. */
struct writ_review_request *
writ_review_request_find(const struct writ_reviewer *reviewer, struct writ_view id)
{
    struct writ_review_request *request = NULL;
    struct writ_tag tag;

    if (writ_is_ok(writ_tag_name(id, &tag, NULL))) {
        request =
            WRIT_MAP_OF(writ_map_find(&reviewer->by_id, tag), struct writ_review_request, by_id);
    }
    return request != NULL && !request->over ? request : NULL;
}

/* keeps (3) */
static void
wait_until(struct writ_review_request *request, int64_t due_us)
{
    request->stage = WRIT_REVIEW_REQUEST_WAITS;
    writ_order_add(&request->reviewer->waiting, &request->by_due, (uint64_t)due_us);
}

struct writ_review_request *
writ_review_request_new(struct writ_reviewer *reviewer, struct writ_view id)
{
    struct writ_arena *own = writ_arena_new_small(OWN_ARENA);
    struct writ_review_request *request = own != NULL ? writ_arena_get(own, sizeof *request) : NULL;
    struct writ_tag tag;

    if (request != NULL) {
        *request = (struct writ_review_request){
            .reviewer = reviewer, .own = own, .id = writ_view_copy(id, own)};
    }
    if (request == NULL || request->id.ptr == NULL || !writ_is_ok(writ_tag_name(id, &tag, NULL))) {
        writ_arena_free(own);
        return NULL;
    }
    writ_map_add(&reviewer->by_id, &request->by_id, tag);
    TAILQ_INSERT_TAIL(&reviewer->requests, request, link);
    wait_until(request, 0);
    return request;
}

void
writ_review_request_free(struct writ_review_request *request)
{
    if (request->stage == WRIT_REVIEW_REQUEST_WAITS) {
        writ_order_remove(&request->reviewer->waiting, &request->by_due);
    }
    TAILQ_REMOVE(&request->reviewer->requests, request, link);
    writ_map_remove(&request->reviewer->by_id, &request->by_id);
    writ_arena_free(request->arena);
    writ_arena_free(request->own); /* the arena holds the request itself */
}

void
writ_review_requests_wake(struct writ_reviewer *reviewer)
{
    struct writ_loop *loop = reviewer->worker->loop;

    if (!reviewer->ending) {
        writ_loop_timer_set(loop, &reviewer->timer, writ_loop_now_us(loop));
    }
}

/* Without an open operation any more: it RESTS. keeps (2) (3) */
static void
end(struct writ_review_request *request)
{
    struct writ_reviewer *reviewer = request->reviewer;

    reviewer->out--;
    TAILQ_REMOVE(&reviewer->going, request, beside);
    request->stage = WRIT_REVIEW_REQUEST_RESTS;
    writ_arena_free(WRIT_TAKE(request->arena));
    writ_review_requests_wake(reviewer);
}

void
writ_review_request_rests(struct writ_review_request *request)
{
    end(request);
    if (request->over) {
        writ_review_request_free(request);
    }
}

void
writ_review_request_waits(struct writ_review_request *request)
{
    end(request);
    wait_until(request, 0);
}

void
writ_review_request_failed(struct writ_review_request *request, const char *why)
{
    const struct writ_reviewer *reviewer = request->reviewer;
    int64_t pause_us = PAUSE_US;

    if (request->over) {
        writ_review_request_rests(request);
        return;
    }
    for (unsigned i = 0; i < request->tries && pause_us < LONGEST_US; i++) {
        pause_us *= 2;
    }
    pause_us = pause_us < LONGEST_US ? pause_us : LONGEST_US;
    request->tries++;
    WRIT_LOG(reviewer->gateway->log, WRIT_EVENT_BALLOT_FAILED,
        writ_log_text("reviewer", reviewer->config->id), writ_log_text("review", request->id),
        writ_log_str("why", why), writ_log_int("tries", (int64_t)request->tries),
        writ_log_bool("last", request->tries >= TRIES));
    end(request);
    if (request->tries < TRIES) {
        wait_until(request, writ_loop_now_us(reviewer->worker->loop) + pause_us);
    }
}

/* ---- the ledger */

static void
entry_done(struct writ_entry *entry)
{
    struct writ_review_request *request = entry->user;

    writ_loop_answer(request->reviewer->worker->loop, &request->post);
}

static void
submit(struct writ_review_request *request, writ_post_fn *back)
{
    request->entry.done = entry_done;
    request->entry.user = request;
    request->entry.arena = request->arena;
    request->post = (struct writ_post){.fn = back, .ctx = request};
    writ_worker_submit(request->reviewer->worker, &request->entry);
}

void
writ_review_request_read(struct writ_review_request *request, writ_post_fn *back)
{
    struct writ_reviewer *reviewer = request->reviewer;

    writ_order_remove(&reviewer->waiting, &request->by_due);
    TAILQ_INSERT_TAIL(&reviewer->going, request, beside);
    reviewer->out++;
    request->stage = WRIT_REVIEW_REQUEST_READS;
    request->arena = writ_arena_new(TRY_ARENA);
    if (request->arena == NULL) {
        writ_review_request_failed(request, "memory");
        return;
    }
    request->entry =
        (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = request->id}};
    submit(request, back);
}

/* ---- the vote */

static void
voted(struct writ_post *post)
{
    struct writ_review_request *request = post->ctx;
    const struct writ_entry_review *r = &request->entry.review;

    if (request->entry.code != WRIT_OK) {
        writ_review_request_failed(request, "ledger_unavailable");
    } else if (r->refused == WRIT_REASON_NONE || r->refused == WRIT_REASON_REVIEW_CLOSED ||
               r->refused == WRIT_REASON_REVIEW_UNKNOWN ||
               r->refused == WRIT_REASON_VOTES_USED_UP) {
        writ_review_request_rests(request);
    } else {
        writ_review_request_failed(request, writ_reason_name(r->refused).ptr);
    }
}

void
writ_review_request_vote(struct writ_review_request *request, const struct writ_entry_review *r)
{
    request->stage = WRIT_REVIEW_REQUEST_VOTES;
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = *r};
    request->entry.review.id = request->id;
    submit(request, voted);
}

void
writ_review_request_answered(struct writ_review_request *request, struct writ_view text)
{
    const struct writ_review_seat seat = {.voter = request->reviewer->config->id,
        .digest = writ_view_str(request->digest),
        .whole = request->whole,
        .asked = true};
    struct writ_view kept = writ_view_copy(text, request->arena);
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE};

    if (request->over || kept.ptr == NULL) {
        writ_review_request_failed(request, "memory");
    } else if (!writ_is_ok(writ_review_ballot_read(kept, &seat, request->arena, &r, NULL, NULL))) {
        writ_review_request_failed(request, "no_vote");
    } else {
        writ_review_request_vote(request, &r);
    }
}
