/* Granting calls. A call is granted only once its decision is on disk; duplicates, budgets,
 * boundaries and clocks refuse with their reason, and the refusal is recorded. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* Decides a draft that says allow, and gives the call back however it ended. */
static call *
decided(struct writ_kit *kit, spec s)
{
    call *c;

    s.route = s.shadow ? s.route : WRIT_DECISION_ALLOW;
    c = writ_kit_call(kit, s);
    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    return c;
}

static void
refused(const call *c, enum writ_reason reason)
{
    ck_assert(!c->entry.decision.granted);
    ck_assert_msg(c->entry.decision.refused == reason, "refused: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(c->entry.decision.refused)));
}

START_TEST(grant_of_an_allowed_call_is_recorded_with_its_place)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    ck_assert_uint_eq(c->leaf, 0);
    ck_assert_int_eq(c->decision.seq.value, 0);
    ck_assert_int_eq(c->decision.running_count.value, 1);
    ck_assert_int_eq(c->decision.receipt_ref.is, WRIT_PRESENT);
    ck_assert_int_eq(c->decision.decision_context_hash.is, WRIT_PRESENT);
    ck_assert_int_eq(c->decision.expires_at.is, WRIT_PRESENT);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_uint_eq(c->entry.outcome.outcome_leaf, 1);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 2);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM body"), 2);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_of_a_denying_draft_is_recorded_with_outcome_blocked)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    refused(c, WRIT_REASON_NONE);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 2);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* A request stays open until a decision supersedes it. */
