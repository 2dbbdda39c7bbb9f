/* The elements and bodies of OTLP, byte by byte as opentelemetry-proto and Protocol Buffers define
 * them; integration.telemetry reads them with OpenTelemetry's own package. */
#include "support/unit.h"

#include "gateway/telemetry/otlp_metrics.h"

#define BODY_MAX 65536

static const struct writ_log_field fields[] = {
    {.key = "tool", .kind = WRIT_LOG_KIND_TEXT, .text = {"pay", 3}},
    {.key = "shadow", .kind = WRIT_LOG_KIND_BOOL, .number = 1},
    {.key = "duration_us", .kind = WRIT_LOG_KIND_INT, .number = 300},
};

static const struct writ_telemetry_wait waits[] = {
    {.name = "ledger", .step = "CLAIM", .span_id = {2}, .from_us = 11, .to_us = 12},
    {.step = "FORWARD", .client = true, .span_id = {3}, .from_us = 12, .to_us = 13},
};

static const struct writ_trace_context span = {.trace_id = {0xab}, .span_id = {1}, .sampled = true};
static const struct writ_trace_context none;

/* A request of two waits, with a line of three members. */
static struct writ_telemetry_record
record_of(void)
{
    return (struct writ_telemetry_record){.spans = true,
        .line = true,
        .span = &span,
        .parent = &none,
        .link = &none,
        .name = WRIT_LIT("tools/call pay"),
        .method = WRIT_LIT("tools/call"),
        .error = WRIT_LIT("tool_error"),
        .waits = waits,
        .waits_n = 2,
        .event = WRIT_EVENT_CALL,
        .fields = fields,
        .fields_n = sizeof fields / sizeof *fields,
        .from_us = 10,
        .to_us = 14,
        .wall_us = 1000};
}

/* The bytes in hexadecimal, so that a failure can be read. */
static void
check_hex(const struct writ_buf *got, const char *want)
{
    writ_auto_buf hex = writ_buf_make(BODY_MAX);

    ck_assert_ok(writ_buf_check(got, NULL));
    writ_hex_put(&hex, got->ptr, got->len);
    ck_assert_view(writ_buf_view(&hex), want);
}

#define TRACE_ID "0a10ab000000000000000000000000000000"
#define SPAN_ID  "00000000000000" /* all but the first byte */
#define PARENT   "220801" SPAN_ID
#define TIME     "09"
#define INFO     "10091a04494e464f"
#define CALL     "2a868080000a0463616c6c"
#define METHOD                                                                                     \
    "4a190a0f6d63702e6d6574686f642e6e616d6512060a0470696e67"          /* mcp.method.name: ping     \
                                                                       */
#define TOOL "4a190a1067656e5f61692e746f6f6c2e6e616d6512050a03706179" /* gen_ai.tool.name: pay */
START_TEST(put_line_writes_the_members_of_the_log)
{
    struct writ_telemetry_record record = record_of();
    writ_auto_buf line = writ_buf_make(BODY_MAX);

    writ_otlp_put_line(&line, &record);
    check_hex(&line, "12e9808000" TIME "f0780f0000000000" INFO CALL         /* 1014000 ns */
                     "320d0a04746f6f6c12050a03706179"                       /* tool: pay */
                     "320c0a06736861646f7712021001"                         /* shadow: true */
                     "32120a0b6475726174696f6e5f7573120318ac02"             /* duration_us: 300 */
                     "4a10ab000000000000000000000000000000520801" SPAN_ID); /* trace, span */
    writ_buf_clear(&line);
    record.span = NULL;
    record.fields_n = 0;
    writ_otlp_put_line(&line, &record);
    check_hex(&line, "129c808000" TIME "f0780f0000000000" INFO CALL);
}
END_TEST

START_TEST(put_spans_writes_the_request_and_its_waits)
{
    struct writ_telemetry_record record = record_of();
    writ_auto_buf spans = writ_buf_make(BODY_MAX);

    record.method = WRIT_LIT("ping");
    record.name = WRIT_LIT("n");
    ck_assert_uint_eq(writ_otlp_spans(&record), 3);
    writ_otlp_put_spans(&spans, &record);
    check_hex(&spans,
        "129f818000" TRACE_ID "120801" SPAN_ID "2a016e3002" /* n, a server's */
        "3950690f000000000041f0780f0000000000" METHOD TOOL
        "4a110a0b777269742e736861646f7712021001"                   /* writ.shadow: true */
        "4a1a0a0a6572726f722e74797065120c0a0a746f6f6c5f6572726f72" /* error.type: tool_error */
        "7a828080001802"                                           /* the status is an error */
        "12d8808000" TRACE_ID "120802" SPAN_ID PARENT "2a066c65646765723001" /* ledger, internal */
        "39386d0f00000000004120710f0000000000"
        "4a140a09777269742e7374657012070a05434c41494d"             /* writ.step: CLAIM */
        "128b818000" TRACE_ID "120803" SPAN_ID PARENT "2a016e3003" /* n, a client's */
        "3920710f00000000004108750f0000000000"
        "4a160a09777269742e7374657012090a07464f5257415244" /* writ.step: FORWARD */
        METHOD TOOL);
}
END_TEST

