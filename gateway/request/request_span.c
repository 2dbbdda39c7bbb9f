/* request_span.c - the caller's context is read when it is first needed, which is after the message
 * was read: its _meta may have it. */
#include "gateway/request/request_span.h"

#include "gateway/request/trace.h"
#include "gateway/telemetry/telemetry.h"

#define STATE_NAME WRIT_LIT("tracestate")
#define NAME_MAX   256 /* of a span */

static struct writ_telemetry *
telemetry_of(const struct writ_request *request)
{
    return request->worker->gateway->telemetry;
}

/* ---- the caller's context */

/* In _meta, as MCP defines it (SEP-414); else in the head. */
static struct writ_view
incoming(const struct writ_request *request, struct writ_view name)
{
    struct writ_view text = writ_json_string(writ_json_get(request->message.meta, name));

    return text.ptr != NULL ? text : writ_exchange_header(request->x, name);
}

struct writ_view
writ_request_span_incoming_id(const struct writ_request *request)
{
    struct writ_view text = incoming(request, WRIT_LIT("traceparent"));
    struct writ_trace_context context;

    return writ_is_ok(writ_trace_context_read(text, &context))
               ? writ_view_sub(text, 3, 2 * WRIT_TRACE_ID_BYTES)
               : writ_view(NULL, 0);
}

static void
make_id(const struct writ_request *request, unsigned char *id, size_t n)
{
    writ_telemetry_make_id(telemetry_of(request), request->worker->index, id, n);
}

/* The trace of the caller, or one of its own. */
static void
choose_trace(const struct writ_request *request, enum writ_incoming rule)
{
    struct writ_trace *trace = request->trace;
    struct writ_trace_context caller;

    if (!writ_is_ok(writ_trace_context_read(incoming(request, WRIT_LIT("traceparent")), &caller))) {
        make_id(request, trace->span.trace_id, WRIT_TRACE_ID_BYTES);
    } else if (rule == WRIT_INCOMING_LINK) {
        make_id(request, trace->span.trace_id, WRIT_TRACE_ID_BYTES);
        trace->link = caller;
    } else {
        trace->parent = trace->span = caller;
        trace->state = incoming(request, STATE_NAME);
        if (!writ_trace_context_is_state(trace->state)) {
            trace->state = writ_view(NULL, 0);
        }
    }
}

/* The message must have been read: its _meta may name the caller's span. */
static void
know(const struct writ_request *request)
{
    struct writ_trace *trace = request->trace;
    const struct writ_telemetry *telemetry = telemetry_of(request);
    enum writ_incoming rule;

    if (trace->known || telemetry == NULL) {
        return;
    }
    rule = writ_telemetry_config(telemetry)->incoming;
    trace->known = true;
    choose_trace(request, rule);
    make_id(request, trace->span.span_id, WRIT_SPAN_ID_BYTES);
    trace->sampled = rule == WRIT_INCOMING_SAMPLED && writ_trace_context_is(&trace->parent)
                         ? trace->parent.sampled
                         : writ_telemetry_samples(telemetry, trace->span.trace_id);
    trace->span.sampled = trace->sampled;
}

/* ---- to an upstream */

bool
writ_request_span_is_sent(const struct writ_request *request)
{
    if (request->trace == NULL || telemetry_of(request) == NULL) {
        return false;
    }
    know(request);
    return request->trace->sampled;
}

WRIT_RESULT
writ_request_span_texts(
    struct writ_request *request, struct writ_view *ret_parent, struct writ_view *ret_state)
{
    const struct writ_trace *trace = request->trace;
    struct writ_buf text = writ_buf_in(request->x->arena, WRIT_TRACEPARENT_LEN);
    struct writ_trace_context next = trace->span;

    for (size_t i = 0; i < WRIT_SPAN_ID_BYTES; i++) {
        next.span_id[i] = trace->next[i];
    }
    (void)writ_buf_reserve(&text, WRIT_TRACEPARENT_LEN); /* a failure stays in the buffer */
    writ_trace_context_put(&next, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret_parent = writ_buf_view(&text);
    *ret_state = trace->state;
    return WRIT_DONE;
}

WRIT_RESULT
writ_request_span_add_headers(
    struct writ_request *request, struct writ_header *headers, size_t *count)
{
    struct writ_view parent, state;

