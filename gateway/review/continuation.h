/* continuation.h - the requestState of a call that waits for the verdict of its review
 * (2026-07-28, basic/patterns/mrtr): which review, for which call of whom, until when.
 *
 * It is opaque to the client and comes back through its hands, so it is a JWS of our own type,
 * signed with the key of the credentials, which a restart and a rotated key do not make worthless.
 * It gives no right: whose review it is, for which call and in which state is asked of the ledger
 * again. No credential is a continuation and no continuation a credential (RFC 8725 3.11: the
 * types differ, and so do the claims). Pure; thread-safe. */
#ifndef WRIT_GATEWAY_CONTINUATION_H
#define WRIT_GATEWAY_CONTINUATION_H

#include "evidence/jose/keyring.h"
#include "evidence/json/digest.h"

#define WRIT_CONTINUATION_MAX ((size_t)9000) /* bytes of such a requestState */

struct writ_continuation {
    struct writ_view review; /* its id */
    struct writ_digest call; /* the review's name in the ledger: made of principal and request */
    int64_t expires_s;
    bool shown; /* a person was asked to open the review's page */
};

/** Whether it has the form of Writ's own: an upstream does not get it then. */
bool writ_continuation_is(struct writ_view text);

/** Appends it. WRIT_E_LIMIT, WRIT_E_CRYPTO, WRIT_E_NOMEM. */
WRIT_RESULT writ_continuation_put(const struct writ_continuation *continuation,
    const struct writ_signer *signer, struct writ_buf *buf, struct writ_err *err);

/**
 * Reads one that came back.
 *
 * @param ret  in the arena; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE     not of that form
 *         WRIT_E_MISMATCH  not what was signed, or its time is over
 *         WRIT_E_ABSENT    no key of the ring has signed it
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_continuation_read(struct writ_view text, const struct writ_keyring *keys,
    int64_t now_s, struct writ_arena *arena, struct writ_continuation *ret, struct writ_err *err);

#endif
