/* One-shot requests for documents. Only HTTPS and loopback are fetched, a good answer of limited
 * length is taken, and anything else is an error. */
#include "support/gateway/peer.h"
#include "support/unit.h"

#include "gateway/http/fetch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_MAX 64

static const struct peer_step good[] = {PEER_DO(READ),
    PEER_SAY(SEND, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"keys\":[]}"), PEER_DO(END)};

static struct peer *
peer_of(const struct peer_step *script)
{
    const struct peer_step *const scripts[] = {script};
    return peer_open(&(struct peer_options){.scripts = scripts, .count = 1});
}

static const char *
url_of(const struct peer *peer, const char *host)
{
    static char url[128];

    (void)snprintf(url, sizeof(url), "http://%s:%u/jwks.json?a=b", host, peer_port(peer));
    return url;
}

static writ_result
get(const char *url, struct writ_buf *body, struct writ_err *err)
{
    return writ_fetch_get(url, 2000, NULL, body, err);
}

START_TEST(fetch_of_unprotected_http_is_refused)
{
    static const char *const yes[] = {"https://issuer.example/jwks", "https://issuer.example:8443/",
        "http://127.0.0.1/", "http://127.1.2.3:80/x", "http://localhost:8080/", "http://[::1]:1/"};
    static const char *const no[] = {"", "jwks.json", "http://issuer.example/", "http://10.0.0.1/",
        "http://169.254.169.254/latest/", "http://127.0.0.1.example/", "http://localhost.example/",
        "http://[::2]/", "http://0.0.0.0/", "ftp://127.0.0.1/", "file:///etc/passwd",
        "gopher://127.0.0.1/", "http://user:secret@127.0.0.1/", "https://user@issuer.example/",
        "https://", "http://127.0.0.1:99999/"};

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        ck_assert_msg(writ_is_ok(writ_fetch_check(yes[i], NULL)), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        struct writ_err err = {0};
        writ_auto_buf body = writ_buf_make(BODY_MAX);

        ck_assert_msg(writ_fetch_check(no[i], &err).code == WRIT_E_INVALID, "%s", no[i]);
        ck_assert_ptr_null(strstr(err.text, "secret"));
        ck_assert_msg(get(no[i], &body, NULL).code == WRIT_E_INVALID, "%s", no[i]);
    }
}
END_TEST

START_TEST(fetch_of_a_good_answer_gives_its_body)
{
    struct peer *peer = peer_of(good);
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    char request[1024];

    ck_assert_ok(get(url_of(peer, "127.0.0.1"), &body, NULL));
    ck_assert_view(writ_buf_view(&body), "{\"keys\":[]}");
    peer_last(peer, request, sizeof(request));
    ck_assert_ptr_nonnull(strstr(request, "GET /jwks.json?a=b HTTP/1.1\r\n"));
    ck_assert_ptr_null(strstr(request, "Authorization"));
    peer_close(peer);
}
END_TEST

START_TEST(proxies_of_the_environment_are_ignored)
{
    struct peer *peer = peer_of(good);
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    ck_assert_int_eq(setenv("http_proxy", "http://127.0.0.1:1/", 1), 0);
    ck_assert_int_eq(setenv("ALL_PROXY", "http://127.0.0.1:1/", 1), 0);
    ck_assert_ok(get(url_of(peer, "127.0.0.1"), &body, NULL));
    ck_assert_int_eq(unsetenv("http_proxy"), 0);
    ck_assert_int_eq(unsetenv("ALL_PROXY"), 0);
    peer_close(peer);
}
END_TEST

START_TEST(localhost_is_loopback)
{
    struct peer *peer = peer_of(good);
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    ck_assert_ok(get(url_of(peer, "localhost"), &body, NULL));
    peer_close(peer);
}
END_TEST

struct bad_row {
    const char *what, *text;
    enum writ_code code;
};

static const struct bad_row bad[] = {
    {"not found", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", WRIT_E_IO},
    {"another success", "HTTP/1.1 204 No Content\r\n\r\n", WRIT_E_IO},
    {"a redirect", "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
        WRIT_E_IO},
    {"a redirect to a file",
        "HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
        WRIT_E_IO},
    {"cut", "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ke", WRIT_E_IO},
    {"nothing", "", WRIT_E_IO},
    {"said to be too long", "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n{", WRIT_E_LIMIT},
    {"too long",
        "HTTP/1.1 200 OK\r\n\r\n"
        "0123456789012345678901234567890123456789012345678901234567890123456789",
        WRIT_E_LIMIT},
};

START_TEST(fetch_of_any_other_answer_fails)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct peer_step script[] = {
            PEER_DO(READ), {.what = PEER_SEND, .text = bad[i].text}, PEER_DO(END)};
        struct peer *peer = peer_of(script);
        writ_auto_buf body = writ_buf_make(BODY_MAX);
        struct writ_err err = {0};

        ck_assert_msg(get(url_of(peer, "127.0.0.1"), &body, &err).code == bad[i].code, "%s: %s",
            bad[i].what, err.text);
        ck_assert_uint_eq(peer_requests(peer), 1);
        peer_close(peer);
    }
}
END_TEST

START_TEST(fetch_of_a_body_beyond_the_buffer_fails)
{
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n"), PEER_COUNT(FILL, 64),
        PEER_DO(END)};
    struct peer *peer = peer_of(script);
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    ck_assert_ok(get(url_of(peer, "127.0.0.1"), &body, NULL));
    ck_assert_uint_eq(body.len, 64);
    peer_close(peer);
}
END_TEST

