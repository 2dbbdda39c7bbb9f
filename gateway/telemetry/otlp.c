/* otlp.c - the messages of opentelemetry-proto v1. An attribute is written in one piece, because
 * most of the bytes are attributes; a span and a line begin and end. */
#include "gateway/telemetry/otlp.h"

#include "base/utf8.h"

#define NS_PER_US 1000

#define KIND_INTERNAL 1
#define KIND_SERVER   2
#define KIND_CLIENT   3
#define STATUS_ERROR  2
#define SEVERITY_INFO 9

/* Numbers of fields. The frames of the three signals have the same. */
enum { REQUEST_RESOURCES = 1 };
enum { RESOURCES_RESOURCE = 1, RESOURCES_SCOPES = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPES_SCOPE = 1, SCOPES_ITEMS = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { VALUE_TEXT = 1, VALUE_BOOL = 2, VALUE_INT = 3 };
enum {
    SPAN_TRACE_ID = 1,
    SPAN_ID = 2,
    SPAN_PARENT = 4,
    SPAN_NAME = 5,
    SPAN_KIND = 6,
    SPAN_START = 7,
    SPAN_END = 8,
    SPAN_ATTRIBUTES = 9,
    SPAN_LINKS = 13,
    SPAN_STATUS = 15,
};
enum { LINK_TRACE_ID = 1, LINK_SPAN_ID = 2 };
enum { STATUS_CODE = 3 };
enum {
    LINE_TIME = 1,
    LINE_SEVERITY_NUMBER = 2,
    LINE_SEVERITY_TEXT = 3,
    LINE_BODY = 5,
    LINE_ATTRIBUTES = 6,
    LINE_TRACE_ID = 9,
    LINE_SPAN_ID = 10,
};

/* ---- attributes */

/* Begins an attribute whose key is `before` and `key`, and whose value takes `len` bytes. Gives the
 * place of the value, or NULL. */
static char *
begin_attribute(
    struct writ_buf *buf, unsigned field, struct writ_view before, struct writ_view key, size_t len)
{
    size_t name = before.len + key.len;
    size_t inner = writ_protobuf_bytes_len(name) + writ_protobuf_bytes_len(len);
    size_t all = writ_protobuf_bytes_len(inner);
    char *to = writ_buf_reserve(buf, all);

    if (to == NULL) {
        return NULL;
    }
    buf->len += all;
    to = writ_protobuf_place(to, field, WRIT_PROTOBUF_BYTES, inner);
    to = writ_protobuf_place(to, KEY_VALUE_KEY, WRIT_PROTOBUF_BYTES, name);
    to += writ_view_place(before, to).len;
    to += writ_view_place(key, to).len;
    return writ_protobuf_place(to, KEY_VALUE_VALUE, WRIT_PROTOBUF_BYTES, len);
}

static void
put_text(struct writ_buf *buf, unsigned field, struct writ_view before, struct writ_view key,
    struct writ_view text)
{
    char *to = begin_attribute(buf, field, before, key, writ_protobuf_bytes_len(text.len));

