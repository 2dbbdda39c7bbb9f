/* Connecting to a server. Every address is tried in order within its share of the time, and a
 * cancelled attempt calls nothing. */
#include "support/unit.h"

#include "gateway/http/dial.h"
#include "support/gateway/peer.h"

#define MS     INT64_C(1000)
#define CLOSED 1 /* a port that the kernel gives to no test */

struct told {
    struct writ_loop *loop;
    int calls;
    struct writ_dial_result result;
};

static void
on_done(void *ctx, struct writ_dial *dial, const struct writ_dial_result *result)
{
    struct told *told = ctx;

    ck_assert_ptr_nonnull(dial);
    told->calls++;
    told->result = *result;
    ck_assert_int_eq(result->socket != NULL, result->reason == WRIT_HTTP_OK);
    writ_socket_close(result->socket);
    writ_loop_stop(told->loop);
}

static const struct peer_step silent[] = {PEER_DO(HANG)};
static const struct peer_step *const scripts[] = {silent};

static struct peer *
open_peer(void)
{
    const struct peer_options options = {.scripts = scripts, .count = 1};

    return peer_open(&options);
}

static void
add(struct writ_addresses *addresses, const char *host, uint16_t port)
{
    struct writ_addresses one;

    ck_assert(writ_resolver_numeric(writ_view_str(host), port, &one));
    addresses->list[addresses->count++] = one.list[0];
}

static struct told
dial(const struct writ_addresses *addresses, size_t first, struct writ_tls *tls, int64_t span_us)
{
    struct writ_loop_options options = {0};
    struct told told = {.calls = 0};

    ck_assert_ok(writ_loop_new(&options, &told.loop, NULL));
    ck_assert_ptr_nonnull(writ_dial_start(
        told.loop, addresses, first, tls, writ_loop_now_us(told.loop) + span_us, on_done, &told));
    ck_assert_int_eq(told.calls, 0);
    ck_assert_ok(writ_loop_run(told.loop, NULL));
    ck_assert_int_eq(told.calls, 1);
    writ_loop_free(told.loop);
    return told;
}

START_TEST(dial_tries_every_address_in_order)
{
    struct peer *peer = open_peer();
    struct writ_addresses addresses = {.count = 0};

    add(&addresses, "127.0.0.1", CLOSED);
    add(&addresses, "::1", CLOSED);
    add(&addresses, "127.0.0.1", peer_port(peer));
    add(&addresses, "127.0.0.1", CLOSED);
    for (size_t first = 0; first < 4; first++) {
        struct told told = dial(&addresses, first, NULL, 5000 * MS);
        ck_assert_int_eq(told.result.reason, WRIT_HTTP_OK);
        ck_assert_uint_eq(told.result.index, 2);
    }
    peer_close(peer);
}
END_TEST

START_TEST(dial_without_an_answer_reports_the_last_failure)
{
    struct writ_addresses addresses = {.count = 0};
    struct told told;

    add(&addresses, "127.0.0.1", CLOSED);
    add(&addresses, "127.0.0.1", CLOSED);
    told = dial(&addresses, 0, NULL, 5000 * MS);
    ck_assert_int_eq(told.result.reason, WRIT_HTTP_CONNECT_FAILED);
    ck_assert_str_eq(told.result.detail, "Connection refused");
}
END_TEST

START_TEST(dial_with_a_silent_tls_server_tries_the_next_in_time)
{
    struct peer *peer = open_peer();
    struct writ_addresses addresses = {.count = 0};
    struct writ_tls_options options = {.host = "127.0.0.1", .host_is_address = true};
    struct writ_tls *tls = NULL;
    struct told told;

    ck_assert_ok(writ_tls_open(&options, &tls, NULL));
    add(&addresses, "127.0.0.1", peer_port(peer));
    add(&addresses, "127.0.0.1", peer_port(peer));
    told = dial(&addresses, 0, tls, 200 * MS);
    ck_assert_int_eq(told.result.reason, WRIT_HTTP_CONNECT_TIMEOUT);
    peer_await_connections(peer, 2); /* its thread may be late */
    ck_assert_uint_eq(peer_connections(peer), 2);
    writ_tls_close(tls);
    peer_close(peer);
}
END_TEST

START_TEST(dial_cancelled_never_calls_back)
{
    struct writ_loop_options options = {0};
    struct told told = {.calls = 0};
    struct peer *peer = open_peer();
    struct writ_addresses addresses = {.count = 0};

    ck_assert_ok(writ_loop_new(&options, &told.loop, NULL));
    add(&addresses, "127.0.0.1", peer_port(peer));
    writ_dial_cancel(writ_dial_start(
        told.loop, &addresses, 0, NULL, writ_loop_now_us(told.loop) + 1000 * MS, on_done, &told));
    writ_loop_stop(told.loop);
    ck_assert_ok(writ_loop_run(told.loop, NULL));
    ck_assert_int_eq(told.calls, 0);
    writ_fault_arm(1);
    ck_assert_ptr_null(writ_dial_start(
        told.loop, &addresses, 0, NULL, writ_loop_now_us(told.loop) + 1000 * MS, on_done, &told));
    ck_assert(writ_fault_disarm());
    writ_loop_free(told.loop);
    peer_close(peer);
}
END_TEST

WRIT_UNIT_MAIN("dial", dial_tries_every_address_in_order,
    dial_without_an_answer_reports_the_last_failure,
    dial_with_a_silent_tls_server_tries_the_next_in_time, dial_cancelled_never_calls_back)
