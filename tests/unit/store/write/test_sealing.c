/* Sealing of runs. A seal counts the decisions and hashes their ids, waits for calls in flight,
 * and continues after a restart. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "evidence/json/digest.h"

#include <stdio.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define SEALED "SELECT count(*) FROM boundary WHERE seal_leaf IS NOT NULL"

START_TEST(seal_counts_decisions_and_hashes_their_ids)
{
    struct writ_kit kit;
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT], sql[256];
    uint64_t total = 0;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_run(&kit, (spec){.argument = "2"});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", &total), WRIT_OK);
    ck_assert_uint_eq(total, 2);
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("d-000000000000d-000000000001"), &digest, NULL));
    writ_digest_text(&digest, text);
    (void)snprintf(sql, sizeof sql,
        "SELECT count(*) FROM body JOIN boundary ON seal_leaf = leaf WHERE "
        "instr(bytes, '\"seal_hash\":\"%s\",\"sealed\":true') > 0",
        text);
    ck_assert_int_eq(writ_kit_number(&kit, sql), 1);
    ck_assert_uint_eq(writ_kit_health(&kit).boundaries, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(seal_hash_continues_after_a_restart)
{
    struct writ_kit kit;
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT], sql[256];

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "2"});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("d-000000000000d-000000000001"), &digest, NULL));
    writ_digest_text(&digest, text);
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM body WHERE instr(bytes, '%s') > 0", text);
    ck_assert_int_eq(writ_kit_number(&kit, sql), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(seal_of_an_unknown_boundary_is_absent_and_of_a_sealed_one_unchanged)
{
    struct writ_kit kit;
    uint64_t total = 77;

    writ_kit_start(&kit);
    ck_assert_int_eq(writ_kit_seal(&kit, "never", &total), WRIT_E_ABSENT);
    ck_assert_uint_eq(total, 77);
    writ_kit_run(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", &total), WRIT_OK);
    ck_assert_uint_eq(total, 1);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 3"), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(grant_under_a_sealed_boundary_is_refused_and_recorded_elsewhere)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    c = writ_kit_call(&kit, (spec){.argument = "b", .route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    ck_assert(!c->entry.decision.granted);
    ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_BOUNDARY_SEALED);
    ck_assert_view(c->decision.boundary_id.view, "writ:refused:2026-06-25");
    ck_assert_int_eq(c->decision.seq.value, 0);
    ck_assert_uint_eq(c->decision.evidence_refs.count, 1);
    ck_assert_view(c->decision.evidence_refs.items[0], "boundary:run");
    writ_kit_call_free(c);

    /* so is a deny: it cannot follow the seal, but keeps its reason */
    c = writ_kit_call(&kit, (spec){.argument = "c", .route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    ck_assert_int_eq(c->entry.decision.refused, WRIT_REASON_NONE);
    ck_assert_view(c->decision.boundary_id.view, "writ:refused:2026-06-25");
    ck_assert_int_eq(c->decision.seq.value, 1);
    ck_assert_view(c->decision.reason.view, "as the policy says");
    writ_kit_call_free(c);

    /* also after a restart, and a seq never begins again */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.argument = "b"}, WRIT_REASON_BOUNDARY_SEALED);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE boundary = 1"), 3);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(seq_and_running_count_continue_after_a_restart)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_run(&kit, (spec){.argument = "2"});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    c = writ_kit_granted(&kit, (spec){.argument = "3"});
    ck_assert_int_eq(c->decision.seq.value, 2);
    ck_assert_int_eq(c->decision.running_count.value, 3);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

static void
post(struct writ_entry *entry)
{
    (void)sem_post(entry->user);
}

/* A call that is granted, and behind it a seal, which posts `done`. */
static call *
seal_in_flight(struct writ_kit *kit, struct writ_entry *seal, sem_t *done)
{
    call *granted;

    writ_kit_start(kit);
    ck_assert_int_eq(sem_init(done, 0, 0), 0);
    *seal = (struct writ_entry){
        .kind = WRIT_ENTRY_SEAL,
        .done = post,
        .user = done,
        .seal = {.tenant = WRIT_LIT("acme"), .boundary_id = WRIT_LIT("run")},
    };
    granted = writ_kit_granted(kit, (spec){.argument = "1"});
    ck_assert_ok(writ_ledger_submit(kit->ledger, &seal, 1));
    return granted;
}

