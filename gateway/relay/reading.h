/* reading.h - a resource or a prompt that a client reads, when rules ask what a run has seen
 * (policy/decide/flow.h). Its labels and marks are recorded when its content has arrived, and the
 * client gets the content when that is durable. Reading is not governed: the record is a decision
 * that permits no call.
 *
 * PASS asks (prepare), its callbacks keep the response (take), RELAY or TURN begins the record
 * (record: DRAFT to BIND), and GIVE gives the content. */
#ifndef WRIT_GATEWAY_READING_H
#define WRIT_GATEWAY_READING_H

#include "gateway/request/request.h"

/** Whether the answer to the message is recorded before the client gets it: resources/read,
 * prompts/get, and requests that the gateway does not know. */
bool writ_reading_is_due(const struct writ_request *request);

/** Keeps the response of a stream; later events are dropped. False: no memory. */
bool writ_reading_take(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data);

/** Whether a response of a stream is kept. */
bool writ_reading_has(const struct writ_request *request);

/** For a step: records what that upstream has answered, by the kept response, else by `answer`, of
 * which a copy is made. Returns DRAFT; or the refusal's step. */
enum writ_step writ_reading_record(struct writ_request *request,
    const struct writ_upstream *upstream, const struct writ_upcall_answer *answer);

/** For GIVE: why the run does not have the record; NONE: it has it. */
enum writ_reason writ_reading_fault(const struct writ_request *request);

/** For GIVE: the kept event with the response; NULL: the whole answer was kept. */
const struct writ_sse_event *writ_reading_event(const struct writ_request *request);
const struct writ_upcall_answer *writ_reading_answer(const struct writ_request *request);

#endif
