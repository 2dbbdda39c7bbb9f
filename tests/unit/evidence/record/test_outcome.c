/* Outcome records. An outcome joins exactly the decision that it belongs to, and only two kinds of
 * outcome prove that nothing ran. */
#include "evidence/record/derive.h"
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define CREWAI (writ_profile_find(WRIT_LIT("crewai-v1")))

static const char *
faults_of(const struct writ_outcome *outcome, struct writ_arena *arena)
{
    writ_auto_buf buf = writ_buf_make(8192);
    struct writ_faults faults = {0};
    struct writ_view line;

    writ_outcome_validate(outcome, &faults);
    writ_faults_put(&faults, &buf);
    line = writ_view_copy(writ_buf_view(&buf), arena);
    ck_assert_ptr_nonnull(line.ptr);
    return line.ptr;
}

static struct writ_outcome
placed_outcome(
    const struct writ_decision *decision, enum writ_outcome_kind kind, struct writ_arena *arena)
{
    struct writ_outcome outcome = writ_outcome_for(decision, kind);
    struct writ_outcome_texts *texts = writ_arena_get(arena, sizeof *texts);

    ck_assert_ptr_nonnull(texts);
    if (kind == WRIT_OUTCOME_ERROR) {
        outcome.error_type = writ_member_text(WRIT_LIT("upstream"));
    }
    ck_assert_ok(
        writ_outcome_place(&outcome, decision, CREWAI, WRIT_SAMPLE_ISSUED_US + 1, texts, NULL));
    return outcome;
}

START_TEST(outcome_kind_zero_may_have_run)
{
    struct writ_outcome outcome = {.outcome = writ_outcome_kind_text(0)};

    ck_assert(!writ_outcome_nothing_ran(&outcome));
}
END_TEST

START_TEST(kinds_have_the_words_of_the_contract)
{
    ck_assert_view(writ_outcome_kind_name(WRIT_OUTCOME_EXECUTED), "executed");
    ck_assert_view(writ_outcome_kind_name(WRIT_OUTCOME_BLOCKED), "blocked");
    ck_assert_view(writ_outcome_kind_name(WRIT_OUTCOME_ERROR), "error");
    ck_assert_view(writ_outcome_kind_name(WRIT_OUTCOME_TIMEOUT), "timeout");
}
END_TEST

START_TEST(kind_find_and_kind_of_give_each_kind_and_no_other)
{
    enum writ_outcome_kind found = WRIT_OUTCOME_TIMEOUT;
    struct writ_outcome outcome = {0};

    ck_assert(!writ_outcome_kind_of(&outcome, &found));
    ck_assert(!writ_outcome_kind_find(WRIT_LIT("Error"), &found));
    ck_assert_int_eq(found, WRIT_OUTCOME_TIMEOUT);
    for (int i = 0; i < WRIT_OUTCOME_KINDS_N; i++) {
        enum writ_outcome_kind kind = (enum writ_outcome_kind)i;

        outcome.outcome = writ_outcome_kind_text(kind);
        ck_assert(writ_outcome_kind_find(writ_outcome_kind_name(kind), &found));
        ck_assert_int_eq(found, kind);
        found = WRIT_OUTCOME_ERROR;
        ck_assert(writ_outcome_kind_of(&outcome, &found));
        ck_assert_int_eq(found, kind);
    }
}
END_TEST

START_TEST(outcome_kind_blocked_or_not_sent_proves_that_nothing_ran)
{
    static const struct {
        enum writ_outcome_kind kind;
        const char *error_type;
        bool nothing_ran;
    } cases[] = {
        {WRIT_OUTCOME_BLOCKED, "", true},
        {WRIT_OUTCOME_ERROR, "not_sent", true},
        {WRIT_OUTCOME_ERROR, "interrupted_execution_unknown", false},
        {WRIT_OUTCOME_ERROR, "", false},
        {WRIT_OUTCOME_EXECUTED, "not_sent", false},
        {WRIT_OUTCOME_TIMEOUT, "not_sent", false},
    };
    struct writ_outcome unknown = {.error_type = writ_member_text(WRIT_LIT("not_sent"))};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_outcome outcome = {
            .outcome = writ_outcome_kind_text(cases[i].kind),
            .error_type = writ_member_text_or_absent(writ_view_str(cases[i].error_type)),
        };
        ck_assert_msg(writ_outcome_nothing_ran(&outcome) == cases[i].nothing_ran, "case %zu", i);
    }
    ck_assert(!writ_outcome_nothing_ran(&unknown));
}
END_TEST

