/* 1. The answer to a call is found without any change. Its changes are made after the body of the
 * decision, and become rows and ops with it.
 * 2. A change in the same group as the grant spends the approval, or nothing does.
 * 3. The caller gets the end of a review once; then the review is forgotten, so that the next call
 *    opens a new one. The feedback of its voters on exactly this call stays valid as long as it is
 *    kept, and so does the end of candidates of which one ran: until its agent opens more reviews
 *    than it may have.
 * 4. Of candidates the elected one alone is granted, and no other one ends their review. */
#include "store/reviews/reviewing.h"

#include "base/id.h"
#include "store/reviews/delegated_terms.h"
#include "store/reviews/review_changes.h"
#include "evidence/record/review_terms.h"
#include "store/tables/review_index.h"

#define SALT_BYTES   16
#define CONTEXT_HEAD 128 /* bytes of the context besides its parts */

/* ---- a call asks ---- */

static bool
same_terms(const struct writ_review *a, const struct writ_review *b)
{
    return writ_view_equal(a->agent_id, b->agent_id) && writ_view_equal(a->tenant, b->tenant);
}

static bool
has_voices(enum writ_review_state state)
{
    return state == WRIT_REVIEW_REJECTED || state == WRIT_REVIEW_REVISED;
}

static bool
holds(enum writ_review_state state)
{
    return has_voices(state) || state == WRIT_REVIEW_REDEEMED;
}

/* The candidates as they were proposed, all of them; or of one call alone the one that it is.
 * OUTDATE: it is another one, or one is missing. */
static enum writ_review_event
compare_candidates(const struct writ_review *terms, const struct writ_ask *ask)
{
    const struct writ_review *asked = ask->terms;

    if (ask->proposes && asked->candidates_n != terms->candidates_n) {
        return WRIT_REVIEW_DO_OUTDATE;
    }
    for (size_t i = 0; i < asked->candidates_n; i++) {
        const struct writ_review_candidate *one = &asked->candidates[i];
        const struct writ_review_candidate *other =
            writ_review_candidate(terms, one->state_free_digest);

        if (other == NULL || (ask->proposes && other->option != one->option)) {
            return WRIT_REVIEW_DO_OUTDATE;
        }
        if (!writ_view_equal(one->intent_digest, other->intent_digest) ||
            !writ_view_equal(one->target_state_digest, other->target_state_digest)) {
            return WRIT_REVIEW_DO_DRIFT;
        }
    }
    return asked->candidates_n > 0 ? WRIT_REVIEW_DO_JOIN : WRIT_REVIEW_DO_OUTDATE;
}

/* Whether the call is one of the candidates, and not the one that the voters elected. */
static bool
is_not_elected(const struct writ_reviewed *review, const struct writ_ask *ask)
{
    const struct writ_review_candidate *candidate =
        ask->terms->candidates_n == 1 && !ask->proposes
            ? writ_review_candidate(
                  &review->story.review, ask->terms->candidates[0].state_free_digest)
            : NULL;

    return review->story.state == WRIT_REVIEW_APPROVED && candidate != NULL &&
           candidate->option != review->story.elected;
}

/* Whether all candidates ask for an approval that one of them has: its caller makes that call. */
static bool
is_decided(const struct writ_reviewed *review, const struct writ_ask *ask)
{
    return review->story.state == WRIT_REVIEW_APPROVED && ask->proposes;
}

/* The event that a call causes in an open review now, or JOIN or REDEEM. */
static enum writ_review_event
event_of(const struct writ_reviewed *review, const struct writ_ask *ask, int64_t now_us)
{
    const struct writ_review *terms = &review->story.review, *asked = ask->terms;

    if (review->until_us <= now_us) {
        return WRIT_REVIEW_DO_EXPIRE;
    }
    if (!writ_view_equal(terms->rules_digest, asked->rules_digest)) {
        return WRIT_REVIEW_DO_OUTDATE;
    }
    if (terms->candidates_n > 0) {
        enum writ_review_event event = compare_candidates(terms, ask);

        if (event != WRIT_REVIEW_DO_JOIN) {
            return event;
        }
    } else if (!writ_view_equal(terms->target_state_digest, asked->target_state_digest) ||
               !writ_view_equal(terms->intent_digest, asked->intent_digest)) {
        return WRIT_REVIEW_DO_DRIFT;
    }
    return review->story.state == WRIT_REVIEW_APPROVED ? WRIT_REVIEW_DO_REDEEM
                                                       : WRIT_REVIEW_DO_JOIN;
}

