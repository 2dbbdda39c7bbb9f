/* api.h - the caller of a request under /v1 of the admin listener.
 *
 * A caller shows a bearer token, or is logged in to the page (logins.h): a cookie, and its key in
 * WRIT_API_KEY. A request with a cookie has to come from a page of the gateway's own: no other page
 * can set that field, and Origin and Sec-Fetch-Site, where present, must agree. */
#ifndef WRIT_GATEWAY_API_H
#define WRIT_GATEWAY_API_H

#include "gateway/listener/api_answer.h"
#include "gateway/state/gateway.h"

#define WRIT_API_KEY         "Writ-Page"    /* the field with the key of a login */
#define WRIT_API_CERTIFICATE "Certificate " /* begins what a login by certificate shows */

/**
 * Finds the caller: by a token of an entry of `agents`, or by a login. The anonymous agent is not
 * accepted here.
 *
 * @param arena  of the exchange; a stream, which asks again, gives another one each time
 * @param ret    written when the answer is WRIT_REASON_NONE; its views live in the arena or in the
 *               worker's generation, which the caller holds as long as it uses it
 *
 * @return WRIT_REASON_NONE, or why not: UNAUTHENTICATED, FORBIDDEN_ORIGIN, OVERLOADED (keys cannot
 *         be had)
 */
enum writ_reason writ_api_ask(struct writ_exchange *x, struct writ_worker *worker,
    struct writ_arena *arena, struct writ_agent *ret);

/** The same for what a caller shows to log in: an Authorization field, or WRIT_API_CERTIFICATE
 * and the digest of the client certificate that this connection must have. */
enum writ_reason writ_api_shown(const struct writ_exchange *x, struct writ_worker *worker,
    struct writ_view shown, struct writ_arena *arena, struct writ_agent *ret);

/** WRIT_REASON_NONE when the request comes from a page of the gateway's own, else FORBIDDEN_ORIGIN.
 * With `changes` an Origin has to be there. */
enum writ_reason writ_api_origin(const struct writ_exchange *x, bool changes);

/** The name of the login's cookie on this connection, and its value; the empty view: there is none.
 */
struct writ_view writ_api_cookie_name(const struct writ_exchange *x);
struct writ_view writ_api_cookie(const struct writ_exchange *x);

/** The status that goes with what is refused above: 401, 403, 503. */
unsigned writ_api_status(enum writ_reason reason);

#endif
