/* ending.h - outcomes: of calls that ended, of interrupted calls, and kept ones that could not be
 * written yet. */
#ifndef WRIT_STORE_ENDING_H
#define WRIT_STORE_ENDING_H

#include "store/write/store.h"

/** Prepares an outcome. WRIT_OK when it has a row in the group. */
WRIT_RESULT writ_ending_outcome(struct writ_ledger *ledger, struct writ_entry *entry);
/** Adds an outcome `error` to the kept ones, for a call that cannot report any more; the reason is
 * its error_type. */
WRIT_RESULT writ_ending_given_up(struct writ_ledger *ledger, struct writ_flight *flight,
    enum writ_reason reason, struct writ_err *err);
/** Reads a decision from its record. WRIT_E_MISMATCH, WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_ending_decision(struct writ_ledger *ledger, uint64_t leaf,
    struct writ_arena *arena, struct writ_decision *ret, struct writ_err *err);
/** Writes all kept outcomes. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_ending_flush(struct writ_ledger *ledger);
/** Another gateway has written the outcome of the call: drops the one that is kept, if any. */
void writ_ending_dropped(struct writ_ledger *ledger, const struct writ_flight *flight);
void writ_ending_wipe(struct writ_ledger *ledger);

#endif
