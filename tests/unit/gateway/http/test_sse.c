/* Server-sent events. The events do not depend on how the stream was cut, limits bound the memory,
 * and a written event reads back as the same event. */
#include "support/unit.h"

#include "gateway/http/sse.h"

#define LINE_MAX_  16
#define EVENT_MAX_ 24

static const struct writ_sse_limits limits = {.line_bytes = LINE_MAX_, .event_bytes = EVENT_MAX_};
static const struct writ_sse_limits roomy = {.line_bytes = 1 << 20, .event_bytes = 1 << 20};

/* "[id|event|data|retry]" for each event, "(text)" for each comment; '-' is an absent one */
static void
tell_value(struct writ_buf *out, struct writ_view value)
{
    if (value.ptr == NULL) {
        writ_buf_byte(out, '-');
    }
    writ_buf_put(out, value);
    writ_buf_byte(out, '|');
}

static void
tell(struct writ_buf *out, const struct writ_sse_event *event)
{
    if (event->kind == WRIT_SSE_COMMENT) {
        writ_buf_byte(out, '(');
        writ_buf_put(out, event->data);
        writ_buf_byte(out, ')');
        return;
    }
    writ_buf_byte(out, '[');
    tell_value(out, event->id);
    tell_value(out, event->event);
    tell_value(out, event->data);
    if (event->retry_ms == WRIT_SSE_NO_RETRY) {
        writ_buf_byte(out, '-');
    } else {
        writ_buf_i64(out, event->retry_ms);
    }
    writ_buf_byte(out, ']');
}

static writ_result
feed(struct writ_sse *sse, struct writ_view text, size_t step, struct writ_buf *out)
{
    for (size_t at = 0; at < text.len; at += step) {
        struct writ_view piece = writ_view_sub(text, at, step);
        struct writ_sse_event event = {0};
        do {
            WRIT_TRY(writ_sse_next(sse, &piece, &event, NULL));
            if (event.kind != WRIT_SSE_NONE) {
                tell(out, &event);
            }
        } while (event.kind != WRIT_SSE_NONE);
        ck_assert_uint_eq(piece.len, 0);
    }
    return WRIT_DONE;
}

struct stream {
    const char *text, *told;
    bool cut;
};

static const struct stream streams[] = {
    {"data: {\"a\":1}\n\n", "[-|-|{\"a\":1}|-]", false},
    {"data:x\n\ndata: y\r\n\r\ndata: z\r\r", "[-|-|x|-][-|-|y|-][-|-|z|-]", false},
    {"id: 1\ndata:\n\n", "[1|-||-]", false}, /* the priming event of MCP */
    {"id: 1\n\n", "[1|-|-|-]", false},
    {"id\n\n", "[|-|-|-]", false},
    {"retry: 500\n\n", "[-|-|-|500]", false},
    {"retry: 5x\n\n", "", false},
    {"retry:\n\n", "", false},
    {"retry: 999999999\n\n", "[-|-|-|999999999]", false},
    {"retry: 1000000000\n\n", "", false},
    {"retry: -1\n\n", "", false},
    {"event: a\ndata: b\nid: c\nretry: 1\n\n", "[c|a|b|1]", false},
    {"event: a\nevent: b\nid: 1\nid: 2\ndata: x\n\n", "[2|b|x|-]", false},
    {"data: a\ndata: b\ndata:\n\n", "[-|-|a\nb\n|-]", false},
    {"data:  two\n\n", "[-|-| two|-]", false},
    {"data\n\n", "[-|-||-]", false},
    {": hi\n:\n\n", "( hi)()", false},
    {"data: a\n: between\ndata: b\n\n", "( between)[-|-|a\nb|-]", false},
    {"unknown: x\nDATA: x\n data: x\n\n", "", false},
    {"\n\n\n", "", false},
    {"\xef\xbb\xbf"
     "data: x\n\n",
        "[-|-|x|-]", false},
    {"\xef\xbb\xbf\xef\xbb\xbf"
     "data: x\n\n",
        "", false},
    {"data: x\n\n\xef\xbb\xbf"
     "data: y\n\n",
        "[-|-|x|-]", false},
    {"data: x\n", "", true},
    {"data: x", "", true},
    {"data: x\n\ndata: y\n", "[-|-|x|-]", true},
    {"\r\ndata: x\r\n\r\n", "[-|-|x|-]", false},
    /* a CR inside is a line end: no field hides behind it */
    {"data: a\rid: 7\r\r", "[7|-|a|-]", false},
    {"data: a\r\nid: 7\r\ndata: b\r\n\r\n", "[7|-|a\nb|-]", false},
};

