/* Reads a record by its kind and recomputes every digest in it with the profile that it names.
 * Without that, no statement of a record about itself counts. */
#include "evidence/proof/detached_record.h"
#include "evidence/record/derive.h"

#include "evidence/json/jcs.h"
#include "evidence/log/tree.h"
#include "evidence/record/extension.h"
#include "evidence/record/profile.h"

static const char *const names[] = {
    [WRIT_DETACHED_RECORD_NONE] = "none",
    [WRIT_DETACHED_RECORD_DECISION] = "decision",
    [WRIT_DETACHED_RECORD_OUTCOME] = "outcome",
    [WRIT_DETACHED_RECORD_SEAL] = "seal",
    [WRIT_DETACHED_RECORD_REVIEW] = "review",
};

struct writ_view
writ_detached_record_kind_name(enum writ_detached_record_kind kind)
{
    return writ_view_str(
        names[kind <= WRIT_DETACHED_RECORD_REVIEW ? kind : WRIT_DETACHED_RECORD_NONE]);
}

enum writ_detached_record_kind
writ_detached_record_kind_named(struct writ_view name)
{
    for (int i = WRIT_DETACHED_RECORD_DECISION; i <= WRIT_DETACHED_RECORD_REVIEW; i++) {
        if (writ_view_is(name, names[i])) {
            return (enum writ_detached_record_kind)i;
        }
    }
    return WRIT_DETACHED_RECORD_NONE;
}

static WRIT_RESULT
read_kind(const struct writ_json *value, struct writ_arena *arena,
    struct writ_detached_record *record, struct writ_faults *faults, struct writ_err *err)
{
    switch (record->kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        WRIT_TRY(writ_decision_read(value, arena, &record->decision, err));
        writ_decision_validate(&record->decision, faults);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_OUTCOME:
        WRIT_TRY(writ_outcome_read(value, arena, &record->outcome, err));
        writ_outcome_validate(&record->outcome, faults);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_SEAL:
        WRIT_TRY(writ_seal_read(value, arena, &record->seal, err));
        writ_seal_validate(&record->seal, faults);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_REVIEW:
        WRIT_TRY(writ_review_record_read(value, arena, &record->review, err));
        writ_review_record_validate(&record->review, faults);
        return WRIT_DONE;
    case WRIT_DETACHED_RECORD_NONE:
        break;
    }
    WRIT_FAIL(err, WRIT_E_PARSE, "a record of an unknown kind");
}

/* The profile that a decision names in its extension, or the default one. WRIT_E_LIMIT: the
 * extension exceeds a limit. */
static WRIT_RESULT
find_profile(struct writ_detached_record *record, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&record->decision.extensions, arena, &extension, err));
    record->profile =
        extension.profile.is == WRIT_PRESENT ? writ_profile_find(extension.profile.view) : NULL;
    if (record->profile == NULL) {
        record->profile = writ_profile_default();
    }
    return WRIT_DONE;
}

static WRIT_RESULT
digest_leaf(const struct writ_json *value, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);

    WRIT_TRY(writ_jcs_put(&text, value, err));
    return writ_tree_leaf(writ_buf_view(&text), ret, err);
}

static WRIT_RESULT
judge(const struct writ_json *value, struct writ_detached_record *record, struct writ_arena *arena,
    enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_faults faults = {0};

    *ret_why = WRIT_REASON_RECORD_INVALID;
    WRIT_TRY(read_kind(value, arena, record, &faults, err));
    WRIT_TRY(digest_leaf(value, &record->leaf, err));
    if (faults.count > 0) {
        return WRIT_DONE;
    }
    if (record->kind == WRIT_DETACHED_RECORD_DECISION) {
        WRIT_TRY(find_profile(record, arena, err));
        *ret_why = WRIT_REASON_RECORD_DIGEST_MISMATCH;
        WRIT_TRY(writ_decision_recompute(&record->decision, record->profile, &faults, err));
        if (faults.count > 0) {
            return WRIT_DONE;
        }
    }
    *ret_why = WRIT_REASON_EVIDENCE_OK;
    return WRIT_DONE;
}

WRIT_RESULT
writ_detached_record_read(const struct writ_json *value, enum writ_detached_record_kind kind,
    struct writ_arena *arena, struct writ_detached_record *ret, enum writ_reason *ret_why,
    struct writ_err *err)
{
    struct writ_detached_record record = {.kind = kind};
    enum writ_reason why;
    writ_result result = judge(value, &record, arena, &why, err);

    if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
        return result;
    }
    if (writ_is_ok(result) && why == WRIT_REASON_EVIDENCE_OK) {
        *ret = record;
    }
    *ret_why = why; /* not an object, too long, over a limit: all are invalid */
    return WRIT_DONE;
}

static WRIT_RESULT
check_receipt_ref(const struct writ_outcome *outcome, const struct writ_detached_record *decision,
    bool *ret, struct writ_err *err)
{
    writ_auto_buf scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest digest;
    bool complete = false;

    WRIT_TRY(writ_profile_derive(decision->profile, WRIT_PROFILE_OUTCOME_RECEIPT_REF,
        &decision->decision, outcome, &scratch, &digest, &complete, err));
    if (!complete) {
        *ret = outcome->receipt_ref.is != WRIT_PRESENT;
        return WRIT_DONE;
    }
    writ_digest_text(&digest, text);
    *ret = outcome->receipt_ref.is == WRIT_PRESENT && writ_view_is(outcome->receipt_ref.view, text);
    return WRIT_DONE;
}

WRIT_RESULT
writ_detached_record_join(const struct writ_detached_record *outcome,
    const struct writ_detached_record *decision, enum writ_reason *ret_why, struct writ_err *err)
{
    bool is_right = false;
    writ_result result =
        writ_outcome_join(&outcome->outcome, &decision->decision, decision->profile, err);

    if (writ_is_ok(result)) {
        result = check_receipt_ref(&outcome->outcome, decision, &is_right, err);
    }
    if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
        return result;
    }
    *ret_why =
        writ_is_ok(result) && is_right ? WRIT_REASON_EVIDENCE_OK : WRIT_REASON_OUTCOME_MISMATCH;
    return WRIT_DONE;
}

struct writ_view
writ_detached_record_decision_id(const struct writ_detached_record *record)
{
    switch (record->kind) {
    case WRIT_DETACHED_RECORD_DECISION:
        return record->decision.decision_id.view;
    case WRIT_DETACHED_RECORD_OUTCOME:
        return record->outcome.decision_id.view;
    case WRIT_DETACHED_RECORD_REVIEW:
        return record->review.decision_id.view;
    case WRIT_DETACHED_RECORD_SEAL:
    case WRIT_DETACHED_RECORD_NONE:
        break;
    }
    return WRIT_LIT("");
}
