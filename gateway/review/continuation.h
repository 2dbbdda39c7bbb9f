/* continuation.h - the requestState of a call that waits for the verdict of its review (2026-07-28,
 * basic/patterns/mrtr): the review, its call and agent, and its time limit.
 *
 * It is opaque to the client, which sends it back, so it is a JWS of Writ's own type, signed with
 * the key of the credentials: it stays valid after a restart and a rotation of the key. It gives no
 * right: the ledger is checked again for the review, its call and its state. No credential is a
 * continuation and no continuation a credential (RFC 8725 3.11: the types differ, and so do the
 * claims). Pure; thread-safe. */
#ifndef WRIT_GATEWAY_CONTINUATION_H
#define WRIT_GATEWAY_CONTINUATION_H

#include "evidence/jose/keyring.h"
#include "evidence/json/digest.h"

#define WRIT_CONTINUATION_MAX ((size_t)9000) /* bytes of such a requestState */

struct writ_continuation {
    struct writ_view review; /* its id */
    struct writ_digest call; /* the review's name in the ledger: from the principal and the
                                request */
    int64_t expires_s;
    bool shown; /* a person was asked to open the review's page, or to vote */
    /* of a question (review_question.h); else empty */
    struct writ_view name;    /* the entry of `reviews` */
    struct writ_view terms;   /* digest of what was asked: only a vote about this counts */
    struct writ_view session; /* boundary of the session that was asked */
};

/** Whether it has the form of Writ's own: it is then not sent to an upstream. */
bool writ_continuation_is(struct writ_view text);

/** Appends the text. WRIT_E_LIMIT, WRIT_E_CRYPTO, WRIT_E_NOMEM. */
WRIT_RESULT writ_continuation_put(const struct writ_continuation *continuation,
    const struct writ_signer *signer, struct writ_buf *buf, struct writ_err *err);

/**
 * Reads a text that came back.
 *
 * @param ret  in the arena; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE     not of that form
 *         WRIT_E_MISMATCH  the signature fails, or its time is over
 *         WRIT_E_ABSENT    no key of the ring has signed it
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_continuation_read(struct writ_view text, const struct writ_keyring *keys,
    int64_t now_s, struct writ_arena *arena, struct writ_continuation *ret, struct writ_err *err);

#endif
