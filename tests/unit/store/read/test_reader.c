/* Lists, calls and exports of a ledger. A reader sees committed records only, names what is
 * missing, and never writes. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/reader.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define SEEN_MAX 64

/** The items of a list, newest first. */
struct seen {
    uint64_t leaves[SEEN_MAX];
    size_t n, stop_after;
    struct writ_reader_item last;
};

static bool
see(void *ctx, const struct writ_reader_item *item)
{
    struct seen *seen = ctx;

    ck_assert_uint_lt(seen->n, SEEN_MAX);
    seen->leaves[seen->n++] = item->leaf;
    seen->last = *item;
    return seen->n != seen->stop_after;
}

static struct writ_reader *
reader_of(struct writ_kit *kit)
{
    struct writ_reader *reader = NULL;
    struct writ_err err = {0};
    writ_result result = writ_reader_open(kit->path, &reader, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return reader;
}

/* Leaves 0, 1: run of agent; 2, 3: a deny of agent-2 in "two"; 4, 5: globex, read_file; 6: in
 * flight. */
static void
fill(struct writ_kit *kit)
{
    call *c;

    writ_kit_start(kit);
    writ_kit_run(kit, (spec){.argument = "1"});
    writ_kit_pass(kit, 10 * WRIT_KIT_S);
    c = writ_kit_call(
        kit, (spec){.boundary = "two", .agent = "agent-2", .route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_pass(kit, 10 * WRIT_KIT_S);
    writ_kit_run(kit, (spec){.tenant = "globex", .tool = "read_file"});
    writ_kit_call_free(writ_kit_granted(kit, (spec){.argument = "2"}));
}

static void
lists(struct writ_reader *reader, struct writ_reader_filter filter, const char *want)
{
    struct seen seen = {0};
    char got[256] = "";

    ck_assert_ok(writ_reader_list(reader, &filter, see, &seen, NULL));
    for (size_t i = 0; i < seen.n; i++) {
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), i == 0 ? "%llu" : " %llu",
            (unsigned long long)seen.leaves[i]);
    }
    ck_assert_str_eq(got, want);
}

START_TEST(reader_list_is_filtered_and_newest_first)
{
    struct writ_kit kit;
    struct writ_reader *reader;

    fill(&kit);
    reader = reader_of(&kit);
    lists(reader, (struct writ_reader_filter){0}, "6 4 2 0");
    lists(reader, (struct writ_reader_filter){.limit = 2}, "6 4");
    lists(reader, (struct writ_reader_filter){.limit = 2, .before_leaf = 6}, "4 2");
    lists(reader, (struct writ_reader_filter){.before_leaf = 1}, "0");
    lists(reader, (struct writ_reader_filter){.from_leaf = 2, .before_leaf = 6}, "4 2");
    lists(reader, (struct writ_reader_filter){.from_leaf = 3}, "6 4");
    lists(reader, (struct writ_reader_filter){.tenant = WRIT_LIT("globex")}, "4");
    lists(reader, (struct writ_reader_filter){.boundary_id = WRIT_LIT("two")}, "2");
    lists(reader, (struct writ_reader_filter){.boundary_id = WRIT_LIT("run")}, "6 4 0");
    lists(reader, (struct writ_reader_filter){.agent_id = WRIT_LIT("agent")}, "6 4 0");
    lists(reader, (struct writ_reader_filter){.tool = WRIT_LIT("read_file")}, "4");
    lists(reader, (struct writ_reader_filter){.tool = WRIT_LIT("")}, "");
    lists(reader, (struct writ_reader_filter){.has_route = true, .route = WRIT_DECISION_DENY}, "2");
    lists(
        reader, (struct writ_reader_filter){.has_route = true, .route = WRIT_DECISION_REVISE}, "");
    lists(reader, (struct writ_reader_filter){.since_us = WRIT_KIT_WALL_US + 5 * WRIT_KIT_S},
        "6 4 2");
    lists(
        reader, (struct writ_reader_filter){.until_us = WRIT_KIT_WALL_US + 15 * WRIT_KIT_S}, "2 0");
    lists(reader,
        (struct writ_reader_filter){.since_us = WRIT_KIT_WALL_US + 5 * WRIT_KIT_S,
            .until_us = WRIT_KIT_WALL_US + 15 * WRIT_KIT_S,
            .agent_id = WRIT_LIT("agent-2")},
        "2");
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

struct told {
    char text[256];
    size_t left;
};

static bool
tell(void *ctx, const struct writ_reader_record *record)
{
    struct told *told = ctx;
    size_t len = strlen(told->text);

    ck_assert(record->is_outcome ? record->decision_leaf < record->leaf
                                 : record->decision_leaf == record->leaf);
    ck_assert_uint_eq(writ_view_search(record->body, WRIT_LIT("\"outcome\"")) < record->body.len,
        record->is_outcome);
    ck_assert(record->is_outcome ? record->time_us > record->issued_at_us
                                 : record->time_us == record->issued_at_us);
    (void)snprintf(told->text + len, sizeof told->text - len, "%s%llu%s%u " WRIT_VIEW_FMT,
        len > 0 ? ", " : "", (unsigned long long)record->leaf, record->is_outcome ? " o" : " d",
        record->verdict, WRIT_VIEW_ARG(record->tenant));
    return --told->left > 0;
}

static void
tells(struct writ_reader *reader, uint64_t from, uint64_t before, size_t most, const char *want)
{
    struct told told = {.left = most};

    ck_assert_ok(writ_reader_records(reader, from, before, tell, &told, NULL));
    ck_assert_str_eq(told.text, want);
}

START_TEST(reader_records_has_decisions_and_outcomes_in_their_order)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    uint64_t waiting = 7;

    fill(&kit);
    reader = reader_of(&kit);
    tells(reader, 0, 99, 99,
        "0 d1 acme, 1 o1 acme, 2 d0 acme, 3 o2 acme, 4 d1 globex, 5 o1 globex, 6 d1 acme");
    tells(reader, 1, 4, 99, "1 o1 acme, 2 d0 acme, 3 o2 acme");
    tells(reader, 1, 4, 1, "1 o1 acme");
    tells(reader, 7, 99, 99, "");
    ck_assert_ok(writ_reader_reviews_waiting(
        reader, writ_view(NULL, 0), writ_view(NULL, 0), &waiting, NULL));
    ck_assert_uint_eq(waiting, 0);
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

/* The bodies from `first` to before `end` in one row, as those of a group are. */
static void
in_one_row(struct writ_kit *kit, int first, int end)
{
    char sql[512];

    (void)snprintf(sql, sizeof sql,
        "UPDATE body SET bytes = (SELECT CAST(group_concat(t, char(10)) AS BLOB) FROM (SELECT "
        "CAST(bytes AS TEXT) AS t FROM body WHERE leaf >= %d AND leaf < %d ORDER BY leaf)) "
        "WHERE leaf = %d; DELETE FROM body WHERE leaf > %d AND leaf < %d",
        first, end, first, first, end);
    writ_kit_sql(kit, sql);
}

START_TEST(reader_records_reads_a_row_of_many_bodies_once)
{
    struct writ_kit kit;
    struct writ_reader *reader;

    fill(&kit);
    in_one_row(&kit, 0, 4);
    in_one_row(&kit, 4, 7);
    reader = reader_of(&kit);
    tells(reader, 0, 99, 99,
        "0 d1 acme, 1 o1 acme, 2 d0 acme, 3 o2 acme, 4 d1 globex, 5 o1 globex, 6 d1 acme");
    tells(reader, 1, 6, 99, "1 o1 acme, 2 d0 acme, 3 o2 acme, 4 d1 globex, 5 o1 globex");
    tells(reader, 6, 7, 99, "6 d1 acme");
    writ_kit_sql(&kit, "DELETE FROM body WHERE leaf = 4"); /* the row before has no line for them */
    tells(reader, 2, 99, 99, "2 d0 acme, 3 o2 acme");
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reader_list_item_has_the_outcome_of_the_call)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    struct seen seen = {.stop_after = 1};

    fill(&kit);
    reader = reader_of(&kit);
    ck_assert_ok(writ_reader_list(reader, &(struct writ_reader_filter){0}, see, &seen, NULL));
    ck_assert_uint_eq(seen.n, 1); /* the callback stopped it */
    ck_assert(seen.last.granted && !seen.last.has_outcome && !seen.last.sealed);
    ck_assert_uint_eq(seen.last.seq, 1);
    seen = (struct seen){0};
    ck_assert_ok(writ_reader_list(
        reader, &(struct writ_reader_filter){.boundary_id = WRIT_LIT("two")}, see, &seen, NULL));
    ck_assert(!seen.last.granted && seen.last.has_outcome);
    ck_assert_int_eq(seen.last.route, WRIT_DECISION_DENY);
    ck_assert_int_eq(seen.last.outcome, WRIT_OUTCOME_BLOCKED);
    ck_assert_uint_eq(seen.last.outcome_leaf, 3);
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

static void
changes(struct writ_reader *reader, uint64_t from, uint64_t before, const char *want)
{
    struct seen seen = {0};
    char got[256] = "";

    ck_assert_ok(writ_reader_changed(reader, from, before, see, &seen, NULL));
    for (size_t i = 0; i < seen.n; i++) {
        (void)snprintf(got + strlen(got), sizeof got - strlen(got), i == 0 ? "%llu" : " %llu",
            (unsigned long long)seen.leaves[i]);
    }
    ck_assert_str_eq(got, want);
}

START_TEST(reader_changed_gives_the_decisions_of_all_records_in_a_range)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    struct writ_view record = {NULL, 0};
    writ_auto_arena arena = writ_arena_new(1 << 20);

    fill(&kit);
    reader = reader_of(&kit);
    changes(reader, 0, 7, "0 2 4 6");
    changes(reader, 1, 2, "0"); /* an outcome alone */
    changes(reader, 2, 6, "2 4");
    changes(reader, 7, 99, "");
    changes(reader, 3, 3, "");
    ck_assert_ok(writ_reader_record(reader, 4, arena, &record, NULL));
    ck_assert(writ_view_search(record, WRIT_LIT("\"tool\":\"read_file\"")) < record.len);
    record = (struct writ_view){NULL, 0};
    ck_assert_int_eq(writ_reader_record(reader, 99, arena, &record, NULL).code, WRIT_E_MISMATCH);
    ck_assert_ptr_null(record.ptr);
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reader_sees_records_written_after_its_open)
{
    struct writ_kit kit;
    struct writ_reader *reader;

    writ_kit_start(&kit);
    reader = reader_of(&kit);
    lists(reader, (struct writ_reader_filter){0}, "");
    writ_kit_run(&kit, (spec){0});
    lists(reader, (struct writ_reader_filter){0}, "0");
    writ_reader_close(reader);
    writ_kit_close(&kit);
    reader = reader_of(&kit); /* and with no writer there */
    lists(reader, (struct writ_reader_filter){0}, "0");
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reader_show_gives_the_records_of_a_call)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_reader_call shown = {.leaf = 77};

    fill(&kit);
    reader = reader_of(&kit);
    ck_assert_code(
        writ_reader_show(reader, WRIT_LIT("nobody"), arena, &shown, NULL), WRIT_E_ABSENT);
    ck_assert_uint_eq(shown.leaf, 77);
    ck_assert_ok(writ_reader_show(reader, WRIT_LIT("d-000000000003"), arena, &shown, NULL));
    ck_assert_uint_eq(shown.leaf, 6);
    ck_assert(!shown.has_outcome && !shown.sealed);
    ck_assert_ptr_null(shown.outcome.ptr);

    ck_assert_int_eq(writ_kit_seal(&kit, "two", NULL), WRIT_OK);
    ck_assert_ok(writ_reader_show(reader, WRIT_LIT("d-000000000001"), arena, &shown, NULL));
    ck_assert_uint_eq(shown.leaf, 2);
    ck_assert_uint_eq(shown.outcome_leaf, 3);
    ck_assert_view(shown.tenant, "acme");
    ck_assert_view(shown.boundary_id, "two");
    ck_assert(shown.has_outcome && shown.sealed);
    ck_assert(
        writ_view_search(shown.decision, WRIT_LIT("\"decision\":\"deny\"")) < shown.decision.len);
    ck_assert(
        writ_view_search(shown.outcome, WRIT_LIT("\"outcome\":\"blocked\"")) < shown.outcome.len);
    ck_assert(writ_view_search(shown.seal, WRIT_LIT("\"sealed\":true")) < shown.seal.len);
    writ_reader_close(reader);
    writ_arena_free(arena);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- export ---- */

struct exported {
    char kinds[SEEN_MAX];
    size_t n, stop_after;
};

static bool
note(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct exported *x = ctx;

    ck_assert_uint_lt(x->n + 1, SEEN_MAX);
    ck_assert_uint_gt(record.len, 2);
    ck_assert(leaf < 100);
    x->kinds[x->n++] = kind == WRIT_DETACHED_RECORD_DECISION  ? 'd'
                       : kind == WRIT_DETACHED_RECORD_OUTCOME ? 'o'
                                                              : 's';
    return x->n != x->stop_after;
}

START_TEST(reader_export_has_the_boundary_with_its_seal)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_completeness report;
    struct exported x = {0};

    fill(&kit);
    writ_kit_run(&kit, (spec){.boundary = "two", .argument = "3"});
    reader = reader_of(&kit);
    ck_assert_ok(writ_reader_export(
        reader, writ_view(NULL, 0), WRIT_LIT("two"), note, &x, arena, &report, NULL));
    ck_assert_str_eq(x.kinds, "dodo");
    ck_assert(report.whole && !report.sealed);

    ck_assert_int_eq(writ_kit_seal(&kit, "two", NULL), WRIT_OK);
    x = (struct exported){0};
    ck_assert_ok(writ_reader_export(
        reader, WRIT_LIT("acme"), WRIT_LIT("two"), note, &x, arena, &report, NULL));
    ck_assert_str_eq(x.kinds, "dodos");
    ck_assert(report.whole && report.sealed);
    ck_assert_uint_eq(report.held, 2);

    x = (struct exported){.stop_after = 1};
    ck_assert_ok(writ_reader_export(
        reader, WRIT_LIT("acme"), WRIT_LIT("two"), note, &x, arena, &report, NULL));
    ck_assert_str_eq(x.kinds, "d");
    writ_reader_close(reader);
    writ_arena_free(arena);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reader_export_finds_a_boundary_by_name_and_tenant)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_completeness report = {.held = 77};
    struct exported x = {0};

    fill(&kit);
    reader = reader_of(&kit);
    ck_assert_code(writ_reader_export(reader, writ_view(NULL, 0), WRIT_LIT("none"), note, &x, arena,
                       &report, NULL),
        WRIT_E_ABSENT);
    ck_assert_code(writ_reader_export(
                       reader, writ_view(NULL, 0), WRIT_LIT("run"), note, &x, arena, &report, NULL),
        WRIT_E_INVALID); /* acme has one and globex */
    ck_assert_uint_eq(report.held, 77);
    ck_assert_ok(writ_reader_export(
        reader, WRIT_LIT("globex"), WRIT_LIT("run"), note, &x, arena, &report, NULL));
    ck_assert_uint_eq(report.held, 1);
    writ_reader_close(reader);
    writ_arena_free(arena);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reader_export_names_missing_records)
{
    struct writ_kit kit;
    struct writ_reader *reader;
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_completeness report;
    struct exported x = {0};
    char argument[8];

    writ_kit_start(&kit);
    for (int i = 0; i < 4; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.argument = argument});
    }
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_kit_sql(&kit, "DELETE FROM record WHERE leaf = 2");
    reader = reader_of(&kit);
    ck_assert_ok(writ_reader_export(
        reader, writ_view(NULL, 0), WRIT_LIT("run"), note, &x, arena, &report, NULL));
    ck_assert(!report.whole);
    ck_assert_uint_eq(report.missing_total, 1);
    ck_assert_uint_eq(report.missing[0].first, 1);
    writ_kit_sql(&kit, "UPDATE body SET bytes = X'7B' WHERE leaf = 0");
    ck_assert_code(writ_reader_export(
                       reader, writ_view(NULL, 0), WRIT_LIT("run"), note, &x, arena, &report, NULL),
        WRIT_E_MISMATCH);
    writ_reader_close(reader);
    writ_arena_free(arena);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(reader_open_of_a_missing_or_unknown_ledger_is_refused)
{
    struct writ_kit kit;
    struct writ_reader *mark = (struct writ_reader *)(void *)&mark, *reader = mark;

    writ_reader_close(NULL);
    ck_assert_code(writ_reader_open("/nowhere/ledger.db", &reader, NULL), WRIT_E_ABSENT);
    writ_kit_init(&kit);
    writ_kit_sql(&kit, "PRAGMA user_version = 9");
    ck_assert_code(writ_reader_open(kit.path, &reader, NULL), WRIT_E_PARSE);
    ck_assert_ptr_eq(reader, mark);
    writ_kit_wipe(&kit);
}
END_TEST

