/* metrics.h - counters with minimal cost.
 *
 * Every loop, the ledger's writer and every other thread that counts has a shard of its own and is
 * its only writer: counting is a plain store. Reading adds the shards up. Every metric is a row of
 * metrics.tbl.h. */
#ifndef WRIT_GATEWAY_METRICS_H
#define WRIT_GATEWAY_METRICS_H

#include "base/bytes.h"

#include <stdatomic.h>
#include <stdint.h>

enum writ_counter {
#define WRIT_METRIC_COUNTER(NAME, text, help) WRIT_COUNTER_##NAME,
#include "gateway/listener/metrics.tbl.h"
    WRIT_COUNTER_COUNT_
};

enum writ_gauge {
#define WRIT_METRIC_GAUGE(NAME, text, help) WRIT_GAUGE_##NAME,
#include "gateway/listener/metrics.tbl.h"
    WRIT_GAUGE_COUNT_
};

enum writ_histogram {
#define WRIT_METRIC_HISTOGRAM(NAME, text, help) WRIT_HISTOGRAM_##NAME,
#include "gateway/listener/metrics.tbl.h"
    WRIT_HISTOGRAM_COUNT_
};

enum writ_vector {
#define WRIT_METRIC_VECTOR(NAME, text, label, set, help) WRIT_VECTOR_##NAME,
#include "gateway/listener/metrics.tbl.h"
    WRIT_VECTOR_COUNT_
};

/** Metrics with labels of the configuration's names. */
enum writ_labelled {
#define WRIT_METRIC_LABELS(NAME, text, type, labels, help) WRIT_LABELLED_##NAME,
#include "gateway/listener/metrics.tbl.h"
    WRIT_LABELLED_COUNT_
};

#define WRIT_METRIC_SHARDS_MAX 268 /* of loops, anchors, telemetry, notify, ledger, exports */
#define WRIT_METRIC_VALUES_MAX 192 /* of one vector */

struct writ_metrics;
struct writ_metrics_shard;

/** `shards` (1 .. WRIT_METRIC_SHARDS_MAX) zeroed shards. Free with writ_metrics_free.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_metrics_new(size_t shards, struct writ_metrics **ret, struct writ_err *err);
void writ_metrics_free(struct writ_metrics *metrics);

/** Shard `index`. Only one thread may write it. */
struct writ_metrics_shard *writ_metrics_shard(struct writ_metrics *metrics, size_t index);

/* Counting. A NULL shard counts nothing. `value` of a vector is the enumeration's value; one that
 * is out of range is counted as 0. */
void writ_metrics_count(struct writ_metrics_shard *shard, enum writ_counter counter, uint64_t add);
void writ_metrics_gauge(struct writ_metrics_shard *shard, enum writ_gauge gauge, int64_t add);
void writ_metrics_observe(
    struct writ_metrics_shard *shard, enum writ_histogram histogram, int64_t us);
void writ_metrics_mark(struct writ_metrics_shard *shard, enum writ_vector vector, unsigned value);

/** A gauge whose value is kept elsewhere: `ask` returns it, from any thread, at each reading. Call
 * this before the first reading. */
void writ_metrics_ask(
    struct writ_metrics *metrics, enum writ_gauge gauge, int64_t (*ask)(void *ctx), void *ctx);

/** The sum over all shards, or the value of the gauge's function. Any thread. */
uint64_t writ_metrics_counter_sum(const struct writ_metrics *metrics, enum writ_counter counter);
int64_t writ_metrics_gauge_sum(const struct writ_metrics *metrics, enum writ_gauge gauge);
uint64_t writ_metrics_vector_sum(
    const struct writ_metrics *metrics, enum writ_vector vector, unsigned value);

/** How many observations there were. From any thread. */
uint64_t writ_metrics_histogram_count(
    const struct writ_metrics *metrics, enum writ_histogram histogram);

/** Appends everything in the Prometheus text format, version 0.0.4: HELP, TYPE, samples. Values of
 * a vector that were never counted are left out. From any thread. */
void writ_metrics_put(const struct writ_metrics *metrics, struct writ_buf *ret);

/** Appends HELP and TYPE of a labelled metric; its samples follow. Returns its name, in static
 * storage. */
const char *writ_metrics_put_head(enum writ_labelled which, struct writ_buf *ret);

#endif
