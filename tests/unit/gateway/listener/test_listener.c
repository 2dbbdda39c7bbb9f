/* The HTTP listener end to end, over sockets. Requests are answered in order, bad framing gets one
 * answer and is read no further, limits and time-outs hold, and draining finishes the requests
 * that began. */
#include "support/unit.h"

#include "evidence/record/reason.h"
#include "gateway/listener/connection.h"
#include "gateway/listener/incoming.h"
#include "support/gateway/echo.h"
#include "support/gateway/exposition.h"
#include "support/gateway/raw.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_MAX (8U << 20)
#define HOST       "Host: localhost\r\n"
#define JSON       "Content-Type: application/json\r\n"
#define POST       "POST /t/echo HTTP/1.1\r\n" HOST JSON
#define GET        "GET /t/ok HTTP/1.1\r\n" HOST "\r\n"
#define WATCH      "POST /t/watch/0 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"
#define HOLD       "POST /t/hold HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"

static const struct writ_listener_options standard = {0};

/* A kernel that does not count received bytes, and always has some that wait: these take the place
 * of the functions of the C library. */
static atomic_bool kernel_is_poor;
static atomic_uint poor_answers;

int
getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    if (level == IPPROTO_TCP && name == TCP_INFO && atomic_load(&kernel_is_poor)) {
        *len = 0;
        atomic_fetch_add(&poor_answers, 1);
        return 0;
    }
    return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
}

int
ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    int *value;

    va_start(args, request);
    value = va_arg(args, int *);
    va_end(args);
    if (request == FIONREAD && atomic_load(&kernel_is_poor)) {
        *value = 100;
        return 0;
    }
    return (int)syscall(SYS_ioctl, fd, request, value);
}

static int64_t
now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* Waits for something that another thread does. */
#define WAIT_FOR(condition)                                                                        \
    do {                                                                                           \
        int64_t until_ = now_ms() + RAW_WAIT_MS;                                                   \
        while (!(condition) && now_ms() < until_) {                                                \
            pause_ms(5);                                                                           \
        }                                                                                          \
        ck_assert_msg((condition), "%s", #condition);                                              \
    } while (0)

static bool
contains(const struct writ_buf *buf, const char *what)
{
    return writ_view_search(writ_buf_view(buf), writ_view_str(what)) < buf->len;
}

static int64_t
gauge(const struct echo *echo, enum writ_gauge which)
{
    return writ_metrics_gauge_sum(echo->metrics, which);
}

static uint64_t
counter(const struct echo *echo, enum writ_counter which)
{
    return writ_metrics_counter_sum(echo->metrics, which);
}

/* ---- requests and answers */

START_TEST(connection_serves_requests_in_sequence)
{
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));

    for (int i = 0; i < 5; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        ck_assert(raw_text(fd, POST "Content-Length: 7\r\n\r\n{\"a\":1}"));
        ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
        ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 200);
        ck_assert(writ_view_has_suffix(writ_buf_view(&got), WRIT_LIT("\r\n\r\n{\"a\":1}")));
        ck_assert(contains(&got, "Content-Type: application/json\r\n"));
    }
    ck_assert_uint_eq(counter(echo, WRIT_COUNTER_CONNECTIONS), 1);
    ck_assert_uint_eq(counter(echo, WRIT_COUNTER_REQUESTS), 5);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order)
{
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
    struct writ_view rest;

    for (int i = 0; i < 100; i++) {
        /* every third waits, so that a later one could overtake it */
        writ_buf_fmt(&sent, "POST /t/%s HTTP/1.1\r\n" HOST JSON "Content-Length: 5\r\n\r\n\"%03d\"",
            i % 3 == 0 ? "delay/2" : "echo", i);
    }
    ck_assert(raw_send(fd, writ_buf_view(&sent)));
    ck_assert_uint_eq(raw_responses(fd, 100, &got), 100);
    rest = writ_buf_view(&got);
    for (int i = 0; i < 100; i++) {
        size_t body = writ_view_search(rest, WRIT_LIT("\r\n\r\n\"")) + 5;
        char number[8];
        (void)snprintf(number, sizeof number, "%03d", i);
        ck_assert_view(writ_view_sub(rest, body, 3), number);
        rest = writ_view_sub(rest, body + 4, rest.len);
    }
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(request_in_any_pieces_is_answered)
{
    static const char whole[] = POST "Transfer-Encoding: chunked\r\n\r\n"
                                     "3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n";
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        ck_assert(raw_send(fd, writ_view(&whole[i], 1)));
    }
    ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
    ck_assert(writ_view_has_suffix(writ_buf_view(&got), WRIT_LIT("\r\n\r\n{\"a\":1}")));
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(bodies_of_every_size_come_back_whole)
{
    static const size_t sizes[] = {1, 1000, 8191, 16384, 65536, 65537, 500000, 1U << 20};
    struct echo *echo = echo_start(1, standard);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        int fd = raw_connect(echo_port(echo));
        size_t head;

        writ_buf_fmt(&sent, POST "Content-Length: %zu\r\n\r\n", sizes[i]);
        head = sent.len;
        for (size_t n = 0; n < sizes[i]; n++) {
            writ_buf_byte(&sent, (char)('a' + n % 26));
        }
        ck_assert(raw_send(fd, writ_buf_view(&sent)));
        ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
        ck_assert(writ_view_has_suffix(
            writ_buf_view(&got), writ_view_sub(writ_buf_view(&sent), head, sizes[i])));
        (void)close(fd);
    }
    echo_stop(echo);
}
END_TEST

START_TEST(http_1_0_is_answered_and_closed)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX), stream = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /t/ok HTTP/1.0\r\n" HOST "\r\n"), &got), 200);
    ck_assert_uint_eq(
        raw_ask(echo_port(echo),
            WRIT_LIT("POST /t/events/2 HTTP/1.0\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"),
            &stream),
        200);
    ck_assert(!contains(&stream, "chunked"));
    ck_assert(
        writ_view_has_suffix(writ_buf_view(&stream), WRIT_LIT("\r\n\r\ndata: 2\n\ndata: 1\n\n")));
    echo_stop(echo);
}
END_TEST

START_TEST(client_that_expects_continue_gets_it)
{
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert(raw_text(fd, POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 100);
    ck_assert(raw_text(fd, "{}"));
    ck_assert_uint_eq(raw_responses(fd, 2, &got), 2);
    ck_assert(contains(&got, "HTTP/1.1 200 OK"));
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(handler_gets_the_head_unchanged)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(raw_ask(echo_port(echo),
                          WRIT_LIT("GET /t/headers?x HTTP/1.1\r\n" HOST
                                   "X-A:  b c \t\r\nx-a: \xc3\xa4\r\nEmpty:\r\n\r\n"),
                          &got),
        200);
    ck_assert(writ_view_has_suffix(
        writ_buf_view(&got), WRIT_LIT("Host=localhost\nX-A=b c\nx-a=\xc3\xa4\nEmpty=\n")));
    echo_stop(echo);
}
END_TEST

START_TEST(answer_field_with_a_line_end_is_not_written)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /t/badheader HTTP/1.1\r\n" HOST "\r\n"), &got), 500);
    ck_assert(!contains(&got, "Set-Cookie"));
    echo_stop(echo);
}
END_TEST

