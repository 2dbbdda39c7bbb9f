/* The check that binds a call to its decision. Only the exact call of a live allow gets a permit,
 * each permit is spent once, and each difference has its reason. */
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define CREWAI (writ_profile_find(WRIT_LIT("crewai-v1")))
#define NOW_US (WRIT_SAMPLE_ISSUED_US + 1000000)

/* An authorization and the call that it is for; each test changes one of them. */
struct pair {
    struct writ_decision authorization;
    struct writ_candidate candidate;
};

static struct pair
matching_pair(struct writ_arena *arena)
{
    struct pair pair;

    pair.authorization = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    pair.candidate = writ_sample_candidate(&pair.authorization);
    return pair;
}

/* Counts its calls and gives the preset answer. */
struct oracle {
    enum writ_binding_claim answer;
    unsigned asked;
};

static enum writ_binding_claim
ask_oracle(void *ctx, struct writ_view intent_ref, struct writ_view idempotency_key)
{
    struct oracle *oracle = ctx;

    ck_assert(writ_view_has_prefix(intent_ref, WRIT_LIT("sha256:")));
    ck_assert_view(idempotency_key, "tool_action_991");
    oracle->asked++;
    return oracle->answer;
}

static struct writ_binding
check_at(const struct pair *pair, int64_t now_us)
{
    struct oracle free_oracle = {WRIT_BINDING_FREE, 0};

    return writ_binding_check(&pair->authorization, &pair->candidate, now_us,
        (struct writ_binding_lookup){ask_oracle, &free_oracle});
}

static void
expect(const struct pair *pair, enum writ_binding_verdict verdict, enum writ_reason reason)
{
    struct writ_binding binding = check_at(pair, NOW_US);

    ck_assert_view(writ_reason_name(binding.reason), writ_reason_name(reason).ptr);
    ck_assert_int_eq(binding.verdict, verdict);
    ck_assert_int_eq(writ_binding_spend(&binding.permit, NULL), verdict == WRIT_BINDING_ALLOW);
}

static void
expect_deny(const struct pair *pair, enum writ_reason reason)
{
    expect(pair, WRIT_BINDING_DENY, reason);
}

START_TEST(binding_zero_verdict_is_not_allowed)
{
    struct writ_binding binding = {0};

    ck_assert_int_eq(binding.verdict, WRIT_BINDING_DENY);
    ck_assert_int_eq(WRIT_BINDING_TAKEN, 0);
    ck_assert(!writ_binding_spend(&binding.permit, NULL));
    ck_assert_view(writ_binding_verdict_name(WRIT_BINDING_DENY), "deny");
    ck_assert_view(writ_binding_verdict_name(WRIT_BINDING_ALLOW), "allow");
    ck_assert_view(writ_binding_verdict_name(WRIT_BINDING_REVALIDATE), "revalidate");
}
END_TEST

START_TEST(binding_check_of_the_exact_call_is_allowed)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    expect(&pair, WRIT_BINDING_ALLOW, WRIT_REASON_CONTRACT_BINDING_OK);
}
END_TEST

START_TEST(permit_spend_twice_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    struct writ_binding binding = check_at(&pair, NOW_US);
    struct writ_view decision_id = {0};

    ck_assert(writ_binding_spend(&binding.permit, &decision_id));
    ck_assert(writ_view_equal(decision_id, pair.authorization.decision_id.view));
    decision_id = (struct writ_view){0};
    ck_assert(!writ_binding_spend(&binding.permit, &decision_id));
    ck_assert_uint_eq(decision_id.len, 0);
}
END_TEST

/* ---- row 1 */

START_TEST(binding_check_of_a_deny_gives_no_permit)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    static const enum writ_decision_route routes[] = {
        WRIT_DECISION_DENY, WRIT_DECISION_REQUIRE_APPROVAL, WRIT_DECISION_REVISE};

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        pair.authorization.decision = writ_decision_route_text(routes[i]);
        expect_deny(&pair, WRIT_REASON_DECISION_NOT_ALLOW);
    }
    pair.authorization.decision.is = WRIT_ABSENT;
    expect_deny(&pair, WRIT_REASON_DECISION_NOT_ALLOW);
    pair.authorization.decision = writ_member_text(WRIT_LIT("ALLOW"));
    expect_deny(&pair, WRIT_REASON_DECISION_NOT_ALLOW);
}
END_TEST

/* ---- row 2 */

