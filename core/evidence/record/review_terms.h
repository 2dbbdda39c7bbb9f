/* review_terms.h - the terms of a review, which are fixed when it opens: one call (intent_digest,
 * target_state_digest), the electorate, and how votes are counted. No I/O.
 *
 * Every vote names their digest, so that a vote for one review counts for no other. */
#ifndef WRIT_EVIDENCE_REVIEW_TERMS_H
#define WRIT_EVIDENCE_REVIEW_TERMS_H

#include "evidence/record/review.h"

/**
 * Checks terms: names, weights, times; a voter is there once, and is not the caller; a delegate is
 * one of the voters, and no one delegates to itself through others.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  no voter, a name twice, the subject among the voters, or a value that
 *                         is out of range
 *         WRIT_E_LIMIT    more than WRIT_REVIEW_VOTERS_MAX voters
 */
WRIT_RESULT writ_review_terms_check(const struct writ_review *review, struct writ_err *err);

/** Appends the terms in canonical form, without votes: the record of an opening. WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_review_terms_put(
    const struct writ_review *review, struct writ_buf *ret, struct writ_err *err);

/**
 * Reads terms that writ_review_terms_put wrote; they have no votes.
 *
 * @param value  borrowed as long as the review is used
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not terms
 *         WRIT_E_INVALID, WRIT_E_LIMIT  as writ_review_terms_check
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_review_terms_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_review *ret, struct writ_err *err);

/** The member `key` of an object in canonical form, in the arena; untouched when it has none.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_review_terms_key(const struct writ_json *object, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err);

/** The digest of the terms, to which votes are bound. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_review_terms_digest(
    const struct writ_review *review, struct writ_digest *ret, struct writ_err *err);

/** Writes the member `delegation` of a voter that set one; nothing else. */
void writ_review_terms_put_delegation(struct writ_write *w, const struct writ_review_voter *voter);

#endif
