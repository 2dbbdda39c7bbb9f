/* tls.c - one SSL_CTX with fixed rules. Verification of the peer is always on, and the environment
 * cannot change which certificates are trusted. A custom BIO below TLS sends without SIGPIPE. */
#include "gateway/io/tls.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "evidence/jose/pem.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/socket.h>

#define HOST_MAX 255

struct writ_tls {
    SSL_CTX *context;
    BIO_METHOD *transport; /* a socket on which a peer that left raises no SIGPIPE */
    SSL_SESSION *last;     /* the session for the next connection, or NULL */
    bool host_is_address;
    char host[HOST_MAX + 1];
};

/* TLS 1.3 sends tickets after the handshake; OpenSSL calls this for each */
static int
keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct writ_tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    SSL_SESSION_free(tls->last);
    tls->last = session;
    return 1; /* taken */
}

/* ---- the socket below TLS */

static int
descriptor_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static int
transport_write(BIO *bio, const char *bytes, int len)
{
    ssize_t sent = send(descriptor_of(bio), bytes, (size_t)len, MSG_NOSIGNAL);

    BIO_clear_retry_flags(bio);
    if (sent <= 0 && BIO_sock_should_retry((int)sent)) {
        BIO_set_retry_write(bio);
    }
    return (int)sent;
}

static int
transport_read(BIO *bio, char *bytes, int max)
{
    ssize_t got = recv(descriptor_of(bio), bytes, (size_t)max, 0);

    BIO_clear_retry_flags(bio);
    if (got < 0 && BIO_sock_should_retry((int)got)) {
        BIO_set_retry_read(bio);
    } else if (got == 0) {
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    }
    return (int)got;
}

/* 0 answers every other request: not supported */
static long
transport_control(BIO *bio, int what, long number, void *pointer)
{
    (void)number;
    (void)pointer;
    if (what == BIO_CTRL_EOF) {
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    }
    return what == BIO_CTRL_FLUSH; /* nothing is kept back */
}

static bool
make_transport(struct writ_tls *tls)
{
    tls->transport = BIO_meth_new(
        BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "quiet socket");
    return tls->transport != NULL && BIO_meth_set_write(tls->transport, transport_write) == 1 &&
           BIO_meth_set_read(tls->transport, transport_read) == 1 &&
           BIO_meth_set_ctrl(tls->transport, transport_control) == 1;
}

static bool
attach(struct writ_tls *tls, SSL *ssl, int fd)
{
    BIO *bio = BIO_new(tls->transport);

    if (bio == NULL) {
        return false;
    }
    BIO_set_data(bio, (void *)(intptr_t)fd); /* borrowed */
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio); /* takes it */
    return true;
}

static WRIT_RESULT
load_ca(SSL_CTX *context, const char *ca_file, struct writ_err *err)
{
    /* not SSL_CTX_set_default_verify_paths: the environment must not change the trusted
     * authorities */
    int loaded = ca_file != NULL ? SSL_CTX_load_verify_file(context, ca_file)
                                 : SSL_CTX_load_verify_dir(context, X509_get_default_cert_dir());

    if (loaded != 1) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "cannot read CA certificates from %s",
            ca_file != NULL ? ca_file : X509_get_default_cert_dir());
    }
    return WRIT_DONE;
}

static WRIT_RESULT
load_certificate(SSL_CTX *context, const struct writ_tls_options *options, struct writ_err *err)
{
    if (options->cert_file == NULL && options->key_file == NULL) {
        return WRIT_DONE;
    }
    if (options->cert_file == NULL || options->key_file == NULL) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "a client certificate and its key belong together");
    }
    SSL_CTX_set_default_passwd_cb(context, writ_pem_refuse_passphrase);
    if (SSL_CTX_use_certificate_chain_file(context, options->cert_file) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, options->key_file, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "cannot use client certificate %s with key %s",
            options->cert_file, options->key_file);
    }
    return WRIT_DONE;
}

static bool
set_rules(struct writ_tls *tls)
{
    static const unsigned char alpn[] = "\x08http/1.1";
    SSL_CTX *context = tls->context;

    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1); /* one recv for a record, not two */
    (void)SSL_CTX_set_session_cache_mode(
        context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    (void)SSL_CTX_set_app_data(context, tls);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_alpn_protos(context, alpn, sizeof alpn - 1) == 0; /* 0 is success here */
}

writ_result
writ_tls_open(const struct writ_tls_options *options, struct writ_tls **ret, struct writ_err *err)
{
    struct writ_tls *tls = writ_alloc(sizeof *tls);
    writ_result r;

    if (tls == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for TLS");
    }
    tls->host_is_address = options->host_is_address;
    (void)snprintf(tls->host, sizeof tls->host, "%s", options->host);
    tls->context = SSL_CTX_new(TLS_client_method());
    if (tls->context == NULL || !set_rules(tls) || !make_transport(tls)) {
        writ_tls_close(tls);
        WRIT_FAIL(err, WRIT_E_NOMEM, "cannot make a TLS context");
    }
    r = load_ca(tls->context, options->ca_file, err);
    if (writ_is_ok(r)) {
        r = load_certificate(tls->context, options, err);
    }
    if (!writ_is_ok(r)) {
        writ_tls_close(tls);
        return r;
    }
    *ret = tls;
    return WRIT_DONE;
}

void
writ_tls_close(struct writ_tls *tls)
{
    if (tls != NULL) {
        SSL_SESSION_free(tls->last);
        SSL_CTX_free(tls->context);
        BIO_meth_free(tls->transport);
        writ_free(tls);
    }
}

static bool
set_peer(struct writ_tls *tls, SSL *ssl)
{
    if (tls->host_is_address) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), tls->host) == 1;
    }
    SSL_set_hostflags(
        ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(ssl, tls->host) == 1 && SSL_set_tlsext_host_name(ssl, tls->host) == 1;
}

SSL *
writ_tls_session(struct writ_tls *tls, int fd)
{
    SSL *ssl = SSL_new(tls->context);

    if (ssl == NULL || !set_peer(tls, ssl) || !attach(tls, ssl, fd) ||
        (tls->last != NULL && SSL_set_session(ssl, tls->last) != 1)) {
        SSL_free(ssl);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}
