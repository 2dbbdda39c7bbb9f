/* journal.h - records what belongs to no call (evidence/record/fact.h) in the gateway's ledger. */
#ifndef WRIT_GATEWAY_JOURNAL_H
#define WRIT_GATEWAY_JOURNAL_H

#include "store/ledger/ledger.h"

/** Records one, and waits for it: as writ_stop_rules_log wants it, `ctx` is the open ledger.
 * WRIT_E_BUSY, WRIT_E_IO, WRIT_E_LIMIT, WRIT_E_NOMEM. Not on the writer's thread. */
WRIT_RESULT writ_journal_write(
    void *ctx, enum writ_fact_event event, struct writ_view data, struct writ_err *err);

#endif