/* Seals "run" for an agent, at once; gives the code. */
static enum writ_code
seal_at_once(struct writ_kit *kit, const char *agent_id, struct writ_entry_seal *ret)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_SEAL,
        .seal = {.tenant = WRIT_LIT("acme"),
            .boundary_id = WRIT_LIT("run"),
            .of_agent = true,
            .agent_id = writ_view_str(agent_id),
            .at_once = true}};
    enum writ_code code;

    entry.arena = writ_arena_new(1 << 16);
    ck_assert_ptr_nonnull(entry.arena);
    code = writ_kit_submit(kit, &entry);
    if (code == WRIT_OK) {
        ck_assert_uint_lt(entry.seal.record.len, WRIT_LEDGER_RECORD_MAX);
        ck_assert(writ_view_search(entry.seal.record, WRIT_LIT("\"sealed\":true")) <
                  entry.seal.record.len);
    }
    *ret = entry.seal;
    writ_arena_free(entry.arena);
    return code;
}

START_TEST(seal_at_once_with_calls_in_flight_or_for_another_agent_changes_nothing)
{
    struct writ_kit kit;
    struct writ_entry_seal seal;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_granted(&kit, (spec){.argument = "1"});
    ck_assert_int_eq(seal_at_once(&kit, "agent", &seal), WRIT_E_BUSY);
    ck_assert_uint_eq(seal.in_flight, 1);
    writ_kit_run(&kit, (spec){.argument = "2"}); /* no run was closed */
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_eq(seal_at_once(&kit, "another", &seal), WRIT_E_ABSENT);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(seal_at_once(&kit, "another", &seal), WRIT_E_ABSENT);
    ck_assert_int_eq(seal_at_once(&kit, "agent", &seal), WRIT_OK);
    ck_assert_uint_eq(seal.total, 2);
    ck_assert_int_eq(seal_at_once(&kit, "agent", &seal), WRIT_OK);
    ck_assert_uint_eq(seal.total, 2);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(seal_waits_for_calls_in_flight_and_refuses_new_ones)
{
    struct writ_kit kit;
    struct writ_entry seal;
    sem_t done;
    call *c = seal_in_flight(&kit, &seal, &done);

    writ_kit_refused(&kit, (spec){.argument = "2"}, WRIT_REASON_BOUNDARY_SEALED);
    ck_assert_int_ne(sem_trywait(&done), 0);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 0);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    ck_assert_int_eq(sem_wait(&done), 0);
    ck_assert_int_eq(seal.code, WRIT_OK);
    ck_assert_uint_eq(seal.seal.total, 2); /* it contains the refused call */
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 1);
    writ_kit_call_free(c);
    (void)sem_destroy(&done);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(seal_that_waits_ends_when_the_ledger_closes)
{
    struct writ_kit kit;
    struct writ_entry seal;
    sem_t done;
    call *c = seal_in_flight(&kit, &seal, &done);

    writ_kit_close(&kit);
    ck_assert_int_eq(sem_trywait(&done), 0);
    ck_assert_int_eq(seal.code, WRIT_E_BUSY);
    writ_kit_call_free(c);
    (void)sem_destroy(&done);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(idle_boundary_is_sealed_and_used_one_is_not)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.boundary = "idle"});
    c = writ_kit_granted(&kit, (spec){.boundary = "busy"});
    writ_kit_pass(&kit, kit.options.boundary_idle_us - 10 * WRIT_KIT_S);
    writ_kit_run(&kit, (spec){.boundary = "late"});
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 0);
    writ_kit_pass(&kit, 20 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED " AND name = 'idle'"), 1);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 1);
    ck_assert_int_eq(writ_kit_end(&kit, c, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(idle_time_counts_while_the_ledger_is_closed)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.boundary = "idle"});
    writ_kit_close(&kit);
    atomic_fetch_add(&kit.wall_us, kit.options.boundary_idle_us); /* another boot: no mono */
    writ_kit_open(&kit);
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(session_keeps_its_boundary_open_until_it_expires)
{
    struct writ_kit kit;
    struct writ_entry put = {
        .kind = WRIT_ENTRY_SESSION_PUT,
        .session = {.hash = {{7}},
            .value = WRIT_LIT("v"),
            .tenant = WRIT_LIT("acme"),
            .boundary_id = WRIT_LIT("run")},
    };

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){0});
    put.session.expires_us = atomic_load(&kit.wall_us) + 3 * kit.options.boundary_idle_us;
    ck_assert_int_eq(writ_kit_submit(&kit, &put), WRIT_OK);
    writ_kit_pass(&kit, kit.options.boundary_idle_us + 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 0);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 0);
    writ_kit_pass(&kit, 2 * kit.options.boundary_idle_us);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 1);
    writ_kit_wipe(&kit);
}
END_TEST

