/* The HTTP client with its connection pool. Each call ends once, no request is sent twice, and a
 * failure says whether the request was sent. */
#include "support/unit.h"

#include "gateway/http/http_client.h"
#include "gateway/http/http_request.h"
#include "support/gateway/certs.h"
#include "support/gateway/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define BODY_MAX    (16 << 20)
#define WATCHDOG_US (INT64_C(60) * 1000 * 1000)
#define MS          INT64_C(1000)
#define REQUEST_MAX 4096

/* ---- one upstream, one client, one loop */

struct world {
    struct writ_loop *loop;
    struct writ_resolver *resolver;
    struct peer *peer;
    struct writ_http_client *client;
    struct writ_timer watchdog, tick;
    size_t pending;
};

/* what became of one call */
struct answer {
    struct world *world;
    struct writ_http_call *call;
    const struct writ_http_head *head;
    unsigned status, heads, bodies;
    char type[64];
    struct writ_buf body;
    struct writ_http_end end;
    bool ended, cancel_in_head, cancel_in_body, pause_in_head, pause_in_body, no_more;
    int64_t resume_us; /* after a pause in the head; 0: 20 ms */
    struct writ_timer resume;
};

static void
bark(struct writ_timer *timer)
{
    const struct world *w = timer->ctx;
    struct writ_http_stats stats = writ_http_client_stats(w->client);

    ck_abort_msg(
        "the test hangs: %zu calls pending, %zu active, %zu waiting; connections: %zu open, "
        "%zu idle, %zu connecting",
        w->pending, stats.active, stats.waiting, stats.open, stats.idle, stats.connecting);
}

static void
open_at(struct world *w, const struct peer_step *const *scripts, size_t count,
    struct writ_http_options options, const char *scheme, const char *host)
{
    struct peer_options peer_options = {.scripts = scripts, .count = count};
    struct writ_loop_options loop_options = {0};
    char url[128];

    *w = (struct world){.watchdog = {.fn = bark, .ctx = w}};
    ck_assert_ok(writ_loop_new(&loop_options, &w->loop, NULL));
    ck_assert_ok(writ_resolver_open(&w->resolver, NULL));
    if (scripts != NULL) {
        w->peer = peer_open(&peer_options);
        (void)snprintf(url, sizeof url, "%s://%s:%u/ignored", scheme, host, peer_port(w->peer));
        options.url = writ_view_str(url);
    }
    ck_assert_ok(writ_http_client_open(w->loop, w->resolver, &options, &w->client, NULL));
}

static void
open_with(struct world *w, const struct peer_step *script, struct writ_http_options options)
{
    const struct peer_step *const scripts[] = {script};

    open_at(w, scripts, 1, options, "http", "127.0.0.1");
}

static void
open_world(struct world *w, const struct peer_step *script)
{
    open_with(w, script, (struct writ_http_options){0});
}

static void
close_world(struct world *w)
{
    writ_http_client_close(w->client);
    writ_resolver_close(w->resolver);
    writ_loop_free(w->loop);
    if (w->peer != NULL) {
        peer_close(w->peer);
    }
}

static void
run(struct world *w)
{
    if (w->pending > 0) {
        writ_loop_timer_set(w->loop, &w->watchdog, writ_loop_now_us(w->loop) + WATCHDOG_US);
        ck_assert_ok(writ_loop_run(w->loop, NULL));
        ck_assert_uint_eq(w->pending, 0);
        writ_loop_timer_cancel(&w->watchdog);
    }
}

static void
stop_on_tick(struct writ_timer *timer)
{
    writ_loop_stop(timer->ctx);
}

/* lets the loop run for a while */
static void
run_for(struct world *w, int64_t span_us)
{
    w->tick = (struct writ_timer){.fn = stop_on_tick, .ctx = w->loop};
    writ_loop_timer_set(w->loop, &w->tick, writ_clock_mono_us(writ_clock_system()) + span_us);
    ck_assert_ok(writ_loop_run(w->loop, NULL));
    writ_loop_timer_cancel(&w->tick); /* something else may have stopped the loop */
}

/* ---- the handler */

static void
on_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    struct answer *a = ctx;
    struct writ_view type = WRIT_LIT("");

    ck_assert_ptr_eq(a->call, call);
    ck_assert(!a->ended && !a->no_more);
    ck_assert(writ_http_client_is_sent(call));
    a->heads++;
    a->head = head;
    a->status = head->status;
    (void)writ_http_response_field(head, "content-type", &type);
    (void)snprintf(a->type, sizeof a->type, WRIT_VIEW_FMT, WRIT_VIEW_ARG(type));
    if (a->cancel_in_head) {
        a->no_more = true;
        writ_http_client_cancel(call);
    }
    if (a->pause_in_head) {
        a->no_more = true;
        writ_http_client_pause(call);
        writ_loop_timer_set(a->world->loop, &a->resume,
            writ_loop_now_us(a->world->loop) + (a->resume_us > 0 ? a->resume_us : 20 * MS));
    }
}

static void
on_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct answer *a = ctx;

    ck_assert(!a->ended && !a->no_more);
    ck_assert(bytes.len > 0 && bytes.len <= WRIT_HTTP_CHUNK_BYTES);
    a->bodies++;
    writ_buf_put(&a->body, bytes);
    if (a->cancel_in_body) {
        a->no_more = true;
        writ_http_client_cancel(call);
        writ_http_client_cancel(call);
    }
    if (a->pause_in_body) {
        a->no_more = true;
        writ_http_client_pause(call);
        writ_loop_timer_set(a->world->loop, &a->resume, writ_loop_now_us(a->world->loop) + 1 * MS);
    }
}

static void
on_resume(struct writ_timer *timer)
{
    struct answer *a = timer->ctx;

    a->no_more = false;
    a->pause_in_head = false;
    writ_http_client_resume(a->call);
    writ_http_client_resume(a->call);
}

static void
on_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct answer *a = ctx;

    ck_assert_ptr_eq(a->call, call);
    ck_assert(!a->ended);
    ck_assert(a->head == NULL || a->head->status == a->status); /* still there */
    a->ended = true;
    a->end = *end;
    writ_loop_timer_cancel(&a->resume);
    if (--a->world->pending == 0) {
        writ_loop_stop(a->world->loop);
    }
}

static const struct writ_http_handler handler = {on_head, on_body, on_end};

static struct writ_http_request
request_of(const char *method, const char *body)
{
    return (struct writ_http_request){
        .method = writ_view_str(method),
        .target = WRIT_LIT("/mcp?a=1"),
        .body = writ_view_str(body),
        .body_max = BODY_MAX,
    };
}

static void
send_request(struct world *w, struct answer *a, const struct writ_http_request *request)
{
    a->world = w;
    a->body = writ_buf_make(BODY_MAX);
    a->resume = (struct writ_timer){.fn = on_resume, .ctx = a};
    ck_assert_ok(writ_http_client_send(w->client, request, &handler, a, &a->call, NULL));
    ck_assert(!a->ended);
    w->pending++;
}

static void
post(struct world *w, struct answer *a)
{
    struct writ_http_request request = request_of("POST", "{}");

    send_request(w, a, &request);
}

static struct answer
call_once(struct world *w)
{
    struct answer a = {0};

    post(w, &a);
    run(w);
    return a;
}

static void
wipe(struct answer *a)
{
    writ_buf_wipe(&a->body);
}

static void
expect_end(struct answer *a, enum writ_http_reason reason, enum writ_http_sent sent)
{
    ck_assert_msg(a->end.reason == reason, "ended by %s (%s), not by %s",
        writ_http_response_reason(a->end.reason), a->end.detail != NULL ? a->end.detail : "",
        writ_http_response_reason(reason));
    ck_assert_int_eq(a->end.sent, sent);
}

