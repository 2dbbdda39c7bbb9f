/* For every stream: cut at any place it gives the same events, and an event that was read is
 * written and read again as the same event. */
#include "support/fuzz.h"

#include "gateway/http/sse.h"

static const struct writ_sse_limits limits = {.line_bytes = 4096, .event_bytes = 8192};
static const struct writ_sse_limits wide = {.line_bytes = 16384, .event_bytes = 16384};

static bool
same(struct writ_view a, struct writ_view b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && writ_view_equal(a, b);
}

/* written and read again, it is the same event */
static void
check_round(const struct writ_sse_event *event)
{
    writ_auto_buf text = writ_buf_make(1 << 20);
    struct writ_sse *sse = writ_sse_new(&wide);
    struct writ_sse_event again = {0};
    struct writ_view input;

    WRIT_INVARIANT(writ_is_ok(writ_sse_put(&text, event, NULL)));
    input = writ_buf_view(&text);
    WRIT_INVARIANT(writ_is_ok(writ_sse_next(sse, &input, &again, NULL)));
    WRIT_INVARIANT(again.kind == event->kind && again.retry_ms == event->retry_ms);
    WRIT_INVARIANT(same(again.id, event->id) && same(again.event, event->event));
    WRIT_INVARIANT(same(again.data, event->data));
    WRIT_INVARIANT(writ_is_ok(writ_sse_next(sse, &input, &again, NULL)));
    WRIT_INVARIANT(again.kind == WRIT_SSE_NONE && !writ_sse_is_cut(sse));
    writ_sse_free(sse);
}

/* all events of the stream, written one after the other */
static bool
read_all(struct writ_view text, size_t step, struct writ_buf *ret)
{
    struct writ_sse *sse = writ_sse_new(&limits);
    bool ok = sse != NULL;

    for (size_t at = 0; at < text.len && ok; at += step) {
        struct writ_view piece = writ_view_sub(text, at, step);
        struct writ_sse_event event = {0};
        do {
            ok = writ_is_ok(writ_sse_next(sse, &piece, &event, NULL));
            if (ok && event.kind != WRIT_SSE_NONE) {
                WRIT_INVARIANT(event.data.len <= limits.event_bytes);
                check_round(&event);
                WRIT_INVARIANT(writ_is_ok(writ_sse_put(ret, &event, NULL)));
            }
        } while (ok && event.kind != WRIT_SSE_NONE);
        WRIT_INVARIANT(!ok || piece.len == 0);
    }
    writ_sse_free(sse);
    return ok;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_buf whole = writ_buf_make(1 << 24), cut = writ_buf_make(1 << 24);
    size_t step = size > 0 ? 1 + data[0] % 16 : 1;
    struct writ_view text = writ_view(data + (size > 0), size > 0 ? size - 1 : 0);
    bool ok = read_all(text, text.len + 1, &whole);

    WRIT_INVARIANT(read_all(text, step, &cut) == ok || !ok);
    if (ok) {
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&whole), writ_buf_view(&cut)));
    }
    return 0;
}
