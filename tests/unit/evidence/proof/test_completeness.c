/* Whether the records of a run are complete. Gaps, duplicates, foreign records and a dropped tail
 * are each reported by name; only a valid seal of the same run proves the end. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/proof/completeness.h"

static void
set_free(struct writ_completeness_set **set)
{
    writ_completeness_free(*set);
}

#define auto_set WRIT_AUTO(struct writ_completeness_set *, set_free)

static struct writ_completeness_set *
new_set(void)
{
    struct writ_completeness_set *set = writ_completeness_new(10000);

    ck_assert_ptr_nonnull(set);
    return set;
}

static void
add_at(struct writ_completeness_set *set, const char *boundary, int64_t seq, int64_t running_count)
{
    struct writ_decision decision = {
        .decision_id = writ_member_text(WRIT_LIT("d")),
        .boundary_id = writ_member_text_or_absent(writ_view_str(boundary)),
        .seq = writ_member_number(seq),
        .running_count = writ_member_number(running_count),
    };

    ck_assert_ok(writ_completeness_add(set, &decision, NULL));
}

static void
add(struct writ_completeness_set *set, int64_t seq)
{
    add_at(set, "run", seq, seq + 1);
}

static void
seal_at(struct writ_completeness_set *set, const char *boundary, int64_t total)
{
    struct writ_seal seal = {
        .boundary_id = writ_member_text_or_absent(writ_view_str(boundary)),
        .sealed = writ_member_flag(true),
        .total = writ_member_number(total),
        .final_seq = writ_member_number(total - 1),
    };

    writ_completeness_seal(set, &seal);
}

/* The whole report as JSON. */
static const char *
report_of(const struct writ_completeness_set *set, struct writ_arena *arena)
{
    writ_auto_buf buf = writ_buf_make(1 << 16);
    struct writ_completeness report;
    struct writ_view text;

    ck_assert_ok(writ_completeness_report(set, arena, &report, NULL));
    ck_assert_ok(writ_completeness_put(&report, &buf, NULL));
    text = writ_view_copy(writ_buf_view(&buf), arena);
    ck_assert_ptr_nonnull(text.ptr);
    return text.ptr;
}

static bool
is_whole(const struct writ_completeness_set *set)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_completeness report;

    ck_assert_ok(writ_completeness_report(set, arena, &report, NULL));
    return report.whole;
}

START_TEST(completeness_of_a_contiguous_run_is_whole_with_or_without_a_seal)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();

    add(set, 1);
    add(set, 0);
    add(set, 2);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":3,\"foreign\":[],\"held\":3,\"miscounted\":[],"
        "\"missing\":[],\"missing_total\":0,\"seal\":null,\"unbound\":[],\"unnumbered\":[],"
        "\"whole\":true}");
    seal_at(set, "run", 3);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":3,\"foreign\":[],\"held\":3,\"miscounted\":[],"
        "\"missing\":[],\"missing_total\":0,\"seal\":\"sound\",\"unbound\":[],\"unnumbered\":[],"
        "\"whole\":true}");
}
END_TEST

START_TEST(gaps_are_named)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();

    add(set, 1);
    add(set, 5);
    seal_at(set, "run", 9);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":9,\"foreign\":[],\"held\":2,\"miscounted\":[],"
        "\"missing\":[[0,0],[2,4],[6,8]],\"missing_total\":7,\"seal\":\"sound\",\"unbound\":[],"
        "\"unnumbered\":[],\"whole\":false}");
}
END_TEST

START_TEST(completeness_of_a_dropped_tail_is_found_with_a_seal_only)
{
    auto_set set = new_set();

    add(set, 0);
    add(set, 1);
    ck_assert(is_whole(set));
    seal_at(set, "run", 3);
    ck_assert(!is_whole(set));
}
END_TEST

START_TEST(completeness_expects_the_records_of_a_running_count)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();

    add(set, 0);
    add_at(set, "run", 1, 4);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":4,\"foreign\":[],\"held\":2,\"miscounted\":[1],"
        "\"missing\":[[2,3]],\"missing_total\":2,\"seal\":null,\"unbound\":[],\"unnumbered\":[],"
        "\"whole\":false}");
}
END_TEST

