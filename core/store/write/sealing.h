/* sealing.h - ends boundaries: on demand, and when they are idle. */
#ifndef WRIT_STORE_SEALING_H
#define WRIT_STORE_SEALING_H

#include "store/write/store.h"

/** Closes a boundary for calls and lets the entry wait for its seal (then true), or says at once
 * what became of it. */
bool writ_sealing_ask(struct writ_ledger *ledger, struct writ_entry *entry);
/** Notes that a boundary can be sealed, when that is so. */
void writ_sealing_ready(struct writ_boundaries *boundaries, struct writ_boundary *boundary);
/** Closes boundaries that have been idle for too long. */
void writ_sealing_sweep(struct writ_ledger *ledger);
/** Closes and seals all that are open, but that of today's refused calls. WRIT_E_IO: something of
 * them is in flight, or cannot be written. */
WRIT_RESULT writ_sealing_all(struct writ_ledger *ledger);
/** Seals what can be sealed, in a group of its own. */
void writ_sealing_commit(struct writ_ledger *ledger);
/** Lets the entries that wait for the seal of the boundary end with that code. */
void writ_sealing_end(struct writ_ledger *ledger, struct writ_boundary *boundary,
    enum writ_code code, uint64_t leaf, uint64_t total, struct writ_view record);
/** The same for all boundaries. */
void writ_sealing_end_all(struct writ_ledger *ledger, enum writ_code code);

/** In every group: boundaries that got a record can be sealed when it is on disk; those that are
 * not on disk are forgotten. */
extern const struct writ_participant writ_sealing_participant;

#endif
