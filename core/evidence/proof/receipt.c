/* Writes and verifies receipts. Verifying trusts only the given keys: every record must have its
 * proof under the one checkpoint, and the records must form one chain of decisions. */
#include "evidence/proof/receipt.h"

#include "evidence/json/write.h"
#include "evidence/proof/approved_call.h"

#define MEMBERS        3 /* of a file, and of one of its records */
#define RECORD_MEMBERS 3

static const struct writ_json_limits limits = {
    .bytes = WRIT_RECEIPT_BYTES_MAX,
    .depth = 80,
    .values = (size_t)1 << 20,
    .name_bytes = 65536,
    .string_bytes = WRIT_RECORD_MAX_BYTES,
    .number_bytes = 64,
};

/* ---- writing */

static void
put_proof(struct writ_write *w, const struct writ_receipt_record *record, struct writ_view note)
{
    struct writ_checkpoint_proof proof = {
        .index = record->index, .inclusion = record->inclusion, .note = note};
    writ_auto_buf text = writ_buf_make(WRIT_NOTE_BYTES_MAX);

    writ_checkpoint_proof_put(&text, &proof);
    if (writ_is_ok(writ_buf_check(&text, NULL))) {
        writ_write_string(w, writ_buf_view(&text));
    } else { /* a note that is too long, or no memory: no file */
        writ_write_null(w);
        w->buf->failed = text.failed;
    }
}

void
writ_receipt_put(struct writ_buf *buf, const struct writ_view *keys, size_t keys_n,
    struct writ_view note, const struct writ_receipt_record *records, size_t n)
{
    struct writ_write w = writ_write_to(buf);