START_TEST(duplicates_are_named_once)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();

    add(set, 0);
    add(set, 1);
    add(set, 1);
    add(set, 1);
    add(set, 0);
    add_at(set, "run", 1, 7);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[0,1],\"expected\":7,\"foreign\":[],\"held\":6,\"miscounted\":[1],"
        "\"missing\":[[2,6]],\"missing_total\":5,\"seal\":null,\"unbound\":[],\"unnumbered\":[],"
        "\"whole\":false}");
}
END_TEST

START_TEST(completeness_of_a_huge_count_takes_no_memory)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();
    struct writ_completeness report;

    add_at(set, "run", INT64_C(9007199254740990), INT64_C(9007199254740991));
    ck_assert_ok(writ_completeness_report(set, arena, &report, NULL));
    ck_assert_uint_eq(report.missing_count, 1);
    ck_assert_uint_eq(report.missing_total, UINT64_C(9007199254740990));
}
END_TEST

START_TEST(completeness_without_records_relies_on_the_seal)
{
    auto_set none = new_set();
    auto_set promised = new_set();
    auto_set empty_run = new_set();

    ck_assert(is_whole(none));
    seal_at(promised, "run", 1);
    ck_assert(!is_whole(promised));
    seal_at(empty_run, "run", 0);
    ck_assert(is_whole(empty_run));
}
END_TEST

START_TEST(completeness_names_a_foreign_boundary)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();

    add(set, 0);
    add_at(set, "other", 1, 2);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":2,\"foreign\":[1],\"held\":2,\"miscounted\":[],"
        "\"missing\":[],\"missing_total\":0,\"seal\":null,\"unbound\":[],\"unnumbered\":[],"
        "\"whole\":false}");
}
END_TEST

START_TEST(completeness_of_a_missing_boundary_beside_others_fails)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();

    add_at(set, "", 0, 1);
    add_at(set, "", 1, 2);
    ck_assert(is_whole(set));
    seal_at(set, "run", 2); /* the seal alone is not binding */
    ck_assert(is_whole(set));
    add(set, 2);
    seal_at(set, "run", 3);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":3,\"foreign\":[],\"held\":3,\"miscounted\":[],"
        "\"missing\":[],\"missing_total\":0,\"seal\":\"second\",\"unbound\":[0,1],"
        "\"unnumbered\":[],\"whole\":false}");
}
END_TEST

START_TEST(completeness_names_a_record_without_number)
{
    writ_auto_arena arena = writ_value_arena();
    auto_set set = new_set();
    struct writ_decision bare = {.boundary_id = writ_member_text(WRIT_LIT("run"))};
    struct writ_decision uncounted = {
        .boundary_id = writ_member_text(WRIT_LIT("run")), .seq = writ_member_number(1)};

    add(set, 0);
    ck_assert_ok(writ_completeness_add(set, &bare, NULL));
    ck_assert_ok(writ_completeness_add(set, &uncounted, NULL));
    add_at(set, "run", -1, 0);
    ck_assert_str_eq(report_of(set, arena),
        "{\"duplicates\":[],\"expected\":2,\"foreign\":[],\"held\":4,\"miscounted\":[1],"
        "\"missing\":[],\"missing_total\":0,\"seal\":null,\"unbound\":[],\"unnumbered\":[1,3],"
        "\"whole\":false}");
}
END_TEST

/* ---- the seal as a witness */

static enum writ_seal_flaw
flaw_of(const struct writ_completeness_set *set)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_completeness report;

    ck_assert_ok(writ_completeness_report(set, arena, &report, NULL));
    ck_assert_int_eq(report.whole, report.seal_flaw == WRIT_SEAL_SOUND);
    return report.seal_flaw;
}

START_TEST(completeness_ignores_a_seal_of_another_boundary)
{
    auto_set foreign = new_set();
    auto_set unbound = new_set();

    add(foreign, 0);
    seal_at(foreign, "other", 1);
    ck_assert_int_eq(flaw_of(foreign), WRIT_SEAL_FOREIGN);
    add(unbound, 0);
    seal_at(unbound, "", 1);
    ck_assert_int_eq(flaw_of(unbound), WRIT_SEAL_UNBOUND);
}
END_TEST

START_TEST(completeness_ignores_an_invalid_seal)
{
    auto_set set = new_set();
    struct writ_seal seal = {
        .boundary_id = writ_member_text(WRIT_LIT("run")), .sealed = writ_member_flag(true)};

    add(set, 0);
    writ_completeness_seal(set, &seal);
    ck_assert_int_eq(flaw_of(set), WRIT_SEAL_INVALID);
}
END_TEST

