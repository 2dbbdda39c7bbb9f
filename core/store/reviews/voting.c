/* Everything is checked before anything changes: the review, the event, the vote's digest, voter,
 * form and signature. A refusal is a result, with its reason in `refused`. */
#include "store/reviews/voting.h"

#include "evidence/record/ballot.h"
#include "store/reviews/delegated_terms.h"
#include "store/reviews/review_changes.h"
#include "evidence/record/review_judge.h"

/* A voter with a key must sign its votes, whatever way they come; a voter without one cannot. */
static enum writ_reason
check_signature(const struct writ_entry_review *r, const struct writ_reviewed *review,
    const struct writ_review_voter *voter)
{
    const struct writ_ballot want = {.digest = writ_view_str(review->story.digest),
        .voter = voter->id,
        .vote = r->vote,
        .ranking = r->ranking,
        .feedback = r->feedback,
        .confidence = r->confidence,
        .revision = voter->votes};
    struct writ_arena *scratch;
    writ_result result = {WRIT_E_NOMEM};

    if (voter->key.len == 0 || r->signature.ptr == NULL) {
        return voter->key.len > 0         ? WRIT_REASON_VOTE_UNSIGNED
               : r->signature.ptr != NULL ? WRIT_REASON_VOTE_FORGED
                                          : WRIT_REASON_NONE;
    }
    scratch = writ_arena_new_small(WRIT_REVIEWS_SCRATCH);
    if (scratch != NULL) {
        result = writ_ballot_check(r->signature, voter->key, &want, scratch, NULL);
    }
    writ_arena_free(scratch);
    return writ_is_ok(result) ? WRIT_REASON_NONE : WRIT_REASON_VOTE_FORGED;
}

static enum writ_reason
check_vote(const struct writ_entry_review *r, const struct writ_reviewed *review, int64_t now_us)
{
    const struct writ_review_voter *voter = writ_review_voter(&review->story.review, r->by);

    if (!writ_view_is(r->digest, review->story.digest)) {
        return WRIT_REASON_REVIEW_MISMATCH;
    }
    if (voter == NULL || !writ_review_may_vote(&review->story.review, voter, now_us)) {
        return WRIT_REASON_VOTE_NOT_ENTITLED;
    }
    if (r->vote == WRIT_REVIEW_NO_VOTE ||
        (r->feedback.ptr != NULL && !writ_review_is_feedback(r->feedback)) ||
        (r->confidence.ptr != NULL && !writ_review_is_confidence(r->confidence))) {
        return WRIT_REASON_VOTE_MALFORMED;
    }
    if (!writ_review_counts(&review->story.review, r->vote, &r->ranking, r->confidence)) {
        return WRIT_REASON_VOTE_INCOMPLETE;
    }
    if (r->first && voter->votes > 0) {
        return WRIT_REASON_VOTES_USED_UP;
    }
    return voter->votes >= WRIT_REVIEW_VOTES_EACH ? WRIT_REASON_VOTES_USED_UP
                                                  : check_signature(r, review, voter);
}

/* The events that a person or a caller can submit. The others follow from votes, time or the
 * call. */
static bool
is_submitted(enum writ_review_event event)
{
    return event == WRIT_REVIEW_DO_VOTE || event == WRIT_REVIEW_DO_WITHDRAW ||
           event == WRIT_REVIEW_DO_CANCEL || event == WRIT_REVIEW_DO_OUTDATE ||
           event == WRIT_REVIEW_DO_DRIFT;
}

static bool
is_verdict(enum writ_review_event event)
{
    return event == WRIT_REVIEW_DO_ACCEPT || event == WRIT_REVIEW_DO_REJECT ||
           event == WRIT_REVIEW_DO_REVISE || event == WRIT_REVIEW_DO_FAIL;
}

/* Whether it elects one of the candidates when it accepts, and else none. */
static bool
is_election(const struct writ_review_finding *finding, const struct writ_review *review)
{
    return finding->verdict == WRIT_REVIEW_DO_ACCEPT && review->candidates_n > 0
               ? writ_review_has_candidate(review, finding->elected)
               : finding->elected == WRIT_REVIEW_NO_VOTE;
}

/* A count outside of the transaction is that of a plug-in, and valid only for the votes that it
 * counted: with one more record it is counted again. */
static enum writ_reason
check_count(const struct writ_entry_review *r, const struct writ_reviewed *review)
{
    if (!writ_review_is_plugin(review->story.review.engine) || !is_verdict(r->event) ||
        r->finding->verdict != r->event || !is_election(r->finding, &review->story.review)) {
        return WRIT_REASON_VOTE_NOT_ENTITLED;
    }
    return writ_view_is(r->digest, review->story.digest) && r->counted == review->story.n
               ? WRIT_REASON_NONE
               : WRIT_REASON_REVIEW_MISMATCH;
}

