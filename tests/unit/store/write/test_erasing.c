/* Destroying kept contents. Afterwards no wrapped key of them is in any file of the ledger, however
 * SQLite had moved the rows; the records, their proofs and all other contents are as before. */
#include "support/store/contents_kit.h"
#include "support/unit.h"

#include "store/read/reader.h"
#include "store/read/verify.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;

#define ARENA  ((size_t)4 << 20)
#define MARKER "plain-text-marker"

static void
start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_contents_kit_key(kit);
    writ_kit_open(kit);
}

static enum writ_content_state
state_of(struct writ_kit *kit, const char *id, enum writ_content_part part)
{
    writ_auto_contents contents = writ_contents_kit_open(kit);
    writ_auto_arena arena = writ_arena_new(ARENA);
    struct writ_contents_call call = {0};

    ck_assert_ok(writ_contents_get(contents, writ_view_str(id), arena, &call, NULL));
    return part == WRIT_CONTENT_ARGUMENTS ? call.arguments.state : call.result.state;
}

static void
is_sound(struct writ_kit *kit)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
}

/** A call of each, in this order: agent "a" of acme, "b" of acme, "a" of globex. */
static void
three_calls(struct writ_kit *kit, char ids[3][32])
{
    writ_contents_kit_run(kit, (spec){.agent = "a", .argument = "1"}, "1", 0, ids[0]);
    writ_contents_kit_run(kit, (spec){.agent = "b", .argument = "2"}, "2", 0, ids[1]);
    writ_kit_pass(kit, 10 * WRIT_KIT_S);
    writ_contents_kit_run(
        kit, (spec){.agent = "a", .tenant = "globex", .argument = "3"}, "3", 0, ids[2]);
}

START_TEST(erase_destroys_the_contents_that_it_selects)
{
    static const struct {
        struct writ_entry_erase erase;
        const char *gone; /* of the three calls */
    } cases[] = {
        {{.decision_id = WRIT_LIT("d-000000000001")}, "2"},
        {{.agent_id = WRIT_LIT("a")}, "13"},
        {{.agent_id = WRIT_LIT("a"), .tenant = WRIT_LIT("acme")}, "1"},
        {{.tenant = WRIT_LIT("acme")}, "12"},
        {{.before_us = WRIT_KIT_WALL_US + 5 * WRIT_KIT_S}, "12"},
        {{.decision_id = WRIT_LIT("d-000000000001"), .tenant = WRIT_LIT("globex")}, ""},
        {{.agent_id = WRIT_LIT("nobody")}, ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_entry_erase erase = cases[i].erase;
        struct writ_kit kit;
        char ids[3][32];

        start(&kit);
        three_calls(&kit, ids);
        ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
        ck_assert_uint_eq(erase.contents, 2 * strlen(cases[i].gone));
        ck_assert(!erase.held);
        for (int call = 0; call < 3; call++) {
            enum writ_content_state want =
                strchr(cases[i].gone, '1' + call) != NULL ? WRIT_CONTENT_ERASED : WRIT_CONTENT_KEPT;

            ck_assert_int_eq(state_of(&kit, ids[call], WRIT_CONTENT_ARGUMENTS), want);
            ck_assert_int_eq(state_of(&kit, ids[call], WRIT_CONTENT_RESULT), want);
        }
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM meta WHERE name IN "
                                               "('erasing', 'uncut')"),
            0);
        is_sound(&kit);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(erase_without_a_selection_or_a_name_is_refused)
{
    struct writ_kit kit;
    struct writ_entry entry = {.kind = WRIT_ENTRY_ERASE, .erase = {.by = WRIT_LIT("x")}};
    char id[WRIT_LEDGER_NAME_MAX + 1];

    start(&kit);
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_INVALID);
    entry.erase = (struct writ_entry_erase){.tenant = WRIT_LIT("acme")};
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_INVALID);
    memset(id, 'x', sizeof id);
    entry.erase =
        (struct writ_entry_erase){.by = WRIT_LIT("x"), .decision_id = writ_view(id, sizeof id)};
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_LIMIT);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

