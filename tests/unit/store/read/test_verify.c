/* The verification of a ledger. Every change of a file is found, the first bad record is named,
 * and no statement scans a whole table. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/read/check.tbl.h"
#include "store/read/reader.h"
#include "store/read/verify.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

static struct writ_verify_report
verified(struct writ_kit *kit)
{
    struct writ_verify_report report;
    struct writ_err err = {0};
    writ_result result = writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return report;
}

START_TEST(verify_of_a_live_ledger_finds_no_problem)
{
    struct writ_kit kit;
    struct writ_verify_report report;

    writ_kit_start(&kit);
    writ_kit_two_runs(&kit, NULL);
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

/* Writers that keep a ledger busy. */
#define WRITERS 4
static struct writ_kit busy;
static atomic_int writer;
static atomic_bool enough;

static void *
keep_writing(void *arg)
{
    int number = atomic_fetch_add(&writer, 1);

    (void)arg;
    for (int i = 0; !atomic_load(&enough); i++) {
        char text[32];

        (void)snprintf(text, sizeof text, "%d.%d", number, i);
        writ_kit_run(&busy, (spec){.argument = text, .boundary = i % 7 == 0 ? text : NULL});
    }
    return NULL;
}

START_TEST(verify_beside_a_busy_writer_finds_no_problem)
{
    pthread_t writers[WRITERS];
    uint64_t records = 0;

    writ_kit_start(&busy);
    for (size_t i = 0; i < WRITERS; i++) {
        ck_assert_int_eq(pthread_create(&writers[i], NULL, keep_writing, NULL), 0);
    }
    while (records < 3000) {
        struct writ_verify_report report = verified(&busy);

        ck_assert_msg(report.problems == 0, "of %llu records, record %llu: %s",
            (unsigned long long)report.records, (unsigned long long)report.list[0].leaf,
            report.list[0].what);
        records = report.records;
    }
    atomic_store(&enough, true);
    for (size_t i = 0; i < WRITERS; i++) {
        ck_assert_int_eq(pthread_join(writers[i], NULL), 0);
    }
    writ_kit_wipe(&busy);
}
END_TEST

