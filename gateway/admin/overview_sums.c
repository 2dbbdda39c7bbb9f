/* overview_sums.c - only cells that the caller may see are added; whether an upstream is sick is
 * known to all. */
#include "gateway/admin/overview_sums.h"

static struct writ_overview_upstream *
find_upstream(struct writ_overview_sums *sums, struct writ_view name)
{
    for (size_t i = 0; i < sums->upstreams_n; i++) {
        if (writ_view_equal(sums->upstreams[i].name, name)) {
            return &sums->upstreams[i];
        }
    }
    return NULL;
}

static void
add_decision(struct writ_overview_sums *sums, const struct writ_figures_cell *cell)
{
    const struct writ_figures_point *point = &cell->point;

    sums->calls[cell->slot][point->value % WRIT_OVERVIEW_ROUTES] += cell->count;
    if (point->value == WRIT_DECISION_DENY) {
        writ_name_counts_add(
            &sums->refusals[WRIT_OVERVIEW_BY_TOOL], point->upstream, point->tool, cell->count);
        writ_name_counts_add(
            &sums->refusals[WRIT_OVERVIEW_BY_AGENT], WRIT_LIT(""), point->agent, cell->count);
        writ_name_counts_add(
            &sums->refusals[WRIT_OVERVIEW_BY_REASON], WRIT_LIT(""), point->reason, cell->count);
    }
}

static void
add_cell(void *ctx, const struct writ_figures_cell *cell)
{
    struct writ_overview_sums *sums = ctx;
    const struct writ_figures_point *point = &cell->point;
    struct writ_overview_upstream *upstream = find_upstream(sums, point->upstream);

    if (point->kind == WRIT_FIGURES_COMMIT) {
        sums->commits[point->value] += cell->count;
        return;
    }
    if (!writ_ledger_viewer_sees(&sums->sight, point->tenant, point->agent)) {
        return;
    }
    if (point->kind == WRIT_FIGURES_DECISION) {
        add_decision(sums, cell);
    } else if (upstream != NULL && point->kind == WRIT_FIGURES_OUTCOME) {
        upstream->outcomes[point->value % WRIT_OVERVIEW_OUTCOMES] += cell->count;
    } else if (upstream != NULL && point->kind == WRIT_FIGURES_DURATION) {
        upstream->durations[point->value] += cell->count;
    }
}

static void
add_recent(void *ctx, const struct writ_figures_cell *cell)
{
    struct writ_overview_upstream *upstream = find_upstream(ctx, cell->point.upstream);
    unsigned outcome = cell->point.value;

    if (upstream == NULL ||
        cell->slot + WRIT_OVERVIEW_RECENT < writ_figures_slots(WRIT_FIGURES_HOUR)) {
        return;
    }
    if (cell->point.kind == WRIT_FIGURES_DURATION) {
        upstream->recent_durations[cell->point.value] += cell->count;
    }
    if (cell->point.kind != WRIT_FIGURES_OUTCOME || outcome == WRIT_OUTCOME_BLOCKED) {
        return;
    }
    upstream->recent += cell->count;
    if (outcome == WRIT_OUTCOME_ERROR || outcome == WRIT_OUTCOME_TIMEOUT) {
        upstream->recent_failed += cell->count;
    }
}

static void
add_day(void *ctx, const struct writ_figures_cell *cell)
{
    struct writ_overview_upstream *upstream = find_upstream(ctx, cell->point.upstream);

    if (upstream != NULL && cell->point.kind == WRIT_FIGURES_DURATION) {
        upstream->day_durations[cell->point.value] += cell->count;
    }
}

WRIT_RESULT
writ_overview_sums_make(
    struct writ_overview_sums *sums, struct writ_figures_feed *feed, int64_t now_us)
{
    for (size_t i = 0; i < WRIT_OVERVIEW_BY_N; i++) {
        WRIT_TRY(writ_name_counts_init(&sums->refusals[i], sums->arena));
    }
    writ_figures_feed_each(feed, sums->span, now_us, add_cell, sums, &sums->progress);
    writ_figures_feed_each(feed, WRIT_FIGURES_HOUR, now_us, add_recent, sums, &sums->progress);
    writ_figures_feed_each(feed, WRIT_FIGURES_DAY, now_us, add_day, sums, &sums->progress);
    for (size_t i = 0; i < WRIT_OVERVIEW_BY_N; i++) {
        if (sums->refusals[i].failed) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    return WRIT_DONE;
}

int64_t
writ_overview_sums_quantile(const uint64_t durations[WRIT_FIGURES_BUCKETS], unsigned permille)
{
    uint64_t all = 0, sum = 0;

    for (unsigned i = 0; i < WRIT_FIGURES_BUCKETS; i++) {
        all += durations[i];
    }
    for (unsigned i = 0; all > 0 && i < WRIT_FIGURES_BUCKETS; i++) {
        sum += durations[i];
        if (sum * 1000 >= all * permille) {
            return writ_figures_bucket_us(i);
        }
    }
    return 0;
}

/* The day has the last minutes too, but for calls that ended between the two readings. */
struct writ_overview_pace
writ_overview_sums_pace(const struct writ_overview_upstream *upstream)
{
    uint64_t before[WRIT_FIGURES_BUCKETS], recent_n = 0, before_n = 0;
    struct writ_overview_pace pace = {0};

    for (unsigned i = 0; i < WRIT_FIGURES_BUCKETS; i++) {
        uint64_t recent = upstream->recent_durations[i], day = upstream->day_durations[i];

        before[i] = day > recent ? day - recent : 0;
        recent_n += recent;
        before_n += before[i];
    }
    if (recent_n < WRIT_OVERVIEW_SLOW_CALLS || before_n < WRIT_OVERVIEW_SLOW_CALLS) {
        return pace;
    }
    pace.recent_us = writ_overview_sums_quantile(upstream->recent_durations, 950);
    pace.before_us = writ_overview_sums_quantile(before, 950);
    pace.slow = pace.recent_us >= WRIT_OVERVIEW_SLOW_US &&
                pace.recent_us / WRIT_OVERVIEW_SLOW_TIMES >= pace.before_us;
    return pace;
}
