/* TLS on the listener. Only TLS 1.2 and 1.3 are accepted, client certificates are checked as
 * configured, and a reload changes new connections only. */
#include "support/unit.h"

#include "support/gateway/echo.h"
#include "support/gateway/raw.h"
#include "support/gateway/tls.h"

#include "gateway/listener/certificate.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_MAX (8U << 20)
#define PATIENT_MS RAW_WAIT_MS /* no connection of the test comes too late */
#define HASTY_MS   2000        /* for tests that wait for the end of this time */
#define HOST       "Host: localhost\r\n"
#define JSON       "Content-Type: application/json\r\n"
#define GET        "GET /t/ok HTTP/1.1\r\n" HOST "\r\n"
#define PEER       "GET /t/peer HTTP/1.1\r\n" HOST "\r\n"
#define WATCH      "POST /t/watch/0 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"

#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        for (int n_ = 0; n_ < RAW_WAIT_MS / 5 && !(condition); n_++) {                             \
            (void)poll(NULL, 0, 5);                                                                \
        }                                                                                          \
        ck_assert_msg((condition), "%s", #condition);                                              \
    } while (0)

struct world {
    struct tls_identity *authority, *server, *client;
    struct echo *echo;
};

static struct world
world_of(bool asks, bool requires, int64_t head_timeout_ms)
{
    struct world w = {.authority = tls_identity_new(TLS_AUTHORITY, NULL, 24)};
    struct writ_listener_options options = {.head_timeout_ms = head_timeout_ms};

    w.server = tls_identity_new(TLS_SERVER, w.authority, 24);
    w.client = tls_identity_new(TLS_CLIENT, w.authority, 24);
    options.tls.certificate = tls_identity_certificate(w.server);
    options.tls.key = tls_identity_key(w.server);
    if (asks) {
        options.tls.client_ca = tls_identity_certificate(w.authority);
        options.tls.client_required = requires;
    }
    w.echo = echo_start(1, options);
    return w;
}

static void
world_end(struct world *w)
{
    echo_stop(w->echo);
    tls_identity_free(w->authority);
    tls_identity_free(w->server);
    tls_identity_free(w->client);
}

static struct tls_client *
client_of(const struct world *w, const struct tls_identity *identity, const char *priority)
{
    return tls_connect(echo_port(w->echo), w->authority, identity, priority);
}

/* The status of one answer over a new connection, 0 without a connection. */
static unsigned
ask(const struct world *w, const struct tls_identity *identity, const char *request,
    const char *until, struct writ_buf *ret)
{
    struct tls_client *client = client_of(w, identity, NULL);

    if (client == NULL) {
        return 0;
    }
    ck_assert(tls_text(client, request));
    (void)tls_read(client, until, ret);
    tls_close(client);
    return raw_status(writ_buf_view(ret));
}

