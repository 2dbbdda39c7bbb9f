/* Every function derives into a copy, or into its own memory, so that a record changes only when
 * all of its digests are complete. */
#include "evidence/record/derive.h"

#include "evidence/json/write.h"
#include "evidence/record/profile.h"

/* The text of a digest in memory of the caller's choice: the arena, or the stack. */
static struct writ_member_text
digest_text(const struct writ_digest *digest, char text[WRIT_DIGEST_TEXT])
{
    writ_digest_text(digest, text);
    return writ_member_text(writ_view(text, WRIT_DIGEST_TEXT - 1));
}

/* Derives one field into `text`; absent when the preimage is incomplete. */
static WRIT_RESULT
derive_into(const struct writ_profile *profile, enum writ_profile_field field,
    const struct writ_decision *decision, struct writ_buf *scratch, char text[WRIT_DIGEST_TEXT],
    struct writ_member_text *ret, struct writ_err *err)
{
    struct writ_digest digest;
    bool complete = false;

    WRIT_TRY(writ_profile_derive(profile, field, decision, NULL, scratch, &digest, &complete, err));
    *ret = complete ? digest_text(&digest, text) : (struct writ_member_text){WRIT_ABSENT, {0}};
    return WRIT_DONE;
}

/* Room for the digests of a decision. */
struct digest_texts {
    char first[WRIT_DIGEST_TEXT], second[WRIT_DIGEST_TEXT];
};

static WRIT_RESULT
derive_intent(struct writ_decision *decision, const struct writ_profile *profile,
    struct writ_buf *scratch, struct digest_texts *texts, struct writ_err *err)
{
    /* in this order: the first is in the preimage of the second */
    WRIT_TRY(derive_into(profile, WRIT_PROFILE_INTENT_DIGEST, decision, scratch, texts->first,
        &decision->intent_digest, err));
    return derive_into(profile, WRIT_PROFILE_INTENT_REF, decision, scratch, texts->second,
        &decision->intent_ref, err);
}

static WRIT_RESULT
derive_receipt(struct writ_decision *decision, const struct writ_profile *profile,
    struct writ_buf *scratch, struct digest_texts *texts, struct writ_err *err)
{
    WRIT_TRY(derive_into(profile, WRIT_PROFILE_DECISION_RECEIPT_REF, decision, scratch,
        texts->first, &decision->receipt_ref, err));
    return derive_into(profile, WRIT_PROFILE_DECISION_CONTEXT_HASH, decision, scratch,
        texts->second, &decision->decision_context_hash, err);
}

WRIT_RESULT
writ_decision_derive(struct writ_decision *decision, const struct writ_profile *profile,
    struct writ_arena *arena, struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct digest_texts *texts = writ_arena_get(arena, sizeof *texts);
    struct writ_decision derived = *decision;

    if (texts == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the digests of a decision");
    }
    WRIT_TRY(derive_intent(&derived, profile, &scratch, texts, err));
    if (derived.normalization_id.is == WRIT_ABSENT) {
        derived.normalization_id = writ_member_text(profile->normalization_id);
    }
    *decision = derived;
    return WRIT_DONE;
}

WRIT_RESULT
writ_decision_place(struct writ_decision *decision, const struct writ_profile *profile,
    uint64_t seq, int64_t issued_at_us, int64_t lifetime_us, struct writ_arena *arena,
    struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct digest_texts *texts = writ_arena_get(arena, sizeof *texts);
    struct writ_decision placed = *decision;

    if (texts == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the digests of a decision");
    }
    if (seq >= WRIT_DECISION_SEQ_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "seq is above the largest that a record can hold");
    }
    placed.seq = writ_member_number((int64_t)seq);
    placed.running_count = writ_member_number((int64_t)seq + 1);
    WRIT_TRY(writ_member_time_make(issued_at_us, arena, &placed.issued_at, err));
    placed.expires_at = (struct writ_member_text){WRIT_NULL, {0}};
    if (lifetime_us > 0) {
        WRIT_TRY(writ_member_time_make(issued_at_us + lifetime_us, arena, &placed.expires_at, err));
    }
    WRIT_TRY(derive_receipt(&placed, profile, &scratch, texts, err));
    *decision = placed;
    return WRIT_DONE;
}