static WRIT_RESULT
hear(void *ctx, const struct writ_fact *fact, struct writ_err *err)
{
    int *n = ctx;

    (void)err;
    ck_assert_int_eq(fact->event, WRIT_FACT_CONTENTS_ERASED);
    ck_assert_view(writ_json_string(writ_json_get(fact->data, WRIT_LIT("by"))), "tester");
    ck_assert_view(writ_json_string(writ_json_get(fact->data, WRIT_LIT("agent_id"))), "a");
    (*n)++;
    return WRIT_DONE;
}

START_TEST(erase_is_recorded_with_the_name_of_its_author)
{
    struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};
    writ_auto_reader reader = NULL;
    struct writ_kit kit;
    char ids[3][32];
    int n = 0;

    start(&kit);
    three_calls(&kit, ids);
    ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
    ck_assert_uint_eq(erase.leaf, 6);
    ck_assert_ok(writ_reader_open(kit.path, &reader, NULL));
    ck_assert_ok(writ_reader_facts(reader, hear, &n, NULL));
    ck_assert_int_eq(n, 1);
    writ_reader_close(WRIT_TAKE(reader));
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- what remains on disk ---- */

static void
fill(struct writ_kit *kit, int calls, const char *agent, const char *text, int from)
{
    for (int i = 0; i < calls; i++) {
        char argument[2048];

        (void)snprintf(
            argument, sizeof argument, "\"%s %d %*s\"", text, from + i, i * 37 % 1500, "");
        writ_contents_kit_run(kit, (spec){.agent = agent, .argument = argument, .boundary = agent},
            argument, 0, NULL);
    }
}

#define OF_AGENT(agent)                                                                            \
    "leaf IN (SELECT leaf FROM record WHERE agent_id = '" agent                                    \
    "') OR leaf IN (SELECT o.leaf FROM "                                                           \
    "record AS d JOIN record AS o ON o.about = d.leaf WHERE d.agent_id = '" agent "')"

START_TEST(erase_leaves_no_key_in_any_file)
{
    struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};
    struct writ_contents_kit_keys gone, kept;
    struct writ_kit kit;

    start(&kit);
    for (int i = 0; i < 4; i++) {
        fill(&kit, 150, "a", "one", 1000 * i);
        fill(&kit, 100, "b", "two", 1000 * i);
    }
    gone = writ_contents_kit_keys(&kit, OF_AGENT("a"));
    kept = writ_contents_kit_keys(&kit, OF_AGENT("b"));
    ck_assert_uint_eq(gone.n, 1200);
    ck_assert_uint_ge(writ_contents_kit_remaining(&kit, &gone), gone.n); /* it can be found */
    ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
    ck_assert_uint_eq(erase.contents, gone.n);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &gone), 0);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &kept), kept.n);
    ck_assert_uint_eq(writ_contents_kit_count(&kit, WRIT_LIT("\"one ")), 0);
    is_sound(&kit);
    writ_kit_close(&kit);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &gone), 0);
    writ_kit_open(&kit);
    is_sound(&kit);
    writ_contents_kit_keys_free(&gone);
    writ_contents_kit_keys_free(&kept);
    writ_kit_wipe(&kit);
}
END_TEST

#define ROUNDS   16
#define ROUND_US (61 * WRIT_KIT_S) /* the log is cut once a minute */

/* Rows come and go in every order, so that pages split and merge. A key must not stay behind where
 * its row once was. */