START_TEST(sse_read_in_any_pieces_gives_the_same_events)
{
    static const size_t steps[] = {1, 2, 3, 5, 1000};

    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        for (size_t k = 0; k < 5; k++) {
            struct writ_sse *sse = writ_sse_new(&roomy);
            writ_auto_buf told = writ_buf_make(1000);
            ck_assert_ok(feed(sse, writ_view_str(streams[i].text), steps[k], &told));
            ck_assert_msg(writ_view_is(writ_buf_view(&told), streams[i].told),
                "stream %zu, step %zu: " WRIT_VIEW_FMT, i, steps[k],
                WRIT_VIEW_ARG(writ_buf_view(&told)));
            ck_assert_msg(writ_sse_is_cut(sse) == streams[i].cut, "stream %zu", i);
            writ_sse_free(sse);
        }
    }
}
END_TEST

START_TEST(sse_read_ignores_an_id_with_nul)
{
    struct writ_sse *sse = writ_sse_new(&roomy);
    writ_auto_buf told = writ_buf_make(1000);

    ck_assert_ok(feed(sse, WRIT_LIT("id: a\0b\ndata: x\n\n"), 1000, &told));
    ck_assert_view(writ_buf_view(&told), "[-|-|x|-]");
    writ_sse_free(sse);
}
END_TEST

struct limit {
    const char *text;
    enum writ_code code;
};

static const struct limit limit_cases[] = {
    {"data: 0123456789\n\n", WRIT_OK},       /* 16 */
    {"data: 0123456789a\n\n", WRIT_E_LIMIT}, /* 17 */
    {": 23456789abcdef\n\n", WRIT_OK},
    {": 23456789abcdefg\n\n", WRIT_E_LIMIT},
    {"data: 0123456789\ndata: 0123456789\ndata: 0\n\n", WRIT_OK}, /* 10 + 11 + 2 = 23 */
    {"data: 0123456789\ndata: 0123456789\ndata: 01\n\n", WRIT_OK},
    {"data: 0123456789\ndata: 0123456789\ndata: 012\n\n", WRIT_E_LIMIT},
    {"id: 0123456789\ndata: 0123456789\nevent:0123\n\n", WRIT_OK},
    {"id: 0123456789\ndata: 0123456789\nevent:01234\n\n", WRIT_E_LIMIT},
    {"data:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\n"
     "data:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\n",
        WRIT_E_LIMIT},
};

START_TEST(sse_read_beyond_a_limit_fails_for_good)
{
    for (size_t i = 0; i < sizeof limit_cases / sizeof limit_cases[0]; i++) {
        for (size_t step = 1; step < 100; step += 33) {
            struct writ_sse *sse = writ_sse_new(&limits);
            writ_auto_buf told = writ_buf_make(1000);
            struct writ_view more = WRIT_LIT("data: x\n\n");
            struct writ_sse_event event = {.retry_ms = 77};
            writ_result r = feed(sse, writ_view_str(limit_cases[i].text), step, &told);
            ck_assert_msg(r.code == limit_cases[i].code, "case %zu", i);
            if (r.code != WRIT_OK) {
                ck_assert_code(writ_sse_next(sse, &more, &event, NULL), WRIT_E_LIMIT);
                ck_assert_int_eq(event.retry_ms, 77);
            }
            writ_sse_free(sse);
        }
    }
}
END_TEST

