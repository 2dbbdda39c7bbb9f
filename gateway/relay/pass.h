/* pass.h - passes messages that are not governed to one upstream, and its answer back. */
#ifndef WRIT_GATEWAY_PASS_H
#define WRIT_GATEWAY_PASS_H

#include "gateway/request/request.h"

/**
 * Sends `body` to an upstream in place of the client's message, and passes the answer on as it
 * arrives; RELAY gets its end.
 *
 * @param name  the upstream's own name of what Mcp-Name mirrors; {NULL, 0} for none
 * @param body  in the arena of the request
 *
 * @return WAIT, or the step of a refusal
 */
enum writ_step writ_pass_send(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_view body);

/** Answers with an upstream's whole answer, or with a refusal in its place: only JSON passes (of
 * other answers from 400 to 499 only the status), redirects and the upstream's own 401 and 403 do
 * not. Returns DONE, or CLOSE when the answer is a stream. */
enum writ_step writ_pass_answer(
    struct writ_request *request, const struct writ_upcall_answer *answer);

#endif
