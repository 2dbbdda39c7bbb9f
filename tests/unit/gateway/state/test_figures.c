/* Sums by time: each span has what is in it, cells are bounded, and no count moves to another
 * tenant. */
#include "support/unit.h"

#include "gateway/state/figures.h"

#include <stdio.h>

#define NOW_US INT64_C(1782363600000000) /* 2026-06-25T05:00:00Z, the beginning of an hour */
#define MIN_US INT64_C(60000000)

typedef struct writ_figures_point point;

static struct writ_figures *
new_figures(void)
{
    struct writ_figures *figures = NULL;

    ck_assert_ok(writ_figures_new(&figures, NULL));
    return figures;
}

struct sum {
    const char *tenant;
    uint64_t count, cells;
    size_t slot;
};

static void
add_up(void *ctx, const struct writ_figures_cell *cell)
{
    struct sum *sum = ctx;

    if (sum->tenant == NULL || writ_view_is(cell->point.tenant, sum->tenant)) {
        sum->count += cell->count;
        sum->cells++;
        sum->slot = cell->slot;
    }
}

static struct sum
sum_of(const struct writ_figures *figures, enum writ_figures_span span, const char *tenant,
    int64_t now_us)
{
    struct sum sum = {.tenant = tenant};

    writ_figures_each(figures, span, now_us, add_up, &sum);
    return sum;
}

START_TEST(figures_are_in_the_spans_that_have_their_time)
{
    static const struct {
        int64_t before_us;
        uint64_t hour, day, week;
        size_t slot; /* of the week */
    } cases[] = {
        {0, 1, 1, 1, 83},
        {-MIN_US, 0, 1, 1, 83},
        {59 * MIN_US, 1, 1, 1, 83},
        {60 * MIN_US, 0, 1, 1, 83},
        {95 * 15 * MIN_US, 0, 1, 1, 71},
        {96 * 15 * MIN_US, 0, 0, 1, 71},
        {83 * 120 * MIN_US, 0, 0, 1, 0},
        {84 * 120 * MIN_US, 0, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writ_figures *figures = new_figures();
        const point one = {.tenant = WRIT_LIT("acme"), .agent = WRIT_LIT("acme")};
        int64_t now_us = NOW_US + 120 * MIN_US; /* in the middle of a slot of the week */
        struct sum week;

        writ_figures_add(figures, &one, now_us - cases[i].before_us, now_us);
        ck_assert_uint_eq(sum_of(figures, WRIT_FIGURES_HOUR, NULL, now_us).count, cases[i].hour);
        ck_assert_uint_eq(sum_of(figures, WRIT_FIGURES_DAY, NULL, now_us).count, cases[i].day);
        week = sum_of(figures, WRIT_FIGURES_WEEK, NULL, now_us);
        ck_assert_uint_eq(week.count, cases[i].week);
        ck_assert_msg(week.slot == cases[i].slot, "case %zu: slot %zu", i, week.slot);
        ck_assert_uint_eq(sum_of(figures, WRIT_FIGURES_HOUR, NULL, now_us + 61 * MIN_US).count, 0);
        ck_assert_uint_eq(writ_figures_lost(figures), 0);
        writ_figures_free(figures);
    }
}
END_TEST

START_TEST(figures_beyond_the_cells_keep_their_tenant)
{
    struct writ_figures *figures = new_figures();
    struct sum acme, globex;
    char name[32];

    for (size_t i = 0; i < 2 * WRIT_FIGURES_CELLS; i++) {
        point one = {.tenant = i % 2 == 0 ? WRIT_LIT("acme") : WRIT_LIT("globex"),
            .tool = WRIT_LIT("pay"),
            .reason = WRIT_LIT("pay")};

        (void)snprintf(name, sizeof name, "agent-%zu", i);
        one.agent = writ_view_str(name);
        writ_figures_add(figures, &one, NOW_US, NOW_US);
    }
    acme = sum_of(figures, WRIT_FIGURES_HOUR, "acme", NOW_US);
    globex = sum_of(figures, WRIT_FIGURES_HOUR, "globex", NOW_US);
    ck_assert_uint_eq(acme.count, WRIT_FIGURES_CELLS);
    ck_assert_uint_eq(globex.count, WRIT_FIGURES_CELLS);
    ck_assert_uint_eq(acme.cells + globex.cells, WRIT_FIGURES_CELLS + 2);
    ck_assert_uint_eq(writ_figures_lost(figures), 0);
    writ_figures_free(figures);
}
END_TEST

START_TEST(figures_of_too_many_tenants_are_reported_lost)
{
    struct writ_figures *figures = new_figures();
    char name[32];

    for (size_t i = 0; i < 2 * WRIT_FIGURES_CELLS + 10; i++) {
        point one = {.kind = WRIT_FIGURES_OUTCOME};

        (void)snprintf(name, sizeof name, "tenant-%zu", i);
        one.tenant = writ_view_str(name);
        writ_figures_add(figures, &one, NOW_US, NOW_US);
    }
    ck_assert_uint_eq(
        sum_of(figures, WRIT_FIGURES_HOUR, NULL, NOW_US).count, 2 * WRIT_FIGURES_CELLS);
    ck_assert_uint_eq(writ_figures_lost(figures), 10);
    writ_figures_free(figures);
}
END_TEST

START_TEST(figures_add_without_memory_counts_the_loss_or_everything)
{
    const point one = {.tenant = WRIT_LIT("acme"), .agent = WRIT_LIT("a"), .tool = WRIT_LIT("t")};
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct writ_figures *figures = new_figures();
        uint64_t found;

        writ_fault_arm(nth);
        writ_figures_add(figures, &one, NOW_US, NOW_US);
        reached = writ_fault_disarm();
        found = sum_of(figures, WRIT_FIGURES_WEEK, "acme", NOW_US).count;
        ck_assert_uint_eq(writ_figures_lost(figures), reached ? 1 : 0);
        ck_assert_uint_eq(found, reached ? 0 : 1);
        writ_figures_free(figures);
    }
}
END_TEST

