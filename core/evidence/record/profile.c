/* The profiles as data, and the one function that writes a preimage from them. */
#include "evidence/record/profile.h"

#include "base/text.h"

/* One member of a preimage: its name, and the source of its value. */
#define M(member, SOURCE)                                                                          \
    {                                                                                              \
        {"\"" #member "\":", sizeof #member + 2}, WRIT_SOURCE_##SOURCE                             \
    }

/* clang-format off */

/* decision_context_hash, the same in every profile but vaara-v0 */
#define CONTEXT                                                                                    \
    {{                                                                                             \
        M(agent_id, AGENT_ID), M(credential_scope, CREDENTIAL_SCOPE),                              \
        M(credential_tier, CREDENTIAL_TIER), M(expires_at, EXPIRES_AT),                            \
        M(intent_digest, INTENT_DIGEST), M(params_hash, PARAMS_HASH),                              \
        M(policy_digest, POLICY_DIGEST), M(retrieved_policy_refs, RETRIEVED_POLICY_REFS),          \
        M(revalidate_if, REVALIDATE_IF), M(seq, SEQ), M(tool, TOOL)                                \
    }}

static const struct writ_profile_preimage fields_CREWAI[WRIT_PROFILE_FIELDS] = {
    [WRIT_PROFILE_INTENT_DIGEST] = {{
        M(agent_id, AGENT_ID), M(params_hash, PARAMS_HASH),
        M(target_state_digest, TARGET_STATE_DIGEST), M(tool, TOOL)}},
    [WRIT_PROFILE_INTENT_REF] = {{
        M(agent_id, AGENT_ID), M(intent_digest, INTENT_DIGEST),
        M(normalized_scope, NORMALIZED_SCOPE), M(tool, TOOL)}},
    [WRIT_PROFILE_DECISION_RECEIPT_REF] = {{
        M(agent_id, AGENT_ID), M(intent_digest, INTENT_DIGEST), M(issued_at, ISSUED_AT),
        M(normalized_scope, NORMALIZED_SCOPE), M(tool, TOOL)}},
    [WRIT_PROFILE_OUTCOME_RECEIPT_REF] = {{
        M(agent_id, AGENT_ID), M(completed_at, COMPLETED_AT),
        M(intent_digest, INTENT_DIGEST), M(normalized_scope, NORMALIZED_SCOPE),
        M(tool, TOOL)}},
    [WRIT_PROFILE_DECISION_CONTEXT_HASH] = CONTEXT,
};

static const struct writ_profile_preimage fields_ALGOVOI[WRIT_PROFILE_FIELDS] = {
    [WRIT_PROFILE_INTENT_DIGEST] = {{
        M(agent_id, AGENT_ID), M(params_hash, PARAMS_HASH),
        M(target_state_digest, TARGET_STATE_DIGEST), M(tool, TOOL)}},
    [WRIT_PROFILE_INTENT_REF] = {{
        M(agent_id, AGENT_ID), M(idempotency_key, IDEMPOTENCY_KEY),
        M(intent_digest, INTENT_DIGEST), M(normalized_scope, NORMALIZED_SCOPE),
        M(tool, TOOL)}},
    [WRIT_PROFILE_DECISION_RECEIPT_REF] = {{
        M(agent_id, AGENT_ID), M(idempotency_key, IDEMPOTENCY_KEY),
        M(intent_digest, INTENT_DIGEST), M(issued_at, ISSUED_AT),
        M(normalized_scope, NORMALIZED_SCOPE), M(tool, TOOL)}},
    [WRIT_PROFILE_OUTCOME_RECEIPT_REF] = {{
        M(agent_id, AGENT_ID), M(completed_at, COMPLETED_AT),
        M(idempotency_key, IDEMPOTENCY_KEY), M(intent_digest, INTENT_DIGEST),
        M(normalized_scope, NORMALIZED_SCOPE), M(tool, TOOL)}},
    [WRIT_PROFILE_DECISION_CONTEXT_HASH] = CONTEXT,
};

static const struct writ_profile_preimage fields_VAARA[WRIT_PROFILE_FIELDS] = {
    [WRIT_PROFILE_INTENT_DIGEST] = {{
        M(action_type, TOOL), M(normalized_scope, NORMALIZED_SCOPE),
        M(params_hash, PARAMS_HASH)}},
    [WRIT_PROFILE_INTENT_REF] = {{
        M(action_type, TOOL), M(agent_id, AGENT_ID), M(intent_digest, INTENT_DIGEST),
        M(normalized_scope, NORMALIZED_SCOPE), M(schema, SCHEMA)}},
    /* an outcome uses the receipt_ref of its decision: both contain one time */
    [WRIT_PROFILE_DECISION_RECEIPT_REF] = {{
        M(continuation_id, CONTINUATION_ID), M(idempotency_key, IDEMPOTENCY_KEY),
        M(intent_ref, INTENT_REF), M(seq, SEQ),
        M(target_state_digest, TARGET_STATE_DIGEST), M(timestamp_ms, ISSUED_AT_MS)}},
    [WRIT_PROFILE_OUTCOME_RECEIPT_REF] = {{
        M(continuation_id, CONTINUATION_ID), M(idempotency_key, IDEMPOTENCY_KEY),
        M(intent_ref, INTENT_REF), M(seq, SEQ),
        M(target_state_digest, TARGET_STATE_DIGEST), M(timestamp_ms, ISSUED_AT_MS)}},
    [WRIT_PROFILE_DECISION_CONTEXT_HASH] = {{
        M(continuation_id, CONTINUATION_ID), M(normalization_id, NORMALIZATION_ID),
        M(policy_refs, POLICY_REFS), M(target_state_digest, TARGET_STATE_DIGEST)}},
};

/* clang-format on */

#define PROFILE(NAME, word, normalization, constant)                                               \
    {                                                                                              \
        .name = {word, sizeof word - 1},                                                           \
        .normalization_id = {normalization, sizeof normalization - 1},                             \
        .schema = {constant, sizeof constant - 1},                                                 \
        .fields = fields_##NAME,                                                                   \
    },

static const struct writ_profile profiles[] = {WRIT_PROFILES(PROFILE)};

const struct writ_profile *
writ_profile_at(size_t n)
{
    return n < sizeof profiles / sizeof profiles[0] ? &profiles[n] : NULL;
}

const struct writ_profile *
writ_profile_find(struct writ_view name)
{
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        if (writ_view_equal(profiles[i].name, name)) {
            return &profiles[i];
        }
    }
    return NULL;
}

