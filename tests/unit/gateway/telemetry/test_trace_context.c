/* W3C Trace Context: exactly the texts that the specification permits are read. */
#include "support/unit.h"

#include "gateway/telemetry/trace_context.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

START_TEST(read_takes_good_traceparents_and_put_writes_them)
{
    static const struct {
        const char *text, *again;
    } good[] = {
        {"00-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-01"},
        {"00-" TRACE "-" SPAN "-00", "00-" TRACE "-" SPAN "-00"},
        {"00-" TRACE "-" SPAN "-ff", "00-" TRACE "-" SPAN "-01"}, /* unknown flags */
        {"00-" TRACE "-" SPAN "-02", "00-" TRACE "-" SPAN "-00"},
        {"01-" TRACE "-" SPAN "-01", "00-" TRACE "-" SPAN "-01"}, /* a later version */
        {"fe-" TRACE "-" SPAN "-01-more", "00-" TRACE "-" SPAN "-01"},
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct writ_trace_context context;
        writ_auto_buf text = writ_buf_make(WRIT_TRACEPARENT_LEN);

        ck_assert_ok(writ_trace_context_read(writ_view_str(good[i].text), &context));
        ck_assert(writ_trace_context_is(&context));
        writ_trace_context_put(&context, &text);
        ck_assert_view(writ_buf_view(&text), good[i].again);
    }
}
END_TEST

START_TEST(read_refuses_every_other_text_and_keeps_ret)
{
    static const char *const bad[] = {
        "",
        "00",
        "x",
        "00-" TRACE "-" SPAN "-0",
        "00-" TRACE "-" SPAN "-011",
        "00-" TRACE "-" SPAN "-01-", /* version 00 has no more */
        "01-" TRACE "-" SPAN "-01x", /* more without a dash */
        "ff-" TRACE "-" SPAN "-01",  /* not a version */
        "0g-" TRACE "-" SPAN "-01",  /* not hex */
        "00_" TRACE "-" SPAN "-01",  /* another mark */
        "00-" TRACE "_" SPAN "-01",  /* another mark */
        "00-" TRACE "-" SPAN "_01",  /* another mark */
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "00-" TRACE "-" SPAN "-0G",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        " 00-" TRACE "-" SPAN "-01",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct writ_trace_context context = {.span_id = {7}};

        ck_assert_code(writ_trace_context_read(writ_view_str(bad[i]), &context), WRIT_E_PARSE);
        ck_assert_int_eq(context.span_id[0], 7);
    }
    ck_assert_code(
        writ_trace_context_read(writ_view(NULL, 0), &(struct writ_trace_context){0}), WRIT_E_PARSE);
}
END_TEST

START_TEST(zeroed_context_names_no_span)
{
    struct writ_trace_context context = {0};

    ck_assert(!writ_trace_context_is(&context));
    context.trace_id[15] = 1;
    ck_assert(!writ_trace_context_is(&context));
    context.span_id[0] = 1;
    ck_assert(writ_trace_context_is(&context));
}
END_TEST

START_TEST(is_state_accepts_permitted_texts_only)
{
    static const char *const good[] = {
        "a=1",
        "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
        "a=1 , b=2",
        "a=1,,b=2,",
        "1a-2*3_4/5=x y",
        "fw529a3039@dt=FfAwEAAAAAAGVoAlcA",
        "a= x",
    };
    static const char *const bad[] = {
        "",
        ",",
        " ",
        "a",
        "a=",
        "=1",
        "A=1",
        "a=1,a=2",
        "a=1,b=2, a=3",
        "a=b=c",
        "a@=1",
        "@a=1",
        "a@1=1",
        "a@b@c=1",
        "a\x01=1",
        "a=\x7f",
        "a=\xc3\xa9",
        "a@abcdefghijklmno=1",
        "a b=1",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(writ_trace_context_is_state(writ_view_str(good[i])), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!writ_trace_context_is_state(writ_view_str(bad[i])), "%s", bad[i]);
    }
    ck_assert(!writ_trace_context_is_state(writ_view(NULL, 0)));
}
END_TEST

/* n entries of `len` bytes each, with a comma between them */
static bool
is_state_of(size_t n, size_t len)
{
    writ_auto_buf text = writ_buf_make(4096);

    for (size_t i = 0; i < n; i++) {
        writ_buf_fmt(&text, "%sk%03zu=", i > 0 ? "," : "", i);
        for (size_t at = 5; at < len; at++) {
            writ_buf_byte(&text, 'x');
        }
    }
    return writ_trace_context_is_state(writ_buf_view(&text));
}

START_TEST(state_has_limits_of_entries_and_bytes)
{
    ck_assert(is_state_of(WRIT_TRACESTATE_ITEMS, 6));
    ck_assert(!is_state_of(WRIT_TRACESTATE_ITEMS + 1, 6));
    ck_assert(is_state_of(2, 255)); /* 511 bytes */
    ck_assert(!is_state_of(2, 257));
    ck_assert(is_state_of(1, 5 + 256));
    ck_assert(!is_state_of(1, 5 + 257));
}
END_TEST

WRIT_UNIT_MAIN("trace_context", read_takes_good_traceparents_and_put_writes_them,
    read_refuses_every_other_text_and_keeps_ret, zeroed_context_names_no_span,
    is_state_accepts_permitted_texts_only, state_has_limits_of_entries_and_bytes)
