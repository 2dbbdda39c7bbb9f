/* otlp.c - the JSON encoding of OTLP (opentelemetry-proto, docs/specification.md): names in camel
 * case, ids in hexadecimal, integers of 64 bits as strings of digits. */
#include "gateway/telemetry/otlp.h"

#define NS_PER_US 1000

#define KIND_INTERNAL 1
#define KIND_SERVER   2
#define KIND_CLIENT   3
#define STATUS_ERROR  2
#define SEVERITY_INFO 9

#define KEY_MAX 64

static const struct {
    const char *all, *scoped, *items;
} signals[] = {
    [WRIT_OTLP_TRACES] = {"resourceSpans", "scopeSpans", "spans"},
    [WRIT_OTLP_LOGS] = {"resourceLogs", "scopeLogs", "logRecords"},
    [WRIT_OTLP_METRICS] = {"resourceMetrics", "scopeMetrics", "metrics"},
};

/* ---- pieces */

/* A number of 64 bits: digits in quotes. */
static void
put_digits(struct writ_write *w, const char *name, int64_t value)
{
    char memory[24];
    struct writ_buf digits = writ_buf_over(memory, sizeof memory);

    writ_buf_i64(&digits, value);
    writ_write_text(w, name, writ_buf_view(&digits));
}

static void
put_hex(struct writ_write *w, const char *name, const unsigned char *bytes, size_t n)
{
    char memory[2 * WRIT_TRACE_ID_BYTES];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);

    writ_hex_put(&text, bytes, n);
    writ_write_text(w, name, writ_buf_view(&text));
}

void
writ_otlp_put_text(struct writ_write *w, struct writ_view key, struct writ_view text)
{
    writ_write_object_begin(w);
    writ_write_text(w, "key", key);
    writ_write_name(w, WRIT_LIT("value"));
    writ_write_object_begin(w);
    writ_write_text(w, "stringValue", text);
    writ_write_object_end(w);
    writ_write_object_end(w);
}

static void
put_text_if(struct writ_write *w, const char *key, struct writ_view text)
{
    if (text.len > 0) {
        writ_otlp_put_text(w, writ_view_str(key), text);
    }
}

static void
put_field(struct writ_write *w, struct writ_view key, const struct writ_telemetry_record *record,
    const struct writ_telemetry_field *field)
{
    if (field->kind == WRIT_LOG_KIND_TEXT) {
        writ_otlp_put_text(w, key, writ_telemetry_record_view(record, field->text));
        return;
    }
    writ_write_object_begin(w);
    writ_write_text(w, "key", key);
    writ_write_name(w, WRIT_LIT("value"));
    writ_write_object_begin(w);
    if (field->kind == WRIT_LOG_KIND_BOOL) {
        writ_write_flag(w, "boolValue", field->number != 0);
    } else {
        put_digits(w, "intValue", field->number);
    }
    writ_write_object_end(w);
    writ_write_object_end(w);
}

/* ---- the frame */

static bool
is_given(const struct writ_pairs *given, const char *name)
{
    for (size_t i = 0; i < given->n; i++) {
        if (writ_view_is(given->items[i].name, name)) {
            return true;
        }
    }
    return false;
}

void
writ_otlp_put_resource(
    struct writ_buf *ret, const struct writ_pairs *given, struct writ_view instance)
{
    const struct writ_pair own[] = {
        {WRIT_LIT("service.name"), WRIT_LIT("writ")},
        {WRIT_LIT("service.version"), WRIT_LIT(WRIT_VERSION)},
        {WRIT_LIT("service.instance.id"), instance},
    };
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("attributes"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!is_given(given, own[i].name.ptr)) {
            writ_otlp_put_text(&w, own[i].name, own[i].value);
        }
    }
    for (size_t i = 0; i < given->n; i++) {
        writ_otlp_put_text(&w, given->items[i].name, given->items[i].value);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
}

void
writ_otlp_begin(struct writ_otlp *otlp, enum writ_otlp_signal signal, struct writ_view resource,
    struct writ_buf *body)
{
    struct writ_write *w = &otlp->w;