START_TEST(answer_fields_are_limited)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf fits = writ_buf_make(BUFFER_MAX), more = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(raw_ask(echo_port(echo),
                          WRIT_LIT("GET /t/longheader/4096 HTTP/1.1\r\n" HOST "\r\n"), &fits),
        200);
    ck_assert_uint_eq(raw_ask(echo_port(echo),
                          WRIT_LIT("GET /t/longheader/4097 HTTP/1.1\r\n" HOST "\r\n"), &more),
        500);
    echo_stop(echo);
}
END_TEST

/* ---- refused requests */

/* 0 is a close without an answer. After each, a second request follows that must not be served. */
static const struct {
    const char *request;
    unsigned status, or_status;
} refused[] = {
    /* the length of the body */
    {POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Content-Length: 3\r\nContent-Length: 0\r\n\r\n", 400, 400},
    {POST "Content-Length: 0, 3\r\n\r\n", 400, 400},
    {POST "Content-Length : 3\r\n\r\nabc", 400, 400},
    {POST "Content-Length: -1\r\n\r\n", 400, 400},
    {POST "Content-Length: 0x1\r\n\r\n", 400, 400},
    {POST "Content-Length: 4294967297\r\n\r\n", 413, 413},
    {POST "Content-Length: 18446744073709551616\r\n\r\n", 413, 400},
    {POST "Content-Length: 18446744073709551615\r\n\r\n", 413, 413},
    {POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding\v: chunked\r\n\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\n\r\n0\r\n\r\n", 400, 400},
    /* chunks and trailers */
    {POST "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n1_0\r\na\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n1\r\naX\r\n0\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n", 400, 413},
    {POST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: x\r\n\r\n", 400, 400},
    {POST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nMcp-Name: x\r\n\r\n", 400, 400},
    /* the request line */
    {"GET http://localhost/t/ok HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"TRACE /t/ok HTTP/1.1\r\n" HOST "\r\n", 405, 405},
    {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"GET /t/../t/ok HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"GET /%74/ok HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"GET /t/ok\x80 HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"GET  /t/ok HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"GET /t/ok  HTTP/1.1\r\n" HOST "\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1 \r\n" HOST "\r\n", 400, 400},
    {"GET /t/ok\r\n" HOST "\r\n", 400, 0},
    {"GET /t/ok HTTP/2.0\r\n" HOST "\r\n", 505, 505},
    {"GET /t/ok HTTP/1.2\r\n" HOST "\r\n", 505, 505},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, 505},
    {"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n" GET, 400, 0},
    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, 0},
    {"GET /nothing HTTP/1.1\r\n" HOST "\r\n", 404, 404},
    {"POST /healthz HTTP/1.1\r\n" HOST "\r\n", 405, 405},
    /* Host and Origin */
    {"GET /t/ok HTTP/1.1\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST HOST "\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, 403},
    {"GET /t/ok HTTP/1.1\r\nHost: local host\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", 403, 403},
    {"GET /t/ok HTTP/1.1\r\n" HOST "Origin: null\r\n\r\n", 403, 403},
    /* fields */
    {"GET /t/ok HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST "X : a\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST " X: a\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST ": a\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST "no colon\r\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\n" HOST "\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\nHost: localhost\n\r\n", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST "\n", 400, 400},
    /* expectations, types of content, what may appear once */
    {POST "Content-Length: 2\r\nExpect: something\r\n\r\n{}", 417, 417},
    {POST "Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}", 415, 415},
    {"POST /t/echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 415, 415},
    {"POST /t/echo HTTP/1.1\r\n" HOST "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
        415, 415},
    {"POST /t/echo HTTP/1.1\r\n" HOST
     "Content-Type: application/json; charset=utf-16\r\nContent-Length: 2\r\n\r\n{}",
        415, 415},
    {POST "Content-Length: 2\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n{}", 400, 400},
    {POST "Content-Length: 2\r\nMcp-Method: a\r\nMcp-Method: b\r\n\r\n{}", 400, 400},
    {"GET /t/ok HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 400, 400},
};

START_TEST(refused_request_gets_one_answer_and_ends_reading)
{
    struct echo *echo = echo_start(1, standard);

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        unsigned status;

        writ_buf_str(&sent, refused[i].request);
        writ_buf_str(&sent, GET GET);
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == refused[i].status || status == refused[i].or_status, "%u for %s",
            status, refused[i].request);
        ck_assert_msg(raw_count(writ_buf_view(&got)) == (status > 0 ? 1 : 0), "%s: %.*s",
            refused[i].request, (int)got.len, got.ptr);
        ck_assert_msg(
            status == 0 || contains(&got, "Connection: close\r\n"), "%s", refused[i].request);
        ck_assert_msg(atomic_load(&echo->handled) == 0, "%s", refused[i].request);
    }
    echo_stop(echo);
}
END_TEST

START_TEST(request_with_malformed_chunks_is_counted)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT(POST "Transfer-Encoding: chunked\r\n\r\nx\r\n"), &got),
        400);
    WAIT_FOR(writ_metrics_vector_sum(
                 echo->metrics, WRIT_VECTOR_REFUSALS, WRIT_REASON_MALFORMED_HEAD) == 1);
    echo_stop(echo);
}
END_TEST

/* Only the first is a trailer; libmicrohttpd 1.x refuses the others, 0.9.75 takes them for one. */
START_TEST(bytes_behind_a_trailer_are_not_read)
{
    static const char *const trailers[] = {
        "X: y\r\n\r\n", "X: y\r\n:\r\n", "X: y\r\n:\n", "X: y\n: z\r\n", "X: y\r\nZ: z\r\n:z\r\n"};

    for (size_t i = 0; i < sizeof trailers / sizeof trailers[0]; i++) {
        struct echo *echo = echo_start(1, standard);
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        unsigned status;

        writ_buf_fmt(&sent, POST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n%s" GET GET,
            trailers[i]);
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == 200 || (status == 400 && i > 0), "%zu: %u", i, status);
        ck_assert_msg(raw_count(writ_buf_view(&got)) == 1, "%zu: %.*s", i, (int)got.len, got.ptr);
        ck_assert(contains(&got, "Connection: close\r\n"));
        ck_assert_uint_eq(atomic_load(&echo->handled), status == 200 ? 1 : 0);
        echo_stop(echo);
    }
}
END_TEST

