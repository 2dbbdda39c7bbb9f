/* certificate.h - the TLS of a listener: its own certificate, and those of its clients. */
#ifndef WRIT_GATEWAY_CERTIFICATE_H
#define WRIT_GATEWAY_CERTIFICATE_H

#include "gateway/listener/listener_types.h"

#include <stdatomic.h>

struct writ_connection;

/** Certificate, key and authorities as PEM text. Shared by loops, never changed. */
struct writ_certificate {
    atomic_uint refs;
    bool client_required;
    struct writ_buf chain, key, client_ca; /* NUL-terminated; client_ca empty: no client certificate
                                              is requested */
    int64_t expires_s; /* Unix time of the first certificate of the chain; 0: unknown */
};

/**
 * Reads the material. writ_daemon_try tests whether a daemon accepts it.
 *
 * @param ret  one reference; drop with writ_certificate_drop
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  no certificate, or no key
 *         WRIT_E_LIMIT    a text is too long
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_certificate_load(
    const struct writ_listener_tls *tls, struct writ_certificate **ret, struct writ_err *err);

/** Adds a reference. NULL gives NULL. Any thread. */
struct writ_certificate *writ_certificate_hold(struct writ_certificate *certificate);

/** Removes a reference; the last one frees, and wipes the key. NULL is permitted. Any thread. */
void writ_certificate_drop(struct writ_certificate *certificate);

/** Whether the client of this TLS connection is accepted: its certificate is valid (chain, time,
 * purpose), or it has none and needs none. Sets the names of the peer. */
bool writ_certificate_check(struct writ_connection *connection);

#endif
