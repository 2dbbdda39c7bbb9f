/* Metadata of authorization servers. The well-known URLs of RFC 8414 and OpenID are tried in
 * order; metadata that are wrong, redirected, too long or too slow are refused. */
#include "support/gateway/peer.h"
#include "support/unit.h"

#include "gateway/auth/discovery.h"
#include "gateway/http/fetch.h"

#include <stdio.h>
#include <string.h>

#define NOT_FOUND "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

static const struct peer_step missing[] = {PEER_DO(READ), PEER_SAY(SEND, NOT_FOUND), PEER_DO(END)};

/* The metadata, once the port is known. */
static char metadata[16384];
static const struct peer_step found[] = {PEER_DO(READ), PEER_SAY(SEND, metadata), PEER_DO(END)};

static char asked[8][512];
static size_t asked_n;

static void
note(void *ctx, const char *request)
{
    (void)ctx;
    (void)snprintf(
        asked[asked_n++], sizeof asked[0], "%.*s", (int)(strchr(request, '\r') - request), request);
}

/* Answers 404 `misses` times, then the metadata. */
static struct peer *
server(size_t misses)
{
    const struct peer_step *const scripts[] = {missing, missing, missing, missing};
    const struct peer_step *last[4];

    for (size_t i = 0; i < 4; i++) {
        last[i] = i < misses ? scripts[i] : found;
    }
    asked_n = 0;
    return peer_open(
        &(struct peer_options){.scripts = last, .count = misses + 1, .on_request = note});
}

static void
say(const char *body)
{
    (void)snprintf(metadata, sizeof metadata,
        "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", strlen(body),
        body);
}

/* `format` with the issuer's port in it. */
static writ_result
find(const struct peer *peer, const char *path, const char *format, struct writ_buf *ret,
    struct writ_err *err)
{
    char issuer[256], body[8192];
    unsigned port = peer_port(peer);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(body, sizeof body, format, port);
#pragma GCC diagnostic pop
    say(body);
    (void)snprintf(issuer, sizeof issuer, "http://127.0.0.1:%u%s", port, path);
    return writ_discovery_find(issuer, "jwks_uri", 5000, NULL, ret, err);
}