START_TEST(sse_read_of_an_endless_line_takes_no_more_memory_than_its_limit)
{
    struct writ_sse *sse = writ_sse_new(&limits);
    struct writ_sse_event event = {0};
    writ_result r = WRIT_DONE;
    int fed = 0;

    for (; fed < 1000 && writ_is_ok(r); fed++) {
        struct writ_view piece = WRIT_LIT("xxxxxxxx");
        r = writ_sse_next(sse, &piece, &event, NULL);
    }
    ck_assert_int_eq(r.code, WRIT_E_LIMIT);
    ck_assert_int_eq(fed, 3);
    writ_sse_free(sse);
}
END_TEST

START_TEST(sse_shows_the_line_of_data_that_has_not_ended)
{
    static const struct {
        const char *stream, *arrived;
    } rows[] = {{"", ""}, {"data", ""}, {"data:", ""}, {"data: ", ""}, {"data: a", "a"},
        {"data:a", "a"}, {"data:  a", " a"}, {"data: a\n", ""}, {"data: a\ndata: b", ""},
        {"event: a\ndata: b", "b"}, {"datum: a", ""}, {":data: a", ""}, {"data: a\n\n", ""},
        {"data: a\n\ndata: b", "b"},
        {"\xef\xbb\xbf"
         "data: a",
            ""}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_sse *sse = writ_sse_new(&roomy);
        writ_auto_buf told = writ_buf_make(1000);
        ck_assert_ok(feed(sse, writ_view_str(rows[i].stream), 3, &told));
        ck_assert_view(writ_sse_arrived(sse), rows[i].arrived);
        writ_sse_free(sse);
    }
}
END_TEST

static struct writ_sse_event
event_of(const char *id, const char *name, const char *data, int64_t retry_ms)
{
    struct writ_sse_event event = {.kind = WRIT_SSE_EVENT, .retry_ms = retry_ms};

    event.id = id != NULL ? writ_view_str(id) : event.id;
    event.event = name != NULL ? writ_view_str(name) : event.event;
    event.data = data != NULL ? writ_view_str(data) : event.data;
    return event;
}

START_TEST(sse_event_reads_back_as_written)
{
    const struct writ_sse_event events[] = {
        event_of(NULL, NULL, "{\"jsonrpc\":\"2.0\"}", WRIT_SSE_NO_RETRY),
        event_of("1", "message", "a\nb\n\nc\n", 0),
        event_of("", "", "", WRIT_SSE_RETRY_MAX),
        event_of("x", NULL, NULL, WRIT_SSE_NO_RETRY),
        event_of(NULL, NULL, NULL, 500),
        event_of(" lead", " : ", " data: x", 1),
        {.kind = WRIT_SSE_COMMENT, .data = WRIT_LIT(" keep-alive"), .retry_ms = WRIT_SSE_NO_RETRY},
        {.kind = WRIT_SSE_COMMENT, .data = WRIT_LIT(""), .retry_ms = WRIT_SSE_NO_RETRY},
    };
    writ_auto_buf text = writ_buf_make(10000), want = writ_buf_make(10000),
                  got = writ_buf_make(10000);
    struct writ_sse *sse = writ_sse_new(&roomy);

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        ck_assert_ok(writ_sse_put(&text, &events[i], NULL));
        tell(&want, &events[i]);
    }
    ck_assert_ok(feed(sse, writ_buf_view(&text), 1, &got));
    ck_assert_msg(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)), "got " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_buf_view(&got)));
    ck_assert(!writ_sse_is_cut(sse));
    writ_sse_free(sse);
}
END_TEST

