/* ledger_stream.h - the calls of the ledger that change, as server-sent events:
 *
 *   GET /v1/ledger/events?FILTERS     FILTERS as in ledger_list.h
 *
 * An event `call` has one call as the list has it: it was decided, got an outcome, or its review
 * went on. `reset` says that changes are missing: read the list again. The id of an event is a
 * place in the log, as `at` of the list: a client that reconnects with it misses nothing. The
 * caller is authenticated again at each change, and every few seconds.
 *
 * For the thread of its loop. */
#ifndef WRIT_GATEWAY_LEDGER_STREAM_H
#define WRIT_GATEWAY_LEDGER_STREAM_H

#include "gateway/state/gateway.h"

#define WRIT_LEDGER_STREAM_ROUTES 1
#define WRIT_LEDGER_STREAMS_MAX   32   /* of one loop */
#define WRIT_LEDGER_STREAMS_EACH  8    /* of one loop and one subject */
#define WRIT_LEDGER_STREAM_BEHIND 5000 /* records that a stream catches up with */

/** Fills the routes; they must come before those that have a prefix. */
void writ_ledger_stream_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_LEDGER_STREAM_ROUTES]);

/** Frees the streams of a loop that has ended. */
void writ_ledger_stream_wipe(struct writ_worker *worker);

#endif