static WRIT_RESULT
refuse(struct writ_reviewing *reviewing, enum writ_reason reason)
{
    reviewing->answer = WRIT_REVIEWING_REFUSES;
    reviewing->reason = reason;
    return WRIT_DONE;
}

static WRIT_RESULT
ask_for_new(
    struct writ_ledger *ledger, const struct writ_review *terms, struct writ_reviewing *reviewing)
{
    const struct writ_reviews *reviews = &ledger->reviews;

    if (ledger->options.judge == NULL || !writ_is_ok(writ_review_terms_check(terms, NULL))) {
        return refuse(reviewing, WRIT_REASON_REVIEW_UNAVAILABLE);
    }
    if (reviews->count >= reviews->most) {
        return refuse(reviewing, WRIT_REASON_REVIEWS_FULL);
    }
    if (writ_review_index_live(reviews, terms->tenant, terms->agent_id) >=
        ledger->options.reviews_agent_max) {
        return refuse(reviewing, WRIT_REASON_REVIEWS_EXCEEDED);
    }
    reviewing->answer = WRIT_REVIEWING_PENDS;
    return WRIT_DONE;
}

/* The review that the caller names, if the call is one of its candidates; else NULL. */
static struct writ_reviewed *
find_proposal(struct writ_ledger *ledger, const struct writ_ask *ask)
{
    struct writ_reviewed *review =
        ask->continuation.ptr != NULL && !ask->proposes && ask->terms->candidates_n == 1
            ? writ_reviews_by_id(&ledger->reviews, ask->continuation)
            : NULL;

    if (review == NULL || writ_review_candidate(&review->story.review,
                              ask->terms->candidates[0].state_free_digest) == NULL) {
        return NULL;
    }
    return ask->boundary.ptr == NULL ||
                   writ_review_phase(review->story.state) != WRIT_REVIEW_LIVE ||
                   writ_view_equal(ask->boundary, review->boundary_id)
               ? review
               : NULL;
}

/* The review of a call: for a candidate the one that its caller names, which may have a review of
 * its own too; else that under its own name. */
static struct writ_reviewed *
find_review(struct writ_ledger *ledger, const struct writ_ask *ask)
{
    struct writ_reviewed *review = find_proposal(ledger, ask);

    return review != NULL ? review : writ_reviews_by_name(&ledger->reviews, &ask->name);
}

/* The caller names a review: it must exist, be the caller's own, and be for exactly this call. */
static bool
is_named(const struct writ_ask *ask, const struct writ_reviewed *review)
{
    return ask->continuation.ptr == NULL ||
           (review != NULL && writ_view_equal(ask->continuation, review->story.review.id));
}

WRIT_RESULT
writ_reviewing_ask(struct writ_ledger *ledger, const struct writ_entry_decision *d, int64_t now_us,
    struct writ_reviewing *ret, struct writ_err *err)
{
    const struct writ_ask *ask = d->ask;
    struct writ_reviewing reviewing = {0};
    struct writ_reviewed *review = find_review(ledger, ask);

