/* metrics.c
 *
 * Invariants:
 *  (1) a value of a shard is written by the thread that owns the shard, with a plain load, add and
 *      store; readers see each value whole (relaxed atomics), not all values of one moment.
 *  (2) a histogram's buckets have separate counts; they are summed up only when written out, and
 *      its count is their sum, so that a text is always consistent with itself. */
#include "gateway/listener/metrics.h"

#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"
#include "evidence/record/reason.h"

_Static_assert(WRIT_REASON_COUNT <= WRIT_METRIC_VALUES_MAX, "reasons do not fit a vector");

/* Upper bounds in microseconds, and their Prometheus texts. */
static const struct bound {
    int64_t us;
    const char *text;
} bounds[] = {
    {100, "0.0001"},
    {250, "0.00025"},
    {500, "0.0005"},
    {1000, "0.001"},
    {2500, "0.0025"},
    {5000, "0.005"},
    {10000, "0.01"},
    {25000, "0.025"},
    {50000, "0.05"},
    {100000, "0.1"},
    {250000, "0.25"},
    {500000, "0.5"},
    {1000000, "1"},
    {2500000, "2.5"},
    {5000000, "5"},
    {10000000, "10"},
    {30000000, "30"},
    {60000000, "60"},
};

#define BOUNDS (sizeof bounds / sizeof bounds[0])

struct histogram {
    _Atomic uint64_t buckets[BOUNDS + 1]; /* the last is for values above every bound */
    _Atomic uint64_t sum_us;
};

/* Shards lie on cache lines of their own, so that counting on one core does not slow another. */
struct writ_metrics_shard {
    _Alignas(64) _Atomic uint64_t counters[WRIT_COUNTER_COUNT_];
    _Atomic int64_t gauges[WRIT_GAUGE_COUNT_];
    struct histogram histograms[WRIT_HISTOGRAM_COUNT_];
    _Atomic uint64_t vectors[WRIT_VECTOR_COUNT_][WRIT_METRIC_VALUES_MAX];
};

struct writ_metrics {
    size_t count;
    void *memory; /* the allocation; `shards` is aligned within */
    struct writ_metrics_shard *shards;
    struct {
        int64_t (*ask)(void *ctx);
        void *ctx;
    } asked[WRIT_GAUGE_COUNT_];
};

struct row {
    const char *name, *help;
};

static const struct row counter_rows[] = {
#define WRIT_METRIC_COUNTER(NAME, text, help) {"writ_" text, help},
#include "gateway/listener/metrics.tbl.h"
};

static const struct row gauge_rows[] = {
#define WRIT_METRIC_GAUGE(NAME, text, help) {"writ_" text, help},
#include "gateway/listener/metrics.tbl.h"
};

static const struct row histogram_rows[] = {
#define WRIT_METRIC_HISTOGRAM(NAME, text, help) {"writ_" text, help},
#include "gateway/listener/metrics.tbl.h"
};

static const struct labelled_row {
    struct row row;
    const char *type;
} labelled_rows[] = {
#define WRIT_METRIC_LABELS(NAME, text, type, labels, help) {{"writ_" text, help}, type},
#include "gateway/listener/metrics.tbl.h"
};

/* ---- the enumerations of vectors */

static struct writ_view
verdict_name(unsigned value)
{
    return writ_decision_route_name((enum writ_decision_route)value);
}

static struct writ_view
outcome_name(unsigned value)
{
    return writ_outcome_kind_name((enum writ_outcome_kind)value);
}

static struct writ_view
reason_name(unsigned value)
{
    return writ_reason_name((enum writ_reason)value);
}

static struct writ_view
status_name(unsigned value)
{
    static const struct writ_view names[] = {WRIT_LIT("other"), WRIT_LIT("1xx"), WRIT_LIT("2xx"),
        WRIT_LIT("3xx"), WRIT_LIT("4xx"), WRIT_LIT("5xx")};

    return names[value];
}

#define SET_VERDICT verdict_name, WRIT_DECISION_ROUTES_N
#define SET_OUTCOME outcome_name, WRIT_OUTCOME_KINDS_N
#define SET_REASON  reason_name, WRIT_REASON_COUNT
#define SET_STATUS  status_name, 6

