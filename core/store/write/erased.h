/* erased.h - the calls under way and under review that an erase selects: what they give back, and
 * what crews say about them, is not kept, whether their arguments were kept or not.
 *
 * The mark is in the memory of the writer. After a restart the recorded erases make it again, for
 * the calls that are still under way.
 *
 * One thread, the writer's. */
#ifndef WRIT_STORE_ERASED_H
#define WRIT_STORE_ERASED_H

#include "evidence/record/content_fact.h"
#include "store/write/store.h"

/** Marks the calls that it selects, of those decided before the leaf `end`. WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_erased_mark(struct writ_ledger *ledger, const struct writ_content_erasure *erasure,
    uint64_t end, struct writ_err *err);

/** The same for every erase that is recorded, when the ledger opens. WRIT_E_MISMATCH: one is not
 * readable; WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_erased_load(struct writ_ledger *ledger, struct writ_err *err);

#endif
