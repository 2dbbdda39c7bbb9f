/* Calls that wait: for input, for a task, for their outcome. All rounds of a call have one claim
 * and one outcome, over restarts as well. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define HOUR_US (3600 * WRIT_KIT_S)

static struct writ_digest
named(const char *text)
{
    struct writ_digest digest;

    ck_assert_ok(writ_digest_bytes(writ_view_str(text), &digest, NULL));
    return digest;
}

/* A call that was granted and waits for input under "round". */
static call *
waiting(struct writ_kit *kit, spec s)
{
    call *c = writ_kit_granted(kit, s);

    ck_assert_int_eq(writ_kit_wait(kit, c, WRIT_WAIT_INPUT, named("round"), HOUR_US), WRIT_OK);
    return c;
}

static call *
followed(struct writ_kit *kit, const call *before, spec s)
{
    call *c = writ_kit_round(kit, before, s);

    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    ck_assert_msg(c->entry.decision.granted, "refused: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(c->entry.decision.refused)));
    return c;
}

static void
not_awaited(struct writ_kit *kit, const call *before, spec s)
{
    call *c = writ_kit_round(kit, before, s);

    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    ck_assert(!c->entry.decision.granted);
    ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_INPUT_NOT_AWAITED);
    ck_assert(writ_decision_is(&c->decision, WRIT_DECISION_DENY));
    ck_assert_int_eq(c->decision.supersedes.is, WRIT_NULL);
    writ_kit_call_free(c);
}

static void
verified(struct writ_kit *kit, uint64_t in_flight)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
    ck_assert_uint_eq(report.in_flight, in_flight);
}