START_TEST(fetch_from_a_closed_port_fails)
{
    struct peer *peer = peer_of(good);
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    char url[128];

    (void)snprintf(url, sizeof(url), "%s", url_of(peer, "127.0.0.1"));
    peer_close(peer);
    ck_assert_code(get(url, &body, NULL), WRIT_E_IO);
}
END_TEST

START_TEST(fetch_from_a_silent_server_times_out)
{
    static const struct peer_step script[] = {PEER_DO(READ), PEER_DO(HANG), PEER_DO(END)};
    struct peer *peer = peer_of(script);
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    ck_assert_code(writ_fetch_get(url_of(peer, "127.0.0.1"), 50, NULL, &body, NULL), WRIT_E_IO);
    peer_close(peer);
}
END_TEST

struct stopping {
    struct peer *peer;
    atomic_bool stop;
};

static void *
stop_after_request(void *arg)
{
    struct stopping *stopping = arg;

    peer_await_requests(stopping->peer, 1);
    atomic_store(&stopping->stop, true);
    return NULL;
}

START_TEST(fetch_ends_when_stopped)
{
    static const struct peer_step script[] = {PEER_DO(READ), PEER_DO(HANG), PEER_DO(END)};
    struct stopping stopping = {.peer = peer_of(script)};
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, stop_after_request, &stopping), 0);
    ck_assert_code(
        writ_fetch_get(url_of(stopping.peer, "127.0.0.1"), 60000, &stopping.stop, &body, NULL),
        WRIT_E_IO);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    peer_close(stopping.peer);
}
END_TEST

START_TEST(fetch_post_gives_every_status_as_an_answer)
{
    static const struct peer_step refuses[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\n{}"), PEER_DO(END)};
    struct peer *peer = peer_of(refuses);
    const struct writ_fetch_request form = {
        .body = "a=b&c=d", .authorization = "Authorization: Basic eA=="};
    const struct writ_fetch_request bare = {.body = ""};
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    struct writ_err err = {{0}, 0, 0};
    char request[1024];
    long status = 0;

    ck_assert_ok(
        writ_fetch_ask(url_of(peer, "127.0.0.1"), &form, 2000, NULL, &status, &body, NULL));
    ck_assert_int_eq(status, 403);
    ck_assert_view(writ_buf_view(&body), "{}");
    peer_last(peer, request, sizeof request);
    ck_assert_ptr_nonnull(strstr(request, "POST /jwks.json?a=b HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "Authorization: Basic eA==\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "\r\n\r\na=b&c=d"));
    status = 77;
    ck_assert_code(
        writ_fetch_ask("http://issuer.example/", &form, 2000, NULL, &status, &body, &err),
        WRIT_E_INVALID);
    ck_assert_ptr_null(strstr(err.text, "eA=="));
    ck_assert_code(
        writ_fetch_ask("http://127.0.0.1:1/", &bare, 2000, NULL, &status, &body, NULL), WRIT_E_IO);
    ck_assert_int_eq(status, 77);
    peer_close(peer);
}
END_TEST

START_TEST(fetch_post_with_a_length_sends_bytes_behind_a_nul)
{
    static const struct peer_step takes[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), PEER_DO(END)};
    struct peer *peer = peer_of(takes);
    const struct writ_fetch_request binary = {.body = "a\0bc", .body_len = 3};
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    char request[1024];
    long status = 0;

    ck_assert_ok(
        writ_fetch_ask(url_of(peer, "127.0.0.1"), &binary, 2000, NULL, &status, &body, NULL));
    peer_last(peer, request, sizeof request);
    ck_assert_ptr_nonnull(strstr(request, "Content-Length: 3\r\n"));
    peer_close(peer);
}
END_TEST

START_TEST(fetch_error_omits_the_query)
{
    struct writ_err err = {0};

    ck_assert_code(writ_fetch_check("http://example.com/keys?key=secret", &err), WRIT_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "http://example.com/keys:"));
    ck_assert_ptr_null(strstr(err.text, "secret"));
}
END_TEST

START_TEST(fetch_post_error_names_the_host_alone)
{
    struct writ_fetch_request request = {.body = "{}"};
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    struct writ_err err = {0};
    long status = 0;

    ck_assert_code(writ_fetch_ask("http://127.0.0.1:1/services/secret?key=secret", &request, 2000,
                       NULL, &status, &body, &err),
        WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "http://127.0.0.1:1: "));
    ck_assert_ptr_null(strstr(err.text, "secret"));
    ck_assert_int_eq(writ_fetch_origin("https://a.example?x"), 17);
    ck_assert_int_eq(writ_fetch_origin("a/file"), 6);
}
END_TEST

WRIT_UNIT_MAIN("fetch", fetch_error_omits_the_query, fetch_post_error_names_the_host_alone,
    fetch_of_unprotected_http_is_refused, fetch_of_a_good_answer_gives_its_body,
    proxies_of_the_environment_are_ignored, localhost_is_loopback, fetch_of_any_other_answer_fails,
    fetch_of_a_body_beyond_the_buffer_fails, fetch_from_a_closed_port_fails,
    fetch_from_a_silent_server_times_out, fetch_ends_when_stopped,
    fetch_post_gives_every_status_as_an_answer, fetch_post_with_a_length_sends_bytes_behind_a_nul)
