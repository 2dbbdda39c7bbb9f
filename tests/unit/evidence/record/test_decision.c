/* Decision records. Each verdict requires its own members, the references recompute, and a changed
 * member shows in every digest that covers it. */
#include "evidence/record/derive.h"
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/json/json.h"

#define CREWAI (writ_profile_find(WRIT_LIT("crewai-v1")))

/* The faults of a decision in one line. */
static const char *
faults_of(const struct writ_decision *decision, struct writ_arena *arena)
{
    writ_auto_buf buf = writ_buf_make(8192);
    struct writ_faults faults = {0};
    struct writ_view line;

    writ_decision_validate(decision, &faults);
    writ_faults_put(&faults, &buf);
    line = writ_view_copy(writ_buf_view(&buf), arena);
    ck_assert_ptr_nonnull(line.ptr);
    return line.ptr;
}

START_TEST(decision_verdict_zero_is_deny)
{
    ck_assert_int_eq(WRIT_DECISION_DENY, 0);
}
END_TEST

START_TEST(routes_have_the_words_of_the_contract)
{
    struct writ_decision decision = {0};

    ck_assert_view(writ_decision_route_name(WRIT_DECISION_ALLOW), "allow");
    ck_assert_view(writ_decision_route_name(WRIT_DECISION_DENY), "deny");
    ck_assert_view(writ_decision_route_name(WRIT_DECISION_REQUIRE_APPROVAL), "require_approval");
    ck_assert_view(writ_decision_route_name(WRIT_DECISION_REVISE), "revise");

    decision.decision = writ_decision_route_text(WRIT_DECISION_ALLOW);
    ck_assert(writ_decision_is(&decision, WRIT_DECISION_ALLOW));
    ck_assert(!writ_decision_is(&decision, WRIT_DECISION_DENY));
}
END_TEST

START_TEST(decision_verdict_of_an_unknown_word_is_none)
{
    struct writ_decision absent = {0};
    struct writ_decision unknown = {.decision = writ_member_text(WRIT_LIT("Allow"))};
    struct writ_decision null = {.decision = {WRIT_NULL, WRIT_LIT("allow")}};

    for (int route = WRIT_DECISION_DENY; route <= WRIT_DECISION_REVISE; route++) {
        ck_assert(!writ_decision_is(&absent, (enum writ_decision_route)route));
        ck_assert(!writ_decision_is(&unknown, (enum writ_decision_route)route));
        ck_assert(!writ_decision_is(&null, (enum writ_decision_route)route));
    }
}
END_TEST

START_TEST(route_find_and_route_of_give_each_route_and_no_other)
{
    static const char *const unknown[] = {"", "Allow", "allow ", "deny,allow"};
    enum writ_decision_route found = WRIT_DECISION_REVISE;
    struct writ_decision decision = {0};

    ck_assert(!writ_decision_route_of(&decision, &found));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        decision.decision = writ_member_text(writ_view_str(unknown[i]));
        ck_assert(!writ_decision_route_find(writ_view_str(unknown[i]), &found));
        ck_assert(!writ_decision_route_of(&decision, &found));
        ck_assert_int_eq(found, WRIT_DECISION_REVISE);
    }
    for (int i = 0; i < WRIT_DECISION_ROUTES_N; i++) {
        enum writ_decision_route route = (enum writ_decision_route)i;

        decision.decision = writ_decision_route_text(route);
        ck_assert(writ_decision_route_find(writ_decision_route_name(route), &found));
        ck_assert_int_eq(found, route);
        found = WRIT_DECISION_DENY;
        ck_assert(writ_decision_route_of(&decision, &found));
        ck_assert_int_eq(found, route);
    }
}
END_TEST

