/* The fields traceparent and tracestate. For every text: a context that is read names a span, and
 * is written and read again as the same one; of version 00 it has one spelling but for its flags. A
 * tracestate that is accepted can be the value of an HTTP field. */
#include "base/text.h"
#include "support/fuzz.h"

#include "gateway/telemetry/trace_context.h"

static bool
same(const struct writ_trace_context *a, const struct writ_trace_context *b)
{
    return writ_view_equal(writ_view(a->trace_id, WRIT_TRACE_ID_BYTES),
               writ_view(b->trace_id, WRIT_TRACE_ID_BYTES)) &&
           writ_view_equal(writ_view(a->span_id, WRIT_SPAN_ID_BYTES),
               writ_view(b->span_id, WRIT_SPAN_ID_BYTES)) &&
           a->sampled == b->sampled;
}

static void
check_parent(struct writ_view text)
{
    char memory[WRIT_TRACEPARENT_LEN];
    struct writ_buf put = writ_buf_over(memory, sizeof memory);
    struct writ_trace_context context = {.sampled = false}, again = {.sampled = false};

    if (!writ_is_ok(writ_trace_context_read(text, &context))) {
        WRIT_INVARIANT(!writ_trace_context_is(&context)); /* untouched */
        return;
    }
    WRIT_INVARIANT(writ_trace_context_is(&context));
    writ_trace_context_put(&context, &put);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&put, NULL)) && put.len == sizeof memory);
    WRIT_INVARIANT(writ_is_ok(writ_trace_context_read(writ_buf_view(&put), &again)));
    WRIT_INVARIANT(same(&context, &again));
    WRIT_INVARIANT(!writ_view_has_prefix(text, WRIT_LIT("00-")) ||
                   writ_view_has_prefix(text, writ_view(memory, sizeof memory - 2)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);

    check_parent(text);
    if (writ_trace_context_is_state(text)) {
        WRIT_INVARIANT(text.len <= WRIT_TRACESTATE_MAX && writ_text_is_field(text));
    }
    return 0;
}
