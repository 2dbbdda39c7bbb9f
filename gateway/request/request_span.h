/* request_span.h - the spans of a request, and its line of the log, for the collector of telemetry;
 * its trace context, from its caller and for upstreams.
 *
 * At the end of a request its line (tally.h) and its spans (trace.h) become one record. */
#ifndef WRIT_GATEWAY_REQUEST_SPAN_H
#define WRIT_GATEWAY_REQUEST_SPAN_H

#include "gateway/request/request.h"

/* For a message to an upstream. */

#define WRIT_REQUEST_SPAN_HEADERS 2 /* most fields of the head */

/** Whether the upstream gets the gateway's own trace context, in place of the client's. */
bool writ_request_span_is_sent(const struct writ_request *request);

/** Adds traceparent, and tracestate, to `count` fields. WRIT_E_NOMEM. Only when it is sent. */
WRIT_RESULT writ_request_span_add_headers(
    struct writ_request *request, struct writ_header *headers, size_t *count);

/** The same as texts, in the arena of the request; the state may be empty. WRIT_E_NOMEM. */
WRIT_RESULT writ_request_span_texts(
    struct writ_request *request, struct writ_view *ret_parent, struct writ_view *ret_state);

/** The trace id of the caller's traceparent, in _meta or in the head, in hex; ptr NULL: none that
 * is good. */
struct writ_view writ_request_span_incoming_id(const struct writ_request *request);

/* For tally.h. */

/** Whether a line of this request goes to the collector. */
bool writ_request_span_wants_line(const struct writ_request *request);

/** A line before the end of the request, without spans. */
void writ_request_span_line(const struct writ_request *request, enum writ_event event,
    const struct writ_log_field *fields, size_t n);

/** The end of the request: its line, with `has_line`, and its spans, whose attributes are the same
 * fields. */
void writ_request_span_end(const struct writ_request *request, enum writ_event event, bool has_line,
    const struct writ_log_field *fields, size_t n);

#endif