START_TEST(decision_validate_accepts_each_complete_route)
{
    writ_auto_arena arena = writ_value_arena();

    for (size_t p = 0; writ_profile_at(p) != NULL; p++) {
        for (int route = WRIT_DECISION_DENY; route <= WRIT_DECISION_REVISE; route++) {
            struct writ_decision decision =
                writ_sample_decision((enum writ_decision_route)route, writ_profile_at(p), arena);
            ck_assert_str_eq(faults_of(&decision, arena), "");
        }
    }
}
END_TEST

/* ---- what each route needs: the same empty record, all faults at once */

static const char *
faults_of_text(const char *text, struct writ_arena *arena)
{
    struct writ_decision decision;

    ck_assert_ok(
        writ_decision_read(writ_value_of(arena, writ_view_str(text)), arena, &decision, NULL));
    return faults_of(&decision, arena);
}

START_TEST(decision_validate_of_an_allow_requires_its_bound_members)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_str_eq(faults_of_text("{\"decision\":\"allow\"}", arena),
        "/agent_id is missing; /decision_id is missing; /idempotency_key is missing; "
        "/intent_digest is missing; /intent_ref is missing; /issued_at is missing; "
        "/normalization_id is missing; /normalized_scope is missing; /params_hash is missing; "
        "/policy_refs is missing; /target_state_digest is missing; /tool is missing");
}
END_TEST

START_TEST(decision_validate_of_a_required_approval_requires_continuation_and_end)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_str_eq(faults_of_text("{\"decision\":\"require_approval\"}", arena),
        "/agent_id is missing; /continuation_id is missing; /decision_id is missing; "
        "/expires_at is missing; /idempotency_key is missing; "
        "/intent_digest is missing; /intent_ref is missing; /issued_at is missing; "
        "/normalization_id is missing; /normalized_scope is missing; /params_hash is missing; "
        "/policy_refs is missing; /target_state_digest is missing; /tool is missing");
}
END_TEST

START_TEST(decision_validate_of_a_deny_requires_tool_and_reason)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_str_eq(faults_of_text("{\"decision\":\"deny\"}", arena),
        "/decision_id is missing; /reason is missing; /tool is missing");
    ck_assert_str_eq(faults_of_text("{\"decision\":\"deny\",\"decision_id\":\"d\","
                                    "\"reason\":\"r\",\"tool\":\"t\"}",
                         arena),
        "");
}
END_TEST

START_TEST(decision_validate_of_a_revise_requires_its_change)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_str_eq(faults_of_text("{\"decision\":\"revise\"}", arena),
        "/decision_id is missing; /reason is missing; /revalidate_if is missing; "
        "/tool is missing");
    ck_assert_str_eq(faults_of_text("{\"decision\":\"revise\",\"decision_id\":\"d\","
                                    "\"reason\":\"r\",\"revalidate_if\":[],\"tool\":\"t\"}",
                         arena),
        "/revalidate_if is empty, but needed");
}
END_TEST

START_TEST(any_other_verdict_is_refused)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_str_eq(faults_of_text("{}", arena), "/decision is missing; /decision_id is missing");
    ck_assert_str_eq(faults_of_text("{\"decision\":\"ALLOW\",\"decision_id\":\"d\"}", arena),
        "/decision is not one of deny, allow, require_approval, revise");
    ck_assert_str_eq(faults_of_text("{\"decision\":\"\",\"decision_id\":\"d\"}", arena),
        "/decision is not one of deny, allow, require_approval, revise");
    ck_assert_str_eq(
        faults_of_text("{\"decision\":null,\"decision_id\":\"d\"}", arena), "/decision is null");
    ck_assert_str_eq(faults_of_text("{\"decision\":1,\"decision_id\":\"d\"}", arena),
        "/decision is not a string");
}
END_TEST

/* ---- single members of an otherwise valid allow */

START_TEST(decision_validate_without_a_scope_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);

    decision.normalized_scope = writ_member_text(WRIT_LIT(""));
    ck_assert_str_eq(faults_of(&decision, arena), "/normalized_scope is empty, but needed");
    decision.normalized_scope.is = WRIT_ABSENT;
    ck_assert_str_eq(faults_of(&decision, arena), "/normalized_scope is missing");
}
END_TEST