START_TEST(head_with_a_nul_at_any_place_is_refused)
{
    static const char whole[] = "GET /t/ok HTTP/1.1\r\nHost: localhost\r\nX: abc\r\n\r\n";
    struct echo *echo = echo_start(1, standard);

    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        unsigned status;

        writ_buf_put(&sent, writ_view(whole, i));
        writ_buf_byte(&sent, '\0');
        writ_buf_put(&sent, writ_view(whole + i, sizeof whole - 1 - i));
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == 0 || (status >= 400 && status <= 505), "%zu: %u", i, status);
    }
    ck_assert_uint_eq(atomic_load(&echo->handled), 0);
    echo_stop(echo);
}
END_TEST

START_TEST(refusal_has_its_reason_as_json_rpc)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX), allow = writ_buf_make(BUFFER_MAX);

    (void)raw_ask(echo_port(echo), WRIT_LIT("GET /t/ok HTTP/1.1\r\nHost: evil\r\n\r\n"), &got);
    ck_assert(contains(&got, "Content-Type: application/json\r\n"));
    ck_assert(contains(&got, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"));
    ck_assert(contains(&got, "\"data\":{\"reason\":\"forbidden_origin\",\"detail\":\"Host: "
                             "allow it with the option hosts (guard: --host)\"}}}"));
    ck_assert_uint_eq(
        writ_metrics_vector_sum(echo->metrics, WRIT_VECTOR_REFUSALS, WRIT_REASON_FORBIDDEN_ORIGIN),
        1);
    (void)raw_ask(echo_port(echo), WRIT_LIT("PUT /t/ok HTTP/1.1\r\n" HOST "\r\n"), &allow);
    ck_assert(contains(&allow, "Allow: GET, POST\r\n"));
    echo_stop(echo);
}
END_TEST

static unsigned
ask_raw_route(const struct echo *echo, size_t bytes, bool chunked)
{
    writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);

    writ_buf_str(&sent, "POST /raw HTTP/1.1\r\n" HOST);
    if (chunked) {
        writ_buf_fmt(&sent, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", bytes);
    } else {
        writ_buf_fmt(&sent, "Content-Length: %zu\r\n\r\n", bytes);
    }
    for (size_t i = 0; i < bytes; i++) {
        writ_buf_byte(&sent, 'x');
    }
    if (chunked) {
        writ_buf_str(&sent, "\r\n0\r\n\r\n");
    }
    return raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
}

START_TEST(body_beyond_the_limit_of_its_route_is_refused)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    int fd;

    ck_assert_uint_eq(ask_raw_route(echo, 100, false), 200);
    ck_assert_uint_eq(ask_raw_route(echo, 101, false), 413);
    ck_assert_uint_eq(ask_raw_route(echo, 100, true), 200);
    ck_assert_uint_eq(ask_raw_route(echo, 101, true), 413);
    ck_assert_uint_eq(ask_raw_route(echo, 300000, true), 413);
    /* the head alone gets the answer, while the client still sends */
    fd = raw_connect(echo_port(echo));
    ck_assert(raw_text(fd, POST "Content-Length: 10000000000\r\n\r\n"));
    for (int i = 0; i < 200; i++) {
        if (!raw_text(fd, "0123456789012345678901234567890123456789")) {
            break;
        }
    }
    ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 413);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(head_above_the_limit_gets_an_error)
{
    struct echo *echo = echo_start(1, (struct writ_listener_options){.max_head_bytes = 4096});

    for (size_t bytes = 3000; bytes <= 100000; bytes = bytes * 2) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        unsigned status;

        writ_buf_str(&sent, "GET /t/ok HTTP/1.1\r\n" HOST "X: ");
        for (size_t i = 0; i < bytes; i++) {
            writ_buf_byte(&sent, 'x');
        }
        writ_buf_str(&sent, "\r\n\r\n");
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == (bytes < 4000 ? 200 : 431), "%u for %zu", status, bytes);
        writ_buf_clear(&sent);
        writ_buf_clear(&got);
        writ_buf_str(&sent, "GET /t/ok?");
        for (size_t i = 0; i < bytes; i++) {
            writ_buf_byte(&sent, 'x');
        }
        writ_buf_str(&sent, " HTTP/1.1\r\n" HOST "\r\n");
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == 414 || status == 431, "%u for %zu", status, bytes);
    }
    echo_stop(echo);
}
END_TEST

/* libmicrohttpd copies cookies, and notes each field, in the memory that the answer's head needs.
 */
START_TEST(head_that_leaves_no_room_for_the_answer_is_refused)
{
    struct echo *echo = echo_start(1, (struct writ_listener_options){.max_head_bytes = 12288});
    size_t given = 0, denied = 0;

    for (size_t bytes = 6000; bytes <= 12000; bytes += 40) {
        for (int many = 0; many <= 1; many++) {
            writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
            unsigned status;

            writ_buf_str(&sent, "GET /t/ok?a&b&c HTTP/1.1\r\n" HOST);
            for (int i = 0; i < 60 * many; i++) {
                writ_buf_str(&sent, "X: y\r\n");
            }
            writ_buf_str(&sent, "Cookie: a=b; c=");
            for (size_t i = 0; i < bytes - 450 * (size_t)many; i++) {
                writ_buf_byte(&sent, 'x');
            }
            writ_buf_str(&sent, "\r\n\r\n");
            status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
            ck_assert_msg(status == 200 || status == 431, "%u for %zu", status, bytes);
            given += status == 200;
            denied += status == 431;
        }
    }
    ck_assert_uint_gt(given, 50);
    ck_assert_uint_gt(denied, 50);
    echo_stop(echo);
}
END_TEST

START_TEST(trailer_that_leaves_no_room_for_the_answer_is_refused)
{
    struct echo *echo = echo_start(1, (struct writ_listener_options){.max_head_bytes = 12288});
    size_t given = 0, denied = 0;

    for (int count = 200; count <= 340; count += 2) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        unsigned status;

        writ_buf_str(&sent, POST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n");
        for (int i = 0; i < count; i++) {
            writ_buf_str(&sent, "a: b\r\n");
        }
        writ_buf_str(&sent, "\r\n");
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == 200 || status == 431, "%u for %d", status, count);
        given += status == 200;
        denied += status == 431;
    }
    ck_assert_uint_gt(given, 5);
    ck_assert_uint_gt(denied, 5);
    echo_stop(echo);
}
END_TEST

