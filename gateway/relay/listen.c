/* listen.c - holds events until every source has acknowledged, for a limited time, then sends one
 * acknowledgement. The result is sent only when every source has sent its own. */
#include "gateway/relay/listen.h"

#include "gateway/request/client_stream.h"

#include "evidence/json/write.h"

#define ACKNOWLEDGED  "notifications/subscriptions/acknowledged"
#define FILTER_MAX    1048576 /* bytes of an acknowledgement */
#define FILTER_VALUES 65536
#define ACK_US        2000000 /* for the other upstreams to acknowledge as well */

static bool
is_merged(const struct writ_merged_stream *merged)
{
    return merged->listens && merged->several;
}

/* ---- the acknowledgement ---- */

/* The first source that grants the member; of an array, the item. */
static const struct writ_json *
granted(
    const struct writ_merged_stream *merged, struct writ_view name, const struct writ_json *item)
{
    for (size_t i = 0; i < merged->n; i++) {
        const struct writ_json *value = writ_json_get(merged->sources[i].granted, name);
        if (value != NULL && (item == NULL || writ_json_has(value, item))) {
            return value;
        }
    }
    return NULL;
}

/* The part of the client's filter that at least one upstream grants. */
static void
put_filter(struct writ_write *w, const struct writ_merged_stream *merged)
{
    const struct writ_json *asked = writ_json_get_typed(
        merged->request->message.params, WRIT_LIT("notifications"), WRIT_JSON_OBJECT);

    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, asked)
    {
        struct writ_view key = writ_json_string(name);
        const struct writ_json *wanted = writ_json_value(name), *value = granted(merged, key, NULL);
        if (value == NULL) {
            continue;
        }
        writ_write_name(w, key);
        if (writ_json_type(wanted) != WRIT_JSON_ARRAY) {
            writ_write_verbatim(w, value);
            continue;
        }
        writ_write_array_begin(w);
        WRIT_JSON_EACH(item, wanted)
        {
            if (granted(merged, key, item) != NULL) {
                writ_write_verbatim(w, item);
            }
        }
        writ_write_array_end(w);
    }
    writ_write_object_end(w);
}

static writ_result
put_acknowledgement(struct writ_buf *buf, const struct writ_merged_stream *merged)
{
    struct writ_write w = writ_write_to(buf);

    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(&w, "method", WRIT_LIT(ACKNOWLEDGED));
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("_meta"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("io.modelcontextprotocol/subscriptionId"));
    writ_write_value(&w, merged->request->message.id);
    writ_write_object_end(&w);
    writ_write_name(&w, WRIT_LIT("notifications"));
    put_filter(&w, merged);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

/* The events that the sources held follow it. */
static void
acknowledge(struct writ_merged_stream *merged)
{
    writ_auto_buf message = writ_buf_make(FILTER_MAX);
    struct writ_sse_event event = {
        .kind = WRIT_SSE_EVENT, .event = WRIT_LIT("message"), .retry_ms = WRIT_SSE_NO_RETRY};
    bool any = false;

    writ_loop_timer_cancel(&merged->ack_timer);
    merged->holds = false;
    for (size_t i = 0; i < merged->n; i++) {
        any = any || merged->sources[i].acked;
    }
    if (any && writ_is_ok(put_acknowledgement(&message, merged))) {
        event.data = writ_buf_view(&message);
        writ_merged_stream_put_now(merged, &event);
    }
    for (size_t i = 0; i < merged->n; i++) {
        writ_merged_stream_catch_up(&merged->sources[i]);
    }
}

static void
waited_enough(struct writ_timer *timer)
{
    acknowledge(timer->ctx);
}

static void
acknowledge_if_all(struct writ_merged_stream *merged)
{
    struct writ_loop *loop = merged->request->x->loop;

    if (!merged->holds || !merged->request->stream.open) {
        return;
    }
    for (size_t i = 0; i < merged->n; i++) {
        if (!merged->sources[i].acked && merged->sources[i].open) {
            if (!merged->ack_timer.armed) {
                merged->ack_timer = (struct writ_timer){.fn = waited_enough, .ctx = merged};
                writ_loop_timer_set(loop, &merged->ack_timer, writ_loop_now_us(loop) + ACK_US);
            }
            return;
        }
    }
    acknowledge(merged);
}

/* ---- one event ---- */

static bool
takes_acknowledgement(struct writ_merge_source *source, const struct writ_sse_event *event)
{
    struct writ_arena *arena = source->merged->request->x->arena;
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *message;
    struct writ_view text;

    if (event->kind != WRIT_SSE_EVENT || event->data.len > FILTER_MAX ||
        writ_view_search(event->data, WRIT_LIT(ACKNOWLEDGED)) == event->data.len) {
        return false;
    }
    limits.bytes = limits.string_bytes = FILTER_MAX;
    limits.values = FILTER_VALUES;
    text = writ_view_copy(event->data, arena);
    if (source->acked || text.ptr == NULL ||
        !writ_is_ok(writ_json_read(text, &limits, arena, &message, NULL)) ||
        !writ_json_is(writ_json_get(message, WRIT_LIT("method")), WRIT_LIT(ACKNOWLEDGED))) {
        return false;
    }
    source->acked = true;
    source->granted = writ_json_pointer(message, WRIT_LIT("/params/notifications"));
    acknowledge_if_all(source->merged);
    return true;
}

bool
writ_listen_takes(
    struct writ_merge_source *source, enum writ_inspected kind, const struct writ_sse_event *event)
{
    struct writ_merged_stream *merged = source->merged;

    if (!is_merged(merged)) {
        return false;
    }
    if (kind != WRIT_INSPECTED_RESPONSE) {
        return takes_acknowledgement(source, event);
    }
    if (merged->final.max == 0) {
        merged->final = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
        writ_buf_put(&merged->final, event->data);
    }
    source->done = true;
    writ_upcall_cancel(&source->upcall, false); /* no event can follow it */
    return true;
}

/* ---- the end ---- */

void
writ_listen_source_ended(struct writ_merge_source *source)
{
    struct writ_merged_stream *merged = source->merged;

    if (!is_merged(merged)) {
        return;
    }
    if (source->streams && !source->done && !merged->over) {
        merged->whole = false;
        writ_merged_stream_cancel(merged);
    } else {
        acknowledge_if_all(merged);
    }
}

void
writ_listen_finish(struct writ_merged_stream *merged)
{
    struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = writ_buf_view(&merged->final),
        .retry_ms = WRIT_SSE_NO_RETRY};

    writ_loop_timer_cancel(&merged->ack_timer);
    if (is_merged(merged) && merged->whole && merged->final.len > 0) {
        writ_merged_stream_put(&merged->sources[0], &event);
    }
    writ_buf_wipe(&merged->final);
}
