/* Replays the records of a review through the table of moves. A record must be possible in the
 * present state and bound to the same terms, so contradicting records never give a verdict. */
#include "evidence/record/review_story.h"

#include "evidence/record/ballot.h"
#include "evidence/record/review_terms.h"

#define SCRATCH_MAX ((size_t)1 << 20) /* to check one signature */

static struct writ_view
text_of(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view("", 0);
}

static struct writ_review_ranking
ranking_of(const struct writ_review_record *record)
{
    struct writ_review_ranking ranking = {.n = 0};

    if (record->ranking.is == WRIT_PRESENT) {
        (void)writ_review_ranking_of(record->ranking.items, record->ranking.count, &ranking);
    }
    return ranking;
}

/* keeps: a voter with a key has signed its vote */
static WRIT_RESULT
check_signature(const struct writ_review_story *story, const struct writ_review_voter *voter,
    const struct writ_review_record *record, struct writ_err *err)
{
    const struct writ_ballot want = {.digest = writ_view_str(story->digest),
        .voter = voter->id,
        .vote = writ_review_vote_find(record->vote.view),
        .ranking = ranking_of(record),
        .feedback = text_of(&record->feedback),
        .confidence = text_of(&record->confidence),
        .revision = voter->votes};
    struct writ_arena *scratch = writ_arena_new_small(SCRATCH_MAX);
    writ_result result = {WRIT_E_NOMEM};

    if (scratch != NULL) {
        result = writ_ballot_check(text_of(&record->signature), voter->key, &want, scratch, err);
    }
    writ_arena_free(scratch);
    if (!writ_is_ok(result) && result.code != WRIT_E_NOMEM && result.code != WRIT_E_CRYPTO) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a vote is not signed with the key of its voter");
    }
    return result;
}

/* keeps: only voters vote, in an open review, with the digest of its terms */
static WRIT_RESULT
take_vote(
    struct writ_review_story *story, const struct writ_review_record *record, struct writ_err *err)
{
    struct writ_review_voter *voter =
        record->by.is == WRIT_PRESENT ? writ_review_voter(&story->review, record->by.view) : NULL;
    enum writ_review_vote vote = record->vote.is == WRIT_PRESENT
                                     ? writ_review_vote_find(record->vote.view)
                                     : WRIT_REVIEW_NO_VOTE;
    struct writ_review_ranking ranking = ranking_of(record);
    int64_t at_us = 0;

    if (voter == NULL || vote == WRIT_REVIEW_NO_VOTE ||
        !writ_review_counts(&story->review, vote, &ranking, text_of(&record->confidence)) ||
        !writ_member_time(record->at.view, &at_us)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a vote is not of a voter of the review, or is malformed");
    }
    if (voter->key.len > 0) {
        WRIT_TRY(check_signature(story, voter, record, err));
    }
    writ_review_cast(voter, vote, &ranking, text_of(&record->confidence), at_us);
    voter->votes++;
    return WRIT_DONE;
}

/* keeps: a voter takes back the delegation that it set, once */
static WRIT_RESULT
take_revoked(
    struct writ_review_story *story, const struct writ_review_record *record, struct writ_err *err)
{
    struct writ_review_voter *voter = writ_review_voter(&story->review, text_of(&record->by));

    if (voter == NULL || voter->delegation.len == 0 || voter->revoked) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a delegation is revoked that the review does not have");
    }
    voter->revoked = true;
    return WRIT_DONE;
}

static WRIT_RESULT
open_story(struct writ_review_story *story, const struct writ_review_record *record,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_digest digest;

    if (record->terms.is != WRIT_PRESENT || record->terms.value == NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a review opens without terms");
    }
    WRIT_TRY(writ_review_terms_read(record->terms.value, arena, &story->review, err));
    WRIT_TRY(writ_review_terms_digest(&story->review, &digest, err));
    writ_digest_text(&digest, story->digest);
    if (!writ_view_equal(story->review.id, record->decision_id.view) ||
        !writ_member_time(record->at.view, &story->review.opened_us)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the digest does not match the terms of the review");
    }
    return WRIT_DONE;
}

/* The rules for a record at every place. */
static WRIT_RESULT
check_record(const struct writ_review_story *story, const struct writ_review_record *record,
    struct writ_err *err)
{
    struct writ_faults faults = {0};

    writ_review_record_validate(record, &faults);
    if (faults.count > 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu of a review is not valid",
            (unsigned long long)story->n);
    }
    if (record->n.value < 0 || (uint64_t)record->n.value != story->n) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu of a review is missing",
            (unsigned long long)story->n);
    }
    return WRIT_DONE;
}

/* keeps: of candidates exactly one is elected, by the verdict that accepts */
static WRIT_RESULT
take_elected(struct writ_review_story *story, enum writ_review_event event,
    const struct writ_review_record *record, struct writ_err *err)
{
    bool elects = event == WRIT_REVIEW_DO_ACCEPT && story->review.candidates_n > 0;
    enum writ_review_vote elected = writ_review_vote_find(text_of(&record->elected));

    if (elects ? !writ_review_has_candidate(&story->review, elected)
               : record->elected.is == WRIT_PRESENT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a verdict does not elect one of the candidates");
    }
    if (elects) {
        story->elected = elected;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_story_add(struct writ_review_story *story, const struct writ_review_record *record,
    struct writ_arena *arena, struct writ_err *err)
{
    enum writ_review_event event = WRIT_REVIEW_DO_OPEN;
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    WRIT_TRY(check_record(story, record, err));
    if (!writ_review_record_event(record, &event) ||
        !writ_review_move(story->state, event, &next) ||
        !writ_view_equal(record->state.view, writ_review_state_name(next))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu of a review is impossible at its place",
            (unsigned long long)story->n);
    }
    if (event == WRIT_REVIEW_DO_OPEN) {
        WRIT_TRY(open_story(story, record, arena, err));
    }
    if (!writ_view_is(record->review_digest.view, story->digest) ||
        !writ_view_equal(record->decision_id.view, story->review.id)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu belongs to another review",
            (unsigned long long)story->n);
    }
    if (event == WRIT_REVIEW_DO_VOTE) {
        WRIT_TRY(take_vote(story, record, err));
    }
    if (event == WRIT_REVIEW_DO_REVOKE) {
        WRIT_TRY(take_revoked(story, record, err));
    }
    if (event == WRIT_REVIEW_DO_FAIL && !writ_review_is_plugin(story->review.engine)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a count failed that no plug-in made");
    }
    WRIT_TRY(take_elected(story, event, record, err));
    if (event == WRIT_REVIEW_DO_ACCEPT || event == WRIT_REVIEW_DO_REJECT ||
        event == WRIT_REVIEW_DO_REVISE || event == WRIT_REVIEW_DO_FAIL) {
        story->verdict = event;
        story->log = record->log;
    }
    if (next != story->state) {
        (void)writ_member_time(record->at.view, &story->changed_us);
    }
    story->state = next;
    story->n++;
    return WRIT_DONE;
}

bool
writ_review_story_approves(
    const struct writ_review_story *story, const struct writ_decision *decision)
{
    const struct writ_review *review = &story->review;
    struct writ_view intent = review->intent_digest, state = review->target_state_digest;

    for (size_t i = 0; i < review->candidates_n; i++) {
        if (review->candidates[i].option == story->elected) {
            intent = review->candidates[i].intent_digest;
            state = review->candidates[i].target_state_digest;
        }
    }
    return story->state == WRIT_REVIEW_APPROVED &&
           writ_view_equal(text_of(&decision->intent_digest), intent) &&
           writ_view_equal(text_of(&decision->target_state_digest), state);
}