START_TEST(many_fields_are_refused)
{
    struct echo *echo = echo_start(1, standard);

    for (int count = 98; count <= 5000; count += count < 101 ? 1 : 4899) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        unsigned status;

        writ_buf_str(&sent, "GET /t/ok HTTP/1.1\r\n" HOST);
        for (int i = 0; i < count; i++) {
            writ_buf_str(&sent, "X: y\r\n");
        }
        writ_buf_str(&sent, "\r\n");
        status = raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
        ck_assert_msg(status == (count <= 99 ? 200 : 431), "%u for %d", status, count);
    }
    echo_stop(echo);
}
END_TEST

/* ---- clients that leave */

START_TEST(half_closed_client_gets_its_answer)
{
    static const char *const paths[] = {"echo", "delay/1", "delay/120", "delay/400"};
    struct echo *echo = echo_start(1, standard);

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        for (int later = 0; later < 2; later++) {
            writ_auto_buf got = writ_buf_make(BUFFER_MAX);
            char request[256];
            int fd = raw_connect(echo_port(echo));

            (void)snprintf(request, sizeof request,
                "POST /t/%s HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}", paths[i]);
            ck_assert(raw_text(fd, request));
            pause_ms(later * 80); /* before, or after the connection was suspended */
            (void)shutdown(fd, SHUT_WR);
            ck_assert(raw_drain(fd, &got));
            ck_assert_msg(raw_status(writ_buf_view(&got)) == 200, "%s %d", paths[i], later);
            (void)close(fd);
        }
    }
    ck_assert_uint_eq(atomic_load(&echo->gone), 0);
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    echo_stop(echo);
}
END_TEST

START_TEST(half_closed_client_gets_every_answer)
{
    struct echo *echo = echo_start(1, standard);

    for (int i = 0; i < 20; i++) {
        writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
        writ_buf_fmt(&sent,
            GET "POST /t/delay/%d HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}" GET, i * 5);
        ck_assert_uint_eq(raw_ask(echo_port(echo), writ_buf_view(&sent), &got), 200);
        ck_assert_uint_eq(raw_count(writ_buf_view(&got)), 3);
    }
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    echo_stop(echo);
}
END_TEST

START_TEST(probe_distinguishes_half_close_from_disconnect)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    int stays = raw_connect(echo_port(echo)), leaves = raw_connect(echo_port(echo));

    ck_assert(
        raw_text(stays, "POST /t/watch/2000 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"));
    ck_assert(raw_text(leaves, WATCH));
    WAIT_FOR(atomic_load(&echo->handled) == 2);
    (void)shutdown(stays, SHUT_WR);
    (void)close(leaves);
    WAIT_FOR(atomic_load(&echo->gone) == 1);
    ck_assert(raw_drain(stays, &got));
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 100);
    ck_assert(contains(&got, "\r\n\r\nHTTP/1.1 200 OK"));
    ck_assert_uint_eq(atomic_load(&echo->gone), 1);
    (void)close(stays);
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    ck_assert_int_eq(gauge(echo, WRIT_GAUGE_EXCHANGES_OPEN), 0);
    echo_stop(echo);
}
END_TEST

START_TEST(reset_during_a_waiting_exchange_calls_on_gone)
{
    struct echo *echo = echo_start(1, standard);

    for (int wait_ms = 0; wait_ms <= 150; wait_ms += 150) { /* waiting, suspended */
        int fd = raw_connect(echo_port(echo));
        unsigned handled = atomic_load(&echo->handled), gone = atomic_load(&echo->gone);

        ck_assert(raw_text(fd, HOLD));
        WAIT_FOR(atomic_load(&echo->handled) == handled + 1);
        pause_ms(wait_ms);
        raw_reset(fd);
        WAIT_FOR(atomic_load(&echo->gone) == gone + 1);
    }
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    ck_assert_uint_eq(counter(echo, WRIT_COUNTER_CLIENTS_GONE), 2);
    echo_stop(echo);
}
END_TEST

