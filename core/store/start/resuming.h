/* resuming.h - continues with a ledger that lost records, such as one that was put back from a
 * copy: what ends, and which calls must not run afterwards (ledger.h: writ_ledger_open). */
#ifndef WRIT_STORE_RESUMING_H
#define WRIT_STORE_RESUMING_H

#include "evidence/record/fact.h"
#include "store/write/store.h"

/** Before they are read: drops the sessions of before the loss. WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_forget_sessions(struct writ_disk *disk, struct writ_err *err);

/** When nothing is in flight any more: ends reviews, seals runs, and records the loss. What fails
 * is in ledger->trouble.why. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_end_all(struct writ_ledger *ledger);

/** Takes note of a fact when the ledger opens. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_resuming_hear(
    struct writ_ledger_resumed *resumed, const struct writ_fact *fact, struct writ_err *err);

#endif
