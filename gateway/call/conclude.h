/* conclude.h - the last steps of a governed call: what came back, its outcome, the answer. */
#ifndef WRIT_GATEWAY_CONCLUDE_H
#define WRIT_GATEWAY_CONCLUDE_H

#include "gateway/review/denial.h"

/** A granted call that will not be sent after all: its outcome says so, which releases its claim,
 * and the client gets `reason`. Gives the step to go on with. */
enum writ_step writ_conclude_unsent(struct writ_request *request, enum writ_reason reason);

/** The step of a request whose way the table does not have (struct writ_steps). A granted call gets
 * an outcome, unknown where it was sent, and is refused; anything else is refused at once. */
enum writ_step writ_conclude_give_up(struct writ_request *request);

/** What the client learns about the refused call. */
struct writ_denial writ_conclude_refusal(const struct writ_request *request);

/** ANSWER, for a call of MCP. */
enum writ_step writ_conclude_mcp(struct writ_request *request);

#endif