START_TEST(put_spans_writes_the_parent_and_the_link_of_the_caller)
{
    const struct writ_trace_context parent = {.trace_id = {0xab}, .span_id = {1}};
    const struct writ_trace_context link = {.trace_id = {0xab}, .span_id = {9}};
    struct writ_telemetry_record record = record_of();
    writ_auto_buf spans = writ_buf_make(BODY_MAX);

    record.parent = &parent;
    record.link = &link;
    record.fields_n = record.waits_n = 0;
    record.error = record.method = writ_view(NULL, 0);
    record.name = WRIT_LIT("n");
    writ_otlp_put_spans(&spans, &record);
    check_hex(&spans, "12de808000" TRACE_ID "120801" SPAN_ID PARENT "2a016e3002"
                      "3950690f000000000041f0780f0000000000"
                      "6a9c808000" TRACE_ID "120809" SPAN_ID);
}
END_TEST

/* The length of a line with one text. */
static size_t
line_with(struct writ_view text)
{
    const struct writ_log_field field = writ_log_text("k", text);
    struct writ_telemetry_record record = {.line = true, .fields = &field, .fields_n = 1};
    writ_auto_buf line = writ_buf_make(BODY_MAX);

    writ_otlp_put_line(&line, &record);
    ck_assert_ok(writ_buf_check(&line, NULL));
    return line.len;
}

START_TEST(text_that_is_too_long_or_not_utf8_is_left_out)
{
    struct writ_telemetry_record record = {.line = true};
    writ_auto_buf line = writ_buf_make(BODY_MAX);
    writ_auto_buf text = writ_buf_make(BODY_MAX);

    writ_otlp_put_line(&line, &record);
    for (size_t i = 0; i < WRIT_OTLP_TEXT_MAX; i++) {
        writ_buf_byte(&text, 'x');
    }
    ck_assert_uint_gt(line_with(writ_buf_view(&text)), line.len + WRIT_OTLP_TEXT_MAX);
    writ_buf_byte(&text, 'x');
    ck_assert_uint_eq(line_with(writ_buf_view(&text)), line.len);
    ck_assert_uint_gt(line_with(WRIT_LIT("\xc3\xa4")), line.len);
    ck_assert_uint_eq(line_with(WRIT_LIT("\xc3")), line.len);
}
END_TEST

START_TEST(put_resource_lets_the_configuration_replace_its_own_attributes)
{
    const struct writ_pair pairs[] = {
        {WRIT_LIT("service.name"), WRIT_LIT("gate")}, {WRIT_LIT("a"), WRIT_LIT("b")}};
    const struct writ_pairs given = {pairs, 2};
    writ_auto_buf text = writ_buf_make(BODY_MAX);
    writ_auto_buf want = writ_buf_make(BODY_MAX);

    writ_otlp_put_resource(&text, &given, WRIT_LIT("id"));
    writ_otlp_put_text(&want, 1, WRIT_LIT("service.version"), WRIT_LIT(WRIT_VERSION));
    writ_otlp_put_text(&want, 1, WRIT_LIT("service.instance.id"), WRIT_LIT("id"));
    writ_otlp_put_text(&want, 1, WRIT_LIT("service.name"), WRIT_LIT("gate"));
    writ_otlp_put_text(&want, 1, WRIT_LIT("a"), WRIT_LIT("b"));
    ck_assert(writ_view_equal(writ_buf_view(&text), writ_buf_view(&want)));
}
END_TEST

/* A body of `n` elements of three bytes. */
static writ_result
write_body(size_t n, struct writ_buf *ret)
{
    struct writ_otlp otlp;

    writ_otlp_begin(&otlp, WRIT_LIT("res"), ret);
    for (size_t i = 0; i < n; i++) {
        writ_otlp_add(&otlp, WRIT_LIT("abc"), 2);
    }
    ck_assert_uint_eq(otlp.n, 2 * n);
    return writ_otlp_end(&otlp, NULL);
}

START_TEST(body_frames_its_elements)
{
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    writ_auto_buf want = writ_buf_make(BODY_MAX);
    size_t all, scopes, scope;

    ck_assert_ok(write_body(2, &body));
    all = writ_protobuf_begin(&want, 1);
    writ_protobuf_put_bytes(&want, 1, WRIT_LIT("res"));
    scopes = writ_protobuf_begin(&want, 2);
    scope = writ_protobuf_begin(&want, 1);
    writ_protobuf_put_bytes(&want, 1, WRIT_LIT("writ"));
    writ_protobuf_put_bytes(&want, 2, WRIT_LIT(WRIT_VERSION));
    writ_protobuf_end(&want, scope);
    writ_buf_str(&want, "abcabc");
    writ_protobuf_end(&want, scopes);
    writ_protobuf_end(&want, all);
    ck_assert(writ_view_equal(writ_buf_view(&body), writ_buf_view(&want)));
}
END_TEST

