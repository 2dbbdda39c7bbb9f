/* flight.h - one upcall to a stdio server on its way, between two loops. Inside of stdio.
 *
 * A flight has two sides. The *caller's* loop started the upcall and gets its result; the *owner's*
 * loop has the child. The owner's deliveries reach the caller in order, and the end is the last of
 * them. The functions of each side are only for its loop's thread.
 *
 * A caller that reads slowly delays neither the child nor its other callers: its waiting events are
 * bounded, and those that do not fit are dropped. The answer always arrives. */
#ifndef WRIT_GATEWAY_FLIGHT_H
#define WRIT_GATEWAY_FLIGHT_H

#include "gateway/mcp/method.h"
#include "gateway/state/worker.h"
#include "gateway/upstream/upcall.h"

#include <stdatomic.h>

#define WRIT_FLIGHT_BUCKETS    64
#define WRIT_FLIGHT_QUEUED_MAX ((size_t)8 << 20) /* bytes of events that wait for one caller */

struct writ_stdio;
struct writ_instance;
struct writ_flight;

/** Something for the caller's loop. */
struct writ_delivery {
    struct writ_post post;
    struct writ_flight *flight;
    bool is_end;
    struct writ_buf data;             /* an event's data, or the body */
    struct writ_buf id;               /* of the event, or empty */
    int64_t retry_ms;                 /* of the event */
    struct writ_upcall_answer answer; /* for the end, and for the event that begins a stream */
    struct writ_delivery *next;
};

struct writ_flight {
    struct writ_stdio *stdio;
    struct writ_worker *worker; /* the caller's */
    atomic_uint holders;        /* owner, caller, and a cancellation under way */
    atomic_size_t queued;       /* bytes of delivered events that were not taken yet */
    struct writ_post start, cancel;
    struct writ_delivery end; /* allocated with the flight, so that the end can always be
                                 delivered */

    /* the caller's */
    struct writ_upcall *call; /* NULL after the end was delivered */
    bool tell, cancelling, paused;
    struct writ_delivery *held, **held_last;
    struct writ_task drain;

    const struct writ_upcall_request *request; /* borrowed until the end was delivered */

    /* copied from it */
    struct writ_buf body, scope, last_id; /* last_id: Last-Event-ID */
    enum writ_method method;
    enum writ_mcp_kind kind;
    enum writ_mcp_era era;
    enum writ_mcp_method name;
    int64_t timeout_us, total_due_us;
    size_t body_max;
    bool takes_stream;

    /* the owner's */
    struct writ_instance *instance; /* the instance that serves it; NULL: not chosen yet */
    uint64_t id;                    /* of the request, at the child */
    uint64_t ticket;                /* of its line */
    bool sent, streaming, over;
    bool let_go;                             /* its client has cancelled it: little time is left */
    size_t *counted;                         /* among the flights of its sort, or NULL */
    size_t *counted_by;                      /* among those of its instance, or NULL */
    struct writ_buf session;                 /* id of the session that its answer opens, or empty */
    struct writ_buf client_id, client_token; /* their JSON text, or empty */
    uint64_t stream;                         /* GET: the stream that it resumes; 0: the session's */
    struct writ_timer timer, prime;
    struct writ_flight *next, **link; /* in one list of the owner */
};

/* ---- the caller's side */

/** A flight of an upcall, held by both sides. It becomes the upcall's `state`. WRIT_E_NOMEM. */
WRIT_RESULT writ_flight_new(struct writ_stdio *stdio, struct writ_worker *worker,
    struct writ_upcall *call, struct writ_flight **ret);

/** Holds all later deliveries, until writ_flight_resume. */
void writ_flight_pause(struct writ_flight *flight);

/** Delivers the held ones, in a later turn of the loop. */
void writ_flight_resume(struct writ_flight *flight);

/** From here on only the end is delivered. Adds a hold for the cancellation. */
void writ_flight_forsake(struct writ_flight *flight);

/* ---- either side */

void writ_flight_drop(struct writ_flight *flight);

/* ---- the owner's side */

/** Moves it from its present list to the head of another one. */
void writ_flight_link(struct writ_flight *flight, struct writ_flight **head);
void writ_flight_unlink(struct writ_flight *flight);

/** Ends it: removes it from its list, stops its timer, delivers the end, drops the owner's hold.
 * `sent` and `is_stream` of the answer are filled in. */
void writ_flight_end(
    struct writ_flight *flight, struct writ_upcall_answer answer, struct writ_view body);

/** Ends it without an answer; `detail` is static. */
void writ_flight_break(struct writ_flight *flight, enum writ_upcall_end end, const char *detail);

/** Ends it with an answer of the gateway. */
void writ_flight_answer(struct writ_flight *flight, unsigned status, struct writ_view body);

/** The position of a client in a stream, once it has an event: its id, and when to come back. */
struct writ_flight_mark {
    struct writ_view id; /* empty: none */
    int64_t retry_ms;    /* or WRIT_SSE_NO_RETRY */
};

/** Delivers an event; the first one begins the stream, and one with neither data nor id does only
 * that. False: it was dropped, for lack of memory or because too many wait. */
bool writ_flight_event(
    struct writ_flight *flight, struct writ_flight_mark mark, struct writ_view data);

/** As writ_flight_event and writ_flight_answer, for the response: in the stream that has begun, or
 * as the body with that status. */
void writ_flight_respond(struct writ_flight *flight, unsigned status, struct writ_flight_mark mark,
    struct writ_view data);

/** An event without an id. */
extern const struct writ_flight_mark writ_flight_unmarked;

/** Restarts its idle timer, within its total time. Not of a flight that was let go: whatever the
 * child says, its time is the one that writ_flight_let_go has set. */
void writ_flight_arm(struct writ_flight *flight, struct writ_loop *loop);

/** Its client has cancelled it: `fn` is called after `left_us`, or when its total time is over. A
 * second time does nothing. */
void writ_flight_let_go(
    struct writ_flight *flight, struct writ_loop *loop, int64_t left_us, writ_timer_fn *fn);

#endif