START_TEST(completeness_of_two_different_seals_fails)
{
    auto_set set = new_set();
    auto_set unbound = new_set();

    add(set, 0);
    seal_at(set, "run", 1);
    seal_at(set, "run", 1);
    ck_assert_int_eq(flaw_of(set), WRIT_SEAL_SOUND);
    seal_at(set, "run", 0);
    ck_assert_int_eq(flaw_of(set), WRIT_SEAL_SECOND);
    seal_at(unbound, "", 0);
    seal_at(unbound, "", 0);
    ck_assert_int_eq(flaw_of(unbound), WRIT_SEAL_INVALID);
}
END_TEST

START_TEST(completeness_compares_the_seal_with_the_ids_in_seq_order)
{
    writ_auto_arena arena = writ_value_arena();
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    auto_set good = new_set();
    auto_set bad = new_set();
    struct writ_seal seal;
    struct writ_decision first = {.boundary_id = writ_member_text(WRIT_LIT("run")),
        .decision_id = writ_member_text(WRIT_LIT("a")),
        .seq = writ_member_number(0),
        .running_count = writ_member_number(1)};
    struct writ_decision second = {.boundary_id = writ_member_text(WRIT_LIT("run")),
        .decision_id = writ_member_text(WRIT_LIT("b")),
        .seq = writ_member_number(1),
        .running_count = writ_member_number(2)};

    ck_assert_ok(writ_seal_hash_init(&hash, NULL));
    ck_assert_ok(writ_seal_hash_add(&hash, WRIT_LIT("a"), NULL));
    ck_assert_ok(writ_seal_hash_add(&hash, WRIT_LIT("b"), NULL));
    ck_assert_ok(writ_seal_make(WRIT_LIT("run"), &hash, 0, arena, &seal, NULL));

    ck_assert_ok(writ_completeness_add(good, &second, NULL));
    ck_assert_ok(writ_completeness_add(good, &first, NULL));
    writ_completeness_seal(good, &seal);
    ck_assert_int_eq(flaw_of(good), WRIT_SEAL_SOUND);

    /* a record exchanged for another one with the same seq */
    second.decision_id = writ_member_text(WRIT_LIT("c"));
    ck_assert_ok(writ_completeness_add(bad, &first, NULL));
    ck_assert_ok(writ_completeness_add(bad, &second, NULL));
    writ_completeness_seal(bad, &seal);
    ck_assert_int_eq(flaw_of(bad), WRIT_SEAL_HASH_DIFFERS);
}
END_TEST

START_TEST(flaws_have_names)
{
    ck_assert_view(writ_completeness_flaw_name(WRIT_SEAL_SOUND), "sound");
    ck_assert_view(writ_completeness_flaw_name(WRIT_SEAL_INVALID), "invalid");
    ck_assert_view(writ_completeness_flaw_name(WRIT_SEAL_FOREIGN), "foreign");
    ck_assert_view(writ_completeness_flaw_name(WRIT_SEAL_UNBOUND), "unbound");
    ck_assert_view(writ_completeness_flaw_name(WRIT_SEAL_SECOND), "second");
    ck_assert_view(writ_completeness_flaw_name(WRIT_SEAL_HASH_DIFFERS), "hash_differs");
}
END_TEST

START_TEST(completeness_add_beyond_the_maximum_is_refused)
{
    auto_set set = writ_completeness_new(2);
    struct writ_decision decision = {.seq = writ_member_number(2)};

    add(set, 0);
    add(set, 1);
    ck_assert_code(writ_completeness_add(set, &decision, NULL), WRIT_E_LIMIT);
    ck_assert(is_whole(set));
}
END_TEST

START_TEST(completeness_of_many_records_in_any_order_is_whole)
{
    auto_set set = new_set();

    /* 7919 is prime to the count, so every seq comes once */
    for (uint64_t i = 0; i < 10000; i++) {
        add(set, (int64_t)(i * 7919 % 10000));
    }
    ck_assert(is_whole(set));
}
END_TEST

