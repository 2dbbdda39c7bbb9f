/* Fails the n-th allocation of the caller's thread in each operation on a ledger. The operation
 * fails or completes, and the ledger stays valid. */
#include "support/store/contents_kit.h"
#include "support/unit.h"

#include "store/read/reader.h"
#include "store/read/verify.h"

#include <stdio.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;

static void
fill(struct writ_kit *kit)
{
    struct writ_reservation budget = writ_kit_budget();

    writ_kit_init(kit);
    writ_kit_hurry(kit);
    writ_kit_sign_together(kit);
    writ_kit_open(kit);
    writ_kit_run(kit, (spec){.boundary = "one"});
    ck_assert_int_eq(writ_kit_seal(kit, "one", NULL), WRIT_OK);
    writ_kit_run(kit, (spec){.reservations = &budget, .reservations_n = 1});
    writ_kit_call_free(writ_kit_granted(kit, (spec){.argument = "b"}));
    writ_kit_close(kit);
}

START_TEST(create_with_a_failed_allocation_makes_a_ledger_or_nothing)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct writ_kit kit;
        writ_result result;

        writ_kit_init(&kit);
        ck_assert_int_eq(unlink(kit.path), 0);
        writ_fault_arm(nth);
        result = writ_ledger_create(kit.path, (struct writ_view){0}, &kit.clock, NULL);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            writ_kit_open(&kit);
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_int_ne(access(kit.path, F_OK), 0);
        }
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(open_with_a_failed_allocation_recovers_or_fails)
{
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct writ_kit kit;
        struct writ_verify_report report;
        writ_result result;

        fill(&kit);
        writ_fault_arm(nth);
        result = writ_ledger_open(kit.path, &kit.options, &kit.ledger, NULL);
        reached = writ_fault_disarm();
        if (!writ_is_ok(result)) {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_ptr_null(kit.ledger);
            writ_kit_open(&kit);
        }
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE flags & 8"), 1);
        writ_kit_refused(&kit, (spec){.argument = "b"}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
        writ_kit_close(&kit);
        ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL));
        ck_assert_uint_eq(report.problems, 0);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(verify_with_a_failed_allocation_reports_all_or_fails)
{
    struct writ_kit kit;
    bool reached = true;

    fill(&kit);
    for (long nth = 1; reached; nth++) {
        struct writ_verify_report report = {.records = 77};
        writ_result result;

        writ_fault_arm(nth);
        result = writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_uint_eq(report.problems, 0);
            ck_assert_uint_eq(report.records, 6);
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_uint_eq(report.records, 77);
        }
    }
    writ_kit_wipe(&kit);
}
END_TEST

static bool
count(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    (void)leaf;
    (void)kind;
    (void)record;
    (*(int *)ctx)++;
    return true;
}

START_TEST(export_with_a_failed_allocation_writes_all_or_fails)
{
    struct writ_kit kit;
    bool reached = true;

    fill(&kit);
    for (long nth = 1; reached; nth++) {
        struct writ_arena *arena = writ_arena_new(1 << 20);
        struct writ_reader *reader = NULL;
        struct writ_completeness report = {.held = 77};
        writ_result result;
        int n = 0;

        writ_fault_arm(nth);
        result = writ_reader_open(kit.path, &reader, NULL);
        if (writ_is_ok(result)) {
            result = writ_reader_export(
                reader, writ_view(NULL, 0), WRIT_LIT("one"), count, &n, arena, &report, NULL);
        }
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_int_eq(n, 3);
            ck_assert(report.whole && report.sealed);
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_uint_eq(report.held, 77);
        }
        writ_reader_close(reader);
        writ_arena_free(arena);
    }
    writ_kit_wipe(&kit);
}
END_TEST

static writ_result
read_contents(
    struct writ_kit *kit, const char *id, struct writ_arena *arena, struct writ_contents_call *ret)
{
    writ_auto_contents contents = NULL;
    writ_result result = writ_contents_open(kit->path, kit->ring, &kit->clock, &contents, NULL);

    return writ_is_ok(result) ? writ_contents_get(contents, writ_view_str(id), arena, ret, NULL)
                              : result;
}

START_TEST(contents_with_a_failed_allocation_are_given_or_refused)
{
    struct writ_kit kit;
    bool reached = true;
    char id[32];

    writ_kit_init(&kit);
    writ_contents_kit_key(&kit);
    writ_kit_open(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "{\"n\":1}"}, "2", 0, id);
    writ_kit_close(&kit);
    for (long nth = 1; reached; nth++) {
        writ_auto_arena arena = writ_arena_new((size_t)1 << 20);
        struct writ_contents_call call = {0};
        writ_result result;

        writ_fault_arm(nth);
        result = read_contents(&kit, id, arena, &call);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_view(call.arguments.bytes, "{\"n\":1}");
            ck_assert_view(call.result.bytes, "2");
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_ptr_null(call.arguments.bytes.ptr);
        }
    }
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("store_alloc", contents_with_a_failed_allocation_are_given_or_refused,
    create_with_a_failed_allocation_makes_a_ledger_or_nothing,
    open_with_a_failed_allocation_recovers_or_fails,
    verify_with_a_failed_allocation_reports_all_or_fails,
    export_with_a_failed_allocation_writes_all_or_fails)