START_TEST(truncated_request_reaches_no_handler)
{
    static const char whole[] = POST "Content-Length: 7\r\n\r\n{\"a\":1}";
    struct echo *echo = echo_start(1, standard);

    for (size_t i = 1; i + 1 < sizeof whole; i++) {
        int fd = raw_connect(echo_port(echo));
        ck_assert(raw_send(fd, writ_view(whole, i)));
        if (i % 2 == 0) {
            raw_reset(fd);
        } else {
            (void)close(fd);
        }
    }
    WAIT_FOR(counter(echo, WRIT_COUNTER_CONNECTIONS) == sizeof whole - 2 &&
             gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    ck_assert_uint_eq(atomic_load(&echo->handled), 0);
    echo_stop(echo);
}
END_TEST

START_TEST(storms_of_resets_leave_nothing_behind)
{
    static const char *const texts[] = {"", "GET", GET, HOLD, WATCH, GET GET GET,
        "GET /t/silent HTTP/1.1\r\n" HOST "\r\n", "GET /t/flood HTTP/1.1\r\n" HOST "\r\n",
        "GET /t/big/1000000 HTTP/1.1\r\n" HOST "\r\n", POST "Content-Length: 5\r\n\r\n12"};
    struct echo *echo = echo_start(2, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    for (int i = 0; i < 600; i++) {
        int fd = raw_connect(echo_port(echo));
        (void)raw_text(fd, texts[i % 10]);
        if (i % 7 == 0) {
            pause_ms(2);
        }
        if (i % 3 == 0) {
            (void)close(fd);
        } else {
            raw_reset(fd);
        }
    }
    ck_assert_uint_eq(raw_ask(echo_port(echo), WRIT_LIT(GET), &got), 200);
    /* /t/hold takes a plain close for a half-close: those connections stay until the test ends */
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == gauge(echo, WRIT_GAUGE_EXCHANGES_OPEN) &&
             gauge(echo, WRIT_GAUGE_STREAMS_OPEN) == 0);
    echo_stop(echo);
}
END_TEST

/* ---- streams */

START_TEST(stream_sends_each_event_at_once)
{
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert(
        raw_text(fd, "POST /t/events/50 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}" GET));
    while (!contains(&got, "\r\n\r\nok") && raw_wait(fd)) {
        char *to = writ_buf_reserve(&got, 4096);
        ssize_t n = recv(fd, to, 4096, 0);
        ck_assert_int_gt(n, 0);
        got.len += (size_t)n;
    }
    ck_assert(contains(&got, "Transfer-Encoding: chunked\r\n"));
    ck_assert(contains(&got, "data: 50\n\n"));
    ck_assert(contains(&got, "data: 1\n\n\r\n0\r\n\r\nHTTP/1.1 200 OK"));
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(silent_stream_sends_heartbeats_and_detects_disconnects)
{
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert(raw_text(fd, "GET /t/silent HTTP/1.1\r\n" HOST "\r\n"));
    while (!contains(&got, ":\n\n\r\n3\r\n:\n\n") && raw_wait(fd)) {
        char *to = writ_buf_reserve(&got, 4096);
        ssize_t n = recv(fd, to, 4096, 0);
        ck_assert_int_gt(n, 0);
        got.len += (size_t)n;
    }
    ck_assert(contains(&got, "data: first\n\n"));
    ck_assert_uint_eq(atomic_load(&echo->gone), 0);
    (void)close(fd);
    WAIT_FOR(atomic_load(&echo->gone) == 1);
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    ck_assert_int_eq(gauge(echo, WRIT_GAUGE_STREAMS_OPEN), 0);
    echo_stop(echo);
}
END_TEST

START_TEST(stream_to_a_slow_reader_loses_no_event)
{
    struct writ_listener_options options = {.max_queue_bytes = 65536};
    struct echo *echo = echo_start(1, options);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert(raw_text(fd, "GET /t/flood HTTP/1.0\r\n" HOST "\r\n"));
    WAIT_FOR(atomic_load(&echo->busy) > 0);
    pause_ms(100);
    ck_assert(raw_drain(fd, &got));
    ck_assert_uint_eq(got.len - writ_view_search(writ_buf_view(&got), WRIT_LIT("\r\n\r\n")) - 4,
        ECHO_FLOOD_BYTES);
    ck_assert_uint_eq(atomic_load(&echo->gone), 0);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

/* The content of a chunked body, in place; false: it is none. */
static bool
join_chunks(struct writ_buf *got, struct writ_view *ret)
{
    size_t head = writ_view_search(writ_buf_view(got), WRIT_LIT("\r\n\r\n")) + 4, len = 0;
    char *from = got->ptr + head, *to = from, *end = got->ptr + got->len, *line;

    for (unsigned long size = 1; size > 0; from = line + 2 + size + 2) {
        if (from >= end) {
            return false;
        }
        size = strtoul(from, &line, 16);
        if (end - line < 4 || size > (unsigned long)(end - line - 4) ||
            !writ_view_has_prefix(writ_view(line, 2), WRIT_LIT("\r\n")) ||
            !writ_view_has_prefix(writ_view(line + 2 + size, 2), WRIT_LIT("\r\n"))) {
            return false;
        }
        memmove(to + len, line + 2, size);
        len += size;
    }
    *ret = writ_view(to, len);
    return from == end;
}

static void
check_last(struct writ_view content, size_t bytes)
{
    size_t at = 0;

    ck_assert(writ_view_has_prefix(content, WRIT_LIT("the begin\n")));
    ck_assert(writ_view_has_suffix(content, WRIT_LIT("the end\n")));
    ck_assert_uint_eq(content.len, bytes + 18);
    while (at < bytes && content.ptr[10 + at] == (char)('a' + at % 26)) {
        at++;
    }
    ck_assert_uint_eq(at, bytes);
}

/* Few bytes pass through libmicrohttpd, many go past it; a reader that begins late fills the
 * socket. */
START_TEST(stream_whose_last_bytes_are_not_copied_has_all)
{
    static const size_t sizes[] = {1, 65000, 65536, 1000000, 7000000};
    struct echo *echo = echo_start(1, standard);

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int late = 0; late < 2; late++) {
            writ_auto_buf ask = writ_buf_make(1000), got = writ_buf_make(BUFFER_MAX),
                          old = writ_buf_make(BUFFER_MAX);
            struct writ_view content;
            int fd = raw_connect(echo_port(echo));
            writ_buf_fmt(&ask, "GET /t/last/%zu HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n%c",
                sizes[i], 0);
            ck_assert(raw_text(fd, ask.ptr));
            pause_ms(late * 100);
            ck_assert(raw_drain(fd, &got));
            ck_assert(join_chunks(&got, &content));
            check_last(content, sizes[i]);
            (void)close(fd);

            fd = raw_connect(echo_port(echo));
            writ_buf_clear(&ask);
            writ_buf_fmt(&ask, "GET /t/last/%zu HTTP/1.0\r\n" HOST "\r\n%c", sizes[i], 0);
            ck_assert(raw_text(fd, ask.ptr));
            pause_ms(late * 100);
            ck_assert(raw_drain(fd, &old));
            content = writ_view_sub(writ_buf_view(&old),
                writ_view_search(writ_buf_view(&old), WRIT_LIT("\r\n\r\n")) + 4, SIZE_MAX);
            check_last(content, sizes[i]);
            (void)close(fd);
        }
    }
    echo_stop(echo);
}
END_TEST

START_TEST(stream_whose_last_bytes_are_not_copied_leaves_the_connection)
{
    static const char end[] = "the end\n\r\n0\r\n\r\n";
    struct echo *echo = echo_start(1, standard);
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    struct writ_view rest;

    for (int i = 0; i < 3; i++) {
        ck_assert(raw_text(fd, "GET /t/last/2000000 HTTP/1.1\r\n" HOST "\r\n"));
    }
    ck_assert(raw_text(fd, "GET /t/ok HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"));
    ck_assert(raw_drain(fd, &got));
    rest = writ_buf_view(&got);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(raw_status(rest), 200);
        rest = writ_view_sub(
            rest, writ_view_search(rest, writ_view_str(end)) + sizeof end - 1, SIZE_MAX);
    }
    ck_assert_uint_eq(raw_status(rest), 200);
    ck_assert(writ_view_has_suffix(rest, WRIT_LIT("\r\n\r\nok")));
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(client_that_leaves_during_the_last_bytes_is_forgotten)
{
    struct echo *echo = echo_start(1, standard);

    for (int i = 0; i < 20; i++) {
        int fd = raw_connect(echo_port(echo));
        writ_auto_buf got = writ_buf_make(1000);
        ck_assert(raw_text(fd, "GET /t/last/7000000 HTTP/1.1\r\n" HOST "\r\n"));
        pause_ms(i);
        (void)close(fd);
    }
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    ck_assert_int_eq(gauge(echo, WRIT_GAUGE_EXCHANGES_OPEN), 0);
    echo_stop(echo);
}
END_TEST

START_TEST(stream_aborted_has_no_final_chunk)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    (void)raw_ask(echo_port(echo), WRIT_LIT("GET /t/abort HTTP/1.1\r\n" HOST "\r\n"), &got);
    ck_assert(!contains(&got, "\r\n0\r\n"));
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    echo_stop(echo);
}
END_TEST

