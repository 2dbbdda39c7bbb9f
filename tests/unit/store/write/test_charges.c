/* Budgets are counted from the signed records, so that no edit on disk resets one. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define HOUR_US (3600 * WRIT_KIT_S)

static struct writ_reservation
hourly(int64_t limit)
{
    struct writ_reservation budget = writ_kit_budget();

    budget.limit = writ_decimal_of(limit);
    return budget;
}

static void
reopen(struct writ_kit *kit)
{
    writ_kit_close(kit);
    writ_kit_open(kit);
}

START_TEST(open_with_known_windows_counts_earlier_charges)
{
    struct writ_reservation budget = hourly(2);
    const spec s = {.reservations = &budget, .reservations_n = 1};
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1", .reservations = &budget, .reservations_n = 1});
    writ_kit_run(&kit, (spec){.argument = "2", .reservations = &budget, .reservations_n = 1});
    reopen(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).budgets, 1);
    writ_kit_refused(&kit, s, WRIT_REASON_BUDGET_EXCEEDED);
    writ_kit_wipe(&kit);
}
END_TEST

/* A reload adds a budget with a longer window than any before: its records are older than those
 * counted at the opening. */
START_TEST(book_with_an_unknown_window_counts_first)
{
    struct writ_reservation budget = hourly(2);
    const spec s = {.reservations = &budget, .reservations_n = 1};
    struct writ_kit kit;

    writ_kit_init(&kit);
    kit.options.budget_window_us = 0;
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "1", .reservations = &budget, .reservations_n = 1});
    writ_kit_forget(&kit);
    writ_kit_open(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).budgets, 0);
    writ_kit_run(&kit, (spec){.argument = "2", .reservations = &budget, .reservations_n = 1});
    writ_kit_refused(&kit, s, WRIT_REASON_BUDGET_EXCEEDED);
    budget.window_us = 24 * HOUR_US; /* another counter, without a charge */
    writ_kit_run(&kit, (spec){.argument = "3", .reservations = &budget, .reservations_n = 1});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_returns_charges_of_calls_that_did_not_run)
{
    struct writ_reservation budget = hourly(1);
    const spec s = {.reservations = &budget, .reservations_n = 1};
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, s);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    writ_kit_call_free(c);
    reopen(&kit);
    writ_kit_run(&kit, s);
    reopen(&kit);
    writ_kit_refused(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    writ_kit_wipe(&kit);
}
END_TEST