/* Three records a second apart; the middle one came to light late, or is not held at all. */
static void
add_issued(struct writ_completeness_set *set, int64_t seq, const char *issued_at)
{
    struct writ_decision decision = {
        .decision_id = writ_member_text(WRIT_LIT("d")),
        .boundary_id = writ_member_text(WRIT_LIT("run")),
        .seq = writ_member_number(seq),
        .running_count = writ_member_number(seq + 1),
        .issued_at = writ_member_text_or_absent(writ_view_str(issued_at)),
    };

    ck_assert_ok(writ_completeness_add(set, &decision, NULL));
}

static bool
whole_until(const struct writ_completeness_set *set, const char *time)
{
    writ_auto_arena arena = writ_value_arena();
    int64_t until_us = 0;
    bool whole = false;

    ck_assert(writ_member_time(writ_view_str(time), &until_us));
    ck_assert_ok(writ_completeness_until(set, until_us, arena, &whole, NULL));
    return whole;
}

START_TEST(completeness_can_differ_between_two_times)
{
    auto_set set = writ_completeness_new(10);

    add_issued(set, 2, "2026-06-25T05:00:02Z");
    add_issued(set, 0, "2026-06-25T05:00:00Z");
    ck_assert(whole_until(set, "2026-06-25T05:00:01Z"));
    ck_assert(!whole_until(set, "2026-06-25T05:00:02Z"));
    ck_assert(!is_whole(set));
    add_issued(set, 1, "");
    ck_assert(whole_until(set, "2026-06-25T05:00:02Z"));
}
END_TEST

START_TEST(completeness_ignores_a_seal_before_its_time)
{
    auto_set set = writ_completeness_new(10);
    struct writ_seal seal = {
        .boundary_id = writ_member_text(WRIT_LIT("run")),
        .sealed = writ_member_flag(true),
        .total = writ_member_number(2),
        .sealed_at = writ_member_text(WRIT_LIT("2026-06-25T05:00:09Z")),
    };

    add_issued(set, 0, "2026-06-25T05:00:00Z");
    writ_completeness_seal(set, &seal);
    ck_assert(whole_until(set, "2026-06-25T05:00:08Z"));
    ck_assert(!whole_until(set, "2026-06-25T05:00:09Z"));
}
END_TEST

/* Every list has something in it, and each is one that memory can run out for. */
START_TEST(completeness_without_memory_fails)
{
    writ_auto_arena plenty = writ_value_arena();
    auto_set set = new_set();
    struct writ_decision bare = {0};
    const char *want;
    size_t failed = 0;

    add(set, 0);
    add(set, 0);
    add_at(set, "run", 2, 9);
    add_at(set, "other", 4, 5);
    ck_assert_ok(writ_completeness_add(set, &bare, NULL));
    want = report_of(set, plenty);
    for (size_t max = 0; max < 160; max += 8) {
        writ_auto_arena arena = writ_arena_new(max);
        writ_auto_buf got = writ_buf_make(4096);
        struct writ_completeness report = {.held = 77};
        writ_result result = writ_completeness_report(set, arena, &report, NULL);

        if (!writ_is_ok(result)) {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            ck_assert_uint_eq(report.held, 77);
            failed++;
        } else {
            ck_assert_ok(writ_completeness_put(&report, &got, NULL));
            ck_assert_view(writ_buf_view(&got), want);
        }
    }
    ck_assert_uint_gt(failed, 5);
    ck_assert_uint_lt(failed, 20);
}
END_TEST

WRIT_UNIT_MAIN("completeness", completeness_of_a_contiguous_run_is_whole_with_or_without_a_seal,
    gaps_are_named, completeness_of_a_dropped_tail_is_found_with_a_seal_only,
    completeness_expects_the_records_of_a_running_count, duplicates_are_named_once,
    completeness_of_a_huge_count_takes_no_memory, completeness_without_records_relies_on_the_seal,
    completeness_names_a_foreign_boundary, completeness_of_a_missing_boundary_beside_others_fails,
    completeness_names_a_record_without_number, completeness_ignores_a_seal_of_another_boundary,
    completeness_ignores_an_invalid_seal, completeness_of_two_different_seals_fails,
    completeness_compares_the_seal_with_the_ids_in_seq_order, flaws_have_names,
    completeness_add_beyond_the_maximum_is_refused,
    completeness_of_many_records_in_any_order_is_whole, completeness_can_differ_between_two_times,
    completeness_ignores_a_seal_before_its_time, completeness_without_memory_fails)
