/* resume.h - a call of the legacy family whose stream ends before its answer came.
 *
 * When the server closes the stream, or its connection breaks, after an event with an id, the rest
 * is requested by GET with Last-Event-ID (2025-11-25, basic/transports); that does not repeat the
 * call. When the client leaves, which cancels nothing, the stream to the server is closed, so that
 * the client can request the rest on a GET of its own: while that is open, the call waits for its
 * answer from there (pending_responses.h). When the client does not request it, the call does. The
 * time limit of the call covers all of it: after that its outcome is `timeout`, execution
 * unknown. */
#ifndef WRIT_GATEWAY_RESUME_H
#define WRIT_GATEWAY_RESUME_H

#include "gateway/http/sse.h"
#include "gateway/request/request.h"
#include "gateway/state/pending_responses.h"

/** Before a call is sent: makes `call->reply.resume`. `rest`: the events of the GET for the rest,
 * if it is needed. False: no memory. */
bool writ_resume_prepare(struct writ_request *request, const struct writ_upcall_events *rest);

/** Notes the place from which the stream can be resumed. */
void writ_resume_note(struct writ_request *request, const struct writ_sse_event *event);

/** The client has left. Closes the stream when it can be resumed. */
void writ_resume_leave(struct writ_request *request);

/** Whether the upcall is the GET for the rest, and not the call itself. */
bool writ_resume_is_asking(const struct writ_request *request);

/** The upcall has ended: true when the call continues, which happens later. Else `end` becomes the
 * end of the call, if the upcall was the GET for the rest, or the answer came elsewhere. */
bool writ_resume_goes_on(struct writ_request *request, struct writ_upcall_answer *end);

/** The call has its answer: keeps it for CHECK, and continues the request. */
void writ_resume_conclude(struct writ_request *request, const struct writ_upcall_answer *answer);

/** The post of a handover that carries an answer to its call, for writ_pending_responses_carry. */
void writ_resume_arrive(struct writ_post *post);

/** The call has ended with `message` for its client, which may get it again by GET unless it is a
 * `refusal`. True when the client gets it on another stream. */
bool writ_resume_settle(struct writ_request *request, struct writ_view message, bool refusal);

/** Before the request ends: requests that still wait for it check again. */
void writ_resume_forget(struct writ_request *request);

#endif
