/* What a collector answers decides what becomes of a body. */
#include "support/gateway/peer.h"
#include "support/unit.h"

#include "gateway/telemetry/sender.h"

#include <stdio.h>
#include <string.h>

#define BODY       "a\0b"
#define TIMEOUT_MS 2000

struct fixture {
    struct peer *peer;
    char url[64];
    struct writ_telemetry_config config;
    struct writ_sender *sender;
};

static void
open_on(struct fixture *f, unsigned port)
{
    (void)snprintf(f->url, sizeof f->url, "http://127.0.0.1:%u", port);
    f->config = (struct writ_telemetry_config){.otlp = writ_view_str(f->url)};
    ck_assert_ok(writ_sender_new(&f->config, &f->sender, NULL));
}

static struct fixture
begin(const struct peer_step *script)
{
    const struct peer_step *const scripts[] = {script};
    struct fixture f = {.peer = peer_open(&(struct peer_options){.scripts = scripts, .count = 1})};

    return f;
}

static void
end(struct fixture *f)
{
    writ_sender_free(f->sender);
    peer_close(f->peer);
}

static writ_result
send_to(struct fixture *f, int64_t timeout_ms, struct writ_sent *ret)
{
    return writ_sender_send(
        f->sender, WRIT_OTLP_TRACES, writ_view(BODY, sizeof BODY - 1), timeout_ms, NULL, ret, NULL);
}

#define ANSWER(status, fields, len, body)                                                          \
    {                                                                                              \
        .what = PEER_SEND,                                                                         \
        .text = "HTTP/1.1 " status " X\r\n" fields "Content-Length: " len "\r\n\r\n" body,         \
        .count =                                                                                   \
            sizeof("HTTP/1.1 " status " X\r\n" fields "Content-Length: " len "\r\n\r\n" body) - 1  \
    }

