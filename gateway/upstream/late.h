/* late.h - an upstream that missed a session's initialize joins the session later.
 *
 * A session is opened without the HTTP upstreams that were silent or down, and may lose one that
 * was restarted (meet.h). A message for one of them makes the gateway send it `initialize`, with
 * the client's params and the session's revision, and then `notifications/initialized`; only then
 * the message itself, with the session id of the upstream. (For a server over stdio:
 * stdio_handshake.h.) An upstream that answers with another revision cannot join: the client has
 * agreed to one.
 *
 * One join serves all waiting requests of a loop. Of two loops that join at the same time one
 * loses, and ends its session at the upstream. Each of the two messages has
 * WRIT_UPSTREAM_LIST_TIMES of the upstream's `list_timeout`, or its `timeout` if that is shorter.
 * Used from the loop of the worker.
 */
#ifndef WRIT_GATEWAY_LATE_H
#define WRIT_GATEWAY_LATE_H

#include "evidence/record/reason.h"
#include "gateway/state/session.h"
#include "gateway/upstream/upstream.h"

struct writ_late_join;

/** A request that waits until an upstream has joined its session. Its owner zero-initialises it and
 * keeps it until `done`. */
struct writ_late_wait {
    void (*done)(struct writ_late_wait *wait); /* from a later turn; it may wait again from there */
    void *ctx;
    struct writ_upcall_answer
        answer;                  /* of initialize, without its views; ANSWERED: it has joined */
    struct writ_late_join *join; /* NULL: it does not wait */
    struct writ_late_wait *next;
};

/** The part of a request (meet.h). Zero-initialised. */
struct writ_late {
    struct writ_late_wait wait;
    const struct writ_upstream *tried; /* the upstream of the last join for this request */
    enum writ_reason fault;            /* why it failed; nothing was sent */
    bool lost; /* it answered that it lost its session (writ_meet_is_lost) */
};

/** Starts a join of the upstream, or waits for a running one. WRIT_E_NOMEM. */
WRIT_RESULT writ_late_start(struct writ_worker *worker, struct writ_session *session,
    struct writ_upstream *upstream, struct writ_late_wait *wait);

/** Stops waiting; `done` is not called. The last waiter that leaves cancels the join. */
void writ_late_leave(struct writ_late_wait *wait);

#endif
