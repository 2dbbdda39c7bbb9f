/* recorded_answer.h - judges an answer that came by GET, when this process did not make its call:
 * another gateway did, or this one before a restart.
 *
 * The ledger knows the call by the id of the request, in the run of the session and of its agent
 * alone. The client gets the answer when it has the digest in the outcome, else the result that is
 * kept for replay, if any. While the call has no outcome, the answer waits for it: the gateway of
 * the call records it, or the ledger records that the call was interrupted. */
#ifndef WRIT_GATEWAY_RECORDED_ANSWER_H
#define WRIT_GATEWAY_RECORDED_ANSWER_H

#include "gateway/request/request.h"

/** One answer. The views, the request and `over` are borrowed until `done`. */
struct writ_recorded_answer {
    struct writ_request *request; /* the GET, in a session */
    struct writ_view upstream;    /* its name */
    struct writ_view message;     /* a JSON-RPC response */
    const bool *over;             /* no client waits for it any more: it ends soon */
    /** On the loop of the request, in a later turn. `message` is for the client: the answer, what
     * was recorded in its place, or an error; borrowed for the call; empty: no memory for any. */
    void (*done)(void *ctx, struct writ_view message);
    void *ctx;
};

/** Begins. WRIT_E_NOMEM, WRIT_E_PARSE (not a response), WRIT_E_LIMIT, WRIT_E_CRYPTO: `done` is not
 * called. */
WRIT_RESULT writ_recorded_answer_ask(const struct writ_recorded_answer *asked);

#endif