WRIT_RESULT
writ_outcome_place(struct writ_outcome *outcome, const struct writ_decision *decision,
    const struct writ_profile *profile, int64_t completed_at_us, struct writ_outcome_texts *texts,
    struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct writ_outcome placed = *outcome;
    struct writ_digest receipt;
    bool complete = false;

    writ_time_format(completed_at_us, texts->completed_at);
    placed.completed_at = writ_member_text(writ_view(texts->completed_at, WRIT_TIME_TEXT - 1));
    WRIT_TRY(writ_profile_derive(profile, WRIT_PROFILE_OUTCOME_RECEIPT_REF, decision, &placed,
        &scratch, &receipt, &complete, err));
    placed.receipt_ref = (struct writ_member_text){WRIT_NULL, {0}};
    if (complete) {
        writ_digest_text(&receipt, texts->receipt_ref);
        placed.receipt_ref = writ_member_text(writ_view(texts->receipt_ref, WRIT_DIGEST_TEXT - 1));
    }
    *outcome = placed;
    return WRIT_DONE;
}

/* ---- identities beside the records */

static void
write_text_or_null(struct writ_write *w, struct writ_view name, const struct writ_member_text *text)
{
    writ_write_name(w, name);
    if (text->is == WRIT_PRESENT) {
        writ_write_string(w, text->view);
    } else {
        writ_write_null(w);
    }
}

WRIT_RESULT
writ_decision_state_free(const struct writ_decision *decision, struct writ_view tenant,
    struct writ_view upstream, struct writ_digest *ret, struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf preimage = writ_profile_scratch(room);
    struct writ_write w = writ_write_to(&preimage);
    struct writ_member_text tenant_text = writ_member_text_or_null(tenant);
    struct writ_member_text upstream_text = writ_member_text_or_null(upstream);

    writ_write_object_begin(&w);
    write_text_or_null(&w, WRIT_LIT("agent_id"), &decision->agent_id);
    write_text_or_null(&w, WRIT_LIT("normalized_scope"), &decision->normalized_scope);
    write_text_or_null(&w, WRIT_LIT("params_hash"), &decision->params_hash);
    write_text_or_null(&w, WRIT_LIT("tenant"), &tenant_text);
    write_text_or_null(&w, WRIT_LIT("tool"), &decision->tool);
    write_text_or_null(&w, WRIT_LIT("upstream"), &upstream_text);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return writ_digest_bytes(writ_buf_view(&preimage), ret, err);
}

WRIT_RESULT
writ_decision_auto_key(struct writ_view boundary_id, const struct writ_digest *state_free,
    struct writ_arena *arena, struct writ_member_text *ret, struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf text = writ_profile_scratch(room);
    struct writ_write w = writ_write_to(&text);
    char digest[WRIT_DIGEST_TEXT];
    struct writ_digest key;
    struct writ_view kept;

    writ_digest_text(state_free, digest);
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("boundary_id"));
    writ_write_string(&w, boundary_id);
    writ_write_name(&w, WRIT_LIT("state_free"));
    writ_write_string(&w, writ_view_str(digest));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &key, err));

    writ_buf_clear(&text);
    writ_buf_str(&text, "auto:");
    writ_digest_put(&text, &key);
    WRIT_TRY(writ_buf_check(&text, err));
    kept = writ_view_copy(writ_buf_view(&text), arena);
    if (kept.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an idempotency key");
    }
    *ret = writ_member_text(kept);
    return WRIT_DONE;
}

/* ---- recomputing */

static void
compare_digest(const char *pointer, const struct writ_member_text *stated,
    const struct writ_member_text *derived, struct writ_faults *ret)
{
    if (stated->is == WRIT_PRESENT && !writ_member_text_equal(stated, derived, false)) {
        writ_faults_add(ret, pointer, "does not recompute from the record");
    }
}

