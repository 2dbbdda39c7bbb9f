/* Which records leave the ledger, and what keeps them; what a start then knows. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/reader.h"
#include "store/read/verify.h"

#include <stdio.h>
#include <string.h>

#define DAY_US (86400 * WRIT_KIT_S)
#define WHOLE  UINT64_MAX /* an archive of the whole ledger */

typedef struct writ_kit_spec spec;

static void
run_of(struct writ_kit *kit, const char *run)
{
    writ_kit_run(kit, (spec){.boundary = run, .argument = run});
    ck_assert_int_eq(writ_kit_seal(kit, run, NULL), WRIT_OK);
}

static void
init(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.budget_window_us = 0;
}

/* Four sealed runs of three records, two days between them. */
static void
start(struct writ_kit *kit)
{
    static const char *const runs[] = {"a", "b", "c", "d"};

    init(kit);
    writ_kit_open(kit);
    for (size_t i = 0; i < 4; i++) {
        run_of(kit, runs[i]);
        writ_kit_pass(kit, 2 * DAY_US);
    }
}

static struct writ_entry_remove
remove_before(struct writ_kit *kit, int64_t ago_us, uint64_t archived)
{
    static char memory[4096];
    struct writ_arena *arena = writ_arena_new(sizeof memory);
    struct writ_entry entry = {.kind = WRIT_ENTRY_REMOVE, .arena = arena};

    if (archived == WHOLE) {
        archived = (uint64_t)writ_kit_number(kit, "SELECT max(size) FROM head");
    }
    entry.remove = (struct writ_entry_remove){.before_us = atomic_load(&kit->wall_us) - ago_us,
        .archived = archived,
        .root = writ_kit_root(kit, archived),
        .by = WRIT_LIT("tester")};
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    if (entry.remove.limit_name.len > 0) {
        struct writ_buf name = writ_buf_over(memory, sizeof memory);

        writ_buf_put(&name, entry.remove.limit_name);
        entry.remove.limit_name = writ_buf_view(&name);
    }
    writ_arena_free(arena);
    return entry.remove;
}

static int64_t
first_of(struct writ_kit *kit)
{
    return writ_kit_number(kit, "SELECT min(leaf) FROM record");
}

static void
is_sound(struct writ_kit *kit)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
}