START_TEST(rounds_of_a_call_have_one_claim_and_one_outcome)
{
    struct writ_kit kit;
    call *first, *second, *third, *again;

    writ_kit_start(&kit);
    first = waiting(&kit, (spec){0});
    second = followed(&kit, first, (spec){0});
    ck_assert_int_eq(
        writ_kit_wait(&kit, second, WRIT_WAIT_INPUT, named("round"), HOUR_US), WRIT_OK);
    third = followed(&kit, second, (spec){0});
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 1);
    ck_assert_uint_eq(writ_kit_health(&kit).in_flight, 1);
    ck_assert_uint_eq(writ_kit_health(&kit).waits, 0);
    ck_assert_int_eq(writ_kit_end(&kit, third, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);

    again = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, again), WRIT_OK);
    ck_assert_int_eq(again->entry.decision.refused, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert(
        writ_view_equal(again->entry.decision.prior.decision_id, third->decision.decision_id.view));
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 2);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM wait"), 0);
    writ_kit_call_free(again);
    writ_kit_call_free(third);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    verified(&kit, 0);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    verified(&kit, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(repeat_of_a_waiting_call_is_refused_as_waiting)
{
    struct writ_kit kit;
    call *first, *again;

    writ_kit_start(&kit);
    first = waiting(&kit, (spec){0});
    again = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, again), WRIT_OK);
    ck_assert_int_eq(again->entry.decision.refused, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert_int_eq(again->entry.decision.prior.waits, WRIT_WAIT_INPUT);
    writ_kit_call_free(again);
    writ_kit_call_free(followed(&kit, first, (spec){0}));
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(round_answered_twice_in_one_group_counts_once)
{
    struct writ_kit kit;
    struct writ_entry *entries[2];
    call *first, *calls[2];

    writ_kit_start(&kit);
    first = waiting(&kit, (spec){0});
    for (int i = 0; i < 2; i++) {
        calls[i] = writ_kit_round(&kit, first, (spec){0});
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 2));
    for (int i = 0; i < 2; i++) {
        while (sem_wait(&calls[i]->done) != 0) {
        }
        ck_assert_int_eq(calls[i]->entry.code, WRIT_OK);
    }
    ck_assert(calls[0]->entry.decision.granted);
    ck_assert(!calls[1]->entry.decision.granted);
    ck_assert_int_eq(calls[1]->entry.decision.refused, WRIT_REASON_INPUT_NOT_AWAITED);
    not_awaited(&kit, first, (spec){0});
    for (int i = 0; i < 2; i++) {
        writ_kit_call_free(calls[i]);
    }
    writ_kit_call_free(first);
    verified(&kit, 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(round_continues_a_waiting_call_in_its_own_boundary)
{
    struct writ_kit kit;
    call *waits, *running, *task, *wrong;

    writ_kit_start(&kit);
    waits = waiting(&kit, (spec){0});
    running = writ_kit_granted(&kit, (spec){.argument = "b"});
    task = writ_kit_granted(&kit, (spec){.argument = "c"});
    ck_assert_int_eq(writ_kit_wait(&kit, task, WRIT_WAIT_TASK, named("task"), HOUR_US), WRIT_OK);
    not_awaited(&kit, waits, (spec){.boundary = "another"});
    not_awaited(&kit, running, (spec){.argument = "b"});
    not_awaited(&kit, task, (spec){.argument = "c"});

    wrong = writ_kit_round(&kit, waits, (spec){0});
    wrong->decision.supersedes = running->decision.decision_id;
    ck_assert_int_eq(writ_kit_decide(&kit, wrong), WRIT_OK);
    ck_assert_int_eq(wrong->entry.decision.refused, WRIT_REASON_INPUT_NOT_AWAITED);
    writ_kit_call_free(wrong);
    writ_kit_call_free(followed(&kit, waits, (spec){0}));
    writ_kit_call_free(task);
    writ_kit_call_free(running);
    writ_kit_call_free(waits);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(wait_of_a_call_not_in_flight_or_waiting_is_refused)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = waiting(&kit, (spec){0});
    ck_assert_int_eq(
        writ_kit_wait(&kit, c, WRIT_WAIT_INPUT, named("other"), HOUR_US), WRIT_E_INVALID);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_eq(
        writ_kit_wait(&kit, c, WRIT_WAIT_INPUT, named("other"), HOUR_US), WRIT_E_INVALID);
    ck_assert_int_eq(writ_kit_waiting(&kit, named("round"), NULL), WRIT_E_ABSENT);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(waiting_call_is_found_by_name_after_a_restart)
{
    struct writ_kit kit;
    struct writ_entry_waiting found = {0};
    call *first, *second;

    writ_kit_start(&kit);
    first = waiting(&kit, (spec){0});
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(writ_kit_waiting(&kit, named("round"), &found), WRIT_OK);
        ck_assert_uint_eq(found.leaf, first->leaf);
        ck_assert(!found.ended);
        ck_assert_int_eq(writ_kit_waiting(&kit, named("another"), NULL), WRIT_E_ABSENT);
        writ_kit_close(&kit);
        writ_kit_open(&kit);
    }
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 0);
    second = followed(&kit, first, (spec){0});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    /* the second round had been sent: its end is unknown */
    writ_kit_refused(&kit, (spec){0}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 2);
    ck_assert_uint_eq(writ_kit_health(&kit).in_flight, 0);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    verified(&kit, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(unanswered_round_gets_its_outcome)
{
    struct writ_kit kit;
    call *first;

    writ_kit_start(&kit);
    first = waiting(&kit, (spec){0});
    writ_kit_pass(&kit, HOUR_US - 60 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 0);
    writ_kit_pass(&kit, 120 * WRIT_KIT_S);
    not_awaited(&kit, first, (spec){0});
    writ_kit_turn(&kit);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM body WHERE instr(bytes, "
                                           "'\"error_type\":\"input_expired\"') > 0"),
        1);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM wait"), 0);
    writ_kit_refused(&kit, (spec){0}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_call_free(first);
    verified(&kit, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(task_after_its_outcome_is_kept_until_its_time)
{
    struct writ_kit kit;
    struct writ_entry_waiting found = {0};
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_wait(&kit, c, WRIT_WAIT_TASK, named("task"), HOUR_US), WRIT_OK);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(writ_kit_waiting(&kit, named("task"), &found), WRIT_OK);
        ck_assert(found.ended);
        writ_kit_close(&kit);
        writ_kit_open(&kit);
    }
    writ_kit_pass(&kit, HOUR_US);
    ck_assert_int_eq(writ_kit_waiting(&kit, named("task"), NULL), WRIT_E_ABSENT);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM wait"), 0);
    ck_assert_uint_eq(writ_kit_health(&kit).waits, 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 2"), 1);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(unseen_task_end_gets_its_outcome_after_a_restart)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_wait(&kit, c, WRIT_WAIT_TASK, named("task"), HOUR_US), WRIT_OK);
    writ_kit_close(&kit);
    writ_kit_pass(&kit, 2 * HOUR_US);
    writ_kit_open(&kit);
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM body WHERE instr(bytes, "
                                           "'\"error_type\":\"task_expired\"') > 0"),
        1);
    writ_kit_call_free(c);
    verified(&kit, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(rounds_of_a_call_draw_on_a_budget_once)
{
    const struct writ_reservation budget = {
        .key = {{1}},
        .name = WRIT_LIT("calls"),
        .window_us = HOUR_US,
        .counts_calls = true,
        .amount = {.coefficient = 1},
        .limit = {.coefficient = 1},
    };
    const spec s = {.reservations = &budget, .reservations_n = 1};
    struct writ_kit kit;
    call *first, *second;

    writ_kit_start(&kit);
    first = waiting(&kit, s);
    second = followed(&kit, first, s);
    ck_assert_int_eq(
        writ_kit_end(&kit, second, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_run(&kit, s); /* no call ran: claim and budget are free again */
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(wait_beyond_the_limit_is_refused)
{
    struct writ_kit kit;
    call *first, *second;

    writ_kit_init(&kit);
    kit.options.waits_max = 1;
    writ_kit_open(&kit);
    first = waiting(&kit, (spec){0});
    second = writ_kit_granted(&kit, (spec){.argument = "b"});
    ck_assert_int_eq(
        writ_kit_wait(&kit, second, WRIT_WAIT_INPUT, named("b"), HOUR_US), WRIT_E_LIMIT);
    ck_assert_int_eq(writ_kit_end(&kit, first, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_eq(writ_kit_wait(&kit, second, WRIT_WAIT_INPUT, named("b"), HOUR_US), WRIT_OK);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(find_of_two_calls_with_one_name_gives_the_newest)
{
    const spec s = {.duplicates = WRIT_DUPLICATES_ALLOW};
    struct writ_kit kit;
    struct writ_entry_waiting found = {0};
    call *first, *second, *next;

    writ_kit_start(&kit);
    first = waiting(&kit, s);
    second = waiting(&kit, s);
    ck_assert_int_eq(writ_kit_waiting(&kit, named("round"), &found), WRIT_OK);
    ck_assert_uint_eq(found.leaf, second->leaf);
    next = followed(&kit, second, s);
    ck_assert_int_eq(writ_kit_waiting(&kit, named("round"), &found), WRIT_OK);
    ck_assert_uint_eq(found.leaf, first->leaf);
    writ_kit_call_free(next);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- calls that their caller makes ---- */

/* A call that was granted and waits to be bound. */
static call *
unbound(struct writ_kit *kit, spec s)
{
    call *c = writ_kit_granted(kit, s);

    ck_assert_int_eq(writ_kit_wait(kit, c, WRIT_WAIT_BIND, named("call"), HOUR_US), WRIT_OK);
    return c;
}

static enum writ_code
bound(struct writ_kit *kit, call *c)
{
    return writ_kit_wait(kit, c, WRIT_WAIT_RUN, named("call"), HOUR_US);
}

/* The progress of the decision with that id, or the code of the refusal. */
static enum writ_code
stage(struct writ_kit *kit, struct writ_view decision_id, enum writ_call_stage *ret)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_CALL, .call = {.decision_id = decision_id}};
    enum writ_code code;

    entry.arena = writ_arena_new(1 << 20);
    ck_assert_ptr_nonnull(entry.arena);
    code = writ_kit_submit(kit, &entry);
    if (code == WRIT_OK) {
        ck_assert(writ_view_equal(entry.call.decision.decision_id.view, decision_id));
        *ret = entry.call.stage;
    }
    writ_arena_free(entry.arena);
    return code;
}

static bool
has_ended(struct writ_kit *kit, const call *c)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_CALL,
        .call = {.decision_id = c->decision.decision_id.view, .ended = true}};
    bool ended;

    entry.arena = writ_arena_new(1 << 20);
    ck_assert_ptr_nonnull(entry.arena);
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    ended = entry.call.ended;
    writ_arena_free(entry.arena);
    return ended;
}

static void
is_at(struct writ_kit *kit, const call *c, enum writ_call_stage expected)
{
    enum writ_call_stage got = WRIT_CALL_OVER;

    ck_assert_int_eq(stage(kit, c->decision.decision_id.view, &got), WRIT_OK);
    ck_assert_int_eq(got, expected);
}

START_TEST(bind_succeeds_once_and_awaits_the_outcome)
{
    struct writ_kit kit;
    enum writ_call_stage untouched = WRIT_CALL_RUNS;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){0});
    is_at(&kit, c, WRIT_CALL_OVER); /* it is the gateway's to make */
    ck_assert(!has_ended(&kit, c));
    ck_assert_int_eq(bound(&kit, c), WRIT_E_INVALID);
    ck_assert_int_eq(writ_kit_wait(&kit, c, WRIT_WAIT_BIND, named("call"), HOUR_US), WRIT_OK);
    is_at(&kit, c, WRIT_CALL_BINDS);
    ck_assert_int_eq(bound(&kit, c), WRIT_OK);
    ck_assert_int_eq(bound(&kit, c), WRIT_E_INVALID);
    ck_assert_int_eq(
        writ_kit_wait(&kit, c, WRIT_WAIT_BIND, named("call"), HOUR_US), WRIT_E_INVALID);
    is_at(&kit, c, WRIT_CALL_RUNS);
    writ_kit_refused(&kit, (spec){0}, WRIT_REASON_DUPLICATE_IN_FLIGHT);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    is_at(&kit, c, WRIT_CALL_OVER);
    ck_assert(has_ended(&kit, c));
    ck_assert_int_eq(bound(&kit, c), WRIT_E_INVALID);
    ck_assert_uint_eq(writ_kit_health(&kit).waits, 0);
    ck_assert_int_eq(stage(&kit, WRIT_LIT("nobody"), &untouched), WRIT_E_ABSENT);
    ck_assert_int_eq(untouched, WRIT_CALL_RUNS);
    writ_kit_call_free(c);
    verified(&kit, 0);
    writ_kit_wipe(&kit);
}
END_TEST

static sem_t both;

static void
one_done(struct writ_entry *entry)
{
    (void)entry;
    (void)sem_post(&both);
}

START_TEST(bind_twice_in_one_group_succeeds_once)
{
    struct writ_kit kit;
    struct writ_entry entries[2], *list[2] = {&entries[0], &entries[1]};
    call *c;

    ck_assert_int_eq(sem_init(&both, 0, 0), 0);
    writ_kit_start(&kit);
    c = unbound(&kit, (spec){0});
    for (int i = 0; i < 2; i++) {
        entries[i] = (struct writ_entry){.kind = WRIT_ENTRY_WAIT,
            .done = one_done,
            .wait = {.leaf = c->leaf,
                .kind = WRIT_WAIT_RUN,
                .name = named("call"),
                .until_us = WRIT_KIT_WALL_US + HOUR_US}};
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, list, 2));
    for (int i = 0; i < 2; i++) {
        while (sem_wait(&both) != 0) {
        }
    }
    ck_assert_int_eq(entries[0].code, WRIT_OK);
    ck_assert_int_eq(entries[1].code, WRIT_E_INVALID);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
    (void)sem_destroy(&both);
}
END_TEST

/* A ledger with two calls that their callers make: gives the one that waits to be bound, and the
 * one that was. */
static call *
start_with_two(struct writ_kit *kit, call **ret_bound)
{
    call *first, *second;

    writ_kit_start(kit);
    first = unbound(kit, (spec){0});
    second = writ_kit_granted(kit, (spec){.argument = "b"});
    ck_assert_int_eq(writ_kit_wait(kit, second, WRIT_WAIT_BIND, named("second"), HOUR_US), WRIT_OK);
    ck_assert_int_eq(bound(kit, second), WRIT_OK);
    *ret_bound = second;
    return first;
}

START_TEST(call_of_a_caller_keeps_its_progress_after_a_restart)
{
    struct writ_kit kit;
    call *first, *second;

    first = start_with_two(&kit, &second);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    is_at(&kit, first, WRIT_CALL_BINDS);
    is_at(&kit, second, WRIT_CALL_RUNS);
    ck_assert_int_eq(bound(&kit, first), WRIT_OK);
    ck_assert_int_eq(bound(&kit, second), WRIT_E_INVALID);
    ck_assert_int_eq(writ_kit_end(&kit, second, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    verified(&kit, 1);
    writ_kit_wipe(&kit);
}
END_TEST

/* A missing answer is no proof: the key stays taken. */
START_TEST(unreported_call_may_have_run)
{
    struct writ_kit kit;
    call *first, *second;

    first = start_with_two(&kit, &second);
    writ_kit_pass(&kit, 2 * HOUR_US);
    ck_assert_int_eq(bound(&kit, first), WRIT_E_INVALID);
    writ_kit_turn(&kit);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM body WHERE instr(bytes, "
                                           "'\"error_type\":\"authorization_unused\"') > 0"),
        1);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM body WHERE instr(bytes, "
                              "'\"error_type\":\"interrupted_execution_unknown\"') > 0"),
        1);
    writ_kit_refused(&kit, (spec){0}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_refused(&kit, (spec){.argument = "b"}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    ck_assert_uint_eq(writ_kit_health(&kit).waits, 0);
    writ_kit_call_free(second);
    writ_kit_call_free(first);
    verified(&kit, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(names_differ_by_call_by_state_and_by_owner)
{
    struct writ_digest call_a = named("a"), call_b = named("b"), names[8];

    ck_assert_ok(writ_ledger_round(&call_a, writ_view(NULL, 0), &names[0], NULL));
    ck_assert_ok(writ_ledger_round(&call_a, WRIT_LIT(""), &names[1], NULL));
    ck_assert_ok(writ_ledger_round(&call_a, WRIT_LIT("s"), &names[2], NULL));
    ck_assert_ok(writ_ledger_round(&call_b, WRIT_LIT("s"), &names[3], NULL));
    ck_assert_ok(writ_ledger_task(
        WRIT_LIT("t"), WRIT_LIT("a"), WRIT_LIT("u"), WRIT_LIT("1"), &names[4], NULL));
    ck_assert_ok(writ_ledger_task(
        WRIT_LIT("ta"), WRIT_LIT(""), WRIT_LIT("u"), WRIT_LIT("1"), &names[5], NULL));
    ck_assert_ok(writ_ledger_task(
        WRIT_LIT("t"), WRIT_LIT("a"), WRIT_LIT("u1"), WRIT_LIT(""), &names[6], NULL));
    ck_assert_ok(writ_ledger_task(
        WRIT_LIT("t"), WRIT_LIT("b"), WRIT_LIT("u"), WRIT_LIT("1"), &names[7], NULL));
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < i; k++) {
            ck_assert_msg(!writ_digest_equal(&names[i], &names[k]), "%zu and %zu", i, k);
        }
    }
}
END_TEST

WRIT_UNIT_MAIN("waits", rounds_of_a_call_have_one_claim_and_one_outcome,
    repeat_of_a_waiting_call_is_refused_as_waiting, round_answered_twice_in_one_group_counts_once,
    round_continues_a_waiting_call_in_its_own_boundary,
    wait_of_a_call_not_in_flight_or_waiting_is_refused,
    waiting_call_is_found_by_name_after_a_restart, unanswered_round_gets_its_outcome,
    task_after_its_outcome_is_kept_until_its_time, unseen_task_end_gets_its_outcome_after_a_restart,
    rounds_of_a_call_draw_on_a_budget_once, wait_beyond_the_limit_is_refused,
    find_of_two_calls_with_one_name_gives_the_newest, bind_succeeds_once_and_awaits_the_outcome,
    bind_twice_in_one_group_succeeds_once, call_of_a_caller_keeps_its_progress_after_a_restart,
    unreported_call_may_have_run, names_differ_by_call_by_state_and_by_owner)
