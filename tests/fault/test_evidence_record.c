/* Fails the 1st, 2nd, 3rd ... allocation of the functions that make and judge records. There is an
 * error, or the very same record. */
#include "evidence/record/derive.h"
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/proof/completeness.h"

#define ARENA_MAX ((size_t)1 << 20)
#define TEXT                                                                                       \
    "{\"agent_id\":\"a\",\"decision\":\"allow\",\"extensions\":{\"writ\":{\"tenant\":\"t\"}},"     \
    "\"policy_refs\":[\"p\",\"q\"],\"seq\":\"wrong\",\"tool\":\"t\",\"zz\":[1,2]}"

static const struct writ_profile *
crewai(void)
{
    return writ_profile_default();
}

/* One operation: appends its result to `ret`. Takes its memory from a new arena. */
typedef writ_result (*operation)(struct writ_arena *arena, struct writ_buf *ret);

static writ_result
in_new_arena(operation run, struct writ_buf *ret)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    return arena != NULL ? run(arena, ret) : (writ_result){WRIT_E_NOMEM};
}

/* Runs it once undisturbed, then with the 1st, 2nd, ... allocation failing, until it is through. */
static void
expect_same_or_error(operation run)
{
    writ_auto_buf want = writ_buf_make(ARENA_MAX);
    bool reached = true;
    long nth = 1;

    ck_assert_ok(in_new_arena(run, &want));
    for (; reached; nth++) {
        writ_auto_buf got = writ_buf_make(ARENA_MAX);
        writ_result result;

        writ_fault_arm(nth);
        result = in_new_arena(run, &got);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_msg(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)),
                "allocation %ld: " WRIT_VIEW_FMT, nth, WRIT_VIEW_ARG(writ_buf_view(&got)));
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
        }
    }
    ck_assert_int_gt(nth, 3); /* some allocation was reached */
}

static writ_result
read_and_write(struct writ_arena *arena, struct writ_buf *ret)
{
    const struct writ_json *value = NULL;
    struct writ_decision decision;

    WRIT_TRY(writ_json_read(WRIT_LIT(TEXT), &writ_json_limits_default, arena, &value, NULL));
    WRIT_TRY(writ_decision_read(value, arena, &decision, NULL));
    return writ_decision_put(&decision, ret, NULL);
}

static writ_result
derive_and_place(struct writ_arena *arena, struct writ_buf *ret)
{
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    struct writ_extension extension = {.tenant = writ_member_text(WRIT_LIT("acme"))};

    WRIT_TRY(writ_decision_derive(&decision, crewai(), arena, NULL));
    WRIT_TRY(writ_extension_make(&extension, arena, &decision.extensions, NULL));
    WRIT_TRY(writ_decision_place(
        &decision, crewai(), 3, WRIT_SAMPLE_ISSUED_US, WRIT_SAMPLE_LIFETIME_US, arena, NULL));
    return writ_decision_put(&decision, ret, NULL);
}

static writ_result
end_and_join(struct writ_arena *arena, struct writ_buf *ret)
{
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    struct writ_outcome outcome;
    struct writ_outcome_texts texts;

    WRIT_TRY(writ_decision_derive(&decision, crewai(), arena, NULL));
    outcome = writ_outcome_for(&decision, WRIT_OUTCOME_EXECUTED);
    WRIT_TRY(
        writ_outcome_place(&outcome, &decision, crewai(), WRIT_SAMPLE_ISSUED_US, &texts, NULL));
    WRIT_TRY(writ_outcome_join(&outcome, &decision, crewai(), NULL));
    return writ_outcome_put(&outcome, ret, NULL);
}

static writ_result
make_keys(struct writ_arena *arena, struct writ_buf *ret)
{
    struct writ_decision decision = writ_sample_draft(WRIT_DECISION_ALLOW);
    struct writ_member_text key;
    struct writ_digest digest;

    WRIT_TRY(writ_decision_state_free(&decision, WRIT_LIT("acme"), WRIT_LIT("crm"), &digest, NULL));
    WRIT_TRY(writ_decision_auto_key(WRIT_LIT("run-1"), &digest, arena, &key, NULL));
    writ_buf_put(ret, key.view);
    return writ_buf_check(ret, NULL);
}

static void
set_free(struct writ_completeness_set **set)
{
    writ_completeness_free(*set);
}

static writ_result
report_and_seal(struct writ_arena *arena, struct writ_buf *ret)
{
    WRIT_AUTO(struct writ_completeness_set *, set_free) set = writ_completeness_new(1000);
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    struct writ_completeness report;
    struct writ_seal seal;

    if (set == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_seal_hash_init(&hash, NULL));
    for (int64_t seq = 0; seq < 200; seq += seq % 3 + 1) {
        struct writ_decision decision = {.seq = writ_member_number(seq),
            .running_count = writ_member_number(seq),
            .decision_id = writ_member_text(WRIT_LIT("d"))};
        WRIT_TRY(writ_completeness_add(set, &decision, NULL));
        WRIT_TRY(writ_seal_hash_add(&hash, decision.decision_id.view, NULL));
    }
    WRIT_TRY(writ_seal_make(WRIT_LIT("run-1"), &hash, 0, arena, &seal, NULL));
    writ_completeness_seal(set, &seal);
    WRIT_TRY(writ_completeness_report(set, arena, &report, NULL));
    return writ_completeness_put(&report, ret, NULL);
}

START_TEST(record_read_with_a_failed_allocation_gives_the_same_or_none)
{
    expect_same_or_error(read_and_write);
    expect_same_or_error(derive_and_place);
    expect_same_or_error(end_and_join);
}
END_TEST

START_TEST(implicit_key_with_a_failed_allocation_gives_the_same_or_none)
{
    expect_same_or_error(make_keys);
}
END_TEST

START_TEST(completeness_with_a_failed_allocation_gives_the_same_or_none)
{
    expect_same_or_error(report_and_seal);
}
END_TEST

/* Deriving and placing leave the record unchanged on failure, with any amount of memory. */
START_TEST(place_with_a_failed_allocation_leaves_the_record_unchanged)
{
    writ_auto_arena plenty = writ_value_arena();
    struct writ_decision draft = writ_sample_draft(WRIT_DECISION_ALLOW);
    size_t failed = 0;

    ck_assert_ok(writ_decision_derive(&draft, crewai(), plenty, NULL));
    for (size_t max = 0; max < 400; max += 8) {
        writ_auto_arena arena = writ_arena_new(max);
        struct writ_decision decision = draft;
        writ_result result = writ_decision_place(
            &decision, crewai(), 3, WRIT_SAMPLE_ISSUED_US, WRIT_SAMPLE_LIFETIME_US, arena, NULL);

        if (!writ_is_ok(result)) {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_int_eq(decision.seq.is, WRIT_ABSENT);
            ck_assert_int_eq(decision.issued_at.is, WRIT_ABSENT);
            ck_assert_int_eq(decision.receipt_ref.is, WRIT_ABSENT);
            failed++;
        } else {
            ck_assert_int_eq(decision.expires_at.is, WRIT_PRESENT);
        }
    }
    ck_assert_uint_gt(failed, 10);
    ck_assert_uint_lt(failed, 50);
}
END_TEST

WRIT_UNIT_MAIN("evidence_record", record_read_with_a_failed_allocation_gives_the_same_or_none,
    implicit_key_with_a_failed_allocation_gives_the_same_or_none,
    completeness_with_a_failed_allocation_gives_the_same_or_none,
    place_with_a_failed_allocation_leaves_the_record_unchanged)
