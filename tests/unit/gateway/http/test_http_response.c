/* The parser of responses. The result does not depend on how the bytes were cut, every limit is
 * enforced, and a bad response ends its connection. */
#include "support/unit.h"

#include "gateway/http/http_response.h"

#define BODY_MAX 20

/* the result of one response */
struct seen {
    struct writ_http_response *response;
    unsigned status, heads;
    struct writ_buf body;
    bool pause;
};

static void
see_head(void *ctx, const struct writ_http_head *head)
{
    struct seen *seen = ctx;

    seen->heads++;
    seen->status = head->status;
    if (seen->pause) {
        writ_http_response_pause(seen->response);
    }
}

static void
see_body(void *ctx, struct writ_view bytes)
{
    struct seen *seen = ctx;

    ck_assert_uint_gt(bytes.len, 0);
    writ_buf_put(&seen->body, bytes);
    if (seen->pause) {
        writ_http_response_pause(seen->response);
    }
}

static const struct writ_http_response_events events = {see_head, see_body};

/* feeds `text` in pieces of `step` bytes, then the end of the connection */
static enum writ_http_progress
feed_all(struct seen *seen, struct writ_view text, size_t step)
{
    enum writ_http_progress progress = WRIT_HTTP_MORE;

    for (size_t at = 0; at < text.len && progress == WRIT_HTTP_MORE; at += step) {
        struct writ_view piece = writ_view_sub(text, at, step);
        do {
            progress = writ_http_response_feed(seen->response, &piece);
        } while (progress == WRIT_HTTP_PAUSED);
        if (progress == WRIT_HTTP_COMPLETE && at + step < text.len) {
            piece = writ_view_sub(text, at + step, step);
            return writ_http_response_feed(seen->response, &piece);
        }
    }
    return progress == WRIT_HTTP_MORE ? writ_http_response_finish(seen->response) : progress;
}

enum { CLOSES = 0, KEEPS = 1 };

struct good {
    const char *text;
    unsigned status;
    const char *body;
    int keeps;
    bool to_head_request;
};

#define OK    "HTTP/1.1 200 OK\r\n"
#define CHUNK OK "Transfer-Encoding: chunked\r\n\r\n"