const struct writ_profile *
writ_profile_default(void)
{
    return &profiles[0];
}

/* ---- preimages */

/* Each put_... appends a value and returns whether there was one. */

static bool
put_text(struct writ_buf *buf, const struct writ_member_text *text)
{
    if (text->is != WRIT_PRESENT) {
        return false;
    }
    writ_text_json(buf, text->view);
    return true;
}

/* A null value becomes null and is never left out. A value of a wrong type counts as absent. */
static bool
put_text_or_null(struct writ_buf *buf, const struct writ_member_text *text)
{
    if (text->is == WRIT_PRESENT) {
        writ_text_json(buf, text->view);
    } else {
        writ_buf_str(buf, "null");
    }
    return text->is != WRIT_WRONG;
}

static bool
put_list_or_null(struct writ_buf *buf, const struct writ_member_list *list)
{
    if (list->is == WRIT_PRESENT) {
        writ_member_put_list(list, buf);
    } else {
        writ_buf_str(buf, "null");
    }
    return list->is != WRIT_WRONG;
}

static bool
put_number(struct writ_buf *buf, const struct writ_member_number *number)
{
    if (number->is != WRIT_PRESENT) {
        return false;
    }
    writ_buf_i64(buf, number->value);
    return true;
}

static bool
put_time_ms(struct writ_buf *buf, const struct writ_member_text *time)
{
    int64_t us;

    if (time->is != WRIT_PRESENT || !writ_member_time(time->view, &us)) {
        return false;
    }
    writ_buf_i64(buf, us / 1000);
    return true;
}