static void
expect_ok(struct answer *a, const char *body)
{
    expect_end(a, WRIT_HTTP_OK, WRIT_HTTP_SENT);
    ck_assert_uint_eq(a->heads, 1);
    ck_assert_uint_eq(a->status, 200);
    ck_assert_view(writ_buf_view(&a->body), body);
    wipe(a);
}

#define OK "HTTP/1.1 200 OK\r\n"
#define HI OK "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi"

static const struct peer_step serve_hi[] = {PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(AGAIN)};

/* ---- what goes over the wire */

START_TEST(request_is_framed_by_the_client_and_answered)
{
    struct world w;
    struct answer a = {0};
    struct writ_http_request request = request_of("POST", "{\"a\":1}");
    const struct writ_header fields[] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("application/json")},
        {WRIT_LIT("Mcp-Name"), WRIT_LIT("")},
    };
    char want[REQUEST_MAX], got[REQUEST_MAX];

    open_world(&w, serve_hi);
    request.fields = fields;
    request.count = 2;
    send_request(&w, &a, &request);
    run(&w);
    ck_assert_str_eq(a.type, "text/plain");
    expect_ok(&a, "hi");
    (void)snprintf(want, sizeof want,
        "POST /mcp?a=1 HTTP/1.1\r\nhost: 127.0.0.1:%u\r\nContent-Type: application/json\r\n"
        "Mcp-Name: \r\ncontent-length: 7\r\n\r\n{\"a\":1}",
        peer_port(w.peer));
    peer_last(w.peer, got, sizeof got);
    ck_assert_str_eq(got, want);
    close_world(&w);
}
END_TEST

START_TEST(send_reuses_a_connection_and_repeats_no_request)
{
    struct world w;

    open_world(&w, serve_hi);
    for (int i = 0; i < 5; i++) {
        struct answer a = call_once(&w);
        expect_ok(&a, "hi");
    }
    ck_assert_uint_eq(peer_connections(w.peer), 1);
    ck_assert_uint_eq(peer_requests(w.peer), 5);
    ck_assert_uint_eq(writ_http_client_stats(w.client).reused, 4);
    ck_assert_uint_eq(writ_http_client_stats(w.client).idle, 1);
    close_world(&w);
}
END_TEST

/* The answer to may_begin, and how often it was asked. */
struct permission {
    bool given;
    int asked;
};

static bool
may_begin(void *ctx)
{
    struct permission *permission = ctx;

    permission->asked++;
    return permission->given;
}

static struct answer
call_permitted(struct world *w, struct permission *permission)
{
    struct writ_http_request request = request_of("POST", "{}");
    struct answer a = {0};

    request.may_begin = may_begin;
    request.begin_ctx = permission;
    send_request(w, &a, &request);
    run(w);
    return a;
}

START_TEST(send_asks_for_permission_before_the_first_byte)
{
    struct world w;
    struct permission no = {false, 0}, yes = {true, 0};
    struct answer a;

    open_world(&w, serve_hi);
    a = call_permitted(&w, &no); /* on a new connection */
    expect_end(&a, WRIT_HTTP_WITHHELD, WRIT_HTTP_NOT_SENT);
    wipe(&a);
    ck_assert_uint_eq(peer_requests(w.peer), 0);
    a = call_permitted(&w, &yes);
    expect_ok(&a, "hi");
    a = call_permitted(&w, &no); /* on one that was kept */
    expect_end(&a, WRIT_HTTP_WITHHELD, WRIT_HTTP_NOT_SENT);
    wipe(&a);
    a = call_permitted(&w, &yes);
    expect_ok(&a, "hi");
    ck_assert_uint_eq(peer_requests(w.peer), 2);
    ck_assert_int_eq(no.asked, 2);
    ck_assert_int_eq(yes.asked, 2);
    close_world(&w);
}
END_TEST

static struct answer
call_fresh(struct world *w, int64_t fresh_us)
{
    struct writ_http_request request = request_of("POST", "{}");
    struct answer a = {0};

    request.fresh_us = fresh_us;
    send_request(w, &a, &request);
    run(w);
    return a;
}

START_TEST(send_with_fresh_us_takes_no_connection_that_was_idle_for_longer)
{
    struct world w;
    struct answer a;

    open_with(&w, serve_hi, (struct writ_http_options){.connections_max = 1});
    a = call_once(&w);
    expect_ok(&a, "hi");
    a = call_fresh(&w, 60 * 1000 * MS); /* a minute */
    expect_ok(&a, "hi");
    ck_assert_uint_eq(peer_connections(w.peer), 1);
    run_for(&w, 5 * MS);
    a = call_fresh(&w, 1 * MS); /* the idle one makes room for it */
    expect_ok(&a, "hi");
    ck_assert_uint_eq(peer_connections(w.peer), 2);
    ck_assert_uint_eq(writ_http_client_stats(w.client).open, 1);
    run_for(&w, 5 * MS);
    a = call_once(&w); /* any will do */
    expect_ok(&a, "hi");
    ck_assert_uint_eq(peer_connections(w.peer), 2);
    close_world(&w);
}
END_TEST

START_TEST(idle_connection_is_closed_at_the_time_of_its_server)
{
    static const struct {
        const char *field;
        bool kept;
    } rows[] = {{"Keep-Alive: timeout=0\r\n", false}, {"keep-alive: max=9, Timeout = 0\r\n", true},
        {"keep-alive: max=9 , Timeout=0\r\n", false}, {"Keep-Alive: timeout=1\r\n", true},
        {"Keep-Alive: timeout=999999999999999999999\r\n", true},
        {"Keep-Alive: timeout=-1\r\n", true}, {"Keep-Alive:\r\n", true}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        struct peer_step script[] = {PEER_DO(READ), PEER_SAY(SEND, text), PEER_DO(AGAIN)};
        struct world w;
        struct answer a;

        (void)snprintf(text, sizeof text, OK "%sContent-Length: 2\r\n\r\nhi", rows[i].field);
        open_world(&w, script);
        a = call_once(&w);
        expect_end(&a, WRIT_HTTP_OK, WRIT_HTTP_SENT);
        wipe(&a);
        ck_assert_msg(
            writ_http_client_stats(w.client).idle == (rows[i].kept ? 1 : 0), "%s", rows[i].field);
        close_world(&w);
    }
}
END_TEST

START_TEST(calls_beyond_the_connections_wait_for_one)
{
    static struct answer a[200];
    struct world w;

    open_with(&w, serve_hi, (struct writ_http_options){.connections_max = 4});
    for (int i = 0; i < 200; i++) {
        a[i] = (struct answer){0};
        post(&w, &a[i]);
    }
    run(&w);
    for (int i = 0; i < 200; i++) {
        expect_ok(&a[i], "hi");
    }
    ck_assert_uint_le(peer_connections(w.peer), 4);
    ck_assert_uint_eq(peer_requests(w.peer), 200);
    ck_assert_uint_eq(writ_http_client_stats(w.client).waiting, 0);
    ck_assert_uint_eq(writ_http_client_stats(w.client).active, 0);
    close_world(&w);
}
END_TEST

