/* Kept contents, read back: only what opens and has the signed digest is given, and everything else
 * has a state that says why not. */
#include "support/store/contents_kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;

#define ARENA    ((size_t)4 << 20)
#define SEEN_MAX 1024

static void
start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_contents_kit_key(kit);
    writ_kit_open(kit);
}

/* One call, by its id. */
static writ_result
get(struct writ_kit *kit, const char *id, struct writ_arena *arena, struct writ_contents_call *ret)
{
    writ_auto_contents contents = writ_contents_kit_open(kit);

    return writ_contents_get(contents, writ_view_str(id), arena, ret, NULL);
}

static void
has(struct writ_kit *kit, const char *id, enum writ_content_state arguments,
    enum writ_content_state result)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    struct writ_contents_call call = {0};

    ck_assert_ok(get(kit, id, arena, &call));
    ck_assert_int_eq(call.arguments.state, arguments);
    ck_assert_int_eq(call.result.state, result);
}

static void
is_changed(struct writ_kit *kit, const char *id)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    struct writ_contents_call call = {.leaf = 77};

    ck_assert_code(get(kit, id, arena, &call), WRIT_E_MISMATCH);
    ck_assert_uint_eq(call.leaf, 77); /* as it was */
}

START_TEST(contents_get_gives_arguments_and_result)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    struct writ_contents_call call = {0};
    struct writ_kit kit;
    char id[32];

    start(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "{\"n\":1}"}, "{\"ok\":true}", 0, id);
    ck_assert_ok(get(&kit, id, arena, &call));
    ck_assert_view(call.arguments.bytes, "{\"n\":1}");
    ck_assert_view(call.result.bytes, "{\"ok\":true}");
    ck_assert_view(call.tenant, "acme");
    ck_assert_view(call.boundary_id, "run");
    ck_assert(call.granted && call.has_outcome && !call.nothing_ran);
    ck_assert_int_eq(call.outcome, WRIT_OUTCOME_EXECUTED);
    ck_assert_uint_eq(call.outcome_leaf, 1);
    ck_assert_view(call.decision->decision_id.view, id);
    ck_assert_int_gt(call.arguments.expires_us, call.issued_at_us);
    ck_assert_code(get(&kit, "d-none", arena, &call), WRIT_E_ABSENT);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_get_outlives_the_next_get)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    writ_auto_contents contents = NULL;
    struct writ_contents_call call = {0}, next = {0};
    struct writ_kit kit;
    char first[32], second[32];

    start(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "1"}, "1", 0, first);
    writ_contents_kit_run(&kit, (spec){.argument = "2"}, "2", 0, second);
    contents = writ_contents_kit_open(&kit);
    ck_assert_ok(writ_contents_get(contents, writ_view_str(first), arena, &call, NULL));
    ck_assert_ok(writ_contents_get(contents, writ_view_str(second), arena, &next, NULL));
    ck_assert_view(call.decision->decision_id.view, first);
    ck_assert_view(next.decision->decision_id.view, second);
    ck_assert(!writ_view_equal(call.record, next.record));
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_of_a_refused_call_are_kept_too)
{
    struct writ_kit kit;
    struct writ_kit_call *again;
    char id[32];

    start(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "{}"}, "1", 0, NULL);
    again = writ_contents_kit_call(&kit, (spec){.argument = "{}"}, 0);
    ck_assert_int_eq(writ_kit_decide(&kit, again), WRIT_OK);
    ck_assert(!again->entry.decision.granted);
    (void)snprintf(id, sizeof id, WRIT_VIEW_FMT, WRIT_VIEW_ARG(again->decision.decision_id.view));
    writ_kit_call_free(again);
    has(&kit, id, WRIT_CONTENT_KEPT, WRIT_CONTENT_ABSENT);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_state_says_why_there_is_nothing)
{
    struct writ_kit kit;
    struct writ_keyring *ring;
    char id[32];

    start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    has(&kit, "d-000000000000", WRIT_CONTENT_ABSENT, WRIT_CONTENT_ABSENT);
    writ_contents_kit_run(&kit, (spec){.argument = "2"}, "3", 10 * WRIT_KIT_S, id);
    has(&kit, id, WRIT_CONTENT_KEPT, WRIT_CONTENT_KEPT);
    ring = kit.ring;
    kit.ring = NULL;
    has(&kit, id, WRIT_CONTENT_LOCKED, WRIT_CONTENT_LOCKED);
    kit.ring = ring;
    writ_kit_pass(&kit, 11 * WRIT_KIT_S);
    has(&kit, id, WRIT_CONTENT_ERASED, WRIT_CONTENT_ERASED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_under_a_rotated_key_are_readable)
{
    struct writ_kit kit;
    char first[32], second[32];

    start(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "1"}, "1", 0, first);
    writ_contents_kit_key(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "2"}, "2", 0, second);
    has(&kit, first, WRIT_CONTENT_KEPT, WRIT_CONTENT_KEPT);
    has(&kit, second, WRIT_CONTENT_KEPT, WRIT_CONTENT_KEPT);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(DISTINCT kid) FROM content"), 2);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_get_of_a_changed_row_is_a_mismatch)
{
    static const char *const changes[] = {
        "UPDATE content SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE leaf = 0",
        "UPDATE content SET bytes = zeroblob(length(bytes)) WHERE leaf = 0",
        "UPDATE content SET bytes = x'' WHERE leaf = 1",
        "UPDATE content SET bytes = (SELECT bytes FROM content WHERE leaf = 2) WHERE leaf = 0",
        "UPDATE content SET redacted = 1 WHERE leaf = 0",
        "UPDATE content_key SET wrapped = (SELECT wrapped FROM content_key WHERE leaf = 2) "
        "WHERE leaf = 0",
        "UPDATE content_key SET wrapped = substr(wrapped, 1, 39) WHERE leaf = 1",
        /* both rows of another record: arguments, and a result for arguments */
        "UPDATE content_key SET wrapped = (SELECT wrapped FROM content_key WHERE leaf = 2) "
        "WHERE leaf = 0; "
        "UPDATE content SET bytes = (SELECT bytes FROM content WHERE leaf = 2) WHERE leaf = 0",
        "UPDATE content_key SET wrapped = (SELECT wrapped FROM content_key WHERE leaf = 1) "
        "WHERE leaf = 0; "
        "UPDATE content SET bytes = (SELECT bytes FROM content WHERE leaf = 1) WHERE leaf = 0",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct writ_kit kit;
        char id[32];

        start(&kit);
        writ_contents_kit_run(&kit, (spec){.argument = "1"}, "1", 0, id);
        writ_contents_kit_run(&kit, (spec){.argument = "2"}, "1", 0, NULL);
        writ_kit_close(&kit);
        has(&kit, id, WRIT_CONTENT_KEPT, WRIT_CONTENT_KEPT);
        writ_kit_sql(&kit, changes[i]);
        is_changed(&kit, id);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(contents_that_are_not_those_of_the_record_are_a_mismatch)
{
    struct writ_kit kit;
    struct writ_kit_call *call;
    struct writ_sealed other = {0};
    char id[32];

    /* sealed for this record and part, and yet not what it signs */
    start(&kit);
    call = writ_contents_kit_call(&kit, (spec){.argument = "1"}, 0);
    ck_assert_ok(writ_content_seal(writ_keyring_wrap(kit.ring),
        &(struct writ_content_of){.decision_id = call->decision.decision_id.view,
            .part = WRIT_CONTENT_ARGUMENTS,
            .expires_us = call->entry.decision.content->expires_us},
        WRIT_LIT("2"), call->arena, &other, NULL));
    call->entry.decision.content = &other;
    ck_assert_int_eq(writ_kit_decide(&kit, call), WRIT_OK);
    (void)snprintf(id, sizeof id, WRIT_VIEW_FMT, WRIT_VIEW_ARG(call->decision.decision_id.view));
    writ_kit_call_free(call);
    is_changed(&kit, id);
    writ_kit_wipe(&kit);
}
END_TEST

/* What a walk gave. */
struct seen {
    uint64_t leaves[SEEN_MAX];
    enum writ_content_state arguments[SEEN_MAX], results[SEEN_MAX];
    size_t n, stop_after;
};

static bool
see(void *ctx, const struct writ_contents_call *call)
{
    struct seen *seen = ctx;

    ck_assert_uint_lt(seen->n, SEEN_MAX);
    seen->leaves[seen->n] = call->leaf;
    seen->arguments[seen->n] = call->arguments.state;
    seen->results[seen->n] = call->result.state;
    seen->n++;
    return seen->n != seen->stop_after;
}

static struct seen
walk(struct writ_kit *kit, struct writ_contents_filter filter, size_t stop_after)
{
    writ_auto_contents contents = writ_contents_kit_open(kit);
    struct seen seen = {.stop_after = stop_after};

    ck_assert_ok(writ_contents_each(contents, &filter, see, &seen, NULL));
    return seen;
}

START_TEST(contents_each_walks_in_order_of_the_log)
{
    struct writ_kit kit;
    struct seen seen;
    int64_t later_us;

    start(&kit);
    writ_kit_run(&kit, (spec){.argument = "none"}); /* 0, 1 */
    for (int i = 0; i < 300; i++) {                 /* more than one piece; 2, 4, ... */
        char argument[16];

        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_contents_kit_run(&kit, (spec){.argument = argument}, argument, 0, NULL);
    }
    writ_kit_pass(&kit, 10 * WRIT_KIT_S);
    later_us = atomic_load(&kit.wall_us);
    writ_contents_kit_run(&kit, (spec){.argument = "x"}, "y", 0, NULL); /* 602 */

    seen = walk(&kit, (struct writ_contents_filter){0}, 0);
    ck_assert_uint_eq(seen.n, 301);
    ck_assert_uint_eq(seen.leaves[0], 2);
    for (size_t i = 0; i < seen.n; i++) {
        ck_assert_uint_eq(seen.leaves[i], 2 + 2 * i);
        ck_assert_int_eq(seen.arguments[i], WRIT_CONTENT_KEPT);
        ck_assert_int_eq(seen.results[i], WRIT_CONTENT_ABSENT);
    }
    seen = walk(&kit, (struct writ_contents_filter){.every = true, .results = true}, 0);
    ck_assert_uint_eq(seen.n, 302);
    ck_assert_int_eq(seen.arguments[0], WRIT_CONTENT_ABSENT);
    ck_assert_int_eq(seen.results[301], WRIT_CONTENT_KEPT);
    seen = walk(&kit, (struct writ_contents_filter){.since_us = later_us}, 0);
    ck_assert_uint_eq(seen.n, 1);
    ck_assert_uint_eq(seen.leaves[0], 602);
    seen = walk(&kit, (struct writ_contents_filter){.until_us = later_us}, 0);
    ck_assert_uint_eq(seen.n, 300);
    seen = walk(&kit, (struct writ_contents_filter){.from_leaf = 3}, 2);
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_uint_eq(seen.leaves[0], 4);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(contents_each_names_a_changed_one_and_continues)
{
    struct writ_kit kit;
    struct seen seen;

    start(&kit);
    writ_contents_kit_run(&kit, (spec){.argument = "1"}, "1", 0, NULL);
    writ_contents_kit_run(&kit, (spec){.argument = "2"}, "2", 0, NULL);
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "UPDATE content SET bytes = x'00' WHERE leaf = 0");
    seen = walk(&kit, (struct writ_contents_filter){.results = true}, 0);
    ck_assert_uint_eq(seen.n, 2);
    ck_assert_int_eq(seen.arguments[0], WRIT_CONTENT_CHANGED);
    ck_assert_int_eq(seen.results[0], WRIT_CONTENT_KEPT);
    ck_assert_int_eq(seen.arguments[1], WRIT_CONTENT_KEPT);
    writ_kit_wipe(&kit);
}
END_TEST

#define LARGE 6 /* calls with contents of 7 MiB each */

START_TEST(contents_of_one_group_are_bounded)
{
    struct writ_kit kit;
    writ_auto_arena arena = writ_arena_new((size_t)128 << 20);
    writ_auto_buf plain = writ_buf_make((size_t)7 << 20);
    struct writ_kit_call *calls[LARGE];
    struct writ_entry *entries[LARGE];
    struct writ_sealed sealed[LARGE];

    start(&kit);
    ck_assert_ptr_nonnull(writ_buf_reserve(&plain, (size_t)7 << 20));
    memset(plain.ptr, 'x', (size_t)7 << 20);
    plain.len = (size_t)7 << 20;
    for (int i = 0; i < LARGE; i++) {
        static const char *const arguments[] = {"0", "1", "2", "3", "4", "5"};

        calls[i] = writ_contents_kit_call(&kit, (spec){.argument = arguments[i]}, 0);
        ck_assert_ok(writ_content_seal(writ_keyring_wrap(kit.ring),
            &(struct writ_content_of){.decision_id = calls[i]->decision.decision_id.view,
                .part = WRIT_CONTENT_ARGUMENTS,
                .expires_us = calls[i]->entry.decision.content->expires_us},
            writ_buf_view(&plain), arena, &sealed[i], NULL));
        calls[i]->entry.decision.content = &sealed[i];
        entries[i] = &calls[i]->entry;
    }
    ck_assert_ok(writ_ledger_submit(kit.ledger, entries, LARGE));
    for (int i = 0; i < LARGE; i++) {
        while (sem_wait(&calls[i]->done) != 0) {
        }
        ck_assert_int_eq(calls[i]->entry.code, WRIT_OK);
        writ_kit_call_free(calls[i]);
    }
    /* a head for each group: none has more than three of these */
    ck_assert_int_ge(writ_kit_number(&kit, "SELECT count(*) FROM head"), 2);
    ck_assert_int_le(writ_kit_number(&kit, "SELECT max(size - leaf) FROM head"), 3);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(verify_names_rows_of_contents_that_do_not_belong)
{
    static const struct {
        const char *sql;
        uint64_t leaf;
    } cases[] = {
        {"INSERT INTO content_key VALUES(99, zeroblob(40))", 99},
        {"UPDATE content_key SET wrapped = x'00' WHERE leaf = 1", 1},
        {"UPDATE content_key SET wrapped = zeroblob(40) WHERE leaf = 0", 0},
        {"DELETE FROM content WHERE leaf = 1", 1},
        {"DELETE FROM content_key WHERE leaf = 0", 0},
        {"DELETE FROM content_key WHERE leaf = 1", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_verify_report report;
        struct writ_kit kit;

        start(&kit);
        writ_contents_kit_run(&kit, (spec){.argument = "1"}, "1", 0, NULL);
        writ_kit_close(&kit);
        ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL));
        ck_assert_uint_eq(report.problems, 0);
        writ_kit_sql(&kit, cases[i].sql);
        ck_assert_ok(writ_verify_ledger(kit.path, kit.ring, NULL, NULL, &report, NULL));
        ck_assert_uint_eq(report.problems, 1);
        ck_assert_uint_eq(report.list[0].leaf, cases[i].leaf);
        writ_kit_wipe(&kit);
    }
}
END_TEST

WRIT_UNIT_MAIN("contents", contents_get_gives_arguments_and_result,
    contents_get_outlives_the_next_get, contents_of_a_refused_call_are_kept_too,
    contents_state_says_why_there_is_nothing, contents_under_a_rotated_key_are_readable,
    contents_get_of_a_changed_row_is_a_mismatch,
    contents_that_are_not_those_of_the_record_are_a_mismatch,
    contents_each_walks_in_order_of_the_log, contents_each_names_a_changed_one_and_continues,
    contents_of_one_group_are_bounded, verify_names_rows_of_contents_that_do_not_belong)