    (void)err;
    if (review != NULL && !same_terms(&review->story.review, ask->terms)) {
        review = NULL; /* two calls with one tag: takes 2^64 work, but is checked */
    }
    reviewing.review = review;
    if (!is_named(ask, review)) {
        WRIT_TRY(refuse(&reviewing, WRIT_REASON_CONTINUATION_MISMATCH));
        reviewing.review = NULL;
    } else if (review == NULL) {
        WRIT_TRY(ask_for_new(ledger, ask->terms, &reviewing));
    } else if (writ_review_phase(review->story.state) == WRIT_REVIEW_OVER) {
        WRIT_TRY(refuse(&reviewing, writ_review_reason(review->story.state)));
    } else if (is_not_elected(review, ask)) { /* keeps (4) */
        WRIT_TRY(refuse(&reviewing, WRIT_REASON_CANDIDATE_NOT_ELECTED));
    } else if (is_decided(review, ask)) {
        reviewing.answer = WRIT_REVIEWING_PENDS;
        reviewing.until_us = review->until_us;
    } else {
        enum writ_review_event event = event_of(review, ask, now_us);
        enum writ_review_state next = WRIT_REVIEW_ABSENT;

        WRIT_INVARIANT(writ_review_move(review->story.state, event, &next));
        reviewing.until_us = review->until_us;
        if (event == WRIT_REVIEW_DO_JOIN) {
            reviewing.answer = WRIT_REVIEWING_PENDS;
        } else if (event == WRIT_REVIEW_DO_REDEEM) {
            reviewing.answer = WRIT_REVIEWING_REDEEMS;
        } else if (event == WRIT_REVIEW_DO_EXPIRE) {
            WRIT_TRY(refuse(&reviewing, writ_review_reason(next)));
        } else { /* the target or the terms changed: this review ends, and a new one opens */
            WRIT_TRY(ask_for_new(ledger, ask->terms, &reviewing));
            reviewing.before = review->story.review.id;
            if (reviewing.answer == WRIT_REVIEWING_PENDS) {
                reviewing.reason = writ_review_reason(next);
            }
        }
    }
    *ret = reviewing;
    return WRIT_DONE;
}

/* ---- and its answer ---- */