START_TEST(expiry_after_pages_split_and_merged_leaves_no_key)
{
    struct writ_contents_kit_keys gone[ROUNDS];
    struct writ_kit kit;
    unsigned lives = 1;

    start(&kit);
    for (int round = 0; round < ROUNDS; round++) {
        char condition[128];

        for (int i = 0; i < 60; i++) {
            char argument[512];

            (void)snprintf(argument, sizeof argument, "\"%d %d %*s\"", round, i, i * 37 % 400, "");
            lives = lives * 1103515245U + 12345U;
            writ_contents_kit_run(&kit, (spec){.argument = argument}, argument,
                (1 + (lives >> 16) % 6) * ROUND_US - WRIT_KIT_S, NULL);
        }
        (void)snprintf(condition, sizeof condition,
            "leaf IN (SELECT leaf FROM content WHERE expires_us <= %lld)",
            (long long)(atomic_load(&kit.wall_us) + ROUND_US));
        gone[round] = writ_contents_kit_keys(&kit, condition);
        ck_assert_uint_gt(gone[round].n, 0);
        writ_kit_pass(&kit, ROUND_US);
        (void)snprintf(condition, sizeof condition,
            "SELECT count(*) FROM content WHERE expires_us <= %lld",
            (long long)atomic_load(&kit.wall_us));
        do {
            writ_kit_turn(&kit);
        } while (writ_kit_number(&kit, condition) > 0);
        writ_contents_kit_settle(&kit);
        for (int i = 0; i <= round; i++) {
            ck_assert_msg(
                writ_contents_kit_remaining(&kit, &gone[i]) == 0, "round %d, keys of %d", round, i);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        writ_contents_kit_keys_free(&gone[i]);
    }
    is_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_are_deleted_when_their_time_is_over)
{
    struct writ_contents_kit_keys gone;
    struct writ_kit kit;
    char early[32], late[32];

    start(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "1"}, "1", 30 * WRIT_KIT_S, early);
    writ_contents_kit_run(&kit, (spec){.argument = "2"}, "2", 0, late);
    gone = writ_contents_kit_keys(&kit, "leaf < 2");
    ck_assert_uint_eq(gone.n, 2);
    writ_kit_pass(&kit, 31 * WRIT_KIT_S);
    do {
        writ_kit_turn(&kit);
    } while (writ_kit_number(&kit, "SELECT count(*) FROM content") != 2);
    writ_contents_kit_settle(&kit);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &gone), 0);
    ck_assert_int_eq(state_of(&kit, early, WRIT_CONTENT_RESULT), WRIT_CONTENT_ERASED);
    ck_assert_int_eq(state_of(&kit, late, WRIT_CONTENT_RESULT), WRIT_CONTENT_KEPT);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM content_key"), 4);

    /* the next time the log is cut a minute later */
    writ_contents_kit_keys_free(&gone);
    gone = writ_contents_kit_keys(&kit, "leaf IN (2, 3)");
    writ_kit_sql(&kit, "UPDATE content SET expires_us = 1");
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    do {
        writ_kit_turn(&kit);
    } while (writ_kit_number(&kit, "SELECT count(*) FROM content") != 0);
    writ_kit_turn(&kit);
    ck_assert(writ_kit_health(&kit).wal_uncut);
    writ_kit_pass(&kit, 61 * WRIT_KIT_S);
    writ_contents_kit_settle(&kit);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &gone), 0);
    writ_contents_kit_keys_free(&gone);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(erase_with_a_reader_ends_held_and_is_finished_when_it_goes)
{
    struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};
    struct writ_entry *entries[1];
    struct writ_entry entry = {.kind = WRIT_ENTRY_ERASE};
    struct writ_contents_kit_keys gone;
    struct writ_kit_call *call;
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    struct writ_kit kit;

    start(&kit);
    fill(&kit, 20, "a", "one", 0);
    gone = writ_contents_kit_keys(&kit, OF_AGENT("a"));
    ck_assert_int_eq(sqlite3_open(kit.path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT * FROM record", -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW); /* it stands in the log */

    call = writ_kit_call(&kit, (spec){.argument = "for its semaphore"});
    entry.done = call->entry.done;
    entry.user = call->entry.user;
    entry.erase = erase;
    entry.erase.by = WRIT_LIT("tester");
    entries[0] = &entry;
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, 1));
    while (
        sem_trywait(&call->done) != 0) { /* it waits for the reader until five seconds are over */
        writ_kit_turn(&kit);
        writ_kit_pass(&kit, WRIT_KIT_S / 2);
    }
    ck_assert_int_eq(entry.code, WRIT_OK);
    ck_assert(entry.erase.held);
    ck_assert_uint_eq(entry.erase.contents, gone.n);
    ck_assert(writ_kit_health(&kit).wal_uncut);

    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    writ_kit_pass(&kit, 61 * WRIT_KIT_S);
    writ_contents_kit_settle(&kit);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &gone), 0);
    writ_contents_kit_keys_free(&gone);
    writ_kit_call_free(call);
    writ_kit_wipe(&kit);
}
END_TEST

