/* sealing.h - ends boundaries: on demand, and when they are idle. */
#ifndef WRIT_STORE_SEALING_H
#define WRIT_STORE_SEALING_H

#include "store/write/store.h"

/** Closes a boundary for calls and lets the entry wait for its seal (true), or answers the entry at
 * once. */
bool writ_sealing_ask(struct writ_ledger *ledger, struct writ_entry *entry);
/** Notes that a boundary can be sealed, when that is so. */
void writ_sealing_ready(struct writ_boundaries *boundaries, struct writ_boundary *boundary);
/** Closes boundaries that have been idle for too long. */
void writ_sealing_sweep(struct writ_ledger *ledger);
/** Closes and seals the open boundaries that began before that record, but that of today's refused
 * calls. WRIT_E_IO: a call is in flight, or a seal cannot be written. */
WRIT_RESULT writ_sealing_all(struct writ_ledger *ledger, uint64_t since);
/** Seals the ready boundaries, in a group of its own. */
void writ_sealing_commit(struct writ_ledger *ledger);
/** Ends the entries that wait for the seal of the boundary with that code. */
void writ_sealing_end(struct writ_ledger *ledger, struct writ_boundary *boundary,
    enum writ_code code, uint64_t leaf, uint64_t total, struct writ_view record);
/** Another gateway has sealed the boundary: ends those entries, and removes it. */
void writ_sealing_sealed(struct writ_ledger *ledger, struct writ_boundary *boundary, uint64_t leaf,
    uint64_t total, struct writ_view record);
/** The same for all boundaries. */
void writ_sealing_end_all(struct writ_ledger *ledger, enum writ_code code);

/** In every group: a boundary that got a record can be sealed when the record is on disk; one
 * without any record on disk is forgotten. */
extern const struct writ_participant writ_sealing_participant;

#endif
