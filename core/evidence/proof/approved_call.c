/* The terms in the first record of a review name its calls; the record that accepts names the
 * elected one. */
#include "evidence/proof/approved_call.h"

static WRIT_RESULT
digest_of(
    struct writ_view intent, struct writ_view state, struct writ_digest *ret, struct writ_err *err)
{
    const struct writ_view pieces[] = {intent, WRIT_LIT("\n"), state};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}

/* From the terms, or from one of the candidates in them. */
static WRIT_RESULT
take_call(struct writ_approved_call *approved, enum writ_review_vote option,
    const struct writ_json *value, struct writ_err *err)
{
    struct writ_view intent = writ_json_string(writ_json_get(value, WRIT_LIT("intent_digest")));

    approved->has[option] = intent.ptr != NULL;
    return digest_of(intent,
        writ_json_string(writ_json_get(value, WRIT_LIT("target_state_digest"))),
        &approved->calls[option], err);
}

static WRIT_RESULT
take_terms(struct writ_approved_call *approved, const struct writ_json *terms, struct writ_err *err)
{
    const struct writ_json *candidates =
        writ_json_get_typed(terms, WRIT_LIT("candidates"), WRIT_JSON_ARRAY);

    approved->is_open = true;
    if (candidates == NULL) {
        return take_call(approved, WRIT_REVIEW_NO_VOTE, terms, err);
    }
    WRIT_JSON_EACH(candidate, candidates)
    {
        enum writ_review_vote option =
            writ_review_vote_find(writ_json_string(writ_json_get(candidate, WRIT_LIT("option"))));

        if (writ_review_is_candidate(option)) {
            WRIT_TRY(take_call(approved, option, candidate, err));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_approved_call_hear(struct writ_approved_call *approved,
    const struct writ_review_record *record, struct writ_err *err)
{
    enum writ_review_event event = WRIT_REVIEW_DO_JOIN;
    enum writ_review_state state = WRIT_REVIEW_ABSENT;

    if (!writ_review_record_event(record, &event)) {
        return WRIT_DONE;
    }
    approved->is_approved = writ_review_state_find(writ_member_view(&record->state), &state) &&
                            (state == WRIT_REVIEW_APPROVED || state == WRIT_REVIEW_REDEEMED);
    if (event == WRIT_REVIEW_DO_OPEN) {
        return take_terms(approved, record->terms.value, err);
    }
    if (event == WRIT_REVIEW_DO_ACCEPT) {
        approved->elected = writ_review_vote_find(writ_member_view(&record->elected));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_approved_call_judge(const struct writ_approved_call *approved,
    const struct writ_decision *before, const struct writ_decision *next, enum writ_reason *ret_why,
    struct writ_err *err)
{
    struct writ_digest call;
    bool is_under = writ_decision_is(before, WRIT_DECISION_REQUIRE_APPROVAL) &&
                    writ_decision_is(next, WRIT_DECISION_ALLOW) &&
                    writ_member_text_equal(&before->continuation_id, &next->continuation_id, false);

    *ret_why = WRIT_REASON_EVIDENCE_OK;
    if (!is_under || !approved->is_open || approved->is_hidden) {
        return WRIT_DONE;
    }
    WRIT_TRY(digest_of(writ_member_view(&next->intent_digest),
        writ_member_view(&next->target_state_digest), &call, err));
    if (!approved->is_approved || !approved->has[approved->elected] ||
        !writ_digest_equal(&call, &approved->calls[approved->elected])) {
        *ret_why = WRIT_REASON_APPROVAL_MISMATCH;
    }
    return WRIT_DONE;
}