START_TEST(decision_validate_of_an_allow_accepts_a_null_target_state)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);

    decision.target_state_digest = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert_str_eq(faults_of(&decision, arena), "");
    decision.target_state_digest.is = WRIT_ABSENT;
    ck_assert_str_eq(faults_of(&decision, arena), "/target_state_digest is missing");
}
END_TEST

START_TEST(decision_validate_of_null_for_a_required_member_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision =
        writ_sample_decision(WRIT_DECISION_REQUIRE_APPROVAL, CREWAI, arena);

    decision.continuation_id = (struct writ_member_text){WRIT_NULL, {0}};
    decision.expires_at = (struct writ_member_text){WRIT_NULL, {0}};
    decision.issued_at = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert_str_eq(faults_of(&decision, arena),
        "/continuation_id is null, but needed; /expires_at is null, but needed; "
        "/issued_at is null, but needed");
    decision.decision = writ_decision_route_text(WRIT_DECISION_DENY);
    ck_assert_str_eq(faults_of(&decision, arena), "");
}
END_TEST

START_TEST(decision_validate_checks_the_format_of_every_value)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_str_eq(
        faults_of_text(
            "{\"decision\":\"deny\",\"decision_id\":\"d\",\"reason\":\"r\",\"tool\":\"t\","
            "\"params_hash\":\"sha256:aa\",\"intent_ref\":\"SHA256:"
            "1111111111111111111111111111111111111111111111111111111111111111\","
            "\"intent_digest\":\"sha256:"
            "111111111111111111111111111111111111111111111111111111111111111A\","
            "\"policy_digest\":\"v1\",\"issued_at\":\"2026-06-25\",\"seq\":-1,\"running_count\":0,"
            "\"evidence_refs\":[1],\"extensions\":\"x\",\"agent_role\":null}",
            arena),
        "/agent_role is null; /evidence_refs is not a list of strings; "
        "/extensions is not an object; "
        "/intent_digest is not sha256: and 64 lower-case hex digits; "
        "/intent_ref is not sha256: and 64 lower-case hex digits; "
        "/issued_at is not a time like 2026-11-21T22:20:00.5Z; "
        "/params_hash is not sha256: and 64 lower-case hex digits; "
        "/policy_digest is not sha256: and more; /seq is not an integer from 0");
}
END_TEST

START_TEST(decision_validate_requires_running_count_to_be_seq_plus_one)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);

    decision.running_count.value = 2;
    ck_assert_str_eq(faults_of(&decision, arena), "/running_count is not seq + 1");
}
END_TEST

START_TEST(decision_validate_of_an_end_before_the_begin_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);

    decision.expires_at = decision.issued_at;
    ck_assert_str_eq(faults_of(&decision, arena), "");
    decision.expires_at = writ_member_text(WRIT_LIT("2026-06-25T04:59:59Z"));
    ck_assert_str_eq(faults_of(&decision, arena), "/expires_at is before issued_at");
}
END_TEST

/* ---- deriving and placing */

START_TEST(decision_receipt_ref_covers_the_time_and_intent_ref_does_not)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision first = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_decision retry = first;

    ck_assert_ok(writ_decision_place(
        &retry, CREWAI, 0, WRIT_SAMPLE_ISSUED_US + 1, WRIT_SAMPLE_LIFETIME_US, arena, NULL));
    ck_assert(writ_member_text_equal(&first.intent_ref, &retry.intent_ref, false));
    ck_assert(!writ_member_text_equal(&first.receipt_ref, &retry.receipt_ref, false));
}
END_TEST

