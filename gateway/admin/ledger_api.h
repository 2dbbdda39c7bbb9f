/* ledger_api.h - the ledger over HTTP, on the admin listener: the data of the page.
 *
 *   GET /v1/ledger?FILTERS&before=    calls, the newest first (ledger_list.h)
 *   GET /v1/ledger/events?FILTERS     the calls that change, as they do (ledger_stream.h)
 *   GET /v1/ledger/ID                 one call: every round with its decision, its review and its
 *                                     outcome, and the seal of its run
 *   GET /v1/ledger/ID/receipt         its receipt (evidence/proof/receipt.h)
 *   GET /v1/ledger/ID/bundle          the bundle of its run (evidence/proof/bundle.h); for an agent
 *                                     that is not an auditor, of its own calls in the run
 *   GET /checkpoint?from=N            {"checkpoint", "consistency"}: the last checkpoint, and the
 *                                     proof that it only appends to the first N records; public,
 *                                     because it reveals nothing of them
 *
 * The caller is authenticated as everywhere under /v1 (api.h). An agent sees the calls that it made
 * itself; one whose role is among `auditors` sees those of its tenant, or of every tenant when it
 * has none itself. A caller that may see the review of a call also sees the call. For every other
 * caller it does not exist. An auditor, and an administrator, also gets `why` with each round: the
 * rule and the constraint by file and line of the present configuration.
 *
 * One answer scans WRIT_LEDGER_LIST_SPAN records, and reads WRIT_LEDGER_LIST_SCAN decisions, at
 * most; `next` is the place to continue. */
#ifndef WRIT_GATEWAY_LEDGER_API_H
#define WRIT_GATEWAY_LEDGER_API_H

#include "gateway/admin/ledger_stream.h"

#define WRIT_LEDGER_API_ROUTES     (WRIT_LEDGER_STREAM_ROUTES + 3)
#define WRIT_LEDGER_API_ROUNDS_MAX 64      /* rounds of one call in an answer */
#define WRIT_LEDGER_API_BUNDLE_MAX 2000000 /* records of a ledger that makes bundles here */

/** Fills the routes of a listener that serves the ledger of `gateway`. */
void writ_ledger_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_LEDGER_API_ROUTES]);

#endif