START_TEST(send_returns_the_result_of_each_answer)
{
    static const struct {
        struct peer_step answer;
        enum writ_code code;
        struct writ_sent sent;
    } rows[] = {
        {ANSWER("200", "", "0", ""), WRIT_OK, {.rejected = 0}},
        {ANSWER("200", "", "4", "\x0a\x02\x08\x03"), WRIT_OK, {.rejected = 3}},
        {ANSWER("200", "", "7", "\x0a\x05\x08\xac\x02\x12\x00"), WRIT_OK, {.rejected = 300}},
        {ANSWER("200", "", "5", "\x0a\x03\x12\x01x"), WRIT_OK, {.rejected = 0}}, /* a warning */
        {ANSWER("200", "", "4", "\x0a\x09\x08\x03"), WRIT_OK, {.rejected = 0}},  /* cut short */
        {ANSWER("200", "", "2", "{}"), WRIT_OK, {.rejected = 0}},
        {ANSWER("429", "Retry-After: 7\r\n", "0", ""), WRIT_E_IO, {true, 7000000, 0}},
        {ANSWER("503", "Retry-After: 1\r\n", "0", ""), WRIT_E_IO, {true, 1000000, 0}},
        {ANSWER("503", "", "0", ""), WRIT_E_IO, {true, 0, 0}},
        {ANSWER("502", "", "0", ""), WRIT_E_IO, {true, 0, 0}},
        {ANSWER("504", "", "0", ""), WRIT_E_IO, {true, 0, 0}},
        {ANSWER("400", "", "0", ""), WRIT_E_IO, {false, 0, 0}},
        {ANSWER("202", "", "0", ""), WRIT_E_IO, {false, 0, 0}},
        {ANSWER("307", "Location: http://127.0.0.1:1/\r\n", "0", ""), WRIT_E_IO, {false, 0, 0}},
        {PEER_DO(RESET), WRIT_E_IO, {true, 0, 0}},
        {PEER_DO(END), WRIT_E_IO, {true, 0, 0}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct peer_step script[] = {PEER_DO(READ), rows[i].answer, PEER_DO(END)};
        struct fixture f = begin(script);
        struct writ_sent sent = {.rejected = 77};

        open_on(&f, peer_port(f.peer));
        ck_assert_msg(send_to(&f, TIMEOUT_MS, &sent).code == rows[i].code, "row %zu", i);
        ck_assert_msg(sent.again == rows[i].sent.again, "row %zu", i);
        ck_assert_msg(sent.after_us == rows[i].sent.after_us, "row %zu", i);
        ck_assert_msg(sent.rejected == rows[i].sent.rejected, "row %zu", i);
        end(&f);
    }
}
END_TEST

START_TEST(send_posts_binary_otlp_over_one_connection)
{
    static const struct peer_step script[] = {
        PEER_DO(READ), ANSWER("200", "", "0", ""), PEER_DO(AGAIN)};
    struct fixture f = begin(script);
    struct writ_sent sent;
    char request[1024];

    open_on(&f, peer_port(f.peer));
    ck_assert_ok(send_to(&f, TIMEOUT_MS, &sent));
    ck_assert_ok(send_to(&f, TIMEOUT_MS, &sent));
    peer_last(f.peer, request, sizeof request);
    ck_assert_ptr_nonnull(strstr(request, "POST /v1/traces HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "Content-Type: application/x-protobuf\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "Accept: application/x-protobuf\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "Content-Length: 3\r\n"));
    ck_assert_uint_eq(peer_connections(f.peer), 1);
    ck_assert_uint_eq(peer_requests(f.peer), 2);
    end(&f);
}
END_TEST

START_TEST(send_to_a_silent_or_closed_collector_may_be_repeated)
{
    static const struct peer_step script[] = {PEER_DO(READ), PEER_DO(HANG), PEER_DO(END)};
    struct fixture f = begin(script);
    struct writ_sent sent = {.again = false};

    open_on(&f, peer_port(f.peer));
    ck_assert_code(send_to(&f, 50, &sent), WRIT_E_IO);
    ck_assert(sent.again);
    writ_sender_free(WRIT_TAKE(f.sender));
    open_on(&f, 1);
    sent.again = false;
    ck_assert_code(send_to(&f, TIMEOUT_MS, &sent), WRIT_E_IO);
    ck_assert(sent.again);
    end(&f);
}
END_TEST

START_TEST(answer_that_is_too_long_is_a_failure)
{
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 200 X\r\nContent-Length: 70000\r\n\r\n"), PEER_COUNT(FILL, 70000),
        PEER_DO(END)};
    struct fixture f = begin(script);
    struct writ_sent sent;

    open_on(&f, peer_port(f.peer));
    ck_assert_code(send_to(&f, TIMEOUT_MS, &sent), WRIT_E_LIMIT);
    end(&f);
}
END_TEST

START_TEST(failed_allocation_makes_no_sender_and_sends_nothing_else)
{
    static const struct peer_step script[] = {
        PEER_DO(READ), ANSWER("200", "", "4", "\x0a\x02\x08\x03"), PEER_DO(AGAIN)};
    struct fixture f = begin(script);
    bool reached = true;

    open_on(&f, peer_port(f.peer));
    for (long nth = 1; reached; nth++) {
        struct writ_sender *sender = NULL;

        writ_fault_arm(nth);
        writ_result made = writ_sender_new(&f.config, &sender, NULL);
        reached = writ_fault_disarm();
        ck_assert(writ_is_ok(made) != reached);
        ck_assert(reached ? made.code == WRIT_E_NOMEM && sender == NULL : sender != NULL);
        writ_sender_free(sender);
    }
    reached = true;
    for (long nth = 1; reached; nth++) {
        struct writ_sent sent;

        writ_fault_arm(nth);
        writ_result was = send_to(&f, TIMEOUT_MS, &sent);
        reached = writ_fault_disarm();
        ck_assert(writ_is_ok(was) ? sent.rejected == 3 : sent.again);
    }
    end(&f);
}
END_TEST

WRIT_UNIT_MAIN("sender", send_returns_the_result_of_each_answer,
    send_posts_binary_otlp_over_one_connection,
    send_to_a_silent_or_closed_collector_may_be_repeated, answer_that_is_too_long_is_a_failure,
    failed_allocation_makes_no_sender_and_sends_nothing_else)
