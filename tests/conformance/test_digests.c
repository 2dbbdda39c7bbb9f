/* vectors/digests: every derived field under every profile, minted by another implementation. */
#include "support/governance.h"
#include "support/unit.h"
#include "support/value.h"
#include "support/vectors.h"

/* Derives as the gateway does where it can, so that its path is what is compared. */
static void
check_case(
    struct writ_arena *arena, const struct writ_profile *profile, const struct writ_json *vector)
{
    const char *id = writ_governance_id(arena, vector);
    const struct writ_json *expected = writ_value_get(vector, "expected");
    struct writ_decision decision =
        writ_governance_decision(arena, writ_value_get(vector, "decision"));
    struct writ_outcome outcome = writ_governance_outcome(arena, writ_value_get(vector, "outcome"));
    struct writ_member_text output, outcome_receipt;

    decision.params_hash = writ_governance_hash(arena, writ_value_get(vector, "arguments"));
    ck_assert_ok(writ_decision_derive(&decision, profile, arena, NULL));
    decision.receipt_ref =
        writ_governance_derive(arena, profile, WRIT_PROFILE_DECISION_RECEIPT_REF, &decision, NULL);
    decision.decision_context_hash =
        writ_governance_derive(arena, profile, WRIT_PROFILE_DECISION_CONTEXT_HASH, &decision, NULL);
    outcome_receipt = writ_governance_derive(
        arena, profile, WRIT_PROFILE_OUTCOME_RECEIPT_REF, &decision, &outcome);
    output = writ_governance_hash(arena, writ_value_get(vector, "result"));

    writ_governance_expect(id, expected, "params_hash", &decision.params_hash);
    writ_governance_expect(id, expected, "intent_digest", &decision.intent_digest);
    writ_governance_expect(id, expected, "intent_ref", &decision.intent_ref);
    writ_governance_expect(id, expected, "receipt_ref", &decision.receipt_ref);
    writ_governance_expect(id, expected, "decision_context_hash", &decision.decision_context_hash);
    writ_governance_expect(id, expected, "outcome_receipt_ref", &outcome_receipt);
    writ_governance_expect(id, expected, "tool_output_hash", &output);
}

static void
check_file(const char *name, struct writ_view content, void *arg)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = writ_value_of(arena, content);
    const struct writ_profile *profile =
        writ_profile_find(writ_json_string(writ_value_get(file, "profile")));
    size_t count = 0;

    (void)arg;
    ck_assert_msg(profile != NULL, "%s names no profile of ours", name);
    WRIT_JSON_EACH(vector, writ_value_get(file, "cases"))
    {
        check_case(arena, profile, vector);
        count++;
    }
    ck_assert_uint_gt(count, 10);
}

START_TEST(every_digest_under_every_profile_is_the_minted_one)
{
    size_t profiles = 0;

    while (writ_profile_at(profiles) != NULL) {
        profiles++;
    }
    ck_assert_uint_eq(writ_vectors_each("digests", ".json", check_file, NULL), profiles);
}
END_TEST

WRIT_UNIT_MAIN("digests", every_digest_under_every_profile_is_the_minted_one)