START_TEST(verify_of_an_empty_ledger_finds_no_problem)
{
    struct writ_kit kit;

    writ_kit_init(&kit);
    ck_assert_uint_eq(verified(&kit).problems, 0);
    ck_assert_uint_eq(verified(&kit).records, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/** A change of a closed ledger, the first record to be named, and a word of the message. */
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
    {BODY(0, "\"reason\":\"as the", "\"reason\":\"as  the"), 0, "in the tree"},
    {BODY(0, "{\"agent_id\":\"agent\"", "{ \"agent_id\":\"agent\""), 0, "canonical"},
    {BODY(0, "{\"agent_id\"", "{\"agent_id\":1,\"agent_id\""), 0, "strict"},
    {BODY(0, "}", ""), 0, "strict"},
    {BODY(0, "\"agent_id\":\"agent\"", "\"agent_id\":\"other\""), 0, ""},
    {BODY(0, "\"target\":\"file:/tmp/x\"", "\"target\":\"file:/tmp/y\""), 0, "in the tree"},
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
    {"UPDATE record SET flags = 1 WHERE leaf = 5", 5, "columns"},
    {"UPDATE record SET flags = 0 WHERE leaf = 0", 0, "columns"},
    {"UPDATE record SET flags = flags + 2 - 4 * (flags & 2) / 2 WHERE leaf = 7", 7, "columns"},
    {"UPDATE record SET claim = NULL WHERE leaf = 7", 7, "columns"},
    {"UPDATE record SET claim = (SELECT claim FROM record WHERE leaf = 0) WHERE leaf = 7", 7,
        "columns"},
    {"UPDATE record SET flags = 16, about = 0 WHERE leaf = 2", 2, ""},
    {"UPDATE record SET flags = 8 WHERE leaf = 1", 1, "columns"},
    {"UPDATE record SET flags = 1 WHERE leaf = 4", 4, "cannot have"},
    {"UPDATE record SET flags = 4 WHERE leaf = 1", 1, "columns"},
    {"UPDATE record SET kind = 2 WHERE leaf = 0", 0, ""},
    {"UPDATE record SET kind = 9 WHERE leaf = 0", 0, "ledger writes"},
    {"UPDATE record SET claim = zeroblob(48) WHERE leaf = 7", 7, "columns"},
    {"UPDATE record SET claim = X'00' WHERE leaf = 7", 7, "ledger writes"},
    {"UPDATE record SET decision_id = 'd-000000000000' WHERE leaf = 2", 2, ""},
    {"UPDATE record SET about = 2 WHERE leaf = 1", 1, ""},
    /* missing or repeated rows */
    {"DELETE FROM record WHERE leaf = 1; DELETE FROM body WHERE leaf = 1", 1, "missing"},
    {"DELETE FROM record WHERE leaf = 0; DELETE FROM body WHERE leaf = 0", 0, "missing"},
    {"DELETE FROM body WHERE leaf = 3", 3, "strict"},
    {"DELETE FROM record WHERE leaf = 9", 0, "not over all records"},
    {"INSERT INTO body VALUES(10, X'7B7D')", 0, "without"},
    {"INSERT INTO record SELECT 10, kind, boundary, seq, time_us + 9000000, verdict, flags, about, "
     "decision_id, agent_id, tool, claim FROM record WHERE leaf = 8; INSERT INTO body SELECT 10, "
     "bytes FROM body WHERE leaf = 8",
        0, "not over all records"},
    /* the tree and its checkpoints: heads begin at 0, 1, 2, 3, 4, 5 (of two), 7, 8, 9 */
    {"UPDATE head SET note = CAST(replace(CAST(note AS TEXT), 'writ-ledger/', 'writ-ledges/') AS "
     "BLOB) "
     "WHERE leaf = 5",
        6, "of another ledger"},
    {"UPDATE head SET note = (SELECT note FROM head WHERE leaf = 4) WHERE leaf = 5", 6,
        "other records"},
    {"UPDATE head SET note = X'00' WHERE leaf = 5", 6, "of another ledger"},
    {"UPDATE head SET note = CAST(rtrim(CAST(note AS TEXT), '=' || char(10)) || 'A=' || char(10) "
     "AS BLOB) WHERE leaf = 7",
        7, "of another ledger"},
    {"UPDATE head SET nodes = zeroblob(length(nodes)) WHERE leaf = 5", 5, "in the tree"},
    {"UPDATE head SET nodes = CAST(nodes || X'00' AS BLOB) WHERE leaf = 3", 3,
        "differ from the tree"},
    {"UPDATE head SET nodes = substr(nodes, 1, length(nodes) - 1) WHERE leaf = 3", 3, "nodes"},
    {"UPDATE head SET nodes = X'' WHERE leaf = 0", 0, "in the tree"},
    {"UPDATE head SET size = 8 WHERE leaf = 5", 7, "not that of its group"},
    {"UPDATE head SET size = 6 WHERE leaf = 5", 5, ""},
    {"DELETE FROM head WHERE leaf = 3", 3, "no checkpoint"},
    {"DELETE FROM head WHERE leaf = 9", 0, "not over all records"},
    {"INSERT INTO head SELECT 6, 7, nodes, note FROM head WHERE leaf = 5", 6, ""},
    {"INSERT INTO head SELECT 10, 11, nodes, note FROM head WHERE leaf = 9", 0, "not over all"},
    /* boundaries */
    {"UPDATE boundary SET seal_leaf = NULL WHERE name = 'one'", 4, "columns"},
    {"UPDATE boundary SET seal_leaf = 9 WHERE name = 'two'", 9, "seal"},
    {"UPDATE boundary SET name = 'uno' WHERE name = 'one'", 0, "columns"},
    {"UPDATE boundary SET tenant = 'globex' WHERE name = 'one'", 0, ""},
    {"UPDATE boundary SET first_leaf = 1 WHERE name = 'one'", 0, "begin"},
    {"DELETE FROM boundary WHERE name = 'one'", 0, "no row"},
};

START_TEST(verify_of_every_change_names_the_first_bad_record)
{
    for (size_t i = 0; i < sizeof tampers / sizeof tampers[0]; i++) {
        const struct tamper *row = &tampers[i];
        struct writ_verify_report report;
        struct writ_kit kit;

        writ_kit_start(&kit);
        writ_kit_two_runs(&kit, NULL);
        writ_kit_close(&kit);
        writ_kit_sql(&kit, row->sql);
        report = verified(&kit);
        ck_assert_msg(report.problems > 0, "%s", row->sql);
        ck_assert_msg(
            report.list[0].leaf == row->leaf && strstr(report.list[0].what, row->what) != NULL,
            "%s: record %llu: %s", row->sql, (unsigned long long)report.list[0].leaf,
            report.list[0].what);
        writ_kit_wipe(&kit);
    }
}
END_TEST

#define CROWD 40

static void
submit_together(struct writ_kit *kit, call *calls[CROWD])
{
    struct writ_entry *entries[CROWD];

    for (int i = 0; i < CROWD; i++) {
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit->ledger, entries, CROWD));
    for (int i = 0; i < CROWD; i++) {
        while (sem_wait(&calls[i]->done) != 0) {
        }
        ck_assert_int_eq(calls[i]->entry.code, WRIT_OK);
    }
}

