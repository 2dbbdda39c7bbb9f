/* tally.h - the log lines of requests: one for each governed call, when its request ends; another
 * one when it continued as a task, and the task has ended; lines for messages that were refused
 * before they were a call.
 *
 *   - call (info): MCP and the hook API: the agent, the tool, the verdict, the end
 *   - task_ended (info): the outcome of a call that continued as a task
 *   - wait_expired (info): the outcome of a call that waited for input, or for its caller
 *   - refused (info): a message that never became a governed call, and the reason
 *   - token_refused (warn): a token that was not accepted; at most WRIT_WORKER_STRANGERS_S a second
 *     and loop, the next line says how many more there were
 *
 * A line has ids, names and reasons, never a value of a call or a part of a token. No request waits
 * for the log (log.h). */
#ifndef WRIT_GATEWAY_TALLY_H
#define WRIT_GATEWAY_TALLY_H

#include "gateway/request/request.h"

/** Right before the request is answered for good; for every request. */
void writ_tally_end(const struct writ_request *request);

/** How a task ended. */
struct writ_tally_task {
    const struct writ_decision *decision; /* of the call that began it */
    struct writ_view upstream;
    enum writ_outcome_kind kind;
    struct writ_view error_type;
    enum writ_reason withheld; /* why it is withheld, or NONE */
};

/** The outcome of a task that this request received; the entry is that of its outcome, back from
 * the ledger. Does nothing for another entry, or when it was recorded before. */
void writ_tally_task(const struct writ_request *request, const struct writ_tally_task *task,
    const struct writ_entry *entry);

/** The outcome of a call that waited until its time had passed, as the ledger reports it
 * (writ_ledger_reports). `ctx` is the gateway. Any thread. */
void writ_tally_given_up(void *ctx, const struct writ_decision *decision,
    const struct writ_extension *extension, enum writ_reason reason);

/** A caller whose token was not accepted. Does nothing for a caller without one. */
void writ_tally_stranger(struct writ_worker *worker, const struct writ_exchange *x,
    const struct writ_identity_result *identity);

#endif