START_TEST(placing_sets_position_and_lifetime)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);

    ck_assert_ok(writ_decision_derive(&decision, CREWAI, arena, NULL));
    ck_assert_ok(writ_decision_place(
        &decision, CREWAI, 41, WRIT_SAMPLE_ISSUED_US, WRIT_SAMPLE_LIFETIME_US, arena, NULL));
    ck_assert_int_eq(decision.seq.value, 41);
    ck_assert_int_eq(decision.running_count.value, 42);
    ck_assert_view(decision.issued_at.view, "2026-06-25T05:00:00.000000Z");
    ck_assert_view(decision.expires_at.view, "2026-06-25T05:05:00.000000Z");
    ck_assert_view(decision.normalization_id.view, "jcs-sha256");
}
END_TEST

START_TEST(decision_place_with_a_lifetime_of_zero_sets_no_end)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_DENY);

    ck_assert_ok(writ_decision_place(&decision, CREWAI, 0, WRIT_SAMPLE_ISSUED_US, 0, arena, NULL));
    ck_assert_int_eq(decision.expires_at.is, WRIT_NULL);
}
END_TEST

START_TEST(decision_place_keeps_a_stated_normalization)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);

    decision.normalization_id = writ_member_text(WRIT_LIT("mine"));
    ck_assert_ok(writ_decision_derive(&decision, CREWAI, arena, NULL));
    ck_assert_view(decision.normalization_id.view, "mine");
}
END_TEST

START_TEST(decision_place_of_a_deny_without_scope_sets_a_context_only)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_DENY);

    decision.normalized_scope.is = WRIT_ABSENT;
    ck_assert_ok(writ_decision_derive(&decision, CREWAI, arena, NULL));
    ck_assert_ok(writ_decision_place(&decision, CREWAI, 0, WRIT_SAMPLE_ISSUED_US, 0, arena, NULL));
    ck_assert_int_eq(decision.intent_digest.is, WRIT_PRESENT);
    ck_assert_int_eq(decision.intent_ref.is, WRIT_ABSENT);
    ck_assert_int_eq(decision.receipt_ref.is, WRIT_ABSENT);
    ck_assert_int_eq(decision.decision_context_hash.is, WRIT_PRESENT);
    ck_assert_str_eq(faults_of(&decision, arena), "");
}
END_TEST

START_TEST(decision_validate_limits_seq)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);

    ck_assert_code(writ_decision_place(&decision, CREWAI, WRIT_DECISION_SEQ_MAX,
                       WRIT_SAMPLE_ISSUED_US, 0, arena, NULL),
        WRIT_E_LIMIT);
    ck_assert_int_eq(decision.seq.value, 0);
    ck_assert_ok(writ_decision_place(
        &decision, CREWAI, WRIT_DECISION_SEQ_MAX - 1, WRIT_SAMPLE_ISSUED_US, 0, arena, NULL));
    ck_assert_str_eq(faults_of(&decision, arena), "");
}
END_TEST

