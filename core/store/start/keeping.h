/* keeping.h - for how long keys are claimed, over changes of the options.
 *
 * A claim stands for as long as its signed record promises (claim_seconds), whatever the options
 * say later. A start reads records back for the longest time that a claim can still stand, so the
 * ledger records that time whenever the options change it (WRIT_FACT_KEPT). Before the first such
 * fact it is one day. One thread. */
#ifndef WRIT_STORE_KEEPING_H
#define WRIT_STORE_KEEPING_H

#include "evidence/record/fact.h"
#include "store/write/store.h"

/** Before the facts are read. */
void writ_keeping_begin(struct writ_ledger *ledger);

/** Processes a fact when the ledger opens; the time of the last record is known. WRIT_E_MISMATCH:
 * it is not readable. */
WRIT_RESULT writ_keeping_hear(
    struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err);

/** Ends the reading of facts: `keeping.most_us` is then the longest time that a claim can still
 * stand. */
void writ_keeping_end(struct writ_ledger *ledger);

/** Records the claim time of the options, if it differs from the one that holds, before anything is
 * granted. ledger->trouble.why has the failure. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_keeping_record(struct writ_ledger *ledger);

#endif
