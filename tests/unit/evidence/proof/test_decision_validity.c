/* The phase of a decision at a given time. A time that cannot be read never makes a decision
 * fresher, and only a fresh allow can be spent. */
#include "evidence/record/derive.h"
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/proof/decision_validity.h"

#define ISSUED_US  WRIT_SAMPLE_ISSUED_US
#define EXPIRES_US (WRIT_SAMPLE_ISSUED_US + WRIT_SAMPLE_LIFETIME_US)

/* A decision, what became of it at ISSUED_US + 100, and what replaced it at ISSUED_US + 200. */
struct story {
    struct writ_decision decision, successor;
    struct writ_outcome outcome;
};

static struct story
story_of(enum writ_decision_route route, struct writ_arena *arena)
{
    const struct writ_profile *profile = writ_profile_default();
    struct writ_outcome_texts *texts = writ_arena_get(arena, sizeof *texts);
    struct story story;

    ck_assert_ptr_nonnull(texts);
    story.decision = writ_sample_decision(route, profile, arena);
    story.outcome = writ_outcome_for(&story.decision, WRIT_OUTCOME_EXECUTED);
    ck_assert_ok(
        writ_outcome_place(&story.outcome, &story.decision, profile, ISSUED_US + 100, texts, NULL));
    story.successor = writ_sample_draft(WRIT_DECISION_ALLOW);
    story.successor.supersedes = story.decision.decision_id;
    ck_assert_ok(writ_decision_place(
        &story.successor, profile, 1, ISSUED_US + 200, WRIT_SAMPLE_LIFETIME_US, arena, NULL));
    return story;
}

static void
expect_at(const struct story *story, struct writ_decision_validity_facts facts, int64_t t_us,
    const char *want)
{
    ck_assert_view(
        writ_decision_validity_name(writ_decision_validity_at(&story->decision, &facts, t_us)),
        want);
}

START_TEST(decision_validity_zero_is_refused)
{
    struct writ_decision nothing = {0};
    struct writ_decision_validity_facts none = {0};

    ck_assert_int_eq(WRIT_DECISION_VALIDITY_REFUSED, 0);
    ck_assert_int_eq(writ_decision_validity_at(&nothing, &none, 0), WRIT_DECISION_VALIDITY_REFUSED);
}
END_TEST

START_TEST(decision_validity_of_an_allow_includes_both_ends)
{
    writ_auto_arena arena = writ_value_arena();
    struct story story = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_decision_validity_facts none = {0};

    expect_at(&story, none, ISSUED_US - 1, "unborn");
    expect_at(&story, none, ISSUED_US, "fresh");
    expect_at(&story, none, EXPIRES_US, "fresh");
    expect_at(&story, none, EXPIRES_US + 1, "expired");
}
END_TEST

START_TEST(decision_validity_is_consumed_from_the_time_of_the_outcome)
{
    writ_auto_arena arena = writ_value_arena();
    struct story story = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_decision_validity_facts facts = {.outcome = &story.outcome};

    expect_at(&story, facts, ISSUED_US + 99, "fresh");
    expect_at(&story, facts, ISSUED_US + 100, "consumed");
    expect_at(&story, facts, EXPIRES_US + 1, "consumed");
    story.outcome.completed_at.is = WRIT_ABSENT;
    expect_at(&story, facts, ISSUED_US, "consumed");
}
END_TEST

START_TEST(decision_validity_after_a_change_is_stale_until_a_successor)
{
    writ_auto_arena arena = writ_value_arena();
    struct story story = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_decision_validity_facts facts = {
        .successor = &story.successor, .changed_us = ISSUED_US + 150};

    expect_at(&story, facts, ISSUED_US + 149, "fresh");
    expect_at(&story, facts, ISSUED_US + 150, "stale");
    expect_at(&story, facts, ISSUED_US + 199, "stale");
    expect_at(&story, facts, ISSUED_US + 200, "revalidated");
    facts.successor = NULL;
    expect_at(&story, facts, EXPIRES_US + 1, "expired");
}
END_TEST

