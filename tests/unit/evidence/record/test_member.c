/* Members that records share: times, texts, lists, and the list of faults. Each value has one
 * spelling, and a failure leaves the output unchanged. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/record/faults.h"
#include "evidence/record/member.h"

static bool
is_time(const char *text)
{
    return writ_member_time(writ_view_str(text), NULL);
}

START_TEST(member_time_of_another_spelling_is_refused)
{
    int64_t us = 0;

    ck_assert(writ_member_time(WRIT_LIT("2026-06-25T05:00:00.5Z"), &us));
    ck_assert_int_eq(us, INT64_C(1782363600500000));
    ck_assert(is_time("2026-06-25T05:00:00Z"));
    ck_assert(is_time("2026-06-25T05:00:00.123456789Z"));

    ck_assert(!is_time(""));
    ck_assert(!is_time("2026-06-25"));
    ck_assert(!is_time("2026-06-25T05:00Z"));
    ck_assert(!is_time("2026-06-25T05:00:00"));
    ck_assert(!is_time("2026-06-25t05:00:00Z"));
    ck_assert(!is_time("2026-06-25T05:00:00z"));
    ck_assert(!is_time("2026-06-25 05:00:00Z"));
    ck_assert(!is_time("2026-06-25T05:00:00+00:00"));
    ck_assert(!is_time("2026-06-25T05:00:00+00:00Z"));
    ck_assert(!is_time("2026-06-25T05:00:00.Z"));
    ck_assert(!is_time("2026-06-25T05:00:00.1234567890Z"));
    ck_assert(!is_time("2026-06-25T05:00:00ZZ"));
    ck_assert(!is_time(" 2026-06-25T05:00:00Z"));
}
END_TEST

START_TEST(member_time_of_an_impossible_date_is_refused)
{
    ck_assert(is_time("2028-02-29T00:00:00Z"));
    ck_assert(!is_time("2026-02-29T00:00:00Z"));
    ck_assert(!is_time("2026-13-01T00:00:00Z"));
    ck_assert(!is_time("2026-06-31T00:00:00Z"));
    ck_assert(!is_time("2026-06-25T24:00:00Z"));
    ck_assert(!is_time("2026-06-25T05:60:00Z"));
}
END_TEST

START_TEST(member_time_that_is_refused_leaves_ret_unchanged)
{
    int64_t us = 7;

    ck_assert(!writ_member_time(WRIT_LIT("yesterday"), &us));
    ck_assert_int_eq(us, 7);
}
END_TEST

START_TEST(member_time_reads_back_as_made)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_member_text text = {0};
    int64_t us = 0;

    ck_assert_ok(writ_member_time_make(INT64_C(1782363600123456), arena, &text, NULL));
    ck_assert_view(text.view, "2026-06-25T05:00:00.123456Z");
    ck_assert_int_eq(text.is, WRIT_PRESENT);
    ck_assert(writ_member_time(text.view, &us));
    ck_assert_int_eq(us, INT64_C(1782363600123456));
}
END_TEST

START_TEST(member_time_without_memory_leaves_ret_unchanged)
{
    writ_auto_arena arena = writ_arena_new(8);
    struct writ_member_text text = {0};

    ck_assert_code(writ_member_time_make(0, arena, &text, NULL), WRIT_E_NOMEM);
    ck_assert_int_eq(text.is, WRIT_ABSENT);
}
END_TEST

START_TEST(member_equal_compares_presence_and_bytes)
{
    struct writ_member_text absent = {0}, null = {WRIT_NULL, {0}}, wrong = {WRIT_WRONG, {0}};
    struct writ_member_text empty = writ_member_text(WRIT_LIT(""));
    struct writ_member_text a = writ_member_text(WRIT_LIT("a"));
    struct writ_member_text b = writ_member_text(WRIT_LIT("b"));

    ck_assert(writ_member_text_equal(&a, &a, false));
    ck_assert(!writ_member_text_equal(&a, &b, true));
    ck_assert(writ_member_text_equal(&absent, &null, true));
    ck_assert(!writ_member_text_equal(&absent, &null, false));
    ck_assert(!writ_member_text_equal(&absent, &empty, true));
    ck_assert(!writ_member_text_equal(&null, &a, true));
    ck_assert(!writ_member_text_equal(&wrong, &wrong, true));
    ck_assert(!writ_member_text_equal(&wrong, &absent, true));
}
END_TEST

START_TEST(member_text_of_an_empty_view_is_null_or_absent)
{
    ck_assert_int_eq(writ_member_text(writ_view(NULL, 0)).is, WRIT_PRESENT);
    ck_assert_int_eq(writ_member_text_or_null(writ_view(NULL, 0)).is, WRIT_NULL);
    ck_assert_int_eq(writ_member_text_or_absent(writ_view(NULL, 0)).is, WRIT_ABSENT);
    ck_assert_int_eq(writ_member_text_or_null(WRIT_LIT("a")).is, WRIT_PRESENT);
    ck_assert_int_eq(writ_member_text_or_absent(WRIT_LIT("a")).is, WRIT_PRESENT);
}
END_TEST

START_TEST(member_list_is_written_as_an_array)
{
    writ_auto_buf buf = writ_buf_make(100);
    const struct writ_view items[] = {WRIT_LIT("a\"b"), WRIT_LIT("")};
    struct writ_member_list list = writ_member_list(items, 2), empty = writ_member_list(NULL, 0);

    writ_member_put_list(&list, &buf);
    writ_member_put_list(&empty, &buf);
    ck_assert_view(writ_buf_view(&buf), "[\"a\\\"b\",\"\"][]");
}
END_TEST

START_TEST(faults_are_reported_in_one_line)
{
    writ_auto_buf buf = writ_buf_make(200);
    struct writ_faults faults = {0};

    writ_faults_put(&faults, &buf);
    ck_assert_uint_eq(buf.len, 0);
    writ_faults_add(&faults, "/tool", "is missing");
    writ_faults_add(&faults, "/seq", "is not an integer from 0");
    writ_faults_put(&faults, &buf);
    ck_assert_view(writ_buf_view(&buf), "/tool is missing; /seq is not an integer from 0");
}
END_TEST

START_TEST(faults_add_beyond_the_maximum_sets_more)
{
    writ_auto_buf buf = writ_buf_make(4096);
    struct writ_faults faults = {0};

    for (size_t i = 0; i < WRIT_FAULTS_MAX; i++) {
        writ_faults_add(&faults, "/a", "is missing");
    }
    ck_assert_uint_eq(faults.count, WRIT_FAULTS_MAX);
    ck_assert(!faults.more);
    writ_faults_add(&faults, "/a", "is missing");
    ck_assert_uint_eq(faults.count, WRIT_FAULTS_MAX);
    ck_assert(faults.more);
    writ_faults_put(&faults, &buf);
    ck_assert(writ_view_has_suffix(writ_buf_view(&buf), WRIT_LIT("; and more")));
}
END_TEST

WRIT_UNIT_MAIN("member", member_time_of_another_spelling_is_refused,
    member_time_of_an_impossible_date_is_refused, member_time_that_is_refused_leaves_ret_unchanged,
    member_time_reads_back_as_made, member_time_without_memory_leaves_ret_unchanged,
    member_equal_compares_presence_and_bytes, member_text_of_an_empty_view_is_null_or_absent,
    member_list_is_written_as_an_array, faults_are_reported_in_one_line,
    faults_add_beyond_the_maximum_sets_more)
