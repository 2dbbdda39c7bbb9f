/* The state that a start loads. A contradiction stops the start and leaves the ledger as it was,
 * and only records that still matter are read. */
#include "support/store/kit.h"
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* 0, 1: a call in "one", which is sealed (2); 3, 4: one in "two"; 5: in flight there. */
static void
fill(struct writ_kit *kit)
{
    struct writ_reservation budget = writ_kit_budget();

    writ_kit_start(kit);
    writ_kit_run(kit, (spec){.boundary = "one"});
    ck_assert_int_eq(writ_kit_seal(kit, "one", NULL), WRIT_OK);
    writ_kit_run(kit, (spec){.boundary = "two", .reservations = &budget, .reservations_n = 1});
    writ_kit_call_free(writ_kit_granted(kit, (spec){.boundary = "two", .argument = "b"}));
    writ_kit_forget(kit);
}

START_TEST(open_of_contradicting_records_is_refused)
{
    static const char *const changes[] = {
        "UPDATE record SET seq = 1 WHERE leaf = 3",
        "UPDATE record SET seq = 0 WHERE leaf = 5",
        "UPDATE record SET time_us = time_us - 5 WHERE leaf = 4",
        "UPDATE record SET time_us = 0x7fffffffffffffff WHERE leaf = (SELECT max(leaf) FROM "
        "record)",
        "UPDATE record SET kind = 7 WHERE leaf = 4",
        "UPDATE record SET claim = X'0102' WHERE leaf = 3",
        "UPDATE record SET claim = NULL WHERE leaf = 3",
        "UPDATE record SET claim = (SELECT claim FROM record WHERE leaf = 0) WHERE leaf = 3",
        "UPDATE record SET claim = NULL WHERE leaf = 5",
        "UPDATE record SET flags = 0 WHERE leaf = 3",
        "UPDATE record SET flags = flags | 2 WHERE leaf = 3",
        "UPDATE record SET flags = flags | 4 WHERE leaf = 4",
        "UPDATE record SET flags = flags | 8 WHERE leaf = 4",
        "UPDATE record SET flags = 17, about = 3, claim = NULL WHERE leaf = 5",
        "UPDATE record SET verdict = 0 WHERE leaf = 4",
        "UPDATE record SET about = 5 WHERE leaf = 4",
        "UPDATE record SET kind = 4 WHERE leaf = 4",
        "UPDATE record SET agent_id = 'other' WHERE leaf = 3",
        "UPDATE record SET boundary = 1 WHERE leaf = 5",
        "UPDATE record SET time_us = time_us - 1000000000000000 WHERE leaf < 3",
        "UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), 'executed', 'timeout') AS "
        "BLOB) WHERE leaf = 4; "
        "UPDATE record SET verdict = 3 WHERE leaf = 4",
        "UPDATE record SET decision_id = NULL WHERE leaf = 3",
        "UPDATE record SET boundary = 2 WHERE leaf = 2",
        "DELETE FROM record WHERE leaf = 4",
        "DELETE FROM record WHERE leaf = 3",
        "DELETE FROM body WHERE leaf = 5",
        "UPDATE body SET bytes = X'7B7D' WHERE leaf = 5",
        "UPDATE body SET bytes = X'5B' WHERE leaf = 5",
        "DELETE FROM record WHERE leaf = 1; UPDATE record SET leaf = leaf - 1 WHERE leaf > 1",
        "UPDATE body SET bytes = CAST(replace(bytes, '\"charges\":[\"', '\"charges\":[\"x') AS "
        "BLOB)",
        "UPDATE boundary SET first_leaf = 99 WHERE name = 'two'; "
        "UPDATE record SET boundary = 77 WHERE leaf = 5",
        "UPDATE boundary SET seal_leaf = 2 WHERE name = 'two'",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct writ_ledger *ledger = NULL;
        struct writ_err err = {0};
        struct writ_kit kit;
        enum writ_code code;

        fill(&kit);
        writ_kit_sql(&kit, changes[i]);
        code = writ_ledger_open(kit.path, &kit.options, &ledger, &err).code;
        ck_assert_msg(
            code == WRIT_E_MISMATCH, "%s: %s: %s", changes[i], writ_code_name(code), err.text);
        ck_assert_ptr_null(ledger);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* A claim holds at least while its run is open; an edit does not end that. */
START_TEST(open_of_a_sealed_run_without_seal_is_refused)
{
    static const char *const changes[] = {
        "UPDATE boundary SET seal_leaf = 4 WHERE name = 'two'",
        "UPDATE boundary SET seal_leaf = 2 WHERE name = 'two'",
        "UPDATE boundary SET seal_leaf = 99 WHERE name = 'two'",
        "UPDATE boundary SET name = 'uno' WHERE name = 'one'",
        "UPDATE boundary SET tenant = 'globex' WHERE name = 'one'",
        "DELETE FROM boundary WHERE name = 'one'",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct writ_ledger *ledger = NULL;
        struct writ_kit kit;

        writ_kit_start(&kit);
        writ_kit_run(&kit, (spec){.boundary = "one"});
        ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
        writ_kit_run(&kit, (spec){.boundary = "two"});
        writ_kit_forget(&kit);
        writ_kit_sql(&kit, changes[i]);
        ck_assert_msg(
            writ_ledger_open(kit.path, &kit.options, &ledger, NULL).code == WRIT_E_MISMATCH, "%s",
            changes[i]);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(open_that_is_refused_leaves_the_ledger_unchanged)
{
    struct writ_kit kit;
    struct writ_ledger *ledger = NULL;

    fill(&kit);
    writ_kit_sql(&kit, "UPDATE record SET seq = 1 WHERE leaf = 3");
    ck_assert_code(writ_ledger_open(kit.path, &kit.options, &ledger, NULL), WRIT_E_MISMATCH);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 6);
    writ_kit_sql(&kit, "UPDATE record SET seq = 0 WHERE leaf = 3");
    writ_kit_open(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 7);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_reads_no_records_older_than_needed)
{
    struct writ_kit kit;

    fill(&kit);
    writ_kit_open(&kit);
    atomic_fetch_add(&kit.wall_us, 2 * kit.options.claim_kept_us);
    ck_assert_int_eq(writ_kit_seal(&kit, "two", NULL), WRIT_OK); /* the last record */
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "UPDATE record SET kind = 7 WHERE leaf = 0");
    writ_kit_open(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 0);
    ck_assert_uint_eq(writ_kit_health(&kit).records, 8);
    writ_kit_wipe(&kit);
}
END_TEST

/* The clock of the machine that the ledger was moved to is behind: everything is kept longer. */
START_TEST(open_with_a_clock_behind_the_log_keeps_claims)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.key = "k"});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_kit_close(&kit);
    atomic_store(&kit.wall_us, WRIT_KIT_WALL_US - 100 * kit.options.claim_kept_us);
    writ_kit_open(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 1);
    writ_kit_refused(&kit, (spec){.key = "k2", .boundary = "b"}, WRIT_REASON_CLOCK_REGRESSION);
    atomic_store(&kit.wall_us, WRIT_KIT_WALL_US + 60 * WRIT_KIT_S);
    writ_kit_refused(&kit, (spec){.key = "k", .boundary = "b"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(budgets_of_windows_that_have_passed_are_forgotten)
{
    struct writ_kit kit;

    fill(&kit);
    writ_kit_pass(&kit, 3600 * WRIT_KIT_S);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.key = "later", .boundary = "later"}); /* it shows that they have */
    atomic_fetch_add(&kit.mono_us, 120 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).budgets, 0);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("load", open_of_contradicting_records_is_refused,
    open_of_a_sealed_run_without_seal_is_refused, open_that_is_refused_leaves_the_ledger_unchanged,
    open_reads_no_records_older_than_needed, open_with_a_clock_behind_the_log_keeps_claims,
    budgets_of_windows_that_have_passed_are_forgotten)