static const struct vector_row {
    struct row row;
    const char *label;
    struct writ_view (*name)(unsigned value);
    unsigned count;
} vector_rows[] = {
#define WRIT_METRIC_VECTOR(NAME, text, label, set, help) {{"writ_" text, help}, label, SET_##set},
#include "gateway/listener/metrics.tbl.h"
};

/* ---- life */

WRIT_RESULT
writ_metrics_new(size_t shards, struct writ_metrics **ret, struct writ_err *err)
{
    size_t align = _Alignof(struct writ_metrics_shard), unused;
    struct writ_metrics *metrics;

    if (shards == 0 || shards > WRIT_METRIC_SHARDS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "metrics have 1 to %d shards", WRIT_METRIC_SHARDS_MAX);
    }
    metrics = writ_alloc(sizeof *metrics);
    if (metrics != NULL) {
        metrics->memory = writ_alloc(shards * sizeof *metrics->shards + align);
    }
    if (metrics == NULL || metrics->memory == NULL) {
        writ_metrics_free(metrics);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for metrics");
    }
    metrics->count = shards;
    unused = (align - (uintptr_t)metrics->memory % align) % align;
    metrics->shards = (struct writ_metrics_shard *)(void *)((char *)metrics->memory + unused);
    *ret = metrics;
    return WRIT_DONE;
}

void
writ_metrics_free(struct writ_metrics *metrics)
{
    if (metrics != NULL) {
        writ_free(metrics->memory);
        writ_free(metrics);
    }
}

struct writ_metrics_shard *
writ_metrics_shard(struct writ_metrics *metrics, size_t index)
{
    WRIT_INVARIANT(index < metrics->count);
    return &metrics->shards[index];
}

/* ---- counting; keeps (1) */

static void
add(_Atomic uint64_t *value, uint64_t more)
{
    atomic_store_explicit(
        value, atomic_load_explicit(value, memory_order_relaxed) + more, memory_order_relaxed);
}

static uint64_t
get(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

void
writ_metrics_count(struct writ_metrics_shard *shard, enum writ_counter counter, uint64_t more)
{
    if (shard != NULL) {
        add(&shard->counters[counter], more);
    }
}

void
writ_metrics_gauge(struct writ_metrics_shard *shard, enum writ_gauge gauge, int64_t more)
{
    if (shard != NULL) {
        int64_t now = atomic_load_explicit(&shard->gauges[gauge], memory_order_relaxed);
        atomic_store_explicit(&shard->gauges[gauge], now + more, memory_order_relaxed);
    }
}

void
writ_metrics_observe(struct writ_metrics_shard *shard, enum writ_histogram histogram, int64_t us)
{
    size_t bucket = 0;

    if (shard == NULL) {
        return;
    }
    while (bucket < BOUNDS && us > bounds[bucket].us) {
        bucket++;
    }
    add(&shard->histograms[histogram].buckets[bucket], 1);
    add(&shard->histograms[histogram].sum_us, us > 0 ? (uint64_t)us : 0);
}

void
writ_metrics_mark(struct writ_metrics_shard *shard, enum writ_vector vector, unsigned value)
{
    if (shard != NULL) {
        add(&shard->vectors[vector][value < vector_rows[vector].count ? value : 0], 1);
    }
}

/* ---- reading */

uint64_t
writ_metrics_counter_sum(const struct writ_metrics *metrics, enum writ_counter counter)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        sum += get(&metrics->shards[i].counters[counter]);
    }
    return sum;
}

void
writ_metrics_ask(
    struct writ_metrics *metrics, enum writ_gauge gauge, int64_t (*ask)(void *ctx), void *ctx)
{
    metrics->asked[gauge].ask = ask;
    metrics->asked[gauge].ctx = ctx;
}

int64_t
writ_metrics_gauge_sum(const struct writ_metrics *metrics, enum writ_gauge gauge)
{
    int64_t sum = 0;

    if (metrics->asked[gauge].ask != NULL) {
        return metrics->asked[gauge].ask(metrics->asked[gauge].ctx);
    }
    for (size_t i = 0; i < metrics->count; i++) {
        sum += atomic_load_explicit(&metrics->shards[i].gauges[gauge], memory_order_relaxed);
    }
    return sum;
}