/* A call that waits over a restart still holds its charge; its next round charges nothing more. */
START_TEST(open_keeps_charges_of_waiting_calls)
{
    struct writ_reservation budget = hourly(1);
    const spec s = {.reservations = &budget, .reservations_n = 1};
    struct writ_digest name = {{7}};
    struct writ_kit kit;
    call *first, *second;

    writ_kit_start(&kit);
    first = writ_kit_granted(&kit, s);
    ck_assert_int_eq(writ_kit_wait(&kit, first, WRIT_WAIT_INPUT, name, HOUR_US), WRIT_OK);
    reopen(&kit);
    second = writ_kit_round(&kit, first, s);
    ck_assert_int_eq(writ_kit_decide(&kit, second), WRIT_OK);
    ck_assert(second->entry.decision.granted);
    ck_assert_int_eq(writ_kit_wait(&kit, second, WRIT_WAIT_INPUT, name, HOUR_US), WRIT_OK);
    reopen(&kit); /* counted once, though both decisions say it */
    writ_kit_refused(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    ck_assert_int_eq(
        writ_kit_end(&kit, second, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    reopen(&kit);
    writ_kit_run(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1});
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_under_shadow_counts_booked_charges_only)
{
    struct writ_reservation budget = hourly(1);
    struct writ_kit kit;

    writ_kit_start(&kit);
    for (int i = 0; i < 3; i++) {
        char argument[] = {(char)('a' + i), '\0'};
        call *c = writ_kit_call(&kit, (spec){.argument = argument,
                                          .route = WRIT_DECISION_ALLOW,
                                          .shadow = true,
                                          .reservations = &budget,
                                          .reservations_n = 1});

        ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
        ck_assert(c->entry.decision.granted);
        ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
        writ_kit_call_free(c);
    }
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT sum(length(CAST(bytes AS TEXT)) - "
                                           "length(replace(CAST(bytes AS TEXT), '\"charges\"', "
                                           "''))) FROM body"),
        sizeof "\"charges\"" - 1);
    writ_kit_wipe(&kit);
}
END_TEST

/* 0: a fact; 1, 2: a call. Two days later 3, 4: a call of a budget; 5, 6: one that did not run; 7:
 * a seal. Two days later 8, 9: a call of the budget. For the sake of claims a start reads from 8
 * on. */
static void
fill_long_ago(struct writ_kit *kit, const struct writ_reservation *budget)
{
    call *c;

    writ_kit_init(kit);
    kit->options.claim_kept_us = kit->options.window_kept_us = HOUR_US;
    kit->options.budget_window_us = budget->window_us;
    kit->options.boundary_idle_us = 720 * HOUR_US;
    writ_kit_open(kit);
    writ_kit_run(kit, (spec){.argument = "0", .duplicates = WRIT_DUPLICATES_ALLOW});
    writ_kit_pass(kit, 48 * HOUR_US);
    writ_kit_run(kit, (spec){.argument = "1", .reservations = budget, .reservations_n = 1});
    c = writ_kit_granted(kit, (spec){.argument = "2", .reservations = budget, .reservations_n = 1});
    ck_assert_int_eq(writ_kit_end(kit, c, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_seal(kit, "run", NULL), WRIT_OK);
    writ_kit_pass(kit, 48 * HOUR_US);
    writ_kit_run(kit, (spec){.boundary = "later", .reservations = budget, .reservations_n = 1});
    writ_kit_forget(kit);
}

static struct writ_reservation
monthly(void)
{
    struct writ_reservation budget = hourly(2);

    budget.window_us = 720 * HOUR_US; /* the tests begin on its twentieth day */
    return budget;
}

/* Each edit would free the budget, or charge it for a call that did not happen. */
static const char *const edits_of_old[] = {
    "UPDATE body SET bytes = CAST(replace(bytes, ' 1\"]', ' 0\"]') AS BLOB) WHERE leaf = 3",
    "UPDATE body SET bytes = CAST(replace(bytes, '\"charges\"', '\"chargez\"') AS BLOB) "
    "WHERE leaf = 3",
    "UPDATE body SET bytes = CAST(replace(bytes, '\"executed\"', '\"blocked\"') AS BLOB) "
    "WHERE leaf = 4",
    "UPDATE body SET bytes = CAST(replace(bytes, 'not_sent', 'not_seen') AS BLOB) WHERE leaf = 6",
    "UPDATE body SET bytes = X'7B7D' WHERE leaf = 3",
    "UPDATE body SET bytes = X'5B' WHERE leaf = 3",
    "DELETE FROM body WHERE leaf = 3",
    "UPDATE record SET decision_id = (SELECT decision_id FROM record WHERE leaf = 5) "
    "WHERE leaf = 3",
    "UPDATE record SET decision_id = 'other' WHERE leaf IN (5, 6)",
    "UPDATE record SET time_us = time_us - 8000000000000 WHERE leaf < 7",
};

START_TEST(open_after_an_edit_of_old_charges_reports_it)
{
    struct writ_reservation budget = monthly();

    for (size_t i = 0; i < sizeof edits_of_old / sizeof edits_of_old[0]; i++) {
        struct writ_ledger *ledger = NULL;
        struct writ_err err = {0};
        struct writ_kit kit;

        fill_long_ago(&kit, &budget);
        writ_kit_sql(&kit, edits_of_old[i]);
        ck_assert_msg(
            writ_ledger_open(kit.path, &kit.options, &ledger, &err).code == WRIT_E_MISMATCH,
            "%s: %s", edits_of_old[i], err.text);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* The start had no reason to count them. */
START_TEST(book_after_an_edit_of_old_charges_poisons_the_ledger)
{
    struct writ_reservation budget = monthly();

    for (size_t i = 0; i < sizeof edits_of_old / sizeof edits_of_old[0]; i++) {
        struct writ_kit kit;

        fill_long_ago(&kit, &budget);
        writ_kit_sql(&kit, edits_of_old[i]);
        kit.options.budget_window_us = HOUR_US;
        writ_kit_open(&kit);
        for (int n = 0; n < 2; n++) {
            call *c = writ_kit_call(&kit, (spec){.boundary = "later",
                                              .argument = n == 0 ? "b" : "c",
                                              .route = WRIT_DECISION_ALLOW,
                                              .reservations = &budget,
                                              .reservations_n = n == 0});

            ck_assert_msg(writ_kit_decide(&kit, c) == WRIT_E_IO, "%s", edits_of_old[i]);
            ck_assert(!c->entry.decision.granted);
            writ_kit_call_free(c);
        }
        ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_POISONED);
        ck_assert_ptr_nonnull(
            strstr(writ_kit_health(&kit).why.text, "another program changed the ledger: "));
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(open_counts_charges_that_are_older_than_claims)
{
    struct writ_reservation budget = monthly();
    struct writ_kit kit;

    fill_long_ago(&kit, &budget);
    for (int i = 0; i < 2; i++) {
        kit.options.budget_window_us = i == 0 ? budget.window_us : 0;
        writ_kit_open(&kit);
        writ_kit_refused(&kit,
            (spec){
                .argument = "b", .boundary = "later", .reservations = &budget, .reservations_n = 1},
            WRIT_REASON_BUDGET_EXCEEDED);
        writ_kit_close(&kit);
    }
    writ_kit_wipe(&kit);
}
END_TEST

/* Verification finds it too, at the latest the next scrub. */
START_TEST(verify_of_changed_charges_names_the_record)
{
    static const char *const edits[] = {
        "UPDATE body SET bytes = CAST(replace(bytes, '3600000000 ', '3600000001 ') AS BLOB)",
        "UPDATE body SET bytes = CAST(replace(bytes, ' 1\"]', ' 0\"]') AS BLOB)",
        "UPDATE body SET bytes = CAST(replace(bytes, '\"charges\"', '\"chargez\"') AS BLOB)",
    };
    struct writ_reservation budget = hourly(2);

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_verify_report report = {0};
        struct writ_kit kit;

        writ_kit_start(&kit);
        writ_kit_run(&kit, (spec){.reservations = &budget, .reservations_n = 1});
        writ_kit_close(&kit);
        writ_kit_sql(&kit, edits[i]);
        ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL));
        ck_assert_uint_gt(report.problems, 0);
        ck_assert_uint_eq(report.list[0].leaf, 0);
        writ_kit_wipe(&kit);
    }
}
END_TEST

WRIT_UNIT_MAIN("charges", open_with_known_windows_counts_earlier_charges,
    book_with_an_unknown_window_counts_first, open_returns_charges_of_calls_that_did_not_run,
    open_keeps_charges_of_waiting_calls, open_after_an_edit_of_old_charges_reports_it,
    book_after_an_edit_of_old_charges_poisons_the_ledger,
    open_counts_charges_that_are_older_than_claims, open_under_shadow_counts_booked_charges_only,
    verify_of_changed_charges_names_the_record)
