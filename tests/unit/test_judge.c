#include "support/kit.h"
#include "support/unit.h"

START_TEST(an_allowed_call_is_granted_once_and_recorded)
{
    struct writ_kit kit;
    struct writ_kit_call *call;

    writ_kit_start(&kit);
    call = writ_kit_granted(&kit, (struct writ_kit_spec){0});
    ck_assert_uint_eq(call->leaf, 0);
    ck_assert_int_eq(call->decision.seq.value, 0);
    ck_assert_int_eq(call->decision.running_count.value, 1);
    ck_assert_int_eq(call->decision.receipt_ref.is, WRIT_PRESENT);
    ck_assert_int_eq(writ_kit_end(&kit, call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_uint_eq(call->entry.outcome.outcome_leaf, 1);
    writ_kit_call_free(call);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 2);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM body"), 2);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(a_deny_is_recorded_with_its_outcome)
{
    struct writ_kit kit;
    struct writ_kit_call *call;

    writ_kit_start(&kit);
    call = writ_kit_call(&kit, (struct writ_kit_spec){.route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(&kit, call), WRIT_OK);
    ck_assert(!call->entry.decision.granted);
    ck_assert_int_eq(call->entry.decision.refused, WRIT_REASON_NONE);
    writ_kit_call_free(call);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2 AND verdict = 2"), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(the_second_of_two_same_calls_is_told_of_the_first)
{
    struct writ_kit kit;
    struct writ_kit_call *first, *second;

    writ_kit_start(&kit);
    first = writ_kit_granted(&kit, (struct writ_kit_spec){0});
    second = writ_kit_call(&kit, (struct writ_kit_spec){.route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, second), WRIT_OK);
    ck_assert(!second->entry.decision.granted);
    ck_assert_int_eq(second->entry.decision.refused, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert(second->entry.decision.prior.in_flight);
    ck_assert(writ_view_equal(
        second->entry.decision.prior.decision_id, first->decision.decision_id.view));
    writ_kit_call_free(second);

    ck_assert_int_eq(writ_kit_end(&kit, first, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_OK);
    second = writ_kit_call(&kit, (struct writ_kit_spec){.route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, second), WRIT_OK);
    ck_assert_int_eq(second->entry.decision.refused, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert(!second->entry.decision.prior.in_flight);
    ck_assert_int_eq(second->entry.decision.prior.outcome, WRIT_OUTCOME_TIMEOUT);
    ck_assert(writ_view_equal(
        second->entry.decision.prior.decision_id, first->decision.decision_id.view));
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("judge", an_allowed_call_is_granted_once_and_recorded,
    a_deny_is_recorded_with_its_outcome, the_second_of_two_same_calls_is_told_of_the_first)