START_TEST(grant_of_a_draft_that_requires_approval_has_no_outcome)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_REQUIRE_APPROVAL});
    c->decision.continuation_id = writ_member_text(WRIT_LIT("c-1"));
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    refused(c, WRIT_REASON_NONE);
    ck_assert_int_eq(c->decision.expires_at.is, WRIT_PRESENT);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(second_of_two_equal_calls_names_the_first)
{
    struct writ_kit kit;
    call *first, *second;

    writ_kit_start(&kit);
    first = writ_kit_granted(&kit, (spec){0});
    second = decided(&kit, (spec){0});
    refused(second, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert(second->entry.decision.prior.known && second->entry.decision.prior.in_flight);
    ck_assert_uint_eq(second->entry.decision.prior.leaf, first->leaf);
    ck_assert(writ_view_equal(
        second->entry.decision.prior.decision_id, first->decision.decision_id.view));
    writ_kit_call_free(second);

    ck_assert_int_eq(writ_kit_end(&kit, first, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_OK);
    second = decided(&kit, (spec){0});
    refused(second, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert(!second->entry.decision.prior.in_flight);
    ck_assert_int_eq(second->entry.decision.prior.outcome, WRIT_OUTCOME_TIMEOUT);
    ck_assert(writ_view_equal(
        second->entry.decision.prior.decision_id, first->decision.decision_id.view));
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

/* A record never says allow for a call that the ledger refused. */
START_TEST(grant_refused_by_the_ledger_is_recorded_as_a_deny)
{
    struct writ_kit kit;
    struct writ_extension extension = {0};
    call *first, *second;

    writ_kit_start(&kit);
    first = writ_kit_granted(&kit, (spec){0});
    second = decided(&kit, (spec){0});
    ck_assert(writ_decision_is(&second->decision, WRIT_DECISION_DENY));
    ck_assert_view(
        second->decision.reason.view, writ_reason_sentence(WRIT_REASON_DUPLICATE_IN_FLIGHT).ptr);
    ck_assert_int_ne(second->decision.expires_at.is, WRIT_PRESENT);
    ck_assert_ok(
        writ_extension_read(&second->decision.extensions, second->arena, &extension, NULL));
    ck_assert_view(extension.reason.view, "duplicate_in_flight");
    ck_assert(writ_view_equal(extension.first_decision_id.view, first->decision.decision_id.view));
    ck_assert_view(extension.upstream.view, "fs");
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 1 AND verdict = 1"), 1);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM body WHERE "
                                           "instr(bytes, '\"decision\":\"allow\"') > 0"),
        1);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_of_two_equal_calls_in_one_group_grants_one)
{
    struct writ_kit kit;
    call *calls[16];
    struct writ_entry *entries[16];
    size_t granted = 0;

    writ_kit_start(&kit);
    for (size_t i = 0; i < 16; i++) {
        calls[i] = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW});
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 16));
    for (size_t i = 0; i < 16; i++) {
        ck_assert_int_eq(sem_wait(&calls[i]->done), 0);
        granted += calls[i]->entry.decision.granted ? 1 : 0;
        ck_assert_int_eq(calls[i]->decision.seq.value, (int64_t)i);
        if (i > 0) {
            refused(calls[i], WRIT_REASON_DUPLICATE_IN_FLIGHT);
            ck_assert(writ_view_equal(
                calls[i]->entry.decision.prior.decision_id, calls[0]->decision.decision_id.view));
        }
    }
    ck_assert_uint_eq(granted, 1);
    for (size_t i = 0; i < 16; i++) {
        writ_kit_call_free(calls[i]);
    }
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_of_other_arguments_boundary_or_tenant_is_another_call)
{
    static const spec others[] = {
        {.argument = "b"},
        {.boundary = "run-2"},
        {.agent = "agent-2"},
        {.tool = "read_file"},
        {.tenant = "globex"},
        {.key = "stated"},
    };
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){0});
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        writ_kit_run(&kit, others[i]);
    }
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_of_a_stated_key_holds_across_boundaries_of_one_agent)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.key = "k", .boundary = "one"});
    writ_kit_refused(&kit, (spec){.key = "k", .boundary = "two"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_run(&kit, (spec){.key = "k", .boundary = "two", .tenant = "globex"});
    writ_kit_run(&kit, (spec){.key = "k", .boundary = "two", .agent = "agent-2"});
    writ_kit_run(&kit, (spec){.key = "k2", .boundary = "two"});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_of_a_stated_key_with_other_arguments_is_key_reuse)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.key = "k", .argument = "a"});
    writ_kit_refused(&kit, (spec){.key = "k", .argument = "b"}, WRIT_REASON_IDEMPOTENCY_KEY_REUSE);
    writ_kit_refused(&kit, (spec){.key = "k", .argument = "a"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_wipe(&kit);
}
END_TEST

/* Also when other members differ, here the key of the claim. */
START_TEST(grant_of_the_same_intent_and_key_is_a_duplicate)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.key = "k"});
    c = writ_kit_call(&kit, (spec){.key = "k", .route = WRIT_DECISION_ALLOW});
    c->entry.decision.claim.key.bytes[0] ^= 1; /* as through another upstream */
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    refused(c, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_counts_earlier_calls_in_the_window_and_in_flight)
{
    struct writ_kit kit;
    int64_t since_us;
    call *c;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.boundary = "w1"});
    since_us = atomic_load(&kit.wall_us) - 10 * WRIT_KIT_S;
    writ_kit_refused(&kit,
        (spec){.boundary = "w2", .previous = "w1", .previous_since_us = since_us},
        WRIT_REASON_DUPLICATE_OUTCOME);
    /* too long ago to count, and then without a time: not requested */
    writ_kit_run(&kit,
        (spec){.boundary = "w3", .previous = "w1", .previous_since_us = atomic_load(&kit.wall_us)});
    writ_kit_run(&kit, (spec){.boundary = "w4", .previous = "w1"});

    c = writ_kit_granted(&kit, (spec){.boundary = "w5", .argument = "b"});
    writ_kit_refused(&kit,
        (spec){.boundary = "w6",
            .argument = "b",
            .previous = "w5",
            .previous_since_us = atomic_load(&kit.wall_us)},
        WRIT_REASON_DUPLICATE_IN_FLIGHT);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_of_a_call_overtaken_at_the_window_edge_is_a_duplicate)
{
    struct writ_kit kit;
    const spec late = {.boundary = "w1", .previous = "w0", .next = "w2", .previous_since_us = 1};
    spec other = late;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){.boundary = "w2", .previous = "w1", .previous_since_us = 1});
    writ_kit_refused(&kit, late, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_refused(&kit, late, WRIT_REASON_DUPLICATE_OUTCOME);
    other.argument = "b";
    writ_kit_run(&kit, other);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(calls_that_may_be_repeated_take_no_claim)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.duplicates = WRIT_DUPLICATES_ALLOW});
    writ_kit_run(&kit, (spec){.duplicates = WRIT_DUPLICATES_ALLOW});
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 0);
    writ_kit_run(&kit, (spec){0});
    writ_kit_run(&kit, (spec){.duplicates = WRIT_DUPLICATES_ALLOW});
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- shadow ---- */

START_TEST(under_shadow_a_deny_is_recorded_and_granted)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_DENY, .shadow = true});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    ck_assert(c->entry.decision.granted);
    ck_assert(writ_decision_is(&c->decision, WRIT_DECISION_DENY));
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(c);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_DENY, .shadow = true});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    refused(c, WRIT_REASON_DUPLICATE_OUTCOME); /* at most once holds in shadow too */
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- budgets ---- */

