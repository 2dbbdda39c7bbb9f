/* token_request.c - builds the form, sends it, and reads the answer. Every buffer that holds a
 * secret or a token is wiped, and of an error answer only a known error word is reported. */
#include "gateway/auth/token_request.h"

#include "base/id.h"
#include "base/text.h"
#include "evidence/jose/jws.h"
#include "evidence/json/write.h"
#include "gateway/auth/discovery.h"
#include "gateway/http/fetch.h"

#define FORM_MAX       ((size_t)65536)
#define ASSERTION_S    60 /* how long an assertion is good */
#define ERROR_WORD_MAX 64
#define US_PER_S       INT64_C(1000000)
#define ARENA_BYTES    (64 * WRIT_TOKEN_ANSWER_MAX)
#define ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

static void
secret_wipe(struct writ_buf *buf)
{
    writ_buf_wipe_secret(buf);
}

#define auto_secret WRIT_AUTO(struct writ_buf, secret_wipe)

/* ---- the form */

/* Encodes as application/x-www-form-urlencoded (RFC 6749 appendix B); also the parts of
 * client_secret_basic (2.3.1). */
static void
put_encoded(struct writ_buf *buf, struct writ_view text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '*';
        if (plain) {
            writ_buf_byte(buf, (char)c);
        } else if (c == ' ') {
            writ_buf_byte(buf, '+');
        } else {
            writ_buf_byte(buf, '%');
            writ_buf_byte(buf, hex[c >> 4]);
            writ_buf_byte(buf, hex[c & 15]);
        }
    }
}

static void
put_field(struct writ_buf *form, const char *name, struct writ_view value)
{
    if (value.len > 0) {
        writ_buf_str(form, form->len > 0 ? "&" : "");
        writ_buf_str(form, name);
        writ_buf_byte(form, '=');
        put_encoded(form, value);
    }
}

/* RFC 7523 3: identifies the client to this server, once, for a short time. */
static WRIT_RESULT
put_assertion(const struct writ_token_request *request, struct writ_view audience,
    struct writ_buf *form, struct writ_err *err)
{
    int64_t now_s = writ_clock_wall_us(request->clock) / US_PER_S;
    writ_auto_buf claims = writ_buf_make(WRIT_JWS_BYTES_MAX);
    auto_secret assertion = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_write w = writ_write_to(&claims);
    char jti[WRIT_ID_TEXT];

    WRIT_TRY(writ_id_new(request->clock, jti, err));
    writ_write_object_begin(&w);
    writ_write_text(&w, "iss", request->config->client_id);
    writ_write_text(&w, "sub", request->config->client_id);
    writ_write_text(&w, "aud", audience);
    writ_write_text(&w, "jti", writ_view_str(jti));
    writ_write_integer(&w, "iat", now_s);
    writ_write_integer(&w, "exp", now_s + ASSERTION_S);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(
        writ_jws_sign(request->signer, WRIT_LIT("JWT"), writ_buf_view(&claims), &assertion, err));
    put_field(form, "client_assertion_type", WRIT_LIT(ASSERTION_TYPE));
    put_field(form, "client_assertion", writ_buf_view(&assertion));
    return WRIT_DONE;
}

static void
put_basic(const struct writ_token_request *request, struct writ_buf *field)
{
    auto_secret pair = writ_buf_make(FORM_MAX);

    put_encoded(&pair, request->config->client_id);
    writ_buf_byte(&pair, ':');
    put_encoded(&pair, request->secret);
    writ_buf_str(field, "Authorization: Basic ");
    writ_base64_put(field, writ_buf_view(&pair));
    writ_buf_byte(field, '\0');
    if (!writ_is_ok(writ_buf_check(&pair, NULL))) {
        field->failed = pair.failed;
    }
}

/* ---- the answer */

/* Reports the error word of RFC 6749 5.2, if it is one. */
static WRIT_RESULT
refused(const char *url, long status, const struct writ_json *answer, struct writ_err *err)
{
    struct writ_view word = writ_json_string(writ_json_get(answer, WRIT_LIT("error")));
    bool is_word = word.len > 0 && word.len <= ERROR_WORD_MAX;

    for (size_t i = 0; is_word && i < word.len; i++) {
        is_word = (word.ptr[i] >= 'a' && word.ptr[i] <= 'z') || word.ptr[i] == '_';
    }
    word = is_word ? word : WRIT_LIT("no reason");
    WRIT_FAIL(err, WRIT_E_IO, WRIT_FETCH_FMT ": gives no token: status %ld, " WRIT_VIEW_FMT,
        WRIT_FETCH_ARG(url), status, WRIT_VIEW_ARG(word));
}

static bool
is_token(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len > 0;
}

