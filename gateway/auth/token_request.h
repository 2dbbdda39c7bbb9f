/* token_request.h - one request for an access token by the grant of client credentials (RFC 6749
 * 4.4, RFC 8707): the client sends a secret (client_secret_basic) or signs (private_key_jwt, RFC
 * 7523).
 *
 * An error never contains a secret, a token, or any text of the server but its error word. */
#ifndef WRIT_GATEWAY_TOKEN_REQUEST_H
#define WRIT_GATEWAY_TOKEN_REQUEST_H

#include "base/clock.h"
#include "evidence/jose/signer.h"
#include "policy/model/config.h"

#include <stdatomic.h>

#define WRIT_TOKEN_BYTES_MAX      ((size_t)16384) /* longest token */
#define WRIT_TOKEN_ANSWER_MAX     ((size_t)65536) /* longest answer of a token endpoint */
#define WRIT_TOKEN_LIFETIME_MAX_S ((int64_t)365 * 24 * 3600)

/** The request. Borrowed for the call. */
struct writ_token_request {
    const struct writ_authorization_config *config; /* with a client_id */
    struct writ_view resource;                      /* RFC 8707; empty: not sent */
    struct writ_view secret;                        /* the client's, or empty */
    const struct writ_signer *signer;               /* in place of a secret, or NULL */
    const struct writ_clock *clock;
    int64_t timeout_ms;      /* in all, including discovery of the endpoint */
    const atomic_bool *stop; /* as in fetch.h */
};

/** What came. */
struct writ_token {
    struct writ_buf text; /* the token; wipe it with writ_buf_wipe_secret */
    int64_t lifetime_s;   /* -1: the server did not say */
};

/**
 * Requests a token.
 *
 * @param ret  written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_IO        the server cannot be reached, or refuses (its error word is in err)
 *         WRIT_E_PARSE     not a token response
 *         WRIT_E_LIMIT     the answer, or the token, is too long
 *         WRIT_E_INVALID, WRIT_E_MISMATCH  of its metadata: discovery.h
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 *
 * Blocks; any thread.
 */
WRIT_RESULT writ_token_request_send(
    const struct writ_token_request *request, struct writ_token *ret, struct writ_err *err);

#endif
