/* discovery.h - finds URLs of an authorization server in its metadata: RFC 8414, and OpenID Connect
 * Discovery 1.0 for servers that only know that.
 *
 * The server is trusted only about itself: its metadata must name exactly the requested issuer (RFC
 * 8414 3.3), and their URLs must be as well protected as the issuer (https by https; http, on
 * loopback, by http on loopback only). */
#ifndef WRIT_GATEWAY_DISCOVERY_H
#define WRIT_GATEWAY_DISCOVERY_H

#include "base/bytes.h"

#include <stdatomic.h>

#define WRIT_DISCOVERY_BYTES_MAX ((size_t)64 * 1024) /* longest metadata */
#define WRIT_DISCOVERY_URL_MAX   ((size_t)4096) /* longest URL in it, and of the places it is at */

/**
 * Finds one URL in the metadata of `issuer`.
 *
 * @param issuer      NUL-terminated; an https URL, or http on loopback
 * @param member      "jwks_uri", "token_endpoint"
 * @param timeout_ms  in all
 * @param stop        as in fetch.h
 * @param ret         gets the URL and a NUL, which does not count; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID   `issuer` is not such a URL; the metadata lacks the member, or its URL is
 *                          not allowed
 *         WRIT_E_MISMATCH  the metadata is of another issuer
 *         WRIT_E_PARSE     not a JSON object
 *         WRIT_E_LIMIT     too long
 *         WRIT_E_IO        none of the URLs gives metadata
 *         WRIT_E_NOMEM
 *
 * Blocks; any thread.
 */
WRIT_RESULT writ_discovery_find(const char *issuer, const char *member, int64_t timeout_ms,
    const atomic_bool *stop, struct writ_buf *ret, struct writ_err *err);

/** As writ_discovery_find, from given metadata: without WRIT_E_IO. Does not block. */
WRIT_RESULT writ_discovery_read(const char *issuer, const char *member, struct writ_view metadata,
    struct writ_buf *ret, struct writ_err *err);

#endif
