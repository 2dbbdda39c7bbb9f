/* api.h - the caller of a request under /v1 of the admin listener.
 *
 * A caller sends a bearer token, or is logged in to the page (logins.h): it sends a cookie, and its
 * key in WRIT_API_KEY. A request with a cookie must come from a page of the gateway: no other page
 * can set that field, and Origin and Sec-Fetch-Site, if present, must agree. */
#ifndef WRIT_GATEWAY_API_H
#define WRIT_GATEWAY_API_H

#include "gateway/listener/api_answer.h"
#include "gateway/state/gateway.h"

#define WRIT_API_KEY         "Writ-Page"    /* the field with the key of a login */
#define WRIT_API_CERTIFICATE "Certificate " /* prefix of the evidence of a login by certificate */

/**
 * Finds the caller: by a token of an entry of `agents`, or by a login. The anonymous agent is not
 * accepted here.
 *
 * @param arena  of the exchange; a stream, which checks again, passes a new one each time
 * @param ret    written when the answer is WRIT_REASON_NONE; its views live in the arena or in the
 *               worker's generation, which the caller holds as long as it uses it
 *
 * @return WRIT_REASON_NONE, or UNAUTHENTICATED, FORBIDDEN_ORIGIN, OVERLOADED (no keys available)
 */
enum writ_reason writ_api_ask(struct writ_exchange *x, struct writ_worker *worker,
    struct writ_arena *arena, struct writ_agent *ret);

/** As writ_api_ask for the evidence of a login: an Authorization field, or WRIT_API_CERTIFICATE and
 * the digest of the client certificate that this connection must have. */
enum writ_reason writ_api_shown(const struct writ_exchange *x, struct writ_worker *worker,
    struct writ_view shown, struct writ_arena *arena, struct writ_agent *ret);

/** WRIT_REASON_NONE when the request comes from a page of the gateway, else FORBIDDEN_ORIGIN. With
 * `changes` an Origin is required. */
enum writ_reason writ_api_origin(const struct writ_exchange *x, bool changes);

/** The name of the login's cookie on this connection, and its value; the empty view: none. */
struct writ_view writ_api_cookie_name(const struct writ_exchange *x);
struct writ_view writ_api_cookie(const struct writ_exchange *x);

/** The status for a refusal of the functions above: 401, 403, 503. */
unsigned writ_api_status(enum writ_reason reason);

#endif
