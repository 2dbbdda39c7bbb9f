/* ledger_query.h - runs queries of the ledger that wait for the disk: one after the other, on a
 * thread and a connection of its own, so that neither a loop nor the writer waits. */
#ifndef WRIT_GATEWAY_LEDGER_QUERY_H
#define WRIT_GATEWAY_LEDGER_QUERY_H

#include "store/read/reader.h"

#define WRIT_LEDGER_QUERY_MAX 32 /* questions of the page that wait */

struct writ_ledger_query;

/** One query. Lies in the caller's memory until `work` is called. */
struct writ_lookup {
    /** On the lookup thread; may block, and informs the caller itself. `reader` is NULL when the
     * ledger cannot be opened, or is no longer read. */
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader);
    void *ctx; /* for the asker */
    struct writ_lookup *next;
};

/** Starts the thread. The first query opens the ledger.
 * @param path  borrowed until writ_ledger_query_free
 * @param most  questions that may wait; 0: any number, for askers that are limited themselves
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_ledger_query_new(
    const char *path, size_t most, struct writ_ledger_query **ret, struct writ_err *err);

/** Ends the thread after its current query. The caller of stop then runs every waiting query
 * without a reader, and later ones are refused, so that none waits for ever. A second stop does
 * nothing. Blocks. */
void writ_ledger_query_stop(struct writ_ledger_query *queries);

/** Any thread: whether it stops. A long query ends itself then. */
bool writ_ledger_query_stops(struct writ_ledger_query *queries);

/** Stops before. NULL is permitted. */
void writ_ledger_query_free(struct writ_ledger_query *queries);

/** Any thread. WRIT_E_BUSY when `most` wait, or after the stop: refuse. */
WRIT_RESULT writ_ledger_query_ask(struct writ_ledger_query *queries, struct writ_lookup *lookup);

#endif
