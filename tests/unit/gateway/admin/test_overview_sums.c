/* test_overview_sums.c - when an upstream counts as slow. */
#include "gateway/admin/overview_sums.h"
#include "support/unit.h"

#define MS INT64_C(1000)

/* Calls of one duration before the last minutes, and of another one in them. */
static struct writ_overview_upstream
upstream_of(uint64_t before_n, int64_t before_us, uint64_t recent_n, int64_t recent_us)
{
    struct writ_overview_upstream upstream = {0};

    upstream.day_durations[writ_figures_bucket(before_us)] += before_n;
    upstream.day_durations[writ_figures_bucket(recent_us)] += recent_n;
    upstream.recent_durations[writ_figures_bucket(recent_us)] += recent_n;
    return upstream;
}

START_TEST(sums_pace_much_slower_than_the_day_before_is_slow)
{
    static const struct {
        uint64_t before_n;
        int64_t before_us;
        uint64_t recent_n;
        int64_t recent_us;
        bool slow;
    } cases[] = {
        {20, 100 * MS, 20, 1000 * MS, true},
        {19, 100 * MS, 20, 1000 * MS, false}, /* too few to compare with */
        {20, 100 * MS, 19, 1000 * MS, false}, /* too few now */
        {20, 100 * MS, 20, 300 * MS, false},  /* not four times as long */
        {20, 1 * MS, 20, 400 * MS, false},    /* still quick */
        {20, 1 * MS, 20, 600 * MS, true},
        {20, 100 * MS, 100000, 1000 * MS, true}, /* most calls of the day are recent */
        {20, 1000 * MS, 20, 100 * MS, false},
        {0, 1, 0, 1, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct writ_overview_upstream upstream = upstream_of(
            cases[i].before_n, cases[i].before_us, cases[i].recent_n, cases[i].recent_us);

        ck_assert_msg(writ_overview_sums_pace(&upstream).slow == cases[i].slow, "case %zu", i);
    }
}
END_TEST

START_TEST(sums_pace_a_few_slow_calls_are_not_slow)
{
    struct writ_overview_upstream upstream = upstream_of(100, 100 * MS, 96, 100 * MS);

    upstream.recent_durations[writ_figures_bucket(5000 * MS)] = 4;
    upstream.day_durations[writ_figures_bucket(5000 * MS)] = 4;
    ck_assert(!writ_overview_sums_pace(&upstream).slow);
}
END_TEST

WRIT_UNIT_MAIN("overview_sums", sums_pace_much_slower_than_the_day_before_is_slow,
    sums_pace_a_few_slow_calls_are_not_slow)
