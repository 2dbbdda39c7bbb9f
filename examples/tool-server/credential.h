/* credential.h - is the credential of a call good, once, for exactly this call? */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#include "keys.h"

/** What speaks against a credential. Static texts; all NULL: nothing does. */
struct refusal {
    const char *reason;   /* a word of writ/verify.h */
    const char *sentence; /* for people */
    const char *hint;
};

/**
 * The first half, with libjwt: what every JWT has. May fetch keys, which blocks.
 *
 * @param token  NULL: there is none
 * @param call   its issuer, audience, now_s and skew_s
 */
struct refusal credential_signed(
    struct keys *keys, const char *token, const struct writ_verify_call *call);

/**
 * The second half, with Writ: what binds a credential to its call. Not before the first.
 *
 * @param call  as for writ_verify_credential
 * @param ret   zeroed; wipe with writ_verify_wipe
 */
struct refusal credential_bound(const struct keys *keys, const char *token,
    const struct writ_verify_call *call, struct writ_verify_answer *ret);

#endif