START_TEST(figures_bucket_is_exact_to_a_quarter)
{
    int64_t last_us = 0;

    for (unsigned bucket = 0; bucket < WRIT_FIGURES_BUCKETS; bucket++) {
        int64_t us = writ_figures_bucket_us(bucket);

        ck_assert_int_gt(us, last_us);
        ck_assert_uint_eq(writ_figures_bucket(us), bucket);
        ck_assert_msg(
            bucket == WRIT_FIGURES_BUCKETS - 1 || writ_figures_bucket(us + 1) == bucket + 1,
            "bucket %u", bucket);
        ck_assert(last_us < 8 || us - last_us <= last_us / 4 + 1);
        last_us = us;
    }
    ck_assert_uint_eq(writ_figures_bucket(-5), 0);
    ck_assert_uint_eq(writ_figures_bucket(INT64_MAX), WRIT_FIGURES_BUCKETS - 1);
}
END_TEST

START_TEST(figures_span_find_knows_the_spans)
{
    enum writ_figures_span span = WRIT_FIGURES_WEEK;

    ck_assert(writ_figures_span_find(WRIT_LIT("day"), &span));
    ck_assert_int_eq(span, WRIT_FIGURES_DAY);
    ck_assert(!writ_figures_span_find(WRIT_LIT("year"), &span));
    ck_assert_int_eq(span, WRIT_FIGURES_DAY);
    ck_assert(writ_view_is(writ_figures_span_name(WRIT_FIGURES_HOUR), "hour"));
    ck_assert_uint_eq(writ_figures_slots(WRIT_FIGURES_HOUR), 60);
    ck_assert_int_eq(writ_figures_slot_us(WRIT_FIGURES_HOUR), MIN_US);
    ck_assert_int_eq(writ_figures_since_us(WRIT_FIGURES_HOUR, NOW_US), NOW_US - 59 * MIN_US);
}
END_TEST

WRIT_UNIT_MAIN("figures", figures_are_in_the_spans_that_have_their_time,
    figures_beyond_the_cells_keep_their_tenant, figures_of_too_many_tenants_are_reported_lost,
    figures_add_without_memory_counts_the_loss_or_everything, figures_bucket_is_exact_to_a_quarter,
    figures_span_find_knows_the_spans)
