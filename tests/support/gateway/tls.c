/* Certificates and a TLS client by OpenSSL, made at every run. */
#include "support/gateway/tls.h"

#include "base/id.h"
#include "support/gateway/raw.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600

struct tls_identity {
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t crt;
    gnutls_datum_t key_pem, crt_pem;
};

struct tls_client {
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    int fd;
};

static void
must(int code)
{
    WRIT_INVARIANT(code >= 0);
}

static void
set_role(gnutls_x509_crt_t crt, enum tls_role role)
{
    const char *uri = "urn:test:client", *host = "localhost";
    const unsigned char ip[4] = {127, 0, 0, 1};

    switch (role) {
    case TLS_AUTHORITY:
        must(gnutls_x509_crt_set_dn(crt, "CN=test authority", NULL));
        must(gnutls_x509_crt_set_basic_constraints(crt, 1, -1));
        must(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN));
        break;
    case TLS_SERVER:
        must(gnutls_x509_crt_set_dn(crt, "CN=localhost", NULL));
        must(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE));
        must(gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0));
        must(gnutls_x509_crt_set_subject_alt_name(
            crt, GNUTLS_SAN_DNSNAME, host, 9, GNUTLS_FSAN_SET));
        must(gnutls_x509_crt_set_subject_alt_name(
            crt, GNUTLS_SAN_IPADDRESS, ip, 4, GNUTLS_FSAN_APPEND));
        break;
    case TLS_CLIENT:
        must(gnutls_x509_crt_set_dn(crt, "CN=test client,O=Test", NULL));
        must(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE));
        must(gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_CLIENT, 0));
        must(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_URI, uri, 15, GNUTLS_FSAN_SET));
        break;
    }
}

struct tls_identity *
tls_identity_new(enum tls_role role, const struct tls_identity *issuer, int hours)
{
    struct tls_identity *identity = calloc(1, sizeof *identity);
    unsigned char serial[8] = {0};

    WRIT_INVARIANT(identity != NULL);
    WRIT_INVARIANT(writ_is_ok(writ_random(serial + 1, 7, NULL)));
    serial[0] = 1;
    must(gnutls_x509_privkey_init(&identity->key));
    must(gnutls_x509_privkey_generate(
        identity->key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
    must(gnutls_x509_crt_init(&identity->crt));
    must(gnutls_x509_crt_set_version(identity->crt, 3));
    must(gnutls_x509_crt_set_serial(identity->crt, serial, sizeof serial));
    must(gnutls_x509_crt_set_activation_time(identity->crt, time(NULL) - 10 * HOUR));
    must(gnutls_x509_crt_set_expiration_time(identity->crt, time(NULL) + hours * HOUR));
    must(gnutls_x509_crt_set_key(identity->crt, identity->key));
    set_role(identity->crt, role);
    must(gnutls_x509_crt_sign2(identity->crt, issuer != NULL ? issuer->crt : identity->crt,
        issuer != NULL ? issuer->key : identity->key, GNUTLS_DIG_SHA256, 0));
    must(gnutls_x509_crt_export2(identity->crt, GNUTLS_X509_FMT_PEM, &identity->crt_pem));
    must(gnutls_x509_privkey_export2_pkcs8(
        identity->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &identity->key_pem));
    return identity;
}

void
tls_identity_free(struct tls_identity *identity)
{
    gnutls_x509_crt_deinit(identity->crt);
    gnutls_x509_privkey_deinit(identity->key);
    gnutls_free(identity->crt_pem.data);
    gnutls_free(identity->key_pem.data);
    free(identity);
}

struct writ_view
tls_identity_certificate(const struct tls_identity *identity)
{
    return writ_view(identity->crt_pem.data, identity->crt_pem.size);
}

struct writ_view
tls_identity_key(const struct tls_identity *identity)
{
    return writ_view(identity->key_pem.data, identity->key_pem.size);
}

/* ---- the client */

void
tls_forget(struct tls_client *client)
{
    gnutls_deinit(client->session);
    gnutls_certificate_free_credentials(client->credentials);
    free(client);
}

struct tls_client *
tls_connect(uint16_t port, const struct tls_identity *authority,
    const struct tls_identity *identity, const char *priority)
{
    struct tls_client *client = calloc(1, sizeof *client);
    struct timeval wait = {.tv_sec = RAW_WAIT_MS / 1000};
    int code;

    WRIT_INVARIANT(client != NULL);
    client->fd = raw_connect(port);
    (void)setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    must(gnutls_certificate_allocate_credentials(&client->credentials));
    must(gnutls_certificate_set_x509_trust_mem(
        client->credentials, &authority->crt_pem, GNUTLS_X509_FMT_PEM));
    if (identity != NULL) {
        must(gnutls_certificate_set_x509_key_mem(
            client->credentials, &identity->crt_pem, &identity->key_pem, GNUTLS_X509_FMT_PEM));
    }
    must(
        gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL | GNUTLS_FORCE_CLIENT_CERT));
    must(gnutls_priority_set_direct(client->session, priority != NULL ? priority : "NORMAL", NULL));
    must(gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials));
    must(gnutls_server_name_set(client->session, GNUTLS_NAME_DNS, "localhost", 9));
    gnutls_session_set_verify_cert(client->session, "localhost", 0);
    gnutls_transport_set_int(client->session, client->fd);
    do {
        code = gnutls_handshake(client->session);
    } while (code < 0 && gnutls_error_is_fatal(code) == 0 && code != GNUTLS_E_AGAIN);
    if (code != GNUTLS_E_SUCCESS) {
        (void)close(client->fd);
        tls_forget(client);
        return NULL;
    }
    return client;
}

bool
tls_send(struct tls_client *client, struct writ_view bytes)
{
    while (bytes.len > 0) {
        ssize_t n = gnutls_record_send(client->session, bytes.ptr, bytes.len);
        if (n <= 0) {
            return false;
        }
        bytes = writ_view_sub(bytes, (size_t)n, bytes.len);
    }
    return true;
}

bool
tls_text(struct tls_client *client, const char *text)
{
    return tls_send(client, writ_view_str(text));
}

bool
tls_read(struct tls_client *client, const char *until, struct writ_buf *ret)
{
    struct writ_view wanted = writ_view_str(until);

    while (wanted.len == 0 || writ_view_search(writ_buf_view(ret), wanted) == ret->len) {
        char *to = writ_buf_reserve(ret, 16384);
        ssize_t n;

        WRIT_INVARIANT(to != NULL);
        n = gnutls_record_recv(client->session, to, 16384);
        if (n <= 0) {
            return wanted.len == 0;
        }
        ret->len += (size_t)n;
    }
    return true;
}

int
tls_fd(const struct tls_client *client)
{
    return client->fd;
}

void
tls_server_serial(const struct tls_client *client, struct writ_buf *ret)
{
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(client->session, &count);
    unsigned char serial[64];
    size_t size = sizeof serial;
    gnutls_x509_crt_t crt;

    WRIT_INVARIANT(count > 0);
    must(gnutls_x509_crt_init(&crt));
    must(gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER));
    must(gnutls_x509_crt_get_serial(crt, serial, &size));
    writ_hex_put(ret, serial, size);
    gnutls_x509_crt_deinit(crt);
}

void
tls_close(struct tls_client *client)
{
    (void)gnutls_bye(client->session, GNUTLS_SHUT_WR);
    (void)close(client->fd);
    tls_forget(client);
}
