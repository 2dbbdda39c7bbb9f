/* vectors/governance: route validation, joins, the binding check and completeness, minted by
 * another implementation. */
#include "support/governance.h"
#include "support/unit.h"
#include "support/value.h"

#include "evidence/binding.h"

/* ---- faults */

static bool
names_fault(const struct writ_json *pointers, const char *pointer)
{
    WRIT_JSON_EACH(item, pointers)
    {
        if (writ_json_is(item, writ_view_str(pointer))) {
            return true;
        }
    }
    return false;
}

/* The same members are at fault, no more and no fewer. */
static void
expect_faults(const char *id, const struct writ_json *pointers, const struct writ_faults *faults)
{
    writ_auto_buf line = writ_buf_make(8192);

    writ_faults_put(faults, &line);
    ck_assert_msg(faults->count == pointers->count, "%s: " WRIT_VIEW_FMT, id,
        WRIT_VIEW_ARG(writ_buf_view(&line)));
    for (size_t i = 0; i < faults->count; i++) {
        ck_assert_msg(names_fault(pointers, faults->list[i].pointer), "%s: " WRIT_VIEW_FMT, id,
            WRIT_VIEW_ARG(writ_buf_view(&line)));
    }
}

/* A record passes through without loss: its canonical form is that of the vector. */
static void
expect_same_json(
    const char *id, struct writ_arena *arena, const struct writ_json *value, struct writ_view text)
{
    ck_assert_msg(writ_json_equal(value, writ_value_of(arena, text)), "%s: " WRIT_VIEW_FMT, id,
        WRIT_VIEW_ARG(text));
}

START_TEST(decisions_have_exactly_the_faults_of_their_route)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, "vectors/governance/decisions.json");

    WRIT_JSON_EACH(vector, writ_value_get(file, "cases"))
    {
        const char *id = writ_governance_id(arena, vector);
        const struct writ_json *record = writ_value_get(vector, "record");
        struct writ_decision decision = writ_governance_decision(arena, record);
        writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
        struct writ_faults faults = {0};

        writ_decision_validate(&decision, &faults);
        expect_faults(id, writ_value_get(vector, "faults"), &faults);
        ck_assert_ok(writ_decision_put(&decision, &text, NULL));
        expect_same_json(id, arena, record, writ_buf_view(&text));
    }
}
END_TEST

START_TEST(outcomes_have_exactly_their_faults_and_join_their_decision)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, "vectors/governance/outcomes.json");

    WRIT_JSON_EACH(vector, writ_value_get(file, "cases"))
    {
        const char *id = writ_governance_id(arena, vector);
        const struct writ_json *record = writ_value_get(vector, "record");
        const struct writ_profile *profile =
            writ_profile_find(writ_json_string(writ_value_get(vector, "profile")));
        struct writ_outcome outcome = writ_governance_outcome(arena, record);
        struct writ_decision decision =
            writ_governance_decision(arena, writ_value_get(vector, "decision"));
        bool joins = writ_json_type(writ_value_get(vector, "joins")) == WRIT_JSON_TRUE;
        writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
        struct writ_faults faults = {0};
        writ_result joined;

        writ_outcome_validate(&outcome, &faults);
        expect_faults(id, writ_value_get(vector, "faults"), &faults);
        ck_assert_ok(writ_outcome_put(&outcome, &text, NULL));
        expect_same_json(id, arena, record, writ_buf_view(&text));
        joined = writ_outcome_join(&outcome, &decision, profile, NULL);
        ck_assert_msg(joined.code == (joins ? WRIT_OK : WRIT_E_MISMATCH), "%s: %s", id,
            writ_code_name(joined.code));
    }
}
END_TEST

/* ---- the binding check */

/* A candidate has the names of a decision's members. */
static struct writ_candidate
candidate_of(struct writ_arena *arena, const struct writ_json *value)
{
    struct writ_decision members = writ_governance_decision(arena, value);

    return (struct writ_candidate){
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
}

#define OUTCOMES_MAX 8

static size_t
outcomes_of(struct writ_arena *arena, const struct writ_json *values, struct writ_outcome *ret)
{
    size_t count = 0;

    WRIT_JSON_EACH(value, values)
    {
        ck_assert_uint_lt(count, OUTCOMES_MAX);
        ret[count++] = writ_governance_outcome(arena, value);
    }
    return count;
}

START_TEST(the_binding_check_gives_verdict_and_reason)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, "vectors/governance/bindings.json");

    WRIT_JSON_EACH(vector, writ_value_get(file, "cases"))
    {
        struct writ_decision authorization =
            writ_governance_decision(arena, writ_value_get(vector, "authorization"));
        struct writ_candidate candidate = candidate_of(arena, writ_value_get(vector, "candidate"));
        struct writ_outcome outcomes[OUTCOMES_MAX];
        struct writ_binding_set set = {
            outcomes, outcomes_of(arena, writ_value_get(vector, "outcomes"), outcomes)};
        struct writ_binding binding;
        int64_t now_us = 0;

        ck_assert(writ_member_time(writ_json_string(writ_value_get(vector, "now")), &now_us));
        binding =
            writ_binding_check(&authorization, &candidate, now_us, writ_binding_outcomes(&set));
        ck_assert_msg(
            writ_json_is(writ_value_get(vector, "reason"), writ_reason_name(binding.reason)),
            "%s: %s", writ_governance_id(arena, vector), writ_reason_name(binding.reason).ptr);
        ck_assert(writ_json_is(
            writ_value_get(vector, "verdict"), writ_binding_verdict_name(binding.verdict)));
    }
}
END_TEST

/* ---- completeness */

START_TEST(a_completeness_report_names_everything)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_file(arena, "vectors/governance/completeness.json");

    WRIT_JSON_EACH(vector, writ_value_get(file, "cases"))
    {
        writ_auto_buf text = writ_buf_make(65536);
        struct writ_completeness report = writ_governance_report(
            arena, writ_value_get(vector, "records"), writ_value_get(vector, "seal"));

        ck_assert_ok(writ_completeness_put(&report, &text, NULL));
        expect_same_json(writ_governance_id(arena, vector), arena, writ_value_get(vector, "report"),
            writ_buf_view(&text));
    }
}
END_TEST

WRIT_UNIT_MAIN("governance", decisions_have_exactly_the_faults_of_their_route,
    outcomes_have_exactly_their_faults_and_join_their_decision,
    the_binding_check_gives_verdict_and_reason, a_completeness_report_names_everything)
