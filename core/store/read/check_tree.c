/* The tree grows with every body. At the end of a group its nodes are compared with the stored
 * ones, and its root with the checkpoint, if it has one. After a gap the tree cannot be checked any
 * more.
 *
 * A MAC in place of a checkpoint takes nothing from the records: a later checkpoint is over them.
 * But a checkpoint that was replaced is gone, and with it what it said at its time. Where no
 * gateway leaves a MAC, it is found without any key; elsewhere by the key of the MACs. */
#include "store/read/check.h"

#define UNKNOWN_US INT64_MIN /* the time of a record that was removed */

/* The head of the group that begins with the present record. */
static WRIT_RESULT
begin_group(struct writ_check *v, uint64_t leaf)
{
    struct writ_head head = {0};
    writ_result found = writ_heads_at(&v->heads, leaf, NULL, &head, v->err);

    if (found.code != WRIT_E_ABSENT) {
        WRIT_TRY(found);
    }
    v->lost = found.code == WRIT_E_ABSENT || head.leaf != leaf || head.size <= leaf ||
              v->edge.size != leaf;
    writ_check_expect(v, !v->lost, "no checkpoint is over it");
    v->group_leaf = leaf;
    v->group_end = head.size;
    writ_buf_clear(&v->nodes);
    return WRIT_DONE;
}

/* Names the records of the group that differ from those of the tree. */
static void
name_changed(struct writ_check *v, struct writ_view stored)
{
    struct writ_view found = writ_buf_view(&v->nodes);
    bool named = false;

    for (uint64_t leaf = v->group_leaf; leaf < v->group_end; leaf++) {
        size_t at = (size_t)(writ_tree_nodes(leaf) - writ_tree_nodes(v->group_leaf)) *
                    (size_t)WRIT_DIGEST_BYTES;

        if (!writ_view_equal(writ_view_sub(found, at, WRIT_DIGEST_BYTES),
                writ_view_sub(stored, at, WRIT_DIGEST_BYTES))) {
            writ_check_problem(v, leaf, "it differs from the record in the tree");
            named = true;
        }
    }
    writ_check_expect(v, named, "the stored nodes of its group differ from the tree");
}

/* A checkpoint by a key that was revoked by then proves nothing by itself. A later one that is
 * trusted covers the same records, and vouches for them: a thief of the revoked key cannot have
 * made it. */
static void
judge_late(struct writ_check *v, bool is_late)
{
    if (is_late) {
        v->late_leaf = v->late == 0 ? v->row.leaf : v->late_leaf;
        v->late++;
    } else {
        v->report->late += v->late;
        v->late = 0;
    }
}

/* Reports a group that a gateway signs. Those that follow it are judged as if it were signed. */
static void
check_place(struct writ_check *v, int64_t last_us)
{
    bool is_late = v->signed_us != UNKNOWN_US && last_us != UNKNOWN_US &&
                   last_us - v->signed_us >= WRIT_HEADS_SIGN_US;

    if (v->report->is_signed && (v->group_leaf == 0 || is_late)) {
        writ_check_problem(
            v, v->group_leaf, "its group has a MAC where a gateway signs a checkpoint");
        v->signed_us = last_us;
    }
}