START_TEST(decision_place_with_an_overlong_preimage_changes_nothing)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    char *text = writ_arena_get(arena, WRIT_PROFILE_MAX_PREIMAGE);

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < WRIT_PROFILE_MAX_PREIMAGE; i++) {
        text[i] = 'a';
    }
    decision.agent_id = writ_member_text(writ_view(text, WRIT_PROFILE_MAX_PREIMAGE));
    ck_assert_code(writ_decision_derive(&decision, CREWAI, arena, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(decision.intent_digest.is, WRIT_ABSENT);
    ck_assert_code(writ_decision_place(&decision, CREWAI, 3, 0, 0, arena, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(decision.seq.is, WRIT_ABSENT);
}
END_TEST

/* ---- identities without the target's state */

static void
state_free_text(const struct writ_decision *decision, const char *tenant, const char *upstream,
    char ret[WRIT_DIGEST_TEXT])
{
    struct writ_digest digest;

    ck_assert_ok(writ_decision_state_free(
        decision, writ_view_str(tenant), writ_view_str(upstream), &digest, NULL));
    writ_digest_text(&digest, ret);
}

START_TEST(decision_state_free_identity_digests_its_six_members)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    const struct writ_json *value = writ_value_of(
        arena, WRIT_LIT("{\"tenant\":\"acme\",\"agent_id\":\"researcher_01\",\"upstream\":\"crm\","
                        "\"tool\":\"customer_export\",\"normalized_scope\":\"customers/eu\","
                        "\"params_hash\":\"sha256:"
                        "b8cc604f76c5932528fd34fdfa09e8d8389c8d7010828a8b6641b536015122e0\"}"));
    char got[WRIT_DIGEST_TEXT], want[WRIT_DIGEST_TEXT];
    struct writ_digest digest;

    ck_assert_ok(writ_digest_json(value, 4096, &digest, NULL));
    writ_digest_text(&digest, want);
    state_free_text(&decision, "acme", "crm", got);
    ck_assert_str_eq(got, want);
}
END_TEST

START_TEST(decision_state_free_identity_ignores_the_state_only)
{
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW), changed = decision;
    char first[WRIT_DIGEST_TEXT], second[WRIT_DIGEST_TEXT];

    state_free_text(&decision, "acme", "crm", first);
    changed.target_state_digest = (struct writ_member_text){WRIT_NULL, {0}};
    state_free_text(&changed, "acme", "crm", second);
    ck_assert_str_eq(first, second);
    state_free_text(&decision, "evil", "crm", second);
    ck_assert_str_ne(first, second);
    state_free_text(&decision, "acme", "pay", second);
    ck_assert_str_ne(first, second);
    changed.normalized_scope = writ_member_text(WRIT_LIT("customers/us"));
    state_free_text(&changed, "acme", "crm", second);
    ck_assert_str_ne(first, second);
}
END_TEST

START_TEST(decision_implicit_key_differs_by_call_and_boundary)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_digest call = {{1}}, other = {{2}};
    struct writ_member_text a, again, elsewhere, another;

    ck_assert_ok(writ_decision_auto_key(WRIT_LIT("run-1"), &call, arena, &a, NULL));
    ck_assert_ok(writ_decision_auto_key(WRIT_LIT("run-1"), &call, arena, &again, NULL));
    ck_assert_ok(writ_decision_auto_key(WRIT_LIT("run-2"), &call, arena, &elsewhere, NULL));
    ck_assert_ok(writ_decision_auto_key(WRIT_LIT("run-1"), &other, arena, &another, NULL));
    ck_assert(writ_view_has_prefix(a.view, WRIT_LIT("auto:sha256:")));
    ck_assert_uint_eq(a.view.len, 5 + WRIT_DIGEST_TEXT - 1);
    ck_assert(writ_member_text_equal(&a, &again, false));
    ck_assert(!writ_member_text_equal(&a, &elsewhere, false));
    ck_assert(!writ_member_text_equal(&a, &another, false));
}
END_TEST

/* ---- recomputing */

START_TEST(decision_recompute_of_a_placed_record_succeeds)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_faults faults = {0};

    ck_assert_ok(writ_decision_recompute(&decision, CREWAI, &faults, NULL));
    ck_assert_uint_eq(faults.count, 0);
}
END_TEST

START_TEST(decision_recompute_names_the_digests_of_a_changed_member)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    writ_auto_buf buf = writ_buf_make(4096);
    struct writ_faults faults = {0};

    decision.credential_tier = writ_member_text(WRIT_LIT("root"));
    decision.issued_at = writ_member_text(WRIT_LIT("2026-06-25T05:00:01Z"));
    ck_assert_ok(writ_decision_recompute(&decision, CREWAI, &faults, NULL));
    writ_faults_put(&faults, &buf);
    ck_assert_view(writ_buf_view(&buf),
        "/receipt_ref does not recompute from the record; "
        "/decision_context_hash does not recompute from the record");
}
END_TEST

