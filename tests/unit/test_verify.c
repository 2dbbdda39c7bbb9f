#include "support/kit.h"
#include "support/unit.h"

#include "store/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

static struct writ_verify_report
verified(struct writ_kit *kit)
{
    struct writ_verify_report report;
    struct writ_err err = {0};
    writ_result result = writ_verify_ledger(kit->path, NULL, NULL, &report, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return report;
}

/* Two boundaries, one sealed: 0 allow, 1 executed, 2 allow, 3 timeout, 4 seal, 5 deny, 6 blocked,
 * 7 allow with a stated key, 8 not sent, 9 allow, in flight. */
static void
fill(struct writ_kit *kit)
{
    call *c;

    writ_kit_start(kit);
    writ_kit_run(kit, (spec){.boundary = "one", .argument = "1"});
    c = writ_kit_granted(kit, (spec){.boundary = "one", .argument = "2"});
    ck_assert_int_eq(writ_kit_end(kit, c, WRIT_OUTCOME_TIMEOUT, NULL), WRIT_OK);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_seal(kit, "one", NULL), WRIT_OK);
    c = writ_kit_call(kit, (spec){.boundary = "two", .route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    writ_kit_call_free(c);
    c = writ_kit_granted(kit, (spec){.boundary = "two", .key = "k"});
    ck_assert_int_eq(writ_kit_end(kit, c, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_call_free(writ_kit_granted(kit, (spec){.boundary = "two", .argument = "3"}));
}

START_TEST(a_ledger_as_it_is_written_is_sound)
{
    struct writ_kit kit;
    struct writ_verify_report report;

    fill(&kit);
    report = verified(&kit); /* while it is open */
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
    ck_assert_uint_eq(report.records, 10);
    ck_assert_uint_eq(report.decisions, 5);
    ck_assert_uint_eq(report.outcomes, 4);
    ck_assert_uint_eq(report.seals, 1);
    ck_assert_uint_eq(report.boundaries, 2);
    ck_assert_uint_eq(report.sealed, 1);
    ck_assert_uint_eq(report.in_flight, 1);
    writ_kit_close(&kit);
    report = verified(&kit);
    ck_assert_uint_eq(report.problems, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(an_empty_ledger_is_sound)
{
    struct writ_kit kit;

    writ_kit_init(&kit);
    ck_assert_uint_eq(verified(&kit).problems, 0);
    ck_assert_uint_eq(verified(&kit).records, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/** A change behind the ledger's back, the record that is named first, and a word of what is said.
 */
struct tamper {
    const char *sql;
    uint64_t leaf;
    const char *what;
};

#define BODY(leaf, from, to)                                                                       \
    "UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), '" from "', '" to                   \
    "') AS BLOB) WHERE leaf = " #leaf

static const struct tamper tampers[] = {
    /* the bytes of a record */
    {BODY(0, "\"reason\":\"as the", "\"reason\":\"as  the"), 0, "nothing"},
    {BODY(0, "{\"agent_id\":\"agent\"", "{ \"agent_id\":\"agent\""), 0, "canonical"},
    {BODY(0, "{\"agent_id\"", "{\"agent_id\":1,\"agent_id\""), 0, "strict"},
    {BODY(0, "}", ""), 0, "strict"},
    {BODY(0, "\"agent_id\":\"agent\"", "\"agent_id\":\"other\""), 0, ""},
    {BODY(0, "\"target\":\"file:/tmp/x\"", "\"target\":\"file:/tmp/y\""), 0, "nothing"},
    {BODY(2, "\"seq\":1", "\"seq\":2"), 2, ""},
    {BODY(2, "\"running_count\":2", "\"running_count\":3"), 2, "running_count"},
    {BODY(5, "\"decision\":\"deny\"", "\"decision\":\"allow\""), 5, ""},
    {BODY(0, "\"policy_refs\":[\"tools/write_file#0\"]", "\"policy_refs\":[]"), 0, "policy_refs"},
    {BODY(1, "\"outcome\":\"executed\"", "\"outcome\":\"timeout\""), 1, "columns"},
    {BODY(4, "\"total\":2", "\"total\":1"), 4, ""},
    {BODY(4, "\"seal_hash\":\"sha256:", "\"seal_hash\":\"sha256:0"), 4, ""},
    {"UPDATE body SET bytes = X'FF' WHERE leaf = 3", 3, "strict"},
    {"UPDATE body SET bytes = (SELECT bytes FROM body WHERE leaf = 2) WHERE leaf = 0", 0, ""},
    /* the columns beside it */
    {"UPDATE record SET verdict = 0 WHERE leaf = 0", 0, "columns"},
    {"UPDATE record SET agent_id = 'other' WHERE leaf = 0", 0, "columns"},
    {"UPDATE record SET tool = 'other' WHERE leaf = 0", 0, "columns"},
    {"UPDATE record SET boundary = 2 WHERE leaf = 2", 2, "boundary"},
    {"UPDATE record SET time_us = time_us - 1000000 WHERE leaf = 2", 2, "time"},
    {"UPDATE record SET seq = 7 WHERE leaf = 2", 2, "columns"},
    {"UPDATE record SET flags = 1 WHERE leaf = 5", 5, "granted that was not allowed"},
    {"UPDATE record SET flags = 0 WHERE leaf = 0", 0, "not granted"},
    {"UPDATE record SET flags = 4 WHERE leaf = 1", 1, "columns"},
    {"UPDATE record SET kind = 2 WHERE leaf = 0", 0, ""},
    {"UPDATE record SET kind = 9 WHERE leaf = 0", 0, "ledger writes"},
    {"UPDATE record SET claim = zeroblob(48) WHERE leaf = 7", 7, "claimed"},
    {"UPDATE record SET claim = X'00' WHERE leaf = 7", 7, "ledger writes"},
    {"UPDATE record SET decision_id = 'd-000000000000' WHERE leaf = 2", 2, ""},
    {"UPDATE record SET about = 2 WHERE leaf = 1", 1, ""},
    /* what is not there, or too often */
    {"DELETE FROM record WHERE leaf = 1; DELETE FROM body WHERE leaf = 1", 1, "missing"},
    {"DELETE FROM record WHERE leaf = 0; DELETE FROM body WHERE leaf = 0", 0, "missing"},
    {"DELETE FROM body WHERE leaf = 3", 3, "strict"},
    {"DELETE FROM record WHERE leaf = 9", 0, "without"},
    {"INSERT INTO body VALUES(10, X'7B7D')", 0, "without"},
    {"INSERT INTO record SELECT 10, kind, boundary, seq, time_us + 9000000, verdict, flags, about, "
     "decision_id, agent_id, tool, claim FROM record WHERE leaf = 8; INSERT INTO body SELECT 10, "
     "bytes FROM body WHERE leaf = 8",
        10, ""},
    /* boundaries */
    {"UPDATE boundary SET seal_leaf = NULL WHERE name = 'one'", 4, "columns"},
    {"UPDATE boundary SET seal_leaf = 9 WHERE name = 'two'", 9, "seal"},
    {"UPDATE boundary SET name = 'uno' WHERE name = 'one'", 0, "columns"},
    {"UPDATE boundary SET tenant = 'globex' WHERE name = 'one'", 0, ""},
    {"UPDATE boundary SET first_leaf = 1 WHERE name = 'one'", 0, "begin"},
    {"DELETE FROM boundary WHERE name = 'one'", 0, "no row"},
};

START_TEST(every_change_is_found_and_the_first_bad_record_named)
{
    for (size_t i = 0; i < sizeof tampers / sizeof tampers[0]; i++) {
        const struct tamper *row = &tampers[i];
        struct writ_verify_report report;
        struct writ_kit kit;

        fill(&kit);
        writ_kit_close(&kit);
        writ_kit_sql(&kit, row->sql);
        report = verified(&kit);
        if (strcmp(row->what, "nothing") == 0) {
            /* target and reason are in no digest; only a tree over the log could tell */
            ck_assert_uint_eq(report.problems, 0);
        } else {
            ck_assert_msg(report.problems > 0, "%s", row->sql);
            ck_assert_msg(
                report.list[0].leaf == row->leaf && strstr(report.list[0].what, row->what) != NULL,
                "%s: record %llu: %s", row->sql, (unsigned long long)report.list[0].leaf,
                report.list[0].what);
        }
        writ_kit_wipe(&kit);
    }
}
END_TEST

static bool
stop_at_once(void *ctx, uint64_t done, uint64_t all)
{
    ck_assert_uint_le(done, all);
    (*(int *)ctx)++;
    return false;
}

START_TEST(a_verification_can_be_stopped)
{
    struct writ_kit kit;
    struct writ_verify_report report = {.records = 77};
    int asked = 0;

    fill(&kit);
    ck_assert_code(writ_verify_ledger(kit.path, stop_at_once, &asked, &report, NULL), WRIT_E_BUSY);
    ck_assert_int_eq(asked, 1);
    ck_assert_uint_eq(report.records, 77);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(more_problems_than_are_listed_are_counted)
{
    struct writ_kit kit;
    struct writ_verify_report report;
    char argument[8];

    writ_kit_start(&kit);
    for (int i = 0; i < 2 * WRIT_VERIFY_PROBLEMS; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.argument = argument});
    }
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "UPDATE record SET tool = 'other' WHERE kind = 1");
    report = verified(&kit);
    ck_assert_uint_eq(report.problems, 2 * WRIT_VERIFY_PROBLEMS);
    ck_assert_uint_eq(report.list[WRIT_VERIFY_PROBLEMS - 1].leaf, 2 * (WRIT_VERIFY_PROBLEMS - 1));
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(what_is_no_ledger_is_not_verified)
{
    struct writ_kit kit;
    struct writ_verify_report report = {.records = 77};

    writ_kit_init(&kit);
    writ_kit_sql(&kit, "PRAGMA application_id = 1");
    ck_assert_code(writ_verify_ledger(kit.path, NULL, NULL, &report, NULL), WRIT_E_PARSE);
    ck_assert_code(
        writ_verify_ledger("/nowhere/ledger.db", NULL, NULL, &report, NULL), WRIT_E_ABSENT);
    ck_assert_uint_eq(report.records, 77);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("verify", a_ledger_as_it_is_written_is_sound, an_empty_ledger_is_sound,
    every_change_is_found_and_the_first_bad_record_named, a_verification_can_be_stopped,
    more_problems_than_are_listed_are_counted, what_is_no_ledger_is_not_verified)
