/* Digest profiles. Each preimage lists its members in canonical order, requires what its profile
 * requires, and has a limit. */
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/jcs.h"

START_TEST(profiles_are_found_by_name)
{
    ck_assert_view(writ_profile_default()->name, "crewai-v1");
    ck_assert_ptr_eq(writ_profile_find(WRIT_LIT("crewai-v1")), writ_profile_default());
    ck_assert_view(writ_profile_find(WRIT_LIT("algovoi-v1"))->name, "algovoi-v1");
    ck_assert_view(writ_profile_find(WRIT_LIT("vaara-v0"))->name, "vaara-v0");
    ck_assert_ptr_null(writ_profile_find(WRIT_LIT("crewai-v2")));
    ck_assert_ptr_null(writ_profile_find(WRIT_LIT("")));
}
END_TEST

START_TEST(profiles_can_be_walked)
{
    size_t n = 0;

    while (writ_profile_at(n) != NULL) {
        ck_assert_ptr_eq(writ_profile_find(writ_profile_at(n)->name), writ_profile_at(n));
        n++;
    }
    ck_assert_uint_eq(n, 3);
    ck_assert_ptr_null(writ_profile_at(SIZE_MAX));
}
END_TEST

/* The name inside a key such as "\"tool\":". */
static struct writ_view
name_in(struct writ_view key)
{
    return writ_view_sub(key, 1, key.len - 3);
}

START_TEST(profile_preimages_are_in_canonical_order)
{
    for (size_t p = 0; writ_profile_at(p) != NULL; p++) {
        for (size_t f = 0; f < WRIT_PROFILE_FIELDS; f++) {
            const struct writ_profile_member *member = writ_profile_at(p)->fields[f].members;
            ck_assert_uint_gt(member[0].key.len, 0);
            for (size_t i = 1; i < WRIT_PROFILE_MAX_MEMBERS && member[i].key.len > 0; i++) {
                ck_assert_msg(
                    writ_jcs_compare(name_in(member[i - 1].key), name_in(member[i].key)) < 0,
                    "profile %zu field %zu member %zu", p, f, i);
            }
        }
    }
}
END_TEST

/* A decision with every member set, and its outcome, so that every preimage is complete. */
static struct writ_outcome
sample_outcome(const struct writ_decision *decision, struct writ_arena *arena)
{
    struct writ_outcome outcome = writ_outcome_for(decision, WRIT_OUTCOME_EXECUTED);

    ck_assert_ok(
        writ_member_time_make(WRIT_SAMPLE_ISSUED_US + 1, arena, &outcome.completed_at, NULL));
    return outcome;
}

START_TEST(profile_preimages_are_canonical)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    writ_auto_buf canonical = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);

    for (size_t p = 0; writ_profile_at(p) != NULL; p++) {
        const struct writ_profile *profile = writ_profile_at(p);
        struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, profile, arena);
        struct writ_outcome outcome = sample_outcome(&decision, arena);

        decision.agent_id = writ_member_text(WRIT_LIT("a\"\\\n\x01\xc3\xa9"));
        for (int f = 0; f < WRIT_PROFILE_FIELDS; f++) {
            struct writ_digest got, want;
            bool complete = false;

            ck_assert_ok(writ_profile_derive(profile, (enum writ_profile_field)f, &decision,
                &outcome, &scratch, &got, &complete, NULL));
            ck_assert(complete);
            writ_buf_clear(&canonical);
            ck_assert_ok(
                writ_jcs_put(&canonical, writ_value_of(arena, writ_buf_view(&scratch)), NULL));
            ck_assert(writ_view_equal(writ_buf_view(&scratch), writ_buf_view(&canonical)));
            ck_assert_ok(writ_digest_bytes(writ_buf_view(&canonical), &want, NULL));
            ck_assert(writ_digest_equal(&got, &want));
        }
    }
}
END_TEST