static enum writ_reason
check_event(const struct writ_entry_review *r, const struct writ_reviewed *review, int64_t now_us)
{
    enum writ_review_state next;

    if (review == NULL ||
        (r->tenant.ptr != NULL && !writ_view_equal(r->tenant, review->story.review.tenant))) {
        return WRIT_REASON_REVIEW_UNKNOWN;
    }
    if (r->agent_id.ptr != NULL && !writ_view_equal(r->agent_id, review->story.review.agent_id)) {
        return WRIT_REASON_REVIEW_UNKNOWN;
    }
    if (r->finding == NULL && !is_submitted(r->event)) {
        return WRIT_REASON_VOTE_NOT_ENTITLED;
    }
    if (!writ_review_move(review->story.state, r->event, &next) || review->until_us <= now_us) {
        return WRIT_REASON_REVIEW_CLOSED;
    }
    if (r->finding != NULL) {
        return check_count(r, review);
    }
    return r->event == WRIT_REVIEW_DO_VOTE ? check_vote(r, review, now_us) : WRIT_REASON_NONE;
}

/* Closes the review with its verdict, when no outstanding vote can change it. */
static WRIT_RESULT
close_if_decided(struct writ_ledger *ledger, struct writ_reviewed *review, struct writ_arena *arena,
    struct writ_reviews_changes *changes, struct writ_err *err)
{
    struct writ_review_finding finding = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_reviews_event event = {.finding = &finding};
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    if (ledger->options.judge == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(
        writ_review_judge_look(ledger->options.judge, &review->story.review, arena, &finding, err));
    if (finding.verdict == WRIT_REVIEW_DO_VOTE) {
        return WRIT_DONE;
    }
    event.event = finding.verdict;
    if (writ_review_move(review->story.state, event.event, &next)) {
        event.reason = writ_review_reason(next);
    }
    return writ_review_changes_make(ledger, review, &event, arena, changes, err);
}

static WRIT_RESULT
make_event(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_reviewed *review,
    struct writ_reviews_changes *changes, struct writ_err *err)
{
    const struct writ_entry_review *r = &entry->review;
    struct writ_reviews_event event = {
        .event = r->event,
        .by = r->by,
        .feedback = r->feedback,
        .confidence = r->confidence,
        .signature = r->signature,
        .via = r->via,
        .crew_log = r->crew_log,
        .content = r->content,
        .finding = r->finding,
        .vote = r->event == WRIT_REVIEW_DO_VOTE ? r->vote : WRIT_REVIEW_NO_VOTE,
        .ranking = r->ranking,
    };
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    if (writ_review_move(review->story.state, r->event, &next) &&
        (r->finding != NULL || writ_review_phase(next) == WRIT_REVIEW_OVER)) {
        event.reason = writ_review_reason(next);
    }
    WRIT_TRY(writ_review_changes_make(ledger, review, &event, entry->arena, changes, err));
    if (r->event == WRIT_REVIEW_DO_VOTE) {
        WRIT_TRY(close_if_decided(ledger, review, entry->arena, changes, err));
    }
    return writ_reviews_tell(review, entry->arena, &entry->review.told, err);
}

WRIT_RESULT
writ_voting_event(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_review *r = &entry->review;
    struct writ_reviewed *review = writ_reviews_by_id(&ledger->reviews, r->id);
    struct writ_reviews_changes changes = {.n = 0};
    size_t before;
    writ_result result;

    if (review != NULL) { /* also right before the verdict of a plug-in */
        WRIT_TRY(writ_delegated_terms_withdraw(ledger, review, entry->arena, NULL));
    }
    before = ledger->group.bodies.len;
    r->refused = check_event(r, review, writ_clock_wall_us(ledger->options.clock));
    if (r->refused == WRIT_REASON_REVIEW_UNKNOWN) {
        return WRIT_DONE;
    }
    if (r->refused != WRIT_REASON_NONE) {
        return writ_reviews_tell(review, entry->arena, &r->told, NULL);
    }
    result = make_event(ledger, entry, review, &changes, NULL);
    if (!writ_is_ok(result)) {
        writ_review_changes_revert(ledger, &changes);
        writ_buf_cut(&ledger->group.bodies, before);
        return result;
    }
    ledger->group.contents += r->content != NULL ? r->content->bytes.len : 0;
    writ_review_changes_settle(ledger, &changes, entry);
    return WRIT_DONE;
}
