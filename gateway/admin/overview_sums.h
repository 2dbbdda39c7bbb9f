/* overview_sums.h - the figures of one span, added up for one caller: calls by slot and verdict,
 * refusals by tool, agent and reason, outcomes and durations by upstream. */
#ifndef WRIT_GATEWAY_OVERVIEW_SUMS_H
#define WRIT_GATEWAY_OVERVIEW_SUMS_H

#include "evidence/record/record.h"
#include "gateway/admin/name_counts.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/state/figures_feed.h"

#define WRIT_OVERVIEW_SLOTS    96
#define WRIT_OVERVIEW_ROUTES   4
#define WRIT_OVERVIEW_OUTCOMES 4
#define WRIT_OVERVIEW_RECENT   5 /* minutes that decide whether an upstream is sick */

#define WRIT_OVERVIEW_SLOW_CALLS 20
#define WRIT_OVERVIEW_SLOW_TIMES 4
#define WRIT_OVERVIEW_SLOW_US    INT64_C(500000)

enum writ_overview_by {
    WRIT_OVERVIEW_BY_TOOL = 0,
    WRIT_OVERVIEW_BY_AGENT,
    WRIT_OVERVIEW_BY_REASON,
    WRIT_OVERVIEW_BY_N
};

struct writ_overview_upstream {
    struct writ_view name;
    uint64_t outcomes[WRIT_OVERVIEW_OUTCOMES], durations[WRIT_FIGURES_BUCKETS];
    /* of all callers */
    uint64_t recent, recent_failed;
    uint64_t recent_durations[WRIT_FIGURES_BUCKETS], day_durations[WRIT_FIGURES_BUCKETS];
};

/** The durations that 95 % of the calls of an upstream do not exceed. */
struct writ_overview_pace {
    bool slow;
    int64_t recent_us, before_us; /* in the last minutes; in the day before them */
};

struct writ_overview_sums {
    struct writ_ledger_sight sight;
    enum writ_figures_span span;
    struct writ_arena *arena;
    uint64_t calls[WRIT_OVERVIEW_SLOTS][WRIT_OVERVIEW_ROUTES];
    uint64_t commits[WRIT_FIGURES_BUCKETS];
    struct writ_name_counts refusals[WRIT_OVERVIEW_BY_N];
    struct writ_overview_upstream upstreams[WRIT_UPSTREAMS_MAX];
    size_t upstreams_n;
    struct writ_figures_progress progress;
};

/**
 * Adds up.
 *
 * @param sums   with sight, span, arena, and the names of the upstreams; else zeroed
 *
 * WRIT_E_NOMEM. Not on a loop.
 */
WRIT_RESULT writ_overview_sums_make(
    struct writ_overview_sums *sums, struct writ_figures_feed *feed, int64_t now_us);

/** Compares the last WRIT_OVERVIEW_RECENT minutes with the day before them. An upstream is slow
 * when both have WRIT_OVERVIEW_SLOW_CALLS and the recent duration is WRIT_OVERVIEW_SLOW_TIMES the
 * one before, and WRIT_OVERVIEW_SLOW_US or longer. */
struct writ_overview_pace writ_overview_sums_pace(const struct writ_overview_upstream *upstream);

/** The duration that so many of a thousand do not exceed; 0: there is none. */
int64_t writ_overview_sums_quantile(
    const uint64_t durations[WRIT_FIGURES_BUCKETS], unsigned permille);

#endif
