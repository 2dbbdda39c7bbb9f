/* event_stream.c - no cache stores a stream, and no browser guesses its type. */
#include "gateway/admin/event_stream.h"

#include "base/text.h"
#include "gateway/http/sse.h"

#define HEARTBEAT_MS 15000

void
writ_event_stream_begin(struct writ_exchange *x,
    void (*on_gone)(struct writ_exchange *x, void *ctx),
    void (*on_room)(struct writ_exchange *x, void *ctx), void *ctx)
{
    static const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("text/event-stream")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
        {WRIT_LIT("X-Content-Type-Options"), WRIT_LIT("nosniff")},
    };

    writ_exchange_stream(x, 200, headers, sizeof headers / sizeof *headers);
    writ_exchange_heartbeat(x, HEARTBEAT_MS);
    writ_exchange_probe(x, WRIT_EVENT_STREAM_PROBE_MS);
    writ_exchange_on_gone(x, on_gone, ctx);
    writ_exchange_on_room(x, on_room, ctx);
}

bool
writ_event_stream_last(const struct writ_exchange *x, uint64_t *ret)
{
    return writ_is_ok(
        writ_text_u64(writ_exchange_header(x, WRIT_LIT("Last-Event-ID")), 0, INT64_MAX, ret));
}

struct writ_view
writ_event_stream_place(uint64_t place, char text[WRIT_EVENT_STREAM_PLACE])
{
    struct writ_buf id = writ_buf_over(text, WRIT_EVENT_STREAM_PLACE);

    writ_buf_u64(&id, place);
    return writ_buf_view(&id);
}

WRIT_RESULT
writ_event_stream_put(
    struct writ_buf *out, const char *name, struct writ_view data, struct writ_view id)
{
    const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .id = id,
        .event = writ_view_str(name),
        .data = data,
        .retry_ms = WRIT_SSE_NO_RETRY};

    return writ_sse_put(out, &event, NULL);
}