    if (to != NULL) {
        to = writ_protobuf_place(to, VALUE_TEXT, WRIT_PROTOBUF_BYTES, text.len);
        (void)writ_view_place(text, to);
    }
}

static void
put_number(struct writ_buf *buf, unsigned field, struct writ_view before, struct writ_view key,
    unsigned kind, uint64_t value)
{
    char *to = begin_attribute(buf, field, before, key, 1 + writ_protobuf_varint_len(value));

    if (to != NULL) {
        (void)writ_protobuf_place(to, kind, WRIT_PROTOBUF_VARINT, value);
    }
}

void
writ_otlp_put_text(
    struct writ_buf *ret, unsigned field, struct writ_view key, struct writ_view text)
{
    put_text(ret, field, writ_view(NULL, 0), key, text);
}

/* A reader may refuse a whole body for one text that is not UTF-8. */
static bool
is_sent(struct writ_view text)
{
    return text.len <= WRIT_OTLP_TEXT_MAX && writ_utf8_is_valid(text, NULL);
}

static void
put_field(struct writ_buf *buf, unsigned field, struct writ_view before, struct writ_view key,
    const struct writ_log_field *of)
{
    switch (of->kind) {
    case WRIT_LOG_KIND_TEXT:
        if (is_sent(of->text)) {
            put_text(buf, field, before, key, of->text);
        }
        return;
    case WRIT_LOG_KIND_INT:
        put_number(buf, field, before, key, VALUE_INT, (uint64_t)of->number);
        return;
    case WRIT_LOG_KIND_BOOL:
        put_number(buf, field, before, key, VALUE_BOOL, of->number != 0 ? 1 : 0);
        return;
    }
}

static void
put_text_if(struct writ_buf *buf, struct writ_view key, struct writ_view text)
{
    if (text.len > 0 && is_sent(text)) {
        writ_otlp_put_text(buf, SPAN_ATTRIBUTES, key, text);
    }
}

/* ---- the frame */

static bool
is_given(const struct writ_pairs *given, struct writ_view name)
{
    for (size_t i = 0; i < given->n; i++) {
        if (writ_view_equal(given->items[i].name, name)) {
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

    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!is_given(given, own[i].name)) {
            writ_otlp_put_text(ret, RESOURCE_ATTRIBUTES, own[i].name, own[i].value);
        }
    }
    for (size_t i = 0; i < given->n; i++) {
        writ_otlp_put_text(ret, RESOURCE_ATTRIBUTES, given->items[i].name, given->items[i].value);
    }
}

void
writ_otlp_begin(struct writ_otlp *otlp, struct writ_view resource, struct writ_buf *body)
{
    size_t scope;

    *otlp = (struct writ_otlp){.body = body};
    otlp->all = writ_protobuf_begin(body, REQUEST_RESOURCES);
    writ_protobuf_put_bytes(body, RESOURCES_RESOURCE, resource);
    otlp->scoped = writ_protobuf_begin(body, RESOURCES_SCOPES);
    scope = writ_protobuf_begin(body, SCOPES_SCOPE);
    writ_protobuf_put_bytes(body, SCOPE_NAME, WRIT_LIT("writ"));
    writ_protobuf_put_bytes(body, SCOPE_VERSION, WRIT_LIT(WRIT_VERSION));
    writ_protobuf_end(body, scope);
}

void
writ_otlp_add(struct writ_otlp *otlp, struct writ_view elements, size_t n)
{
    writ_buf_put(otlp->body, elements);
    otlp->n += n;
}

size_t
writ_otlp_element_begin(struct writ_otlp *otlp)
{
    otlp->n++;
    return writ_protobuf_begin(otlp->body, SCOPES_ITEMS);
}

void
writ_otlp_element_end(struct writ_otlp *otlp, size_t at)
{
    writ_protobuf_end(otlp->body, at);
}

WRIT_RESULT
writ_otlp_end(struct writ_otlp *otlp, struct writ_err *err)
{
    writ_protobuf_end(otlp->body, otlp->scoped);
    writ_protobuf_end(otlp->body, otlp->all);
    return writ_buf_check(otlp->body, err);
}

/* ---- spans */

/* What a member of the line is as an attribute, when it is not "writ." and its name. */
static const struct special {
    struct writ_view member, attribute; /* an empty attribute: the span has it elsewhere */
} specials[] = {
    {WRIT_LIT("tool"), WRIT_LIT("gen_ai.tool.name")},
    {WRIT_LIT("path"), WRIT_LIT("url.path")},
    {WRIT_LIT("duration_us"), {NULL, 0}},
    {WRIT_LIT("error_type"), {NULL, 0}},
    {WRIT_LIT("method"), {NULL, 0}},
};

static void
put_attribute(struct writ_buf *buf, const struct writ_log_field *field)
{
    struct writ_view name = writ_view_str(field->key);

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (name.len == specials[i].member.len && writ_view_equal(name, specials[i].member)) {
            if (specials[i].attribute.len > 0) {
                put_field(buf, SPAN_ATTRIBUTES, writ_view(NULL, 0), specials[i].attribute, field);
            }
            return;
        }
    }
    put_field(buf, SPAN_ATTRIBUTES, WRIT_LIT("writ."), name, field);
}

/* The attributes that a span of MCP has on both sides. */
static void
put_method(struct writ_buf *buf, const struct writ_telemetry_record *record)
{
    put_text_if(buf, WRIT_LIT("mcp.method.name"), record->method);
    if (writ_view_is(record->method, "tools/call")) {
        put_text_if(buf, WRIT_LIT("gen_ai.operation.name"), WRIT_LIT("execute_tool"));
    }
}

static void
put_error(struct writ_buf *buf, struct writ_view error)
{
    size_t status;

    put_text_if(buf, WRIT_LIT("error.type"), error);
    if (error.len > 0) {
        status = writ_protobuf_begin(buf, SPAN_STATUS);
        writ_protobuf_put(buf, STATUS_CODE, STATUS_ERROR);
        writ_protobuf_end(buf, status);
    }
}

/* The head of a span. */
struct span {
    const unsigned char *id, *parent; /* parent NULL: none */
    struct writ_view name;
    unsigned kind;
    int64_t from_us, to_us; /* monotonic */
};

static void
put_span_id(struct writ_buf *buf, unsigned field, const unsigned char *id)
{
    writ_protobuf_put_bytes(buf, field, writ_view(id, WRIT_SPAN_ID_BYTES));
}

static void
put_time(struct writ_buf *buf, unsigned field, const struct writ_telemetry_record *record,
    int64_t mono_us)
{
    writ_protobuf_put_fixed64(buf, field, (uint64_t)(record->wall_us + mono_us) * NS_PER_US);
}

