/* late.h - an upstream that missed a session's initialize joins the session later.
 *
 * A session is opened without the HTTP upstreams that were silent or down, and may lose one that
 * was started again (meet.h). What is for one of them
 * makes the gateway send it `initialize`, with what the client said in its own and the session's
 * revision, and then `notifications/initialized`; only then the message itself, with the session id
 * that the upstream gave. (A server over stdio is greeted by stdio_handshake.h.) An upstream that
 * answers with another revision cannot join: the client has agreed to one.
 *
 * One loop asks once for all that wait on it. Of two loops that ask at the same time one loses, and
 * ends the session that it was given. Each of the two messages has WRIT_UPSTREAM_LIST_TIMES of the
 * upstream's `list_timeout`, or its `timeout` if that is shorter. Used from the loop of the worker.
 */
#ifndef WRIT_GATEWAY_LATE_H
#define WRIT_GATEWAY_LATE_H

#include "evidence/record/reason.h"
#include "gateway/state/session.h"
#include "gateway/upstream/upstream.h"

struct writ_late_join;

/** One that waits until an upstream has joined its session. Owned by who waits, zero-initialised,
 * until `done`. */
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
    const struct writ_upstream *tried; /* it was asked to join for this request */
    enum writ_reason fault;            /* why it has not; nothing was sent to it */
    bool lost; /* it answered that it does not know its session any more (writ_meet_is_lost) */
};

/** Asks the upstream to join the session, or waits with others for its answer. WRIT_E_NOMEM. */
WRIT_RESULT writ_late_start(struct writ_worker *worker, struct writ_session *session,
    struct writ_upstream *upstream, struct writ_late_wait *wait);

/** Waits no longer; `done` is not called. The last one that leaves gives up. */
void writ_late_leave(struct writ_late_wait *wait);

#endif
