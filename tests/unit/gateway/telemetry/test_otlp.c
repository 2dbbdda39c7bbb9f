/* Records hold what fits, and bodies of OTLP are the JSON that opentelemetry-proto defines. */
#include "support/unit.h"

#include "gateway/telemetry/otlp.h"

#define BODY_MAX 65536

/* A field with a text of `n` letters. */
static void
add_text(struct writ_telemetry_record *record, size_t n)
{
    writ_auto_buf text = writ_buf_make(n);
    struct writ_log_field field;

    for (size_t i = 0; i < n; i++) {
        writ_buf_byte(&text, 'x');
    }
    field = writ_log_text("k", writ_buf_view(&text));
    writ_telemetry_record_field(record, &field);
}

START_TEST(record_holds_texts_up_to_its_size_and_leaves_out_the_next)
{
    struct writ_telemetry_record record;
    const struct writ_log_field number = writ_log_int("n", 1);

    writ_telemetry_record_clear(&record);
    add_text(&record, WRIT_TELEMETRY_TEXT_MAX);
    ck_assert_uint_eq(record.fields_n, 1);
    ck_assert_uint_eq(
        writ_telemetry_record_view(&record, record.fields[0].text).len, WRIT_TELEMETRY_TEXT_MAX);
    add_text(&record, 1);
    ck_assert_uint_eq(record.fields_n, 1);
    writ_telemetry_record_field(&record, &number);
    ck_assert_uint_eq(record.fields_n, 2);
    ck_assert_uint_eq(writ_telemetry_record_text(&record, WRIT_LIT("x")).len, 0);

    writ_telemetry_record_clear(&record);
    add_text(&record, WRIT_TELEMETRY_TEXT_MAX + 1);
    ck_assert_uint_eq(record.fields_n, 0);
}
END_TEST

START_TEST(record_holds_so_many_fields)
{
    struct writ_telemetry_record record;

    writ_telemetry_record_clear(&record);
    for (size_t i = 0; i <= WRIT_TELEMETRY_FIELDS_MAX; i++) {
        add_text(&record, 1);
    }
    ck_assert_uint_eq(record.fields_n, WRIT_TELEMETRY_FIELDS_MAX);
}
END_TEST

/* A request of two waits, with a line of two members. */
static void
make_record(struct writ_telemetry_record *record)
{
    const struct writ_log_field fields[] = {writ_log_str("tool", "pa\"y"),
        writ_log_bool("shadow", true), writ_log_int("duration_us", 7)};

    writ_telemetry_record_clear(record);
    record->spans = record->line = true;
    record->span = (struct writ_trace_context){.trace_id = {0xab}, .span_id = {1}, .sampled = true};
    record->method = writ_telemetry_record_text(record, WRIT_LIT("tools/call"));
    record->name = writ_telemetry_record_text(record, WRIT_LIT("tools/call pay"));
    record->error = writ_telemetry_record_text(record, WRIT_LIT("tool_error"));
    record->event = WRIT_EVENT_CALL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        writ_telemetry_record_field(record, &fields[i]);
    }
    record->waits[0] = (struct writ_telemetry_wait){
        .name = "ledger", .step = "CLAIM", .span_id = {2}, .from_us = 11, .to_us = 12};
    record->waits[1] = (struct writ_telemetry_wait){
        .step = "FORWARD", .client = true, .span_id = {3}, .from_us = 12, .to_us = 13};
    record->waits_n = 2;
    record->from_us = 10;
    record->to_us = 14;
    record->wall_us = 1000;
}

static void
body_of(
    enum writ_otlp_signal signal, const struct writ_telemetry_record *record, struct writ_buf *ret)
{
    struct writ_otlp otlp;

    writ_otlp_begin(&otlp, signal, WRIT_LIT("{}"), ret);
    if (signal == WRIT_OTLP_TRACES) {
        writ_otlp_add_spans(&otlp, record);
        ck_assert_uint_eq(otlp.n, 1 + record->waits_n);
    } else {
        writ_otlp_add_line(&otlp, record);
        ck_assert_uint_eq(otlp.n, 1);
    }
    ck_assert_ok(writ_otlp_end(&otlp, NULL));
}

#define TEXT(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"
#define TRACE_ID         "ab000000000000000000000000000000"
#define HEAD(all, scoped, items)                                                                   \
    "{\"" all "\":[{\"resource\":{},\"" scoped                                                     \
    "\":[{\"scope\":{\"name\":\"writ\",\"version\":\"" WRIT_VERSION "\"},\"" items "\":["