START_TEST(send_to_a_full_queue_is_refused)
{
    static const struct peer_step script[] = {
        PEER_DO(READ), PEER_DO(WAIT), PEER_SAY(SEND, HI), PEER_DO(AGAIN)};
    struct world w;
    struct answer a = {0}, b = {0}, c = {0};
    struct writ_http_request request = request_of("POST", "{}");
    struct writ_http_call *untouched = NULL;

    open_with(&w, script, (struct writ_http_options){.connections_max = 1, .waiting_max = 2});
    post(&w, &a);
    post(&w, &b);
    ck_assert_code(
        writ_http_client_send(w.client, &request, &handler, &c, &untouched, NULL), WRIT_E_BUSY);
    ck_assert_ptr_null(untouched);
    peer_go(w.peer);
    peer_go(w.peer);
    run(&w);
    expect_ok(&a, "hi");
    expect_ok(&b, "hi");
    ck_assert_uint_eq(peer_requests(w.peer), 2);
    close_world(&w);
}
END_TEST

/* ---- answers of every kind */

struct reply {
    const char *name;
    struct peer_step steps[6];
    enum writ_http_reason reason;
    const char *body; /* for OK */
};

#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"

static const struct reply replies[] = {
    {"length", {PEER_DO(READ), PEER_SAY(SEND, HI)}, WRIT_HTTP_OK, "hi"},
    {"dripping", {PEER_DO(READ), PEER_SAY(DRIP, HI)}, WRIT_HTTP_OK, "hi"},
    {"chunks", {PEER_DO(READ), PEER_SAY(DRIP, CHUNKED "1\r\nh\r\n1;x=y\r\ni\r\n0\r\nA: b\r\n\r\n")},
        WRIT_HTTP_OK, "hi"},
    {"until the end", {PEER_DO(READ), PEER_SAY(SEND, OK "\r\nhi")}, WRIT_HTTP_OK, "hi"},
    {"half-closed", {PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(SHUT), PEER_DO(HANG)}, WRIT_HTTP_OK,
        "hi"},
    {"interim", {PEER_DO(READ), PEER_SAY(DRIP, "HTTP/1.1 103 Early\r\nA: b\r\n\r\n" HI)},
        WRIT_HTTP_OK, "hi"},
    {"closed at once", {PEER_DO(READ)}, WRIT_HTTP_CLOSED_EARLY, NULL},
    {"reset at once", {PEER_DO(READ), PEER_DO(RESET)}, WRIT_HTTP_CLOSED_EARLY, NULL},
    {"half a head", {PEER_DO(READ), PEER_SAY(SEND, "HTTP/1.1 200 OK\r\nConte")},
        WRIT_HTTP_CLOSED_EARLY, NULL},
    {"half a body", {PEER_DO(READ), PEER_SAY(SEND, OK "Content-Length: 9\r\n\r\nhi")},
        WRIT_HTTP_CLOSED_EARLY, NULL},
    {"half a chunk", {PEER_DO(READ), PEER_SAY(SEND, CHUNKED "9\r\nhi")}, WRIT_HTTP_CLOSED_EARLY,
        NULL},
    {"no last chunk", {PEER_DO(READ), PEER_SAY(SEND, CHUNKED "2\r\nhi\r\n")},
        WRIT_HTTP_CLOSED_EARLY, NULL},
    {"reset in the body",
        {PEER_DO(READ), PEER_SAY(SEND, OK "Content-Length: 9\r\n\r\nhi"), PEER_DO(RESET)},
        WRIT_HTTP_CLOSED_EARLY, NULL},
    {"two answers", {PEER_DO(READ), PEER_SAY(SEND, HI HI)}, WRIT_HTTP_PROTOCOL_ERROR, NULL},
    {"bytes after the end", {PEER_DO(READ), PEER_SAY(SEND, HI "x")}, WRIT_HTTP_PROTOCOL_ERROR,
        NULL},
    {"two lengths",
        {PEER_DO(READ), PEER_SAY(SEND, OK "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!")},
        WRIT_HTTP_PROTOCOL_ERROR, NULL},
    {"length and chunks",
        {PEER_DO(READ),
            PEER_SAY(SEND, OK "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")},
        WRIT_HTTP_PROTOCOL_ERROR, NULL},
    {"HTTP/0.9", {PEER_DO(READ), PEER_SAY(SEND, "<html>hi</html>")}, WRIT_HTTP_PROTOCOL_ERROR,
        NULL},
    {"101",
        {PEER_DO(READ),
            PEER_SAY(SEND, "HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")},
        WRIT_HTTP_PROTOCOL_ERROR, NULL},
    {"NUL",
        {PEER_DO(READ),
            {.what = PEER_SEND, .text = "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", .count = 24}},
        WRIT_HTTP_PROTOCOL_ERROR, NULL},
    {"endless head", {PEER_DO(READ), PEER_SAY(SEND, OK "A: "), PEER_COUNT(FILL, 1 << 20)},
        WRIT_HTTP_HEAD_TOO_LARGE, NULL},
    {"endless body", {PEER_DO(READ), PEER_SAY(SEND, OK "\r\n"), PEER_COUNT(FILL, BODY_MAX + 1)},
        WRIT_HTTP_BODY_TOO_LARGE, NULL},
    {"too long a body",
        {PEER_DO(READ), PEER_SAY(SEND, OK "Content-Length: 16777217\r\n\r\n"), PEER_DO(HANG)},
        WRIT_HTTP_BODY_TOO_LARGE, NULL},
};

START_TEST(each_framing_of_an_answer_ends_its_call_once)
{
    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        struct world w;
        struct answer a;
        open_world(&w, replies[i].steps);
        a = call_once(&w);
        ck_assert_msg(a.end.reason == replies[i].reason, "%s: %s (%s)", replies[i].name,
            writ_http_response_reason(a.end.reason), a.end.detail != NULL ? a.end.detail : "");
        ck_assert_int_eq(a.end.sent, WRIT_HTTP_SENT);
        if (replies[i].body != NULL) {
            ck_assert_view(writ_buf_view(&a.body), replies[i].body);
        } else {
            ck_assert_uint_eq(writ_http_client_stats(w.client).open, 0);
        }
        run_for(&w, 1 * MS);
        ck_assert_uint_eq(peer_requests(w.peer), 1);
        ck_assert_uint_eq(peer_connections(w.peer), 1);
        wipe(&a);
        close_world(&w);
    }
}
END_TEST

START_TEST(statuses_and_methods_without_a_body_keep_the_connection)
{
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND,
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
        PEER_DO(READ), PEER_SAY(SEND, "HTTP/1.1 204 No Content\r\n\r\n"), PEER_DO(READ),
        PEER_SAY(SEND, OK "Content-Length: 500\r\n\r\n"), PEER_DO(READ), PEER_SAY(SEND, HI),
        PEER_DO(HANG)};
    static const char *const methods[] = {"POST", "DELETE", "HEAD", "GET"};
    static const unsigned statuses[] = {302, 204, 200, 200};
    struct world w;
    char got[REQUEST_MAX];

    open_world(&w, script);
    for (int i = 0; i < 4; i++) {
        struct answer a = {0};
        struct writ_http_request request = request_of(methods[i], "");
        send_request(&w, &a, &request);
        run(&w);
        expect_end(&a, WRIT_HTTP_OK, WRIT_HTTP_SENT);
        ck_assert_uint_eq(a.status, statuses[i]); /* a redirect is an answer like any other */
        ck_assert_view(writ_buf_view(&a.body), i == 3 ? "hi" : "");
        peer_last(w.peer, got, sizeof got);
        ck_assert_msg((strstr(got, "content-length: 0") != NULL) == (i == 0), "%s", got);
        wipe(&a);
    }
    ck_assert_uint_eq(peer_connections(w.peer), 1);
    close_world(&w);
}
END_TEST

/* ---- dead connections */

