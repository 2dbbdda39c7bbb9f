/* http_request.h - the head of a request to an upstream, and the address of an upstream. No I/O.
 *
 * A request gets framing of its own; no framing field of the caller is used.
 */
#ifndef WRIT_GATEWAY_HTTP_REQUEST_H
#define WRIT_GATEWAY_HTTP_REQUEST_H

#include "gateway/http/http_types.h"
#include "gateway/io/resolver.h"

/** An upstream's address, read from its URL. */
struct writ_http_origin {
    bool secure;
    uint16_t port;
    char host[WRIT_RESOLVER_HOST_MAX + 1];  /* lower case, an IPv6 address without brackets */
    char field[WRIT_RESOLVER_HOST_MAX + 9]; /* the value of the Host field */
};

/** Reads http://host[:port][/...] or https://... A user, an empty or odd host, a port of 0 or
 * another scheme is WRIT_E_INVALID; a host that is too long WRIT_E_LIMIT. */
WRIT_RESULT writ_http_request_origin(
    struct writ_view url, struct writ_http_origin *ret, struct writ_err *err);

/** Appends the whole head: request line, Host, the fields, Content-Length, empty line.
 * WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_NOMEM as writ_http_client_send says; then the buffer may
 * hold a part of it. */
WRIT_RESULT writ_http_request_put(struct writ_buf *buf, const struct writ_http_request *request,
    const struct writ_http_origin *origin, struct writ_err *err);

#endif
