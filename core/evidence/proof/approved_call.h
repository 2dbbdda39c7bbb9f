/* approved_call.h - which call a review approves, as its records say: of candidates the elected
 * one. Receipts and bundles compare it with the call that was allowed.
 *
 * Pure; thread-safe; nothing blocks. */
#ifndef WRIT_EVIDENCE_APPROVED_CALL_H
#define WRIT_EVIDENCE_APPROVED_CALL_H

#include "evidence/record/record.h"
#include "evidence/record/review.h"
#include "evidence/record/review_record.h"

/** Zero-initialised: no record yet. It owns nothing. */
struct writ_approved_call {
    bool is_open;                  /* the record that opened the review was there */
    bool is_hidden;                /* a record of the review is withheld */
    bool is_approved;              /* or redeemed: a receipt has that before the call */
    enum writ_review_vote elected; /* NO_VOTE: none of several */
    /* Of intent and target state, by the option of the candidate; under NO_VOTE those of a review
     * without candidates. */
    bool has[WRIT_REVIEW_CANDIDATE_8 + 1];
    struct writ_digest calls[WRIT_REVIEW_CANDIDATE_8 + 1];
};

/** Takes the next record of the review. WRIT_E_CRYPTO. */
WRIT_RESULT writ_approved_call_hear(struct writ_approved_call *approved,
    const struct writ_review_record *record, struct writ_err *err);

/**
 * Judges the decision `next`, which supersedes `before`; `approved` is the review of `before`.
 *
 * @param ret_why  EVIDENCE_OK; APPROVAL_MISMATCH when it allows a call under this review that is
 *                 not the approved one. What a withheld record would say is not held against it
 *
 * @return WRIT_OK, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_approved_call_judge(const struct writ_approved_call *approved,
    const struct writ_decision *before, const struct writ_decision *next, enum writ_reason *ret_why,
    struct writ_err *err);

#endif