#define SPAN(id, parent, name, kind, from, to)                                                     \
    "{\"traceId\":\"" TRACE_ID "\",\"spanId\":\"" id "00000000000000\"," parent "\"name\":\"" name \
    "\",\"kind\":" kind ",\"startTimeUnixNano\":\"" from "\",\"endTimeUnixNano\":\"" to            \
    "\",\"attributes\":["
#define PARENT "\"parentSpanId\":\"0100000000000000\","

START_TEST(add_spans_writes_the_request_and_its_waits)
{
    struct writ_telemetry_record record;
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    make_record(&record);
    body_of(WRIT_OTLP_TRACES, &record, &body);
    ck_assert_view(writ_buf_view(&body),
        HEAD("resourceSpans", "scopeSpans", "spans") SPAN("01", "", "tools/call pay", "2",
            "1010000",
            "1014000") TEXT("mcp.method.name", "tools/call") "," TEXT("gen_ai.operation.name",
            "execute_tool") "," TEXT("gen_ai.tool.name",
            "pa\\\"y") ",{\"key\":\"writ.shadow\",\"value\":{\"boolValue\":true}}," TEXT("error."
                                                                                         "type",
            "tool_error") "],\"status\":{\"code\":2}}," SPAN("02", PARENT, "ledger", "1", "1011000",
            "1012000") TEXT("writ.step", "CLAIM") "]}," SPAN("03", PARENT, "tools/call pay", "3",
            "1012000", "1013000") TEXT("writ.step", "FORWARD") "," TEXT("mcp.method.name",
            "tools/call") "," TEXT("gen_ai.operation.name",
            "execute_tool") "," TEXT("gen_ai.tool.name", "pa\\\"y") "]}]}]}]}");
}
END_TEST

START_TEST(add_line_writes_the_members_of_the_log)
{
    struct writ_telemetry_record record;
    writ_auto_buf body = writ_buf_make(BODY_MAX);

    make_record(&record);
    body_of(WRIT_OTLP_LOGS, &record, &body);
    ck_assert_view(writ_buf_view(&body),
        HEAD("resourceLogs", "scopeLogs",
            "logRecords") "{\"timeUnixNano\":\"1014000\","
                          "\"severityNumber\":9,\"severityText\":\"INFO\",\"body\":{"
                          "\"stringValue\":\"call\"},"
                          "\"attributes\":[" TEXT("tool",
                              "pa\\\"y") ",{\"key\":\"shadow\",\"value\":{\"boolValue\":true}},"
                                         "{\"key\":\"duration_us\",\"value\":{\"intValue\":\"7\"}}]"
                                         ",\"traceId\":\"" TRACE_ID
                                         "\",\"spanId\":\"0100000000000000\"}]}]}]}");
}
END_TEST

START_TEST(put_resource_lets_the_configuration_replace_its_own_attributes)
{
    const struct writ_pair pairs[] = {
        {WRIT_LIT("service.name"), WRIT_LIT("gate")}, {WRIT_LIT("a"), WRIT_LIT("b")}};
    const struct writ_pairs given = {pairs, 2};
    writ_auto_buf text = writ_buf_make(BODY_MAX);

    writ_otlp_put_resource(&text, &given, WRIT_LIT("id"));
    ck_assert_view(writ_buf_view(&text),
        "{\"attributes\":[" TEXT("service.version", WRIT_VERSION) "," TEXT(
            "service.instance.id", "id") "," TEXT("service.name", "gate") "," TEXT("a", "b") "]}");
}
END_TEST

START_TEST(end_fails_when_the_body_is_longer_than_its_maximum)
{
    struct writ_telemetry_record record;
    writ_auto_buf body = writ_buf_make(512);
    struct writ_otlp otlp;

    make_record(&record);
    writ_otlp_begin(&otlp, WRIT_OTLP_TRACES, WRIT_LIT("{}"), &body);
    writ_otlp_add_spans(&otlp, &record);
    ck_assert_code(writ_otlp_end(&otlp, NULL), WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("otlp", record_holds_texts_up_to_its_size_and_leaves_out_the_next,
    record_holds_so_many_fields, add_spans_writes_the_request_and_its_waits,
    add_line_writes_the_members_of_the_log,
    put_resource_lets_the_configuration_replace_its_own_attributes,
    end_fails_when_the_body_is_longer_than_its_maximum)