/* A group of CROWD decisions, every third a deny with its outcome, and one of all outcomes that
 * are still due. */
static void
fill_in_groups(struct writ_kit *kit, call *calls[CROWD])
{
    struct writ_entry *entries[CROWD];
    size_t granted = 0;

    writ_kit_start(kit);
    for (int i = 0; i < CROWD; i++) {
        char argument[8];

        (void)snprintf(argument, sizeof argument, "%d", i);
        calls[i] =
            writ_kit_call(kit, (spec){.argument = argument,
                                   .route = i % 3 == 0 ? WRIT_DECISION_DENY : WRIT_DECISION_ALLOW});
    }
    submit_together(kit, calls);
    for (int i = 0; i < CROWD; i++) {
        ck_assert(calls[i]->entry.decision.granted == (i % 3 != 0));
        if (calls[i]->entry.decision.granted) {
            calls[i]->leaf = calls[i]->entry.decision.leaf;
            writ_kit_outcome(calls[i], WRIT_OUTCOME_EXECUTED, NULL);
            entries[granted++] = &calls[i]->entry;
        }
    }
    ck_assert_ok(writ_ledger_submit(kit->ledger, entries, granted));
    for (size_t i = 0; i < granted; i++) {
        while (sem_wait(entries[i]->user) != 0) {
        }
        ck_assert_int_eq(entries[i]->code, WRIT_OK);
    }
    writ_kit_close(kit);
}

static void
wipe_groups(struct writ_kit *kit, call *calls[CROWD])
{
    for (int i = 0; i < CROWD; i++) {
        writ_kit_call_free(calls[i]);
    }
    writ_kit_wipe(kit);
}

static bool
count_one(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    uint64_t *next = ctx;

    ck_assert_uint_eq(leaf, (*next)++);
    ck_assert(kind == WRIT_DETACHED_RECORD_DECISION || kind == WRIT_DETACHED_RECORD_OUTCOME);
    ck_assert(writ_view_has_prefix(record, WRIT_LIT("{\"")));
    ck_assert(writ_view_has_suffix(record, WRIT_LIT("}")));
    return true;
}

START_TEST(records_of_a_group_share_rows_and_are_read_one_by_one)
{
    struct writ_kit kit;
    struct writ_reader *reader = NULL;
    struct writ_completeness report;
    struct writ_arena *arena = writ_arena_new(8 << 20);
    uint64_t next = 0;
    call *calls[CROWD];

    fill_in_groups(&kit, calls);
    ck_assert_uint_eq(verified(&kit).problems, 0);
    ck_assert_uint_eq(verified(&kit).records, 2 * CROWD);
    ck_assert_int_lt(writ_kit_number(&kit, "SELECT count(*) FROM body"), CROWD / 2);
    ck_assert_int_gt(writ_kit_number(&kit, "SELECT count(*) FROM body"), 2); /* 16 KiB and some */
    ck_assert_int_lt(writ_kit_number(&kit, "SELECT max(length(bytes)) FROM body"), 20 << 10);

    ck_assert_ok(writ_reader_open(kit.path, &reader, NULL));
    for (int i = 0; i < CROWD; i++) {
        struct writ_reader_call shown;
        struct writ_view id = calls[i]->decision.decision_id.view;

        ck_assert_ok(writ_reader_show(reader, id, arena, &shown, NULL));
        ck_assert_uint_lt(writ_view_search(shown.decision, id), shown.decision.len);
        ck_assert(shown.has_outcome);
        ck_assert_uint_lt(writ_view_search(shown.outcome, id), shown.outcome.len);
    }
    ck_assert_ok(writ_reader_export(
        reader, writ_view(NULL, 0), WRIT_LIT("run"), count_one, &next, arena, &report, NULL));
    ck_assert_uint_eq(next, 2 * CROWD);
    writ_reader_close(reader);
    writ_arena_free(arena);
    wipe_groups(&kit, calls);
}
END_TEST

