/* merged_stream.h - the streams of one upstream or of several, and the client's stream made from
 * them. Part of stream_merge.h.
 *
 * The events of one source stay in order, also after one that is away for a while (an answer, a
 * notice about a task). Used from the loop of the request. */
#ifndef WRIT_GATEWAY_MERGED_STREAM_H
#define WRIT_GATEWAY_MERGED_STREAM_H

#include "gateway/request/request.h"

#define WRIT_MERGED_STREAM_ID_MAX 2048 /* bytes of an event id; a longer one is ignored */

struct writ_back;
struct writ_merged_stream;

struct writ_merge_source {
    struct writ_merged_stream *merged;
    struct writ_upstream *upstream;
    struct writ_upcall upcall;
    struct writ_timer timer; /* until the next request */
    int64_t again_us;
    unsigned conflicts;
    struct writ_buf last_id; /* id of the last event */
    struct writ_buf ahead;   /* events that are back, and wait for others that are away */
    struct writ_buf behind;  /* later events, serialized as well */
    unsigned away;           /* answers and task notifications that are elsewhere */
    bool back;               /* the present event comes from there */
    bool open;               /* its upcall */
    bool streams;            /* its answer was a stream */
    bool again;              /* it is requested again when it is over */
    bool lost, ended;        /* its upstream had lost the session; it is over */
    bool acked, done;        /* listen.c: it has acknowledged, it has sent its result */
    const struct writ_json *granted;
};

/** Functions of stream_merge.c, which owns the sources. */
struct writ_merged_stream_ops {
    /** An upstream has joined the session since: opens its source, if there is none, or its session
     * was lost. */
    void (*join)(struct writ_merged_stream *merged, struct writ_upstream *upstream);
    /** No source is requested again: the client gets no further notices. */
    void (*stopped)(struct writ_merged_stream *merged);
};

struct writ_merged_stream {
    const struct writ_merged_stream_ops *ops;
    struct writ_request *request;
    struct writ_merge_source *sources;
    size_t n, live;
    bool several;           /* several upstreams */
    bool listens;           /* POST */
    bool resumes;           /* counted in the session */
    bool holds;             /* listen.c: events wait for the acknowledgement */
    bool whole;             /* the client's stream ends well */
    bool over;              /* no source is requested again */
    struct writ_back *back; /* GET of several upstreams: reports those that are back, or NULL */
    bool waits;             /* waits for one of them, possibly without any source */
    bool refused;
    struct writ_upcall_answer refusal; /* the first answer that was not a stream, in the arena */
    /* listen.c */
    struct writ_timer ack_timer;
    struct writ_buf final; /* the final result */
};

/** Adds the source of an upstream, without a request. There is room for one of each. */
struct writ_merge_source *writ_merged_stream_add(
    struct writ_merged_stream *merged, struct writ_upstream *upstream);

/** Frees the memory of the sources. */
void writ_merged_stream_wipe(struct writ_merged_stream *merged);

/** Begins the client's stream. */
void writ_merged_stream_begin(struct writ_merged_stream *merged);

/** Passes an event to the client, or keeps it behind a waiting one. */
void writ_merged_stream_put(struct writ_merge_source *source, const struct writ_sse_event *event);

/** Passes an event of the whole stream to the client, before all waiting ones. */
void writ_merged_stream_put_now(
    struct writ_merged_stream *merged, const struct writ_sse_event *event);

/** Passes the kept events to the client, when none is left to wait for. */
void writ_merged_stream_catch_up(struct writ_merge_source *source);

/** Notes the position of a source, and gives the id for the client: in all sources, or in
 * the only one. Borrows from `id` or `scratch`. */
struct writ_view writ_merged_stream_event_id(
    struct writ_merge_source *source, struct writ_view id, struct writ_buf *scratch);

/** Ends them all, and in this or a later turn the request. */
void writ_merged_stream_cancel(struct writ_merged_stream *merged);

/** Counts `live` down; the request continues when it is 0. */
void writ_merged_stream_release(struct writ_merged_stream *merged);

#endif
