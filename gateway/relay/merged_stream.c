/* merged_stream.c - passes the events of the sources to the client in order, and ends the request.
 *
 * Invariants:
 * (1) `live` is the number of sources that are not over, plus one for each function that walks all
 * of them: the request continues when it is 0, and nothing is touched after that. (2) Events after
 *     one that waits (an answer that is away, an acknowledgement before those of the other sources)
 *     wait in `behind`: the events of one source stay in order. (3) Events that come back while
 *     others are away wait in `ahead`, in the order in which they came back. */
#include "gateway/relay/merged_stream.h"

#include "gateway/mcp/event_id.h"
#include "gateway/request/client_stream.h"

/* ---- life ---- */

struct writ_merge_source *
writ_merged_stream_add(struct writ_merged_stream *merged, struct writ_upstream *upstream)
{
    struct writ_merge_source *source = &merged->sources[merged->n++];

    *source = (struct writ_merge_source){
        .merged = merged,
        .upstream = upstream,
        .last_id = writ_buf_make(WRIT_MERGED_STREAM_ID_MAX),
        .ahead = writ_buf_make(WRIT_CLIENT_EVENT_MAX),
        .behind = writ_buf_make(WRIT_CLIENT_EVENT_MAX),
    };
    return source;
}

void
writ_merged_stream_wipe(struct writ_merged_stream *merged)
{
    for (size_t i = 0; i < merged->n; i++) {
        writ_buf_wipe(&merged->sources[i].last_id);
        writ_buf_wipe(&merged->sources[i].ahead);
        writ_buf_wipe(&merged->sources[i].behind);
    }
}

void
writ_merged_stream_release(struct writ_merged_stream *merged)
{
    if (--merged->live == 0) {
        writ_request_continue(merged->request);
    }
}

void
writ_merged_stream_cancel(struct writ_merged_stream *merged)
{
    merged->over = true;
    merged->live++; /* keeps (1) */
    merged->ops->stopped(merged);
    if (merged->waits) {
        merged->waits = false;
        writ_merged_stream_release(merged);
    }
    for (size_t i = 0; i < merged->n; i++) {
        struct writ_merge_source *source = &merged->sources[i];
        if (source->open) {
            writ_upcall_cancel(&source->upcall, true);
        } else if (source->timer.armed) {
            writ_loop_timer_cancel(&source->timer);
            writ_merged_stream_release(merged);
        }
    }
    writ_merged_stream_release(merged);
}

/* ---- to the client ---- */

static void
resume_all(struct writ_request *request)
{
    struct writ_merged_stream *merged = request->part;

    for (size_t i = 0; i < merged->n; i++) {
        if (merged->sources[i].open) {
            writ_upcall_resume(&merged->sources[i].upcall);
        }
    }
}

void
writ_merged_stream_begin(struct writ_merged_stream *merged)
{
    writ_client_stream_begin(merged->request);
    merged->request->stream.room = resume_all;
}

static void
write_out(struct writ_merged_stream *merged, struct writ_view events)
{
    writ_result r = writ_client_stream_write(merged->request, events);

    if (r.code == WRIT_E_BUSY) {
        for (size_t i = 0; i < merged->n; i++) {
            if (merged->sources[i].open) {
                writ_upcall_pause(&merged->sources[i].upcall);
            }
        }
    } else if (!writ_is_ok(r)) {
        merged->whole = false;
        writ_merged_stream_cancel(merged);
    }
}

/* Where an event waits, or NULL: for nothing. */
static struct writ_buf *
waits_in(struct writ_merge_source *source)
{
    if (source->back) {
        return &source->ahead;
    }
    return source->away > 0 || source->merged->holds ? &source->behind : NULL;
}

static void
put(struct writ_merged_stream *merged, const struct writ_sse_event *event, struct writ_buf *waits)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_EVENT_MAX);

    if (!writ_is_ok(writ_sse_put(&text, event, NULL))) {
        merged->whole = false;
        writ_merged_stream_cancel(merged);
    } else if (waits != NULL) {
        writ_buf_put(waits, writ_buf_view(&text)); /* keeps (2) and (3) */
    } else {
        write_out(merged, writ_buf_view(&text));
    }
}

void
writ_merged_stream_put(struct writ_merge_source *source, const struct writ_sse_event *event)
{
    put(source->merged, event, waits_in(source));
}

void
writ_merged_stream_put_now(struct writ_merged_stream *merged, const struct writ_sse_event *event)
{
    put(merged, event, NULL);
}

void
writ_merged_stream_catch_up(struct writ_merge_source *source)
{
    if (source->away > 0 || source->merged->holds) {
        return;
    }
    writ_buf_put(&source->ahead, writ_buf_view(&source->behind));
    if (!writ_is_ok(writ_buf_check(&source->behind, NULL)) ||
        !writ_is_ok(writ_buf_check(&source->ahead, NULL))) {
        source->merged->whole = false;
        writ_merged_stream_cancel(source->merged);
    } else if (source->ahead.len > 0) {
        write_out(source->merged, writ_buf_view(&source->ahead));
    }
    writ_buf_wipe(&source->ahead);
    writ_buf_wipe(&source->behind);
    source->ahead = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    source->behind = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
}

/* The id for the client: its position in all sources, or in the only one. */
struct writ_view
writ_merged_stream_event_id(
    struct writ_merge_source *source, struct writ_view id, struct writ_buf *scratch)
{
    struct writ_merged_stream *merged = source->merged;

    if (id.ptr == NULL) {
        return id;
    }
    writ_buf_clear(&source->last_id);
    if (id.len <= WRIT_MERGED_STREAM_ID_MAX) {
        writ_buf_put(&source->last_id, id);
    }
    if (id.len == 0 || !writ_request_is_merged(merged->request)) {
        return id;
    }
    if (!merged->several) {
        writ_event_id_put(scratch, writ_upstream_config(source->upstream)->name, id);
    }
    for (size_t i = 0; merged->several && i < merged->n; i++) {
        if (merged->sources[i].last_id.len > 0) {
            writ_event_id_add(scratch, writ_upstream_config(merged->sources[i].upstream)->name,
                writ_buf_view(&merged->sources[i].last_id));
        }
    }
    return writ_is_ok(writ_buf_check(scratch, NULL)) ? writ_buf_view(scratch)
                                                     : (struct writ_view){NULL, 0};
}