/* A result that is kept for replay is in clear. */
static void
run_for_replay(struct writ_kit *kit, spec s, const char *result, int64_t ttl_us)
{
    struct writ_kit_call *call;

    s.duplicates = WRIT_DUPLICATES_REPLAY;
    call = writ_contents_kit_call(kit, s, 0);
    ck_assert_int_eq(writ_kit_decide(kit, call), WRIT_OK);
    writ_contents_kit_outcome(kit, call, result, 0);
    call->entry.outcome.result = writ_view_str(result);
    call->entry.outcome.result_ttl_us = ttl_us;
    ck_assert_int_eq(writ_kit_submit(kit, &call->entry), WRIT_OK);
    writ_kit_call_free(call);
}

#define REPLAYED 400

/* Results of three agents, of which one's have gone before in several steps, so that SQLite has
 * moved the others. */
static void
replay_and_erase(unsigned drawn)
{
    static const char *const agents[] = {"a", "b", "c", "c"};
    struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};
    struct writ_kit kit;

    start(&kit);
    for (int i = 0; i < REPLAYED; i++) {
        const char *agent;
        char argument[64], result[2048];

        drawn = drawn * 1103515245U + 12345U;
        agent = agents[(drawn >> 28) % 4];
        (void)snprintf(argument, sizeof argument, "%d", i);
        (void)snprintf(result, sizeof result, "\"%s %*s\"", agent[0] == 'a' ? MARKER : "other",
            (int)((drawn >> 16) % 1500), "");
        run_for_replay(&kit,
            (spec){.agent = agent, .argument = argument, .boundary = "r", .tool = agent}, result,
            (agent[0] == 'c' ? 1 + (int64_t)(drawn >> 24) % 8 : 60) * 60 * WRIT_KIT_S);
    }
    for (int i = 0; i < 8; i++) {
        writ_kit_pass(&kit, 61 * WRIT_KIT_S);
        writ_kit_turn(&kit);
    }
    ck_assert_int_lt(writ_kit_number(&kit, "SELECT count(*) FROM result"), REPLAYED * 2 / 3);
    ck_assert_uint_gt(writ_contents_kit_count(&kit, WRIT_LIT(MARKER)), 0);
    ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
    ck_assert_uint_eq(writ_contents_kit_count(&kit, WRIT_LIT(MARKER)), 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM result"),
        writ_kit_number(&kit, "SELECT count(*) FROM record WHERE agent_id = 'b'"));
    is_sound(&kit);
    writ_kit_wipe(&kit);
}