START_TEST(binding_check_includes_both_ends_of_the_lifetime)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    static const struct {
        int64_t now_us;
        enum writ_reason reason;
    } cases[] = {
        {WRIT_SAMPLE_ISSUED_US - 1, WRIT_REASON_EXPIRED},
        {WRIT_SAMPLE_ISSUED_US, WRIT_REASON_CONTRACT_BINDING_OK},
        {WRIT_SAMPLE_ISSUED_US + WRIT_SAMPLE_LIFETIME_US, WRIT_REASON_CONTRACT_BINDING_OK},
        {WRIT_SAMPLE_ISSUED_US + WRIT_SAMPLE_LIFETIME_US + 1, WRIT_REASON_EXPIRED},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(check_at(&pair, cases[i].now_us).reason, cases[i].reason);
    }
}
END_TEST

START_TEST(binding_check_without_a_begin_is_expired)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    pair.authorization.issued_at = (struct writ_member_text){WRIT_NULL, {0}};
    expect_deny(&pair, WRIT_REASON_EXPIRED);
    pair.authorization.issued_at = writ_member_text(WRIT_LIT("2026-06-25"));
    expect_deny(&pair, WRIT_REASON_EXPIRED);
}
END_TEST

START_TEST(binding_check_without_an_end_holds_and_with_a_bad_end_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    pair.authorization.expires_at = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert_int_eq(check_at(&pair, INT64_MAX).verdict, WRIT_BINDING_ALLOW);
    pair.authorization.expires_at.is = WRIT_ABSENT;
    ck_assert_int_eq(check_at(&pair, INT64_MAX).verdict, WRIT_BINDING_ALLOW);
    pair.authorization.expires_at = writ_member_text(WRIT_LIT("never"));
    expect_deny(&pair, WRIT_REASON_EXPIRED);
    pair.authorization.expires_at.is = WRIT_WRONG;
    expect_deny(&pair, WRIT_REASON_EXPIRED);
}
END_TEST

/* ---- rows 3 to 7: each member of the candidate, changed alone */

#define AT(member) offsetof(struct writ_candidate, member)

START_TEST(binding_check_of_each_differing_member_has_its_reason)
{
    writ_auto_arena arena = writ_value_arena();
    static const struct {
        size_t offset;
        enum writ_binding_verdict verdict;
        enum writ_reason reason;
    } cases[] = {
        {AT(agent_id), WRIT_BINDING_DENY, WRIT_REASON_AGENT_ID_MISMATCH},
        {AT(tool), WRIT_BINDING_DENY, WRIT_REASON_TOOL_MISMATCH},
        {AT(target), WRIT_BINDING_DENY, WRIT_REASON_TARGET_MISMATCH},
        {AT(normalized_scope), WRIT_BINDING_DENY, WRIT_REASON_NORMALIZED_SCOPE_MISMATCH},
        {AT(params_hash), WRIT_BINDING_DENY, WRIT_REASON_EXACT_INTENT_MISMATCH},
        {AT(intent_digest), WRIT_BINDING_DENY, WRIT_REASON_EXACT_INTENT_MISMATCH},
        {AT(intent_ref), WRIT_BINDING_DENY, WRIT_REASON_EXACT_INTENT_MISMATCH},
        {AT(continuation_id), WRIT_BINDING_DENY, WRIT_REASON_CONTINUATION_MISMATCH},
        {AT(idempotency_key), WRIT_BINDING_DENY, WRIT_REASON_IDEMPOTENCY_KEY_MISMATCH},
        {AT(target_state_digest), WRIT_BINDING_REVALIDATE, WRIT_REASON_TARGET_STATE_DRIFT},
    };

    ck_assert_uint_eq(sizeof cases / sizeof cases[0] * sizeof(struct writ_member_text),
        sizeof(struct writ_candidate));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pair pair = matching_pair(arena);
        struct writ_member_text *member =
            (struct writ_member_text *)((char *)&pair.candidate + cases[i].offset);

        *member = writ_member_text(WRIT_LIT("another"));
        expect(&pair, cases[i].verdict, cases[i].reason);
        member->is = WRIT_ABSENT;
        expect(&pair, cases[i].verdict, cases[i].reason);
        member->is = WRIT_WRONG;
        expect(&pair, cases[i].verdict, cases[i].reason);
    }
}
END_TEST

