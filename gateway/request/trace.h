/* trace.h - the spans of a request while it is on its way: the request itself, and each wait
 * between its steps. The driver notes each wait; request_span.h makes the spans.
 *
 * Without `telemetry` in the configuration there is no trace (NULL), and nothing is noted. */
#ifndef WRIT_GATEWAY_TRACE_H
#define WRIT_GATEWAY_TRACE_H

#include "base/alloc.h"
#include "gateway/request/step.h"
#include "gateway/telemetry/telemetry.h"

/** What is known of the spans of a request; in its arena. */
struct writ_trace {
    struct writ_telemetry *telemetry;
    size_t lane;                            /* of its loop */
    bool known, sampled;                    /* known: `span` to `state`; sampled: spans are sent */
    struct writ_trace_context span;         /* of the request */
    struct writ_trace_context parent;       /* the caller's; zeroed: none that is used */
    struct writ_trace_context link;         /* the caller's; zeroed: none */
    struct writ_view state;                 /* the caller's tracestate, to pass on; or empty */
    unsigned char next[WRIT_SPAN_ID_BYTES]; /* of the next span, which an upstream may get */
    bool waiting;
    struct writ_telemetry_wait waits[WRIT_TELEMETRY_WAITS_MAX + 1]; /* the next one has begun */
    size_t waits_n;                                                 /* that have ended */
};

/** A trace for a request of that lane. NULL without telemetry, without spans, and without memory.
 */
struct writ_trace *writ_trace_new(
    struct writ_telemetry *telemetry, size_t lane, struct writ_arena *arena);

/* For the driver; all of them do nothing without a trace. `now_us` is monotonic. */

/** The step waits. */
void writ_trace_wait(struct writ_trace *trace, enum writ_step step, int64_t now_us);
/** What it waits for is the ledger. */
void writ_trace_wait_ledger(struct writ_trace *trace);
/** It only waits for its turn among others. */
void writ_trace_wait_turn(struct writ_trace *trace);
/** It continues. */
void writ_trace_continue(struct writ_trace *trace, int64_t now_us);

#endif
