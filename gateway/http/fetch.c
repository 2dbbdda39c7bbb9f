/* fetch.c - one libcurl transfer for each fetch. The URL is checked before libcurl sees it, and
 * redirects, proxies and .netrc are off. Time and size of a transfer are bounded. */
#include "gateway/http/fetch.h"

#include "gateway/http/transfer.h"

#define US_PER_S     INT64_C(1000000)
#define RETRY_MOST_S 86400  /* of a Retry-After */
#define CONNECT_MS   30000L /* of a request without a limit of its own */
#define PROTOCOLS    "http,https"
#define UP_TO_NUL    ((curl_off_t)-1)
#define CERTIFICATE  "Cert:" /* of an entry of CURLINFO_CERTINFO */

/* ---- a connection that is kept: libcurl keeps it in its handle */

struct writ_fetch_link {
    CURL *easy;
};

struct writ_fetch_link *
writ_fetch_link_new(void)
{
    struct writ_fetch_link *link = writ_alloc(sizeof *link);

    if (link != NULL) {
        link->easy = writ_transfer_new();
    }
    if (link != NULL && link->easy == NULL) {
        writ_free(WRIT_TAKE(link));
    }
    return link;
}

void
writ_fetch_link_free(struct writ_fetch_link *link)
{
    if (link != NULL) {
        curl_easy_cleanup(link->easy);
        writ_free(link);
    }
}

/* ---- where to */

int
writ_fetch_named(const char *url)
{
    return (int)writ_view_find(writ_view_str(url), '?');
}

int
writ_fetch_origin(const char *url)
{
    struct writ_view text = writ_view_str(url);
    size_t at = writ_view_search(text, WRIT_LIT("://"));

    if (at == text.len) {
        return (int)text.len;
    }
    for (at += 3; at < text.len && text.ptr[at] != '/' && text.ptr[at] != '?'; at++) {
    }
    return (int)at;
}

WRIT_RESULT
writ_fetch_check(const char *url, struct writ_err *err)
{
    WRIT_AUTO(CURLU *, writ_transfer_url_freep) parsed = curl_url();
    WRIT_AUTO(char *, writ_transfer_text_freep) scheme = NULL;
    WRIT_AUTO(char *, writ_transfer_text_freep) host = NULL;
    WRIT_AUTO(char *, writ_transfer_text_freep) user = NULL;

    if (parsed == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a URL");
    }
    if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        WRIT_FAIL(err, WRIT_E_INVALID, "not a URL");
    }
    if (curl_url_get(parsed, CURLUPART_USER, &user, 0) != CURLUE_NO_USER) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a URL must not hold credentials");
    }
    if (writ_view_is(writ_view_str(scheme), "https") ||
        (writ_view_is(writ_view_str(scheme), "http") && writ_transfer_is_loopback(host))) {
        return WRIT_DONE;
    }
    WRIT_FAIL(err, WRIT_E_INVALID, WRIT_FETCH_FMT ": neither https nor http to a loopback address",
        WRIT_FETCH_ARG(url));
}

/* ---- fetching */

static size_t
take_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct writ_buf *body = arg;
    writ_result taken;

    writ_buf_put(body, writ_view(bytes, size * count));
    taken = writ_buf_check(body, NULL);
    return writ_is_ok(taken) ? size * count : 0; /* 0 ends the transfer */
}

static bool
set_options(CURL *easy, const struct writ_transfer *transfer, struct curl_slist *headers,
    struct writ_buf *body)
{
    return writ_transfer_set(easy, transfer) &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
               transfer->timeout_ms > 0 ? (long)transfer->timeout_ms : CONNECT_MS) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) ==
               CURLE_OK && /* a peer that is gone */
           curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)body->max) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_USERAGENT, "writ/" WRIT_VERSION) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, body) == CURLE_OK;
}

/* One transfer. A complete one succeeds, whatever its status. */
static WRIT_RESULT
perform(CURL *easy, const char *url, bool is_post, const struct writ_buf *body, long *ret_status,
    struct writ_err *err)
{
    CURLcode code = curl_easy_perform(easy);
    int named = is_post ? writ_fetch_origin(url) : writ_fetch_named(url);

    if (code == CURLE_FILESIZE_EXCEEDED || body->failed == WRIT_E_LIMIT) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, WRIT_FETCH_FMT ": longer than %zu bytes", named, url, body->max);
    }
    if (code != CURLE_OK) {
        WRIT_FAIL(err, WRIT_E_IO, WRIT_FETCH_FMT ": %s", named, url, curl_easy_strerror(code));
    }
    if (curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, ret_status) != CURLE_OK) {
        WRIT_FAIL(err, WRIT_E_IO, WRIT_FETCH_FMT ": has no status", named, url);
    }
    return writ_buf_check(body, err);
}

static bool
append_all(struct curl_slist **list, const char *const *fields)
{
    for (size_t i = 0; fields != NULL && fields[i] != NULL; i++) {
        if (!writ_transfer_append(list, fields[i])) {
            return false;
        }
    }
    return true;
}

