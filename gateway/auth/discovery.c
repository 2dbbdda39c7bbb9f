/* discovery.c - requests each well-known URL in turn until one answers, within one deadline. The
 * metadata count only when they name the requested issuer, and an https issuer never leads to plain
 * http. */
#include "gateway/auth/discovery.h"

#include "base/clock.h"
#include "evidence/json/json.h"
#include "gateway/http/fetch.h"

#define PLACES      3
#define ARENA_BYTES (64 * WRIT_DISCOVERY_BYTES_MAX)
#define US_PER_MS   1000

/* "https://as.example/tenant/" as "https://as.example" and "/tenant". */
static WRIT_RESULT
split_issuer(
    const char *issuer, struct writ_view *origin, struct writ_view *path, struct writ_err *err)
{
    struct writ_view text = writ_view_str(issuer);
    size_t start = writ_view_search(text, WRIT_LIT("://")) + 3;
    size_t slash = start + writ_view_find(writ_view_sub(text, start, text.len), '/');

    WRIT_TRY(writ_fetch_check(issuer, err));
    if (writ_view_find(text, '?') < text.len || writ_view_find(text, '#') < text.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: an issuer has neither query nor fragment", issuer);
    }
    *origin = writ_view_sub(text, 0, slash);
    *path = writ_view_sub(text, slash, text.len);
    if (path->len > 0 && path->ptr[path->len - 1] == '/') { /* RFC 8414 3.1 */
        path->len--;
    }
    return WRIT_DONE;
}

/* RFC 8414 3.1, the same path for OpenID Connect, and OpenID Connect Discovery 1.0 4.1. */
static void
put_place(struct writ_buf *url, size_t which, struct writ_view origin, struct writ_view path)
{
    static const char *const inserted[] = {
        "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"};

    writ_buf_put(url, origin);
    if (which < 2) {
        writ_buf_str(url, inserted[which]);
        writ_buf_put(url, path);
    } else {
        writ_buf_put(url, path);
        writ_buf_str(url, inserted[1]);
    }
    writ_buf_byte(url, '\0');
}

/* The first place that answers. */
static WRIT_RESULT
fetch_metadata(const char *issuer, int64_t timeout_ms, const atomic_bool *stop,
    struct writ_buf *ret, struct writ_err *err)
{
    int64_t until_us = writ_clock_mono_us(writ_clock_system()) + timeout_ms * US_PER_MS;
    struct writ_view origin, path;
    writ_result fetched = {WRIT_E_IO};

    WRIT_TRY(split_issuer(issuer, &origin, &path, err));
    for (size_t i = 0; i < (path.len > 0 ? PLACES : PLACES - 1); i++) {
        writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
        int64_t left_ms = (until_us - writ_clock_mono_us(writ_clock_system())) / US_PER_MS;

        put_place(&url, i, origin, path);
        WRIT_TRY(writ_buf_check(&url, err));
        if (left_ms <= 0) {
            break;
        }
        writ_buf_clear(ret);
        fetched = writ_fetch_get(url.ptr, left_ms, stop, ret, err);
        if (fetched.code != WRIT_E_IO) {
            return fetched;
        }
    }
    return fetched;
}

/* URLs in the metadata need the same protection as the issuer: nothing leads from an https issuer
 * to plain http, on this machine or elsewhere. */
static WRIT_RESULT
check_target(const char *issuer, const char *url, struct writ_err *err)
{
    struct writ_view secure = WRIT_LIT("https://");

    WRIT_TRY(writ_fetch_check(url, err));
    if (writ_view_has_prefix(writ_view_str(issuer), secure) &&
        !writ_view_has_prefix(writ_view_str(url), secure)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: its metadata points to plain http", issuer);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_member(const char *issuer, const char *member, struct writ_view text, struct writ_arena *arena,
    struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *metadata = NULL;
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
    struct writ_view value;

    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, arena, &metadata, err));
    if (writ_json_type(metadata) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_PARSE, "%s: its metadata are no JSON object", issuer);
    }
    if (!writ_json_is(writ_json_get(metadata, WRIT_LIT("issuer")), writ_view_str(issuer))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s: its metadata are of another issuer", issuer);
    }
    value = writ_json_string(writ_json_get(metadata, writ_view_str(member)));
    if (value.len == 0 || writ_view_find(value, '\0') < value.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: its metadata have no %s", issuer, member);
    }
    writ_buf_put(&url, value);
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    WRIT_TRY(check_target(issuer, url.ptr, err));
    writ_buf_put(ret, writ_buf_view(&url));
    ret->len -= ret->len > 0 ? 1 : 0; /* the NUL */
    return writ_buf_check(ret, err);
}

WRIT_RESULT
writ_discovery_read(const char *issuer, const char *member, struct writ_view metadata,
    struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_BYTES);

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the metadata of %s", issuer);
    }
    return take_member(issuer, member, metadata, arena, ret, err);
}

WRIT_RESULT
writ_discovery_find(const char *issuer, const char *member, int64_t timeout_ms,
    const atomic_bool *stop, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_DISCOVERY_BYTES_MAX);

    WRIT_TRY(fetch_metadata(issuer, timeout_ms, stop, &text, err));
    return writ_discovery_read(issuer, member, writ_buf_view(&text), ret, err);
}
