/* ending.h - outcomes: of calls that ended, of calls that were interrupted, and those that could
 * not be written yet and are kept. */
#ifndef WRIT_STORE_ENDING_H
#define WRIT_STORE_ENDING_H

#include "store/store.h"

/** Prepares an outcome. WRIT_OK when it has a row in the group. */
WRIT_RESULT writ_ending_outcome(struct writ_ledger *ledger, struct writ_entry *entry);
/** Adds an outcome for a call that was in flight when the process died to those that are kept. */
WRIT_RESULT writ_ending_interrupted(
    struct writ_ledger *ledger, struct writ_flight *flight, struct writ_err *err);
/** Prepares kept outcomes, as many as a group takes. */
void writ_ending_kept(struct writ_ledger *ledger);
/** Writes all kept outcomes. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_ending_flush(struct writ_ledger *ledger);
WRIT_RESULT writ_ending_write(
    struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err);
void writ_ending_finish(struct writ_ledger *ledger, const struct writ_op *op);
/** An outcome that was not written is kept. */
void writ_ending_undo(struct writ_ledger *ledger, const struct writ_op *op);
void writ_ending_wipe(struct writ_ledger *ledger);

#endif