uint64_t
writ_metrics_vector_sum(const struct writ_metrics *metrics, enum writ_vector vector, unsigned value)
{
    uint64_t sum = 0;

    WRIT_INVARIANT(value < vector_rows[vector].count);
    for (size_t i = 0; i < metrics->count; i++) {
        sum += get(&metrics->shards[i].vectors[vector][value]);
    }
    return sum;
}

uint64_t
writ_metrics_histogram_count(const struct writ_metrics *metrics, enum writ_histogram histogram)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        for (size_t bucket = 0; bucket <= BOUNDS; bucket++) {
            sum += get(&metrics->shards[i].histograms[histogram].buckets[bucket]);
        }
    }
    return sum;
}

static void
put_row(struct writ_buf *out, const struct row *row, const char *type)
{
    writ_buf_fmt(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, type);
}

static void
put_histogram(const struct writ_metrics *metrics, enum writ_histogram which, struct writ_buf *out)
{
    const struct row *row = &histogram_rows[which];
    uint64_t below = 0, sum_us = 0;

    put_row(out, row, "histogram");
    for (size_t bucket = 0; bucket <= BOUNDS; bucket++) {
        for (size_t i = 0; i < metrics->count; i++) {
            below += get(&metrics->shards[i].histograms[which].buckets[bucket]);
        }
        writ_buf_fmt(out, "%s_bucket{le=\"%s\"} %llu\n", row->name,
            bucket < BOUNDS ? bounds[bucket].text : "+Inf", (unsigned long long)below);
    }
    for (size_t i = 0; i < metrics->count; i++) {
        sum_us += get(&metrics->shards[i].histograms[which].sum_us);
    }
    /* seconds with all six digits: exact, and no locale can change it */
    writ_buf_fmt(out, "%s_sum %llu.%06llu\n", row->name, (unsigned long long)(sum_us / 1000000),
        (unsigned long long)(sum_us % 1000000));
    writ_buf_fmt(out, "%s_count %llu\n", row->name, (unsigned long long)below); /* keeps (2) */
}

static void
put_vector(const struct writ_metrics *metrics, enum writ_vector which, struct writ_buf *out)
{
    const struct vector_row *row = &vector_rows[which];

    put_row(out, &row->row, "counter");
    for (unsigned value = 0; value < row->count; value++) {
        uint64_t sum = writ_metrics_vector_sum(metrics, which, value);
        if (sum > 0) {
            writ_buf_fmt(out, "%s{%s=\"" WRIT_VIEW_FMT "\"} %llu\n", row->row.name, row->label,
                WRIT_VIEW_ARG(row->name(value)), (unsigned long long)sum);
        }
    }
}

const char *
writ_metrics_put_head(enum writ_labelled which, struct writ_buf *ret)
{
    put_row(ret, &labelled_rows[which].row, labelled_rows[which].type);
    return labelled_rows[which].row.name;
}

void
writ_metrics_put(const struct writ_metrics *metrics, struct writ_buf *ret)
{
    for (unsigned i = 0; i < WRIT_COUNTER_COUNT_; i++) {
        put_row(ret, &counter_rows[i], "counter");
        writ_buf_fmt(ret, "%s %llu\n", counter_rows[i].name,
            (unsigned long long)writ_metrics_counter_sum(metrics, (enum writ_counter)i));
    }
    for (unsigned i = 0; i < WRIT_GAUGE_COUNT_; i++) {
        put_row(ret, &gauge_rows[i], "gauge");
        writ_buf_fmt(ret, "%s %lld\n", gauge_rows[i].name,
            (long long)writ_metrics_gauge_sum(metrics, (enum writ_gauge)i));
    }
    for (unsigned i = 0; i < WRIT_HISTOGRAM_COUNT_; i++) {
        put_histogram(metrics, (enum writ_histogram)i, ret);
    }
    for (unsigned i = 0; i < WRIT_VECTOR_COUNT_; i++) {
        put_vector(metrics, (enum writ_vector)i, ret);
    }
}
