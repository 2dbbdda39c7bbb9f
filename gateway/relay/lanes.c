/* lanes.c - passes the events of the lanes to the client in order, and ends the request.
 *
 * Invariants:
 * (1) `live` is the number of lanes that are not over, plus one for each function that walks all of
 *     them: the request continues when it is 0, and nothing is touched after that. (2) Events after
 *     one that waits (an answer that is away, an acknowledgement before those of the other lanes)
 *     wait in `behind`: the events of one lane stay in order. (3) Events that come back while
 *     others are away wait in `ahead`, in the order in which they came back. */
#include "gateway/relay/lanes.h"

#include "gateway/mcp/event_id.h"
#include "gateway/request/client_stream.h"

/* ---- life ---- */

struct writ_lane *
writ_lanes_add(struct writ_lanes *lanes, struct writ_upstream *upstream)
{
    struct writ_lane *lane = &lanes->all[lanes->n++];

    *lane = (struct writ_lane){
        .lanes = lanes,
        .upstream = upstream,
        .place = writ_buf_make(WRIT_LANES_PLACE_MAX),
        .ahead = writ_buf_make(WRIT_CLIENT_EVENT_MAX),
        .behind = writ_buf_make(WRIT_CLIENT_EVENT_MAX),
    };
    return lane;
}

void
writ_lanes_wipe(struct writ_lanes *lanes)
{
    for (size_t i = 0; i < lanes->n; i++) {
        writ_buf_wipe(&lanes->all[i].place);
        writ_buf_wipe(&lanes->all[i].ahead);
        writ_buf_wipe(&lanes->all[i].behind);
    }
}

void
writ_lanes_let_go(struct writ_lanes *lanes)
{
    if (--lanes->live == 0) {
        writ_request_continue(lanes->request);
    }
}

void
writ_lanes_cancel(struct writ_lanes *lanes)
{
    lanes->over = true;
    lanes->live++; /* keeps (1) */
    lanes->ops->stopped(lanes);
    if (lanes->waits) {
        lanes->waits = false;
        writ_lanes_let_go(lanes);
    }
    for (size_t i = 0; i < lanes->n; i++) {
        struct writ_lane *lane = &lanes->all[i];
        if (lane->open) {
            writ_upcall_cancel(&lane->upcall, true);
        } else if (lane->timer.armed) {
            writ_loop_timer_cancel(&lane->timer);
            writ_lanes_let_go(lanes);
        }
    }
    writ_lanes_let_go(lanes);
}

/* ---- to the client ---- */

static void
resume_all(struct writ_request *request)
{
    struct writ_lanes *lanes = request->part;

    for (size_t i = 0; i < lanes->n; i++) {
        if (lanes->all[i].open) {
            writ_upcall_resume(&lanes->all[i].upcall);
        }
    }
}

void
writ_lanes_begin(struct writ_lanes *lanes)
{
    writ_client_stream_begin(lanes->request);
    lanes->request->stream.room = resume_all;
}

static void
write_out(struct writ_lanes *lanes, struct writ_view events)
{
    writ_result r = writ_client_stream_write(lanes->request, events);

    if (r.code == WRIT_E_BUSY) {
        for (size_t i = 0; i < lanes->n; i++) {
            if (lanes->all[i].open) {
                writ_upcall_pause(&lanes->all[i].upcall);
            }
        }
    } else if (!writ_is_ok(r)) {
        lanes->whole = false;
        writ_lanes_cancel(lanes);
    }
}

/* Where an event waits, or NULL: for nothing. */
static struct writ_buf *
waits_in(struct writ_lane *lane)
{
    if (lane->back) {
        return &lane->ahead;
    }
    return lane->away > 0 || lane->lanes->holds ? &lane->behind : NULL;
}

static void
put(struct writ_lanes *lanes, const struct writ_sse_event *event, struct writ_buf *waits)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_EVENT_MAX);

    if (!writ_is_ok(writ_sse_put(&text, event, NULL))) {
        lanes->whole = false;
        writ_lanes_cancel(lanes);
    } else if (waits != NULL) {
        writ_buf_put(waits, writ_buf_view(&text)); /* keeps (2) and (3) */
    } else {
        write_out(lanes, writ_buf_view(&text));
    }
}

void
writ_lanes_put(struct writ_lane *lane, const struct writ_sse_event *event)
{
    put(lane->lanes, event, waits_in(lane));
}

void
writ_lanes_say(struct writ_lanes *lanes, const struct writ_sse_event *event)
{
    put(lanes, event, NULL);
}

void
writ_lanes_catch_up(struct writ_lane *lane)
{
    if (lane->away > 0 || lane->lanes->holds) {
        return;
    }
    writ_buf_put(&lane->ahead, writ_buf_view(&lane->behind));
    if (!writ_is_ok(writ_buf_check(&lane->behind, NULL)) ||
        !writ_is_ok(writ_buf_check(&lane->ahead, NULL))) {
        lane->lanes->whole = false;
        writ_lanes_cancel(lane->lanes);
    } else if (lane->ahead.len > 0) {
        write_out(lane->lanes, writ_buf_view(&lane->ahead));
    }
    writ_buf_wipe(&lane->ahead);
    writ_buf_wipe(&lane->behind);
    lane->ahead = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    lane->behind = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
}

/* The id for the client: its place in all lanes, or in the only one. */
struct writ_view
writ_lanes_place(struct writ_lane *lane, struct writ_view id, struct writ_buf *scratch)
{
    struct writ_lanes *lanes = lane->lanes;

    if (id.ptr == NULL) {
        return id;
    }
    writ_buf_clear(&lane->place);
    if (id.len <= WRIT_LANES_PLACE_MAX) {
        writ_buf_put(&lane->place, id);
    }
    if (id.len == 0 || !writ_request_is_merged(lanes->request)) {
        return id;
    }
    if (!lanes->merged) {
        writ_event_id_put(scratch, writ_upstream_config(lane->upstream)->name, id);
    }
    for (size_t i = 0; lanes->merged && i < lanes->n; i++) {
        if (lanes->all[i].place.len > 0) {
            writ_event_id_add(scratch, writ_upstream_config(lanes->all[i].upstream)->name,
                writ_buf_view(&lanes->all[i].place));
        }
    }
    return writ_is_ok(writ_buf_check(scratch, NULL)) ? writ_buf_view(scratch)
                                                     : (struct writ_view){NULL, 0};
}
