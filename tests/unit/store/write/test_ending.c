/* Outcomes. Each call has one, a lost outcome is written before anything else, and only proof that
 * nothing ran frees the key. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* Decides the call of a spec again, with stored results requested. */
static call *
asked_again(struct writ_kit *kit, spec s)
{
    call *c;

    s.route = WRIT_DECISION_ALLOW;
    s.duplicates = WRIT_DUPLICATES_REPLAY;
    c = writ_kit_call(kit, s);
    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    ck_assert(!c->entry.decision.granted);
    return c;
}

static enum writ_code
submit(struct writ_kit *kit, call *c)
{
    struct writ_entry *entries[] = {&c->entry};

    ck_assert_ok(writ_ledger_submit(kit->ledger, entries, 1));
    while (sem_wait(&c->done) != 0) {
    }
    return c->entry.code;
}

/* Runs a call and keeps its result. */
static void
run_with_result(struct writ_kit *kit, spec s, struct writ_view result, int64_t ttl_us)
{
    call *c = writ_kit_granted(kit, s);
    struct writ_digest digest;
    char hash[WRIT_DIGEST_TEXT];

    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    ck_assert_ok(writ_digest_bytes(result, &digest, NULL));
    writ_digest_text(&digest, hash);
    c->outcome.tool_output_hash = writ_member_text(writ_view_str(hash));
    c->entry.outcome.result = result;
    c->entry.outcome.result_ttl_us = ttl_us;
    ck_assert_int_eq(submit(kit, c), WRIT_OK);
    writ_kit_call_free(c);
}

/* ---- joining ---- */

START_TEST(outcome_sent_twice_is_recorded_once)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 1);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(outcome_sent_twice_in_one_group_is_recorded_once)
{
    struct writ_kit kit;
    call *c, twin;
    struct writ_entry *entries[2];

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    twin = *c;
    twin.outcome = writ_outcome_for(&c->decision, WRIT_OUTCOME_TIMEOUT);
    twin.entry.outcome.outcome = &twin.outcome;
    entries[0] = &c->entry;
    entries[1] = &twin.entry;
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 2));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sem_wait(&c->done), 0);
    }
    ck_assert_int_eq(c->entry.code, WRIT_OK);
    ck_assert_int_eq(twin.entry.code, WRIT_E_INVALID);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

/* The arena of the request may be used up by the result. */
START_TEST(outcome_is_recorded_without_memory_of_its_request)
{
    writ_auto_arena full = writ_arena_new(1);
    struct writ_arena *before;
    struct writ_kit kit;
    call *c;

    ck_assert_ptr_nonnull(full);
    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    before = c->entry.arena;
    c->entry.arena = full;
    ck_assert_int_eq(submit(&kit, c), WRIT_OK);
    c->entry.arena = before;
    ck_assert_ptr_eq(c->outcome.completed_at.view.ptr, c->entry.outcome.texts.completed_at);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(outcome_joins_the_granted_decision)
{
    struct writ_kit kit;
    call *c, *other;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){.argument = "1"});
    other = writ_kit_granted(&kit, (spec){.argument = "2"});

    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    c->entry.outcome.leaf = other->leaf; /* the decision of one, the place of the other */
    ck_assert_int_eq(submit(&kit, c), WRIT_E_INVALID);
    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    c->outcome.intent_ref = other->decision.intent_ref;
    ck_assert_int_eq(submit(&kit, c), WRIT_E_MISMATCH);
    writ_kit_outcome(c, WRIT_OUTCOME_ERROR, NULL); /* an error has a type */
    ck_assert_int_eq(submit(&kit, c), WRIT_E_INVALID);
    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    c->entry.outcome.leaf = 77;
    ck_assert_int_eq(submit(&kit, c), WRIT_E_INVALID);

    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 0);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_call_free(other);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(outcome_frees_the_key_only_if_nothing_ran)
{
    static const struct {
        enum writ_outcome_kind kind;
        const char *error_type;
        bool frees;
    } rows[] = {
        {WRIT_OUTCOME_EXECUTED, NULL, false},
        {WRIT_OUTCOME_TIMEOUT, NULL, false},
        {WRIT_OUTCOME_ERROR, "upstream_failed", false},
        {WRIT_OUTCOME_ERROR, WRIT_OUTCOME_INTERRUPTED, false},
        {WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT, true},
        {WRIT_OUTCOME_BLOCKED, NULL, true},
    };
    struct writ_kit kit;
    char argument[8];

    writ_kit_start(&kit);
    for (int restart = 0; restart < 2; restart++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            spec s = {.argument = argument};
            call *c;

            (void)snprintf(argument, sizeof argument, "%d-%zu", restart, i);
            c = writ_kit_granted(&kit, s);
            ck_assert_int_eq(writ_kit_end(&kit, c, rows[i].kind, rows[i].error_type), WRIT_OK);
            writ_kit_call_free(c);
            if (restart == 1) { /* the same from the disk */
                writ_kit_close(&kit);
                writ_kit_open(&kit);
            }
            s.route = WRIT_DECISION_ALLOW;
            c = writ_kit_call(&kit, s);
            ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
            ck_assert_msg(c->entry.decision.granted == rows[i].frees, "row %zu", i);
            writ_kit_call_free(c);
        }
    }
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- recovery ---- */

