/* overview_sums.c - names are counted in open-addressed tables in the arena, which are sorted at
 * the end. Only cells that the caller may see are added; whether an upstream is sick is known to
 * all. */
#include "gateway/admin/overview_sums.h"

#include <stdlib.h>

#define PLACES (2 * WRIT_OVERVIEW_NAMES_MAX)

static bool
sees(const struct writ_overview_sums *sums, const struct writ_figures_point *point)
{
    const struct writ_agent *agent = &sums->viewer->agent;

    if (sums->scope == WRIT_SCOPE_ALL) {
        return true;
    }
    return writ_view_equal(point->tenant, agent->tenant) &&
           (sums->scope == WRIT_SCOPE_TENANT || writ_view_equal(point->agent, agent->id));
}

static size_t
hash_of(struct writ_view group, struct writ_view name)
{
    const struct writ_view texts[] = {group, name};
    size_t hash = 5381;

    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < texts[t].len; i++) {
            hash = hash * 33 + (unsigned char)texts[t].ptr[i];
        }
        hash = hash * 33;
    }
    return hash;
}

static void
count_name(struct writ_overview_sums *sums, enum writ_overview_by by, struct writ_view group,
    struct writ_view name, uint64_t count)
{
    struct writ_overview_names *names = &sums->refusals[by];
    struct writ_overview_name *at;
    size_t i = hash_of(group, name);

    names->all += count;
    for (;; i++) {
        at = &names->items[i % PLACES];
        if (at->count == 0 ||
            (writ_view_equal(at->group, group) && writ_view_equal(at->name, name))) {
            break;
        }
    }
    if (at->count == 0) {
        if (names->n == WRIT_OVERVIEW_NAMES_MAX) {
            return; /* it is in `all` */
        }
        names->n++;
        at->group = writ_view_copy(group, sums->arena);
        at->name = writ_view_copy(name, sums->arena);
        sums->failed = sums->failed || at->group.ptr == NULL || at->name.ptr == NULL;
    }
    at->count += count;
}

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
        count_name(sums, WRIT_OVERVIEW_BY_TOOL, point->upstream, point->tool, cell->count);
        count_name(sums, WRIT_OVERVIEW_BY_AGENT, WRIT_LIT(""), point->agent, cell->count);
        count_name(sums, WRIT_OVERVIEW_BY_REASON, WRIT_LIT(""), point->reason, cell->count);
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
    if (!sees(sums, point)) {
        return;
    }
    if (point->kind == WRIT_FIGURES_DECISION) {
        add_decision(sums, cell);
    } else if (upstream != NULL && point->kind == WRIT_FIGURES_OUTCOME) {
        upstream->outcomes[point->value % WRIT_OVERVIEW_OUTCOMES] += cell->count;
    } else if (upstream != NULL) {
        upstream->durations[point->value] += cell->count;
    }
}

static void
add_recent(void *ctx, const struct writ_figures_cell *cell)
{
    struct writ_overview_upstream *upstream = find_upstream(ctx, cell->point.upstream);
    unsigned outcome = cell->point.value;

    if (upstream == NULL || cell->point.kind != WRIT_FIGURES_OUTCOME ||
        outcome == WRIT_OUTCOME_BLOCKED ||
        cell->slot + WRIT_OVERVIEW_RECENT < writ_figures_slots(WRIT_FIGURES_HOUR)) {
        return;
    }
    upstream->recent += cell->count;
    if (outcome == WRIT_OUTCOME_ERROR || outcome == WRIT_OUTCOME_TIMEOUT) {
        upstream->recent_failed += cell->count;
    }
}

static int
compare(const void *left, const void *right)
{
    const struct writ_overview_name *a = left, *b = right;
    int order;

    if (a->count != b->count) {
        return a->count < b->count ? 1 : -1;
    }
    order = writ_view_compare(a->group, b->group);
    return order != 0 ? order : writ_view_compare(a->name, b->name);
}

WRIT_RESULT
writ_overview_sums_make(
    struct writ_overview_sums *sums, struct writ_figures_feed *feed, int64_t now_us)
{
    for (size_t i = 0; i < WRIT_OVERVIEW_BY_N; i++) {
        sums->refusals[i].items =
            writ_arena_get(sums->arena, PLACES * sizeof *sums->refusals[i].items);
        if (sums->refusals[i].items == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        for (size_t n = 0; n < PLACES; n++) {
            sums->refusals[i].items[n] = (struct writ_overview_name){.count = 0};
        }
    }
    writ_figures_feed_each(feed, sums->span, now_us, add_cell, sums, &sums->progress);
    writ_figures_feed_each(feed, WRIT_FIGURES_HOUR, now_us, add_recent, sums, &sums->progress);
    for (size_t i = 0; i < WRIT_OVERVIEW_BY_N; i++) {
        qsort(sums->refusals[i].items, PLACES, sizeof *sums->refusals[i].items, compare);
    }
    return (writ_result){sums->failed ? WRIT_E_NOMEM : WRIT_OK};
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