/* libmicrohttpd checks the connection that was idle longest, and its sockets. */
START_TEST(stream_ends_at_once_beside_idle_connections)
{
    static const char *const streams[] = {"GET /t/abort HTTP/1.1\r\n" HOST "\r\n",
        "GET /t/abort HTTP/1.0\r\n" HOST "\r\n",
        "POST /t/events/2 HTTP/1.0\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"};
    struct echo *echo = echo_start(1, standard);
    int idle = raw_connect(echo_port(echo));
    writ_auto_buf first = writ_buf_make(BUFFER_MAX);

    ck_assert(raw_text(idle, GET));
    ck_assert_uint_eq(raw_responses(idle, 1, &first), 1);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        int fd = raw_connect(echo_port(echo));
        ck_assert(raw_text(fd, streams[i]));
        ck_assert_msg(raw_drain(fd, &got), "%s", streams[i]);
        WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 1);
        (void)close(fd);
    }
    (void)close(idle);
    echo_stop(echo);
}
END_TEST

/* ---- time */

static struct writ_listener_options
impatient(void)
{
    return (struct writ_listener_options){.head_timeout_ms = 1000,
        .body_timeout_ms = 1000,
        .idle_timeout_ms = 1000,
        .write_timeout_ms = 1000};
}

START_TEST(slow_request_is_cut_and_steady_one_is_answered)
{
    static const char *const begins[] = {"", "G", "GET /t/ok HTTP/1.1\r\nHost: loc",
        POST "Content-Length: 50\r\n\r\n{", POST "Transfer-Encoding: chunked\r\n\r\n32\r\n{",
        POST "Transfer-Encoding: chunked\r\n\r\n5;ext"};
    static const unsigned answers[] = {0, 0, 408, 408, 408, 408};
    struct echo *echo = echo_start(1, impatient());
    writ_auto_buf honest = writ_buf_make(BUFFER_MAX);
    int fds[6];
    int64_t began = now_ms();

    for (size_t i = 0; i < 6; i++) {
        fds[i] = raw_connect(echo_port(echo));
        ck_assert(raw_text(fds[i], begins[i]));
    }
    for (int n = 0; n < 12; n++) { /* a byte now and then does not help */
        pause_ms(100);
        for (size_t i = 1; i < 6; i++) {
            (void)raw_text(fds[i], "x");
        }
    }
    ck_assert_uint_eq(raw_ask(echo_port(echo), WRIT_LIT(GET), &honest), 200);
    for (size_t i = 0; i < 6; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        ck_assert(raw_drain(fds[i], &got));
        ck_assert_msg(
            raw_status(writ_buf_view(&got)) == answers[i], "%zu: %.*s", i, (int)got.len, got.ptr);
        (void)close(fds[i]);
    }
    ck_assert_int_lt(now_ms() - began, RAW_WAIT_MS);
    ck_assert_uint_eq(atomic_load(&echo->handled), 1);
    echo_stop(echo);
}
END_TEST

START_TEST(body_whose_bytes_are_not_counted_is_answered)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    int fd = raw_connect(echo_port(echo));
    char byte;

    atomic_store(&kernel_is_poor, true);
    ck_assert(raw_text(fd, POST "Content-Length: 7\r\n\r\n{\"a\""));
    WAIT_FOR(atomic_load(&poor_answers) >= 4 || recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0);
    (void)raw_text(fd, ":1}");
    (void)raw_responses(fd, 1, &got);
    atomic_store(&kernel_is_poor, false);
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 200);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

START_TEST(idle_connections_are_closed_after_their_time)
{
    struct echo *echo = echo_start(1, impatient());
    int fd = raw_connect(echo_port(echo));
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    int64_t began = now_ms();

    ck_assert(raw_text(fd, GET));
    ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
    ck_assert(raw_drain(fd, &got));
    ck_assert_int_ge(now_ms() - began, 900);
    ck_assert_uint_eq(raw_count(writ_buf_view(&got)), 1);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

static void
answer_and_cut(struct writ_exchange *x, void *ctx)
{
    struct echo *echo = ctx;

    atomic_fetch_add(&echo->handled, 1);
    writ_incoming_of(x)->connection->dead = true; /* as when it is cut right after its answer */
    writ_exchange_reply(x, 200, NULL, 0, WRIT_LIT("ok"));
}

START_TEST(pipelined_request_on_a_cut_connection_reaches_no_handler)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    int fd;

    echo->routes[0].handler = answer_and_cut;
    echo->routes[0].ctx = echo;
    fd = raw_connect(echo_port(echo));
    ck_assert(raw_text(fd, GET GET GET));
    ck_assert(raw_drain(fd, &got));
    ck_assert_uint_eq(raw_count(writ_buf_view(&got)), 1);
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    ck_assert_uint_eq(atomic_load(&echo->handled), 1);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

#define CROWD 300 /* more than linger in one loop */

START_TEST(sending_client_is_kept_while_silent_ones_are_closed)
{
    static const char large[] = POST "Content-Length: 50000000\r\n\r\n{";
    struct echo *echo = echo_start(1, standard);
    int honest = raw_connect(echo_port(echo)), others[CROWD];
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);

    ck_assert(raw_text(honest, large));
    ck_assert_uint_eq(raw_responses(honest, 1, &got), 1);
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 413);
    for (size_t i = 0; i < CROWD; i++) {
        writ_auto_buf answer = writ_buf_make(BUFFER_MAX);

        ck_assert(raw_text(honest, "x")); /* read before the answer below is made */
        others[i] = raw_connect(echo_port(echo));
        ck_assert(raw_text(others[i], large));
        ck_assert_uint_eq(raw_responses(others[i], 1, &answer), 1);
    }
    ck_assert(raw_text(honest, "x"));
    ck_assert(raw_drain(honest, &got)); /* no reset */
    ck_assert_uint_eq(raw_count(writ_buf_view(&got)), 1);
    for (size_t i = 0; i < CROWD; i++) {
        (void)close(others[i]);
    }
    (void)close(honest);
    echo_stop(echo);
}
END_TEST

/* Without an end, because a kernel may take megabytes into its buffers. */
START_TEST(client_that_never_reads_is_cut)
{
    struct echo *echo = echo_start(1, impatient());
    int stream = raw_connect(echo_port(echo));

    ck_assert(raw_text(stream, "GET /t/endless HTTP/1.1\r\n" HOST "\r\n"));
    WAIT_FOR(atomic_load(&echo->gone) == 1);
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    (void)close(stream);
    echo_stop(echo);
}
END_TEST

START_TEST(connection_waiting_for_its_answer_is_not_cut)
{
    struct echo *echo = echo_start(1, impatient());
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    int fd = raw_connect(echo_port(echo));

    ck_assert(
        raw_text(fd, "POST /t/delay/2500 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"));
    ck_assert_uint_eq(raw_responses(fd, 1, &got), 1);
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 200);
    (void)close(fd);
    echo_stop(echo);
}
END_TEST