START_TEST(open_records_calls_in_flight_as_interrupted)
{
    struct writ_kit kit;
    struct writ_verify_report report;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){.key = "k"});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM body JOIN record USING(leaf) WHERE kind = 2 "
                              "AND instr(bytes, "
                              "'\"error_type\":\"interrupted_execution_unknown\"') > 0"),
        1);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_E_INVALID);
    writ_kit_refused(&kit, (spec){.key = "k"}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.key = "k"}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    writ_kit_run(&kit, (spec){.key = "k2"});
    ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 0);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_with_many_interrupted_calls_uses_several_groups)
{
    struct writ_kit kit;
    char argument[8];

    writ_kit_init(&kit);
    kit.options.group_max = 8;
    writ_kit_open(&kit);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_call_free(writ_kit_granted(&kit, (spec){.argument = argument}));
    }
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_uint_eq(writ_kit_health(&kit).in_flight, 0);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 100);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 100);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- outcomes that are kept ---- */

START_TEST(outcome_after_a_failed_write_is_kept_and_written_first)
{
    struct writ_kit kit;
    struct writ_ledger_health health;
    sqlite3 *other = NULL;
    call *first, *second, *c;

    writ_kit_init(&kit);
    kit.options.busy_us = 1000;
    kit.options.retry_us = 3600 * WRIT_KIT_S;
    writ_kit_open(&kit);
    first = writ_kit_granted(&kit, (spec){.argument = "1"});
    second = writ_kit_granted(&kit, (spec){.argument = "2"});
    ck_assert_int_eq(sqlite3_open_v2(kit.path, &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);

    ck_assert_int_eq(writ_kit_end(&kit, first, WRIT_OUTCOME_EXECUTED, NULL), WRIT_E_IO);
    ck_assert(first->entry.outcome.kept);
    ck_assert_int_eq(writ_kit_end(&kit, first, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_E_INVALID);
    /* while it waits, no call is granted; another outcome waits behind it */
    c = writ_kit_call(&kit, (spec){.argument = "3", .route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_E_IO);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_end(&kit, second, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_E_IO);
    ck_assert(second->entry.outcome.kept);
    health = writ_kit_health(&kit);
    ck_assert_uint_eq(health.kept_outcomes, 2);
    ck_assert_uint_eq(health.in_flight, 2);
    ck_assert_int_eq(health.state, WRIT_LEDGER_REFUSING);

    ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    writ_kit_run(&kit, (spec){.argument = "3"});
    health = writ_kit_health(&kit);
    ck_assert_uint_eq(health.kept_outcomes, 0);
    ck_assert_uint_eq(health.in_flight, 0);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT group_concat(verdict, '') = '113' FROM (SELECT verdict FROM "
                              "record WHERE leaf BETWEEN 1 AND 3 ORDER BY leaf)"),
        1); /* allow of the second, executed, timeout: before the third call */
    (void)sqlite3_close(other);
    writ_kit_call_free(first);
    writ_kit_call_free(second);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(outcome_kept_returns_its_budget_when_written)
{
    struct writ_reservation budget = {
        .key = {{1}},
        .name = WRIT_LIT("calls"),
        .window_us = 3600 * WRIT_KIT_S,
        .amount = writ_decimal_of(1),
        .limit = writ_decimal_of(1),
    };
    struct writ_kit kit;
    sqlite3 *other = NULL;
    call *c;

    writ_kit_init(&kit);
    kit.options.busy_us = 1000;
    writ_kit_open(&kit);
    c = writ_kit_granted(&kit, (spec){.reservations = &budget, .reservations_n = 1});
    ck_assert_int_eq(sqlite3_open_v2(kit.path, &other, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_BLOCKED, NULL), WRIT_E_IO);
    ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    writ_kit_run(&kit, (spec){.reservations = &budget, .reservations_n = 1});
    writ_kit_refused(&kit, (spec){.argument = "b", .reservations = &budget, .reservations_n = 1},
        WRIT_REASON_BUDGET_EXCEEDED);
    (void)sqlite3_close(other);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- results ---- */

START_TEST(replay_gives_the_stored_result_until_it_expires)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    run_with_result(&kit, (spec){0}, WRIT_LIT("{\"x\":1}"), 100 * WRIT_KIT_S);
    for (int i = 0; i < 2; i++) {
        c = asked_again(&kit, (spec){0});
        ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_DUPLICATE_OUTCOME);
        ck_assert_view(c->entry.decision.prior.result, "{\"x\":1}");
        writ_kit_call_free(c);
        writ_kit_close(&kit);
        writ_kit_open(&kit);
    }
    /* a call that only forbids duplicates does not get it */
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    ck_assert_ptr_null(c->entry.decision.prior.result.ptr);
    writ_kit_call_free(c);

    writ_kit_pass(&kit, 200 * WRIT_KIT_S);
    c = asked_again(&kit, (spec){0});
    ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert_ptr_null(c->entry.decision.prior.result.ptr);
    writ_kit_call_free(c);
    writ_kit_turn(&kit); /* and then it is deleted */
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM result"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* A row of `result` that was changed is never returned as the result of the first call. */
START_TEST(replay_of_a_changed_result_poisons)
{
    static const char *const edits[] = {
        "UPDATE result SET bytes = x'7b7d'",
        "UPDATE result SET leaf = 102 - leaf; UPDATE result SET leaf = leaf - 100",
        "UPDATE result SET bytes = x''",
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_kit kit;
        call *c;

        writ_kit_start(&kit);
        run_with_result(&kit, (spec){.argument = "1"}, WRIT_LIT("{\"x\":1}"), 100 * WRIT_KIT_S);
        run_with_result(&kit, (spec){.argument = "2"}, WRIT_LIT("{\"x\":2}"), 100 * WRIT_KIT_S);
        writ_kit_close(&kit);
        writ_kit_sql(&kit, edits[i]);
        writ_kit_open(&kit);
        c = writ_kit_call(&kit, (spec){.argument = "1",
                                    .route = WRIT_DECISION_ALLOW,
                                    .duplicates = WRIT_DUPLICATES_REPLAY});
        ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_E_IO);
        ck_assert(!c->entry.decision.granted);
        ck_assert_ptr_null(c->entry.decision.prior.result.ptr);
        ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_POISONED);
        ck_assert_ptr_nonnull(strstr(writ_kit_health(&kit).why.text, "record 0: its kept result"));
        writ_kit_call_free(c);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* The records that name the result are older than those that a start reads. */
START_TEST(replay_by_records_that_were_changed_poisons)
{
    static const char *const edits[] = {
        "UPDATE record SET decision_id = (SELECT decision_id FROM record WHERE leaf = 2) "
        "WHERE leaf = 0",
        "UPDATE record SET decision_id = 'another' WHERE leaf = 1; UPDATE record SET decision_id = "
        "(SELECT decision_id FROM record WHERE leaf = 0) WHERE leaf = 3",
        "UPDATE body SET bytes = (SELECT bytes FROM body WHERE leaf = 3) WHERE leaf = 1",
        "UPDATE body SET bytes = (SELECT bytes FROM body WHERE leaf = 2) WHERE leaf = 0",
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_kit kit;
        call *c;

        writ_kit_start(&kit);
        run_with_result(&kit, (spec){.argument = "1"}, WRIT_LIT("{\"x\":1}"), 100 * WRIT_KIT_S);
        run_with_result(&kit, (spec){.argument = "2"}, WRIT_LIT("{\"x\":2}"), 100 * WRIT_KIT_S);
        writ_kit_run(&kit, (spec){.argument = "3"});
        writ_kit_close(&kit);
        writ_kit_sql(&kit, "UPDATE result SET bytes = (SELECT bytes FROM result WHERE leaf = 2)");
        writ_kit_sql(&kit, edits[i]);
        writ_kit_open(&kit);
        c = writ_kit_call(&kit, (spec){.argument = "1",
                                    .route = WRIT_DECISION_ALLOW,
                                    .duplicates = WRIT_DUPLICATES_REPLAY});
        ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_E_IO);
        ck_assert_ptr_null(c->entry.decision.prior.result.ptr);
        ck_assert_msg(writ_kit_health(&kit).state == WRIT_LEDGER_POISONED, "%s", edits[i]);
        writ_kit_call_free(c);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(result_without_a_digest_is_not_kept)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    writ_kit_outcome(c, WRIT_OUTCOME_EXECUTED, NULL);
    c->entry.outcome.result = WRIT_LIT("{}");
    c->entry.outcome.result_ttl_us = 100 * WRIT_KIT_S;
    ck_assert_int_eq(submit(&kit, c), WRIT_OK);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM result"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(result_of_a_call_without_replay_or_run_is_not_kept)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    run_with_result(&kit, (spec){.argument = "1"}, WRIT_LIT("x"), 0);
    c = writ_kit_granted(&kit, (spec){.argument = "2"});
    writ_kit_outcome(c, WRIT_OUTCOME_TIMEOUT, NULL);
    c->entry.outcome.result = WRIT_LIT("x");
    c->entry.outcome.result_ttl_us = 100 * WRIT_KIT_S;
    ck_assert_int_eq(submit(&kit, c), WRIT_OK);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM result"), 0);
    c = asked_again(&kit, (spec){.argument = "1"});
    ck_assert(c->entry.decision.prior.known);
    ck_assert_ptr_null(c->entry.decision.prior.result.ptr);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(result_store_drops_the_oldest_when_full)
{
    struct writ_kit kit;
    char bytes[60], argument[8];
    call *c;

    memset(bytes, 'r', sizeof bytes);
    writ_kit_init(&kit);
    kit.options.results_max_bytes = 150;
    writ_kit_open(&kit);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        run_with_result(
            &kit, (spec){.argument = argument}, writ_view(bytes, sizeof bytes), 100 * WRIT_KIT_S);
    }
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT sum(length(bytes)) FROM result"), 120);
    c = asked_again(&kit, (spec){.argument = "2"});
    ck_assert_ptr_null(c->entry.decision.prior.result.ptr);
    writ_kit_call_free(c);
    c = asked_again(&kit, (spec){.argument = "4"});
    ck_assert_uint_eq(c->entry.decision.prior.result.len, sizeof bytes);
    writ_kit_call_free(c);
    /* one that is larger than all of the room is not kept, and costs no other its place */
    run_with_result(&kit, (spec){.argument = "big"},
        WRIT_LIT("0123456789012345678901234567890123"
                 "456789012345678901234567890123456789012345678901234567890123456789012345678901234"
                 "5678901"
                 "23456789012345678901234567890"),
        100 * WRIT_KIT_S);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM result"), 2);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("ending", outcome_sent_twice_is_recorded_once,
    outcome_sent_twice_in_one_group_is_recorded_once,
    outcome_is_recorded_without_memory_of_its_request, outcome_joins_the_granted_decision,
    outcome_frees_the_key_only_if_nothing_ran, open_records_calls_in_flight_as_interrupted,
    open_with_many_interrupted_calls_uses_several_groups,
    outcome_after_a_failed_write_is_kept_and_written_first,
    outcome_kept_returns_its_budget_when_written, replay_gives_the_stored_result_until_it_expires,
    replay_of_a_changed_result_poisons, replay_by_records_that_were_changed_poisons,
    result_without_a_digest_is_not_kept, result_of_a_call_without_replay_or_run_is_not_kept,
    result_store_drops_the_oldest_when_full)
