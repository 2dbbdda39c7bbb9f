/* libjwt checks the claims of every JWT: signature, issuer, audience, time. Writ checks these
 * again, and those of its credentials: the tool, the arguments, the state of the target, single
 * use. A credential that cannot be checked is refused. */
#include "credential.h"

#include <jwt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HINT "make the call through the gateway"

static const struct refusal good;

static bool
is_text(const char *text, struct writ_view want)
{
    return text != NULL && strlen(text) == want.len && memcmp(text, want.ptr, want.len) == 0;
}

/* The members of the header, before its signature is verified. */
static char *
unverified_kid(const char *token)
{
    jwt_t *jwt = NULL;
    const char *kid = NULL;
    char *copy;

    if (jwt_decode(&jwt, token, NULL, 0) == 0) {
        kid = jwt_get_header(jwt, "kid");
    }
    copy = kid != NULL ? strdup(kid) : NULL;
    jwt_free(jwt);
    return copy;
}

static struct refusal
check_claims(jwt_t *jwt, const struct writ_verify_call *call)
{
    /* libjwt follows the algorithm of the token: for HS256 it would use the public key as a
     * shared secret */
    if (jwt_get_alg(jwt) != JWT_ALG_ES256) {
        return (struct refusal){"bad_signature", "the credential is not signed with ES256", HINT};
    }
    if (!is_text(jwt_get_grant(jwt, "iss"), call->issuer)) {
        return (struct refusal){"wrong_issuer", "the credential is of another gateway", HINT};
    }
    if (!is_text(jwt_get_grant(jwt, "aud"), call->audience)) {
        return (struct refusal){"wrong_audience", "the credential is for another server", HINT};
    }
    if (jwt_get_grant_int(jwt, "nbf") > call->now_s + call->skew_s) {
        return (struct refusal){"not_yet_valid", "the credential is not valid yet", HINT};
    }
    if (jwt_get_grant_int(jwt, "exp") <= call->now_s - call->skew_s) {
        return (struct refusal){"expired", "the credential has expired", HINT};
    }
    return good;
}

static struct refusal
check_signed(const char *pem, const char *token, const struct writ_verify_call *call)
{
    jwt_t *jwt = NULL;
    struct refusal refusal = {"bad_signature", "the signature does not verify", HINT};

    if (jwt_decode(&jwt, token, (const unsigned char *)pem, (int)strlen(pem)) == 0) {
        refusal = check_claims(jwt, call);
    }
    jwt_free(jwt);
    return refusal;
}

struct refusal
credential_signed(struct keys *keys, const char *token, const struct writ_verify_call *call)
{
    struct refusal refusal = {"unknown_key", "the gateway has no such ES256 key", HINT};
    char *kid, *pem;

    if (token == NULL) {
        return (struct refusal){"missing_credential", "the call has no credential", HINT};
    }
    kid = unverified_kid(token);
    if (kid == NULL) {
        return (struct refusal){"malformed", "the credential is not a JWT with a key", HINT};
    }
    pem = keys_refresh(keys, kid, call->now_s) ? keys_pem(keys, kid) : NULL;
    if (pem != NULL) {
        refusal = check_signed(pem, token, call);
    }
    free(pem);
    free(kid);
    return refusal;
}

struct refusal
credential_bound(const struct keys *keys, const char *token, const struct writ_verify_call *call,
    struct writ_verify_answer *ret)
{
    struct writ_err err = {{0}, 0, 0};
    struct writ_view view = {token, strlen(token)};

    if (writ_verify_credential(keys_verify(keys), view, call, ret, &err).code != WRIT_OK) {
        fprintf(stderr, "credential: %s\n", err.text);
        return (struct refusal){"malformed", "the call cannot be checked", "try again"};
    }
    return ret->ok ? good : (struct refusal){ret->reason, ret->sentence, ret->hint};
}
