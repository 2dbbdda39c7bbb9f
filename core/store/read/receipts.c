/* A receipt contains the records of one decision_id, proved against one head: all of it is from one
 * state of the tree. */
#include "store/read/receipts.h"

#define RECORDS_ARENA ((size_t)256 << 20) /* the records of one call */
#define KEYS_MAX      ((size_t)WRIT_RECEIPT_KEYS_MAX * (WRIT_NOTE_KEY_TEXT_MAX + 1))

struct making {
    struct writ_arena *arena;
    struct writ_receipt_record *records;
    size_t n;
    writ_result failed;
    struct writ_err *err;
};

static bool
take_record(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct making *m = ctx;
    struct writ_receipt_record *to = &m->records[m->n];

    if (m->n == WRIT_RECEIPT_RECORDS_MAX) {
        m->failed = writ_fail(
            m->err, WRIT_E_LIMIT, "the call has more than %d records", WRIT_RECEIPT_RECORDS_MAX);
        return false;
    }
    *to = (struct writ_receipt_record){.kind = kind, .index = leaf};
    to->body = writ_view_copy(record, m->arena);
    if (to->body.ptr == NULL) {
        m->failed = writ_fail(m->err, WRIT_E_NOMEM, "no memory for the records of a call");
        return false;
    }
    m->n++;
    return true;
}

/* The lines of a text, without their ends. */
static size_t
split(struct writ_view lines, struct writ_view *ret, size_t most)
{
    size_t n = 0;

    while (lines.len > 0 && n < most) {
        size_t end = writ_view_find(lines, '\n');

        ret[n++] = writ_view_sub(lines, 0, end);
        lines = writ_view_sub(lines, end + 1, lines.len);
    }
    return n;
}

static WRIT_RESULT
prove(struct making *m, struct writ_proofs *proofs, const struct writ_checkpoint *head)
{
    struct writ_tree_source source = writ_proofs_source(proofs);

    for (size_t i = 0; i < m->n; i++) {
        if (m->records[i].index >= head->size) {
            WRIT_FAIL(m->err, WRIT_E_MISMATCH,
                "record %llu of the call is not in the checkpoint, which is of %llu records",
                (unsigned long long)m->records[i].index, (unsigned long long)head->size);
        }
        WRIT_TRY(writ_tree_prove_inclusion(
            &source, m->records[i].index, head->size, &m->records[i].inclusion, m->err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_receipts_make(struct writ_reader *reader, struct writ_proofs *proofs,
    const struct writ_keyring *ring, struct writ_view decision_id, struct writ_buf *ret,
    struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(RECORDS_ARENA);
    writ_auto_buf keys = writ_buf_make(KEYS_MAX);
    struct making m = {.arena = arena, .failed = WRIT_DONE, .err = err};
    struct writ_view vkeys[WRIT_RECEIPT_KEYS_MAX], note;
    struct writ_checkpoint head;

    m.records =
        arena == NULL ? NULL : writ_arena_get(arena, WRIT_RECEIPT_RECORDS_MAX * sizeof *m.records);
    if (m.records == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the records of a call");
    }
    WRIT_TRY(writ_reader_story(reader, decision_id, take_record, &m, err));
    WRIT_TRY(m.failed);
    WRIT_TRY(writ_proofs_head(proofs, &head, &note, err)); /* after the records: it covers them */
    WRIT_TRY(prove(&m, proofs, &head));
    WRIT_TRY(writ_checkpoint_keys(ring, head.origin, false, &keys, err));
    writ_receipt_put(ret, vkeys, split(writ_buf_view(&keys), vkeys, WRIT_RECEIPT_KEYS_MAX), note,
        m.records, m.n);
    return writ_buf_check(ret, err);
}
