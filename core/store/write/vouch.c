/* A record is compared with the tree of the last group, which this process signed or verified.
 * Before the ledger is loaded a mismatch stops the start; afterwards it poisons. */
#include "store/write/vouch.h"

#include "store/write/group.h"

WRIT_RESULT
writ_vouch_signed(const struct writ_tree_edge *edge, const struct writ_tree_source *source,
    uint64_t leaf, struct writ_view body, struct writ_err *err)
{
    struct writ_tree_proof proof;
    struct writ_digest digest, root;
    writ_result result;

    WRIT_TRY(writ_tree_leaf(body, &digest, err));
    WRIT_TRY(writ_tree_root(edge, &root, err));
    result = writ_tree_prove_inclusion(source, leaf, edge->size, &proof, err);
    if (writ_is_ok(result)) {
        result = writ_tree_check_inclusion(&digest, leaf, edge->size, &proof, &root, err);
    }
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_INVALID) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "record %llu differs from the signed one: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    return result;
}

WRIT_RESULT
writ_vouch(struct writ_ledger *ledger, uint64_t leaf, struct writ_view body, struct writ_err *err)
{
    struct writ_heads heads = {0};
    struct writ_tree_source source;
    writ_result result;

    if (leaf >= ledger->log.vouched) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_heads_open(ledger->disk.sql, &heads, err));
    source = writ_heads_source(&heads);
    result = writ_vouch_signed(&ledger->log.edge, &source, leaf, body, err);
    writ_heads_close(&heads);
    return result.code == WRIT_E_MISMATCH && ledger->log.loaded
               ? writ_group_poison(ledger, leaf, "it differs from the signed one", err)
               : result;
}