START_TEST(send_on_a_dead_pooled_connection_uses_another)
{
    static const struct peer_step closes[] = {
        PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(WAIT), PEER_DO(END)};
    static const struct peer_step resets[] = {
        PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(WAIT), PEER_DO(RESET)};
    static const struct peer_step babbles[] = {
        PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(WAIT), PEER_SAY(SEND, HI), PEER_DO(HANG)};
    static const struct peer_step *const scripts[] = {closes, resets, babbles, serve_hi};
    struct world w;

    open_at(&w, scripts, 4, (struct writ_http_options){0}, "http", "127.0.0.1");
    for (size_t i = 0; i < 4; i++) {
        struct answer a = call_once(&w);
        expect_ok(&a, "hi");
        ck_assert_uint_eq(peer_connections(w.peer), i + 1);
        peer_go(w.peer);
        for (int turns = 0; i < 3 && turns < 1000; turns++) { /* the peer has its own time */
            if (writ_http_client_stats(w.client).open == 0) {
                break;
            }
            run_for(&w, 10 * MS);
        }
        ck_assert_uint_eq(writ_http_client_stats(w.client).open, i < 3 ? 0 : 1);
    }
    ck_assert_uint_eq(peer_requests(w.peer), 4);
    close_world(&w);
}
END_TEST

START_TEST(send_on_a_connection_closed_a_moment_ago_uses_another)
{
    static const struct peer_step closes[] = {
        PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(WAIT), PEER_DO(END)};
    static const struct peer_step *const scripts[] = {closes, serve_hi};
    struct world w;
    struct answer a, b;
    struct writ_clock clock = *writ_clock_system();
    int64_t until_us;

    open_at(&w, scripts, 2, (struct writ_http_options){0}, "http", "127.0.0.1");
    a = call_once(&w);
    expect_ok(&a, "hi");
    peer_go(w.peer); /* the loop does not run while the peer closes */
    until_us = writ_clock_mono_us(&clock) + 50 * MS;
    while (writ_clock_mono_us(&clock) < until_us) {
    }
    b = call_once(&w);
    expect_ok(&b, "hi");
    ck_assert_uint_eq(peer_connections(w.peer), 2);
    ck_assert_uint_eq(peer_requests(w.peer), 2);
    close_world(&w);
}
END_TEST

START_TEST(send_on_a_reused_connection_that_breaks_later_is_not_retried)
{
    static const struct peer_step breaks[] = {
        PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(READ), PEER_DO(RESET)};
    static const struct peer_step *const scripts[] = {breaks, serve_hi};
    struct world w;
    struct answer a, b;

    open_at(&w, scripts, 2, (struct writ_http_options){0}, "http", "127.0.0.1");
    a = call_once(&w);
    expect_ok(&a, "hi");
    b = call_once(&w);
    expect_end(&b, WRIT_HTTP_CLOSED_EARLY, WRIT_HTTP_SENT);
    run_for(&w, 20 * MS);
    ck_assert_uint_eq(peer_requests(w.peer), 2);
    ck_assert_uint_eq(peer_connections(w.peer), 1);
    close_world(&w);
}
END_TEST

START_TEST(idle_connection_is_closed_after_its_time)
{
    struct world w;
    struct answer a;

    open_with(&w, serve_hi, (struct writ_http_options){.keep_us = 30 * MS});
    a = call_once(&w);
    expect_ok(&a, "hi");
    ck_assert_uint_eq(writ_http_client_stats(w.client).idle, 1);
    run_for(&w, 60 * MS);
    ck_assert_uint_eq(writ_http_client_stats(w.client).open, 0);
    close_world(&w);
}
END_TEST

START_TEST(idle_connections_above_the_limit_are_closed)
{
    struct world w;
    struct answer a[3] = {0};

    open_with(&w, serve_hi, (struct writ_http_options){.idle_max = 1});
    for (int i = 0; i < 3; i++) {
        post(&w, &a[i]);
    }
    run(&w);
    for (int i = 0; i < 3; i++) {
        expect_ok(&a[i], "hi");
    }
    run_for(&w, 1 * MS);
    ck_assert_uint_le(writ_http_client_stats(w.client).open, 1);
    close_world(&w);
}
END_TEST

/* ---- not reached */

START_TEST(send_to_a_closed_port_reports_not_sent)
{
    struct world w;
    struct answer a;
    char url[64];
    unsigned port;

    open_world(&w, serve_hi); /* a port that was free a moment ago */
    port = peer_port(w.peer);
    close_world(&w);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    open_at(&w, NULL, 0, (struct writ_http_options){.url = writ_view_str(url)}, "", "");
    a = call_once(&w);
    expect_end(&a, WRIT_HTTP_CONNECT_FAILED, WRIT_HTTP_NOT_SENT);
    ck_assert_str_eq(a.end.detail, "Connection refused");
    close_world(&w);
}
END_TEST

START_TEST(send_to_an_unknown_name_reports_not_sent)
{
    struct world w;
    struct answer a;

    open_at(&w, NULL, 0,
        (struct writ_http_options){
            .url = WRIT_LIT("http://does-not-exist.invalid:80"), .connect_us = 2000 * MS},
        "", "");
    a = call_once(&w);
    ck_assert(
        a.end.reason == WRIT_HTTP_RESOLVE_FAILED || a.end.reason == WRIT_HTTP_CONNECT_TIMEOUT);
    ck_assert_int_eq(a.end.sent, WRIT_HTTP_NOT_SENT);
    close_world(&w);
}
END_TEST

START_TEST(send_resolves_a_name_once_and_tries_all_addresses)
{
    static const struct peer_step *const scripts[] = {serve_hi};
    struct world w;
    struct answer a;

    open_at(&w, scripts, 1, (struct writ_http_options){0}, "http", "LocalHost");
    for (int i = 0; i < 2; i++) { /* localhost may be ::1 first, where no socket listens */
        a = call_once(&w);
        expect_ok(&a, "hi");
    }
    close_world(&w);
}
END_TEST

START_TEST(send_to_an_ipv6_address_succeeds)
{
    static const struct peer_step *const scripts[] = {serve_hi};
    const struct peer_options peer_options = {.scripts = scripts, .count = 1, .ipv6 = true};
    struct peer *peer = peer_open(&peer_options);
    struct world w;
    struct answer a;
    char url[64], got[REQUEST_MAX], want[64];

    (void)snprintf(url, sizeof url, "http://[::1]:%u", peer_port(peer));
    open_at(&w, NULL, 0, (struct writ_http_options){.url = writ_view_str(url)}, "", "");
    a = call_once(&w);
    expect_ok(&a, "hi");
    peer_last(peer, got, sizeof got);
    (void)snprintf(want, sizeof want, "host: [::1]:%u\r\n", peer_port(peer));
    ck_assert_ptr_nonnull(strstr(got, want));
    close_world(&w);
    peer_close(peer);
}
END_TEST

/* ---- deadlines */

