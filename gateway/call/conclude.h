/* conclude.h - the last steps of a governed call: the received answer, its outcome, the answer to
 * the client. */
#ifndef WRIT_GATEWAY_CONCLUDE_H
#define WRIT_GATEWAY_CONCLUDE_H

#include "gateway/review/denial.h"

/** A granted call that will not be sent: its outcome says so, which releases its claim, and the
 * client gets `reason`. Returns the next step. */
enum writ_step writ_conclude_unsent(struct writ_request *request, enum writ_reason reason);

/** The step of a request that leaves the table of steps (struct writ_steps). A granted call gets an
 * outcome, unknown if it was sent, and is refused; any other request is refused at once. */
enum writ_step writ_conclude_give_up(struct writ_request *request);

/** What the client learns about the refused call. */
struct writ_denial writ_conclude_refusal(const struct writ_request *request);

/** ANSWER, for a call of MCP. */
enum writ_step writ_conclude_mcp(struct writ_request *request);

#endif
