/* Counters, gauges and histograms. Shards are summed while other threads count, and the text is
 * valid Prometheus exposition. */
#include "support/unit.h"

#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"
#include "evidence/record/reason.h"
#include "gateway/listener/metrics.h"
#include "support/gateway/exposition.h"

#include <pthread.h>

#define TEXT_MAX (1U << 20)
#define THREADS  4
#define TIMES    20000

static struct writ_metrics *
metrics_of(size_t shards)
{
    struct writ_metrics *metrics = NULL;

    ck_assert_ok(writ_metrics_new(shards, &metrics, NULL));
    return metrics;
}

START_TEST(shards_are_added_up)
{
    struct writ_metrics *m = metrics_of(3);

    writ_metrics_count(writ_metrics_shard(m, 0), WRIT_COUNTER_REQUESTS, 1);
    writ_metrics_count(writ_metrics_shard(m, 2), WRIT_COUNTER_REQUESTS, 41);
    writ_metrics_gauge(writ_metrics_shard(m, 0), WRIT_GAUGE_SESSIONS_OPEN, 5);
    writ_metrics_gauge(writ_metrics_shard(m, 1), WRIT_GAUGE_SESSIONS_OPEN, -2);
    writ_metrics_mark(writ_metrics_shard(m, 0), WRIT_VECTOR_REFUSALS, WRIT_REASON_EXPIRED);
    writ_metrics_mark(writ_metrics_shard(m, 1), WRIT_VECTOR_REFUSALS, WRIT_REASON_EXPIRED);
    ck_assert_uint_eq(writ_metrics_counter_sum(m, WRIT_COUNTER_REQUESTS), 42);
    ck_assert_int_eq(writ_metrics_gauge_sum(m, WRIT_GAUGE_SESSIONS_OPEN), 3);
    ck_assert_uint_eq(writ_metrics_vector_sum(m, WRIT_VECTOR_REFUSALS, WRIT_REASON_EXPIRED), 2);
    ck_assert_uint_eq(writ_metrics_vector_sum(m, WRIT_VECTOR_REFUSALS, WRIT_REASON_MALFORMED), 0);
    writ_metrics_free(m);
}
END_TEST

static int64_t
seven(void *ctx)
{
    return *(const int64_t *)ctx;
}

START_TEST(gauge_with_a_source_is_read_from_it)
{
    struct writ_metrics *m = metrics_of(2);
    int64_t number = 7;

    writ_metrics_ask(m, WRIT_GAUGE_SESSIONS_OPEN, seven, &number);
    ck_assert_int_eq(writ_metrics_gauge_sum(m, WRIT_GAUGE_SESSIONS_OPEN), 7);
    number = 8;
    ck_assert_int_eq(writ_metrics_gauge_sum(m, WRIT_GAUGE_SESSIONS_OPEN), 8);
    ck_assert_int_eq(writ_metrics_gauge_sum(m, WRIT_GAUGE_STREAMS_OPEN), 0);
    writ_metrics_free(m);
}
END_TEST

START_TEST(text_is_valid_prometheus_exposition)
{
    struct writ_metrics *m = metrics_of(2);
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    size_t line = 0;

    writ_metrics_put(m, &text);
    ck_assert_msg(exposition_is_valid(writ_buf_view(&text), &line), "line %zu", line);
    writ_buf_clear(&text);

    writ_metrics_count(writ_metrics_shard(m, 1), WRIT_COUNTER_STREAMS, UINT64_MAX / 4);
    writ_metrics_gauge(writ_metrics_shard(m, 0), WRIT_GAUGE_STREAMS_OPEN, -1);
    writ_metrics_mark(writ_metrics_shard(m, 0), WRIT_VECTOR_DECISIONS, WRIT_DECISION_ALLOW);
    writ_metrics_mark(writ_metrics_shard(m, 0), WRIT_VECTOR_OUTCOMES, WRIT_OUTCOME_BLOCKED);
    writ_metrics_mark(writ_metrics_shard(m, 0), WRIT_VECTOR_STATUS, 4);
    writ_metrics_observe(writ_metrics_shard(m, 0), WRIT_HISTOGRAM_CALL_SECONDS, 100);
    writ_metrics_observe(writ_metrics_shard(m, 1), WRIT_HISTOGRAM_CALL_SECONDS, 101);
    writ_metrics_observe(writ_metrics_shard(m, 1), WRIT_HISTOGRAM_CALL_SECONDS, 61000000);
    writ_metrics_observe(writ_metrics_shard(m, 1), WRIT_HISTOGRAM_CALL_SECONDS, -5);
    writ_metrics_put(m, &text);
    ck_assert_ok(writ_buf_check(&text, NULL));
    ck_assert_msg(exposition_is_valid(writ_buf_view(&text), &line), "line %zu", line);

    struct writ_view v = writ_buf_view(&text);
    ck_assert(exposition_value(v, "writ_streams_open") == -1.0);
    ck_assert(exposition_value(v, "writ_decisions_total{verdict=\"allow\"}") == 1.0);
    ck_assert(exposition_value(v, "writ_outcomes_total{outcome=\"blocked\"}") == 1.0);
    ck_assert(exposition_value(v, "writ_responses_total{class=\"4xx\"}") == 1.0);
    ck_assert(exposition_value(v, "writ_call_seconds_bucket{le=\"0.0001\"}") == 2.0);
    ck_assert(exposition_value(v, "writ_call_seconds_bucket{le=\"0.00025\"}") == 3.0);
    ck_assert(exposition_value(v, "writ_call_seconds_bucket{le=\"60\"}") == 3.0);
    ck_assert(exposition_value(v, "writ_call_seconds_bucket{le=\"+Inf\"}") == 4.0);
    ck_assert(exposition_value(v, "writ_call_seconds_sum") == 61.000201);
    ck_assert_uint_eq(writ_metrics_histogram_count(m, WRIT_HISTOGRAM_CALL_SECONDS), 4);
    writ_metrics_free(m);
}
END_TEST