/* ---- many */

START_TEST(idle_connections_do_not_keep_others_from_being_served)
{
    struct echo *echo = echo_start(1, standard);
    int fds[200];
    int64_t began;

    for (int i = 0; i < 200; i++) {
        fds[i] = raw_connect(echo_port(echo));
        if (i % 2 == 0) {
            ck_assert(raw_text(fds[i], "GET /t/"));
        }
    }
    began = now_ms();
    for (int i = 0; i < 20; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        ck_assert_uint_eq(raw_ask(echo_port(echo), WRIT_LIT(GET), &got), 200);
    }
    ck_assert_int_lt(now_ms() - began, RAW_WAIT_MS);
    for (int i = 0; i < 200; i++) {
        (void)close(fds[i]);
    }
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    echo_stop(echo);
}
END_TEST

START_TEST(connections_beyond_one_daemon_are_all_served)
{
    enum { MANY = 1100 };
    struct rlimit limit;
    struct echo *echo = echo_start(1, standard);
    static int fds[MANY];

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2 * MANY + 100) {
        echo_stop(echo);
        return;
    }
    for (int i = 0; i < MANY; i++) {
        fds[i] = raw_connect(echo_port(echo));
        ck_assert(raw_text(fds[i], i % 2 == 0 ? HOLD : GET));
    }
    WAIT_FOR(atomic_load(&echo->handled) == MANY);
    for (int i = 1; i < MANY; i += 2) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        ck_assert(raw_text(fds[i], GET));
        ck_assert_uint_eq(raw_responses(fds[i], 2, &got), 2);
    }
    for (int i = 0; i < MANY; i++) {
        raw_reset(fds[i]);
    }
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    WAIT_FOR(atomic_load(&echo->gone) == MANY / 2);
    echo_stop(echo);
}
END_TEST

START_TEST(loops_all_serve_requests)
{
    struct echo *echo = echo_start(3, standard);

    for (int i = 0; i < 60; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        ck_assert_uint_eq(raw_ask(echo_port(echo), WRIT_LIT(GET), &got), 200);
    }
    ck_assert_uint_eq(counter(echo, WRIT_COUNTER_REQUESTS), 60);
    echo_stop(echo);
}
END_TEST

START_TEST(client_above_the_limits_gets_retry_after)
{
    struct writ_listener_options options = {.max_exchanges = 2, .max_connections = 4};
    struct echo *echo = echo_start(1, options);
    writ_auto_buf third = writ_buf_make(BUFFER_MAX), fifth = writ_buf_make(BUFFER_MAX);
    int fds[4];

    for (unsigned i = 0; i < 2; i++) {
        fds[i] = raw_connect(echo_port(echo));
        ck_assert(raw_text(fds[i], HOLD));
        WAIT_FOR(atomic_load(&echo->handled) == i + 1);
    }
    ck_assert_uint_eq(raw_ask(echo_port(echo), WRIT_LIT(GET), &third), 503);
    ck_assert(contains(&third, "Retry-After: 1\r\n"));
    ck_assert(contains(&third, "\"reason\":\"overloaded\""));
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 2);
    fds[2] = raw_connect(echo_port(echo));
    fds[3] = raw_connect(echo_port(echo));
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 4);
    ck_assert_uint_eq(raw_ask(echo_port(echo), WRIT_LIT(GET), &fifth), 503);
    WAIT_FOR(counter(echo, WRIT_COUNTER_CONNECTIONS_REFUSED) == 1); /* counted after its answer */
    WAIT_FOR(writ_listener_open_exchanges(echo->listener) == 2);    /* the fifth's answer is out */
    for (int i = 0; i < 4; i++) {
        raw_reset(fds[i]);
    }
    WAIT_FOR(writ_listener_open_exchanges(echo->listener) == 0);
    echo_stop(echo);
}
END_TEST

/* ---- opening, draining, closing */

START_TEST(drain_finishes_begun_requests)
{
    struct echo *echo = echo_start(2, standard);
    int idle = raw_connect(echo_port(echo)), busy = raw_connect(echo_port(echo));
    int late = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(echo_port(echo))};
    writ_auto_buf got = writ_buf_make(BUFFER_MAX), first = writ_buf_make(BUFFER_MAX);

    ck_assert(raw_text(idle, GET));
    ck_assert_uint_eq(raw_responses(idle, 1, &first), 1);
    ck_assert(
        raw_text(busy, "POST /t/delay/1500 HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"));
    WAIT_FOR(atomic_load(&echo->handled) == 2);
    writ_listener_drain(echo->listener);
    ck_assert(raw_drain(idle, &first)); /* closed, and no second answer */
    ck_assert_uint_eq(raw_count(writ_buf_view(&first)), 1);
    ck_assert(raw_drain(busy, &got));
    ck_assert_uint_eq(raw_status(writ_buf_view(&got)), 200);
    ck_assert(contains(&got, "Connection: close\r\n"));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_ne(connect(late, (struct sockaddr *)&address, sizeof address), 0);
    (void)close(idle);
    (void)close(busy);
    (void)close(late);
    WAIT_FOR(gauge(echo, WRIT_GAUGE_CONNECTIONS_OPEN) == 0);
    echo_stop(echo);
}
END_TEST

START_TEST(close_frees_unanswered_requests)
{
    struct echo *echo = echo_start(1, standard);
    int fds[4];

    for (int i = 0; i < 4; i++) {
        static const char *const texts[] = {HOLD, "GET /t/silent HTTP/1.1\r\n" HOST "\r\n",
            "GET /t/flood HTTP/1.1\r\n" HOST "\r\n", POST "Content-Length: 5\r\n\r\n12"};
        fds[i] = raw_connect(echo_port(echo));
        ck_assert(raw_text(fds[i], texts[i]));
    }
    WAIT_FOR(atomic_load(&echo->handled) == 3);
    pause_ms(100);
    echo_stop(echo);
    for (int i = 0; i < 4; i++) {
        (void)close(fds[i]);
    }
}
END_TEST

