/* otlp.h - what OTLP over HTTP sends, in its binary encoding (opentelemetry-proto v1, Protocol
 * Buffers): spans and lines of the log. Metrics: otlp_metrics.h.
 *
 * The loop encodes the spans and the line of a request as elements; the thread that sends puts
 * elements of many requests into one body. Names of attributes are those of OpenTelemetry's
 * conventions for MCP and generative AI, where they have one, else "writ." and the name of the
 * member in the log. docs/telemetry.md has them. A text that is longer than WRIT_OTLP_TEXT_MAX, or
 * not UTF-8, is left out. */
#ifndef WRIT_GATEWAY_TELEMETRY_OTLP_H
#define WRIT_GATEWAY_TELEMETRY_OTLP_H

#include "gateway/telemetry/protobuf.h"
#include "gateway/telemetry/telemetry_record.h"
#include "policy/model/config.h"

#define WRIT_OTLP_TEXT_MAX 1024 /* bytes of an attribute of a request */

/** What a body carries. */
enum writ_otlp_signal {
    WRIT_OTLP_TRACES = 0,
    WRIT_OTLP_LOGS,
    WRIT_OTLP_METRICS,
    WRIT_OTLP_SIGNALS,
};

/** Appends the spans of a record, of the request and of each of its waits, as elements. */
void writ_otlp_put_spans(struct writ_buf *ret, const struct writ_telemetry_record *record);
/** How many they are. */
size_t writ_otlp_spans(const struct writ_telemetry_record *record);

/** Appends the line of a record, with the members of the log, as an element. */
void writ_otlp_put_line(struct writ_buf *ret, const struct writ_telemetry_record *record);

/** Appends the resource: the given attributes, and those that the gateway adds. `instance` is
 * unique for this process. */
void writ_otlp_put_resource(
    struct writ_buf *ret, const struct writ_pairs *given, struct writ_view instance);

/** A body that is written. Zero-initialise; the buffer is the caller's. */
struct writ_otlp {
    struct writ_buf *body; /* borrowed */
    size_t all, scoped;    /* where its two frames begin */
    size_t n;              /* spans, lines or metrics in it */
};

/** Begins a body in `body`, which is borrowed until writ_otlp_end. `resource` is that of
 * writ_otlp_put_resource. */
void writ_otlp_begin(struct writ_otlp *otlp, struct writ_view resource, struct writ_buf *body);

/** Adds `n` elements of one kind. */
void writ_otlp_add(struct writ_otlp *otlp, struct writ_view elements, size_t n);

/** Begins and ends an element that is written in place: of metrics. */
size_t writ_otlp_element_begin(struct writ_otlp *otlp);
void writ_otlp_element_end(struct writ_otlp *otlp, size_t at);

/** Ends the body. WRIT_OK, WRIT_E_NOMEM, WRIT_E_LIMIT. */
WRIT_RESULT writ_otlp_end(struct writ_otlp *otlp, struct writ_err *err);

/** Appends an attribute as a field: its key and its text. */
void writ_otlp_put_text(
    struct writ_buf *ret, unsigned field, struct writ_view key, struct writ_view text);

#endif
