/* http_client.h - calls to one HTTP/1.1 upstream from one loop.
 *
 * A client is the pool of connections that one loop keeps to one upstream; it lives on that loop
 * and only its thread uses it. It writes a request at most once: from the first byte that was
 * handed to the system on, the call is SENT, and any later failure is reported and never repeated.
 * Only a pooled connection that is found dead before any byte of the request was taken is replaced
 * by a fresh one (RFC 9110 9.2.2: a proxy does not repeat a request that is not idempotent).
 *
 * Redirects are reported, not followed; proxies, cookies and environment variables have no effect.
 * The client frames every request itself: it sets Host, Content-Length and Connection.
 *
 * Callbacks come from the loop, never from inside a function of this header. Each call that
 * writ_http_client_send accepted ends with exactly one on_end, also when it is cancelled; no
 * callback follows. A callback may pause, cancel or send; only on_end may free memory of the
 * call. */
#ifndef WRIT_GATEWAY_HTTP_CLIENT_H
#define WRIT_GATEWAY_HTTP_CLIENT_H

#include "gateway/http/http_types.h"
#include "gateway/io/loop.h"
#include "gateway/io/resolver.h"

/** A good `fresh_us`: well below the time after which servers close idle connections. */
#define WRIT_HTTP_FRESH_US INT64_C(1000000)

/** Opens a client; nothing is connected before the first call. Files are read here.
 * WRIT_E_INVALID (URL), WRIT_E_LIMIT (socket_path), WRIT_E_CRYPTO (certificates), WRIT_E_ABSENT,
 * WRIT_E_NOMEM. `resolver` is borrowed until the client is closed; NULL with a socket_path. */
WRIT_RESULT writ_http_client_open(struct writ_loop *loop, struct writ_resolver *resolver,
    const struct writ_http_options *options, struct writ_http_client **ret, struct writ_err *err);

/** Closes it from the loop's thread, or after the loop's end. Open calls get their on_end
 * (CANCELLED) from inside this function. Not from a callback of this client. NULL is permitted. */
void writ_http_client_close(struct writ_http_client *client);

/**
 * Sends a request, at once if a connection is free.
 *
 * @param handler  borrowed until on_end; ctx is handed to it
 * @param ret      the call, until its on_end returned
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  method, target or a field is not allowed: not a token, control bytes,
 *                         or a field that the client writes itself (Host, Content-Length, TE,
 *                         Connection, Transfer-Encoding, Trailer, Upgrade, Keep-Alive, Expect,
 *                         Proxy-*)
 *         WRIT_E_LIMIT    the head is larger than WRIT_HTTP_REQUEST_HEAD_MAX
 *         WRIT_E_BUSY     all connections are in use and waiting_max calls wait
 *         WRIT_E_NOMEM
 *         On failure nothing was sent and on_end is not called.
 */
WRIT_RESULT writ_http_client_send(struct writ_http_client *client,
    const struct writ_http_request *request, const struct writ_http_handler *handler, void *ctx,
    struct writ_http_call **ret, struct writ_err *err);

/** Pauses, and resumes, reading the response: a paused call gets no callback but on_end (CANCELLED,
 * timeouts). The connection's own window then makes the upstream wait. */
void writ_http_client_pause(struct writ_http_call *call);
void writ_http_client_resume(struct writ_http_call *call);

/** Cancels a call: the connection is closed at once; on_end (CANCELLED, or an earlier reason) comes
 * later in this turn. */
void writ_http_client_cancel(struct writ_http_call *call);

/** Ends every call with TOTAL_TIMEOUT, in this turn. */
void writ_http_client_expire(struct writ_http_client *client);

/** True once a byte of the request was handed over. */
bool writ_http_client_is_sent(const struct writ_http_call *call);

/** Its present counts. */
struct writ_http_stats writ_http_client_stats(const struct writ_http_client *client);

#endif