/* What is written in pieces is what is written at once. */
START_TEST(sse_write_without_a_copy_gives_the_same_event)
{
    const struct writ_sse_event events[] = {
        event_of(NULL, "message", "{\"jsonrpc\":\"2.0\"}", WRIT_SSE_NO_RETRY),
        event_of("7", "message", "x", 500), event_of("7", "", "", WRIT_SSE_NO_RETRY)};
    const struct writ_sse_event others[] = {event_of(NULL, "a", "x\ny", WRIT_SSE_NO_RETRY),
        event_of(NULL, "a", "x\ry", WRIT_SSE_NO_RETRY), event_of(NULL, NULL, "x", 1),
        event_of("a\nb", "a", "x", WRIT_SSE_NO_RETRY)};
    struct writ_view rest[2];

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        writ_auto_buf got = writ_buf_make(1000), want = writ_buf_make(1000);
        ck_assert_ok(writ_sse_put(&want, &events[i], NULL));
        ck_assert_ok(writ_sse_put_before(&got, &events[i], rest, NULL));
        ck_assert_ptr_eq(rest[0].ptr, events[i].data.ptr);
        writ_buf_put(&got, rest[0]);
        writ_buf_put(&got, rest[1]);
        ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        writ_auto_buf got = writ_buf_make(1000);
        ck_assert_code(writ_sse_put_before(&got, &others[i], rest, NULL), WRIT_E_INVALID);
        ck_assert_uint_eq(got.len, 0);
    }
}
END_TEST

START_TEST(sse_write_puts_json_on_one_data_line)
{
    writ_auto_buf text = writ_buf_make(1000);
    const struct writ_sse_event event = event_of("7", NULL, "{\"a\":\"\\n\"}", WRIT_SSE_NO_RETRY);

    ck_assert_ok(writ_sse_put(&text, &event, NULL));
    ck_assert_view(writ_buf_view(&text), "id: 7\ndata: {\"a\":\"\\n\"}\n\n");
}
END_TEST

START_TEST(sse_write_of_an_ambiguous_event_is_refused)
{
    struct writ_sse_event bads[] = {
        event_of("a\nb", NULL, "x", WRIT_SSE_NO_RETRY),
        event_of("a\rb", NULL, "x", WRIT_SSE_NO_RETRY),
        event_of(NULL, "a\ndata: y", "x", WRIT_SSE_NO_RETRY),
        event_of(NULL, NULL, "x\r\rdata: y", WRIT_SSE_NO_RETRY),
        event_of(NULL, NULL, NULL, WRIT_SSE_NO_RETRY),
        event_of(NULL, NULL, "x", -2),
        event_of(NULL, NULL, "x", WRIT_SSE_RETRY_MAX + 1),
        {.kind = WRIT_SSE_NONE},
        {.kind = WRIT_SSE_COMMENT, .data = WRIT_LIT("a\ndata: b")},
        {.kind = WRIT_SSE_COMMENT, .data = WRIT_LIT("a\rb")},
        {.kind = WRIT_SSE_EVENT, .id = WRIT_LIT("a\0b"), .retry_ms = WRIT_SSE_NO_RETRY},
    };
    writ_auto_buf text = writ_buf_make(1000);

    writ_buf_str(&text, "before");
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        writ_result r = writ_sse_put(&text, &bads[i], NULL);
        ck_assert_msg(r.code == WRIT_E_INVALID, "event %zu", i);
        ck_assert_view(writ_buf_view(&text), "before");
    }
}
END_TEST

START_TEST(sse_write_into_a_full_buffer_puts_no_partial_event)
{
    writ_auto_buf text = writ_buf_make(20);
    const struct writ_sse_event event = event_of("1", NULL, "x", WRIT_SSE_NO_RETRY);

    ck_assert_ok(writ_sse_put(&text, &event, NULL));
    ck_assert_uint_eq(text.len, 15);
    ck_assert_code(writ_sse_put(&text, &event, NULL), WRIT_E_LIMIT);
    ck_assert_view(writ_buf_view(&text), "id: 1\ndata: x\n\n");
    writ_buf_clear(&text);
    ck_assert_ok(writ_sse_put(&text, &event, NULL));
}
END_TEST

