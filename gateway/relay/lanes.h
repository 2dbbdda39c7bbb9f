/* lanes.h - the streams of one upstream or of several, and the client's stream made from them. Part
 * of stream_merge.h.
 *
 * The events of one lane stay in order, also after one that is away for a while (an answer, a
 * notice about a task). Used from the loop of the request. */
#ifndef WRIT_GATEWAY_LANES_H
#define WRIT_GATEWAY_LANES_H

#include "gateway/request/request.h"

#define WRIT_LANES_PLACE_MAX 2048 /* bytes of an upstream's event id; a longer one is ignored */

struct writ_back;
struct writ_lanes;

struct writ_lane {
    struct writ_lanes *lanes;
    struct writ_upstream *upstream;
    struct writ_upcall upcall;
    struct writ_timer timer; /* until the next request */
    int64_t again_us;
    unsigned conflicts;
    struct writ_buf place;  /* id of the last event */
    struct writ_buf ahead;  /* events that are back, and wait for others that are away */
    struct writ_buf behind; /* later events, serialized as well */
    unsigned away;          /* answers and words about tasks that are elsewhere */
    bool back;              /* the present event comes from there */
    bool open;              /* its upcall */
    bool streams;           /* its answer was a stream */
    bool again;             /* it is requested again when it is over */
    bool lost, ended;       /* its upstream had lost the session; it is over */
    bool acked, done;       /* listen.c: it has acknowledged, it has sent its result */
    const struct writ_json *granted;
};

/** The functions of the owner of the lanes. */
struct writ_lanes_ops {
    /** An upstream has joined the session since: opens its lane, if there is none, or its session
     * was lost. */
    void (*join)(struct writ_lanes *lanes, struct writ_upstream *upstream);
    /** No lane is requested again: the client gets no further notices. */
    void (*stopped)(struct writ_lanes *lanes);
};

struct writ_lanes {
    const struct writ_lanes_ops *ops;
    struct writ_request *request;
    struct writ_lane *all;
    size_t n, live;
    bool merged;            /* several upstreams */
    bool listens;           /* POST */
    bool resumes;           /* counted in the session */
    bool holds;             /* listen.c: events wait for the acknowledgement */
    bool whole;             /* the client's stream ends well */
    bool over;              /* no lane is requested again */
    struct writ_back *back; /* GET of several upstreams: reports those that are back, or NULL */
    bool waits;             /* waits for one of them, possibly without any lane */
    bool refused;
    struct writ_upcall_answer refusal; /* the first answer that was no stream, in the arena */
    /* listen.c */
    struct writ_timer ack_timer;
    struct writ_buf final; /* the final result */
};

/** Adds the lane of an upstream, without a request. There is room for one of each. */
struct writ_lane *writ_lanes_add(struct writ_lanes *lanes, struct writ_upstream *upstream);

/** Frees the memory of the lanes. */
void writ_lanes_wipe(struct writ_lanes *lanes);

/** Begins the client's stream. */
void writ_lanes_begin(struct writ_lanes *lanes);

/** Passes an event on, or keeps it behind a waiting one. */
void writ_lanes_put(struct writ_lane *lane, const struct writ_sse_event *event);

/** Passes an event of the whole stream on, before all waiting ones. */
void writ_lanes_say(struct writ_lanes *lanes, const struct writ_sse_event *event);

/** Passes the kept events on, when none is left to wait for. */
void writ_lanes_catch_up(struct writ_lane *lane);

/** Notes the position of a lane, and gives the id for the client: its place in all lanes, or in the
 * only one. Borrows from `id` or `scratch`. */
struct writ_view writ_lanes_place(
    struct writ_lane *lane, struct writ_view id, struct writ_buf *scratch);

/** Ends them all, and in this or a later turn the request. */
void writ_lanes_cancel(struct writ_lanes *lanes);

/** Lets go of the lanes that `live` was counted up for. */
void writ_lanes_let_go(struct writ_lanes *lanes);

#endif