/* The result of a call that is under way comes after the erase. */
START_TEST(erase_of_a_call_under_way_keeps_no_result_of_it)
{
    struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};
    struct writ_kit kit;
    struct writ_kit_call *call;
    char id[32];

    start(&kit);
    call = writ_contents_kit_call(&kit, (spec){.agent = "a", .argument = "1"}, 0);
    ck_assert_int_eq(writ_kit_decide(&kit, call), WRIT_OK);
    (void)snprintf(id, sizeof id, WRIT_VIEW_FMT, WRIT_VIEW_ARG(call->decision.decision_id.view));
    ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
    ck_assert_uint_eq(erase.contents, 1);
    writ_contents_kit_outcome(&kit, call, "\"" MARKER "\"", 0);
    call->entry.outcome.result = WRIT_LIT("\"" MARKER "\"");
    call->entry.outcome.result_ttl_us = WRIT_KIT_S;
    ck_assert_int_eq(writ_kit_submit(&kit, &call->entry), WRIT_OK);
    writ_kit_call_free(call);
    ck_assert_int_eq(state_of(&kit, id, WRIT_CONTENT_RESULT), WRIT_CONTENT_ERASED);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM content"), 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM result"), 0);
    ck_assert_uint_eq(writ_contents_kit_count(&kit, WRIT_LIT(MARKER)), 0);
    is_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* A call under way whose arguments were not kept, as those that are too long; its result is kept
 * when it comes. */
static struct writ_kit_call *
begin_unkept(struct writ_kit *kit, spec s, char id[32])
{
    struct writ_kit_call *call = writ_contents_kit_call(kit, s, 0);

    call->entry.decision.content = NULL;
    ck_assert_int_eq(writ_kit_decide(kit, call), WRIT_OK);
    (void)snprintf(id, 32, WRIT_VIEW_FMT, WRIT_VIEW_ARG(call->decision.decision_id.view));
    return call;
}

static void
end_unkept(struct writ_kit *kit, struct writ_kit_call *call, const char *result)
{
    writ_contents_kit_outcome(kit, call, result, 0);
    ck_assert_int_eq(writ_kit_submit(kit, &call->entry), WRIT_OK);
    writ_kit_call_free(call);
}