START_TEST(deadlines_have_their_own_reasons)
{
    static const struct peer_step no_head[] = {PEER_DO(READ), PEER_DO(HANG)};
    static const struct peer_step half_head[] = {PEER_DO(READ), PEER_SAY(SEND, OK), PEER_DO(HANG)};
    static const struct peer_step stalls[] = {
        PEER_DO(READ), PEER_SAY(SEND, OK "Content-Length: 9\r\n\r\nhi"), PEER_DO(HANG)};
    static const struct {
        const struct peer_step *script;
        int64_t head_us, idle_us, total_us;
        enum writ_http_reason reason;
    } cases[] = {
        {no_head, 30 * MS, 0, 0, WRIT_HTTP_HEAD_TIMEOUT},
        {half_head, 30 * MS, 0, 0, WRIT_HTTP_HEAD_TIMEOUT},
        {stalls, 10000 * MS, 30 * MS, 0, WRIT_HTTP_IDLE_TIMEOUT},
        {no_head, 10000 * MS, 10000 * MS, 400 * MS, WRIT_HTTP_TOTAL_TIMEOUT},
        {stalls, 10000 * MS, 10000 * MS, 400 * MS, WRIT_HTTP_TOTAL_TIMEOUT},
        {no_head, 0, 0, 400 * MS, WRIT_HTTP_TOTAL_TIMEOUT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        struct answer a = {0};
        struct writ_http_request request = request_of("POST", "{}");
        open_world(&w, cases[i].script);
        request.head_us = cases[i].head_us;
        request.idle_us = cases[i].idle_us;
        request.total_us = cases[i].total_us;
        send_request(&w, &a, &request);
        run(&w);
        expect_end(&a, cases[i].reason, WRIT_HTTP_SENT);
        ck_assert_uint_eq(writ_http_client_stats(w.client).open, 0);
        wipe(&a);
        close_world(&w);
    }
}
END_TEST

START_TEST(send_without_a_connection_in_time_reports_not_sent)
{
    static const struct peer_step holds[] = {PEER_DO(READ), PEER_DO(HANG)};
    struct world w;
    struct answer a = {0}, b = {0}, c = {0};
    struct writ_http_request request = request_of("POST", "{}");

    open_with(&w, holds, (struct writ_http_options){.connections_max = 1, .connect_us = 60 * MS});
    request.total_us = 200 * MS;
    send_request(&w, &a, &request);
    send_request(&w, &b, &request);
    request.total_us = 20 * MS;
    send_request(&w, &c, &request);
    run(&w);
    expect_end(&a, WRIT_HTTP_TOTAL_TIMEOUT, WRIT_HTTP_SENT);
    expect_end(&b, WRIT_HTTP_CONNECT_TIMEOUT, WRIT_HTTP_NOT_SENT);
    expect_end(&c, WRIT_HTTP_TOTAL_TIMEOUT, WRIT_HTTP_NOT_SENT);
    close_world(&w);
}
END_TEST

static void
expire(struct writ_timer *timer)
{
    writ_http_client_expire(timer->ctx);
}

START_TEST(expire_ends_the_time_of_every_call)
{
    static const struct peer_step holds[] = {PEER_DO(READ), PEER_DO(HANG)};
    struct world w;
    struct answer a = {0}, b = {0};
    struct writ_http_request request = request_of("POST", "{}");
    struct writ_timer timer = {.fn = expire};

    open_with(&w, holds, (struct writ_http_options){.connections_max = 1});
    timer.ctx = w.client;
    send_request(&w, &a, &request);
    send_request(&w, &b, &request);
    writ_loop_timer_set(w.loop, &timer, writ_loop_now_us(w.loop) + 100 * MS);
    run(&w);
    expect_end(&a, WRIT_HTTP_TOTAL_TIMEOUT, WRIT_HTTP_SENT);
    expect_end(&b, WRIT_HTTP_TOTAL_TIMEOUT, WRIT_HTTP_NOT_SENT);
    ck_assert_uint_eq(writ_http_client_stats(w.client).open, 0);
    close_world(&w);
}
END_TEST

/* ---- flow control */

START_TEST(pause_holds_the_body_and_loses_no_byte)
{
    static const struct peer_step lengths[] = {PEER_DO(READ),
        PEER_SAY(SEND, OK "Content-Length: 4000000\r\n\r\n"), PEER_COUNT(FILL, 4000000),
        PEER_DO(AGAIN)};
    static const struct peer_step chunks[] = {PEER_DO(READ), PEER_SAY(SEND, CHUNKED),
        PEER_SAY(SEND, "1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n"), PEER_DO(AGAIN)};
    static const struct peer_step until_end[] = {
        PEER_DO(READ), PEER_SAY(SEND, OK "\r\n"), PEER_COUNT(FILL, 300000), PEER_DO(END)};
    static const struct {
        const struct peer_step *script;
        size_t len;
    } cases[] = {{lengths, 4000000}, {chunks, 6}, {until_end, 300000}};

    for (size_t i = 0; i < 3; i++) {
        struct world w;
        struct answer a = {.pause_in_head = true, .pause_in_body = true};
        open_world(&w, cases[i].script);
        post(&w, &a);
        run(&w);
        expect_end(&a, WRIT_HTTP_OK, WRIT_HTTP_SENT);
        ck_assert_uint_eq(a.body.len, cases[i].len);
        ck_assert_uint_gt(a.bodies, 1);
        ck_assert_uint_eq(writ_http_client_stats(w.client).idle, i == 2 ? 0 : 1);
        wipe(&a);
        close_world(&w);
    }
}
END_TEST

START_TEST(pause_counts_for_the_total_time_and_not_as_idle)
{
    static const struct peer_step script[] = {PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(AGAIN)};

    for (int i = 0; i < 2; i++) {
        struct world w;
        struct answer a = {.pause_in_head = true, .resume_us = i == 0 ? 20 * MS : WATCHDOG_US};
        struct writ_http_request request = request_of("POST", "{}");
        open_world(&w, script);
        request.idle_us = 5 * MS; /* resumed after 20 ms */
        request.total_us = i == 0 ? 10000 * MS : 400 * MS;
        send_request(&w, &a, &request);
        run(&w);
        expect_end(&a, i == 0 ? WRIT_HTTP_OK : WRIT_HTTP_TOTAL_TIMEOUT, WRIT_HTTP_SENT);
        wipe(&a);
        close_world(&w);
    }
}
END_TEST

START_TEST(stream_arrives_in_its_pieces)
{
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND, OK "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"),
        PEER_DO(WAIT), PEER_SAY(SEND, "9\r\ndata: 1\n\n\r\n"), PEER_DO(WAIT),
        PEER_SAY(SEND, "9\r\ndata: 2\n\n\r\n0\r\n\r\n"), PEER_DO(AGAIN)};
    struct world w;
    struct answer a = {0};
    struct writ_http_request request = request_of("POST", "{}");

    open_world(&w, script);
    request.body_max = WRIT_HTTP_UNLIMITED;
    send_request(&w, &a, &request);
    while (a.heads == 0) {
        run_for(&w, 5 * MS);
    }
    ck_assert_uint_eq(a.body.len, 0);
    peer_go(w.peer);
    while (a.body.len == 0) {
        run_for(&w, 5 * MS);
    }
    ck_assert_view(writ_buf_view(&a.body), "data: 1\n\n");
    ck_assert(!a.ended);
    peer_go(w.peer);
    run(&w);
    expect_ok(&a, "data: 1\n\ndata: 2\n\n");
    close_world(&w);
}
END_TEST

/* ---- cancel */

START_TEST(cancel_ends_the_call_once_and_closes_its_connection)
{
    static const struct peer_step script[] = {
        PEER_DO(READ), PEER_SAY(SEND, OK "Content-Length: 9\r\n\r\nhi"), PEER_DO(HANG)};

    for (int i = 0; i < 3; i++) {
        struct world w;
        struct answer a = {.cancel_in_head = i == 0, .cancel_in_body = i == 1};
        open_world(&w, script);
        post(&w, &a);
        if (i == 2) {
            writ_http_client_cancel(a.call); /* before there is a connection */
            ck_assert(!a.ended);
        }
        run(&w);
        expect_end(&a, WRIT_HTTP_CANCELLED, i == 2 ? WRIT_HTTP_NOT_SENT : WRIT_HTTP_SENT);
        ck_assert_uint_eq(a.bodies, i == 1 ? 1 : 0);
        ck_assert_uint_eq(writ_http_client_stats(w.client).active, 0);
        wipe(&a);
        close_world(&w);
    }
}
END_TEST

