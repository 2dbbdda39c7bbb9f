/* ballot.h - a vote that its voter signed with its own key: a compact JWS (jws.h) whose payload is
 * the whole vote. The record and the terms are enough to verify it, and it cannot be used again: it
 * names the review by the digest of its terms, the voter, and the number of earlier votes of the
 * voter. No I/O. Thread-safe. */
#ifndef WRIT_EVIDENCE_BALLOT_H
#define WRIT_EVIDENCE_BALLOT_H

#include "evidence/jose/jws.h"
#include "evidence/record/review.h"

#define WRIT_BALLOT_TYP       "writ-vote" /* of the header: only this typ is a vote */
#define WRIT_BALLOT_BYTES_MAX WRIT_JWS_BYTES_MAX

/** A vote as it is signed. Views live in the arena or belong to the caller. */
struct writ_ballot {
    struct writ_view digest; /* of the terms, as text */
    struct writ_view voter;
    enum writ_review_vote vote;
    struct writ_review_ranking ranking;    /* its first is `vote`; n 0: none */
    struct writ_view feedback, confidence; /* ptr NULL: none */
    uint64_t revision;                     /* earlier votes of the voter in this review */
};

/**
 * Reads a signed vote without verifying it.
 *
 * @param token  borrowed as long as `ret` is used
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not a JWS of this typ whose payload has exactly the members of a vote
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_ballot_read(struct writ_view token, struct writ_arena *arena,
    struct writ_ballot *ret, struct writ_err *err);

/**
 * Verifies a signed vote.
 *
 * @param key   of the voter, from the terms: the canonical JSON of a JWK
 * @param want  the expected vote, member for member
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  not signed with that key, or another vote
 *         WRIT_E_PARSE     not a signed vote
 *         WRIT_E_INVALID   the key is malformed
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_ballot_check(struct writ_view token, struct writ_view key,
    const struct writ_ballot *want, struct writ_arena *arena, struct writ_err *err);

/** Appends the signed vote. WRIT_E_LIMIT, WRIT_E_CRYPTO, and the failures of the buffer. */
WRIT_RESULT writ_ballot_sign(const struct writ_ballot *ballot, const struct writ_signer *signer,
    struct writ_buf *ret, struct writ_err *err);

#endif
