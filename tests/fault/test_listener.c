/* The n-th allocation of the loop's thread fails: the client gets its answer, a refusal or a closed
 * connection, never another answer, and the next client is served. */
#include "support/unit.h"

#include "support/gateway/echo.h"
#include "support/gateway/raw.h"

#include <pthread.h>

#define BUFFER_MAX (1U << 20)
#define HOST       "Host: localhost\r\n"
#define TIMES_MAX  200
#define TEN_FIELDS                                                                                 \
    "A: 0\r\nB: 1\r\nC: 2\r\nD: 3\r\nE: 4\r\nF: 5\r\nG: 6\r\nH: 7\r\nI: 8\r\nJ: 9\r\n"

struct caller {
    struct echo *echo;
    const char *request;
    struct writ_buf got;
};

static void *
call(void *arg)
{
    struct caller *caller = arg;

    (void)raw_ask(echo_port(caller->echo), writ_view_str(caller->request), &caller->got);
    writ_loop_stop(caller->echo->loops[0]);
    return NULL;
}

/* One request, with the n-th allocation failing (0: none). Gives the status and whether there was
 * an n-th. */
static unsigned
call_with_fault(
    struct echo *echo, const char *request, long nth, bool *ret_reached, struct writ_buf *ret)
{
    struct caller caller = {echo, request, writ_buf_make(BUFFER_MAX)};
    pthread_t thread;
    unsigned status;

    writ_fault_arm(nth);
    ck_assert_int_eq(pthread_create(&thread, NULL, call, &caller), 0);
    ck_assert_ok(writ_loop_run(echo->loops[0], NULL));
    *ret_reached = writ_fault_disarm();
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    status = raw_status(writ_buf_view(&caller.got));
    writ_buf_put(ret, writ_buf_view(&caller.got));
    writ_buf_wipe(&caller.got);
    return status;
}

/* What comes after the head of the answer. */
static struct writ_view
body_of(const struct writ_buf *got)
{
    size_t end = writ_view_search(writ_buf_view(got), WRIT_LIT("\r\n\r\n"));

    return writ_view_sub(writ_buf_view(got), end + 4, got->len);
}

static void
check(const char *request)
{
    writ_auto_buf want = writ_buf_make(BUFFER_MAX);
    bool reached = true;
    struct echo *first = echo_start_here();
    unsigned good = call_with_fault(first, request, 0, &reached, &want);

    echo_stop(first);
    reached = true;
    for (long nth = 1; reached && nth < TIMES_MAX; nth++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX), next = writ_buf_make(BUFFER_MAX);
        struct echo *echo = echo_start_here(); /* no memory is kept from earlier calls */
        unsigned status = call_with_fault(echo, request, nth, &reached, &got);
        bool ignored;

        ck_assert_msg(status == good || status == 0 || status == 503 || status == 500,
            "allocation %ld: %u", nth, status);
        if (status == good && good == 200) {
            ck_assert_msg(writ_view_has_prefix(body_of(&want), body_of(&got)), "%ld", nth);
        }
        ck_assert_uint_le(atomic_load(&echo->handled), 1);
        ck_assert_uint_eq(call_with_fault(echo, request, 0, &ignored, &next), good);
        ck_assert(writ_view_equal(body_of(&next), body_of(&want)));
        echo_stop(echo);
    }
    ck_assert(!reached);
}

START_TEST(request_with_a_failed_allocation_gets_its_answer_or_a_close)
{
    check("POST /t/echo HTTP/1.1\r\n" HOST
          "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}
END_TEST

START_TEST(stream_with_a_failed_allocation_gets_its_events_or_a_close)
{
    check("GET /t/big/100000 HTTP/1.1\r\n" HOST TEN_FIELDS TEN_FIELDS "\r\n");
}
END_TEST

START_TEST(refusal_with_a_failed_allocation_is_sent_or_closed)
{
    check("GET /t/ok HTTP/1.1\r\nHost: evil\r\n\r\n");
}
END_TEST

START_TEST(opening_fails_whole_or_not_at_all)
{
    bool reached = true;

    for (long nth = 1; reached && nth < TIMES_MAX; nth++) {
        struct writ_loop *loop = NULL;
        struct writ_loop_options each = {0};
        struct writ_view hosts[] = {WRIT_LIT("a.example"), WRIT_LIT("b.example")};
        struct writ_listener_options options = {
            .address = WRIT_LIT("127.0.0.1:0"), .hosts = hosts, .host_count = 2};
        struct writ_listener *listener = NULL;
        writ_result r;

        ck_assert_ok(writ_loop_new(&each, &loop, NULL));
        writ_fault_arm(nth);
        r = writ_listener_open(&options, &loop, 1, &listener, NULL);
        reached = writ_fault_disarm();
        ck_assert(writ_is_ok(r) == (listener != NULL));
        if (!writ_is_ok(r)) {
            ck_assert_int_eq(r.code, WRIT_E_NOMEM);
        }
        writ_listener_free(listener);
        writ_loop_free(loop);
    }
    ck_assert(!reached);
}
END_TEST

WRIT_UNIT_MAIN("listener", request_with_a_failed_allocation_gets_its_answer_or_a_close,
    stream_with_a_failed_allocation_gets_its_events_or_a_close,
    refusal_with_a_failed_allocation_is_sent_or_closed, opening_fails_whole_or_not_at_all)
