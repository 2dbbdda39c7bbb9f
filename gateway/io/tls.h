/* tls.h - the TLS side of a client: one context for one upstream on one loop.
 *
 * TLS 1.2 or later, the peer is verified against the CA, its name or address against the
 * upstream's; no option turns that off. No renegotiation, no compression, no early data; ALPN
 * http/1.1. The last session is kept for resumption. For one thread. */
#ifndef WRIT_GATEWAY_TLS_H
#define WRIT_GATEWAY_TLS_H

#include "base/result.h"

#include <openssl/ssl.h>

struct writ_tls;

struct writ_tls_options {
    const char *host;      /* name or address that the certificate must be for */
    bool host_is_address;  /* then there is no SNI (RFC 6066 3) */
    const char *ca_file;   /* PEM; NULL: the system's directory of certificates */
    const char *cert_file; /* PEM chain of a client certificate, or NULL */
    const char *key_file;  /* PEM, unencrypted; NULL without a certificate */
};

/** A new context; free with writ_tls_close. Files are read here, names are copied. WRIT_E_CRYPTO (a
 * file is missing or unusable), WRIT_E_NOMEM. */
WRIT_RESULT writ_tls_open(
    const struct writ_tls_options *options, struct writ_tls **ret, struct writ_err *err);
void writ_tls_close(struct writ_tls *tls);

/** A new session on a connected, non-blocking socket, before its handshake; NULL: no memory. Free
 * with SSL_free before the context is closed. The caller keeps the socket. */
SSL *writ_tls_session(struct writ_tls *tls, int fd);

#endif
