/* tokens.h - the gateway's own credentials for its upstreams: secrets of the configuration, and
 * tokens from an authorization server (client credentials grant).
 *
 * They never contain data of a client. A secret is read at start and at a reload. A token is
 * fetched by a thread of its own (background.h): at once, then before it expires, sooner with
 * growing pauses while that fails; the last one is used until it expires. A token that the upstream
 * refuses is dropped and replaced, but no more often than every WRIT_TOKENS_DROP_S, so that an
 * upstream that refuses everything cannot cause many requests. An upstream that needs a token gets
 * no request while there is none.
 *
 * Any thread may call; only new, once, prepare and free block. */
#ifndef WRIT_GATEWAY_TOKENS_H
#define WRIT_GATEWAY_TOKENS_H

#include "base/clock.h"
#include "base/log.h"
#include "gateway/http/header.h"
#include "policy/model/config.h"

#define WRIT_TOKENS_FETCH_MS    10000 /* longest time of one request for a token */
#define WRIT_TOKENS_RETRY_S     1     /* after the first failure; doubled with each */
#define WRIT_TOKENS_RETRY_MAX_S 60
#define WRIT_TOKENS_DROP_S      10  /* between two tokens that an upstream refuses */
#define WRIT_TOKENS_LIFETIME_S  300 /* of a token when its server does not state one */
#define WRIT_TOKENS_MARGIN_S    5   /* before its end a token is shown no more */

struct writ_tokens;

/** A field that was current when it was held. */
struct writ_tokens_shown;

/**
 * Reads the secrets of all upstreams, and starts to fetch tokens.
 *
 * @param config  one reference is held
 * @param clock   borrowed until free
 * @param log     borrowed until free; NULL: failures are not logged
 * @param ret     new, free with writ_tokens_free; written only on success
 *
 * @return WRIT_OK; what secret.h returns for a secret; WRIT_E_INVALID for one that cannot stand in
 *         a header; what writ_signer_read returns for a key; WRIT_E_NOMEM
 */
WRIT_RESULT writ_tokens_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_log *log, struct writ_tokens **ret, struct writ_err *err);
void writ_tokens_free(struct writ_tokens *tokens);

/** The credential of `upstream`, for a program that runs without a gateway: its secret, or a token
 * that is fetched for it. NULL in `ret` when the upstream needs none; else drop it. As
 * writ_tokens_new for the secret, as writ_token_request_send for the token. Blocks. */
WRIT_RESULT writ_tokens_once(const struct writ_upstream_config *upstream,
    const struct writ_clock *clock, struct writ_tokens_shown **ret, struct writ_err *err);

/** The result of a reload: settings, and the contents of their files. */
struct writ_tokens_fresh;

/** Reads the settings of a configuration with the same upstreams, in any order; nothing changes
 * yet. As writ_tokens_new; take or free `ret`. From one thread at a time. */
WRIT_RESULT writ_tokens_prepare(struct writ_tokens *tokens, const struct writ_config *config,
    struct writ_tokens_fresh **ret, struct writ_err *err);
void writ_tokens_fresh_free(struct writ_tokens_fresh *fresh);

/** Takes all of it at once, and frees it. A token from the same settings stays until it expires. */
void writ_tokens_take(struct writ_tokens *tokens, struct writ_tokens_fresh *fresh);

/** Whether upstream `i` of the configuration needs a field. */
bool writ_tokens_wants(struct writ_tokens *tokens, size_t i);

/** The present field for upstream `i`; NULL when there is no valid one. Drop it. */
struct writ_tokens_shown *writ_tokens_hold(struct writ_tokens *tokens, size_t i);
void writ_tokens_drop(struct writ_tokens_shown *shown);

/** The header field; valid until it is dropped. */
struct writ_header writ_tokens_header(const struct writ_tokens_shown *shown);

/** Upstream `i` did not accept (401) the field. */
void writ_tokens_refused(
    struct writ_tokens *tokens, size_t i, const struct writ_tokens_shown *shown);

/** True when there is a valid field for every upstream that needs one: for readiness. */
bool writ_tokens_ready(struct writ_tokens *tokens);

#endif
