#include "evidence/review_story.h"

/* keeps: votes are those of voters, in an open review, with the digest of its terms */
static WRIT_RESULT
take_vote(
    struct writ_review_story *story, const struct writ_review_record *record, struct writ_err *err)
{
    struct writ_review_voter *voter =
        record->by.is == WRIT_PRESENT ? writ_review_voter(&story->review, record->by.view) : NULL;
    enum writ_review_vote vote = record->vote.is == WRIT_PRESENT
                                     ? writ_review_vote_find(record->vote.view)
                                     : WRIT_REVIEW_NO_VOTE;

    if (voter == NULL || vote == WRIT_REVIEW_NO_VOTE ||
        !writ_member_time(record->at.view, &voter->voted_us)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a vote is of nobody who may vote, or is none");
    }
    voter->vote = vote;
    voter->votes++;
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
    WRIT_TRY(writ_review_read_terms(record->terms.value, arena, &story->review, err));
    WRIT_TRY(writ_review_digest(&story->review, &digest, err));
    writ_digest_text(&digest, story->digest);
    if (!writ_view_equal(story->review.id, record->decision_id.view) ||
        !writ_member_time(record->at.view, &story->review.opened_us)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the terms of a review are another one's");
    }
    return WRIT_DONE;
}

/* What has to hold of any record, wherever it stands. */
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
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu of a review cannot stand where it does",
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
    if (event == WRIT_REVIEW_DO_ACCEPT || event == WRIT_REVIEW_DO_REJECT ||
        event == WRIT_REVIEW_DO_REVISE) {
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
