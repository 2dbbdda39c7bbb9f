/* taking.h - takes records of the log into the memory of the writer: at the start, and those that
 * other gateways wrote since. */
#ifndef WRIT_STORE_TAKING_H
#define WRIT_STORE_TAKING_H

#include "store/disk/said.h"
#include "store/write/store.h"

/** Records that are taken in order. */
struct writ_taking {
    struct writ_ledger *ledger;
    struct writ_boundary *past; /* at the start: stands for every boundary that is sealed; NULL:
                                   every record is taken, and so is the end of its boundary */
    int64_t wall_us, mono_us;   /* when the records are taken */
    uint64_t owner;             /* of the calls that the records grant (struct writ_flight) */
    struct writ_err *err;
};

struct writ_taking writ_taking_now(struct writ_ledger *ledger, struct writ_err *err);

/** Takes one record: a decision with its claim and its place in flight, an outcome, a seal.
 * Reviews, facts, waits and budgets are taken apart. WRIT_E_MISMATCH: it contradicts the records
 * before it; WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_taking_row(
    struct writ_taking *taking, const struct writ_row *row, const struct writ_said *said);

#endif