static bool
put_source(struct writ_buf *buf, enum writ_profile_source source,
    const struct writ_profile *profile, const struct writ_decision *decision,
    const struct writ_outcome *outcome)
{
    switch (source) {
    case WRIT_SOURCE_NONE:
        return false;
    case WRIT_SOURCE_AGENT_ID:
        return put_text(buf, &decision->agent_id);
    case WRIT_SOURCE_TOOL:
        return put_text(buf, &decision->tool);
    case WRIT_SOURCE_NORMALIZED_SCOPE:
        return put_text(buf, &decision->normalized_scope);
    case WRIT_SOURCE_PARAMS_HASH:
        return put_text(buf, &decision->params_hash);
    case WRIT_SOURCE_INTENT_DIGEST:
        return put_text(buf, &decision->intent_digest);
    case WRIT_SOURCE_INTENT_REF:
        return put_text(buf, &decision->intent_ref);
    case WRIT_SOURCE_IDEMPOTENCY_KEY:
        return put_text(buf, &decision->idempotency_key);
    case WRIT_SOURCE_ISSUED_AT:
        return put_text(buf, &decision->issued_at);
    case WRIT_SOURCE_ISSUED_AT_MS:
        return put_time_ms(buf, &decision->issued_at);
    case WRIT_SOURCE_COMPLETED_AT:
        return outcome != NULL && put_text(buf, &outcome->completed_at);
    case WRIT_SOURCE_SEQ:
        return put_number(buf, &decision->seq);
    case WRIT_SOURCE_SCHEMA:
        writ_text_json(buf, profile->schema);
        return true;
    case WRIT_SOURCE_NORMALIZATION_ID:
        return put_text(buf, &decision->normalization_id);
    case WRIT_SOURCE_TARGET_STATE_DIGEST:
        return put_text_or_null(buf, &decision->target_state_digest);
    case WRIT_SOURCE_CONTINUATION_ID:
        return put_text_or_null(buf, &decision->continuation_id);
    case WRIT_SOURCE_EXPIRES_AT:
        return put_text_or_null(buf, &decision->expires_at);
    case WRIT_SOURCE_POLICY_DIGEST:
        return put_text_or_null(buf, &decision->policy_digest);
    case WRIT_SOURCE_CREDENTIAL_SCOPE:
        return put_text_or_null(buf, &decision->credential_scope);
    case WRIT_SOURCE_CREDENTIAL_TIER:
        return put_text_or_null(buf, &decision->credential_tier);
    case WRIT_SOURCE_POLICY_REFS:
        return put_list_or_null(buf, &decision->policy_refs);
    case WRIT_SOURCE_RETRIEVED_POLICY_REFS:
        return put_list_or_null(buf, &decision->retrieved_policy_refs);
    case WRIT_SOURCE_REVALIDATE_IF:
        return put_list_or_null(buf, &decision->revalidate_if);
    }
    return false;
}

struct writ_buf
writ_profile_scratch(char room[WRIT_PROFILE_ROOM])
{
    return writ_buf_from(room, WRIT_PROFILE_ROOM, WRIT_PROFILE_MAX_PREIMAGE);
}

WRIT_RESULT
writ_profile_derive(const struct writ_profile *profile, enum writ_profile_field field,
    const struct writ_decision *decision, const struct writ_outcome *outcome,
    struct writ_buf *scratch, struct writ_digest *ret, bool *ret_complete, struct writ_err *err)
{
    const struct writ_profile_member *member = profile->fields[field].members;
    bool complete = true;

    writ_buf_clear(scratch);
    for (size_t i = 0; i < WRIT_PROFILE_MAX_MEMBERS && member[i].key.len > 0 && complete; i++) {
        writ_buf_byte(scratch, i == 0 ? '{' : ',');
        writ_buf_put(scratch, member[i].key);
        complete = put_source(scratch, member[i].source, profile, decision, outcome);
    }
    writ_buf_byte(scratch, '}');
    WRIT_TRY(writ_buf_check(scratch, err));
    if (complete) {
        WRIT_TRY(writ_digest_bytes(writ_buf_view(scratch), ret, err));
    }
    *ret_complete = complete;
    return WRIT_DONE;
}
