/* The certificates of a configuration's files, and those of its servers: readable, of their keys,
 * and valid for the days ahead. Of a file with several the one that ends first counts. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "gateway/http/fetch.h"
#include "gateway/listener/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#define SECONDS_PER_DAY INT64_C(86400)
#define NAME_MAX_BYTES  200
#define URL_MAX         4096
#define CONNECT_MS      5000

static void
certificate_freep(X509 **certificate)
{
    X509_free(*certificate);
}

static void
key_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void
bio_freep(BIO **bio)
{
    BIO_free_all(*bio);
}

static BIO *
open_file(struct writ_view path, struct writ_buf *text)
{
    if (!writ_is_ok(writ_text_file(path.ptr, WRIT_PEM_FILE_MAX, text, NULL))) {
        return NULL; /* the area of files has said so */
    }
    return BIO_new_mem_buf(text->ptr, (int)text->len);
}

/* Seconds from now until a time of a certificate. */
static int64_t
seconds_until(const ASN1_TIME *time)
{
    int days = 0, seconds = 0;

    return ASN1_TIME_diff(&days, &seconds, NULL, time) == 1 ? days * SECONDS_PER_DAY + seconds
                                                            : INT64_MIN;
}

static void
look_at_one(struct writ_doctor *d, struct writ_doctor_place place, struct writ_view path, X509 *one)
{
    int64_t left = seconds_until(X509_get0_notAfter(one));
    bool early = seconds_until(X509_get0_notBefore(one)) > 0;
    char subject[NAME_MAX_BYTES] = "";

    if (!early && left / SECONDS_PER_DAY >= d->days) {
        return;
    }
    (void)X509_NAME_oneline(X509_get_subject_name(one), subject, sizeof subject);
    if (early || left <= 0) {
        writ_doctor_add(d, WRIT_DOCTOR_CERTIFICATE_EXPIRED, place,
            WRIT_VIEW_FMT ": the certificate of %.80s %s", WRIT_VIEW_ARG(path), subject,
            early ? "is not valid yet" : "has ended");
        return;
    }
    writ_doctor_add(d, WRIT_DOCTOR_CERTIFICATE_EXPIRING, place,
        WRIT_VIEW_FMT ": the certificate of %.80s ends in %lld days", WRIT_VIEW_ARG(path), subject,
        (long long)(left / SECONDS_PER_DAY));
}

/* Whether the private key in `path` is that of the certificate. An empty path is none. */
static bool
is_key_of(X509 *certificate, struct writ_view path)
{
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) text = writ_buf_make(WRIT_PEM_FILE_MAX);
    WRIT_AUTO(BIO *, bio_freep) bio = NULL;
    WRIT_AUTO(EVP_PKEY *, key_freep) key = NULL;

    if (path.len == 0 || (bio = open_file(path, &text)) == NULL) {
        return true;
    }
    key = PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"");
    return key != NULL && X509_check_private_key(certificate, key) == 1;
}

/* Certificates in PEM. `path`: where they are, for people; `key`: the file of the first one's key,
 * or empty. */
static void
look_at_pem(struct writ_doctor *d, struct writ_doctor_place place, struct writ_view path,
    const struct writ_buf *text, struct writ_view key)
{
    WRIT_AUTO(BIO *, bio_freep) bio = BIO_new_mem_buf(text->ptr, (int)text->len);
    size_t n = 0;

    for (;; n++) {
        WRIT_AUTO(X509 *, certificate_freep)
        one = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

        if (one == NULL) {
            break;
        }
        if (n == 0 && !is_key_of(one, key)) {
            writ_doctor_add(d, WRIT_DOCTOR_CERTIFICATE_UNUSABLE, place,
                WRIT_VIEW_FMT ": the key beside it is another, or not a key in PEM",
                WRIT_VIEW_ARG(path));
        }
        look_at_one(d, place, path, one);
    }
    ERR_clear_error();
    if (n == 0) {
        writ_doctor_add(d, WRIT_DOCTOR_CERTIFICATE_UNUSABLE, place,
            WRIT_VIEW_FMT ": no certificate in PEM", WRIT_VIEW_ARG(path));
    }
}

static void
look_at_file(struct writ_doctor *d, struct writ_doctor_place place, struct writ_view path,
    struct writ_view key)
{
    writ_auto_buf text = writ_buf_make(WRIT_PEM_FILE_MAX);

    /* the area of files names one that cannot be read */
    if (path.len > 0 && writ_is_ok(writ_text_file(path.ptr, WRIT_PEM_FILE_MAX, &text, NULL))) {
        look_at_pem(d, place, path, &text, key);
    }
}

/* Its authority's file, and what it presents. A server that does not answer, or is not trusted, is
 * named by the area of upstreams. */
static void
look_at_upstream(struct writ_doctor *d, const struct writ_upstream_config *upstream)
{
    const struct writ_view none = {NULL, 0};
    struct writ_doctor_place place = writ_doctor_node(d, upstream->node);
    writ_auto_buf text = writ_buf_make(WRIT_PEM_FILE_MAX), url = writ_buf_make(URL_MAX);

    look_at_file(d, place, upstream->ca, none);
    if (upstream->kind != WRIT_UPSTREAM_HTTP || !upstream->tls) {
        return;
    }
    writ_buf_put(&url, upstream->http);
    writ_buf_byte(&url, '\0');
    if (writ_is_ok(writ_buf_check(&url, NULL)) &&
        writ_is_ok(writ_fetch_certificates(
            url.ptr, upstream->ca.len > 0 ? upstream->ca.ptr : NULL, CONNECT_MS, &text, NULL))) {
        look_at_pem(d, place, upstream->http, &text, none);
    }
}

WRIT_RESULT
writ_doctor_certificates(struct writ_doctor *d, struct writ_err *err)
{
    const struct writ_view none = {NULL, 0};
    const struct writ_config *config = d->config;

    (void)err;
    look_at_file(d, writ_doctor_option(d, "/tls/cert"), config->tls.cert, config->tls.key);
    look_at_file(d, writ_doctor_option(d, "/tls/client_ca"), config->tls.client_ca, none);
    look_at_file(
        d, writ_doctor_option(d, "/admin_tls/cert"), config->admin_tls.cert, config->admin_tls.key);
    look_at_file(
        d, writ_doctor_option(d, "/admin_tls/client_ca"), config->admin_tls.client_ca, none);
    for (size_t i = 0; i < config->upstreams_n; i++) {
        look_at_upstream(d, &config->upstreams[i]);
    }
    return WRIT_DONE;
}