START_TEST(binding_check_of_members_absent_on_both_sides_fails_unless_optional)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    pair.authorization.target.is = pair.candidate.target.is = WRIT_ABSENT;
    pair.authorization.continuation_id.is = WRIT_NULL;
    pair.candidate.continuation_id.is = WRIT_ABSENT;
    pair.authorization.target_state_digest.is = pair.candidate.target_state_digest.is = WRIT_NULL;
    expect(&pair, WRIT_BINDING_ALLOW, WRIT_REASON_CONTRACT_BINDING_OK);

    pair.authorization.idempotency_key.is = pair.candidate.idempotency_key.is = WRIT_ABSENT;
    expect_deny(&pair, WRIT_REASON_IDEMPOTENCY_KEY_MISMATCH);
    pair.authorization.params_hash.is = pair.candidate.params_hash.is = WRIT_ABSENT;
    expect_deny(&pair, WRIT_REASON_EXACT_INTENT_MISMATCH);
    pair.authorization.normalized_scope.is = pair.candidate.normalized_scope.is = WRIT_ABSENT;
    expect_deny(&pair, WRIT_REASON_NORMALIZED_SCOPE_MISMATCH);
}
END_TEST

/* From the last row to the first: with every earlier fault added, the earlier reason wins. */
START_TEST(binding_check_reports_the_first_failure)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    struct oracle taken = {WRIT_BINDING_TAKEN, 0};
    struct writ_binding_lookup lookup = {ask_oracle, &taken};
    struct writ_member_text x = writ_member_text(WRIT_LIT("x"));
    int64_t now_us = NOW_US;

#define FIRST(want)                                                                                \
    ck_assert_int_eq(                                                                              \
        writ_binding_check(&pair.authorization, &pair.candidate, now_us, lookup).reason, (want))
    FIRST(WRIT_REASON_DUPLICATE_OUTCOME);
    pair.candidate.target_state_digest = x;
    FIRST(WRIT_REASON_TARGET_STATE_DRIFT);
    pair.candidate.idempotency_key = x;
    FIRST(WRIT_REASON_IDEMPOTENCY_KEY_MISMATCH);
    pair.candidate.continuation_id = x;
    FIRST(WRIT_REASON_CONTINUATION_MISMATCH);
    pair.candidate.intent_ref = x;
    FIRST(WRIT_REASON_EXACT_INTENT_MISMATCH);
    pair.candidate.normalized_scope = x;
    FIRST(WRIT_REASON_NORMALIZED_SCOPE_MISMATCH);
    pair.candidate.target = x;
    FIRST(WRIT_REASON_TARGET_MISMATCH);
    pair.candidate.tool = x;
    FIRST(WRIT_REASON_TOOL_MISMATCH);
    pair.candidate.agent_id = x;
    FIRST(WRIT_REASON_AGENT_ID_MISMATCH);
    now_us = 0;
    FIRST(WRIT_REASON_EXPIRED);
    pair.authorization.decision = x;
    FIRST(WRIT_REASON_DECISION_NOT_ALLOW);
#undef FIRST
    ck_assert_uint_eq(taken.asked, 1); /* only when all else holds */
}
END_TEST

/* ---- row 8 */

START_TEST(binding_check_without_a_lookup_is_a_duplicate)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    struct writ_binding binding = writ_binding_check(
        &pair.authorization, &pair.candidate, NOW_US, (struct writ_binding_lookup){0});

    ck_assert_int_eq(binding.verdict, WRIT_BINDING_DENY);
    ck_assert_int_eq(binding.reason, WRIT_REASON_DUPLICATE_OUTCOME);
}
END_TEST

static enum writ_reason
against(const struct pair *pair, const struct writ_outcome *outcomes, size_t count)
{
    struct writ_binding_set set = {outcomes, count};

    return writ_binding_check(
        &pair->authorization, &pair->candidate, NOW_US, writ_binding_outcomes(&set))
        .reason;
}

START_TEST(binding_check_after_any_outcome_is_a_duplicate)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    ck_assert_int_eq(against(&pair, NULL, 0), WRIT_REASON_CONTRACT_BINDING_OK);
    for (int kind = WRIT_OUTCOME_ERROR; kind <= WRIT_OUTCOME_TIMEOUT; kind++) {
        struct writ_outcome outcome =
            writ_outcome_for(&pair.authorization, (enum writ_outcome_kind)kind);
        ck_assert_int_eq(against(&pair, &outcome, 1), WRIT_REASON_DUPLICATE_OUTCOME);
        outcome.decision_id = writ_member_text(WRIT_LIT("whatever"));
        ck_assert_int_eq(against(&pair, &outcome, 1), WRIT_REASON_DUPLICATE_OUTCOME);
    }
}
END_TEST

START_TEST(binding_check_ignores_outcomes_of_another_key_or_intent)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    struct writ_outcome outcomes[2];

    outcomes[0] = writ_outcome_for(&pair.authorization, WRIT_OUTCOME_EXECUTED);
    outcomes[1] = outcomes[0];
    outcomes[0].idempotency_key = writ_member_text(WRIT_LIT("another"));
    outcomes[1].intent_ref = pair.authorization.intent_digest;
    ck_assert_int_eq(against(&pair, outcomes, 2), WRIT_REASON_CONTRACT_BINDING_OK);
    outcomes[1].intent_ref = pair.authorization.intent_ref;
    ck_assert_int_eq(against(&pair, outcomes, 2), WRIT_REASON_DUPLICATE_OUTCOME);
}
END_TEST