static const struct good goods[] = {
    {OK "Content-Length: 5\r\n\r\nhello", 200, "hello", KEEPS, false},
    {OK "content-length:  5 \r\nX: \r\n\r\nhello", 200, "hello", KEEPS, false},
    {OK "Content-Length: 0\r\n\r\n", 200, "", KEEPS, false},
    {OK "Content-Length: 20\r\n\r\n01234567890123456789", 200, "01234567890123456789", KEEPS,
        false},
    {OK "Content-Length: 5\r\nConnection: close\r\n\r\nhello", 200, "hello", CLOSES, false},
    {CHUNK "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", 200, "hello!", KEEPS, false},
    {CHUNK "5;a=b\r\nhello\r\n0\r\nX-Trailer: 1\r\nContent-Length: 9\r\n\r\n", 200, "hello", KEEPS,
        false},
    {OK "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 200, "", KEEPS, false},
    {OK "\r\nuntil the end", 200, "until the end", CLOSES, false},
    {OK "\r\n", 200, "", CLOSES, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", CLOSES, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi", 200, "hi", CLOSES,
        false},
    {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", KEEPS, false},
    {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", 202, "", KEEPS, false},
    {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", KEEPS, false},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, "", KEEPS, false},
    {"HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", 599, "", KEEPS, false},
    {OK "Content-Length: 7000\r\n\r\n", 200, "", KEEPS, true},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n" OK
     "Content-Length: 2\r\n\r\nhi",
        200, "hi", KEEPS, false},
    {"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", 302,
        "", KEEPS, false},
};

START_TEST(response_in_any_pieces_gives_the_same_result)
{
    static const size_t steps[] = {1, 2, 3, 7, 1000};

    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        for (size_t k = 0; k < 10; k++) {
            struct seen seen = {.body = writ_buf_make(BODY_MAX), .pause = k >= 5};
            enum writ_http_progress progress;
            seen.response = writ_http_response_new(&events, &seen);
            writ_http_response_begin(seen.response, goods[i].to_head_request, BODY_MAX);
            progress = feed_all(&seen, writ_view_str(goods[i].text), steps[k % 5]);
            ck_assert_msg(progress == WRIT_HTTP_COMPLETE, "case %zu, step %zu", i, k);
            ck_assert_uint_eq(seen.status, goods[i].status);
            ck_assert_uint_eq(seen.heads, 1);
            ck_assert_view(writ_buf_view(&seen.body), goods[i].body);
            ck_assert_msg(
                writ_http_response_keeps_open(seen.response) == goods[i].keeps, "case %zu", i);
            writ_http_response_free(seen.response);
            writ_buf_wipe(&seen.body);
        }
    }
}
END_TEST

struct bad {
    const char *text;
    size_t len; /* 0: the length of the string */
    enum writ_http_reason reason;
};

#define NUL_IN(text) text, sizeof(text) - 1

static const struct bad bads[] = {
    /* framing: smuggling and splitting */
    {OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
        WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 0,
        WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 5, 5\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: +5\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: -5\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 0x5\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 1 2\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: \r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length:\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 18446744073709551617\r\n\r\nh", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length : 5\r\n\r\nhello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
        WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: identity\r\n\r\nx", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding:\r\n\r\nx", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    /* after the end */
    {OK "Content-Length: 5\r\n\r\nhelloX", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 5\r\n\r\nhello" OK "Content-Length: 0\r\n\r\n", 0,
        WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "0\r\n\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 204 No Content\r\n\r\nbody", 0, WRIT_HTTP_PROTOCOL_ERROR},
    /* the head */
    {"hello", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"<html>no head at all</html>", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {" HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/11.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 0,
        WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nhi", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 103 Early\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
        WRIT_HTTP_PROTOCOL_ERROR},
    {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "X: a\n b\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "X: a\rContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "X: a\nContent-Length: 0\n\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {"HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "Content-Length: 0\r\n\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "no colon\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK ": no name\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "a b: c\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "X: \x7f\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {OK "X: \x1b[2J\r\nContent-Length: 0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {NUL_IN(OK "X: a\0b\r\nContent-Length: 0\r\n\r\n"), WRIT_HTTP_PROTOCOL_ERROR},
    {NUL_IN(OK "X\0: a\r\nContent-Length: 0\r\n\r\n"), WRIT_HTTP_PROTOCOL_ERROR},
    {NUL_IN("HTTP/1.1 200 O\0K\r\nContent-Length: 0\r\n\r\n"), WRIT_HTTP_PROTOCOL_ERROR},
    /* chunks */
    {CHUNK "0x5\r\nhello\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "+5\r\nhello\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "-1\r\nhello\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK " 5\r\nhello\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "\r\nhello\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "5\nhello\n0\n\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "5\r\nhelloX\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "5\r\nhello\r0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "5\r\nhello\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    {CHUNK "10000000000000005\r\nhello\r\n0\r\n\r\n", 0, WRIT_HTTP_PROTOCOL_ERROR},
    /* limits */
    {OK "Content-Length: 21\r\n\r\n", 0, WRIT_HTTP_BODY_TOO_LARGE},
    {CHUNK "15\r\n012345678901234567890\r\n0\r\n\r\n", 0, WRIT_HTTP_BODY_TOO_LARGE},
    {OK "\r\n012345678901234567890", 0, WRIT_HTTP_BODY_TOO_LARGE},
    /* too short */
    {"", 0, WRIT_HTTP_CLOSED_EARLY},
    {"HTTP/1.1 200 OK\r\nContent-Le", 0, WRIT_HTTP_CLOSED_EARLY},
    {"HTTP/1.1 100 Continue\r\n\r\n", 0, WRIT_HTTP_CLOSED_EARLY},
    {OK "Content-Length: 5\r\n\r\n", 0, WRIT_HTTP_CLOSED_EARLY},
    {OK "Content-Length: 5\r\n\r\nhell", 0, WRIT_HTTP_CLOSED_EARLY},
    {CHUNK "5\r\nhello\r\n", 0, WRIT_HTTP_CLOSED_EARLY},
    {CHUNK "5\r\nhello\r\n0\r\n", 0, WRIT_HTTP_CLOSED_EARLY},
    {CHUNK "5\r\nhel", 0, WRIT_HTTP_CLOSED_EARLY},
};

START_TEST(bad_response_in_any_pieces_fails_and_ends_the_connection)
{
    static const size_t steps[] = {1, 3, 1000};

    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct writ_view text = writ_view_str(bads[i].text);
        if (bads[i].len > 0) {
            text.len = bads[i].len;
        }
        for (size_t k = 0; k < 3; k++) {
            struct seen seen = {.body = writ_buf_make(BODY_MAX)};
            const char *detail = NULL;
            enum writ_http_reason reason;
            seen.response = writ_http_response_new(&events, &seen);
            writ_http_response_begin(seen.response, false, BODY_MAX);
            ck_assert_msg(feed_all(&seen, text, steps[k]) == WRIT_HTTP_FAILED, "case %zu", i);
            reason = writ_http_response_fault(seen.response, &detail);
            ck_assert_msg(reason == bads[i].reason, "case %zu: %s (%s)", i,
                writ_http_response_reason(reason), detail);
            ck_assert_ptr_nonnull(detail);
            ck_assert(!writ_http_response_keeps_open(seen.response));
            writ_http_response_free(seen.response);
            writ_buf_wipe(&seen.body);
        }
    }
}
END_TEST

/* ---- limits */

static enum writ_http_progress
feed_made(const struct writ_buf *text, uint64_t body_max, enum writ_http_reason *ret_reason)
{
    struct seen seen = {.body = writ_buf_make(1 << 24)};
    const char *detail;
    enum writ_http_progress progress;

    ck_assert_ok(writ_buf_check(text, NULL));
    seen.response = writ_http_response_new(&events, &seen);
    writ_http_response_begin(seen.response, false, body_max);
    progress = feed_all(&seen, writ_buf_view(text), 5000);
    *ret_reason = writ_http_response_fault(seen.response, &detail);
    writ_http_response_free(seen.response);
    writ_buf_wipe(&seen.body);
    return progress;
}

START_TEST(response_head_beyond_its_bytes_fails)
{
    for (size_t over = 0; over < 2; over++) {
        writ_auto_buf text = writ_buf_make(1 << 20);
        enum writ_http_reason reason;
        writ_buf_str(&text, OK "Content-Length: 0\r\nX: ");
        while (text.len < WRIT_HTTP_HEAD_MAX - 4 + over) {
            writ_buf_byte(&text, 'x');
        }
        writ_buf_str(&text, "\r\n\r\n");
        ck_assert_int_eq(
            feed_made(&text, 0, &reason), over ? WRIT_HTTP_FAILED : WRIT_HTTP_COMPLETE);
        ck_assert_int_eq(reason, over ? WRIT_HTTP_HEAD_TOO_LARGE : WRIT_HTTP_UNSET);
    }
}
END_TEST

START_TEST(response_head_beyond_its_fields_fails)
{
    for (size_t over = 0; over < 2; over++) {
        writ_auto_buf text = writ_buf_make(1 << 20);
        enum writ_http_reason reason;
        writ_buf_str(&text, OK "Content-Length: 0\r\n");
        for (size_t i = 1; i < WRIT_HTTP_FIELDS_MAX + over; i++) {
            writ_buf_str(&text, "X: y\r\n");
        }
        writ_buf_str(&text, "\r\n");
        ck_assert_int_eq(
            feed_made(&text, 0, &reason), over ? WRIT_HTTP_FAILED : WRIT_HTTP_COMPLETE);
        ck_assert_int_eq(reason, over ? WRIT_HTTP_HEAD_TOO_LARGE : WRIT_HTTP_UNSET);
    }
}
END_TEST

START_TEST(interim_responses_have_a_limit)
{
    for (size_t over = 0; over < 2; over++) {
        writ_auto_buf text = writ_buf_make(1 << 20);
        enum writ_http_reason reason;
        for (size_t i = 0; i < WRIT_HTTP_INTERIM_MAX + over; i++) {
            writ_buf_str(&text, "HTTP/1.1 100 Continue\r\n\r\n");
        }
        writ_buf_str(&text, OK "Content-Length: 0\r\n\r\n");
        ck_assert_int_eq(
            feed_made(&text, 0, &reason), over ? WRIT_HTTP_FAILED : WRIT_HTTP_COMPLETE);
    }
}
END_TEST

START_TEST(response_framing_overhead_is_limited_and_small_chunks_pass)
{
    static const char *const endless[] = {"5;ext=", "0\r\nTrailer: "};

    for (size_t i = 0; i < 2; i++) {
        writ_auto_buf text = writ_buf_make(1 << 20);
        enum writ_http_reason reason;
        writ_buf_str(&text, CHUNK);
        writ_buf_str(&text, endless[i]);
        while (text.len < 2 * WRIT_HTTP_FRAMING_MAX) {
            writ_buf_byte(&text, 'x');
        }
        ck_assert_int_eq(feed_made(&text, 100, &reason), WRIT_HTTP_FAILED);
        ck_assert_int_eq(reason, WRIT_HTTP_PROTOCOL_ERROR);
    }
    {
        writ_auto_buf text = writ_buf_make(1 << 24);
        enum writ_http_reason reason;
        writ_buf_str(&text, CHUNK);
        while (text.len < 8 * WRIT_HTTP_FRAMING_MAX) {
            writ_buf_str(&text, "1\r\nx\r\n");
        }
        writ_buf_str(&text, "0\r\n\r\n");
        ck_assert_int_eq(feed_made(&text, WRIT_HTTP_UNLIMITED, &reason), WRIT_HTTP_COMPLETE);
    }
}
END_TEST

/* ---- fields */

static void
check_fields(void *ctx, const struct writ_http_head *head)
{
    struct writ_view value = WRIT_LIT("kept");

    (void)ctx;
    ck_assert_uint_eq(writ_http_response_field(head, "content-type", &value), 1);
    ck_assert_view(value, "text/plain");
    ck_assert_uint_eq(writ_http_response_field(head, "x", &value), 2);
    ck_assert_view(value, "1");
    ck_assert_uint_eq(writ_http_response_field(head, "empty", &value), 1);
    ck_assert_view(value, "");
    value = WRIT_LIT("kept");
    ck_assert_uint_eq(writ_http_response_field(head, "absent", &value), 0);
    ck_assert_view(value, "kept");
    ck_assert_uint_eq(writ_http_response_field(head, "x", NULL), 2);
    ck_assert_uint_eq(head->count, 5);
}

START_TEST(fields_are_found_without_case_and_counted)
{
    static const struct writ_http_response_events checks = {check_fields, NULL};
    struct writ_http_response *response = writ_http_response_new(&checks, NULL);

    for (int i = 0; i < 2; i++) { /* a reader is used again */
        struct writ_view text = WRIT_LIT(OK
            "Content-Type: \t text/plain \r\nX: 1\r\nEmpty:\r\nx: 2\r\nContent-Length: 1\r\n\r\nb");
        writ_http_response_begin(response, false, 1);
        ck_assert(!writ_http_response_has_head(response));
        ck_assert_int_eq(writ_http_response_feed(response, &text), WRIT_HTTP_COMPLETE);
        ck_assert(writ_http_response_has_head(response));
    }
    writ_http_response_free(response);
}
END_TEST

START_TEST(response_pause_keeps_the_remaining_bytes)
{
    struct seen seen = {.body = writ_buf_make(BODY_MAX), .pause = true};
    struct writ_view text = WRIT_LIT(CHUNK "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n");

    seen.response = writ_http_response_new(&events, &seen);
    writ_http_response_begin(seen.response, false, BODY_MAX);
    ck_assert_int_eq(writ_http_response_feed(seen.response, &text), WRIT_HTTP_PAUSED);
    ck_assert_view(writ_buf_view(&seen.body), "");
    ck_assert_int_eq(writ_http_response_feed(seen.response, &text), WRIT_HTTP_PAUSED);
    ck_assert_view(writ_buf_view(&seen.body), "ab");
    ck_assert_int_eq(writ_http_response_feed(seen.response, &text), WRIT_HTTP_PAUSED);
    ck_assert_view(writ_buf_view(&seen.body), "abcd");
    ck_assert_int_eq(writ_http_response_feed(seen.response, &text), WRIT_HTTP_COMPLETE);
    writ_http_response_free(seen.response);
    writ_buf_wipe(&seen.body);
}
END_TEST

START_TEST(response_with_a_failed_allocation_reports_no_memory)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct seen seen = {.body = writ_buf_make(BODY_MAX)};
        const char *detail = NULL;
        enum writ_http_progress progress = WRIT_HTTP_FAILED;
        writ_fault_arm(nth);
        seen.response = writ_http_response_new(&events, &seen);
        if (seen.response != NULL) {
            writ_http_response_begin(seen.response, false, BODY_MAX);
            progress = feed_all(&seen, WRIT_LIT(OK "Content-Length: 0\r\nA: b\r\n\r\n"), 1000);
        }
        reached = writ_fault_disarm();
        ck_assert_int_eq(progress, reached ? WRIT_HTTP_FAILED : WRIT_HTTP_COMPLETE);
        if (seen.response != NULL && reached) {
            ck_assert_int_eq(
                writ_http_response_fault(seen.response, &detail), WRIT_HTTP_NO_RESOURCES);
        }
        writ_http_response_free(seen.response);
        writ_buf_wipe(&seen.body);
    }
}
END_TEST

START_TEST(response_reasons_have_a_name_and_a_sentence)
{
    ck_assert_str_eq(writ_http_response_reason(WRIT_HTTP_OK), "ok");
    ck_assert_str_eq(writ_http_response_reason(WRIT_HTTP_BODY_TOO_LARGE), "body_too_large");
    ck_assert_str_ne(writ_http_response_sentence(WRIT_HTTP_CLOSED_EARLY), "");
}
END_TEST

WRIT_UNIT_MAIN("http_response", response_in_any_pieces_gives_the_same_result,
    bad_response_in_any_pieces_fails_and_ends_the_connection, response_head_beyond_its_bytes_fails,
    response_head_beyond_its_fields_fails, interim_responses_have_a_limit,
    response_framing_overhead_is_limited_and_small_chunks_pass,
    fields_are_found_without_case_and_counted, response_pause_keeps_the_remaining_bytes,
    response_with_a_failed_allocation_reports_no_memory,
    response_reasons_have_a_name_and_a_sentence)
