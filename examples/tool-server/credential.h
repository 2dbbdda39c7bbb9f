/* credential.h - checks that a credential is valid for exactly this call, and unused. */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#include "keys.h"

/** Why a credential is refused. Static texts; all NULL: it is valid. */
struct refusal {
    const char *reason;   /* a word of writ/verify.h */
    const char *sentence; /* for people */
    const char *hint;
};

/**
 * The first half, with libjwt: the checks of every JWT. May fetch keys, which blocks.
 *
 * @param token  NULL: there is none
 * @param call   its issuer, audience, now_s and skew_s
 */
struct refusal credential_signed(
    struct keys *keys, const char *token, const struct writ_verify_call *call);

/**
 * The second half, with Writ: the binding of a credential to its call. Call it after the first.
 *
 * @param call  as for writ_verify_credential
 * @param ret   zeroed; wipe with writ_verify_wipe
 */
struct refusal credential_bound(const struct keys *keys, const char *token,
    const struct writ_verify_call *call, struct writ_verify_answer *ret);

#endif
