/* Time stamps by OpenSSL's TS functions. A response is read to its last byte, compared with the
 * bytes that were stamped, and then verified under the given certificates alone, at the time of the
 * stamp. */
#include "evidence/log/timestamp.h"

#include "evidence/jose/pem.h"
#include "evidence/json/digest.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ts.h>
#include <openssl/x509.h>
#include <time.h>

#define STATUS_GRANTED           0 /* RFC 3161 2.4.2 */
#define STATUS_GRANTED_WITH_MODS 1
#define DAY_S                    86400
#define SECOND_US                1000000

static void
request_freep(TS_REQ **request)
{
    TS_REQ_free(*request);
}

static void
imprint_freep(TS_MSG_IMPRINT **imprint)
{
    TS_MSG_IMPRINT_free(*imprint);
}

static void
algorithm_freep(X509_ALGOR **algorithm)
{
    X509_ALGOR_free(*algorithm);
}

static void
response_freep(TS_RESP **response)
{
    TS_RESP_free(*response);
}

static void
context_freep(TS_VERIFY_CTX **context)
{
    TS_VERIFY_CTX_free(*context);
}

static void
store_freep(X509_STORE **store)
{
    X509_STORE_free(*store);
}

static void
certificate_freep(X509 **certificate)
{
    X509_free(*certificate);
}

static void
bio_freep(BIO **bio)
{
    (void)BIO_free(*bio);
}

static void
time_freep(ASN1_TIME **time)
{
    ASN1_TIME_free(*time);
}

static void
bytes_freep(unsigned char **bytes)
{
    OPENSSL_free(*bytes);
}

/* Except in verifying, a failure of the library here is a lack of memory. */
static WRIT_RESULT
no_memory(struct writ_err *err)
{
    ERR_clear_error();
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a time stamp");
}

/* ---- the query */

static WRIT_RESULT
request_of(struct writ_view data, TS_REQ **ret, struct writ_err *err)
{
    WRIT_AUTO(TS_REQ *, request_freep) request = TS_REQ_new();
    WRIT_AUTO(TS_MSG_IMPRINT *, imprint_freep) imprint = TS_MSG_IMPRINT_new();
    WRIT_AUTO(X509_ALGOR *, algorithm_freep) algorithm = X509_ALGOR_new();
    struct writ_digest digest;

    WRIT_TRY(writ_digest_bytes(data, &digest, err));
    if (request == NULL || imprint == NULL || algorithm == NULL ||
        X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, NULL) != 1 ||
        TS_MSG_IMPRINT_set_algo(imprint, algorithm) != 1 ||
        TS_MSG_IMPRINT_set_msg(imprint, digest.bytes, WRIT_DIGEST_BYTES) != 1 ||
        TS_REQ_set_version(request, 1) != 1 || TS_REQ_set_msg_imprint(request, imprint) != 1 ||
        TS_REQ_set_cert_req(request, 1) != 1) {
        return no_memory(err);
    }
    *ret = WRIT_TAKE(request);
    return WRIT_DONE;
}

WRIT_RESULT
writ_timestamp_query(struct writ_view data, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(TS_REQ *, request_freep) request = NULL;
    WRIT_AUTO(unsigned char *, bytes_freep) der = NULL;
    int length;

    WRIT_TRY(request_of(data, &request, err));
    length = i2d_TS_REQ(request, &der);
    if (length <= 0) {
        return no_memory(err);
    }
    writ_buf_put(ret, writ_view(der, (size_t)length));
    return writ_buf_check(ret, err);
}

/* ---- the authorities */

/* True when the last failure was that there is no further certificate. */
static bool
is_end_of_pem(void)
{
    unsigned long last = ERR_peek_last_error();

    return ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
}

static WRIT_RESULT
read_authorities(struct writ_view pem, X509_STORE **ret, struct writ_err *err)
{
    WRIT_AUTO(X509_STORE *, store_freep) store = X509_STORE_new();
    WRIT_AUTO(BIO *, bio_freep) bio = NULL;
    size_t count = 0;

    if (pem.len > WRIT_TIMESTAMP_CA_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a file of certificates is longer than %zu bytes",
            WRIT_TIMESTAMP_CA_MAX);
    }
    bio = BIO_new_mem_buf(pem.ptr != NULL ? pem.ptr : "", (int)pem.len);
    if (store == NULL || bio == NULL) {
        return no_memory(err);
    }
    ERR_clear_error();
    for (;; count++) {
        WRIT_AUTO(X509 *, certificate_freep)
        one = PEM_read_bio_X509(bio, NULL, writ_pem_refuse_passphrase, NULL);

        if (one == NULL) {
            break;
        }
        if (X509_STORE_add_cert(store, one) != 1) {
            return no_memory(err);
        }
    }
    if (count == 0 || !is_end_of_pem()) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_PARSE, "not certificates in PEM");
    }
    ERR_clear_error();
    *ret = WRIT_TAKE(store);
    return WRIT_DONE;
}

/* ---- the response */

