/* writ-digests/1, writ-decisions/1, writ-outcomes/1, writ-bindings/1, writ-completeness/1: the
 * records of the governance contract. */
#include "cli/vectors/vector.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "evidence/proof/completeness.h"
#include "evidence/record/binding.h"
#include "evidence/record/derive.h"
#include "evidence/record/profile.h"
#include "evidence/record/record.h"

#include <stdlib.h>

#define OUTCOMES_MAX 64

static const struct writ_json *
get(const struct writ_json *object, const char *name)
{
    return writ_json_get(object, writ_view_str(name));
}

static WRIT_RESULT
read_profile(const struct writ_json *owner, const struct writ_profile **ret, struct writ_err *err)
{
    *ret = writ_profile_find(writ_json_string(get(owner, "profile")));
    if (*ret == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "profile is unknown");
    }
    return WRIT_DONE;
}

/* ---- digests */

static void
put_text(struct writ_write *w, const char *name, const struct writ_member_text *text)
{
    writ_write_text_or_null(w, name, writ_member_view(text));
}

/* H(value); null for null. */
static WRIT_RESULT
hash(const struct writ_json *value, struct writ_arena *arena, struct writ_member_text *ret,
    struct writ_err *err)
{
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    *ret = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    if (writ_json_type(value) <= WRIT_JSON_NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_digest_json(value, WRIT_RECORD_MAX_BYTES, &digest, err));
    writ_digest_text(&digest, text);
    *ret = writ_member_text(writ_view_copy(writ_view_str(text), arena));
    return WRIT_DONE;
}

static WRIT_RESULT
derive(const struct writ_profile *profile, enum writ_profile_field field,
    const struct writ_decision *decision, const struct writ_outcome *outcome,
    struct writ_arena *arena, struct writ_member_text *ret, struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM], text[WRIT_DIGEST_TEXT];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct writ_digest digest;
    bool complete = false;

    *ret = (struct writ_member_text){WRIT_ABSENT, {NULL, 0}};
    WRIT_TRY(
        writ_profile_derive(profile, field, decision, outcome, &scratch, &digest, &complete, err));
    if (complete) {
        writ_digest_text(&digest, text);
        *ret = writ_member_text(writ_view_copy(writ_view_str(text), arena));
    }
    return WRIT_DONE;
}