START_TEST(profile_digest_of_null_writes_null)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_decision decision = {
        .agent_id = writ_member_text(WRIT_LIT("a")),
        .tool = writ_member_text(WRIT_LIT("t")),
        .params_hash = writ_member_text(WRIT_LIT("sha256:x")),
        .target_state_digest = {WRIT_NULL, {0}},
    };
    struct writ_digest digest;
    bool complete = false;

    ck_assert_ok(writ_profile_derive(writ_profile_default(), WRIT_PROFILE_INTENT_DIGEST, &decision,
        NULL, &scratch, &digest, &complete, NULL));
    ck_assert(complete);
    ck_assert_view(writ_buf_view(&scratch), "{\"agent_id\":\"a\",\"params_hash\":\"sha256:x\","
                                            "\"target_state_digest\":null,\"tool\":\"t\"}");
}
END_TEST

START_TEST(profile_digest_without_a_required_value_fails)
{
    writ_auto_buf scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    struct writ_digest digest = {{9}};
    bool complete = true;

    decision.tool.is = WRIT_ABSENT;
    ck_assert_ok(writ_profile_derive(writ_profile_default(), WRIT_PROFILE_INTENT_DIGEST, &decision,
        NULL, &scratch, &digest, &complete, NULL));
    ck_assert(!complete);
    ck_assert_uint_eq(digest.bytes[0], 9);

    /* a value of a wrong type is not null either */
    decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    decision.target_state_digest.is = WRIT_WRONG;
    ck_assert_ok(writ_profile_derive(writ_profile_default(), WRIT_PROFILE_INTENT_DIGEST, &decision,
        NULL, &scratch, &digest, &complete, NULL));
    ck_assert(!complete);
}
END_TEST

START_TEST(profile_digest_of_an_outcome_requires_its_time)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_decision decision =
        writ_sample_decision(WRIT_DECISION_ALLOW, writ_profile_default(), arena);
    struct writ_outcome outcome = writ_outcome_for(&decision, WRIT_OUTCOME_EXECUTED);
    struct writ_digest digest;
    bool complete = true;

    ck_assert_ok(writ_profile_derive(writ_profile_default(), WRIT_PROFILE_OUTCOME_RECEIPT_REF,
        &decision, NULL, &scratch, &digest, &complete, NULL));
    ck_assert(!complete);
    ck_assert_ok(writ_profile_derive(writ_profile_default(), WRIT_PROFILE_OUTCOME_RECEIPT_REF,
        &decision, &outcome, &scratch, &digest, &complete, NULL));
    ck_assert(!complete);
}
END_TEST

START_TEST(profile_digest_beyond_the_scratch_buffer_fails)
{
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    writ_auto_buf most = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_digest digest = {{9}};
    bool complete = false;

    ck_assert_ok(writ_profile_derive(writ_profile_default(), WRIT_PROFILE_INTENT_DIGEST, &decision,
        NULL, &most, &digest, &complete, NULL));
    for (size_t less = 0; less < 2; less++) {
        writ_auto_buf scratch = writ_buf_make(most.len - less);
        writ_result result = writ_profile_derive(writ_profile_default(), WRIT_PROFILE_INTENT_DIGEST,
            &decision, NULL, &scratch, &digest, &complete, NULL);
        ck_assert_int_eq(result.code, less == 0 ? WRIT_OK : WRIT_E_LIMIT);
    }
}
END_TEST

/* The profile's name and normalization_id are recorded beside the digests: crewai-v1 and
 * algovoi-v1 have neither in a preimage. */
START_TEST(profile_name_is_in_no_preimage)
{
    for (size_t p = 0; p < 2; p++) {
        for (size_t f = 0; f < WRIT_PROFILE_FIELDS; f++) {
            for (size_t i = 0; i < WRIT_PROFILE_MAX_MEMBERS; i++) {
                enum writ_profile_source source = writ_profile_at(p)->fields[f].members[i].source;
                ck_assert_int_ne(source, WRIT_SOURCE_NORMALIZATION_ID);
                ck_assert_int_ne(source, WRIT_SOURCE_SCHEMA);
            }
        }
    }
}
END_TEST