    otlp->n = 0;
    *w = writ_write_to(body);
    writ_write_object_begin(w);
    writ_write_name(w, writ_view_str(signals[signal].all));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("resource"));
    writ_write_raw(w, resource);
    writ_write_name(w, writ_view_str(signals[signal].scoped));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("scope"));
    writ_write_object_begin(w);
    writ_write_text(w, "name", WRIT_LIT("writ"));
    writ_write_text(w, "version", WRIT_LIT(WRIT_VERSION));
    writ_write_object_end(w);
    writ_write_name(w, writ_view_str(signals[signal].items));
    writ_write_array_begin(w);
}

WRIT_RESULT
writ_otlp_end(struct writ_otlp *otlp, struct writ_err *err)
{
    struct writ_write *w = &otlp->w;

    writ_write_array_end(w);
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_object_end(w);
    return writ_write_end(w, err);
}

/* ---- spans */

/* Members of the line that are not attributes: the span has them elsewhere. */
static bool
is_left_out(struct writ_view key)
{
    return writ_view_is(key, "duration_us") || writ_view_is(key, "error_type") ||
           writ_view_is(key, "method");
}

static void
put_attribute(struct writ_write *w, const struct writ_telemetry_record *record,
    const struct writ_telemetry_field *field)
{
    char memory[KEY_MAX];
    struct writ_buf key = writ_buf_over(memory, sizeof memory);
    struct writ_view name = writ_view_str(field->key);

    if (is_left_out(name)) {
        return;
    }
    if (writ_view_is(name, "tool")) {
        writ_buf_str(&key, "gen_ai.tool.name");
    } else if (writ_view_is(name, "path")) {
        writ_buf_str(&key, "url.path");
    } else {
        writ_buf_str(&key, "writ.");
        writ_buf_put(&key, name);
    }
    put_field(w, writ_buf_view(&key), record, field);
}

/* The attributes that a span of MCP has on both sides. */
static void
put_method(struct writ_write *w, const struct writ_telemetry_record *record)
{
    struct writ_view method = writ_telemetry_record_view(record, record->method);

    put_text_if(w, "mcp.method.name", method);
    if (writ_view_is(method, "tools/call")) {
        put_text_if(w, "gen_ai.operation.name", WRIT_LIT("execute_tool"));
    }
}

static void
put_error(struct writ_write *w, const struct writ_telemetry_record *record,
    struct writ_telemetry_text error)
{
    put_text_if(w, "error.type", writ_telemetry_record_view(record, error));
}

static void
put_status(struct writ_write *w, struct writ_telemetry_text error)
{
    if (error.len > 0) {
        writ_write_name(w, WRIT_LIT("status"));
        writ_write_object_begin(w);
        writ_write_count(w, "code", STATUS_ERROR);
        writ_write_object_end(w);
    }
}

/* The head of a span. */
struct span {
    const unsigned char *id, *parent; /* parent NULL: none */
    struct writ_view name;
    int kind;
    int64_t from_us, to_us; /* monotonic */
};

static void
begin_span(
    struct writ_otlp *otlp, const struct writ_telemetry_record *record, const struct span *span)
{
    struct writ_write *w = &otlp->w;

    otlp->n++;
    writ_write_object_begin(w);
    put_hex(w, "traceId", record->span.trace_id, WRIT_TRACE_ID_BYTES);
    put_hex(w, "spanId", span->id, WRIT_SPAN_ID_BYTES);
    if (span->parent != NULL) {
        put_hex(w, "parentSpanId", span->parent, WRIT_SPAN_ID_BYTES);
    }
    writ_write_text(w, "name", span->name);
    writ_write_count(w, "kind", (uint64_t)span->kind);
    put_digits(w, "startTimeUnixNano", (record->wall_us + span->from_us) * NS_PER_US);
    put_digits(w, "endTimeUnixNano", (record->wall_us + span->to_us) * NS_PER_US);
    writ_write_name(w, WRIT_LIT("attributes"));
    writ_write_array_begin(w);
}