START_TEST(sse_read_with_a_failed_allocation_gives_no_other_event)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        writ_auto_buf told = writ_buf_make(1000);
        writ_result r = {WRIT_E_NOMEM};
        struct writ_sse *sse;
        writ_buf_reserve(&told, 200);
        writ_fault_arm(nth);
        sse = writ_sse_new(&roomy);
        if (sse != NULL) {
            r = feed(sse, WRIT_LIT("id: 1\nevent: e\ndata: x\n: c\ndata: y\n\n"), 3, &told);
        }
        reached = writ_fault_disarm();
        if (reached) {
            ck_assert_int_eq(r.code, WRIT_E_NOMEM);
        } else {
            ck_assert_view(writ_buf_view(&told), "( c)[1|e|x\ny|-]");
        }
        writ_sse_free(sse);
    }
}
END_TEST

/* A stream with one event of long lines, in pieces of `step` bytes; the memory of its data is taken
 * or not. */
static void
check_long(size_t lines, size_t step, bool take)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    writ_auto_buf text = writ_buf_make(1 << 20), want = writ_buf_make(1 << 20);
    struct writ_sse *sse = writ_sse_new(&roomy);
    struct writ_sse_event event = {0};
    size_t found = 0;

    for (size_t i = 0; i < lines; i++) {
        writ_buf_str(&text, "data: ");
        writ_buf_str(&want, i > 0 ? "\n" : "");
        for (int n = 0; n < 20000; n++) {
            writ_buf_u64(&text, (uint64_t)n);
            writ_buf_u64(&want, (uint64_t)n);
        }
        writ_buf_byte(&text, '\n');
    }
    writ_buf_str(&text, "\ndata: next\n\n");
    for (size_t at = 0; at < text.len; at += step) {
        struct writ_view piece = writ_view_sub(writ_buf_view(&text), at, step);
        ck_assert_ok(writ_sse_next(sse, &piece, &event, NULL));
        for (; event.kind != WRIT_SSE_NONE; found++) {
            ck_assert(found == 0 ? writ_view_equal(event.data, writ_buf_view(&want))
                                 : writ_view_is(event.data, "next"));
            ck_assert((event.memory != NULL) == (found == 0));
            if (take && event.memory != NULL) {
                ck_assert_ptr_nonnull(writ_buf_give(event.memory, arena).ptr);
                ck_assert(writ_view_equal(event.data, writ_buf_view(&want)));
            }
            ck_assert_ok(writ_sse_next(sse, &piece, &event, NULL));
        }
    }
    ck_assert_uint_eq(found, 2);
    writ_sse_free(sse);
    writ_arena_free(arena);
}

START_TEST(sse_read_of_long_data_gives_its_memory)
{
    for (size_t lines = 1; lines <= 3; lines++) {
        for (size_t step = 1000; step <= 1 << 20; step *= 32) {
            check_long(lines, step, false);
            check_long(lines, step, true);
        }
    }
}
END_TEST

WRIT_UNIT_MAIN("sse", sse_read_in_any_pieces_gives_the_same_events, sse_read_ignores_an_id_with_nul,
    sse_read_beyond_a_limit_fails_for_good,
    sse_read_of_an_endless_line_takes_no_more_memory_than_its_limit,
    sse_event_reads_back_as_written, sse_write_without_a_copy_gives_the_same_event,
    sse_shows_the_line_of_data_that_has_not_ended, sse_write_puts_json_on_one_data_line,
    sse_write_of_an_ambiguous_event_is_refused, sse_write_into_a_full_buffer_puts_no_partial_event,
    sse_read_with_a_failed_allocation_gives_no_other_event, sse_read_of_long_data_gives_its_memory)
