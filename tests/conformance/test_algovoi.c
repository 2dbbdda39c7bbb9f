/* vectors/algovoi-governance-decision-v1: digests of the profile algovoi-v1, validation of routes,
 * completeness of runs. Every result is the published one. */
#include "evidence/record/derive.h"
#include "support/evidence/governance.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define VECTORS "vectors/algovoi-governance-decision-v1/governance_decision_v1.json"

static const struct writ_profile *
algovoi(void)
{
    return writ_profile_find(WRIT_LIT("algovoi-v1"));
}

/* The decision of a vector with all digests derived by us. */
static struct writ_decision
derived_decision(struct writ_arena *arena, const struct writ_json *vector)
{
    struct writ_decision decision = writ_governance_decision(arena, vector);

    decision.params_hash = writ_governance_hash(arena, writ_value_get(vector, "tool_params"));
    ck_assert_ok(writ_decision_derive(&decision, algovoi(), arena, NULL));
    decision.receipt_ref = writ_governance_derive(
        arena, algovoi(), WRIT_PROFILE_DECISION_RECEIPT_REF, &decision, NULL);
    decision.decision_context_hash = writ_governance_derive(
        arena, algovoi(), WRIT_PROFILE_DECISION_CONTEXT_HASH, &decision, NULL);
    return decision;
}

START_TEST(decision_digest_of_each_vector_is_the_published_one)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, VECTORS);
    size_t count = 0;

    WRIT_JSON_EACH(vector, writ_value_get(file, "vectors"))
    {
        const char *id = writ_governance_id(arena, vector);
        struct writ_decision decision = derived_decision(arena, vector);

        writ_governance_expect(id, vector, "expected_params_hash", &decision.params_hash);
        writ_governance_expect(id, vector, "expected_intent_digest", &decision.intent_digest);
        writ_governance_expect(id, vector, "expected_intent_ref", &decision.intent_ref);
        writ_governance_expect(id, vector, "expected_receipt_ref", &decision.receipt_ref);
        writ_governance_expect(
            id, vector, "expected_decision_context_hash", &decision.decision_context_hash);
        count++;
    }
    ck_assert_uint_eq(count, 5);
}
END_TEST

static const struct writ_json *
vector_called(const struct writ_json *file, struct writ_view id)
{
    WRIT_JSON_EACH(vector, writ_value_get(file, "vectors"))
    {
        if (writ_json_is(writ_value_get(vector, "id"), id)) {
            return vector;
        }
    }
    ck_abort_msg("there is no vector " WRIT_VIEW_FMT, WRIT_VIEW_ARG(id));
    return NULL;
}

START_TEST(outcome_digest_of_each_vector_is_the_published_one)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, VECTORS);
    size_t count = 0;

    WRIT_JSON_EACH(vector, writ_value_get(file, "outcome_vectors"))
    {
        const char *id = writ_governance_id(arena, vector);
        const struct writ_json *linked =
            vector_called(file, writ_json_string(writ_value_get(vector, "links_to")));
        struct writ_decision decision = derived_decision(arena, linked);
        struct writ_outcome outcome = writ_governance_outcome(arena, vector);
        struct writ_member_text output =
            writ_governance_hash(arena, writ_value_get(vector, "tool_output"));
        struct writ_member_text receipt = writ_governance_derive(
            arena, algovoi(), WRIT_PROFILE_OUTCOME_RECEIPT_REF, &decision, &outcome);

        writ_governance_expect(id, vector, "expected_tool_output_hash", &output);
        writ_governance_expect(id, vector, "expected_receipt_ref", &receipt);
        writ_governance_expect(id, vector, "expected_intent_ref", &decision.intent_ref);
        count++;
    }
    ck_assert_uint_eq(count, 4);
}
END_TEST

START_TEST(decision_validate_of_each_negative_vector_gives_its_reason)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, VECTORS);
    size_t count = 0;

    WRIT_JSON_EACH(vector, writ_value_get(file, "negative_vectors"))
    {
        writ_auto_buf line = writ_buf_make(8192);
        struct writ_view word = writ_json_string(writ_value_get(vector, "expect_error_contains"));
        struct writ_decision decision =
            writ_governance_decision(arena, writ_value_get(vector, "record"));
        struct writ_faults faults = {0};

        writ_decision_validate(&decision, &faults);
        writ_faults_put(&faults, &line);
        ck_assert_msg(writ_view_search(writ_buf_view(&line), word) < line.len, "%s: " WRIT_VIEW_FMT,
            writ_governance_id(arena, vector), WRIT_VIEW_ARG(writ_buf_view(&line)));
        count++;
    }
    ck_assert_uint_eq(count, 5);
}
END_TEST

START_TEST(completeness_of_each_run_is_the_published_one)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, VECTORS);
    size_t count = 0;

    WRIT_JSON_EACH(vector, writ_value_get(file, "contiguity_vectors"))
    {
        struct writ_completeness report = writ_governance_report(
            arena, writ_value_get(vector, "records"), writ_value_get(vector, "seal"));
        bool want = writ_json_type(writ_value_get(vector, "expected_complete")) == WRIT_JSON_TRUE;

        ck_assert_msg(report.whole == want, "%s", writ_governance_id(arena, vector));
        count++;
    }
    ck_assert_uint_eq(count, 4);
}
END_TEST

WRIT_UNIT_MAIN("algovoi", decision_digest_of_each_vector_is_the_published_one,
    outcome_digest_of_each_vector_is_the_published_one,
    decision_validate_of_each_negative_vector_gives_its_reason,
    completeness_of_each_run_is_the_published_one)