static struct writ_reservation
calls_per_minute(int64_t limit)
{
    return (struct writ_reservation){
        .key = {{1}},
        .name = WRIT_LIT("calls"),
        .window_us = 60 * WRIT_KIT_S,
        .counts_calls = true,
        .amount = writ_decimal_of(1),
        .limit = writ_decimal_of(limit),
    };
}

START_TEST(grant_charges_a_budget_and_names_it_when_exceeded)
{
    struct writ_reservation budget = calls_per_minute(2);
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1", .reservations = &budget, .reservations_n = 1});
    writ_kit_run(&kit, (spec){.argument = "2", .reservations = &budget, .reservations_n = 1});
    c = decided(&kit, (spec){.argument = "3", .reservations = &budget, .reservations_n = 1});
    refused(c, WRIT_REASON_BUDGET_EXCEEDED);
    ck_assert_view(c->entry.decision.exceeded.budget, "calls");
    ck_assert_int_eq(writ_decimal_compare(&c->entry.decision.exceeded.limit, &budget.limit), 0);
    ck_assert_int_eq(writ_decimal_compare(&c->entry.decision.exceeded.used, &budget.limit), 0);
    ck_assert_int_eq(c->entry.decision.exceeded.frees_us % budget.window_us, 0);
    ck_assert_int_gt(c->entry.decision.exceeded.frees_us, atomic_load(&kit.wall_us));
    ck_assert_int_le(
        c->entry.decision.exceeded.frees_us, atomic_load(&kit.wall_us) + budget.window_us);
    writ_kit_call_free(c);
    writ_kit_pass(&kit, 60 * WRIT_KIT_S);
    writ_kit_run(&kit, (spec){.argument = "3", .reservations = &budget, .reservations_n = 1});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(budget_returns_only_when_nothing_ran)
{
    struct writ_reservation budget = calls_per_minute(1);
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){.reservations = &budget, .reservations_n = 1});
    writ_kit_refused(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    writ_kit_call_free(c);
    c = writ_kit_granted(&kit, (spec){.reservations = &budget, .reservations_n = 1});
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_refused(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(budget_after_a_restart_keeps_its_charges)
{
    struct writ_reservation budget = calls_per_minute(1);
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.reservations = &budget, .reservations_n = 1});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).budgets, 1);
    writ_kit_refused(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(concurrent_calls_cannot_overspend)
{
    struct writ_reservation budget = calls_per_minute(5);
    struct writ_kit kit;
    call *calls[32];
    struct writ_entry *entries[32];
    char arguments[32][8];
    size_t granted = 0;

    writ_kit_start(&kit);
    for (int i = 0; i < 32; i++) {
        (void)snprintf(arguments[i], sizeof arguments[i], "%d", i);
        calls[i] = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW,
                                           .argument = arguments[i],
                                           .reservations = &budget,
                                           .reservations_n = 1});
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 32));
    for (int i = 0; i < 32; i++) {
        ck_assert_int_eq(sem_wait(&calls[i]->done), 0);
        granted += calls[i]->entry.decision.granted ? 1 : 0;
        writ_kit_call_free(calls[i]);
    }
    ck_assert_uint_eq(granted, 5);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(under_shadow_an_exceeded_budget_is_recorded_and_granted)
{
    struct writ_reservation budget = calls_per_minute(0);
    struct writ_extension extension = {0};
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW,
                                .shadow = true,
                                .reservations = &budget,
                                .reservations_n = 1});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    ck_assert(c->entry.decision.granted);
    ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_BUDGET_EXCEEDED);
    ck_assert(writ_decision_is(&c->decision, WRIT_DECISION_DENY));
    ck_assert_ok(writ_extension_read(&c->decision.extensions, c->arena, &extension, NULL));
    ck_assert(extension.shadow.value);
    ck_assert_view(extension.reason.view, "budget_exceeded");
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- time ---- */