static WRIT_RESULT
take_answer(
    const char *url, const struct writ_json *answer, struct writ_token *ret, struct writ_err *err)
{
    struct writ_view token = writ_json_string(writ_json_get(answer, WRIT_LIT("access_token")));
    struct writ_view type = writ_json_string(writ_json_get(answer, WRIT_LIT("token_type")));
    const struct writ_json *expires = writ_json_get(answer, WRIT_LIT("expires_in"));
    auto_secret text = writ_buf_make(WRIT_TOKEN_BYTES_MAX);
    int64_t lifetime_s = -1;

    if (!is_token(token) || !writ_view_equal_nocase(type, WRIT_LIT("Bearer")) ||
        (expires != NULL &&
            !writ_is_ok(writ_json_integer(expires, 1, WRIT_TOKEN_LIFETIME_MAX_S, &lifetime_s)))) {
        WRIT_FAIL(err, WRIT_E_PARSE,
            WRIT_FETCH_FMT ": it did not answer with a bearer token and its lifetime",
            WRIT_FETCH_ARG(url));
    }
    (void)writ_buf_reserve(&text, token.len); /* a buffer that grows would leave pieces behind */
    writ_buf_put(&text, token);
    if (!writ_is_ok(writ_buf_check(&text, NULL))) {
        WRIT_FAIL(err, text.failed, WRIT_FETCH_FMT ": its token is longer than %zu bytes",
            WRIT_FETCH_ARG(url), WRIT_TOKEN_BYTES_MAX);
    }
    *ret = (struct writ_token){.text = text, .lifetime_s = lifetime_s};
    text = writ_buf_make(0); /* the caller owns it now */
    return WRIT_DONE;
}

static WRIT_RESULT
read_answer(const char *url, long status, struct writ_view text, struct writ_token *ret,
    struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new(ARENA_BYTES);
    const struct writ_json *answer = NULL;
    writ_result r;

    if (arena == NULL) {
        WRIT_FAIL(
            err, WRIT_E_NOMEM, "no memory for the answer of " WRIT_FETCH_FMT, WRIT_FETCH_ARG(url));
    }
    r = writ_json_read(text, &writ_json_limits_default, arena, &answer, NULL);
    if (status != 200) {
        r = refused(url, status, writ_is_ok(r) ? answer : NULL, err);
    } else if (!writ_is_ok(r) || writ_json_type(answer) != WRIT_JSON_OBJECT) {
        r = writ_fail(err, WRIT_E_PARSE, WRIT_FETCH_FMT ": its answer is not a JSON object",
            WRIT_FETCH_ARG(url));
    } else {
        r = take_answer(url, answer, ret, err);
    }
    writ_arena_free(arena);
    return r;
}

/* ---- asking */

/* The endpoint, NUL-terminated, and the server's name for itself. */
static WRIT_RESULT
find_endpoint(const struct writ_token_request *request, struct writ_buf *url,
    struct writ_view *ret_name, struct writ_err *err)
{
    const struct writ_authorization_config *config = request->config;

    if (config->token_endpoint.len > 0) {
        writ_buf_put(url, config->token_endpoint);
        *ret_name = config->token_endpoint;
    } else {
        WRIT_TRY(writ_discovery_find(
            config->issuer.ptr, "token_endpoint", request->timeout_ms, request->stop, url, err));
        *ret_name = config->issuer;
    }
    writ_buf_byte(url, '\0');
    return writ_buf_check(url, err);
}

static WRIT_RESULT
fill_form(const struct writ_token_request *request, struct writ_view audience,
    struct writ_buf *form, struct writ_buf *field, struct writ_err *err)
{
    put_field(form, "grant_type", WRIT_LIT("client_credentials"));
    put_field(form, "scope", request->config->scopes);
    put_field(form, "resource", request->resource);
    if (request->signer != NULL) {
        WRIT_TRY(put_assertion(request, audience, form, err));
    } else {
        put_basic(request, field);
        WRIT_TRY(writ_buf_check(field, err));
    }
    writ_buf_byte(form, '\0');
    return writ_buf_check(form, err);
}

WRIT_RESULT
writ_token_request_send(
    const struct writ_token_request *request, struct writ_token *ret, struct writ_err *err)
{
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
    auto_secret form = writ_buf_make(FORM_MAX), field = writ_buf_make(FORM_MAX);
    auto_secret answer = writ_buf_make(WRIT_TOKEN_ANSWER_MAX);
    struct writ_view audience;
    long status = 0;

    WRIT_TRY(find_endpoint(request, &url, &audience, err));
    WRIT_TRY(fill_form(request, audience, &form, &field, err));
    WRIT_TRY(writ_fetch_ask(url.ptr,
        &(struct writ_fetch_request){
            .body = form.ptr, .authorization = request->signer == NULL ? field.ptr : NULL},
        request->timeout_ms, request->stop, &status, &answer, err));
    return read_answer(url.ptr, status, writ_buf_view(&answer), ret, err);
}