START_TEST(outcome_place_gives_a_valid_outcome_that_joins)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);

    for (int kind = WRIT_OUTCOME_ERROR; kind <= WRIT_OUTCOME_TIMEOUT; kind++) {
        struct writ_outcome outcome =
            placed_outcome(&decision, (enum writ_outcome_kind)kind, arena);
        ck_assert_str_eq(faults_of(&outcome, arena), "");
        ck_assert_ok(writ_outcome_join(&outcome, &decision, CREWAI, NULL));
        ck_assert_view(outcome.completed_at.view, "2026-06-25T05:00:00.000001Z");
        ck_assert_int_eq(outcome.tool_output_hash.is, WRIT_NULL);
    }
}
END_TEST

START_TEST(outcome_validate_of_an_error_requires_its_type)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_outcome outcome = placed_outcome(&decision, WRIT_OUTCOME_ERROR, arena);

    outcome.error_type = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert_str_eq(faults_of(&outcome, arena), "/error_type is null, but needed");
    outcome.error_type.is = WRIT_ABSENT;
    ck_assert_str_eq(faults_of(&outcome, arena), "/error_type is missing");
    outcome.outcome = writ_outcome_kind_text(WRIT_OUTCOME_TIMEOUT);
    ck_assert_str_eq(faults_of(&outcome, arena), "");
}
END_TEST

START_TEST(outcome_validate_reports_all_faults)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_outcome outcome = {0};

    ck_assert_str_eq(faults_of(&outcome, arena),
        "/completed_at is missing; /decision_id is missing; /outcome is missing");
    outcome.outcome = writ_member_text(WRIT_LIT("done"));
    outcome.tool_output_hash = writ_member_text(WRIT_LIT("abc"));
    ck_assert_str_eq(faults_of(&outcome, arena),
        "/completed_at is missing; /decision_id is missing; "
        "/outcome is not one of error, executed, blocked, timeout; "
        "/tool_output_hash is not sha256: and 64 lower-case hex digits");
}
END_TEST

START_TEST(outcome_receipt_ref_differs_from_the_decisions)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_outcome outcome = writ_outcome_for(&decision, WRIT_OUTCOME_EXECUTED);
    struct writ_outcome_texts texts;

    /* even when both carry the same time */
    ck_assert_ok(
        writ_outcome_place(&outcome, &decision, CREWAI, WRIT_SAMPLE_ISSUED_US, &texts, NULL));
    ck_assert(!writ_member_text_equal(&outcome.receipt_ref, &decision.receipt_ref, false));
}
END_TEST

/* A change of the outcome or the decision that must break the join. */
static void
expect_mismatch(
    const struct writ_outcome *outcome, const struct writ_decision *decision, const char *member)
{
    struct writ_err err = {0};

    ck_assert_code(writ_outcome_join(outcome, decision, CREWAI, &err), WRIT_E_MISMATCH);
    ck_assert_msg(writ_view_search(writ_view_str(err.text), writ_view_str(member)) <
                      writ_view_str(err.text).len,
        "%s does not name %s", err.text, member);
}

START_TEST(outcome_join_of_another_decision_fails)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    const struct writ_outcome outcome = placed_outcome(&decision, WRIT_OUTCOME_EXECUTED, arena);
    struct writ_outcome other = outcome;

    other.decision_id = writ_member_text(WRIT_LIT("d-2"));
    expect_mismatch(&other, &decision, "decision_id");
    other = outcome;
    other.decision_id.is = WRIT_ABSENT;
    expect_mismatch(&other, &decision, "decision_id");
    other = outcome;
    other.idempotency_key = writ_member_text(WRIT_LIT("other"));
    expect_mismatch(&other, &decision, "idempotency_key");
    other = outcome;
    other.boundary_id = writ_member_text(WRIT_LIT("other"));
    expect_mismatch(&other, &decision, "boundary_id");
    other = outcome;
    other.seq.value = 1;
    expect_mismatch(&other, &decision, "seq");
    other = outcome;
    other.intent_ref = decision.intent_digest;
    expect_mismatch(&other, &decision, "intent_ref");
    other = outcome;
    other.intent_ref = (struct writ_member_text){WRIT_NULL, {0}};
    expect_mismatch(&other, &decision, "intent_ref");
}
END_TEST

/* The intent_ref is recomputed: a stated one that does not follow from the decision's own members
 * does not join, even if both records state it. */
START_TEST(outcome_join_of_a_wrong_intent_ref_fails)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_outcome outcome;

    decision.intent_ref = decision.intent_digest;
    outcome = placed_outcome(&decision, WRIT_OUTCOME_EXECUTED, arena);
    expect_mismatch(&outcome, &decision, "intent_ref");
}
END_TEST

