/* Requests of llhttp's own tests, sent to a listener whose handler takes every path. Requests
 * without a Host are sent with one as well, because the listener refuses them otherwise. */
#include "support/unit.h"

#include "evidence/json/json.h"
#include "support/gateway/echo.h"
#include "support/gateway/raw.h"
#include "support/vectors.h"

#define CASES      120
#define PARSED_MAX (8U << 20)
#define BUFFER_MAX (1U << 20)
#define MARK       "GET /after HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct writ_view
member(const struct writ_json *object, const char *name)
{
    return writ_json_string(writ_json_get(object, writ_view_str(name)));
}

static int64_t
number(const struct writ_json *object, const char *name)
{
    int64_t value = 0;

    ck_assert_ok(
        writ_json_integer(writ_json_get(object, writ_view_str(name)), 0, INT32_MAX, &value));
    return value;
}

static void
send_and_check(struct echo *echo, const struct writ_json *test, struct writ_view bytes, bool mark)
{
    writ_auto_buf sent = writ_buf_make(BUFFER_MAX), got = writ_buf_make(BUFFER_MAX);
    unsigned before = atomic_load(&echo->handled), handled;
    bool bad = writ_view_is(member(test, "expect"), "error") &&
               !writ_view_has_prefix(member(test, "reason"), WRIT_LIT("Pause"));
    struct writ_view id = member(test, "id");
    unsigned most = (unsigned)number(test, "messages");

    writ_buf_put(&sent, bytes);
    if (mark && bad) {
        writ_buf_str(&sent, MARK);
    }
    (void)raw_ask(echo_port(echo), writ_buf_view(&sent), &got);
    handled = atomic_load(&echo->handled) - before;
    ck_assert_msg(handled <= most, WRIT_VIEW_FMT ": %u handled, %u complete", WRIT_VIEW_ARG(id),
        handled, most);
    ck_assert_msg(raw_count(writ_buf_view(&got)) <= handled + 1, WRIT_VIEW_FMT ": %.*s",
        WRIT_VIEW_ARG(id), (int)got.len, got.ptr);
}

/* The same with a Host after the first line that ends with CR LF. */
static void
with_host(struct writ_view bytes, struct writ_buf *ret)
{
    size_t skip = writ_view_has_prefix(bytes, WRIT_LIT("\r\n")) ? 2 : 0;
    size_t line = writ_view_search(writ_view_sub(bytes, skip, bytes.len), WRIT_LIT("\r\n"));

    writ_buf_put(ret, writ_view_sub(bytes, 0, skip + line + 2));
    writ_buf_str(ret, "Host: localhost\r\n");
    writ_buf_put(ret, writ_view_sub(bytes, skip + line + 2, bytes.len));
}

START_TEST(listener_passes_no_request_that_a_strict_parser_refuses)
{
    struct writ_buf text = writ_vectors_read("llhttp-http1/requests.json");
    struct writ_arena *arena = writ_arena_new(PARSED_MAX);
    const struct writ_json *root = NULL;
    struct echo *echo = echo_start_any();
    unsigned count = 0;

    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &root, NULL));
    for (const struct writ_json *test = writ_json_first(root); test != NULL;
         test = writ_json_next(root, test)) {
        writ_auto_buf raw = writ_buf_make(BUFFER_MAX), host = writ_buf_make(BUFFER_MAX);

        ck_assert_ok(writ_base64_read(member(test, "raw_b64"), &raw));
        with_host(writ_buf_view(&raw), &host);
        send_and_check(echo, test, writ_buf_view(&raw), false);
        send_and_check(echo, test, writ_buf_view(&raw), true);
        send_and_check(echo, test, writ_buf_view(&host), false);
        count++;
    }
    ck_assert_uint_eq(count, CASES);
    ck_assert_uint_gt(atomic_load(&echo->handled), 0); /* some of them are requests like others */
    echo_stop(echo);
    writ_arena_free(arena);
    writ_buf_wipe(&text);
}
END_TEST

WRIT_UNIT_MAIN("llhttp-http1", listener_passes_no_request_that_a_strict_parser_refuses)