START_TEST(grant_with_a_stopped_clock_still_increases_times)
{
    struct writ_kit kit;
    char argument[8];

    writ_kit_start(&kit);
    for (int i = 0; i < 20; i++) {
        atomic_store(&kit.wall_us, WRIT_KIT_WALL_US); /* it says the same time again and again */
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.argument = argument});
    }
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record AS a JOIN record AS b ON "
                                           "b.leaf = a.leaf + 1 WHERE b.time_us <= a.time_us"),
        0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_after_the_clock_steps_back_is_refused_until_it_catches_up)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    atomic_fetch_sub(&kit.wall_us, kit.options.clock_tolerance_us - 1000);
    writ_kit_run(&kit, (spec){.argument = "2"}); /* within the tolerance */
    atomic_fetch_sub(&kit.wall_us, 2000);
    writ_kit_refused(&kit, (spec){.argument = "3"}, WRIT_REASON_CLOCK_REGRESSION);

    /* the mark is in the log, so it holds after a restart */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.argument = "3"}, WRIT_REASON_CLOCK_REGRESSION);
    writ_kit_pass(&kit, kit.options.clock_tolerance_us);
    writ_kit_run(&kit, (spec){.argument = "3"});
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record AS a JOIN record AS b ON "
                                           "b.leaf = a.leaf + 1 WHERE b.time_us <= a.time_us"),
        0);
    writ_kit_wipe(&kit);
}
END_TEST

/* An outcome is never refused for its time: the call has been made. */
START_TEST(outcome_is_accepted_at_every_clock_time)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    atomic_store(&kit.wall_us, WRIT_KIT_WALL_US - 3600 * WRIT_KIT_S);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- limits ---- */