START_TEST(records_before_the_time_go_in_whole_groups)
{
    struct writ_entry_remove removed;
    struct writ_kit kit;

    start(&kit);
    removed = remove_before(&kit, 5 * DAY_US, WHOLE);
    ck_assert_int_eq(removed.limit, WRIT_REMOVE_NONE);
    ck_assert_uint_eq(removed.before, 6);
    ck_assert_uint_eq(removed.removed, 6);
    ck_assert_int_eq(first_of(&kit), 6);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT min(leaf) FROM body"), 6);
    is_sound(&kit);
    removed = remove_before(&kit, 5 * DAY_US, WHOLE);
    ck_assert_uint_eq(removed.before, 6);
    ck_assert_uint_eq(removed.removed, 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 5"), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(records_that_the_archive_lacks_stay)
{
    struct writ_entry_remove removed;
    struct writ_kit kit;

    start(&kit);
    removed = remove_before(&kit, 5 * DAY_US, 4);
    ck_assert_int_eq(removed.limit, WRIT_REMOVE_ARCHIVE);
    ck_assert_uint_eq(removed.before, 4);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(archive_of_other_records_is_refused)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_REMOVE};
    struct writ_kit kit;

    start(&kit);
    entry.remove = (struct writ_entry_remove){.before_us = atomic_load(&kit.wall_us),
        .archived = 6,
        .root = writ_kit_root(&kit, 6),
        .by = WRIT_LIT("tester")};
    entry.remove.root.bytes[0] ^= 1;
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_MISMATCH);
    entry.remove.root.bytes[0] ^= 1;
    entry.remove.archived = 1000; /* more than the ledger has */
    ck_assert_int_eq(writ_kit_submit(&kit, &entry), WRIT_E_MISMATCH);
    ck_assert_int_eq(first_of(&kit), 0);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 5"), 0);
    run_of(&kit, "e"); /* the ledger works on */
    is_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_run_keeps_its_records_and_is_named)
{
    struct writ_entry_remove removed;
    struct writ_kit kit;

    init(&kit);
    kit.options.boundary_idle_us = 30 * DAY_US;
    writ_kit_open(&kit);
    run_of(&kit, "a");
    writ_kit_pass(&kit, DAY_US);
    writ_kit_run(&kit, (spec){.boundary = "long", .argument = "1"});
    writ_kit_pass(&kit, 5 * DAY_US);
    run_of(&kit, "b");
    writ_kit_pass(&kit, 5 * DAY_US);
    removed = remove_before(&kit, 2 * DAY_US, WHOLE);
    ck_assert_int_eq(removed.limit, WRIT_REMOVE_RUN);
    ck_assert(writ_view_is(removed.limit_name, "long"));
    ck_assert_uint_eq(removed.before, 3);
    is_sound(&kit);
    ck_assert_int_eq(writ_kit_seal(&kit, "long", NULL), WRIT_OK);
    removed = remove_before(&kit, 2 * DAY_US, WHOLE);
    ck_assert_int_eq(removed.limit, WRIT_REMOVE_NONE);
    ck_assert_uint_eq(removed.before, 8); /* the seal of `long` came later */
    is_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(run_that_was_removed_stays_sealed_over_a_start)
{
    struct writ_kit kit;

    start(&kit);
    (void)remove_before(&kit, 5 * DAY_US, WHOLE);
    for (int i = 0; i < 2; i++) {
        writ_kit_refused(
            &kit, (spec){.boundary = "a", .argument = "9"}, WRIT_REASON_BOUNDARY_SEALED);
        ck_assert_int_eq(writ_kit_seal(&kit, "a", NULL), WRIT_E_ABSENT); /* its record is gone */
        ck_assert_int_eq(writ_kit_seal(&kit, "d", NULL), WRIT_OK);
        writ_kit_close(&kit);
        writ_kit_forget(&kit); /* without the manifest */
        writ_kit_open(&kit);
    }
    writ_kit_close(&kit);
    is_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(claims_and_budgets_keep_the_records_of_their_time)
{
    struct writ_entry_remove removed;
    struct writ_kit kit;

    start(&kit);
    run_of(&kit, "e");
    removed = remove_before(&kit, -DAY_US, WHOLE);
    ck_assert_int_eq(removed.limit, WRIT_REMOVE_CLAIMS);
    ck_assert_uint_eq(removed.before, 12);
    writ_kit_wipe(&kit);

    start(&kit);
    writ_kit_close(&kit);
    kit.options.budget_window_us = 5 * DAY_US;
    writ_kit_open(&kit);
    run_of(&kit, "e");
    removed = remove_before(&kit, 3 * DAY_US, WHOLE);
    ck_assert_int_eq(removed.limit, WRIT_REMOVE_BUDGET);
    ck_assert_uint_eq(removed.before, 6);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(budget_over_removed_records_is_refused_with_its_remedy)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};
    struct writ_kit kit;

    start(&kit);
    (void)remove_before(&kit, 3 * DAY_US, WHOLE);
    writ_kit_close(&kit);
    writ_kit_forget(&kit);
    kit.options.budget_window_us = 20 * DAY_US;
    ck_assert_code(writ_ledger_open(kit.path, &kit.options, &ledger, &err), WRIT_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "moved to an archive: shorten the window"));
    kit.options.budget_window_us = DAY_US;
    writ_kit_open(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(manifest_of_fewer_records_than_were_removed_is_not_used)
{
    struct writ_kit kit;

    start(&kit);
    writ_kit_close(&kit); /* writes a manifest over 12 records */
    writ_kit_open(&kit);
    for (int i = 0; i < 3; i++) {
        writ_kit_pass(&kit, 2 * DAY_US);
        run_of(&kit, i == 0 ? "x" : i == 1 ? "y" : "z");
    }
    writ_kit_pass(&kit, 2 * DAY_US);
    (void)remove_before(&kit, DAY_US, WHOLE);
    ck_assert_int_gt(first_of(&kit), 12);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_refused(&kit, (spec){.boundary = "a", .argument = "9"}, WRIT_REASON_BOUNDARY_SEALED);
    writ_kit_close(&kit);
    is_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(ledger_from_which_more_is_missing_does_not_open)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};
    struct writ_kit kit;

    start(&kit);
    (void)remove_before(&kit, 5 * DAY_US, WHOLE);
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "DELETE FROM record WHERE leaf < 9; DELETE FROM body WHERE leaf < 9");
    ck_assert_code(writ_ledger_open(kit.path, &kit.options, &ledger, &err), WRIT_E_MISMATCH);
    ck_assert_ptr_nonnull(strstr(err.text, "cut off"));
    writ_kit_wipe(&kit);
}
END_TEST