static size_t
begin_span(
    struct writ_buf *buf, const struct writ_telemetry_record *record, const struct span *span)
{
    size_t at = writ_protobuf_begin(buf, SCOPES_ITEMS);

    writ_protobuf_put_bytes(
        buf, SPAN_TRACE_ID, writ_view(record->span->trace_id, WRIT_TRACE_ID_BYTES));
    put_span_id(buf, SPAN_ID, span->id);
    if (span->parent != NULL) {
        put_span_id(buf, SPAN_PARENT, span->parent);
    }
    writ_protobuf_put_bytes(buf, SPAN_NAME, span->name);
    writ_protobuf_put(buf, SPAN_KIND, span->kind);
    put_time(buf, SPAN_START, record, span->from_us);
    put_time(buf, SPAN_END, record, span->to_us);
    return at;
}

static void
put_link(struct writ_buf *buf, const struct writ_trace_context *link)
{
    size_t at;

    if (!writ_trace_context_is(link)) {
        return;
    }
    at = writ_protobuf_begin(buf, SPAN_LINKS);
    writ_protobuf_put_bytes(buf, LINK_TRACE_ID, writ_view(link->trace_id, WRIT_TRACE_ID_BYTES));
    put_span_id(buf, LINK_SPAN_ID, link->span_id);
    writ_protobuf_end(buf, at);
}

static void
put_request(struct writ_buf *buf, const struct writ_telemetry_record *record)
{
    const struct span span = {.id = record->span->span_id,
        .parent = writ_trace_context_is(record->parent) ? record->parent->span_id : NULL,
        .name = record->name,
        .kind = KIND_SERVER,
        .from_us = record->from_us,
        .to_us = record->to_us};
    size_t at = begin_span(buf, record, &span);

    put_method(buf, record);
    for (size_t i = 0; i < record->fields_n; i++) {
        put_attribute(buf, &record->fields[i]);
    }
    put_link(buf, record->link);
    put_error(buf, record->error);
    writ_protobuf_end(buf, at);
}

/* Of the request's message to an upstream: the same method, tool and upstream. */
static void
put_message(struct writ_buf *buf, const struct writ_telemetry_record *record)
{
    put_method(buf, record);
    for (size_t i = 0; i < record->fields_n; i++) {
        struct writ_view key = writ_view_str(record->fields[i].key);
        if (writ_view_is(key, "tool") || writ_view_is(key, "upstream")) {
            put_attribute(buf, &record->fields[i]);
        }
    }
    put_error(buf, record->failed);
}

static void
put_wait(struct writ_buf *buf, const struct writ_telemetry_record *record,
    const struct writ_telemetry_wait *wait)
{
    const struct span span = {.id = wait->span_id,
        .parent = record->span->span_id,
        .name = wait->name == NULL ? record->name : writ_view_str(wait->name),
        .kind = wait->client ? KIND_CLIENT : KIND_INTERNAL,
        .from_us = wait->from_us,
        .to_us = wait->to_us};
    size_t at = begin_span(buf, record, &span);

    put_text_if(buf, WRIT_LIT("writ.step"), writ_view_str(wait->step));
    if (wait->name == NULL) {
        put_message(buf, record);
    }
    writ_protobuf_end(buf, at);
}

void
writ_otlp_put_spans(struct writ_buf *ret, const struct writ_telemetry_record *record)
{
    put_request(ret, record);
    for (size_t i = 0; i < record->waits_n; i++) {
        put_wait(ret, record, &record->waits[i]);
    }
}

size_t
writ_otlp_spans(const struct writ_telemetry_record *record)
{
    return 1 + record->waits_n;
}

/* ---- lines */

void
writ_otlp_put_line(struct writ_buf *ret, const struct writ_telemetry_record *record)
{
    size_t at = writ_protobuf_begin(ret, SCOPES_ITEMS), body;

    put_time(ret, LINE_TIME, record, record->to_us);
    writ_protobuf_put(ret, LINE_SEVERITY_NUMBER, SEVERITY_INFO);
    writ_protobuf_put_bytes(ret, LINE_SEVERITY_TEXT, WRIT_LIT("INFO"));
    body = writ_protobuf_begin(ret, LINE_BODY);
    writ_protobuf_put_bytes(ret, VALUE_TEXT, writ_view_str(writ_log_event_name(record->event)));
    writ_protobuf_end(ret, body);
    for (size_t i = 0; i < record->fields_n; i++) {
        const struct writ_log_field *field = &record->fields[i];
        put_field(ret, LINE_ATTRIBUTES, writ_view(NULL, 0), writ_view_str(field->key), field);
    }
    if (record->span != NULL) {
        writ_protobuf_put_bytes(
            ret, LINE_TRACE_ID, writ_view(record->span->trace_id, WRIT_TRACE_ID_BYTES));
        put_span_id(ret, LINE_SPAN_ID, record->span->span_id);
    }
    writ_protobuf_end(ret, at);
}