static WRIT_RESULT
make_salt(struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    unsigned char bytes[SALT_BYTES];
    struct writ_buf text = writ_buf_in(arena, 2 * SALT_BYTES);

    WRIT_TRY(writ_random(bytes, sizeof bytes, err));
    writ_hex_put(&text, bytes, sizeof bytes);
    WRIT_TRY(writ_buf_check(&text, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

/* Makes the review context, with the target state of the review before. */
static WRIT_RESULT
make_context(struct writ_ledger *ledger, const struct writ_ask *ask, struct writ_view before,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_review_context context = {.arguments = ask->arguments,
        .state = ask->target_state,
        .conditions = ask->conditions,
        .candidates = ask->candidates};
    struct writ_review_context was;
    struct writ_buf text;

    if (before.ptr != NULL) {
        WRIT_TRY(writ_review_changes_shown(ledger, before, true, arena, &was, err));
        context.before = was.state;
    }
    WRIT_TRY(make_salt(arena, &context.salt, err));
    text = writ_buf_in(arena, context.arguments.len + context.state.len + context.before.len +
                                  context.conditions.len + context.salt.len +
                                  context.candidates.len + CONTEXT_HEAD);
    writ_review_context_put(&context, &text);
    WRIT_TRY(writ_buf_check(&text, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

static WRIT_RESULT
open_review(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    const struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_reviews_event event = {
        .event = WRIT_REVIEW_DO_OPEN,
        .by = d->ask->terms->agent_id,
        .reason = WRIT_REASON_APPROVAL_REQUIRED,
    };
    struct writ_reviewed *review = NULL;
    struct writ_review terms;
    writ_result result;

    WRIT_TRY(writ_delegated_terms_make(ledger, d->ask, arena, &terms, err));
    WRIT_TRY(make_context(ledger, d->ask, reviewing->before, arena, &event.arguments, err));
    WRIT_TRY(writ_reviews_add(&ledger->reviews, &terms, writ_tag_of(&d->ask->name), &review, err));
    review->boundary = boundary;
    review->boundary_row = boundary->id;
    review->boundary_id = writ_view_copy(boundary->name, review->arena);
    review->seq = boundary->next_seq;
    review->leaf = leaf;
    result = review->boundary_id.ptr == NULL ? (writ_result){WRIT_E_NOMEM}
                                             : writ_review_changes_make(ledger, review, &event,
                                                   arena, &reviewing->changes, err);
    if (!writ_is_ok(result)) {
        writ_reviews_remove(&ledger->reviews, review);
        return result;
    }
    reviewing->review = review;
    return WRIT_DONE;
}

/* The conflicting review ends and is forgotten: this answer informs its caller. */
static WRIT_RESULT
end_before(struct writ_ledger *ledger, struct writ_reviewing *reviewing, const struct writ_ask *ask,
    int64_t now_us, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_reviewed *review = reviewing->review;
    struct writ_reviews_event event = {.by = ask->terms->agent_id, .forget = true};
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    event.event = event_of(review, ask, now_us);
    WRIT_INVARIANT(writ_review_move(review->story.state, event.event, &next));
    event.reason = writ_review_reason(next);
    return writ_review_changes_make(ledger, review, &event, arena, &reviewing->changes, err);
}

static WRIT_RESULT
change_for(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    const struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary,
    bool granted, struct writ_arena *arena, struct writ_err *err)
{
    int64_t now_us = ledger->log.last_us;
    bool lives = reviewing->review != NULL &&
                 writ_review_phase(reviewing->review->story.state) == WRIT_REVIEW_LIVE;

    switch (reviewing->answer) {
    case WRIT_REVIEWING_REDEEMS:
        if (granted) { /* keeps (2) */
            const struct writ_reviews_event event = {.event = WRIT_REVIEW_DO_REDEEM,
                .by = d->ask->terms->agent_id,
                .reason = WRIT_REASON_APPROVAL_GRANTED,
                .forget = reviewing->review->story.review.candidates_n <= 1}; /* keeps (3) */

            return writ_review_changes_make(
                ledger, reviewing->review, &event, arena, &reviewing->changes, err);
        }
        return WRIT_DONE;
    case WRIT_REVIEWING_PENDS:
        if (reviewing->review != NULL && reviewing->before.ptr == NULL) {
            return WRIT_DONE; /* joins it */
        }
        if (reviewing->review != NULL) {
            WRIT_TRY(end_before(ledger, reviewing, d->ask, now_us, arena, err));
        }
        return open_review(ledger, reviewing, d, leaf, boundary, arena, err);
    case WRIT_REVIEWING_REFUSES:
        return lives && reviewing->reason != WRIT_REASON_CONTINUATION_MISMATCH &&
                       reviewing->reason != WRIT_REASON_CANDIDATE_NOT_ELECTED
                   ? end_before(ledger, reviewing, d->ask, now_us, arena, err)
                   : WRIT_DONE;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reviewing_record(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary, bool granted,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_ask *ask = d->ask;
    writ_result result = change_for(ledger, reviewing, d, leaf, boundary, granted, arena, err);

    ask->id = (struct writ_view){NULL, 0};
    if (writ_is_ok(result) && reviewing->review != NULL) {
        ask->state = reviewing->review->story.state;
        ask->elected = reviewing->review->story.elected;
        ask->until_us = reviewing->review->until_us;
        if (has_voices(ask->state)) {
            writ_reviews_voices(reviewing->review, arena, ask);
        }
        ask->id = writ_view_copy(reviewing->review->story.review.id, arena);
        if (ask->id.ptr == NULL) {
            result = (writ_result){WRIT_E_NOMEM};
        }
    }
    if (!writ_is_ok(result)) {
        writ_reviewing_revert(ledger, reviewing);
    } else if (reviewing->answer == WRIT_REVIEWING_PENDS && reviewing->changes.n > 0) {
        reviewing->told = writ_review_index_surplus(
            reviewing->review->agent, ledger->options.reviews_agent_max + 1); /* with the new one */
    } else if (reviewing->answer == WRIT_REVIEWING_REFUSES && reviewing->review != NULL &&
               writ_review_phase(ask->state) == WRIT_REVIEW_OVER && reviewing->changes.n == 0 &&
               !holds(ask->state)) {
        reviewing->told = reviewing->review; /* keeps (3) */
    }
    return result;
}

void
writ_reviewing_settle(struct writ_ledger *ledger, struct writ_reviewing *reviewing)
{
    writ_review_changes_settle(ledger, &reviewing->changes, NULL);
    if (reviewing->told != NULL) {
        writ_review_changes_forget(ledger, reviewing->told);
    }
}

void
writ_reviewing_revert(struct writ_ledger *ledger, struct writ_reviewing *reviewing)
{
    writ_review_changes_revert(ledger, &reviewing->changes);
    reviewing->changes.n = 0;
}