static bool
set_request(CURL *easy, const struct writ_fetch_request *request, struct curl_slist **headers)
{
    return append_all(headers, request->fields) &&
           writ_transfer_append(
               headers, request->accept != NULL ? request->accept : "Accept: application/json") &&
           writ_transfer_append(
               headers, "Expect:") && /* of 100-continue: the answer would be waited for */
           (request->type == NULL || writ_transfer_append(headers, request->type)) &&
           (request->authorization == NULL ||
               writ_transfer_append(headers, request->authorization)) &&
           (request->cert_file == NULL ||
               (curl_easy_setopt(easy, CURLOPT_SSLCERT, request->cert_file) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_SSLKEY, request->key_file) == CURLE_OK)) &&
           (request->body == NULL ||
               (curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                    request->body_len > 0 ? (curl_off_t)request->body_len : UP_TO_NUL) ==
                       CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body) == CURLE_OK));
}

static WRIT_RESULT
ask_with(CURL *easy, const char *url, const struct writ_fetch_request *request, int64_t timeout_ms,
    const atomic_bool *stop, long *ret_status, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_transfer transfer = {.url = url,
        .protocols = PROTOCOLS,
        .ca_file = request->ca_file,
        .timeout_ms = timeout_ms,
        .stop = stop};
    WRIT_AUTO(struct curl_slist *, writ_transfer_list_freep) headers = NULL;
    curl_off_t retry_s = 0;
    long status = 0;

    if (easy == NULL || !set_request(easy, request, &headers) ||
        !set_options(easy, &transfer, headers, ret)) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to ask " WRIT_FETCH_FMT, WRIT_FETCH_ARG(url));
    }
    WRIT_TRY(perform(easy, url, request->body != NULL, ret, &status, err));
    if (request->ret_retry_us != NULL) {
        (void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_s);
        *request->ret_retry_us =
            retry_s > RETRY_MOST_S ? RETRY_MOST_S * US_PER_S : (int64_t)retry_s * US_PER_S;
    }
    *ret_status = status;
    return WRIT_DONE;
}

WRIT_RESULT
writ_fetch_ask(const char *url, const struct writ_fetch_request *request, int64_t timeout_ms,
    const atomic_bool *stop, long *ret_status, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(CURL *, writ_transfer_freep) easy = NULL;

    WRIT_TRY(writ_fetch_check(url, err));
    if (request->link != NULL) {
        curl_easy_reset(request->link->easy); /* of the last request, but for its connection */
        return ask_with(request->link->easy, url, request, timeout_ms, stop, ret_status, ret, err);
    }
    easy = writ_transfer_new();
    return ask_with(easy, url, request, timeout_ms, stop, ret_status, ret, err);
}

WRIT_RESULT
writ_fetch_get(const char *url, int64_t timeout_ms, const atomic_bool *stop, struct writ_buf *ret,
    struct writ_err *err)
{
    static const struct writ_fetch_request keys = {
        .accept = "Accept: application/jwk-set+json, application/json"};
    long status = 0;

    WRIT_TRY(writ_fetch_ask(url, &keys, timeout_ms, stop, &status, ret, err));
    if (status != 200) {
        WRIT_FAIL(err, WRIT_E_IO, WRIT_FETCH_FMT ": answers with status %ld", WRIT_FETCH_ARG(url),
            status);
    }
    return WRIT_DONE;
}

/* ---- certificates */

/* The entries of a certificate are "NAME:value"; one has the whole of it as PEM. */
static void
put_certificate(const struct curl_slist *entries, struct writ_buf *ret)
{
    for (const struct curl_slist *one = entries; one != NULL; one = one->next) {
        struct writ_view entry = writ_view_str(one->data);

        if (writ_view_has_prefix(entry, WRIT_LIT(CERTIFICATE))) {
            writ_buf_put(ret, writ_view_sub(entry, sizeof CERTIFICATE - 1, entry.len));
            writ_buf_byte(ret, '\n');
        }
    }
}

WRIT_RESULT
writ_fetch_certificates(const char *url, const char *ca_file, int64_t timeout_ms,
    struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_transfer transfer = {
        .url = url, .protocols = PROTOCOLS, .ca_file = ca_file, .timeout_ms = timeout_ms};
    WRIT_AUTO(CURL *, writ_transfer_freep) easy = NULL;
    struct curl_certinfo *chain = NULL;
    CURLcode code;

    WRIT_TRY(writ_fetch_check(url, err));
    easy = writ_transfer_new();
    if (easy == NULL || !set_options(easy, &transfer, NULL, ret) ||
        curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L) != CURLE_OK) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to ask " WRIT_FETCH_FMT, WRIT_FETCH_ARG(url));
    }
    code = curl_easy_perform(easy);
    if (code == CURLE_OK) {
        code = curl_easy_getinfo(easy, CURLINFO_CERTINFO, &chain);
    }
    if (code != CURLE_OK || chain == NULL) {
        WRIT_FAIL(
            err, WRIT_E_IO, WRIT_FETCH_FMT ": %s", WRIT_FETCH_ARG(url), curl_easy_strerror(code));
    }
    for (int i = 0; i < chain->num_of_certs; i++) {
        put_certificate(chain->certinfo[i], ret);
    }
    return writ_buf_check(ret, err);
}
