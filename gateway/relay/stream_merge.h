/* stream_merge.h - one stream of events to a client, made of the streams of one upstream or of
 * several.
 *
 * A lane is what one upstream has for the client: the answer to a GET, or to subscriptions/listen
 * (listen.h). One lane alone is passed on as it is, its refusal too. Several are merged:
 *
 * - An upstream without such a stream is absent; with no stream at all the client gets the first
 *   refusal that came.
 * - The id of an event is the place in all lanes (event_id.h): a client that comes back with it
 * misses nothing of any of them. The place in the stream of one request goes to its upstream alone.
 * - GET: a lane that ends is asked for again, from where it was, as a client would.
 *
 * An answer on a GET is governed by pending_responses.h. */
#ifndef WRIT_GATEWAY_STREAM_MERGE_H
#define WRIT_GATEWAY_STREAM_MERGE_H

#include "gateway/request/request.h"

struct writ_back;
struct writ_stream_merge;

struct writ_lane {
    struct writ_stream_merge *lanes;
    struct writ_upstream *upstream;
    struct writ_upcall upcall;
    struct writ_timer timer; /* until it is asked for again */
    int64_t again_us;
    unsigned conflicts;
    struct writ_buf place;  /* id of the last event */
    struct writ_buf ahead;  /* events that are back, and wait for what is away still */
    struct writ_buf behind; /* events that came behind those, written out as well */
    unsigned away;          /* answers and words about tasks that are elsewhere */
    bool back;              /* what is put now comes from there */
    bool open;              /* its upcall */
    bool streams;           /* it has been a stream */
    bool again;             /* it is asked for again when it is over */
    bool lost, ended;       /* its upstream had forgotten the session; it is over */
    bool acked, done;       /* listen.c: it has acknowledged, it has sent its result */
    const struct writ_json *granted;
};

struct writ_stream_merge {
    struct writ_request *request;
    struct writ_lane *all;
    size_t n, live;
    bool merged;            /* several upstreams */
    bool listens;           /* POST */
    bool resumes;           /* counted in the session */
    bool whole;             /* the client's stream ends well */
    bool over;              /* no lane is asked for again */
    struct writ_back *back; /* GET of several upstreams: tells of those that are back, or NULL */
    bool waits;             /* for one of them, if need be without any lane */
    bool refused;
    struct writ_upcall_answer refusal; /* the first answer that was no stream, in the arena */
    /* listen.c */
    bool acked; /* the client has its acknowledgement */
    struct writ_timer ack_timer;
    struct writ_buf final; /* the result that ends it */
};

/** Opens the lanes of the request, in request->part. Gives the step to go on with. */
enum writ_step writ_stream_merge_open(struct writ_request *request);

/** Ends them all, and in this or a later turn the request. */
void writ_stream_merge_stop(struct writ_request *request);

/* ---- for back.c */

/** Lets go of the lanes that `live` was counted up for. */
void writ_stream_merge_let_go(struct writ_stream_merge *lanes);

/** Opens the lane of an upstream that has joined the session since, if there is none, or had lost
 * it. */
void writ_stream_merge_join(struct writ_stream_merge *lanes, struct writ_upstream *upstream);

/* ---- for listen.c */

void writ_stream_merge_cancel(struct writ_stream_merge *lanes);

/** Passes an event on, or keeps it behind what waits. */
void writ_stream_merge_put(struct writ_lane *lane, const struct writ_sse_event *event);

/** Passes an event of the whole stream on, before all that waits. */
void writ_stream_merge_say(struct writ_stream_merge *lanes, const struct writ_sse_event *event);

/** Passes on what was kept, when nothing is left that it waits for. */
void writ_stream_merge_catch_up(struct writ_lane *lane);

#endif
