/* review_request.c - the tries of one errand. Each has an arena of its own, and ends in one place:
 * voted, at rest, or failed, which waits for longer each time.
 *
 * Invariants:
 * 1. An errand has at most one operation open: an entry in the ledger (READS, VOTES) or a question
 *    (OUT).
 * 2. An errand is freed when it has no open operation: at once, or when that has come back.
 * 3. `out` counts the errands with an open operation. */
#include "gateway/reviewers/review_request.h"

#include "base/text.h"
#include "gateway/admin/review_ballot.h"

#define TRY_ARENA  ((size_t)64 << 20)
#define OWN_ARENA  ((size_t)64 << 10)
#define TRIES      12                 /* of one errand; then the reviewer stays silent */
#define PAUSE_US   INT64_C(1000000)   /* before the second try; doubled each time */
#define LONGEST_US INT64_C(300000000) /* before any */

/* ---- life */

struct writ_review_request *
writ_review_request_new(struct writ_reviewer *reviewer, struct writ_view id)
{
    struct writ_arena *own = writ_arena_new_small(OWN_ARENA);
    struct writ_review_request *errand = own != NULL ? writ_arena_get(own, sizeof *errand) : NULL;

    if (errand != NULL) {
        *errand = (struct writ_review_request){
            .reviewer = reviewer, .own = own, .id = writ_view_copy(id, own)};
    }
    if (errand == NULL || errand->id.ptr == NULL) {
        writ_arena_free(own);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&reviewer->errands, errand, link);
    return errand;
}

void
writ_review_request_free(struct writ_review_request *errand)
{
    TAILQ_REMOVE(&errand->reviewer->errands, errand, link);
    writ_arena_free(errand->arena);
    writ_arena_free(errand->own); /* it lies in there itself */
}

void
writ_review_requests_wake(struct writ_reviewer *reviewer)
{
    struct writ_loop *loop = reviewer->worker->loop;

    if (!reviewer->ending) {
        writ_loop_timer_set(loop, &reviewer->timer, writ_loop_now_us(loop));
    }
}

/* keeps (2) (3) */
void
writ_review_request_end(struct writ_review_request *errand, enum writ_review_request_stage next)
{
    struct writ_reviewer *reviewer = errand->reviewer;

    reviewer->out--;
    errand->stage = next;
    writ_arena_free(WRIT_TAKE(errand->arena));
    if (errand->over) {
        writ_review_request_free(errand);
    }
    writ_review_requests_wake(reviewer);
}

void
writ_review_request_rests(struct writ_review_request *errand)
{
    writ_review_request_end(errand, WRIT_REVIEW_REQUEST_RESTS);
}

void
writ_review_request_failed(struct writ_review_request *errand, const char *why)
{
    const struct writ_reviewer *reviewer = errand->reviewer;
    int64_t pause_us = PAUSE_US;

    if (errand->over) {
        writ_review_request_end(errand, WRIT_REVIEW_REQUEST_RESTS);
        return;
    }
    for (unsigned i = 0; i < errand->tries && pause_us < LONGEST_US; i++) {
        pause_us *= 2;
    }
    pause_us = pause_us < LONGEST_US ? pause_us : LONGEST_US;
    errand->tries++;
    WRIT_LOG(reviewer->gateway->log, WRIT_EVENT_BALLOT_FAILED,
        writ_log_text("reviewer", reviewer->config->id), writ_log_text("review", errand->id),
        writ_log_str("why", why), writ_log_int("tries", (int64_t)errand->tries),
        writ_log_bool("last", errand->tries >= TRIES));
    errand->due_us = writ_loop_now_us(reviewer->worker->loop) + pause_us;
    writ_review_request_end(
        errand, errand->tries >= TRIES ? WRIT_REVIEW_REQUEST_RESTS : WRIT_REVIEW_REQUEST_WAITS);
}

/* ---- the ledger */

static void
entry_done(struct writ_entry *entry)
{
    struct writ_review_request *errand = entry->user;

    writ_loop_answer(errand->reviewer->worker->loop, &errand->post);
}

static void
submit(struct writ_review_request *errand, writ_post_fn *back)
{
    errand->entry.done = entry_done;
    errand->entry.user = errand;
    errand->entry.arena = errand->arena;
    errand->post = (struct writ_post){.fn = back, .ctx = errand};
    writ_worker_submit(errand->reviewer->worker, &errand->entry);
}

void
writ_review_request_read(struct writ_review_request *errand, writ_post_fn *back)
{
    errand->reviewer->out++;
    errand->stage = WRIT_REVIEW_REQUEST_READS;
    errand->arena = writ_arena_new(TRY_ARENA);
    if (errand->arena == NULL) {
        writ_review_request_failed(errand, "memory");
        return;
    }
    errand->entry =
        (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = errand->id}};
    submit(errand, back);
}

/* ---- the vote */

static void
voted(struct writ_post *post)
{
    struct writ_review_request *errand = post->ctx;
    const struct writ_entry_review *r = &errand->entry.review;

    if (errand->entry.code != WRIT_OK) {
        writ_review_request_failed(errand, "ledger_unavailable");
    } else if (r->refused == WRIT_REASON_NONE || r->refused == WRIT_REASON_REVIEW_CLOSED ||
               r->refused == WRIT_REASON_REVIEW_UNKNOWN) {
        writ_review_request_rests(errand);
    } else {
        writ_review_request_failed(errand, writ_reason_name(r->refused).ptr);
    }
}

void
writ_review_request_vote(struct writ_review_request *errand, const struct writ_entry_review *r)
{
    errand->stage = WRIT_REVIEW_REQUEST_VOTES;
    errand->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = *r};
    errand->entry.review.id = errand->id;
    submit(errand, voted);
}

void
writ_review_request_answered(struct writ_review_request *errand, struct writ_view text)
{
    const struct writ_review_seat seat = {.voter = errand->reviewer->config->id,
        .digest = writ_view_str(errand->digest),
        .whole = errand->whole,
        .asked = true};
    struct writ_view kept = writ_view_copy(text, errand->arena);
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE};

    if (errand->over || kept.ptr == NULL) {
        writ_review_request_failed(errand, "memory");
    } else if (!writ_is_ok(writ_review_ballot_read(kept, &seat, errand->arena, &r, NULL))) {
        writ_review_request_failed(errand, "no_vote");
    } else {
        writ_review_request_vote(errand, &r);
    }
}