START_TEST(decision_validity_of_an_approval_is_pending_until_redeemed)
{
    writ_auto_arena arena = writ_value_arena();
    struct story story = story_of(WRIT_DECISION_REQUIRE_APPROVAL, arena);
    struct writ_decision_validity_facts none = {0}, facts = {.successor = &story.successor};

    expect_at(&story, none, ISSUED_US, "pending");
    expect_at(&story, none, EXPIRES_US + 1, "expired");
    expect_at(&story, facts, ISSUED_US + 199, "pending");
    expect_at(&story, facts, ISSUED_US + 200, "resumed");
    story.successor.continuation_id = writ_member_text(WRIT_LIT("another"));
    expect_at(&story, facts, ISSUED_US + 200, "revalidated");
    story.successor.continuation_id = story.decision.continuation_id;
    story.successor.decision = writ_decision_route_text(WRIT_DECISION_DENY);
    expect_at(&story, facts, ISSUED_US + 200, "revalidated");
}
END_TEST

START_TEST(decision_validity_of_a_refusal_never_changes)
{
    writ_auto_arena arena = writ_value_arena();
    struct story deny = story_of(WRIT_DECISION_DENY, arena);
    struct story revise = story_of(WRIT_DECISION_REVISE, arena);
    struct writ_decision_validity_facts facts = {
        .successor = &deny.successor, .outcome = &deny.outcome};

    expect_at(&deny, facts, ISSUED_US + 500, "refused");
    expect_at(&revise, facts, ISSUED_US + 500, "refused");
}
END_TEST

START_TEST(decision_validity_with_an_unreadable_time_is_never_fresher)
{
    writ_auto_arena arena = writ_value_arena();
    struct story story = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_decision_validity_facts none = {0};

    story.decision.expires_at = writ_member_text(WRIT_LIT("soon"));
    expect_at(&story, none, ISSUED_US, "expired");
    story.decision.expires_at.is = WRIT_WRONG;
    expect_at(&story, none, ISSUED_US, "expired");
    story.decision.issued_at = writ_member_text(WRIT_LIT("now"));
    expect_at(&story, none, INT64_MAX, "unborn");
}
END_TEST

START_TEST(decision_spendable_until_is_the_first_end)
{
    writ_auto_arena arena = writ_value_arena();
    struct story story = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_decision_validity_facts facts = {0};
    int64_t from_us = 0, until_us = 0;

    ck_assert(writ_decision_validity_spendable(&story.decision, &facts, &from_us, &until_us));
    ck_assert_int_eq(from_us, ISSUED_US);
    ck_assert_int_eq(until_us, EXPIRES_US);
    facts.successor = &story.successor;
    ck_assert(writ_decision_validity_spendable(&story.decision, &facts, &from_us, &until_us));
    ck_assert_int_eq(until_us, ISSUED_US + 200);
    facts.outcome = &story.outcome;
    ck_assert(writ_decision_validity_spendable(&story.decision, &facts, &from_us, &until_us));
    ck_assert_int_eq(until_us, ISSUED_US + 100);
    facts.changed_us = ISSUED_US + 50;
    ck_assert(writ_decision_validity_spendable(&story.decision, &facts, &from_us, &until_us));
    ck_assert_int_eq(until_us, ISSUED_US + 50);
    facts.changed_us = ISSUED_US;
    ck_assert(writ_decision_validity_spendable(&story.decision, &facts, &from_us, &until_us));
    ck_assert_int_eq(until_us, ISSUED_US);
    facts = (struct writ_decision_validity_facts){0};
    story.decision.expires_at = (struct writ_member_text){WRIT_NULL, {0}};
    ck_assert(writ_decision_validity_spendable(&story.decision, &facts, &from_us, &until_us));
    ck_assert_int_eq(until_us, INT64_MAX);
}
END_TEST

