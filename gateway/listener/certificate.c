/* certificate.c - libmicrohttpd requests a client certificate when it has trusted authorities, and
 * accepts any answer, also none: the check is here. */
#include "gateway/listener/certificate.h"

#include "evidence/json/digest.h"
#include "gateway/listener/listener_parts.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#define NAME_MAX_BYTES 512          /* of a subject, of an alternative name */
#define NAMES_MAX      64           /* alternative names that are checked, at most */
#define PEM_MAX        (256U << 10) /* bytes of a chain, a key, or the authorities */

/* ---- the material */

struct writ_certificate *
writ_certificate_hold(struct writ_certificate *certificate)
{
    if (certificate != NULL) {
        atomic_fetch_add(&certificate->refs, 1);
    }
    return certificate;
}

void
writ_certificate_drop(struct writ_certificate *certificate)
{
    if (certificate != NULL && atomic_fetch_sub(&certificate->refs, 1) == 1) {
        writ_buf_wipe(&certificate->chain);
        writ_buf_wipe_secret(&certificate->key);
        writ_buf_wipe(&certificate->client_ca);
        writ_free(certificate);
    }
}

static void
certificate_dropp(struct writ_certificate **certificate)
{
    writ_certificate_drop(*certificate);
}

static void
put_pem(struct writ_buf *buf, struct writ_view pem)
{
    *buf = writ_buf_make(PEM_MAX);
    if (pem.len > 0) {
        writ_buf_put(buf, pem);
        writ_buf_byte(buf, '\0');
    }
}

static void
crt_freep(gnutls_x509_crt_t *crt)
{
    if (*crt != NULL) {
        gnutls_x509_crt_deinit(*crt);
    }
}

/* GnuTLS takes the first certificate of a chain. */
static int64_t
expiry_of(struct writ_view pem)
{
    WRIT_AUTO(gnutls_x509_crt_t, crt_freep) crt = NULL;
    const gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem.ptr, (unsigned)pem.len};
    time_t expires;

    if (gnutls_x509_crt_init(&crt) != GNUTLS_E_SUCCESS ||
        gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM) != GNUTLS_E_SUCCESS) {
        return 0;
    }
    expires = gnutls_x509_crt_get_expiration_time(crt);
    return expires > 0 ? (int64_t)expires : 0;
}

WRIT_RESULT
writ_certificate_load(
    const struct writ_listener_tls *tls, struct writ_certificate **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_certificate *, certificate_dropp) certificate = NULL;

    if (tls->certificate.len == 0 || tls->key.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "listener: TLS needs a certificate and its key");
    }
    certificate = writ_alloc(sizeof *certificate);
    if (certificate == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "listener: no memory for TLS");
    }
    atomic_init(&certificate->refs, 1);
    certificate->client_required = tls->client_required;
    certificate->expires_s = expiry_of(tls->certificate);
    put_pem(&certificate->chain, tls->certificate);
    put_pem(&certificate->key, tls->key);
    put_pem(&certificate->client_ca, tls->client_ca);
    WRIT_TRY(writ_buf_check(&certificate->chain, err));
    WRIT_TRY(writ_buf_check(&certificate->key, err));
    WRIT_TRY(writ_buf_check(&certificate->client_ca, err));
    *ret = WRIT_TAKE(certificate);
    return WRIT_DONE;
}

/* ---- the check */

static bool
verify(gnutls_session_t session)
{
    gnutls_typed_vdata_st purpose = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
    unsigned status = 0;

    return gnutls_certificate_type_get(session) == GNUTLS_CRT_X509 &&
           gnutls_certificate_verify_peers(session, &purpose, 1, &status) == GNUTLS_E_SUCCESS &&
           status == 0;
}

/* The first URI, else the first DNS name; false when there is neither. */
static bool
alternative_name(gnutls_x509_crt_t crt, unsigned wanted, char *ret, size_t size, size_t *ret_len)
{
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        size_t len = size;
        int type = gnutls_x509_crt_get_subject_alt_name(crt, i, ret, &len, NULL);

        if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) {
            return false;
        }
        if (type >= 0 && (unsigned)type == wanted && len > 0 && len < size) {
            *ret_len = len;
            return true;
        }
    }
    return false;
}

/* Copies the names of the peer into memory of the connection. */
static bool
note_names(struct writ_connection *connection, gnutls_x509_crt_t crt, struct writ_view der)
{
    char subject[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    size_t subject_len = sizeof subject, name_len = 0;
    struct writ_buf text = writ_buf_make(2 * NAME_MAX_BYTES + 2 * sizeof(struct writ_digest));
    struct writ_digest digest;
    struct writ_view all;

    if (gnutls_x509_crt_get_dn(crt, subject, &subject_len) != GNUTLS_E_SUCCESS ||
        !writ_is_ok(writ_digest_bytes(der, &digest, NULL))) {
        return false;
    }
    if (!alternative_name(crt, GNUTLS_SAN_URI, name, sizeof name, &name_len)) {
        (void)alternative_name(crt, GNUTLS_SAN_DNSNAME, name, sizeof name, &name_len);
    }
    writ_buf_put(&text, writ_view(subject, subject_len));
    writ_buf_put(&text, writ_view(name, name_len));
    writ_hex_put(&text, digest.bytes, sizeof digest.bytes);
    if (!writ_is_ok(writ_buf_check(&text, NULL))) {
        writ_buf_wipe(&text);
        return false;
    }
    all = writ_buf_view(&text);
    connection->certificate = text.ptr;
    connection->peer.certificate_subject = writ_view_sub(all, 0, subject_len);
    connection->peer.certificate_name = writ_view_sub(all, subject_len, name_len);
    connection->peer.certificate_digest = writ_view_sub(all, subject_len + name_len, all.len);
    return true;
}

static bool
check_presented(
    struct writ_connection *connection, gnutls_session_t session, const gnutls_datum_t *der)
{
    WRIT_AUTO(gnutls_x509_crt_t, crt_freep) crt = NULL;

    return verify(session) && gnutls_x509_crt_init(&crt) == GNUTLS_E_SUCCESS &&
           gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER) == GNUTLS_E_SUCCESS &&
           note_names(connection, crt, writ_view(der->data, der->size));
}

bool
writ_certificate_check(struct writ_connection *connection)
{
    const struct writ_certificate *certificate = connection->daemon->certificate;
    const union MHD_ConnectionInfo *info;
    const gnutls_datum_t *chain;
    unsigned count = 0;

    if (connection->certificate_checked || certificate->client_ca.len == 0) {
        return true;
    }
    info = MHD_get_connection_info(connection->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info == NULL) {
        return false;
    }
    chain = gnutls_certificate_get_peers(info->tls_session, &count);
    if (chain == NULL || count == 0) {
        return !certificate->client_required;
    }
    connection->certificate_checked = check_presented(connection, info->tls_session, &chain[0]);
    return connection->certificate_checked;
}