/* The row of a session may be written before its boundary has a record. */
START_TEST(decision_extends_the_boundary_of_its_session)
{
    struct writ_kit kit;
    call *c;

    writ_kit_start(&kit);
    c = writ_kit_call(&kit, (spec){.route = WRIT_DECISION_DENY});
    c->entry.decision.held_until_us = atomic_load(&kit.wall_us) + 2 * kit.options.boundary_idle_us;
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_pass(&kit, kit.options.boundary_idle_us + 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 0);
    writ_kit_pass(&kit, kit.options.boundary_idle_us);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(boundary_of_refused_calls_lasts_its_day)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){0});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_kit_refused(&kit, (spec){.argument = "b"}, WRIT_REASON_BOUNDARY_SEALED);
    writ_kit_pass(&kit, kit.options.boundary_idle_us + 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 1);
    writ_kit_pass(&kit, 24 * 3600 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 2);
    writ_kit_refused(&kit, (spec){.argument = "b"}, WRIT_REASON_BOUNDARY_SEALED);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM boundary WHERE name LIKE 'writ:refused:%'"), 2);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(claims_outlive_their_boundary_for_their_time)
{
    struct writ_kit kit;
    int64_t day_us;

    writ_kit_init(&kit);
    kit.options.segment_claims = 100; /* they stay in memory, where they are counted one by one */
    writ_kit_open(&kit);
    day_us = kit.options.claim_kept_us;
    writ_kit_run(&kit, (spec){.key = "k", .boundary = "one"});
    writ_kit_run(&kit, (spec){.argument = "x", .boundary = "one"}); /* implicit key */
    ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 2);
    writ_kit_pass(&kit, kit.options.window_kept_us + day_us / 16);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 2); /* the clock may go back: a record counts */
    writ_kit_refused(&kit, (spec){.key = "k", .boundary = "two"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 1); /* an implicit key ends soon after */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.key = "k", .boundary = "two"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_pass(&kit, day_us + day_us / 16);
    writ_kit_run(&kit, (spec){.key = "k", .boundary = "three"});
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(claim_holds_while_its_boundary_is_open)
{
    struct writ_kit kit;
    int i;
    char argument[8];

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "first"});
    for (i = 0; i < 60; i++) { /* never idle, for more than a day */
        writ_kit_pass(&kit, kit.options.boundary_idle_us / 2);
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.argument = argument});
    }
    writ_kit_refused(&kit, (spec){.argument = "first"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.argument = "first"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(more_boundaries_than_one_group_takes_are_all_sealed)
{
    struct writ_kit kit;
    char name[16];

    writ_kit_start(&kit);
    for (int i = 0; i < 150; i++) {
        (void)snprintf(name, sizeof name, "run-%d", i);
        writ_kit_run(&kit, (spec){.boundary = name});
    }
    writ_kit_pass(&kit, kit.options.boundary_idle_us + 2 * WRIT_KIT_S);
    for (int i = 0; i < 4; i++) {
        writ_kit_turn(&kit);
    }
    ck_assert_int_eq(writ_kit_number(&kit, SEALED), 150);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("sealing", seal_counts_decisions_and_hashes_their_ids,
    seal_hash_continues_after_a_restart,
    seal_of_an_unknown_boundary_is_absent_and_of_a_sealed_one_unchanged,
    grant_under_a_sealed_boundary_is_refused_and_recorded_elsewhere,
    seq_and_running_count_continue_after_a_restart,
    seal_at_once_with_calls_in_flight_or_for_another_agent_changes_nothing,
    seal_waits_for_calls_in_flight_and_refuses_new_ones,
    seal_that_waits_ends_when_the_ledger_closes, idle_boundary_is_sealed_and_used_one_is_not,
    idle_time_counts_while_the_ledger_is_closed, session_keeps_its_boundary_open_until_it_expires,
    decision_extends_the_boundary_of_its_session, boundary_of_refused_calls_lasts_its_day,
    claims_outlive_their_boundary_for_their_time, claim_holds_while_its_boundary_is_open,
    more_boundaries_than_one_group_takes_are_all_sealed)