struct since {
    uint64_t leaves[16];
    size_t n, most;
};

static bool
note_leaf(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct since *since = ctx;

    ck_assert_int_ne(kind, WRIT_DETACHED_RECORD_NONE);
    ck_assert_uint_gt(record.len, 0);
    since->leaves[since->n++] = leaf;
    return since->n < since->most;
}

START_TEST(since_gives_the_later_records_of_one_boundary)
{
    struct writ_view tenant = WRIT_LIT("acme"), one = WRIT_LIT("one"), two = WRIT_LIT("two");
    struct since since = {.most = 16};
    writ_auto_reader reader = NULL;
    struct writ_kit kit;
    uint64_t until = 0;

    writ_kit_start(&kit);
    ck_assert_ok(writ_reader_open(kit.path, &reader, NULL));
    ck_assert_ok(writ_reader_since(reader, tenant, one, 0, note_leaf, &since, &until, NULL));
    ck_assert_uint_eq(until, 0);
    writ_kit_two_runs(&kit, NULL);
    ck_assert_ok(writ_reader_since(reader, tenant, one, 0, note_leaf, &since, &until, NULL));
    ck_assert_uint_eq(until, 10);
    ck_assert_uint_eq(since.n, 5);
    ck_assert_uint_eq(since.leaves[4], 4);

    since = (struct since){.most = 16};
    ck_assert_ok(writ_reader_since(reader, tenant, two, 7, note_leaf, &since, &until, NULL));
    ck_assert_uint_eq(since.n, 3);
    ck_assert_uint_eq(since.leaves[0], 7);
    since = (struct since){.most = 1};
    ck_assert_ok(writ_reader_since(reader, tenant, two, 0, note_leaf, &since, &until, NULL));
    ck_assert_uint_eq(since.n, 1);

    since = (struct since){.most = 16};
    ck_assert_ok(writ_reader_since(reader, tenant, two, 10, note_leaf, &since, &until, NULL));
    ck_assert_ok(
        writ_reader_since(reader, WRIT_LIT("other"), two, 0, note_leaf, &since, &until, NULL));
    ck_assert_uint_eq(until, 10);
    until = 1;
    ck_assert_code(writ_reader_since(reader, tenant, two, 11, note_leaf, &since, &until, NULL),
        WRIT_E_MISMATCH);
    ck_assert_uint_eq(until, 1);
    ck_assert_uint_eq(since.n, 0);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("reader", since_gives_the_later_records_of_one_boundary,
    reader_list_is_filtered_and_newest_first,
    reader_records_has_decisions_and_outcomes_in_their_order,
    reader_records_reads_a_row_of_many_bodies_once, reader_list_item_has_the_outcome_of_the_call,
    reader_changed_gives_the_decisions_of_all_records_in_a_range,
    reader_sees_records_written_after_its_open, reader_show_gives_the_records_of_a_call,
    reader_export_has_the_boundary_with_its_seal, reader_export_finds_a_boundary_by_name_and_tenant,
    reader_export_names_missing_records, reader_open_of_a_missing_or_unknown_ledger_is_refused)
