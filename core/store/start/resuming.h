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

/** Ends reviews, seals runs, and records the loss, when no call is in flight any more.
 * ledger->trouble.why has the failure. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_end_all(struct writ_ledger *ledger);

/** Processes a fact when the ledger opens. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_hear(
    struct writ_ledger_resumed *resumed, const struct writ_fact *fact, struct writ_err *err);

#endif