START_TEST(tls_accepts_1_2_and_1_3_only)
{
    static const char *const good[] = {
        "NORMAL:-VERS-ALL:+VERS-TLS1.3", "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
    static const char *const bad[] = {
        "NORMAL:-VERS-ALL:+VERS-TLS1.1:%UNSAFE_RENEGOTIATION", "NORMAL:-VERS-ALL:+VERS-TLS1.0"};
    struct world w = world_of(false, false, PATIENT_MS);

    for (size_t i = 0; i < 2; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        struct tls_client *client = client_of(&w, NULL, good[i]);
        ck_assert_ptr_nonnull(client);
        ck_assert(tls_text(client, GET GET));
        ck_assert(tls_read(client, "\r\n\r\nokHTTP/1.1 200", &got));
        tls_close(client);
        ck_assert_ptr_null(client_of(&w, NULL, bad[i]));
    }
    WAIT_FOR(writ_metrics_counter_sum(w.echo->metrics, WRIT_COUNTER_TLS_FAILURES) >= 2);
    world_end(&w);
}
END_TEST

START_TEST(tls_carries_bodies_and_streams)
{
    struct world w = world_of(false, false, PATIENT_MS);
    writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX),
                  stream = writ_buf_make(BUFFER_MAX);
    struct tls_client *client = client_of(&w, NULL, NULL);

    writ_buf_str(&sent, "POST /t/delay/5 HTTP/1.1\r\n" HOST JSON "Content-Length: 500000\r\n\r\n");
    for (int i = 0; i < 499999; i++) {
        writ_buf_byte(&sent, (char)('a' + i % 26));
    }
    writ_buf_byte(&sent, '!');
    ck_assert(tls_send(client, writ_buf_view(&sent)));
    ck_assert(tls_read(client, "!", &got));
    ck_assert_uint_eq(
        got.len - writ_view_search(writ_buf_view(&got), WRIT_LIT("\r\n\r\n")) - 4, 500000);
    ck_assert(tls_text(client, "GET /t/flood HTTP/1.1\r\n" HOST "\r\n"));
    ck_assert(tls_read(client, "\r\n0\r\n\r\n", &stream));
    ck_assert_uint_gt(stream.len, ECHO_FLOOD_BYTES);
    ck_assert(tls_text(client, PEER));
    ck_assert(tls_read(client, "1 1 ||", &got));
    tls_close(client);
    WAIT_FOR(writ_metrics_gauge_sum(w.echo->metrics, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    world_end(&w);
}
END_TEST

START_TEST(tls_required_client_certificate_is_checked)
{
    struct world w = world_of(true, true, PATIENT_MS);
    struct tls_identity *foreign = tls_identity_new(TLS_AUTHORITY, NULL, 24);
    struct tls_identity *stranger = tls_identity_new(TLS_CLIENT, foreign, 24);
    struct tls_identity *ended = tls_identity_new(TLS_CLIENT, w.authority, -1);
    struct tls_identity *self = tls_identity_new(TLS_CLIENT, NULL, 24);
    const struct tls_identity *bad[] = {NULL, stranger, ended, self, w.server};
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(ask(&w, w.client, PEER, "urn:test:client|", &got), 200);
    ck_assert_uint_lt(writ_view_search(writ_buf_view(&got), WRIT_LIT("1 1 ")), got.len);
    ck_assert_uint_lt(writ_view_search(writ_buf_view(&got), WRIT_LIT("CN=test client")), got.len);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        writ_auto_buf answer = writ_buf_make(BUFFER_MAX);
        unsigned status = ask(&w, bad[i], GET, "certificate_required", &answer);
        ck_assert_msg(status == 403 || status == 0, "%zu: %u", i, status);
    }
    ck_assert_uint_eq(atomic_load(&w.echo->handled), 1);
    tls_identity_free(foreign);
    tls_identity_free(stranger);
    tls_identity_free(ended);
    tls_identity_free(self);
    world_end(&w);
}
END_TEST

START_TEST(tls_optional_client_certificate_is_absent_or_valid)
{
    struct world w = world_of(true, false, PATIENT_MS);
    struct tls_identity *self = tls_identity_new(TLS_CLIENT, NULL, 24);
    writ_auto_buf none = writ_buf_make(BUFFER_MAX), good = writ_buf_make(BUFFER_MAX),
                  bad = writ_buf_make(BUFFER_MAX);
    unsigned status;

    ck_assert_uint_eq(ask(&w, NULL, PEER, "1 1 ||", &none), 200);
    ck_assert_uint_eq(ask(&w, w.client, PEER, "urn:test:client|", &good), 200);
    status = ask(&w, self, GET, "certificate_required", &bad);
    ck_assert(status == 403 || status == 0);
    tls_identity_free(self);
    world_end(&w);
}
END_TEST

START_TEST(tls_reload_applies_to_new_connections)
{
    struct world w = world_of(false, false, PATIENT_MS);
    struct tls_identity *next = tls_identity_new(TLS_SERVER, w.authority, 24);
    struct writ_listener_tls tls = {
        tls_identity_certificate(next), tls_identity_key(next), {0}, false};
    struct writ_listener_tls mixed = {
        tls_identity_certificate(next), tls_identity_key(w.server), {0}, false};
    writ_auto_buf before = writ_buf_make(1000), after = writ_buf_make(1000),
                  got = writ_buf_make(BUFFER_MAX);
    struct tls_client *old = client_of(&w, NULL, NULL), *young = NULL;
    struct writ_certificate *certificate = NULL;

    tls_server_serial(old, &before);
    ck_assert_code(
        writ_listener_prepare(w.echo->listener, &mixed, &certificate, NULL), WRIT_E_INVALID);
    ck_assert_ptr_null(certificate);
    ck_assert_ok(writ_listener_prepare(w.echo->listener, &tls, &certificate, NULL));
    writ_listener_take(w.echo->listener, certificate);
    writ_listener_take(w.echo->listener, certificate);
    writ_certificate_drop(certificate);
    for (int i = 0; i < 1000 && (young == NULL ||
                                    writ_view_equal(writ_buf_view(&before), writ_buf_view(&after)));
         i++) {
        if (young != NULL) {
            tls_close(young);
            (void)poll(NULL, 0, 10);
        }
        young = client_of(&w, NULL, NULL);
        writ_buf_clear(&after);
        tls_server_serial(young, &after);
    }
    ck_assert(!writ_view_equal(writ_buf_view(&before), writ_buf_view(&after)));
    ck_assert(tls_text(old, GET));
    ck_assert(tls_read(old, "\r\n\r\nok", &got));
    tls_close(old);
    tls_close(young);
    tls_identity_free(next);
    world_end(&w);
}
END_TEST

START_TEST(tls_disconnect_is_distinguished_from_half_close)
{
    struct world w = world_of(false, false, PATIENT_MS);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    struct tls_client *leaves = client_of(&w, NULL, NULL), *resets = client_of(&w, NULL, NULL);
    struct tls_client *stays = client_of(&w, NULL, NULL);

    ck_assert(tls_text(leaves, WATCH));
    ck_assert(tls_text(resets, WATCH));
    ck_assert(
        tls_text(stays, "POST /t/watch/2000 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"));
    WAIT_FOR(atomic_load(&w.echo->handled) == 3);
    (void)shutdown(tls_fd(stays), SHUT_WR);
    tls_close(leaves);
    WAIT_FOR(atomic_load(&w.echo->gone) == 1);
    raw_reset(tls_fd(resets));
    tls_forget(resets);
    WAIT_FOR(atomic_load(&w.echo->gone) == 2);
    ck_assert(tls_read(stays, "HTTP/1.1 200 OK", &got));
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 100);
    (void)close(tls_fd(stays));
    tls_forget(stays);
    WAIT_FOR(writ_metrics_gauge_sum(w.echo->metrics, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    world_end(&w);
}
END_TEST

START_TEST(tls_of_other_bytes_or_a_slow_handshake_is_closed)
{
    static const char *const texts[] = {
        GET, "\x16\x03\x01\x02", "", "\x16\x03\x01\xff\xff\xff\xff"};
    struct world w = world_of(false, false, HASTY_MS);

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        int fd = raw_connect(echo_port(w.echo));
        ck_assert(raw_text(fd, texts[i]));
        ck_assert(raw_drain(fd, &got));
        ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 0);
        (void)close(fd);
    }
    ck_assert_uint_eq(atomic_load(&w.echo->handled), 0);
    WAIT_FOR(writ_metrics_gauge_sum(w.echo->metrics, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    world_end(&w);
}
END_TEST

START_TEST(tls_carries_refusals)
{
    struct world w = world_of(false, false, HASTY_MS);
    writ_auto_buf head = writ_buf_make(BUFFER_MAX), large = writ_buf_make(BUFFER_MAX),
                  late = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(
        ask(&w, NULL, "GET /t/ok HTTP/1.1\r\nHost: evil\r\n\r\n", "forbidden_origin", &head), 403);
    ck_assert_uint_eq(ask(&w, NULL,
                          "POST /raw HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                          "65\r\n01234567890123456789012345678901234567890123456789"
                          "012345678901234567890123456789012345678901234567890\r\n0\r\n\r\n",
                          "request_too_large", &large),
        413);
    ck_assert_uint_eq(ask(&w, NULL, "GET /t/ok HTTP/1.1\r\nHo", "request_timeout", &late), 408);
    world_end(&w);
}
END_TEST

WRIT_UNIT_MAIN("certificate", tls_accepts_1_2_and_1_3_only, tls_carries_bodies_and_streams,
    tls_required_client_certificate_is_checked, tls_optional_client_certificate_is_absent_or_valid,
    tls_reload_applies_to_new_connections, tls_disconnect_is_distinguished_from_half_close,
    tls_of_other_bytes_or_a_slow_handshake_is_closed, tls_carries_refusals)
