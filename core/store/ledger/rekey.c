/* Taken keys stay until the ledger is closed: a scrub may use them for hours. There are as many as
 * changes of the ledger's keys. */
#include "store/ledger/rekey.h"

#include "store/start/manifest.h"

#include "store/read/scrub.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#define HEAD_ARENA (8 << 20) /* memory for one row of `head` */

struct rekeying {
    struct writ_ledger *ledger;
    struct writ_heads heads;
    struct writ_heads_trust trust; /* the new one */
    struct writ_arena *arena;
    struct writ_err *err;
};

/* The last checkpoint from before the ledger was opened. */
static WRIT_RESULT
check_opened(struct rekeying *r, bool *ret)
{
    struct writ_checkpoint checkpoint;
    struct writ_head head = {0};
    writ_result result;

    *ret = r->ledger->log.opened == 0;
    if (*ret) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_heads_at(&r->heads, r->ledger->log.opened - 1, r->arena, &head, r->err));
    result = writ_heads_believe(&r->trust, head.note, true, &checkpoint, r->err);
    *ret = writ_is_ok(result);
    return result.code == WRIT_E_MISMATCH ? WRIT_DONE : result;
}

/* Keeps the existing signature: a reader that verifies with the previous keys still can. A group
 * that is not signed yet is signed by the new key. */
static WRIT_RESULT
sign_last(struct rekeying *r)
{
    writ_auto_buf signed_too = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_checkpoint checkpoint;
    struct writ_head head = {0};
    struct writ_note note;
    struct writ_digest root;
    writ_result result;

    if (r->ledger->log.edge.size == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_heads_at(&r->heads, UINT64_MAX, r->arena, &head, r->err));
    if (writ_heads_is_mac(head.note)) {
        return WRIT_DONE;
    }
    result = writ_heads_believe(&r->trust, head.note, true, &checkpoint, r->err);
    if (result.code != WRIT_E_MISMATCH) {
        return result;
    }
    WRIT_TRY(writ_heads_believe(&r->trust, head.note, false, &checkpoint, r->err));
    WRIT_TRY(writ_tree_root(&r->ledger->log.edge, &root, r->err));
    if (checkpoint.size != r->ledger->log.edge.size ||
        !writ_digest_equal(&checkpoint.root, &root)) {
        WRIT_FAIL(r->err, WRIT_E_MISMATCH, "the last checkpoint is not the one that was written");
    }
    WRIT_TRY(writ_note_read(head.note, &note, r->err));
    writ_buf_put(&signed_too, head.note);
    WRIT_TRY(writ_note_sign(note.text, r->trust.own, r->trust.signer, 0, &signed_too, r->err));
    WRIT_TRY(writ_turn_begin(r->ledger, r->err));
    return writ_turn_finish(r->ledger,
        writ_disk_run(&r->ledger->disk, WRIT_SQL_SIGN_HEAD, r->err, "bu",
            writ_buf_view(&signed_too), head.leaf),
        r->err);
}

static WRIT_RESULT
take(struct rekeying *r, const struct writ_keyring *ring)
{
    bool is_believed = false;

    r->arena = writ_arena_new(HEAD_ARENA);
    if (r->arena == NULL) {
        WRIT_FAIL(r->err, WRIT_E_NOMEM, "no memory to take other keys of the ledger");
    }
    WRIT_TRY(writ_heads_open(r->ledger->disk.sql, &r->heads, r->err));
    WRIT_TRY(writ_heads_trust(r->ledger->disk.sql, ring, &r->trust, r->err));
    WRIT_TRY(check_opened(r, &is_believed));
    if (is_believed) {
        WRIT_TRY(writ_manifest_holds(&r->ledger->manifest, &r->trust, &is_believed, r->err));
    }
    if (!is_believed) {
        WRIT_FAIL(r->err, WRIT_E_MISMATCH,
            "the key of the ledger was revoked for a time before this gateway began: the ledger "
            "that it opened is not trusted");
    }
    return sign_last(r);
}

void
writ_rekey_turn(struct writ_ledger *ledger)
{
    struct writ_err err = {{0}, 0, 0};
    struct rekeying r = {.ledger = ledger, .err = &err};
    struct writ_ledger_keys *keys;
    writ_result result;

    keys = ledger->disk.poisoned ? NULL : writ_inbox_take_keys(&ledger->inbox);
    if (keys == NULL) {
        return;
    }
    result = writ_turn_enter(ledger, &err); /* the last head stays the last one meanwhile */
    if (writ_is_ok(result)) {
        result = take(&r, keys->ring);
    }
    writ_turn_leave(ledger);
    writ_heads_close(&r.heads);
    writ_arena_free(r.arena);
    if (!writ_is_ok(result)) {
        writ_heads_trust_wipe(&r.trust);
        ledger->disk.poisoned = ledger->disk.poisoned || result.code == WRIT_E_MISMATCH;
        writ_group_trouble(ledger, &err);
        writ_inbox_return_keys(&ledger->inbox, keys);
        return;
    }
    writ_heads_trust_wipe(&ledger->trust);
    ledger->trust = r.trust;
    ledger->manifest.stale = true;
    writ_scrub_rekey(ledger->beside.scrub, keys->ring);
    keys->next = ledger->keys;
    ledger->keys = keys;
}

void
writ_rekey_wipe(struct writ_ledger *ledger)
{
    while (ledger->keys != NULL) {
        struct writ_ledger_keys *next = ledger->keys->next;

        writ_ledger_keys_free(ledger->keys);
        ledger->keys = next;
    }
}