START_TEST(closing_the_client_ends_every_call)
{
    static const struct peer_step holds[] = {PEER_DO(READ), PEER_DO(HANG)};
    struct world w;
    struct answer a = {0}, b = {0};

    open_with(&w, holds, (struct writ_http_options){.connections_max = 1});
    post(&w, &a);
    post(&w, &b);
    while (!writ_http_client_is_sent(a.call)) {
        run_for(&w, 5 * MS);
    }
    close_world(&w);
    expect_end(&a, WRIT_HTTP_CANCELLED, WRIT_HTTP_SENT);
    expect_end(&b, WRIT_HTTP_CANCELLED, WRIT_HTTP_NOT_SENT);
}
END_TEST

/* ---- large requests */

START_TEST(send_of_a_large_request_waits_for_the_socket)
{
    static char body[1000001];
    struct world w;
    struct answer a = {0};
    struct writ_http_request request;

    memset(body, 'b', sizeof body - 1);
    request = request_of("POST", body);
    open_world(&w, serve_hi);
    send_request(&w, &a, &request);
    run(&w);
    expect_ok(&a, "hi");
    close_world(&w);
}
END_TEST

START_TEST(early_answer_is_delivered_and_ends_the_connection)
{
    static char body[8000001];
    static const struct peer_step early[] = {
        PEER_SAY(SEND, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), PEER_DO(WAIT),
        PEER_DO(RESET)};
    struct world w;
    struct answer a = {0};
    struct writ_http_request request;

    memset(body, 'b', sizeof body - 1);
    request = request_of("POST", body);
    open_world(&w, early);
    send_request(&w, &a, &request);
    run(&w);
    expect_end(&a, WRIT_HTTP_OK, WRIT_HTTP_SENT);
    ck_assert_uint_eq(a.status, 413);
    run_for(&w, 1 * MS);
    ck_assert_uint_eq(writ_http_client_stats(w.client).open, 0);
    wipe(&a);
    close_world(&w);
}
END_TEST

START_TEST(send_broken_while_writing_reports_sent)
{
    static char body[8000001];
    static const struct peer_step resets[] = {PEER_DO(WAIT), PEER_DO(RESET)};
    struct world w;
    struct answer a = {0};
    struct writ_http_request request;

    memset(body, 'b', sizeof body - 1);
    request = request_of("POST", body);
    open_world(&w, resets);
    send_request(&w, &a, &request);
    while (!writ_http_client_is_sent(a.call)) {
        run_for(&w, 5 * MS);
    }
    peer_go(w.peer);
    run(&w);
    ck_assert_int_eq(a.end.sent, WRIT_HTTP_SENT);
    ck_assert(a.end.reason == WRIT_HTTP_WRITE_FAILED || a.end.reason == WRIT_HTTP_CLOSED_EARLY);
    ck_assert_uint_eq(peer_connections(w.peer), 1);
    wipe(&a);
    close_world(&w);
}
END_TEST

/* ---- permitted requests */

START_TEST(send_of_a_request_that_breaks_framing_is_refused)
{
    static const struct {
        const char *method, *target, *name;
        struct writ_view value;
    } bads[] = {
        {"", "/", "a", WRIT_LIT("b")},
        {"PO ST", "/", "a", WRIT_LIT("b")},
        {"POST\r\n", "/", "a", WRIT_LIT("b")},
        {"POST", "", "a", WRIT_LIT("b")},
        {"POST", "http://evil/", "a", WRIT_LIT("b")},
        {"POST", "/ HTTP/1.1\r\nX:", "a", WRIT_LIT("b")},
        {"POST", "/\x80", "a", WRIT_LIT("b")},
        {"POST", "/", "", WRIT_LIT("b")},
        {"POST", "/", "a b", WRIT_LIT("b")},
        {"POST", "/", "a:", WRIT_LIT("b")},
        {"POST", "/", "a", WRIT_LIT("b\r\nc: d")},
        {"POST", "/", "a", WRIT_LIT("b\nc: d")},
        {"POST", "/", "a", WRIT_LIT("b\0c")},
        {"POST", "/", "Host", WRIT_LIT("evil")},
        {"POST", "/", "content-LENGTH", WRIT_LIT("0")},
        {"POST", "/", "Transfer-Encoding", WRIT_LIT("chunked")},
        {"POST", "/", "Connection", WRIT_LIT("close")},
        {"POST", "/", "Upgrade", WRIT_LIT("h2c")},
        {"POST", "/", "TE", WRIT_LIT("trailers")},
        {"POST", "/", "Expect", WRIT_LIT("100-continue")},
        {"POST", "/", "Proxy-Authorization", WRIT_LIT("x")},
    };
    struct world w;
    struct writ_http_call *untouched = NULL;

    open_world(&w, serve_hi);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        const struct writ_header field = {writ_view_str(bads[i].name), bads[i].value};
        struct writ_http_request request = request_of(bads[i].method, "");
        struct writ_err err = {0};
        writ_result r;
        request.target = writ_view_str(bads[i].target);
        request.fields = &field;
        request.count = 1;
        r = writ_http_client_send(w.client, &request, &handler, NULL, &untouched, &err);
        ck_assert_msg(r.code == WRIT_E_INVALID, "request %zu", i);
        ck_assert_ptr_null(untouched);
        ck_assert_str_ne(err.text, "");
    }
    ck_assert_uint_eq(peer_connections(w.peer), 0);
    close_world(&w);
}
END_TEST

START_TEST(send_limits_the_request_head)
{
    struct world w;
    writ_auto_buf value = writ_buf_make(WRIT_HTTP_REQUEST_HEAD_MAX);
    struct writ_http_request request = request_of("GET", "");
    struct writ_header field = {WRIT_LIT("a"), WRIT_LIT("")};
    struct answer a = {0};
    struct writ_http_call *untouched = NULL;
    char host[32];
    size_t fixed;

    open_world(&w, serve_hi);
    fixed = (size_t)snprintf(host, sizeof host, "127.0.0.1:%u", peer_port(w.peer)) +
            sizeof "GET /mcp?a=1 HTTP/1.1\r\nhost: \r\na: \r\n\r\n" - 1;
    while (value.len < WRIT_HTTP_REQUEST_HEAD_MAX - fixed) {
        writ_buf_byte(&value, 'v');
    }
    request.fields = &field;
    request.count = 1;
    field.value = writ_buf_view(&value);
    send_request(&w, &a, &request);
    run(&w);
    expect_ok(&a, "hi");
    writ_buf_byte(&value, 'v');
    field.value = writ_buf_view(&value);
    ck_assert_code(
        writ_http_client_send(w.client, &request, &handler, NULL, &untouched, NULL), WRIT_E_LIMIT);
    ck_assert_ptr_null(untouched);
    close_world(&w);
}
END_TEST