START_TEST(decision_spendable_until_of_a_refusal_leaves_ret_unchanged)
{
    writ_auto_arena arena = writ_value_arena();
    struct story pending = story_of(WRIT_DECISION_REQUIRE_APPROVAL, arena);
    struct story early = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_decision_validity_facts none = {0}, changed = {.changed_us = ISSUED_US - 1};
    int64_t from_us = 1, until_us = 2;

    ck_assert(!writ_decision_validity_spendable(&pending.decision, &none, &from_us, &until_us));
    ck_assert(!writ_decision_validity_spendable(&early.decision, &changed, &from_us, &until_us));
    ck_assert_int_eq(from_us, 1);
    ck_assert_int_eq(until_us, 2);
}
END_TEST

START_TEST(decision_validity_of_a_refusal_is_enforced_by_its_outcome_only)
{
    writ_auto_arena arena = writ_value_arena();
    struct story deny = story_of(WRIT_DECISION_DENY, arena);
    struct story allow = story_of(WRIT_DECISION_ALLOW, arena);
    struct writ_outcome outcome = deny.outcome;

    ck_assert_int_eq(writ_decision_validity_enforced(&deny.decision, NULL, false),
        WRIT_DECISION_VALIDITY_UNPROVEN);
    ck_assert_int_eq(WRIT_DECISION_VALIDITY_UNPROVEN, 0);
    ck_assert_int_eq(writ_decision_validity_enforced(&deny.decision, &outcome, false),
        WRIT_DECISION_VALIDITY_VIOLATION);
    ck_assert_int_eq(writ_decision_validity_enforced(&deny.decision, &outcome, true),
        WRIT_DECISION_VALIDITY_SHADOWED);
    outcome.outcome = writ_outcome_kind_text(WRIT_OUTCOME_TIMEOUT);
    ck_assert_int_eq(writ_decision_validity_enforced(&deny.decision, &outcome, false),
        WRIT_DECISION_VALIDITY_VIOLATION);
    outcome.outcome = writ_outcome_kind_text(WRIT_OUTCOME_BLOCKED);
    ck_assert_int_eq(writ_decision_validity_enforced(&deny.decision, &outcome, false),
        WRIT_DECISION_VALIDITY_ENFORCED);
    ck_assert_int_eq(writ_decision_validity_enforced(&allow.decision, &outcome, false),
        WRIT_DECISION_VALIDITY_NO_REFUSAL);
}
END_TEST

START_TEST(decision_validity_phases_have_names)
{
    for (int i = WRIT_DECISION_VALIDITY_REFUSED; i <= WRIT_DECISION_VALIDITY_EXPIRED; i++) {
        ck_assert_int_eq(i == WRIT_DECISION_VALIDITY_REFUSED,
            writ_view_is(writ_decision_validity_name((enum writ_decision_validity)i), "refused"));
    }
    for (int i = WRIT_DECISION_VALIDITY_UNPROVEN; i <= WRIT_DECISION_VALIDITY_NO_REFUSAL; i++) {
        ck_assert_int_eq(i == WRIT_DECISION_VALIDITY_UNPROVEN,
            writ_view_is(
                writ_decision_validity_enforcement_name((enum writ_decision_validity_enforcement)i),
                "unproven"));
    }
}
END_TEST

WRIT_UNIT_MAIN("decision_validity", decision_validity_zero_is_refused,
    decision_validity_of_an_allow_includes_both_ends,
    decision_validity_is_consumed_from_the_time_of_the_outcome,
    decision_validity_after_a_change_is_stale_until_a_successor,
    decision_validity_of_an_approval_is_pending_until_redeemed,
    decision_validity_of_a_refusal_never_changes,
    decision_validity_with_an_unreadable_time_is_never_fresher,
    decision_spendable_until_is_the_first_end,
    decision_spendable_until_of_a_refusal_leaves_ret_unchanged,
    decision_validity_of_a_refusal_is_enforced_by_its_outcome_only,
    decision_validity_phases_have_names)
