/* resuming.h - continues with a ledger that lost records, such as one that was put back from a
 * copy: ends the reviews and runs, and decides which calls must not run afterwards (ledger.h:
 * writ_ledger_open). */
#ifndef WRIT_STORE_RESUMING_H
#define WRIT_STORE_RESUMING_H

#include "evidence/record/fact.h"
#include "store/write/store.h"

/** Drops the sessions from before the loss; call it before they are read. WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_forget_sessions(struct writ_disk *disk, struct writ_err *err);

/** The first record that may go on: calls, reviews and runs that began before it end. */
uint64_t writ_resuming_since(const struct writ_ledger *ledger);

/** Records the loss, before anything else is written. ledger->trouble.why has the failure.
 * WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_record(struct writ_ledger *ledger);

/** Ends the reviews and seals the runs, when no call of them is in flight any more. As
 * writ_resuming_record. */
WRIT_RESULT writ_resuming_end_all(struct writ_ledger *ledger);

/** Processes a fact when the ledger opens. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_hear(
    struct writ_ledger_resumed *resumed, const struct writ_fact *fact, struct writ_err *err);

#endif