START_TEST(verify_of_a_change_inside_a_row_finds_it)
{
    static const struct tamper rows[] = {
        /* a line more, in a row in the middle and in the last one */
        {"UPDATE body SET bytes = CAST(CAST(bytes AS TEXT) || char(10) || '{}' AS BLOB) "
         "WHERE leaf = 0",
            17, "more bodies"},
        {"UPDATE body SET bytes = CAST(CAST(bytes AS TEXT) || char(10) || '{}' AS BLOB) "
         "WHERE leaf = (SELECT max(leaf) FROM body)",
            0, "without"},
        /* the last line of a row is not there */
        {"UPDATE body SET bytes = CAST(rtrim(rtrim(CAST(bytes AS TEXT), '}'), "
         "replace(CAST(bytes AS TEXT), char(10), '')) AS BLOB) WHERE leaf = 0",
            16, "strict"},
        /* a line that is two */
        {"UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"seq\":2', '\"seq\":' || "
         "char(10) || '2') AS BLOB) WHERE leaf = 0",
            3, ""},
        {"DELETE FROM body WHERE leaf = (SELECT min(leaf) FROM body WHERE leaf > 0)", 17, "strict"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_kit kit;
        struct writ_verify_report report;
        call *calls[CROWD];

        fill_in_groups(&kit, calls);
        writ_kit_sql(&kit, rows[i].sql);
        report = verified(&kit);
        ck_assert_msg(report.problems > 0, "%s", rows[i].sql);
        ck_assert_msg(report.list[0].leaf == rows[i].leaf &&
                          strstr(report.list[0].what, rows[i].what) != NULL,
            "%s: record %llu: %s", rows[i].sql, (unsigned long long)report.list[0].leaf,
            report.list[0].what);
        wipe_groups(&kit, calls);
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

START_TEST(verify_when_stopped_ends)
{
    struct writ_kit kit;
    struct writ_verify_report report = {.records = 77};
    int asked = 0;

    writ_kit_start(&kit);
    writ_kit_two_runs(&kit, NULL);
    ck_assert_code(
        writ_verify_ledger(kit.path, kit.ring, stop_at_once, &asked, &report, NULL), WRIT_E_BUSY);
    ck_assert_int_eq(asked, 1);
    ck_assert_uint_eq(report.records, 77);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(verify_counts_problems_beyond_the_list)
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

START_TEST(verify_of_another_file_is_refused)
{
    struct writ_kit kit;
    struct writ_verify_report report = {.records = 77};

    writ_kit_init(&kit);
    writ_kit_sql(&kit, "PRAGMA application_id = 1");
    ck_assert_code(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL), WRIT_E_PARSE);
    ck_assert_code(
        writ_verify_ledger("/nowhere/ledger.db", NULL, NULL, NULL, &report, NULL), WRIT_E_ABSENT);
    ck_assert_uint_eq(report.records, 77);
    writ_kit_wipe(&kit);
}
END_TEST

static const char *const texts[] = {
#define STATEMENT_TEXT(NAME, text) (text),
    WRIT_VERIFY_STATEMENTS(STATEMENT_TEXT)
#undef STATEMENT_TEXT
};

/* A scan keeps its snapshot, and so the write-ahead log, for as long as it takes. Parameters are
 * NULL: no statement finds a record. */
START_TEST(statements_with_a_long_log_scan_no_table)
{
    struct writ_kit kit;
    struct writ_sql *sql = NULL;

    writ_kit_start(&kit);
    for (int i = 0; i < CROWD; i++) {
        char argument[16];

        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.argument = argument});
    }
    writ_kit_close(&kit);
    ck_assert_ok(writ_disk_connect(kit.path, true, 0, &sql, NULL));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sqlite3_stmt *s = NULL;

        ck_assert_int_eq(
            sqlite3_prepare_v2(writ_sql_sqlite_of(sql), texts[i], -1, &s, NULL), SQLITE_OK);
        while (sqlite3_step(s) == SQLITE_ROW) {
        }
        ck_assert_msg(
            sqlite3_stmt_status(s, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) < CROWD, "%s", texts[i]);
        (void)sqlite3_finalize(s);
    }
    writ_sql_close(sql);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("verify", verify_of_a_live_ledger_finds_no_problem,
    verify_beside_a_busy_writer_finds_no_problem, verify_of_an_empty_ledger_finds_no_problem,
    verify_of_every_change_names_the_first_bad_record,
    records_of_a_group_share_rows_and_are_read_one_by_one, verify_of_a_change_inside_a_row_finds_it,
    verify_when_stopped_ends, verify_counts_problems_beyond_the_list,
    verify_of_another_file_is_refused, statements_with_a_long_log_scan_no_table)