START_TEST(grant_beyond_the_calls_in_flight_is_refused)
{
    struct writ_kit kit;
    call *c;

    writ_kit_init(&kit);
    kit.options.in_flight_max = 1;
    writ_kit_open(&kit);
    c = writ_kit_granted(&kit, (spec){.argument = "1"});
    writ_kit_refused(&kit, (spec){.argument = "2"}, WRIT_REASON_OVERLOADED);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_run(&kit, (spec){.argument = "2"});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_beyond_the_open_boundaries_is_refused)
{
    struct writ_kit kit;
    call *c;

    writ_kit_init(&kit);
    kit.options.boundaries_max = 1;
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.boundary = "one"});
    c = writ_kit_call(
        &kit, (spec){.boundary = "two", .tenant = "other", .route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    refused(c, WRIT_REASON_OVERLOADED);
    ck_assert(writ_view_has_prefix(c->decision.boundary_id.view, WRIT_LIT("writ:refused:")));
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
    writ_kit_run(&kit, (spec){.boundary = "three"});
    writ_kit_wipe(&kit);
}
END_TEST

/* Four boundaries: an agent may have opened two of them, a tenant three. */
static void
fill_shares(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.boundaries_max = 4;
    writ_kit_open(kit);
    writ_kit_run(kit, (spec){.boundary = "one"});
    writ_kit_run(kit, (spec){.boundary = "two"});
}

START_TEST(grant_limits_the_boundaries_of_each_agent)
{
    struct writ_kit kit;
    call *c;

    fill_shares(&kit);
    writ_kit_refused(&kit, (spec){.boundary = "three"}, WRIT_REASON_SHARE_EXCEEDED);
    writ_kit_run(&kit, (spec){.boundary = "one", .argument = "b"}); /* one that is open */
    writ_kit_run(&kit, (spec){.boundary = "three", .agent = "other"});
    writ_kit_run(&kit, (spec){.boundary = "three", .argument = "b"}); /* opened by another */
    writ_kit_refused(
        &kit, (spec){.boundary = "four", .agent = "other"}, WRIT_REASON_SHARE_EXCEEDED);
    writ_kit_run(&kit, (spec){.boundary = "four", .tenant = "other"});

    /* a deny by policy is recorded and opens no boundary either */
    c = writ_kit_call(&kit, (spec){.boundary = "five", .route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_NONE);
    ck_assert(writ_view_has_prefix(c->decision.boundary_id.view, WRIT_LIT("writ:refused:")));
    writ_kit_call_free(c);

    ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
    writ_kit_run(&kit, (spec){.boundary = "six"});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(shares_of_boundaries_outlive_a_restart)
{
    struct writ_kit kit;

    fill_shares(&kit);
    writ_kit_refused(&kit, (spec){.boundary = "three"}, WRIT_REASON_SHARE_EXCEEDED);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.boundary = "three"}, WRIT_REASON_SHARE_EXCEEDED);
    writ_kit_run(&kit, (spec){.boundary = "three", .agent = "other"});
    writ_kit_wipe(&kit);
}
END_TEST

static enum writ_code
decide_changed(struct writ_kit *kit, void (*change)(call *c))
{
    call *c = writ_kit_call(kit, (spec){.route = WRIT_DECISION_ALLOW});
    enum writ_code code;

    change(c);
    code = writ_kit_decide(kit, c);
    ck_assert(!c->entry.decision.granted);
    writ_kit_call_free(c);
    return code;
}

static struct writ_view
long_name(call *c, size_t length)
{
    char *name = writ_arena_get(c->arena, length);

    memset(name, 'x', length);
    return writ_view(name, length);
}

static void
no_id(call *c)
{
    c->decision.decision_id.is = WRIT_ABSENT;
}

static void
no_boundary(call *c)
{
    c->decision.boundary_id.is = WRIT_ABSENT;
}

static void
no_scope(call *c)
{
    c->decision.normalized_scope.is = WRIT_ABSENT;
}

static void
long_boundary(call *c)
{
    c->decision.boundary_id.view = long_name(c, WRIT_LEDGER_NAME_MAX + 1);
}

static void
long_tenant(call *c)
{
    c->entry.decision.tenant = long_name(c, WRIT_LEDGER_NAME_MAX + 1);
}

static void
reserved_boundary(call *c)
{
    c->decision.boundary_id.view = WRIT_LIT("writ:mine");
}

static void
many_reservations(call *c)
{
    c->entry.decision.reservations_n = WRIT_RESERVATIONS_MAX + 1;
}

static void
huge_record(call *c)
{
    c->decision.target = writ_member_text(long_name(c, WRIT_LEDGER_RECORD_MAX));
}

static void
no_arena_left(call *c)
{
    while (writ_arena_get(c->arena, 16) != NULL) {
    }
}

START_TEST(grant_of_an_unwritable_entry_fails_alone)
{
    static const struct {
        void (*change)(call *c);
        enum writ_code code;
    } rows[] = {
        {no_id, WRIT_E_INVALID},
        {no_boundary, WRIT_E_INVALID},
        {no_scope, WRIT_E_INVALID},
        {long_boundary, WRIT_E_INVALID},
        {long_tenant, WRIT_E_LIMIT},
        {reserved_boundary, WRIT_E_INVALID},
        {many_reservations, WRIT_E_LIMIT},
        {huge_record, WRIT_E_LIMIT},
        {no_arena_left, WRIT_E_NOMEM},
    };
    struct writ_ledger_health health;
    struct writ_kit kit;

    writ_kit_start(&kit);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum writ_code code = decide_changed(&kit, rows[i].change);

        ck_assert_msg(code == rows[i].code, "row %zu: %s", i, writ_code_name(code));
    }
    health = writ_kit_health(&kit);
    ck_assert_uint_eq(health.records, 0);
    ck_assert_uint_eq(health.boundaries, 0);
    ck_assert_uint_eq(health.claims, 0);
    ck_assert_uint_eq(health.in_flight, 0);
    ck_assert_int_eq(health.state, WRIT_LEDGER_READY);
    writ_kit_run(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM boundary"), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(names_of_the_longest_length_are_taken)
{
    struct writ_kit kit;
    char name[WRIT_LEDGER_NAME_MAX + 1];

    memset(name, 'n', WRIT_LEDGER_NAME_MAX);
    name[WRIT_LEDGER_NAME_MAX] = '\0';
    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.boundary = name, .tenant = name});
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("grant", grant_of_an_allowed_call_is_recorded_with_its_place,
    grant_of_a_denying_draft_is_recorded_with_outcome_blocked,
    grant_of_a_draft_that_requires_approval_has_no_outcome,
    second_of_two_equal_calls_names_the_first, grant_refused_by_the_ledger_is_recorded_as_a_deny,
    grant_of_two_equal_calls_in_one_group_grants_one,
    grant_of_other_arguments_boundary_or_tenant_is_another_call,
    grant_of_a_stated_key_holds_across_boundaries_of_one_agent,
    grant_of_a_stated_key_with_other_arguments_is_key_reuse,
    grant_of_the_same_intent_and_key_is_a_duplicate,
    grant_counts_earlier_calls_in_the_window_and_in_flight,
    grant_of_a_call_overtaken_at_the_window_edge_is_a_duplicate,
    calls_that_may_be_repeated_take_no_claim, under_shadow_a_deny_is_recorded_and_granted,
    grant_charges_a_budget_and_names_it_when_exceeded, budget_returns_only_when_nothing_ran,
    budget_after_a_restart_keeps_its_charges, concurrent_calls_cannot_overspend,
    under_shadow_an_exceeded_budget_is_recorded_and_granted,
    grant_with_a_stopped_clock_still_increases_times,
    grant_after_the_clock_steps_back_is_refused_until_it_catches_up,
    outcome_is_accepted_at_every_clock_time, grant_beyond_the_calls_in_flight_is_refused,
    grant_beyond_the_open_boundaries_is_refused, grant_limits_the_boundaries_of_each_agent,
    shares_of_boundaries_outlive_a_restart, grant_of_an_unwritable_entry_fails_alone,
    names_of_the_longest_length_are_taken)
