/* telemetry_record.h - what is known of a request at its end: its spans, and its line of the log.
 * All references are borrowed until the record is encoded (otlp.h), which its loop does at once. */
#ifndef WRIT_GATEWAY_TELEMETRY_RECORD_H
#define WRIT_GATEWAY_TELEMETRY_RECORD_H

#include "base/log.h"
#include "gateway/telemetry/trace_context.h"

#define WRIT_TELEMETRY_WAITS_MAX 12 /* spans below that of the request; later ones are left out */

/** A wait of a request, as a span. */
struct writ_telemetry_wait {
    const char *name; /* static; NULL: that of the request, which an upstream got */
    const char *step; /* static: the step that waited */
    bool client;      /* for the answer of another server */
    unsigned char span_id[WRIT_SPAN_ID_BYTES];
    int64_t from_us, to_us; /* monotonic */
};

struct writ_telemetry_record {
    bool spans;                              /* `parent` to `waits` */
    bool line;                               /* `event` */
    const struct writ_trace_context *span;   /* of the request; NULL: a line without a trace */
    const struct writ_trace_context *parent; /* the caller's; zeroed: none */
    const struct writ_trace_context *link;   /* zeroed: none */
    struct writ_view name;
    struct writ_view method; /* of MCP; empty: another API, or one that is not known */
    struct writ_view error;  /* its class; empty: it went well */
    struct writ_view failed; /* the same, of the message to the upstream */
    const struct writ_telemetry_wait *waits;
    size_t waits_n;
    enum writ_event event;
    const struct writ_log_field *fields; /* of the line, and the attributes of the request's span */
    size_t fields_n;
    int64_t from_us, to_us; /* monotonic */
    int64_t wall_us;        /* the wall time of monotonic 0 */
};

#endif
