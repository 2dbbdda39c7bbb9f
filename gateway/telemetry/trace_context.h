/* trace_context.h - the fields traceparent and tracestate (W3C Trace Context): by them, the spans
 * of several programs become one trace. Pure.
 *
 * Anyone can write these fields. A context names a trace, and proves nothing. */
#ifndef WRIT_GATEWAY_TRACE_CONTEXT_H
#define WRIT_GATEWAY_TRACE_CONTEXT_H

#include "base/bytes.h"

#define WRIT_TRACE_ID_BYTES   16
#define WRIT_SPAN_ID_BYTES    8
#define WRIT_TRACEPARENT_LEN  55  /* of version 00 */
#define WRIT_TRACESTATE_MAX   512 /* bytes that every program has to pass on */
#define WRIT_TRACESTATE_ITEMS 32

/** A span of a trace. A zeroed one is none: all-zero ids are not valid. */
struct writ_trace_context {
    unsigned char trace_id[WRIT_TRACE_ID_BYTES];
    unsigned char span_id[WRIT_SPAN_ID_BYTES];
    bool sampled;
};

/**
 * Reads a traceparent.
 *
 * @param text  as it came: of version 00 exactly WRIT_TRACEPARENT_LEN bytes; of a higher version as
 *              long, or longer with a '-' after them
 * @param ret   written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  another form, capital letters, version ff, an id of zeros only
 */
WRIT_RESULT writ_trace_context_read(struct writ_view text, struct writ_trace_context *ret);

/** Whether it names a span. */
bool writ_trace_context_is(const struct writ_trace_context *context);

/** Appends the traceparent, of version 00. */
void writ_trace_context_put(const struct writ_trace_context *context, struct writ_buf *ret);

/** Whether the text is a tracestate: at most WRIT_TRACESTATE_MAX bytes and WRIT_TRACESTATE_ITEMS
 * entries, each a key and a value, no key twice. Else a program has to leave it out. */
bool writ_trace_context_is_state(struct writ_view text);

#endif
