/* tally.h - what the operator learns of requests: one line in the log for each governed call, where
 * its request ends; lines for what was refused before it was a call.
 *
 *   call           info  MCP and the hook API: who called which tool, the verdict, what became of
 * it refused        info  a message that never became a governed call, and why token_refused  warn
 * a token that was shown and not accepted; at most WRIT_TALLY_STRANGERS_S a second and loop, the
 * next line says how many more there were
 *
 * A line has ids, names and reasons, never a value of a call or a part of a token. Nothing waits
 * for the log (log.h). */
#ifndef WRIT_GATEWAY_TALLY_H
#define WRIT_GATEWAY_TALLY_H

#include "gateway/request.h"

#define WRIT_TALLY_STRANGERS_S 10

/** Right before the request is answered for good; for every request. */
void writ_tally_end(const struct writ_request *request);

/** A caller whose token was not accepted. Nothing for one who showed none. */
void writ_tally_stranger(struct writ_worker *worker, const struct writ_exchange *x,
    const struct writ_identity_result *identity);

#endif