WRIT_RESULT
writ_decision_recompute(const struct writ_decision *decision, const struct writ_profile *profile,
    struct writ_faults *ret, struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct writ_decision derived = *decision;
    struct digest_texts intent, receipt;

    WRIT_TRY(derive_intent(&derived, profile, &scratch, &intent, err));
    WRIT_TRY(derive_receipt(&derived, profile, &scratch, &receipt, err));
    compare_digest("/intent_digest", &decision->intent_digest, &derived.intent_digest, ret);
    compare_digest("/intent_ref", &decision->intent_ref, &derived.intent_ref, ret);
    compare_digest("/receipt_ref", &decision->receipt_ref, &derived.receipt_ref, ret);
    compare_digest("/decision_context_hash", &decision->decision_context_hash,
        &derived.decision_context_hash, ret);
    return WRIT_DONE;
}

WRIT_RESULT
writ_decision_intent_ref(const struct writ_decision *decision, const struct writ_profile *profile,
    char ret[WRIT_DIGEST_TEXT], bool *ret_complete, struct writ_err *err)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct writ_decision derived = *decision;
    struct digest_texts texts;

    WRIT_TRY(derive_intent(&derived, profile, &scratch, &texts, err));
    if (derived.intent_ref.is == WRIT_PRESENT) {
        for (size_t i = 0; i < WRIT_DIGEST_TEXT; i++) {
            ret[i] = texts.second[i];
        }
    }
    *ret_complete = derived.intent_ref.is == WRIT_PRESENT;
    return WRIT_DONE;
}

/* ---- joining */

/* A member that only one of the two has does not contradict. */
static bool
text_agrees(const struct writ_member_text *a, const struct writ_member_text *b)
{
    return a->is != WRIT_PRESENT || b->is != WRIT_PRESENT || writ_view_equal(a->view, b->view);
}

static bool
number_agrees(const struct writ_member_number *a, const struct writ_member_number *b)
{
    return a->is != WRIT_PRESENT || b->is != WRIT_PRESENT || a->value == b->value;
}

/* The first member in which the two differ, apart from digests, or NULL. */
static const char *
disagreement(const struct writ_outcome *outcome, const struct writ_decision *decision)
{
    if (!writ_member_text_equal(&outcome->decision_id, &decision->decision_id, false)) {
        return "decision_id";
    }
    if (!text_agrees(&outcome->idempotency_key, &decision->idempotency_key)) {
        return "idempotency_key";
    }
    if (!text_agrees(&outcome->boundary_id, &decision->boundary_id)) {
        return "boundary_id";
    }
    if (!number_agrees(&outcome->seq, &decision->seq)) {
        return "seq";
    }
    return NULL;
}

static WRIT_RESULT
agree(const struct writ_outcome *outcome, const struct writ_decision *decision,
    const struct writ_member_text *derived, struct writ_err *err)
{
    const char *differs = disagreement(outcome, decision);

    if (differs != NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "outcome and decision differ in %s", differs);
    }
    /* a deny without scope has no intent_ref, and then neither record states one */
    if (!writ_member_text_equal(&outcome->intent_ref, derived, derived->is == WRIT_ABSENT) ||
        !writ_member_text_equal(&decision->intent_ref, derived, true)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "intent_ref does not recompute from the decision");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_outcome_join(const struct writ_outcome *outcome, const struct writ_decision *decision,
    const struct writ_profile *profile, struct writ_err *err)
{
    char text[WRIT_DIGEST_TEXT] = "";
    struct writ_member_text derived = {WRIT_ABSENT, {0}};
    bool complete = false;

    WRIT_TRY(writ_decision_intent_ref(decision, profile, text, &complete, err));
    if (complete) {
        derived = writ_member_text(writ_view_str(text));
    }
    return agree(outcome, decision, &derived, err);
}

WRIT_RESULT
writ_outcome_join_known(const struct writ_outcome *outcome, const struct writ_decision *decision,
    struct writ_view intent_ref, struct writ_err *err)
{
    struct writ_member_text derived = writ_member_text(intent_ref);

    return agree(outcome, decision, &derived, err);
}