writ_result
writ_vector_digests(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_profile *profile;
    struct writ_decision decision;
    struct writ_outcome outcome;
    struct writ_member_text output, receipt;
    struct writ_write w;

    WRIT_TRY(read_profile(set, &profile, err));
    WRIT_TRY(writ_decision_read(get(vector, "decision"), arena, &decision, err));
    WRIT_TRY(writ_outcome_read(get(vector, "outcome"), arena, &outcome, err));
    WRIT_TRY(hash(get(vector, "arguments"), arena, &decision.params_hash, err));
    WRIT_TRY(hash(get(vector, "result"), arena, &output, err));
    WRIT_TRY(writ_decision_derive(&decision, profile, arena, err));
    WRIT_TRY(derive(profile, WRIT_PROFILE_DECISION_RECEIPT_REF, &decision, NULL, arena,
        &decision.receipt_ref, err));
    WRIT_TRY(derive(profile, WRIT_PROFILE_DECISION_CONTEXT_HASH, &decision, NULL, arena,
        &decision.decision_context_hash, err));
    WRIT_TRY(derive(
        profile, WRIT_PROFILE_OUTCOME_RECEIPT_REF, &decision, &outcome, arena, &receipt, err));
    w = writ_write_to(ret);
    writ_write_object_begin(&w);
    put_text(&w, "params_hash", &decision.params_hash);
    put_text(&w, "intent_digest", &decision.intent_digest);
    put_text(&w, "intent_ref", &decision.intent_ref);
    put_text(&w, "receipt_ref", &decision.receipt_ref);
    put_text(&w, "decision_context_hash", &decision.decision_context_hash);
    put_text(&w, "outcome_receipt_ref", &receipt);
    put_text(&w, "tool_output_hash", &output);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

/* ---- records and their faults */

static int
by_pointer(const void *a, const void *b)
{
    const struct writ_fault *left = a, *right = b;

    return writ_view_compare(writ_view_str(left->pointer), writ_view_str(right->pointer));
}

/* The pointers of the faults, by their bytes. */
static void
put_faults(struct writ_write *w, struct writ_faults *faults)
{
    struct writ_view before = {NULL, 0};

    qsort(faults->list, faults->count, sizeof faults->list[0], by_pointer);
    writ_write_name(w, WRIT_LIT("faults"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < faults->count; i++) {
        struct writ_view pointer = writ_view_str(faults->list[i].pointer);
        if (before.ptr == NULL || !writ_view_equal(before, pointer)) {
            writ_write_string(w, pointer);
        }
        before = pointer;
    }
    writ_write_array_end(w);
}

/* A record passes through without loss: it is written in its canonical form. */
static WRIT_RESULT
check_lossless(const struct writ_json *record, struct writ_view text, struct writ_err *err)
{
    writ_auto_buf canonical = writ_buf_make(WRIT_RECORD_MAX_BYTES);

    WRIT_TRY(writ_jcs_put(&canonical, record, err));
    if (!writ_view_equal(writ_buf_view(&canonical), text)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the record is written as another one");
    }
    return WRIT_DONE;
}

writ_result
writ_vector_decisions(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *record = get(vector, "record");
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    struct writ_faults faults = {0};
    struct writ_decision decision;
    struct writ_write w;

    (void)set;
    WRIT_TRY(writ_decision_read(record, arena, &decision, err));
    WRIT_TRY(writ_decision_put(&decision, &text, err));
    WRIT_TRY(check_lossless(record, writ_buf_view(&text), err));
    writ_decision_validate(&decision, &faults);
    w = writ_write_to(ret);
    writ_write_object_begin(&w);
    put_faults(&w, &faults);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

writ_result
writ_vector_outcomes(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *record = get(vector, "record");
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    const struct writ_profile *profile;
    struct writ_faults faults = {0};
    struct writ_decision decision;
    struct writ_outcome outcome;
    writ_result joined;
    struct writ_write w;

    (void)set;
    WRIT_TRY(read_profile(vector, &profile, err));
    WRIT_TRY(writ_outcome_read(record, arena, &outcome, err));
    WRIT_TRY(writ_decision_read(get(vector, "decision"), arena, &decision, err));
    WRIT_TRY(writ_outcome_put(&outcome, &text, err));
    WRIT_TRY(check_lossless(record, writ_buf_view(&text), err));
    writ_outcome_validate(&outcome, &faults);
    joined = writ_outcome_join(&outcome, &decision, profile, err);
    if (!writ_is_ok(joined) && joined.code != WRIT_E_MISMATCH) {
        return joined;
    }
    w = writ_write_to(ret);
    writ_write_object_begin(&w);
    put_faults(&w, &faults);
    writ_write_flag(&w, "joins", writ_is_ok(joined));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

/* ---- the binding check */

static WRIT_RESULT
read_candidate(const struct writ_json *value, struct writ_arena *arena, struct writ_candidate *ret,
    struct writ_err *err)
{
    struct writ_decision members; /* a candidate has the names of a decision's members */

    WRIT_TRY(writ_decision_read(value, arena, &members, err));
    *ret = (struct writ_candidate){
        .agent_id = members.agent_id,
        .tool = members.tool,
        .target = members.target,
        .normalized_scope = members.normalized_scope,
        .params_hash = members.params_hash,
        .intent_digest = members.intent_digest,
        .intent_ref = members.intent_ref,
        .continuation_id = members.continuation_id,
        .idempotency_key = members.idempotency_key,
        .target_state_digest = members.target_state_digest,
    };
    return WRIT_DONE;
}

writ_result
writ_vector_bindings(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_outcome outcomes[OUTCOMES_MAX];
    struct writ_binding_set held = {outcomes, 0};
    struct writ_decision authorization;
    struct writ_candidate candidate;
    struct writ_binding binding;
    struct writ_write w;
    int64_t now_us;

    (void)set;
    WRIT_TRY(writ_decision_read(get(vector, "authorization"), arena, &authorization, err));
    WRIT_TRY(read_candidate(get(vector, "candidate"), arena, &candidate, err));
    WRIT_JSON_EACH(value, get(vector, "outcomes"))
    {
        if (held.count == OUTCOMES_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d outcomes", OUTCOMES_MAX);
        }
        WRIT_TRY(writ_outcome_read(value, arena, &outcomes[held.count++], err));
    }
    if (!writ_member_time(writ_json_string(get(vector, "now")), &now_us)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "now is not a time");
    }
    binding = writ_binding_check(&authorization, &candidate, now_us, writ_binding_outcomes(&held));
    w = writ_write_to(ret);
    writ_write_object_begin(&w);
    writ_write_text(&w, "verdict", writ_binding_verdict_name(binding.verdict));
    writ_write_text(&w, "reason", writ_reason_name(binding.reason));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

/* ---- completeness */

static void
set_freep(struct writ_completeness_set **set)
{
    writ_completeness_free(*set);
}

writ_result
writ_vector_completeness(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *records = get(vector, "records");
    const struct writ_json *sealed = get(vector, "seal");
    WRIT_AUTO(struct writ_completeness_set *, set_freep) held = NULL;
    struct writ_completeness report;
    struct writ_seal seal;

    (void)set;
    if (writ_json_type(records) != WRIT_JSON_ARRAY ||
        (held = writ_completeness_new((size_t)records->count + 1)) == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "records is not a list");
    }
    WRIT_JSON_EACH(value, records)
    {
        struct writ_decision decision;
        WRIT_TRY(writ_decision_read(value, arena, &decision, err));
        WRIT_TRY(writ_completeness_add(held, &decision, err));
    }
    if (writ_json_type(sealed) == WRIT_JSON_OBJECT) {
        WRIT_TRY(writ_seal_read(sealed, arena, &seal, err));
        writ_completeness_seal(held, &seal);
    }
    WRIT_JSON_EACH(value, writ_json_type(sealed) == WRIT_JSON_ARRAY ? sealed : NULL)
    {
        WRIT_TRY(writ_seal_read(value, arena, &seal, err));
        writ_completeness_seal(held, &seal);
    }
    WRIT_TRY(writ_completeness_report(held, arena, &report, err));
    return writ_completeness_put(&report, ret, err);
}