    WRIT_TRY(writ_request_span_texts(request, &parent, &state));
    headers[(*count)++] = (struct writ_header){WRIT_LIT("traceparent"), parent};
    if (state.len > 0) {
        headers[(*count)++] = (struct writ_header){STATE_NAME, state};
    }
    return WRIT_DONE;
}

/* ---- the end */

bool
writ_request_span_wants_line(const struct writ_request *request)
{
    const struct writ_telemetry *telemetry = telemetry_of(request);

    return telemetry != NULL && (writ_telemetry_config(telemetry)->logs || request->trace != NULL);
}

static struct writ_telemetry_record
record_of(const struct writ_request *request, enum writ_event event,
    const struct writ_log_field *fields, size_t n)
{
    int64_t now_us = writ_loop_now_us(request->x->loop);

    return (struct writ_telemetry_record){.event = event,
        .fields = fields,
        .fields_n = n,
        .from_us = request->x->arrived_us,
        .to_us = now_us,
        .wall_us = writ_clock_wall_us(request->worker->gateway->clock) - now_us};
}

/* "tools/call pay"; only a tool that a rule lists, so that no caller can make up names. */
static struct writ_view
name_of(const struct writ_request *request, struct writ_view method, struct writ_buf *memory)
{
    const struct writ_call *call = request->call;

    if (method.len > 0) {
        writ_buf_put(memory, method);
    } else if (request->endpoint->kind->problems) {
        writ_buf_str(memory, request->endpoint->kind->by);
    } else {
        writ_buf_str(memory, request->x->method == WRIT_METHOD_POST ? "message" : "stream");
    }
    if (call != NULL && call->verdict.rule != NULL && call->callee.tool.len > 0) {
        writ_buf_byte(memory, ' ');
        writ_buf_put(memory, call->callee.tool);
    }
    return writ_buf_view(memory);
}

/* What went wrong with its message to the upstream; empty: nothing. */
static struct writ_view
upstream_error(const struct writ_call *call)
{
    if (call == NULL) {
        return writ_view(NULL, 0);
    }
    return writ_json_is_true(
               writ_json_get(call->end.response, WRIT_LIT("result")), WRIT_LIT("isError"))
               ? WRIT_LIT("tool_error")
               : call->end.error_type;
}

/* Why the caller did not get the result that it wanted; empty when it got it. */
static struct writ_view
error_of(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    enum writ_reason refused =
        request->refused != WRIT_REASON_NONE || call == NULL ? request->refused : call->end.refusal;

    if (refused != WRIT_REASON_NONE) {
        return writ_reason_name(refused);
    }
    return upstream_error(call);
}

/* `name` is memory for the name of the span. */
static void
add_spans(
    const struct writ_request *request, struct writ_telemetry_record *record, struct writ_buf *name)
{
    const struct writ_trace *trace = request->trace;

    record->spans = true;
    record->span = &trace->span;
    record->parent = &trace->parent;
    record->link = &trace->link;
    if (request->method != WRIT_MCP_UNKNOWN) {
        record->method = writ_method_name(request->method);
    }
    record->name = name_of(request, record->method, name);
    record->error = error_of(request);
    record->failed = upstream_error(request->call);
    record->waits = trace->waits;
    record->waits_n = trace->waits_n;
}

void
writ_request_span_line(const struct writ_request *request, enum writ_event event,
    const struct writ_log_field *fields, size_t n)
{
    struct writ_telemetry *telemetry = telemetry_of(request);
    struct writ_telemetry_record record;

    if (telemetry == NULL || !writ_telemetry_config(telemetry)->logs) {
        return;
    }
    record = record_of(request, event, fields, n);
    record.line = true;
    if (request->trace != NULL && request->trace->sampled) {
        record.span = &request->trace->span;
    }
    writ_telemetry_put(telemetry, request->worker->index, &record);
}

void
writ_request_span_end(const struct writ_request *request, enum writ_event event, bool has_line,
    const struct writ_log_field *fields, size_t n)
{
    struct writ_telemetry *telemetry = telemetry_of(request);
    bool spans = request->identity.agent.id.len > 0 && writ_request_span_is_sent(request);
    bool line = telemetry != NULL && has_line && writ_telemetry_config(telemetry)->logs;
    char memory[NAME_MAX];
    struct writ_buf name = writ_buf_over(memory, sizeof memory);
    struct writ_telemetry_record record;

    if (telemetry == NULL || (!spans && !line)) {
        return;
    }
    record = record_of(request, event, fields, n);
    record.line = line;
    if (spans) {
        add_spans(request, &record, &name);
    }
    writ_telemetry_put(telemetry, request->worker->index, &record);
}
