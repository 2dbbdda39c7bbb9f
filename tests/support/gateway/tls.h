/* tls.h - certificates made up for a test, and a TLS client. */
#ifndef WRIT_TESTS_TLS_H
#define WRIT_TESTS_TLS_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct tls_identity; /* a certificate and its key */

enum tls_role {
    TLS_AUTHORITY = 0,
    TLS_SERVER, /* for localhost */
    TLS_CLIENT, /* URI:urn:test:client */
};

/** A new identity, signed by `issuer` (NULL: self-signed), valid from an hour ago to `hours` from
 * now (negative: expired). Free with tls_identity_free. */
struct tls_identity *tls_identity_new(
    enum tls_role role, const struct tls_identity *issuer, int hours);
void tls_identity_free(struct tls_identity *identity);

/** PEM text, borrowed. */
struct writ_view tls_identity_certificate(const struct tls_identity *identity);
struct writ_view tls_identity_key(const struct tls_identity *identity);

struct tls_client;

/** Connects to 127.0.0.1 as localhost. `priority` NULL: what GnuTLS likes. NULL when the handshake
 * fails or the server is not of `authority`. */
struct tls_client *tls_connect(uint16_t port, const struct tls_identity *authority,
    const struct tls_identity *client, const char *priority);
bool tls_send(struct tls_client *client, struct writ_view bytes);
bool tls_text(struct tls_client *client, const char *text);

/** Reads until `until` has come ("" : until the end); false when it ended before. */
bool tls_read(struct tls_client *client, const char *until, struct writ_buf *ret);

int tls_fd(const struct tls_client *client);

/** The serial number of the server's certificate, in hex. */
void tls_server_serial(const struct tls_client *client, struct writ_buf *ret);

/** Closes in order: close_notify, then FIN. */
void tls_close(struct tls_client *client);

/** Frees it without a word to the server; its socket was closed by the caller. */
void tls_forget(struct tls_client *client);

#endif
