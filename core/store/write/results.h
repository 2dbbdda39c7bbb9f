/* results.h - results of calls that are kept for a while, for replay (`duplicates: replay`).
 *
 * A kept result is canonical JSON whose digest is in the signed outcome of its call. It is compared
 * with that digest whenever it is used: a changed row is never returned, and poisons the ledger, as
 * a finding of the scrub does. */
#ifndef WRIT_STORE_RESULTS_H
#define WRIT_STORE_RESULTS_H

#include "evidence/record/extension.h"
#include "store/write/store.h"

/** Keeps the result of an outcome in the group that writes it, when it is to be kept. The oldest
 * results make room. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_results_write(
    struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err);

/** The digest of the result that the caller got: of the output of the rules, if they changed it,
 * else of the tool's. It may be absent. Borrows from its arguments. */
const struct writ_member_text *writ_results_told(
    const struct writ_outcome *outcome, const struct writ_extension *extension);

/**
 * Finds the result of a call.
 *
 * @param leaf         of its decision
 * @param decision_id  of its decision
 * @param ret          in the arena; ptr NULL: none is kept (any more)
 *
 * WRIT_E_IO (also: it was changed, and the ledger is poisoned), WRIT_E_BUSY, WRIT_E_NOMEM.
 */
WRIT_RESULT writ_results_find(struct writ_ledger *ledger, uint64_t leaf,
    struct writ_view decision_id, int64_t now_us, struct writ_arena *arena, struct writ_view *ret,
    struct writ_err *err);

#endif