    writ_write_object_begin(&w);
    writ_write_text(&w, "format", WRIT_RECEIPT_FORMAT);
    writ_write_name(&w, WRIT_LIT("keys"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < keys_n; i++) {
        writ_write_string(&w, keys[i]);
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("records"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < n; i++) {
        writ_write_object_begin(&w);
        writ_write_text(&w, "kind", writ_detached_record_kind_name(records[i].kind));
        writ_write_name(&w, WRIT_LIT("proof"));
        put_proof(&w, &records[i], note);
        writ_write_name(&w, WRIT_LIT("record"));
        writ_write_raw(&w, records[i].body);
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(buf, '\n');
}

/* ---- verifying: each step gives EVIDENCE_OK, or the first reason against the file */

struct verifying {
    const struct writ_checkpoint_trust *trust;
    struct writ_arena *arena;
    struct writ_receipt receipt;
    struct writ_approved_call approved; /* by the review of the last decision */
    struct writ_err *err;
};

static enum writ_reason
against(struct verifying *v, enum writ_reason why, const char *what)
{
    (void)writ_fail(v->err, WRIT_E_INVALID, "%s", what);
    return why;
}

/* The lists of a file; false when they are malformed. */
static bool
read_form(const struct writ_json *root, const struct writ_json **ret_records)
{
    const struct writ_json *keys = writ_json_get_typed(root, WRIT_LIT("keys"), WRIT_JSON_ARRAY);

    *ret_records = writ_json_get_typed(root, WRIT_LIT("records"), WRIT_JSON_ARRAY);
    if (keys == NULL || *ret_records == NULL || root->count != MEMBERS ||
        (*ret_records)->count < 1 || (*ret_records)->count > WRIT_RECEIPT_RECORDS_MAX ||
        keys->count > WRIT_RECEIPT_KEYS_MAX ||
        !writ_json_is(writ_json_get(root, WRIT_LIT("format")), WRIT_RECEIPT_FORMAT)) {
        return false;
    }
    return true;
}

/* The checkpoint of the first proof; all others must have the same. */
static WRIT_RESULT
read_checkpoint(struct verifying *v, struct writ_view note, enum writ_reason *ret_why)
{
    v->receipt.note = note;
    return writ_checkpoint_judge(note, v->trust, &v->receipt.checkpoint, ret_why, v->err);
}

/* A record and its proof; the first record's proof brings the checkpoint. */
static WRIT_RESULT
read_record(struct verifying *v, const struct writ_json *value, struct writ_detached_record *ret,
    uint64_t *ret_index, enum writ_reason *ret_why)
{
    const struct writ_json *record = writ_json_get(value, WRIT_LIT("record"));
    enum writ_detached_record_kind kind =
        writ_detached_record_kind_named(writ_json_string(writ_json_get(value, WRIT_LIT("kind"))));
    struct writ_view text = writ_json_string(writ_json_get(value, WRIT_LIT("proof")));
    struct writ_checkpoint_proof proof;
    writ_result result;

    if (record == NULL || kind == WRIT_DETACHED_RECORD_NONE || kind == WRIT_DETACHED_RECORD_SEAL ||
        value->count != RECORD_MEMBERS ||
        !writ_is_ok(writ_checkpoint_proof_read(text, &proof, v->err))) {
        *ret_why = against(v, WRIT_REASON_EVIDENCE_MALFORMED, "a record is malformed");
        return WRIT_DONE;
    }
    if (v->receipt.note.ptr == NULL) {
        WRIT_TRY(read_checkpoint(v, proof.note, ret_why));
        if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
    } else if (!writ_view_equal(proof.note, v->receipt.note)) {
        *ret_why = against(v, WRIT_REASON_EVIDENCE_MALFORMED, "proofs are under two checkpoints");
        return WRIT_DONE;
    }
    WRIT_TRY(writ_detached_record_read(record, kind, v->arena, ret, ret_why, v->err));
    if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
        return WRIT_DONE;
    }
    result = writ_tree_check_inclusion(&ret->leaf, proof.index, v->receipt.checkpoint.size,
        &proof.inclusion, &v->receipt.checkpoint.root, v->err);
    if (result.code == WRIT_E_MISMATCH) {
        *ret_why = WRIT_REASON_RECORD_NOT_IN_LOG;
        return WRIT_DONE;
    }
    *ret_index = proof.index;
    return result;
}

/* Whether a record belongs to this call, by its members; outcomes join the last decision. */
static WRIT_RESULT
place_record(struct verifying *v, const struct writ_detached_record *record, uint64_t index,
    enum writ_reason *ret_why)
{
    struct writ_receipt *receipt = &v->receipt;
    const struct writ_detached_record *last = &receipt->decision;
    struct writ_view id = last->decision.decision_id.view;

    *ret_why = WRIT_REASON_EVIDENCE_OK;
    if (record->kind == WRIT_DETACHED_RECORD_DECISION) {
        if (receipt->decisions > 0 &&
            (index <= receipt->decision_index || record->decision.supersedes.is != WRIT_PRESENT ||
                !writ_view_equal(record->decision.supersedes.view, id))) {
            *ret_why = against(
                v, WRIT_REASON_RECORD_FOREIGN, "a decision does not supersede the one before");
            return WRIT_DONE;
        }
        WRIT_TRY(writ_approved_call_judge(
            &v->approved, &last->decision, &record->decision, ret_why, v->err));
        if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
        v->approved = (struct writ_approved_call){.is_open = false};
        receipt->decision = *record;
        receipt->decision_index = index;
        receipt->decisions++;
        receipt->has_outcome = false;
        return WRIT_DONE;
    }
    if (receipt->decisions == 0 || index <= receipt->decision_index ||
        !writ_view_equal(writ_detached_record_decision_id(record), id)) {
        *ret_why = against(v, WRIT_REASON_RECORD_FOREIGN, "a record refers to another decision");
        return WRIT_DONE;
    }
    if (record->kind == WRIT_DETACHED_RECORD_REVIEW) {
        receipt->reviews++;
        return writ_approved_call_hear(&v->approved, &record->review, v->err);
    }
    if (receipt->has_outcome) {
        *ret_why = against(v, WRIT_REASON_RECORD_FOREIGN, "a decision has two outcomes");
        return WRIT_DONE;
    }
    receipt->outcome = *record;
    receipt->outcome_index = index;
    receipt->has_outcome = true;
    return writ_detached_record_join(record, last, ret_why, v->err);
}

/* Every key that the file names must be a key of the checkpoint's log. */
static WRIT_RESULT
check_keys(struct verifying *v, const struct writ_json *keys, enum writ_reason *ret_why)
{
    WRIT_JSON_EACH(value, keys)
    {
        writ_auto_note_key key = NULL;
        writ_result result = writ_note_key_read(writ_json_string(value), &key, v->err);

        if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
            return result;
        }
        if (!writ_is_ok(result) ||
            !writ_view_equal(writ_note_key_name(key), v->receipt.checkpoint.origin)) {
            *ret_why = against(v, WRIT_REASON_EVIDENCE_MALFORMED, "a key is not a key of this log");
            return WRIT_DONE;
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
verify(struct verifying *v, struct writ_view text, enum writ_reason *ret_why)
{
    const struct writ_json *root = NULL, *records = NULL;
    writ_result result = writ_json_read(text, &limits, v->arena, &root, v->err);

    if (result.code == WRIT_E_NOMEM) {
        return result;
    }
    if (!writ_is_ok(result)) {
        *ret_why = WRIT_REASON_EVIDENCE_MALFORMED;
        return WRIT_DONE;
    }
    if (!read_form(root, &records)) {
        *ret_why = against(v, WRIT_REASON_EVIDENCE_MALFORMED, "the file is not a receipt");
        return WRIT_DONE;
    }
    WRIT_JSON_EACH(value, records)
    {
        struct writ_detached_record record;
        uint64_t index = 0;

        WRIT_TRY(read_record(v, value, &record, &index, ret_why));
        if (*ret_why == WRIT_REASON_EVIDENCE_OK) {
            WRIT_TRY(place_record(v, &record, index, ret_why));
        }
        if (*ret_why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
    }
    return check_keys(v, writ_json_get(root, WRIT_LIT("keys")), ret_why);
}

WRIT_RESULT
writ_receipt_verify(struct writ_view text, const struct writ_checkpoint_trust *trust,
    struct writ_arena *arena, struct writ_receipt *ret, enum writ_reason *ret_why,
    struct writ_err *err)
{
    struct verifying v = {.trust = trust, .arena = arena, .err = err};
    enum writ_reason why = WRIT_REASON_NONE;

    WRIT_TRY(verify(&v, text, &why));
    if (why == WRIT_REASON_EVIDENCE_OK) {
        *ret = v.receipt;
    }
    *ret_why = why;
    return WRIT_DONE;
}