START_TEST(discovery_tries_the_urls_of_rfc_8414_and_openid_in_order)
{
    static const struct {
        const char *path;
        size_t misses;
        const char *last;
    } rows[] = {
        {"", 0, "GET /.well-known/oauth-authorization-server HTTP/1.1"},
        {"", 1, "GET /.well-known/openid-configuration HTTP/1.1"},
        {"/", 0, "GET /.well-known/oauth-authorization-server HTTP/1.1"},
        {"/a/b", 0, "GET /.well-known/oauth-authorization-server/a/b HTTP/1.1"},
        {"/a/b/", 1, "GET /.well-known/openid-configuration/a/b HTTP/1.1"},
        {"/a/b", 2, "GET /a/b/.well-known/openid-configuration HTTP/1.1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct peer *peer = server(rows[i].misses);
        writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
        char format[256];
        struct writ_err err = {{0}, 0, 0};

        (void)snprintf(format, sizeof format,
            "{\"issuer\":\"http://127.0.0.1:%%u%s\",\"jwks_uri\":\"http://127.0.0.1:1/k\"}",
            rows[i].path);
        ck_assert_msg(
            writ_is_ok(find(peer, rows[i].path, format, &url, &err)), "%zu: %s", i, err.text);
        ck_assert_view(writ_buf_view(&url), "http://127.0.0.1:1/k");
        ck_assert_str_eq(asked[asked_n - 1], rows[i].last);
        ck_assert_uint_eq(asked_n, rows[i].misses + 1);
        peer_close(peer);
    }
}
END_TEST

START_TEST(discovery_of_wrong_metadata_fails)
{
    static const struct {
        const char *format;
        enum writ_code code;
    } rows[] = {
        {"{\"issuer\":\"http://127.0.0.1:%u/\",\"jwks_uri\":\"http://127.0.0.1:1/k\"}",
            WRIT_E_MISMATCH},
        {"{\"issuer\":\"https://evil.example\",\"jwks_uri\":\"http://127.0.0.1:1/k\",\"p\":%u}",
            WRIT_E_MISMATCH},
        {"{\"jwks_uri\":\"http://127.0.0.1:1/k\",\"p\":%u}", WRIT_E_MISMATCH},
        {"{\"issuer\":[\"http://127.0.0.1:%u\"],\"jwks_uri\":\"http://127.0.0.1:1/k\"}",
            WRIT_E_MISMATCH},
        {"{\"issuer\":\"http://127.0.0.1:%u\"}", WRIT_E_INVALID},
        {"{\"issuer\":\"http://127.0.0.1:%u\",\"jwks_uri\":7}", WRIT_E_INVALID},
        {"{\"issuer\":\"http://127.0.0.1:%u\",\"jwks_uri\":\"http://169.254.169.254/\"}",
            WRIT_E_INVALID},
        {"{\"issuer\":\"http://127.0.0.1:%u\",\"jwks_uri\":\"file:///etc/passwd\"}",
            WRIT_E_INVALID},
        {"{\"issuer\":\"http://127.0.0.1:%u\",\"jwks_uri\":\"http://127.0.0.1/\\u0000x\"}",
            WRIT_E_INVALID},
        {"{\"issuer\":\"http://127.0.0.1:%u\",\"issuer\":\"x\",\"jwks_uri\":\"http://127.0.0.1/\"}",
            WRIT_E_PARSE},
        {"[%u]", WRIT_E_PARSE},
        {"%u<html>", WRIT_E_PARSE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct peer *peer = server(0);
        writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
        writ_result r = find(peer, "", rows[i].format, &url, NULL);

        ck_assert_msg(r.code == rows[i].code, "%zu: %s", i, writ_code_name(r.code));
        ck_assert_uint_eq(url.len, 0);
        ck_assert_uint_eq(asked_n, 1); /* the first answer counts: no further URL is tried */
        peer_close(peer);
    }
}
END_TEST

START_TEST(discovery_without_metadata_or_with_a_redirect_fails)
{
    static const struct peer_step moved[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
                       "Content-Length: 0\r\nConnection: close\r\n\r\n"),
        PEER_DO(END)};
    const struct peer_step *const scripts[] = {moved};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = scripts, .count = 1});
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);

    ck_assert_code(find(peer, "", "%u", &url, NULL), WRIT_E_IO);
    peer_close(peer);
}
END_TEST

START_TEST(discovery_of_an_unprotected_or_complex_issuer_is_refused)
{
    static const char *const no[] = {"as.example", "http://as.example", "https://as.example?x=y",
        "https://as.example/#f", "https://u:p@as.example/", "ftp://as.example"};
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);

    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ck_assert_msg(
            writ_discovery_find(no[i], "jwks_uri", 1000, NULL, &url, NULL).code == WRIT_E_INVALID,
            "%s", no[i]);
    }
}
END_TEST

START_TEST(metadata_have_a_longest_length_and_a_longest_time)
{
    static const struct peer_step endless[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 200 OK\r\n\r\n"), PEER_COUNT(FILL, WRIT_DISCOVERY_BYTES_MAX + 1),
        PEER_DO(END)};
    static const struct peer_step silent[] = {PEER_DO(READ), PEER_DO(HANG), PEER_DO(END)};
    const struct peer_step *const long_ones[] = {endless}, *const slow_ones[] = {silent};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = long_ones, .count = 1});
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
    char issuer[64];

    ck_assert_code(find(peer, "", "%u", &url, NULL), WRIT_E_LIMIT);
    peer_close(peer);
    peer = peer_open(&(struct peer_options){.scripts = slow_ones, .count = 1});
    (void)snprintf(issuer, sizeof issuer, "http://127.0.0.1:%u", peer_port(peer));
    ck_assert_code(writ_discovery_find(issuer, "jwks_uri", 100, NULL, &url, NULL), WRIT_E_IO);
    ck_assert_uint_eq(url.len, 0);
    peer_close(peer);
}
END_TEST

WRIT_UNIT_MAIN("discovery", discovery_tries_the_urls_of_rfc_8414_and_openid_in_order,
    discovery_of_wrong_metadata_fails, discovery_without_metadata_or_with_a_redirect_fails,
    discovery_of_an_unprotected_or_complex_issuer_is_refused,
    metadata_have_a_longest_length_and_a_longest_time)
