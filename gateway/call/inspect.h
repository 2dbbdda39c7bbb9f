/* inspect.h - what an upstream sent, before it may reach a client: one strict parse of every event
 * and of every whole answer. */
#ifndef WRIT_GATEWAY_INSPECT_H
#define WRIT_GATEWAY_INSPECT_H

#include "gateway/request/request.h"

/** What an event is to the request on whose stream it came. */
enum writ_inspected {
    WRIT_INSPECTED_FOREIGN = 0, /* it must not reach this client */
    WRIT_INSPECTED_RESPONSE,    /* the response */
    WRIT_INSPECTED_OTHER,       /* a notification, a request of the server, a comment */
    WRIT_INSPECTED_ANSWER,      /* GET: the response to an earlier request, whose stream was lost */
    WRIT_INSPECTED_TASK, /* a notice about a task: for its own agent alone (task_notification.h) */
};

/**
 * Tells them apart (security.md H14). FOREIGN is what is not a message, a message that other
 * parsers may read in another way, a response to something else, a request of a server on a stream
 * of the stateless revision, which has none, and one for which the client declared no capability:
 * that is answered with an error in its stead. A response on a GET is an ANSWER where the client
 * asks for the rest of an earlier stream, and FOREIGN else.
 *
 * @param from  whose event it is
 * @param ret   gets the data for the client: one line, written again, without the names that
 *              are Writ's (meta_namespace.h); the id of a server's request with its upstream's name
 * (server_id.h); the tool's own progress behind what the client was told while the call was held,
 * also on the GET that asks for the rest
 */
enum writ_inspected writ_inspect_event(const struct writ_request *request,
    struct writ_upstream *from, const struct writ_sse_event *event, struct writ_buf *ret);

/** Whether a whole answer looks good but is not the response to this request: it may belong to
 * another request, or the client may read it differently. It must not be passed on. */
bool writ_inspect_is_another(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_upcall_answer *answer);

/** Removes Writ's own names from a whole answer; a rewritten one lies in the request's arena.
 * False: it may have such names and cannot be read. It must not be passed on. */
bool writ_inspect_clear(struct writ_request *request, struct writ_view *body);

#endif