START_TEST(client_open_of_a_malformed_url_is_refused)
{
    static const struct {
        const char *url, *host, *field;
        unsigned port;
        bool secure;
    } goods[] = {
        {"http://a", "a", "a", 80, false},
        {"http://a/mcp?x#y", "a", "a", 80, false},
        {"http://A.Example:80/", "a.example", "a.example", 80, false},
        {"https://a:443", "a", "a", 443, true},
        {"https://a:8443/x:y", "a", "a:8443", 8443, true},
        {"http://127.0.0.1:65535", "127.0.0.1", "127.0.0.1:65535", 65535, false},
        {"http://[::1]:8080/", "::1", "[::1]:8080", 8080, false},
        {"https://[2001:DB8::1]", "2001:db8::1", "[2001:db8::1]", 443, true},
    };
    static const char *const bads[] = {"", "a", "ftp://a", "HTTP://a", "http:/a", "http://",
        "http:///x", "http://:80", "http://u@a", "http://u:p@a", "http://a:", "http://a:0",
        "http://a:65536", "http://a:+1", "http://a:8 0", "http://a b", "http://a\r\nb",
        "http://[::1", "http://::1", "http://[::1]x", "http://[zz]", "http://[1.2.3.4.5]",
        "http://a%00b"};

    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        struct writ_http_origin origin;
        ck_assert_ok(writ_http_request_origin(writ_view_str(goods[i].url), &origin, NULL));
        ck_assert_str_eq(origin.host, goods[i].host);
        ck_assert_str_eq(origin.field, goods[i].field);
        ck_assert_uint_eq(origin.port, goods[i].port);
        ck_assert_int_eq(origin.secure, goods[i].secure);
    }
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct writ_http_origin origin = {.port = 7};
        writ_result r = writ_http_request_origin(writ_view_str(bads[i]), &origin, NULL);
        ck_assert_msg(r.code == WRIT_E_INVALID, "%s", bads[i]);
        ck_assert_uint_eq(origin.port, 7);
    }
}
END_TEST

/* ---- TLS */

struct tls_case {
    const char *names; /* in the server's certificate */
    const char *host;  /* the client's requests */
    bool own_ca;       /* the client trusts the CA of the test */
    enum writ_http_reason reason;
};

static void
open_tls_world(struct world *w, const struct peer_step *script, const struct certs *certs,
    const char *client_ca, const char *host, struct writ_http_options options)
{
    const struct peer_step *const scripts[] = {script};
    struct peer_options peer_options = {.scripts = scripts,
        .count = 1,
        .cert_file = certs->cert,
        .key_file = certs->key,
        .client_ca_file = client_ca};
    struct peer *peer = peer_open(&peer_options);
    char url[128];

    (void)snprintf(url, sizeof url, "https://%s:%u", host, peer_port(peer));
    options.url = writ_view_str(url);
    open_at(w, NULL, 0, options, "", "");
    w->peer = peer;
}

START_TEST(tls_verifies_the_issuer_and_the_name)
{
    static const struct tls_case cases[] = {
        {"DNS:localhost", "localhost", true, WRIT_HTTP_OK},
        {"IP:127.0.0.1", "127.0.0.1", true, WRIT_HTTP_OK},
        {"DNS:localhost", "localhost", false, WRIT_HTTP_TLS_FAILED},
        {"DNS:elsewhere", "localhost", true, WRIT_HTTP_TLS_FAILED},
        {"DNS:localhost", "127.0.0.1", true, WRIT_HTTP_TLS_FAILED},
        {"DNS:127.0.0.1", "127.0.0.1", true, WRIT_HTTP_TLS_FAILED},
        {"DNS:l*", "localhost", true, WRIT_HTTP_TLS_FAILED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct certs certs;
        struct world w;
        certs_make(&certs, cases[i].names);
        open_tls_world(&w, serve_hi, &certs, NULL, cases[i].host,
            (struct writ_http_options){.ca_file = cases[i].own_ca ? certs.ca : NULL});
        for (int k = 0; k < 3; k++) {
            struct answer a = call_once(&w);
            if (cases[i].reason == WRIT_HTTP_OK) {
                expect_ok(&a, "hi");
            } else {
                expect_end(&a, cases[i].reason, WRIT_HTTP_NOT_SENT);
            }
        }
        ck_assert_uint_eq(peer_requests(w.peer), cases[i].reason == WRIT_HTTP_OK ? 3 : 0);
        ck_assert_uint_eq(
            writ_http_client_stats(w.client).reused, cases[i].reason == WRIT_HTTP_OK ? 2 : 0);
        close_world(&w);
        certs_remove(&certs);
    }
}
END_TEST

START_TEST(tls_carries_large_bodies_both_ways_and_pauses)
{
    static char body[300001];
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND, OK "Content-Length: 1000000\r\n\r\n"), PEER_COUNT(FILL, 1000000),
        PEER_DO(AGAIN)};
    struct certs certs;
    struct world w;
    struct writ_http_request request;

    memset(body, 'b', sizeof body - 1);
    request = request_of("POST", body);
    certs_make(&certs, "DNS:localhost");
    open_tls_world(
        &w, script, &certs, NULL, "localhost", (struct writ_http_options){.ca_file = certs.ca});
    for (int i = 0; i < 2; i++) {
        struct answer a = {.pause_in_head = true, .pause_in_body = i == 1};
        send_request(&w, &a, &request);
        run(&w);
        expect_end(&a, WRIT_HTTP_OK, WRIT_HTTP_SENT);
        ck_assert_uint_eq(a.body.len, 1000000);
        wipe(&a);
    }
    ck_assert_uint_eq(peer_connections(w.peer), 1);
    close_world(&w);
    certs_remove(&certs);
}
END_TEST

START_TEST(tls_shows_a_client_certificate_and_resumes_sessions)
{
    static const struct peer_step once[] = {PEER_DO(READ), PEER_SAY(SEND, HI), PEER_DO(END)};
    struct certs certs;
    struct world w;

    certs_make(&certs, "DNS:localhost");
    for (int i = 0; i < 2; i++) {
        open_tls_world(&w, once, &certs, certs.ca, "localhost",
            (struct writ_http_options){.ca_file = certs.ca,
                .cert_file = i == 0 ? certs.client_cert : NULL,
                .key_file = i == 0 ? certs.client_key : NULL});
        for (int k = 0; k < 3; k++) {
            struct answer a = call_once(&w);
            if (i == 0) {
                expect_ok(&a, "hi");
            } else { /* under TLS 1.3 the refusal comes after our first bytes */
                ck_assert_int_ne(a.end.reason, WRIT_HTTP_OK);
                ck_assert_uint_eq(peer_requests(w.peer), 0);
            }
            run_for(&w, 20 * MS);
        }
        close_world(&w);
    }
    certs_remove(&certs);
}
END_TEST

START_TEST(tls_stream_cut_without_a_close_fails)
{
    static const struct peer_step cut[] = {
        PEER_DO(READ), PEER_SAY(SEND, OK "\r\nhi"), PEER_DO(SHUT), PEER_DO(HANG)};
    struct certs certs;
    struct world w;
    struct answer a;

    certs_make(&certs, "DNS:localhost");
    open_tls_world(
        &w, cut, &certs, NULL, "localhost", (struct writ_http_options){.ca_file = certs.ca});
    a = call_once(&w);
    expect_end(&a, WRIT_HTTP_CLOSED_EARLY, WRIT_HTTP_SENT); /* no close_notify */
    wipe(&a);
    close_world(&w);
    certs_remove(&certs);
}
END_TEST

START_TEST(server_without_tls_gets_no_request)
{
    static const struct peer_step babbles[] = {PEER_SAY(SEND, HI), PEER_DO(HANG)};
    static const struct peer_step silent[] = {PEER_DO(HANG)};
    static const struct {
        const struct peer_step *script;
        enum writ_http_reason reason;
    } cases[] = {{babbles, WRIT_HTTP_TLS_FAILED}, {silent, WRIT_HTTP_CONNECT_TIMEOUT}};

    for (size_t i = 0; i < 2; i++) {
        const struct peer_step *const scripts[] = {cases[i].script};
        struct world w;
        struct answer a;
        open_at(&w, scripts, 1, (struct writ_http_options){.connect_us = 100 * MS}, "https",
            "127.0.0.1");
        a = call_once(&w);
        expect_end(&a, cases[i].reason, WRIT_HTTP_NOT_SENT);
        close_world(&w);
    }
}
END_TEST