START_TEST(end_fails_when_the_body_is_longer_than_its_maximum)
{
    writ_auto_buf body = writ_buf_make(sizeof WRIT_VERSION + 40);

    ck_assert_ok(write_body(1, &body));
    ck_assert_uint_gt(body.len + 27, body.max);
    writ_buf_clear(&body);
    ck_assert_code(write_body(10, &body), WRIT_E_LIMIT);
}
END_TEST

#define METRICS                                                                                    \
    "# HELP writ_a_total Help\n# TYPE writ_a_total counter\nwrit_a_total{l=\"x\\\"y\"} 7\n"        \
    "# HELP writ_none Help\n# TYPE writ_none gauge\n"                                              \
    "# HELP writ_b Help\n# TYPE writ_b gauge\nwrit_b -1\nwrit_b 0.5\n"                             \
    "# HELP writ_c_seconds H\n# TYPE writ_c_seconds histogram\n"                                   \
    "writ_c_seconds_bucket{le=\"0.5\"} 1\nwrit_c_seconds_bucket{le=\"+Inf\"} 3\n"                  \
    "writ_c_seconds_sum 2.5\nwrit_c_seconds_count 3\n"

static writ_result
write_metrics(struct writ_buf *ret)
{
    struct writ_otlp otlp = {.body = ret};

    writ_otlp_metrics_add(&otlp, WRIT_LIT(METRICS), 1, 2);
    ck_assert(ret->failed != WRIT_E_UNSET || otlp.n == 3);
    return writ_buf_check(ret, NULL);
}

START_TEST(metrics_are_translated_from_the_text)
{
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    ck_assert_ok(write_metrics(&body));
    check_hex(&body, "12c9808000"
                     "0a0c777269745f615f746f74616c"
                     "120448656c70" /* writ_a_total, Help */
                     "3ab0808000"
                     "1002"
                     "1801" /* a sum, it only grows */
                     "0aa7808000"
                     "11e803000000000000"
                     "19d007000000000000"
                     "310700000000000000"
                     "3a0a0a016c12050a03782279" /* l: x"y */
                     "12c1808000"
                     "0a06777269745f62"
                     "120448656c70" /* writ_b */
                     "2aae808000"   /* a gauge */
                     "0a92808000"
                     "19d007000000000000"
                     "31ffffffffffffffff" /* -1 */
                     "0a92808000"
                     "19d007000000000000"
                     "21000000000000e03f" /* 0.5 */
                     "12e8808000"
                     "0a0e777269745f635f7365636f6e6473"
                     "120148"
                     "1a0173" /* in seconds */
                     "4acd808000"
                     "1002" /* a histogram */
                     "0ac6808000"
                     "11e803000000000000"
                     "19d007000000000000"
                     "210300000000000000"
                     "290000000000000440" /* 3 values, 2.5 */
                     "3290808000"
                     "0100000000000000"
                     "0200000000000000" /* 1 and 2 of them */
                     "3a88808000"
                     "000000000000e03f"); /* up to 0.5, and above */
}
END_TEST

/* Fails the first, second ... allocation: the content is the same, or there is an error. */
static void
check_faults(writ_result (*write)(struct writ_buf *ret))
{
    writ_auto_buf want = writ_buf_make(BODY_MAX);
    bool reached = true;

    ck_assert_ok(write(&want));
    for (long nth = 1; reached; nth++) {
        writ_auto_buf got = writ_buf_make(BODY_MAX);
        writ_fault_arm(nth);
        writ_result wrote = write(&got);
        reached = writ_fault_disarm();
        if (writ_is_ok(wrote)) {
            ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
        } else {
            ck_assert_int_eq(wrote.code, WRIT_E_NOMEM);
        }
        ck_assert(!reached || !writ_is_ok(wrote));
    }
}

static writ_result
write_record(struct writ_buf *ret)
{
    struct writ_telemetry_record record = record_of();

    writ_otlp_put_spans(ret, &record);
    writ_otlp_put_line(ret, &record);
    return writ_buf_check(ret, NULL);
}

static writ_result
write_long_body(struct writ_buf *ret)
{
    return write_body(1000, ret);
}

START_TEST(failed_allocation_never_yields_another_text)
{
    check_faults(write_record);
    check_faults(write_long_body);
    check_faults(write_metrics);
}
END_TEST

WRIT_UNIT_MAIN("otlp", put_line_writes_the_members_of_the_log,
    put_spans_writes_the_request_and_its_waits,
    put_spans_writes_the_parent_and_the_link_of_the_caller,
    text_that_is_too_long_or_not_utf8_is_left_out,
    put_resource_lets_the_configuration_replace_its_own_attributes, body_frames_its_elements,
    end_fails_when_the_body_is_longer_than_its_maximum, metrics_are_translated_from_the_text,
    failed_allocation_never_yields_another_text)