START_TEST(erase_selects_a_call_under_way_whose_arguments_were_not_kept)
{
    static const struct {
        struct writ_entry_erase erase;
        const char *gone; /* of the calls of agent "a" of acme, "b" of acme, "a" of globex */
    } cases[] = {
        {{.agent_id = WRIT_LIT("a")}, "13"},
        {{.tenant = WRIT_LIT("globex")}, "3"},
        {{.decision_id = WRIT_LIT("d-000000000001")}, "2"},
        {{.before_us = WRIT_KIT_WALL_US + WRIT_KIT_S}, "123"},
        {{.before_us = WRIT_KIT_WALL_US - WRIT_KIT_S}, ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_entry_erase erase = cases[i].erase;
        struct writ_kit_call *calls[3];
        struct writ_kit kit;
        char ids[3][32];

        start(&kit);
        calls[0] = begin_unkept(&kit, (spec){.agent = "a", .argument = "1"}, ids[0]);
        calls[1] = begin_unkept(&kit, (spec){.agent = "b", .argument = "2"}, ids[1]);
        calls[2] =
            begin_unkept(&kit, (spec){.agent = "a", .tenant = "globex", .argument = "3"}, ids[2]);
        ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
        ck_assert_uint_eq(erase.contents, 0);
        for (int call = 0; call < 3; call++) {
            bool gone = strchr(cases[i].gone, '1' + call) != NULL;

            end_unkept(&kit, calls[call], "\"" MARKER "\"");
            ck_assert_int_eq(state_of(&kit, ids[call], WRIT_CONTENT_RESULT),
                gone ? WRIT_CONTENT_ERASED : WRIT_CONTENT_KEPT);
        }
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM content"),
            (int64_t)(3 - strlen(cases[i].gone)));
        is_sound(&kit);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* A task is under way over a restart; `begun`: the erase was not recorded before it. */
static void
erase_over_a_restart(bool begun)
{
    struct writ_entry_erase erase = {.agent_id = WRIT_LIT("a")};
    struct writ_kit_call *task, *other;
    struct writ_kit kit;
    char ids[2][32];

    start(&kit);
    task = begin_unkept(&kit, (spec){.agent = "a", .argument = "1"}, ids[0]);
    other = begin_unkept(&kit, (spec){.agent = "b", .argument = "2"}, ids[1]);
    ck_assert_int_eq(
        writ_kit_wait(&kit, task, WRIT_WAIT_TASK, (struct writ_digest){{1}}, 3600 * WRIT_KIT_S),
        WRIT_OK);
    ck_assert_int_eq(
        writ_kit_wait(&kit, other, WRIT_WAIT_TASK, (struct writ_digest){{2}}, 3600 * WRIT_KIT_S),
        WRIT_OK);
    if (!begun) {
        ck_assert_int_eq(writ_contents_kit_erase(&kit, &erase), WRIT_OK);
    }
    writ_kit_close(&kit);
    if (begun) {
        writ_kit_sql(&kit,
            "INSERT INTO meta(name, value) VALUES('erasing', "
            "'{\"end\":2,\"what\":{\"agent_id\":\"a\",\"by\":\"tester\",\"count\":0}}')");
    }
    writ_kit_open(&kit);
    end_unkept(&kit, task, "\"" MARKER "\"");
    end_unkept(&kit, other, "\"other\"");
    ck_assert_int_eq(state_of(&kit, ids[0], WRIT_CONTENT_RESULT), WRIT_CONTENT_ERASED);
    ck_assert_int_eq(state_of(&kit, ids[1], WRIT_CONTENT_RESULT), WRIT_CONTENT_KEPT);
    is_sound(&kit);
    writ_kit_wipe(&kit);
}

START_TEST(erase_selects_a_continued_task_after_a_restart)
{
    erase_over_a_restart(false);
    erase_over_a_restart(true);
}
END_TEST

START_TEST(erase_covers_results_that_are_kept_for_replay)
{
    /* of these, a copy of one stays when the table is not rewritten */
    replay_and_erase(7);
    replay_and_erase(10);
    replay_and_erase(16);
}
END_TEST

START_TEST(erase_that_was_begun_is_finished_by_the_next_start)
{
    struct writ_contents_kit_keys gone;
    struct writ_kit kit;

    start(&kit);
    fill(&kit, 10, "a", "one", 0);
    fill(&kit, 10, "b", "one", 100);
    gone = writ_contents_kit_keys(&kit, OF_AGENT("a"));
    writ_kit_close(&kit);
    writ_kit_sql(&kit,
        "INSERT INTO meta(name, value) VALUES('erasing', "
        "'{\"end\":40,\"what\":{\"agent_id\":\"a\",\"by\":\"tester\",\"count\":3}}')");
    writ_kit_open(&kit);
    do {
        writ_kit_turn(&kit);
    } while (writ_kit_number(&kit, "SELECT count(*) FROM meta WHERE name = 'erasing'") > 0);
    writ_contents_kit_settle(&kit);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &gone), 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM content"), 20);
    ck_assert_uint_eq(writ_contents_kit_count(&kit, WRIT_LIT("\"by\":\"tester\",\"count\":23")), 1);
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "INSERT INTO meta(name, value) VALUES('erasing', '{}')");
    ck_assert_code(writ_ledger_open(kit.path, &kit.options, &kit.ledger, NULL), WRIT_E_MISMATCH);
    writ_contents_kit_keys_free(&gone);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("erasing", erase_destroys_the_contents_that_it_selects,
    erase_without_a_selection_or_a_name_is_refused, erase_is_recorded_with_the_name_of_its_author,
    erase_leaves_no_key_in_any_file, expiry_after_pages_split_and_merged_leaves_no_key,
    contents_are_deleted_when_their_time_is_over,
    erase_with_a_reader_ends_held_and_is_finished_when_it_goes,
    erase_of_a_call_under_way_keeps_no_result_of_it,
    erase_selects_a_call_under_way_whose_arguments_were_not_kept,
    erase_selects_a_continued_task_after_a_restart, erase_covers_results_that_are_kept_for_replay,
    erase_that_was_begun_is_finished_by_the_next_start)