START_TEST(client_open_with_unreadable_certificates_fails)
{
    struct world w;
    struct certs certs;
    struct writ_http_client *client = NULL;
    struct writ_http_options options = {
        .url = WRIT_LIT("https://localhost"), .ca_file = "/nowhere"};

    certs_make(&certs, "DNS:localhost");
    open_world(&w, serve_hi);
    ck_assert_code(
        writ_http_client_open(w.loop, w.resolver, &options, &client, NULL), WRIT_E_CRYPTO);
    options.ca_file = certs.ca;
    options.cert_file = certs.cert;
    ck_assert_code(
        writ_http_client_open(w.loop, w.resolver, &options, &client, NULL), WRIT_E_CRYPTO);
    options.key_file = certs.client_key; /* of another certificate */
    ck_assert_code(
        writ_http_client_open(w.loop, w.resolver, &options, &client, NULL), WRIT_E_CRYPTO);
    ck_assert_ptr_null(client);
    close_world(&w);
    certs_remove(&certs);
}
END_TEST

/* ---- everything at once */

#define MIX_CALLS   400
#define MIX_SCRIPTS 16

static int mix_seen[MIX_CALLS];

static void
note_request(void *ctx, const char *request)
{
    const char *body = strstr(request, "\r\n\r\n");

    (void)ctx;
    ck_assert_ptr_nonnull(body);
    mix_seen[strtol(body + 4, NULL, 10)]++;
}

START_TEST(each_call_under_random_faults_ends_once_and_is_sent_at_most_once)
{
    static struct answer a[MIX_CALLS];
    static char bodies[MIX_CALLS][16];

    for (unsigned seed = 1; seed <= 5; seed++) {
        const struct peer_step *scripts[MIX_SCRIPTS];
        struct peer_options peer_options = {
            .scripts = scripts, .count = MIX_SCRIPTS, .on_request = note_request};
        struct writ_http_options options = {.connections_max = 8, .connect_us = 20000 * MS};
        struct world w;
        char url[64];
        unsigned dice = seed;

        for (size_t i = 0; i < MIX_SCRIPTS; i++) { /* the last one serves the rest */
            dice = dice * 1103515245U + 12345U;
            scripts[i] = i < MIX_SCRIPTS - 1 ? replies[(dice >> 16) % 19].steps : serve_hi;
        }
        memset(mix_seen, 0, sizeof mix_seen);
        struct peer *peer = peer_open(&peer_options);
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", peer_port(peer));
        options.url = writ_view_str(url);
        open_at(&w, NULL, 0, options, "", "");
        for (int i = 0; i < MIX_CALLS; i++) {
            struct writ_http_request request;
            (void)snprintf(bodies[i], sizeof bodies[i], "%d", i);
            request = request_of("POST", bodies[i]);
            dice = dice * 1103515245U + 12345U;
            a[i] = (struct answer){.cancel_in_head = (dice >> 16) % 11 == 0,
                .cancel_in_body = (dice >> 16) % 7 == 0,
                .pause_in_body = (dice >> 16) % 5 == 0,
                .resume_us = 1};
            send_request(&w, &a[i], &request);
            if ((dice >> 16) % 13 == 0) {
                writ_http_client_cancel(a[i].call);
            }
            if ((dice >> 16) % 17 == 0) {
                run_for(&w, 1 * MS);
            }
        }
        run(&w);
        close_world(&w);
        peer_close(peer);
        for (int i = 0; i < MIX_CALLS; i++) {
            ck_assert(a[i].ended);
            ck_assert_int_le(mix_seen[i], a[i].end.sent == WRIT_HTTP_NOT_SENT ? 0 : 1);
            ck_assert_int_ge(mix_seen[i], a[i].end.reason == WRIT_HTTP_OK ? 1 : 0);
            wipe(&a[i]);
        }
    }
}
END_TEST

/* ---- out of everything */

START_TEST(send_without_descriptors_fails_until_some_are_free)
{
    struct world w;
    struct rlimit before, none;
    struct answer a;

    open_world(&w, serve_hi);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    a = call_once(&w);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect_end(&a, WRIT_HTTP_NO_RESOURCES, WRIT_HTTP_NOT_SENT);
    a = call_once(&w);
    expect_ok(&a, "hi");
    close_world(&w);
}
END_TEST

START_TEST(send_with_a_failed_allocation_fails_or_gives_the_same_answer)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct world w;
        struct answer a = {.pause_in_body = true};
        struct writ_http_request request = request_of("POST", "{}");
        writ_result r;
        open_world(&w, serve_hi);
        a.world = &w;
        a.body = writ_buf_make(BODY_MAX);
        a.resume = (struct writ_timer){.fn = on_resume, .ctx = &a};
        writ_buf_reserve(&a.body, 100);
        writ_fault_arm(nth);
        r = writ_http_client_send(w.client, &request, &handler, &a, &a.call, NULL);
        if (writ_is_ok(r)) {
            w.pending++;
            run(&w);
        }
        reached = writ_fault_disarm();
        if (!writ_is_ok(r)) {
            ck_assert_int_eq(r.code, WRIT_E_NOMEM);
            ck_assert_uint_eq(peer_requests(w.peer), 0);
        } else if (a.end.reason != WRIT_HTTP_OK) {
            ck_assert_int_eq(a.end.reason, WRIT_HTTP_NO_RESOURCES);
        } else {
            expect_ok(&a, "hi");
        }
        wipe(&a);
        close_world(&w);
    }
}
END_TEST

WRIT_UNIT_MAIN("http_client", request_is_framed_by_the_client_and_answered,
    send_reuses_a_connection_and_repeats_no_request, send_asks_for_permission_before_the_first_byte,
    calls_beyond_the_connections_wait_for_one,
    send_with_fresh_us_takes_no_connection_that_was_idle_for_longer,
    idle_connection_is_closed_at_the_time_of_its_server, send_to_a_full_queue_is_refused,
    each_framing_of_an_answer_ends_its_call_once,
    statuses_and_methods_without_a_body_keep_the_connection,
    send_on_a_dead_pooled_connection_uses_another,
    send_on_a_connection_closed_a_moment_ago_uses_another,
    send_on_a_reused_connection_that_breaks_later_is_not_retried,
    idle_connection_is_closed_after_its_time, idle_connections_above_the_limit_are_closed,
    send_to_a_closed_port_reports_not_sent, send_to_an_unknown_name_reports_not_sent,
    send_resolves_a_name_once_and_tries_all_addresses, send_to_an_ipv6_address_succeeds,
    deadlines_have_their_own_reasons, send_without_a_connection_in_time_reports_not_sent,
    expire_ends_the_time_of_every_call, pause_holds_the_body_and_loses_no_byte,
    pause_counts_for_the_total_time_and_not_as_idle, stream_arrives_in_its_pieces,
    cancel_ends_the_call_once_and_closes_its_connection, closing_the_client_ends_every_call,
    send_of_a_large_request_waits_for_the_socket, early_answer_is_delivered_and_ends_the_connection,
    send_broken_while_writing_reports_sent, send_of_a_request_that_breaks_framing_is_refused,
    send_limits_the_request_head, client_open_of_a_malformed_url_is_refused,
    tls_verifies_the_issuer_and_the_name, tls_carries_large_bodies_both_ways_and_pauses,
    tls_shows_a_client_certificate_and_resumes_sessions, tls_stream_cut_without_a_close_fails,
    server_without_tls_gets_no_request, client_open_with_unreadable_certificates_fails,
    each_call_under_random_faults_ends_once_and_is_sent_at_most_once,
    send_without_descriptors_fails_until_some_are_free,
    send_with_a_failed_allocation_fails_or_gives_the_same_answer)