static WRIT_RESULT
time_of(TS_RESP *response, int64_t *ret_s, struct writ_err *err)
{
    WRIT_AUTO(ASN1_TIME *, time_freep) epoch = ASN1_TIME_set(NULL, 0);
    const ASN1_GENERALIZEDTIME *time = TS_TST_INFO_get_time(TS_RESP_get_tst_info(response));
    int days = 0, seconds = 0;

    if (epoch == NULL) {
        return no_memory(err);
    }
    if (ASN1_TIME_diff(&days, &seconds, epoch, time) != 1 || days < 0 || seconds < 0) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_PARSE, "the time stamp has no time");
    }
    *ret_s = (int64_t)days * DAY_S + seconds;
    return WRIT_DONE;
}

/* Appends the reason of the library, which is a fixed text. */
static void
say(struct writ_err *err, const char *what)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    (void)writ_fail(
        err, WRIT_E_MISMATCH, "%s: %s", what, reason != NULL ? reason : "it does not verify");
    ERR_clear_error();
}

/* Checks that the stamp is over these bytes and signed by a trusted authority. `store` is taken. */
static WRIT_RESULT
verify_token(TS_RESP *response, TS_REQ *request, X509_STORE *store, enum writ_reason *ret_why,
    struct writ_err *err)
{
    WRIT_AUTO(TS_VERIFY_CTX *, context_freep) context = TS_REQ_to_TS_VERIFY_CTX(request, NULL);

    if (context == NULL) {
        X509_STORE_free(store);
        return no_memory(err);
    }
#if OPENSSL_VERSION_NUMBER >= 0x30400000L
    (void)TS_VERIFY_CTX_set0_store(context, store);
#else
    (void)TS_VERIFY_CTX_set_store(context, store);
#endif
    (void)TS_VERIFY_CTX_set_flags(context, TS_VFY_VERSION | TS_VFY_IMPRINT);
    if (TS_RESP_verify_response(context, response) != 1) {
        *ret_why = WRIT_REASON_TIMESTAMP_MISMATCH;
        say(err, "the stamp is not over this file");
        return WRIT_DONE;
    }
    (void)TS_VERIFY_CTX_set_flags(
        context, TS_VFY_VERSION | TS_VFY_IMPRINT | TS_VFY_SIGNATURE | TS_VFY_SIGNER);
    if (TS_RESP_verify_response(context, response) != 1) {
        *ret_why = WRIT_REASON_TIMESTAMP_UNTRUSTED;
        say(err, "the signature");
        return WRIT_DONE;
    }
    *ret_why = WRIT_REASON_EVIDENCE_OK;
    return WRIT_DONE;
}

/* Reads the response to its last byte; NULL when it is malformed. */
static TS_RESP *
read_response(struct writ_view bytes)
{
    WRIT_AUTO(TS_RESP *, response_freep) response = NULL;
    const unsigned char *at = (const unsigned char *)bytes.ptr;

    if (bytes.len == 0 || bytes.len > WRIT_TIMESTAMP_BYTES_MAX) {
        return NULL;
    }
    response = d2i_TS_RESP(NULL, &at, (long)bytes.len);
    ERR_clear_error();
    if (response == NULL || at != (const unsigned char *)bytes.ptr + bytes.len) {
        return NULL;
    }
    return WRIT_TAKE(response);
}

WRIT_RESULT
writ_timestamp_verify(struct writ_view data, struct writ_view response_der,
    struct writ_view authorities, struct writ_timestamp *ret, enum writ_reason *ret_why,
    struct writ_err *err)
{
    WRIT_AUTO(TS_RESP *, response_freep) response = NULL;
    WRIT_AUTO(TS_REQ *, request_freep) request = NULL;
    WRIT_AUTO(X509_STORE *, store_freep) store = NULL;
    int64_t time_s = 0;
    long status;

    WRIT_TRY(read_authorities(authorities, &store, err));
    WRIT_TRY(request_of(data, &request, err));
    response = read_response(response_der);
    if (response == NULL) {
        *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
        (void)writ_fail(err, WRIT_E_PARSE, "not the response of a time-stamping authority");
        return WRIT_DONE;
    }
    status = ASN1_INTEGER_get(TS_STATUS_INFO_get0_status(TS_RESP_get_status_info(response)));
    if (status != STATUS_GRANTED && status != STATUS_GRANTED_WITH_MODS) {
        *ret_why = WRIT_REASON_TIMESTAMP_NOT_GRANTED;
        (void)writ_fail(err, WRIT_E_MISMATCH, "the authority answered with status %ld", status);
        return WRIT_DONE;
    }
    if (TS_RESP_get_tst_info(response) == NULL || !writ_is_ok(time_of(response, &time_s, err))) {
        *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
        return WRIT_DONE;
    }
    X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), (time_t)time_s);
    WRIT_TRY(verify_token(response, request, WRIT_TAKE(store), ret_why, err));
    if (*ret_why == WRIT_REASON_EVIDENCE_OK) {
        ret->time_us = time_s * SECOND_US;
    }
    return WRIT_DONE;
}