START_TEST(binding_check_counts_an_outcome_without_a_key)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    struct writ_outcome outcome = writ_outcome_for(&pair.authorization, WRIT_OUTCOME_EXECUTED);

    outcome.idempotency_key = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert_int_eq(against(&pair, &outcome, 1), WRIT_REASON_DUPLICATE_OUTCOME);
}
END_TEST

/* As the first fixtures of the contract write it. */
START_TEST(binding_check_counts_a_key_in_the_extensions)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);
    struct writ_outcome outcome = writ_outcome_for(&pair.authorization, WRIT_OUTCOME_EXECUTED);

    outcome.idempotency_key.is = WRIT_ABSENT;
    outcome.extensions = (struct writ_member_object){.is = WRIT_PRESENT,
        .value = writ_value_of(arena, WRIT_LIT("{\"idempotency_key\":\"another\"}"))};
    ck_assert_int_eq(against(&pair, &outcome, 1), WRIT_REASON_CONTRACT_BINDING_OK);
    outcome.extensions.value =
        writ_value_of(arena, WRIT_LIT("{\"idempotency_key\":\"tool_action_991\"}"));
    ck_assert_int_eq(against(&pair, &outcome, 1), WRIT_REASON_DUPLICATE_OUTCOME);
}
END_TEST

/* ---- step 4 recomputes */

static void
blank_digests(struct writ_candidate *candidate)
{
    candidate->intent_digest = candidate->intent_ref = (struct writ_member_text){WRIT_ABSENT, {0}};
}

START_TEST(binding_check_of_a_recomputed_candidate_is_allowed)
{
    writ_auto_arena arena = writ_value_arena();

    for (size_t p = 0; writ_profile_at(p) != NULL; p++) {
        const struct writ_profile *profile = writ_profile_at(p);
        struct pair pair;

        pair.authorization = writ_sample_decision(WRIT_DECISION_ALLOW, profile, arena);
        pair.candidate = writ_sample_candidate(&pair.authorization);
        blank_digests(&pair.candidate);
        ck_assert_ok(
            writ_binding_derive(&pair.candidate, &pair.authorization, profile, arena, NULL));
        expect(&pair, WRIT_BINDING_ALLOW, WRIT_REASON_CONTRACT_BINDING_OK);
    }
}
END_TEST

START_TEST(binding_check_of_a_changed_state_is_drift)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    pair.candidate.target_state_digest = pair.candidate.params_hash;
    blank_digests(&pair.candidate);
    ck_assert_ok(writ_binding_derive(&pair.candidate, &pair.authorization, CREWAI, arena, NULL));
    expect(&pair, WRIT_BINDING_REVALIDATE, WRIT_REASON_TARGET_STATE_DRIFT);
}
END_TEST

START_TEST(binding_check_of_changed_arguments_is_another_intent)
{
    writ_auto_arena arena = writ_value_arena();
    struct pair pair = matching_pair(arena);

    pair.candidate.params_hash = pair.candidate.target_state_digest;
    blank_digests(&pair.candidate);
    ck_assert_ok(writ_binding_derive(&pair.candidate, &pair.authorization, CREWAI, arena, NULL));
    expect_deny(&pair, WRIT_REASON_EXACT_INTENT_MISMATCH);
}
END_TEST

WRIT_UNIT_MAIN("binding", binding_zero_verdict_is_not_allowed,
    binding_check_of_the_exact_call_is_allowed, permit_spend_twice_fails,
    binding_check_of_a_deny_gives_no_permit, binding_check_includes_both_ends_of_the_lifetime,
    binding_check_without_a_begin_is_expired,
    binding_check_without_an_end_holds_and_with_a_bad_end_fails,
    binding_check_of_each_differing_member_has_its_reason,
    binding_check_of_members_absent_on_both_sides_fails_unless_optional,
    binding_check_reports_the_first_failure, binding_check_without_a_lookup_is_a_duplicate,
    binding_check_after_any_outcome_is_a_duplicate,
    binding_check_ignores_outcomes_of_another_key_or_intent,
    binding_check_counts_an_outcome_without_a_key, binding_check_counts_a_key_in_the_extensions,
    binding_check_of_a_recomputed_candidate_is_allowed, binding_check_of_a_changed_state_is_drift,
    binding_check_of_changed_arguments_is_another_intent)