START_TEST(exposition_reader_refuses_invalid_text)
{
    static const char *const bad[] = {"", "a_total 1", "a_total 1\n",
        "# HELP a_total x\na_total 1\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total 1\na_total 2\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total -1\n",
        "# HELP a x\n# TYPE a counter\na 1\n", "# HELP a_total x\n# TYPE a_total counter\nb 1\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total{b=c} 1\n",
        "# HELP a_total x\n# TYPE a_total counter\na_total{b=\"c} 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n",
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 0\na_count 2\n"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!exposition_is_valid(writ_view_str(bad[i]), NULL), "%s", bad[i]);
    }
}
END_TEST

START_TEST(vector_counts_an_unknown_value_as_zero)
{
    struct writ_metrics *m = metrics_of(1);

    writ_metrics_mark(writ_metrics_shard(m, 0), WRIT_VECTOR_STATUS, 99);
    ck_assert_uint_eq(writ_metrics_vector_sum(m, WRIT_VECTOR_STATUS, 0), 1);
    writ_metrics_count(NULL, WRIT_COUNTER_REQUESTS, 1); /* without metrics a count has no effect */
    writ_metrics_gauge(NULL, WRIT_GAUGE_STREAMS_OPEN, 1);
    writ_metrics_observe(NULL, WRIT_HISTOGRAM_CALL_SECONDS, 1);
    writ_metrics_mark(NULL, WRIT_VECTOR_STATUS, 1);
    writ_metrics_free(m);
}
END_TEST

START_TEST(metrics_new_limits_the_shards)
{
    struct writ_metrics *m = NULL;

    ck_assert_code(writ_metrics_new(0, &m, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_metrics_new(WRIT_METRIC_SHARDS_MAX + 1, &m, NULL), WRIT_E_LIMIT);
    ck_assert_ptr_null(m);
    ck_assert_ok(writ_metrics_new(WRIT_METRIC_SHARDS_MAX, &m, NULL));
    writ_metrics_free(m);
    writ_metrics_free(NULL);
}
END_TEST

static void *
count_many(void *arg)
{
    for (int i = 0; i < TIMES; i++) {
        writ_metrics_count(arg, WRIT_COUNTER_REQUESTS, 1);
        writ_metrics_observe(arg, WRIT_HISTOGRAM_REQUEST_SECONDS, i);
    }
    return NULL;
}

START_TEST(threads_count_while_another_reads)
{
    struct writ_metrics *m = metrics_of(THREADS);
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, count_many, writ_metrics_shard(m, i)), 0);
    }
    for (int i = 0; i < 20; i++) {
        writ_auto_buf text = writ_buf_make(TEXT_MAX);
        writ_metrics_put(m, &text);
        ck_assert(exposition_is_valid(writ_buf_view(&text), NULL));
    }
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_eq(writ_metrics_counter_sum(m, WRIT_COUNTER_REQUESTS), THREADS * TIMES);
    ck_assert_uint_eq(
        writ_metrics_histogram_count(m, WRIT_HISTOGRAM_REQUEST_SECONDS), THREADS * TIMES);
    writ_metrics_free(m);
}
END_TEST

WRIT_UNIT_MAIN("metrics", shards_are_added_up, gauge_with_a_source_is_read_from_it,
    text_is_valid_prometheus_exposition, exposition_reader_refuses_invalid_text,
    vector_counts_an_unknown_value_as_zero, metrics_new_limits_the_shards,
    threads_count_while_another_reads)
