/* Times as text. Every time has one text, which reads back as the same time; any other form is
 * refused. The C library is the oracle for dates. */
#include "support/unit.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t
time_of(const char *text)
{
    int64_t wall_us = 0;

    ck_assert_msg(writ_is_ok(writ_time_read(writ_view_str(text), &wall_us)), "%s", text);
    return wall_us;
}

START_TEST(clock_text_of_a_time_reads_back)
{
    static const struct {
        int64_t wall_us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {1, "1970-01-01T00:00:00.000001Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {INT64_C(951782400000000), "2000-02-29T00:00:00.000000Z"},
        {INT64_C(951868800000000), "2000-03-01T00:00:00.000000Z"},
        {INT64_C(1795299600123456), "2026-11-21T22:20:00.123456Z"},
        {INT64_C(4107542399999999), "2100-02-28T23:59:59.999999Z"},
        {INT64_C(4107542400000000), "2100-03-01T00:00:00.000000Z"},
        {INT64_C(-62167219200000000), "0000-01-01T00:00:00.000000Z"},
        {INT64_C(-62162035200000001), "0000-02-29T23:59:59.999999Z"},
        {INT64_C(253402300799999999), "9999-12-31T23:59:59.999999Z"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[WRIT_TIME_TEXT];
        writ_time_format(cases[i].wall_us, text);
        ck_assert_str_eq(text, cases[i].text);
        ck_assert_int_eq(time_of(cases[i].text), cases[i].wall_us);
    }
}
END_TEST

START_TEST(clock_date_of_every_day_agrees_with_the_c_library)
{
    for (int64_t day = -719528; day < 2932897; day += 97) {
        time_t s = (time_t)day * 86400 + 45296;
        char text[WRIT_TIME_TEXT], want[WRIT_TIME_TEXT];
        struct tm tm;
        ck_assert_ptr_nonnull(gmtime_r(&s, &tm));
        (void)snprintf(want, sizeof want, "%04u-%02u-%02uT12:34:56.000000Z",
            (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
            (unsigned)tm.tm_mday % 100);
        writ_time_format((int64_t)s * 1000000, text);
        ck_assert_str_eq(text, want);
        ck_assert_int_eq(time_of(want), (int64_t)s * 1000000);
    }
}
END_TEST

START_TEST(clock_text_of_a_year_beyond_four_digits_is_clamped)
{
    char text[WRIT_TIME_TEXT];

    writ_time_format(INT64_MAX, text);
    ck_assert_str_eq(text, "9999-12-31T23:59:59.999999Z");
    writ_time_format(INT64_MIN, text);
    ck_assert_str_eq(text, "0000-01-01T00:00:00.000000Z");
}
END_TEST

START_TEST(clock_read_takes_offsets_and_fractions)
{
    int64_t noon = time_of("2026-11-21T12:00:00Z");

    ck_assert_int_eq(time_of("2026-11-21T14:30:00+02:30"), noon);
    ck_assert_int_eq(time_of("2026-11-21T00:00:00-12:00"), noon);
    ck_assert_int_eq(time_of("2026-11-22T00:00:00+12:00"), noon);
    ck_assert_int_eq(time_of("2026-11-21t12:00:00z"), noon);
    ck_assert_int_eq(time_of("2026-11-21T12:00:00-00:00"), noon);
    ck_assert_int_eq(time_of("2026-11-21T12:00:00.5Z"), noon + 500000);
    ck_assert_int_eq(time_of("2026-11-21T12:00:00.000001Z"), noon + 1);
    ck_assert_int_eq(time_of("2026-11-21T12:00:00.123456789Z"), noon + 123456); /* cut */
    ck_assert_int_eq(
        time_of("2024-02-29T00:00:00Z") - time_of("2024-02-28T00:00:00Z"), INT64_C(86400000000));
}
END_TEST

START_TEST(clock_read_of_another_form_is_refused)
{
    static const char *const texts[] = {"", "2026", "2026-11-21", "2026-11-21T12:00:00",
        "2026-11-21 12:00:00Z", "2026-11-21T12:00Z", "2026-11-21T12:00:00ZZ",
        "2026-11-21T12:00:00.Z", "2026-11-21T12:00:00.1234567890Z", "2026-11-21T12:00:00,5Z",
        "2026-11-21T24:00:00Z", "2026-11-21T12:60:00Z", "2026-11-21T12:00:60Z",
        "2026-00-21T12:00:00Z", "2026-13-21T12:00:00Z", "2026-11-00T12:00:00Z",
        "2026-11-31T12:00:00Z", "2026-02-29T12:00:00Z", "2100-02-29T12:00:00Z",
        "2026-11-21T12:00:00+24:00", "2026-11-21T12:00:00+02:60", "2026-11-21T12:00:00+0200",
        "2026-11-21T12:00:00+02", "2026-11-21T12:00:00 Z", " 2026-11-21T12:00:00Z",
        "+026-11-21T12:00:00Z", "2026-1-21T12:00:00Z", "02026-11-21T12:00:00Z",
        "2026-11-21T12:00:00+", "2026-11-21T1\x32:00:00Z\n"};
    int64_t wall_us = 7;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_result r = writ_time_read(writ_view_str(texts[i]), &wall_us);
        ck_assert_msg(r.code == WRIT_E_PARSE, "%s: %s", texts[i], writ_code_name(r.code));
        ck_assert_int_eq(wall_us, 7);
    }
    ck_assert_code(writ_time_read(writ_view("2026-11-21T12:00:00\0Z", 21), &wall_us), WRIT_E_PARSE);
}
END_TEST

START_TEST(clock_system_never_goes_back)
{
    const struct writ_clock *clock = writ_clock_system();
    int64_t mono_us = writ_clock_mono_us(clock);

    ck_assert_int_ge(writ_clock_mono_us(clock), mono_us);
    ck_assert_int_gt(writ_clock_wall_us(clock), time_of("2020-01-01T00:00:00Z"));
}
END_TEST

static int64_t
fixed_us(void *ctx)
{
    return *(int64_t *)ctx;
}

START_TEST(clock_of_a_test_gives_its_time)
{
    int64_t now_us = 42;
    const struct writ_clock clock = {fixed_us, fixed_us, &now_us};

    ck_assert_int_eq(writ_clock_wall_us(&clock), 42);
    now_us = 43;
    ck_assert_int_eq(writ_clock_mono_us(&clock), 43);
}
END_TEST

/* A loaded machine sleeps longer than it was asked to: here each look takes a minute. */
static bool
minute_passes(void *ctx)
{
    *(int64_t *)ctx += 60000000;
    return false;
}

static bool
holds_at_once(void *ctx)
{
    (void)ctx;
    return true;
}

START_TEST(clock_wait_ends_by_the_clock_and_not_by_its_looks)
{
    int64_t now_us = 42;
    const struct writ_clock clock = {fixed_us, fixed_us, &now_us};

    writ_clock_wait(&clock, 90000000, minute_passes, &now_us);
    ck_assert_int_eq(now_us, 42 + 120000000);
    writ_clock_wait(&clock, 90000000, holds_at_once, NULL);
    ck_assert_int_eq(now_us, 42 + 120000000);
}
END_TEST

WRIT_UNIT_MAIN("clock", clock_text_of_a_time_reads_back,
    clock_date_of_every_day_agrees_with_the_c_library,
    clock_text_of_a_year_beyond_four_digits_is_clamped, clock_read_takes_offsets_and_fractions,
    clock_read_of_another_form_is_refused, clock_system_never_goes_back,
    clock_of_a_test_gives_its_time, clock_wait_ends_by_the_clock_and_not_by_its_looks)