START_TEST(open_on_an_unusable_address_fails)
{
    struct writ_certificate *certificate = NULL;
    static const char *const addresses[] = {"", "127.0.0.1", "localhost:80",
        "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x", "[::1:80", "300.0.0.1:80", "[::g]:80"};
    struct writ_err err = {0};
    struct echo *echo = echo_start(2, standard);
    char taken[32];
    struct writ_listener_options same = {0}, limits = {.max_head_bytes = 1023}, pem = {0};

    for (size_t i = 1; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct writ_listener_options options = {.address = writ_view_str(addresses[i])};
        ck_assert_msg(echo_try(1, options, &err) == NULL, "%s", addresses[i]);
    }
    (void)snprintf(taken, sizeof taken, "127.0.0.1:%u", echo_port(echo));
    same.address = writ_view_str(taken);
    ck_assert_ptr_null(echo_try(1, same, &err)); /* also though the first shares its port */
    ck_assert_ptr_null(echo_try(2, same, &err));
    ck_assert_ptr_null(echo_try(1, limits, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "max_head_bytes"));
    pem.tls.certificate = WRIT_LIT("nonsense");
    ck_assert_ptr_null(echo_try(1, pem, &err));
    pem.tls.key = WRIT_LIT("nonsense");
    ck_assert_ptr_null(echo_try(1, pem, &err));
    ck_assert_code(
        writ_listener_prepare(echo->listener, &pem.tls, &certificate, &err), WRIT_E_INVALID);
    ck_assert_ptr_null(certificate);
    echo_stop(echo);
    writ_listener_free(NULL);
}
END_TEST

START_TEST(ipv6_and_wildcards_work)
{
    struct writ_err err = {0};
    struct writ_listener_options six = {.address = WRIT_LIT("[::]:0")};
    struct echo *echo = echo_try(1, six, &err);
    writ_auto_buf got = writ_buf_make(BUFFER_MAX), peer = writ_buf_make(BUFFER_MAX),
                  bad = writ_buf_make(BUFFER_MAX);

    if (echo == NULL) {
        return; /* no IPv6 here */
    }
    ck_assert_uint_eq(raw_ask(echo_port(echo),
                          WRIT_LIT("GET /t/ok HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"), &got),
        200);
    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /t/peer HTTP/1.1\r\n" HOST "\r\n"), &peer), 200);
    ck_assert(writ_view_has_suffix(writ_buf_view(&peer), WRIT_LIT("\r\n\r\n1 0 ||")));
    ck_assert_uint_eq(raw_ask(echo_port(echo),
                          WRIT_LIT("GET /t/ok HTTP/1.1\r\nHost: evil.example\r\n\r\n"), &bad),
        403);
    echo_stop(echo);
}
END_TEST

/* ---- admin */

START_TEST(admin_routes_report_health_readiness_and_metrics)
{
    struct echo *echo = echo_start(1, standard);
    writ_auto_buf health = writ_buf_make(BUFFER_MAX), ready = writ_buf_make(BUFFER_MAX),
                  metrics = writ_buf_make(BUFFER_MAX);
    struct writ_view text;
    size_t line = 0;

    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /healthz HTTP/1.1\r\n" HOST "\r\n"), &health), 200);
    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /readyz HTTP/1.1\r\n" HOST "\r\n"), &ready), 503);
    ck_assert(contains(&ready, "ledger: not ready\n"));
    atomic_store(&echo->ready, true);
    writ_buf_clear(&ready);
    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /readyz HTTP/1.1\r\n" HOST "\r\n"), &ready), 200);
    ck_assert_uint_eq(
        raw_ask(echo_port(echo), WRIT_LIT("GET /metrics HTTP/1.1\r\n" HOST "\r\n"), &metrics), 200);
    ck_assert(contains(&metrics, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    text = writ_buf_view(&metrics);
    text = writ_view_sub(text, writ_view_search(text, WRIT_LIT("\r\n\r\n")) + 4, text.len);
    ck_assert_msg(exposition_is_valid(text, &line), "line %zu", line);
    ck_assert(exposition_value(text, "writ_requests_total") == 4.0);
    ck_assert(exposition_value(text, "writ_responses_total{class=\"5xx\"}") == 1.0);
    echo_stop(echo);
}
END_TEST

START_TEST(admin_routes_refuse_another_host_or_origin)
{
    static const char *const paths[] = {"/healthz", "/readyz", "/metrics"};
    static const char *const fields[] = {
        "Host: evil.example\r\n", HOST "Origin: http://evil.example\r\n"};
    struct echo *echo = echo_start(1, standard);

    atomic_store(&echo->ready, true);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 2; k++) {
            writ_auto_buf request = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);

            writ_buf_fmt(&request, "GET %s HTTP/1.1\r\n%s\r\n", paths[i], fields[k]);
            ck_assert_uint_eq(raw_ask(echo_port(echo), writ_buf_view(&request), &got), 403);
        }
    }
    echo_stop(echo);
}
END_TEST

WRIT_UNIT_MAIN("listener", connection_serves_requests_in_sequence,
    pipelined_requests_are_answered_in_order, request_in_any_pieces_is_answered,
    bodies_of_every_size_come_back_whole, http_1_0_is_answered_and_closed,
    client_that_expects_continue_gets_it, handler_gets_the_head_unchanged,
    answer_field_with_a_line_end_is_not_written, answer_fields_are_limited,
    refused_request_gets_one_answer_and_ends_reading, request_with_malformed_chunks_is_counted,
    bytes_behind_a_trailer_are_not_read, head_with_a_nul_at_any_place_is_refused,
    refusal_has_its_reason_as_json_rpc, body_beyond_the_limit_of_its_route_is_refused,
    head_above_the_limit_gets_an_error, head_that_leaves_no_room_for_the_answer_is_refused,
    trailer_that_leaves_no_room_for_the_answer_is_refused, many_fields_are_refused,
    half_closed_client_gets_its_answer, half_closed_client_gets_every_answer,
    probe_distinguishes_half_close_from_disconnect, reset_during_a_waiting_exchange_calls_on_gone,
    truncated_request_reaches_no_handler, storms_of_resets_leave_nothing_behind,
    stream_sends_each_event_at_once, silent_stream_sends_heartbeats_and_detects_disconnects,
    stream_to_a_slow_reader_loses_no_event, stream_whose_last_bytes_are_not_copied_has_all,
    stream_whose_last_bytes_are_not_copied_leaves_the_connection,
    client_that_leaves_during_the_last_bytes_is_forgotten, stream_aborted_has_no_final_chunk,
    stream_ends_at_once_beside_idle_connections, slow_request_is_cut_and_steady_one_is_answered,
    body_whose_bytes_are_not_counted_is_answered, idle_connections_are_closed_after_their_time,
    pipelined_request_on_a_cut_connection_reaches_no_handler,
    sending_client_is_kept_while_silent_ones_are_closed, client_that_never_reads_is_cut,
    connection_waiting_for_its_answer_is_not_cut,
    idle_connections_do_not_keep_others_from_being_served,
    connections_beyond_one_daemon_are_all_served, loops_all_serve_requests,
    client_above_the_limits_gets_retry_after, drain_finishes_begun_requests,
    close_frees_unanswered_requests, open_on_an_unusable_address_fails, ipv6_and_wildcards_work,
    admin_routes_report_health_readiness_and_metrics, admin_routes_refuse_another_host_or_origin)
