/* otlp.h - the bodies of OTLP over HTTP in its JSON encoding: spans and lines of the log. Metrics:
 * otlp_metrics.h.
 *
 * Names of attributes are those of OpenTelemetry's conventions for MCP and generative AI, where
 * they have one, else "writ." and the name of the member in the log. docs/telemetry.md has them. */
#ifndef WRIT_GATEWAY_TELEMETRY_OTLP_H
#define WRIT_GATEWAY_TELEMETRY_OTLP_H

#include "evidence/json/write.h"
#include "gateway/telemetry/telemetry_record.h"
#include "policy/model/config.h"

/** What a body carries. */
enum writ_otlp_signal {
    WRIT_OTLP_TRACES = 0,
    WRIT_OTLP_LOGS,
    WRIT_OTLP_METRICS,
    WRIT_OTLP_SIGNALS,
};

/** A body that is written. Zero-initialise its count; the buffer is the caller's. */
struct writ_otlp {
    struct writ_write w;
    size_t n; /* spans, lines or metrics in it */
};

/** Appends the resource, as JSON: the given attributes, and those that the gateway adds. `instance`
 * is unique for this process. */
void writ_otlp_put_resource(
    struct writ_buf *ret, const struct writ_pairs *given, struct writ_view instance);

/** Begins a body in `body`, which is borrowed until writ_otlp_end. `resource` is that of
 * writ_otlp_put_resource. */
void writ_otlp_begin(struct writ_otlp *otlp, enum writ_otlp_signal signal,
    struct writ_view resource, struct writ_buf *body);

/** Adds the spans of a record: of the request, and of each of its waits. */
void writ_otlp_add_spans(struct writ_otlp *otlp, const struct writ_telemetry_record *record);

/** Adds the line of a record, with the members of the log. */
void writ_otlp_add_line(struct writ_otlp *otlp, const struct writ_telemetry_record *record);

/** Ends the body. WRIT_OK, WRIT_E_NOMEM, WRIT_E_LIMIT. */
WRIT_RESULT writ_otlp_end(struct writ_otlp *otlp, struct writ_err *err);

/** {"key": name, "value": {"stringValue": text}}, an element of attributes. */
void writ_otlp_put_text(struct writ_write *w, struct writ_view key, struct writ_view text);

#endif