START_TEST(decision_recompute_without_a_needed_member_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_faults faults = {0};

    decision.params_hash.is = WRIT_WRONG;
    ck_assert_ok(writ_decision_recompute(&decision, CREWAI, &faults, NULL));
    ck_assert_uint_eq(faults.count, 4);
}
END_TEST

/* Only the first of the two preimages is too long: the params_hash is in no other. */
START_TEST(decision_preimages_are_limited)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_decision before = decision;
    char *text = writ_arena_get(arena, WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_faults faults = {0};
    char ref[WRIT_DIGEST_TEXT] = "";
    bool complete = true;

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < WRIT_PROFILE_MAX_PREIMAGE; i++) {
        text[i] = 'a';
    }
    decision.params_hash = writ_member_text(writ_view(text, WRIT_PROFILE_MAX_PREIMAGE));
    ck_assert_code(writ_decision_derive(&decision, CREWAI, arena, NULL), WRIT_E_LIMIT);
    ck_assert(writ_member_text_equal(&decision.intent_ref, &before.intent_ref, false));
    ck_assert_code(writ_decision_recompute(&decision, CREWAI, &faults, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_decision_intent_ref(&decision, CREWAI, ref, &complete, NULL), WRIT_E_LIMIT);
    ck_assert(complete && ref[0] == '\0');

    decision = before;
    decision.credential_scope = writ_member_text(writ_view(text, WRIT_PROFILE_MAX_PREIMAGE));
    ck_assert_code(writ_decision_recompute(&decision, CREWAI, &faults, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_decision_place(&decision, CREWAI, 9, 0, 0, arena, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(decision.seq.value, 0);
}
END_TEST

/* A policy engine elsewhere names its versions as it likes; the mark of a digest is all we ask. */
START_TEST(decision_policy_digest_has_its_prefix)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    static const char *const wrong[] = {"", "sha256:", "policy-version-1", "SHA256:abc"};

    decision.policy_digest = writ_member_text(WRIT_LIT("sha256:policy-v1-hash"));
    ck_assert_str_eq(faults_of(&decision, arena), "");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        decision.policy_digest = writ_member_text(writ_view_str(wrong[i]));
        ck_assert_str_eq(faults_of(&decision, arena), "/policy_digest is not sha256: and more");
    }
}
END_TEST

WRIT_UNIT_MAIN("decision", decision_verdict_zero_is_deny, routes_have_the_words_of_the_contract,
    decision_verdict_of_an_unknown_word_is_none,
    route_find_and_route_of_give_each_route_and_no_other,
    decision_validate_accepts_each_complete_route,
    decision_validate_of_an_allow_requires_its_bound_members,
    decision_validate_of_a_required_approval_requires_continuation_and_end,
    decision_validate_of_a_deny_requires_tool_and_reason,
    decision_validate_of_a_revise_requires_its_change, any_other_verdict_is_refused,
    decision_validate_without_a_scope_fails,
    decision_validate_of_an_allow_accepts_a_null_target_state,
    decision_validate_of_null_for_a_required_member_fails,
    decision_validate_checks_the_format_of_every_value,
    decision_validate_requires_running_count_to_be_seq_plus_one,
    decision_validate_of_an_end_before_the_begin_fails,
    decision_receipt_ref_covers_the_time_and_intent_ref_does_not,
    placing_sets_position_and_lifetime, decision_place_with_a_lifetime_of_zero_sets_no_end,
    decision_place_keeps_a_stated_normalization,
    decision_place_of_a_deny_without_scope_sets_a_context_only, decision_validate_limits_seq,
    decision_place_with_an_overlong_preimage_changes_nothing,
    decision_state_free_identity_digests_its_six_members,
    decision_state_free_identity_ignores_the_state_only,
    decision_implicit_key_differs_by_call_and_boundary,
    decision_recompute_of_a_placed_record_succeeds,
    decision_recompute_names_the_digests_of_a_changed_member,
    decision_recompute_without_a_needed_member_fails, decision_preimages_are_limited,
    decision_policy_digest_has_its_prefix)