/* A group without a checkpoint: the next one is over it, or it is one of the last. */
static WRIT_RESULT
check_mac(struct writ_check *v, struct writ_view mac, int64_t last_us)
{
    writ_result result;

    check_place(v, last_us);
    if (v->tail_key.ptr == NULL) {
        return WRIT_DONE;
    }
    result = writ_heads_check_mac(&v->trust, v->tail_key, &v->edge, mac, v->err);
    if (result.code != WRIT_E_MISMATCH) {
        WRIT_TRY(result);
    }
    if (v->group_end == v->size) {
        v->report->tail_checked = writ_is_ok(result);
    } else if (!writ_is_ok(result)) {
        v->macs_leaf = v->macs == 0 ? v->group_leaf : v->macs_leaf;
        v->macs++;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
believe(struct writ_check *v, struct writ_view note, struct writ_checkpoint *checkpoint,
    bool *ret_is_read)
{
    bool is_signed = v->report->is_signed, is_late = false;
    writ_result result = writ_heads_believe(&v->trust, note, is_signed, checkpoint, v->err);

    if (result.code == WRIT_E_MISMATCH && is_signed) {
        WRIT_TRY(writ_heads_is_late(&v->trust, note, &is_late, v->err));
    }
    if (is_late) {
        result = writ_heads_believe(&v->trust, note, false, checkpoint, v->err);
    }
    if (result.code != WRIT_E_MISMATCH) {
        WRIT_TRY(result);
        judge_late(v, is_late);
    }
    *ret_is_read = writ_is_ok(result);
    writ_check_expect(
        v, *ret_is_read, "its checkpoint is of another ledger, or not signed by a trusted key");
    return WRIT_DONE;
}

/* The group ends with the present record: its nodes are the stored ones, and its checkpoint has
 * their root. After a change the check continues with the stored tree, so that it finds the next
 * change too. */
static WRIT_RESULT
end_group(struct writ_check *v, int64_t last_us)
{
    struct writ_tree_source source = writ_heads_source(&v->heads);
    struct writ_checkpoint checkpoint = {0};
    struct writ_head head = {0};
    struct writ_digest root;
    bool is_read = false;

    WRIT_TRY(writ_heads_at(&v->heads, v->row.leaf, v->arena, &head, v->err));
    writ_check_expect(v, head.leaf == v->group_leaf && head.size == v->group_end,
        "the checkpoint over it is not that of its group");
    if (!writ_view_equal(head.nodes, writ_buf_view(&v->nodes))) {
        writ_result edge = writ_tree_edge_of(&source, v->group_end, &v->edge, v->err);

        name_changed(v, head.nodes);
        v->lost = edge.code == WRIT_E_MISMATCH;
        if (v->lost) {
            return WRIT_DONE;
        }
        WRIT_TRY(edge);
    }
    if (writ_heads_is_mac(head.note)) {
        return check_mac(v, head.note, last_us);
    }
    v->report->checkpoints++;
    v->signed_size = v->group_end;
    v->signed_us = last_us;
    WRIT_TRY(believe(v, head.note, &checkpoint, &is_read));
    WRIT_TRY(writ_tree_root(&v->edge, &root, v->err));
    writ_check_expect(v,
        !is_read || (checkpoint.size == v->group_end && writ_digest_equal(&checkpoint.root, &root)),
        "its checkpoint is over other records");
    return WRIT_DONE;
}

static WRIT_RESULT
add(struct writ_check *v, const struct writ_digest *digest, uint64_t leaf, int64_t time_us)
{
    if (leaf == v->group_end && !v->lost) {
        WRIT_TRY(begin_group(v, leaf));
    }
    if (v->lost || v->edge.size != leaf) {
        v->lost = true;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_tree_grow(&v->edge, digest, &v->nodes, v->err));
    WRIT_TRY(writ_buf_check(&v->nodes, v->err));
    return leaf + 1 == v->group_end ? end_group(v, time_us) : WRIT_DONE;
}

WRIT_RESULT
writ_check_tree_stored(struct writ_check *v, const struct writ_digest *digest, uint64_t leaf)
{
    return add(v, digest, leaf, UNKNOWN_US);
}

WRIT_RESULT
writ_check_tree_add(struct writ_check *v, struct writ_view body, uint64_t leaf)
{
    struct writ_digest digest;

    WRIT_TRY(writ_tree_leaf(body, &digest, v->err));
    return add(v, &digest, leaf, v->row.time_us);
}

/* Whether a checkpoint that was made meanwhile is over all records that were verified. */
static WRIT_RESULT
check_covered(struct writ_check *v, struct writ_arena *arena)
{
    struct writ_tree_source source = writ_heads_source(&v->heads);
    struct writ_checkpoint checkpoint = {0};
    struct writ_head head = {0};
    struct writ_tree_proof proof;
    struct writ_digest root;

    WRIT_TRY(writ_heads_await(&v->heads, v->size, WRIT_HEADS_AWAIT_US, arena, &head, v->err));
    WRIT_TRY(writ_heads_believe(&v->trust, head.note, true, &checkpoint, v->err));
    WRIT_TRY(writ_tree_root(&v->edge, &root, v->err));
    WRIT_TRY(writ_tree_prove_consistency(&source, v->size, checkpoint.size, &proof, v->err));
    return writ_tree_check_consistency(
        v->size, &root, checkpoint.size, &checkpoint.root, &proof, v->err);
}

WRIT_RESULT
writ_check_tree_tail(struct writ_check *v)
{
    writ_auto_arena arena = NULL;
    writ_result result;

    if (!v->signed_all || !v->report->is_signed || v->report->tail_checked || v->lost ||
        v->size <= v->signed_size) {
        return WRIT_DONE;
    }
    arena = writ_arena_new(WRIT_CHECK_HEAD_ARENA);
    if (arena == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a checkpoint");
    }
    result = check_covered(v, arena);
    if (writ_is_ok(result)) {
        v->signed_size = v->size;
        return WRIT_DONE;
    }
    if (result.code != WRIT_E_MISMATCH && result.code != WRIT_E_INVALID &&
        result.code != WRIT_E_ABSENT) {
        return result;
    }
    writ_check_problem(v, v->signed_size,
        "from here on the records are not signed yet, and not authenticated by the mark.key of the "
        "key directory");
    return WRIT_DONE;
}

void
writ_check_tree_end(struct writ_check *v)
{
    if (v->size > v->signed_size) {
        v->report->unsigned_records = v->size - v->signed_size;
    }
    if (v->macs > 0) {
        writ_check_problem(v, v->macs_leaf,
            "%llu groups from here on have neither a checkpoint nor a MAC of mark.key: a "
            "checkpoint "
            "was replaced, or mark.key was another one then",
            (unsigned long long)v->macs);
    }
    if (v->late > 0) {
        writ_check_problem(v, v->late_leaf,
            "its checkpoint is signed only by a key that was revoked by then, and no later "
            "checkpoint by another key");
    }
}
