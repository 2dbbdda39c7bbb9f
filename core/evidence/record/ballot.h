/* ballot.h - a vote that its voter has signed with a key of its own: a compact JWS (jws.h) whose
 * payload is the whole vote, so that whoever has the record and the terms can verify it, and nobody
 * can use it again: it names the review by the digest of its terms, the voter, and how many votes
 * the voter has cast before. No I/O. Thread-safe. */
#ifndef WRIT_EVIDENCE_BALLOT_H
#define WRIT_EVIDENCE_BALLOT_H

#include "evidence/jose/jws.h"
#include "evidence/record/review.h"

#define WRIT_BALLOT_TYP       "writ-vote" /* of the header: no other JWS is a vote */
#define WRIT_BALLOT_BYTES_MAX WRIT_JWS_BYTES_MAX

/** A vote as it is signed. Views live in the arena or are the caller's. */
struct writ_ballot {
    struct writ_view digest; /* of the terms, as text */
    struct writ_view voter;
    enum writ_review_vote vote;
    struct writ_view feedback, confidence; /* ptr NULL: none */
    uint64_t revision;                     /* votes that the voter has cast before in this review */
};

/**
 * Reads a signed vote; nothing in it is verified.
 *
 * @param token  borrowed as long as `ret` is used
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  no JWS of this typ whose payload has exactly the members of a vote
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_ballot_read(struct writ_view token, struct writ_arena *arena,
    struct writ_ballot *ret, struct writ_err *err);

/**
 * Verifies a signed vote.
 *
 * @param key   the voter's, as the terms have it: the canonical JSON of a JWK
 * @param want  what it has to say, member for member
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  it is not signed with that key, or says something else
 *         WRIT_E_PARSE     it is no signed vote
 *         WRIT_E_INVALID   the key is none
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_ballot_check(struct writ_view token, struct writ_view key,
    const struct writ_ballot *want, struct writ_arena *arena, struct writ_err *err);

/** Appends the signed vote. WRIT_E_LIMIT, WRIT_E_CRYPTO, and what the buffer says. */
WRIT_RESULT writ_ballot_sign(const struct writ_ballot *ballot, const struct writ_signer *signer,
    struct writ_buf *ret, struct writ_err *err);

#endif
