/* discovery.h - where an authorization server has what one needs of it, from its metadata: RFC
 * 8414, and OpenID Connect Discovery 1.0 for those that know only that.
 *
 * The server is trusted for what it says about itself, and for nothing else: its metadata must name
 * exactly the issuer that was asked for (RFC 8414 3.3), and what it points to must be as well
 * protected as the issuer (https by https; http, on loopback, by http on loopback only). */
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
 * @param timeout_ms  for all of it
 * @param stop        as in fetch.h
 * @param ret         gets the URL and a NUL, which does not count; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID   `issuer` is no such URL; the metadata has no such member, or a URL there
 *                          that may not be asked
 *         WRIT_E_MISMATCH  the metadata is of another issuer
 *         WRIT_E_PARSE     it is no JSON object
 *         WRIT_E_LIMIT     it is too long
 *         WRIT_E_IO        it is at none of its places
 *         WRIT_E_NOMEM
 *
 * Blocks; any thread.
 */
WRIT_RESULT writ_discovery_find(const char *issuer, const char *member, int64_t timeout_ms,
    const atomic_bool *stop, struct writ_buf *ret, struct writ_err *err);

/** The same of metadata that are there: without WRIT_E_IO. Does not block. */
WRIT_RESULT writ_discovery_read(const char *issuer, const char *member, struct writ_view metadata,
    struct writ_buf *ret, struct writ_err *err);

#endif
