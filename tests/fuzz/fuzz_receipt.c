/* For every text: a receipt that verifies under the key of a ledger is of that ledger's one
 * checkpoint, and says the same each time. */
#include "support/store/evidence.h"
#include "support/fuzz.h"

#include "evidence/proof/receipt.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct writ_arena *arena;
    static struct writ_note_key *key;
    const struct writ_note_key *keys[1];
    const struct writ_checkpoint_trust none = {0};
    struct writ_checkpoint_trust trust = {.keys = keys, .keys_n = 1};
    struct writ_receipt receipt = {0}, again = {0};
    enum writ_reason why = WRIT_REASON_NONE, then = WRIT_REASON_NONE;

    if (arena == NULL) {
        arena = writ_arena_new(WRIT_RECEIPT_ARENA);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(writ_is_ok(writ_note_key_read(WRIT_LIT(WRIT_EVIDENCE_KEY), &key, NULL)));
    }
    keys[0] = key;
    WRIT_INVARIANT(writ_is_ok(
        writ_receipt_verify(writ_view(data, size), &trust, arena, &receipt, &why, NULL)));
    WRIT_INVARIANT(why != WRIT_REASON_NONE);
    if (why == WRIT_REASON_EVIDENCE_OK) {
        WRIT_INVARIANT(receipt.checkpoint.size == WRIT_EVIDENCE_SIZE);
        WRIT_INVARIANT(receipt.decision_index < WRIT_EVIDENCE_SIZE);
        WRIT_INVARIANT(!receipt.has_outcome || receipt.outcome_index > receipt.decision_index);
    }
    WRIT_INVARIANT(
        writ_is_ok(writ_receipt_verify(writ_view(data, size), &trust, arena, &again, &then, NULL)));
    WRIT_INVARIANT(why == then && again.decision_index == receipt.decision_index);
    WRIT_INVARIANT(
        writ_is_ok(writ_receipt_verify(writ_view(data, size), &none, arena, &again, &then, NULL)));
    WRIT_INVARIANT(then != WRIT_REASON_EVIDENCE_OK); /* no key is trusted */
    writ_arena_reset(arena);
    return 0;
}