/* Removes the member that a required source reads; false for a source that may be null. */
static bool
take_away(struct writ_decision *decision, enum writ_profile_source source)
{
    switch (source) {
    case WRIT_SOURCE_AGENT_ID:
        decision->agent_id.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_TOOL:
        decision->tool.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_NORMALIZED_SCOPE:
        decision->normalized_scope.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_PARAMS_HASH:
        decision->params_hash.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_INTENT_DIGEST:
        decision->intent_digest.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_INTENT_REF:
        decision->intent_ref.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_IDEMPOTENCY_KEY:
        decision->idempotency_key.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_ISSUED_AT:
    case WRIT_SOURCE_ISSUED_AT_MS:
        decision->issued_at.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_SEQ:
        decision->seq.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_NORMALIZATION_ID:
        decision->normalization_id.is = WRIT_NULL;
        return true;
    case WRIT_SOURCE_NONE:
    case WRIT_SOURCE_SCHEMA:
    case WRIT_SOURCE_COMPLETED_AT: /* profile_digest_of_an_outcome_requires_its_time */
    case WRIT_SOURCE_TARGET_STATE_DIGEST:
    case WRIT_SOURCE_CONTINUATION_ID:
    case WRIT_SOURCE_EXPIRES_AT:
    case WRIT_SOURCE_POLICY_DIGEST:
    case WRIT_SOURCE_CREDENTIAL_SCOPE:
    case WRIT_SOURCE_CREDENTIAL_TIER:
    case WRIT_SOURCE_POLICY_REFS:
    case WRIT_SOURCE_RETRIEVED_POLICY_REFS:
    case WRIT_SOURCE_REVALIDATE_IF:
        break;
    }
    return false;
}

static bool
is_complete(const struct writ_profile *profile, size_t field, const struct writ_decision *decision,
    const struct writ_outcome *outcome)
{
    char room[WRIT_PROFILE_ROOM];
    writ_auto_buf scratch = writ_profile_scratch(room);
    struct writ_digest digest;
    bool complete = false;

    ck_assert_ok(writ_profile_derive(profile, (enum writ_profile_field)field, decision, outcome,
        &scratch, &digest, &complete, NULL));
    return complete;
}

START_TEST(profile_digest_requires_each_required_member)
{
    writ_auto_arena arena = writ_value_arena();

    for (size_t p = 0; writ_profile_at(p) != NULL; p++) {
        const struct writ_profile *profile = writ_profile_at(p);
        const struct writ_decision whole =
            writ_sample_decision(WRIT_DECISION_ALLOW, profile, arena);
        struct writ_outcome outcome = sample_outcome(&whole, arena);

        for (size_t f = 0; f < WRIT_PROFILE_FIELDS; f++) {
            const struct writ_profile_member *member = profile->fields[f].members;
            for (size_t i = 0; i < WRIT_PROFILE_MAX_MEMBERS && member[i].key.len > 0; i++) {
                struct writ_decision less = whole;
                bool required = take_away(&less, member[i].source);
                ck_assert(is_complete(profile, f, &less, &outcome) == !required);
            }
        }
    }
}
END_TEST

START_TEST(profile_digest_with_an_invalid_time_fails)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_profile *profile = writ_profile_find(WRIT_LIT("vaara-v0"));
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, profile, arena);

    ck_assert(is_complete(profile, WRIT_PROFILE_DECISION_RECEIPT_REF, &decision, NULL));
    decision.issued_at = writ_member_text(WRIT_LIT("now"));
    ck_assert(!is_complete(profile, WRIT_PROFILE_DECISION_RECEIPT_REF, &decision, NULL));
}
END_TEST

WRIT_UNIT_MAIN("profile", profiles_are_found_by_name, profiles_can_be_walked,
    profile_preimages_are_in_canonical_order, profile_preimages_are_canonical,
    profile_digest_of_null_writes_null, profile_digest_without_a_required_value_fails,
    profile_digest_of_an_outcome_requires_its_time, profile_digest_beyond_the_scratch_buffer_fails,
    profile_name_is_in_no_preimage, profile_digest_requires_each_required_member,
    profile_digest_with_an_invalid_time_fails)
