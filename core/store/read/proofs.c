/* The head is the last row that this connection sees, or the pinned checkpoint. All proofs of one
 * answer are under that head. */
#include "store/read/proofs.h"

#include "store/disk/disk.h"
#include "store/disk/heads.h"

#define HEAD_ARENA ((size_t)64 << 20) /* memory to read one head */

struct writ_proofs {
    struct writ_sql *sql;
    struct writ_heads heads;
    struct writ_heads_trust trust;
    struct writ_arena *arena; /* of the head */
    struct writ_buf pinned;   /* the checkpoint that counts as the last one; empty: none */
    int64_t await_us;         /* for a checkpoint over the last records */
};

void
writ_proofs_close(struct writ_proofs *proofs)
{
    if (proofs != NULL) {
        writ_heads_trust_wipe(&proofs->trust);
        writ_heads_close(&proofs->heads);
        writ_sql_close(proofs->sql);
        writ_arena_free(proofs->arena);
        writ_buf_wipe(&proofs->pinned);
        writ_free(proofs);
    }
}

WRIT_RESULT
writ_proofs_open(const char *path, const struct writ_keyring *ring, struct writ_proofs **ret,
    struct writ_err *err)
{
    writ_auto_proofs proofs = writ_alloc(sizeof *proofs);
    if (proofs == NULL || (proofs->arena = writ_arena_new(HEAD_ARENA)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the tree of a ledger");
    }
    proofs->pinned = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    proofs->await_us = WRIT_HEADS_AWAIT_US;
    WRIT_TRY(writ_disk_connect_reader(path, &proofs->sql, err));
    WRIT_TRY(writ_heads_open(proofs->sql, &proofs->heads, err));
    WRIT_TRY(writ_heads_trust(proofs->sql, ring, &proofs->trust, err));
    *ret = WRIT_TAKE(proofs);
    return WRIT_DONE;
}

struct writ_view
writ_proofs_origin(const struct writ_proofs *proofs)
{
    return writ_buf_view(&proofs->trust.origin);
}

void
writ_proofs_await(struct writ_proofs *proofs, bool waits)
{
    proofs->await_us = waits ? WRIT_HEADS_AWAIT_US : 0;
}

/* The checkpoint over the records that are there now. */
static WRIT_RESULT
await_head(struct writ_proofs *proofs, struct writ_head *ret, struct writ_err *err)
{
    struct writ_head head = {0};

    WRIT_TRY(writ_heads_at(&proofs->heads, UINT64_MAX, NULL, &head, err));
    return writ_heads_await(&proofs->heads, head.size, proofs->await_us, proofs->arena, ret, err);
}

WRIT_RESULT
writ_proofs_head(struct writ_proofs *proofs, struct writ_checkpoint *ret,
    struct writ_view *ret_note, struct writ_err *err)
{
    struct writ_checkpoint checkpoint;
    struct writ_head head = {0};
    writ_result result;

    if (proofs->pinned.len > 0) {
        WRIT_TRY(writ_heads_believe(
            &proofs->trust, writ_buf_view(&proofs->pinned), true, &checkpoint, err));
        *ret = checkpoint;
        *ret_note = writ_buf_view(&proofs->pinned);
        return WRIT_DONE;
    }
    result = await_head(proofs, &head, err);
    if (result.code == WRIT_E_ABSENT) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "the ledger has no records, or none that is signed, and so no checkpoint");
    }
    WRIT_TRY(result);
    WRIT_TRY(writ_heads_believe(&proofs->trust, head.note, true, &checkpoint, err));
    *ret = checkpoint;
    *ret_note = head.note;
    return WRIT_DONE;
}

WRIT_RESULT
writ_proofs_follow(struct writ_proofs *proofs, struct writ_view note, bool is_signed,
    struct writ_checkpoint *ret, struct writ_err *err)
{
    struct writ_tree_source source = writ_proofs_source(proofs);
    struct writ_checkpoint then, head;
    struct writ_tree_edge edge;
    struct writ_digest root;
    struct writ_view last;

    WRIT_TRY(writ_heads_believe(&proofs->trust, note, is_signed, &then, err));
    WRIT_TRY(writ_proofs_head(proofs, &head, &last, err));
    if (then.size > head.size) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "ROLLBACK: the ledger has %llu records, and the checkpoint is of %llu",
            (unsigned long long)head.size, (unsigned long long)then.size);
    }
    WRIT_TRY(writ_tree_edge_of(&source, then.size, &edge, err));
    WRIT_TRY(writ_tree_root(&edge, &root, err));
    if (!writ_digest_equal(&root, &then.root)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "FORK: the ledger does not begin with the %llu records that the checkpoint is of",
            (unsigned long long)then.size);
    }
    *ret = then;
    return WRIT_DONE;
}

WRIT_RESULT
writ_proofs_believes(
    struct writ_proofs *proofs, struct writ_view note, bool *ret, struct writ_err *err)
{
    struct writ_checkpoint checkpoint;
    writ_result result = writ_heads_believe(&proofs->trust, note, true, &checkpoint, err);

    if (result.code != WRIT_E_MISMATCH) {
        WRIT_TRY(result);
    }
    *ret = writ_is_ok(result);
    return WRIT_DONE;
}

WRIT_RESULT
writ_proofs_pin(struct writ_proofs *proofs, struct writ_view note, struct writ_err *err)
{
    struct writ_checkpoint then;

    WRIT_TRY(writ_proofs_follow(proofs, note, true, &then, err));
    writ_buf_clear(&proofs->pinned);
    writ_buf_put(&proofs->pinned, note);
    return writ_buf_check(&proofs->pinned, err);
}

struct writ_tree_source
writ_proofs_source(struct writ_proofs *proofs)
{
    return writ_heads_source(&proofs->heads);
}