/* The first part of a verification ends inside of a group, of which the rest goes then. */
static bool
remove_meanwhile(void *ctx, uint64_t done, uint64_t all)
{
    struct writ_kit *kit = ctx;

    if (first_of(kit) == 0) {
        ck_assert_uint_lt(done, all / 2);
        (void)remove_before(kit, DAY_US, WHOLE);
        ck_assert_uint_gt((uint64_t)first_of(kit), done);
    }
    return true;
}

START_TEST(verification_begins_again_when_records_go_before_it)
{
    struct writ_verify_report report;
    struct writ_kit kit;

    start(&kit);
    run_of(&kit, "odd");
    for (int i = 0; i < 600; i++) { /* two records each, in one group */
        char text[16];
        struct writ_kit_call *call;

        (void)snprintf(text, sizeof text, "%d", i);
        call = writ_kit_call(
            &kit, (spec){.boundary = "long", .argument = text, .route = WRIT_DECISION_DENY});
        ck_assert_int_eq(writ_kit_decide(&kit, call), WRIT_OK);
        writ_kit_call_free(call);
    }
    ck_assert_int_eq(writ_kit_seal(&kit, "long", NULL), WRIT_OK);
    writ_kit_pass(&kit, 2 * DAY_US);
    run_of(&kit, "e");
    ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, remove_meanwhile, &kit, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
    ck_assert_uint_gt(report.first, 1000);
    writ_kit_wipe(&kit);
}
END_TEST

static bool
count_record(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    (void)leaf;
    (void)kind;
    (void)record;
    ++*(size_t *)ctx;
    return true;
}

START_TEST(reader_since_of_a_run_after_removed_records_gives_all_of_it)
{
    struct writ_view tenant = WRIT_LIT("acme");
    struct writ_reader *reader = NULL;
    struct writ_kit kit;
    uint64_t until = 0;
    size_t n = 0;

    start(&kit);
    ck_assert_uint_eq(remove_before(&kit, 0, WHOLE).removed, 9);
    run_of(&kit, "e");
    ck_assert_ok(writ_reader_open(kit.path, &reader, NULL));
    ck_assert_ok(
        writ_reader_since(reader, tenant, WRIT_LIT("e"), 2, count_record, &n, &until, NULL));
    ck_assert_uint_eq(n, 3);
    ck_assert_code(
        writ_reader_since(reader, tenant, WRIT_LIT("a"), 2, count_record, &n, &until, NULL),
        WRIT_E_MISMATCH);
    writ_reader_close(reader);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("removing", records_before_the_time_go_in_whole_groups,
    records_that_the_archive_lacks_stay, archive_of_other_records_is_refused,
    open_run_keeps_its_records_and_is_named, run_that_was_removed_stays_sealed_over_a_start,
    claims_and_budgets_keep_the_records_of_their_time,
    budget_over_removed_records_is_refused_with_its_remedy,
    manifest_of_fewer_records_than_were_removed_is_not_used,
    ledger_from_which_more_is_missing_does_not_open,
    verification_begins_again_when_records_go_before_it,
    reader_since_of_a_run_after_removed_records_gives_all_of_it)