static void
put_link(struct writ_write *w, const struct writ_trace_context *link)
{
    if (!writ_trace_context_is(link)) {
        return;
    }
    writ_write_name(w, WRIT_LIT("links"));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    put_hex(w, "traceId", link->trace_id, WRIT_TRACE_ID_BYTES);
    put_hex(w, "spanId", link->span_id, WRIT_SPAN_ID_BYTES);
    writ_write_object_end(w);
    writ_write_array_end(w);
}

static bool
is_zero(const unsigned char *id)
{
    unsigned char any = 0;

    for (size_t i = 0; i < WRIT_SPAN_ID_BYTES; i++) {
        any |= id[i];
    }
    return any == 0;
}

static void
put_request(struct writ_otlp *otlp, const struct writ_telemetry_record *record)
{
    struct writ_write *w = &otlp->w;
    const struct span span = {.id = record->span.span_id,
        .parent = is_zero(record->parent) ? NULL : record->parent,
        .name = writ_telemetry_record_view(record, record->name),
        .kind = KIND_SERVER,
        .from_us = record->from_us,
        .to_us = record->to_us};

    begin_span(otlp, record, &span);
    put_method(w, record);
    for (size_t i = 0; i < record->fields_n; i++) {
        put_attribute(w, record, &record->fields[i]);
    }
    put_error(w, record, record->error);
    writ_write_array_end(w);
    put_link(w, &record->link);
    put_status(w, record->error);
    writ_write_object_end(w);
}

/* Of the request's message to an upstream: the same method, tool and upstream. */
static void
put_message(struct writ_write *w, const struct writ_telemetry_record *record)
{
    put_method(w, record);
    for (size_t i = 0; i < record->fields_n; i++) {
        struct writ_view key = writ_view_str(record->fields[i].key);
        if (writ_view_is(key, "tool") || writ_view_is(key, "upstream")) {
            put_attribute(w, record, &record->fields[i]);
        }
    }
    put_error(w, record, record->failed);
}

static void
put_wait(struct writ_otlp *otlp, const struct writ_telemetry_record *record,
    const struct writ_telemetry_wait *wait)
{
    struct writ_write *w = &otlp->w;
    bool message = wait->name == NULL;
    const struct span span = {.id = wait->span_id,
        .parent = record->span.span_id,
        .name =
            message ? writ_telemetry_record_view(record, record->name) : writ_view_str(wait->name),
        .kind = wait->client ? KIND_CLIENT : KIND_INTERNAL,
        .from_us = wait->from_us,
        .to_us = wait->to_us};

    begin_span(otlp, record, &span);
    put_text_if(w, "writ.step", writ_view_str(wait->step));
    if (message) {
        put_message(w, record);
    }
    writ_write_array_end(w);
    if (message) {
        put_status(w, record->failed);
    }
    writ_write_object_end(w);
}

void
writ_otlp_add_spans(struct writ_otlp *otlp, const struct writ_telemetry_record *record)
{
    put_request(otlp, record);
    for (size_t i = 0; i < record->waits_n; i++) {
        put_wait(otlp, record, &record->waits[i]);
    }
}

/* ---- lines */

void
writ_otlp_add_line(struct writ_otlp *otlp, const struct writ_telemetry_record *record)
{
    struct writ_write *w = &otlp->w;

    otlp->n++;
    writ_write_object_begin(w);
    put_digits(w, "timeUnixNano", (record->wall_us + record->to_us) * NS_PER_US);
    writ_write_count(w, "severityNumber", SEVERITY_INFO);
    writ_write_text(w, "severityText", WRIT_LIT("INFO"));
    writ_write_name(w, WRIT_LIT("body"));
    writ_write_object_begin(w);
    writ_write_text(w, "stringValue", writ_view_str(writ_log_event_name(record->event)));
    writ_write_object_end(w);
    writ_write_name(w, WRIT_LIT("attributes"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < record->fields_n; i++) {
        put_field(w, writ_view_str(record->fields[i].key), record, &record->fields[i]);
    }
    writ_write_array_end(w);
    if (writ_trace_context_is(&record->span)) {
        put_hex(w, "traceId", record->span.trace_id, WRIT_TRACE_ID_BYTES);
        put_hex(w, "spanId", record->span.span_id, WRIT_SPAN_ID_BYTES);
    }
    writ_write_object_end(w);
}
