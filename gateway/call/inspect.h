/* inspect.h - checks messages of an upstream before they may reach a client: one strict parse of
 * every event and of every whole answer. */
#ifndef WRIT_GATEWAY_INSPECT_H
#define WRIT_GATEWAY_INSPECT_H

#include "gateway/request/request.h"

/** The kind of an event, for the request on whose stream it came. */
enum writ_inspected {
    WRIT_INSPECTED_FOREIGN = 0, /* it must not reach this client */
    WRIT_INSPECTED_RESPONSE,    /* the response */
    WRIT_INSPECTED_OTHER,       /* a notification, a request of the server, a comment */
    WRIT_INSPECTED_ANSWER,      /* GET: the response to an earlier request, whose stream was lost */
    WRIT_INSPECTED_TASK, /* a notice about a task: only for its own agent (task_notification.h) */
};

/**
 * Classifies an event (docs/streams.md, "Events"). FOREIGN: not a message; a message that other
 * parsers may read differently; a response to another request; a request of a server on a stream of
 * the stateless revision, which has none; and one for which the client declared no capability,
 * which gets an error as its answer. A response on a GET is an ANSWER when the client resumes an
 * earlier stream, else FOREIGN.
 *
 * @param from  the upstream of the event
 * @param ret   gets the data for the client: one line, written again unless it is a response of one
 *              line, without the names that are
 *              Writ's (meta_namespace.h); the id of a server's request with its upstream's name
 *              (server_id.h); the tool's own progress with the offset of the progress that the
 *              client got during the hold, also on the GET that resumes
 */
enum writ_inspected writ_inspect_event(const struct writ_request *request,
    struct writ_upstream *from, const struct writ_sse_event *event, struct writ_buf *ret);

/** As writ_inspect_event, for the answer to a governed call: a long response lasts with the request
 * as reply.response of the call, which is then not NULL, and `ret` gets nothing. */
enum writ_inspected writ_inspect_answer(struct writ_request *request, struct writ_upstream *from,
    const struct writ_sse_event *event, struct writ_buf *ret);

/** Whether a whole answer looks good but is not the response to this request: it may belong to
 * another request, or the client may read it differently. It must not be passed on. */
bool writ_inspect_is_another(const struct writ_request *request, struct writ_upstream *from,
    const struct writ_upcall_answer *answer);

/** Removes Writ's own names from a whole answer; a rewritten one lies in the request's arena.
 * False: it may have such names and cannot be read. It must not be passed on. */
bool writ_inspect_clear(struct writ_request *request, struct writ_view *body);

#endif