START_TEST(outcome_join_compares_a_known_intent_ref_with_both)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    const struct writ_outcome outcome = placed_outcome(&decision, WRIT_OUTCOME_EXECUTED, arena);
    const struct writ_view known = decision.intent_ref.view, other = decision.intent_digest.view;
    struct writ_decision changed = decision;
    struct writ_outcome late = outcome;

    ck_assert_ok(writ_outcome_join_known(&outcome, &decision, known, NULL));
    ck_assert_code(writ_outcome_join_known(&outcome, &decision, other, NULL), WRIT_E_MISMATCH);
    changed.intent_ref = writ_member_text(other);
    ck_assert_code(writ_outcome_join_known(&outcome, &changed, known, NULL), WRIT_E_MISMATCH);
    late.intent_ref = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert_code(writ_outcome_join_known(&late, &decision, known, NULL), WRIT_E_MISMATCH);
    late = outcome;
    late.seq.value = 1;
    ck_assert_code(writ_outcome_join_known(&late, &decision, known, NULL), WRIT_E_MISMATCH);
}
END_TEST

START_TEST(outcome_join_with_a_changed_decision_fails)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    const struct writ_outcome outcome = placed_outcome(&decision, WRIT_OUTCOME_EXECUTED, arena);
    struct writ_decision changed = decision;

    changed.tool = writ_member_text(WRIT_LIT("customer_delete"));
    expect_mismatch(&outcome, &changed, "intent_ref");
    changed = decision;
    changed.params_hash = decision.target_state_digest;
    expect_mismatch(&outcome, &changed, "intent_ref");
    changed = decision;
    changed.target_state_digest = (struct writ_member_text){WRIT_NULL, {0}};
    expect_mismatch(&outcome, &changed, "intent_ref");
}
END_TEST

START_TEST(outcome_join_of_a_deny_without_scope_uses_the_decision_id)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_DENY);
    struct writ_outcome outcome;

    decision.normalized_scope.is = WRIT_ABSENT;
    ck_assert_ok(writ_decision_derive(&decision, CREWAI, arena, NULL));
    outcome = placed_outcome(&decision, WRIT_OUTCOME_BLOCKED, arena);
    ck_assert_int_eq(outcome.intent_ref.is, WRIT_NULL);
    ck_assert_int_eq(outcome.receipt_ref.is, WRIT_NULL);
    ck_assert_str_eq(faults_of(&outcome, arena), "");
    ck_assert_ok(writ_outcome_join(&outcome, &decision, CREWAI, NULL));
    outcome.intent_ref = decision.intent_digest;
    expect_mismatch(&outcome, &decision, "intent_ref");
}
END_TEST

START_TEST(outcome_join_ignores_members_absent_on_one_side)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, arena);
    struct writ_outcome outcome = placed_outcome(&decision, WRIT_OUTCOME_EXECUTED, arena);

    outcome.boundary_id.is = WRIT_ABSENT;
    outcome.seq = (struct writ_member_number){WRIT_ABSENT, 99};
    outcome.idempotency_key.is = WRIT_ABSENT;
    ck_assert_ok(writ_outcome_join(&outcome, &decision, CREWAI, NULL));
}
END_TEST

START_TEST(outcome_place_on_failure_changes_nothing)
{
    writ_auto_arena plenty = writ_value_arena();
    struct writ_decision decision = writ_sample_decision(WRIT_DECISION_ALLOW, CREWAI, plenty);
    const struct writ_outcome before = writ_outcome_for(&decision, WRIT_OUTCOME_EXECUTED);
    struct writ_outcome outcome = before;
    char *text = writ_arena_get(plenty, WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_outcome_texts texts;

    ck_assert_ok(writ_outcome_place(&outcome, &decision, CREWAI, 0, &texts, NULL));
    ck_assert_int_eq(outcome.completed_at.is, WRIT_PRESENT);
    outcome = before;
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < WRIT_PROFILE_MAX_PREIMAGE; i++) {
        text[i] = 'a';
    }
    decision.agent_id = writ_member_text(writ_view(text, WRIT_PROFILE_MAX_PREIMAGE));
    ck_assert_code(writ_outcome_place(&outcome, &decision, CREWAI, 0, &texts, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(outcome.completed_at.is, WRIT_ABSENT);
    ck_assert_code(writ_outcome_join(&outcome, &decision, CREWAI, NULL), WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("outcome", outcome_kind_zero_may_have_run, kinds_have_the_words_of_the_contract,
    kind_find_and_kind_of_give_each_kind_and_no_other,
    outcome_kind_blocked_or_not_sent_proves_that_nothing_ran,
    outcome_place_gives_a_valid_outcome_that_joins, outcome_validate_of_an_error_requires_its_type,
    outcome_validate_reports_all_faults, outcome_receipt_ref_differs_from_the_decisions,
    outcome_join_of_another_decision_fails, outcome_join_of_a_wrong_intent_ref_fails,
    outcome_join_compares_a_known_intent_ref_with_both, outcome_join_with_a_changed_decision_fails,
    outcome_join_of_a_deny_without_scope_uses_the_decision_id,
    outcome_join_ignores_members_absent_on_one_side, outcome_place_on_failure_changes_nothing)
