/* otlp_metrics.c - reads the text line by line: HELP, TYPE, then the values of a metric. A metric
 * is written with its first value. In the text each bucket of a histogram has all values up to its
 * bound; in OTLP only its own. */
#include "gateway/telemetry/otlp_metrics.h"

#include "base/number.h"
#include "base/text.h"

#define NS_PER_US  1000
#define CUMULATIVE 2
#define DIGITS_MAX 18 /* of an integer of 64 bits */

/* Numbers of fields. A gauge, a sum and a histogram have the same for what they share. */
enum { METRIC_NAME = 1, METRIC_DESCRIPTION = 2, METRIC_UNIT = 3 };
enum { METRIC_GAUGE = 5, METRIC_SUM = 7, METRIC_HISTOGRAM = 9 };
enum { DATA_POINTS = 1, DATA_TEMPORALITY = 2, SUM_IS_MONOTONIC = 3 };
enum { POINT_START = 2, POINT_TIME = 3 };
enum { NUMBER_DOUBLE = 4, NUMBER_INT = 6, NUMBER_ATTRIBUTES = 7 };
enum { HISTOGRAM_COUNT = 4, HISTOGRAM_SUM = 5, HISTOGRAM_COUNTS = 6, HISTOGRAM_BOUNDS = 7 };

enum kind { KIND_GAUGE = 0, KIND_SUM, KIND_HISTOGRAM };

/* The metric that is read. */
struct reading {
    struct writ_otlp *otlp;
    int64_t from_us, now_us;
    struct writ_view name, help;
    enum kind kind;
    bool open;            /* it has a value already */
    size_t element, data; /* where it began, and its values */
    /* of a histogram */
    double bounds[WRIT_OTLP_BUCKETS_MAX];
    uint64_t counts[WRIT_OTLP_BUCKETS_MAX], below;
    size_t buckets_n;
    double sum;
};

/* ---- a metric */

static void
open_metric(struct reading *r)
{
    static const unsigned kinds[] = {
        [KIND_GAUGE] = METRIC_GAUGE, [KIND_SUM] = METRIC_SUM, [KIND_HISTOGRAM] = METRIC_HISTOGRAM};
    struct writ_buf *body = r->otlp->body;

    if (r->open) {
        return;
    }
    r->open = true;
    r->element = writ_otlp_element_begin(r->otlp);
    writ_protobuf_put_bytes(body, METRIC_NAME, r->name);
    writ_protobuf_put_bytes(body, METRIC_DESCRIPTION, r->help);
    if (writ_view_has_suffix(r->name, WRIT_LIT("_seconds"))) {
        writ_protobuf_put_bytes(body, METRIC_UNIT, WRIT_LIT("s"));
    }
    r->data = writ_protobuf_begin(body, kinds[r->kind]);
    if (r->kind != KIND_GAUGE) {
        writ_protobuf_put(body, DATA_TEMPORALITY, CUMULATIVE);
    }
    if (r->kind == KIND_SUM) {
        writ_protobuf_put(body, SUM_IS_MONOTONIC, true);
    }
}

static void
close_metric(struct reading *r)
{
    if (r->open) {
        writ_protobuf_end(r->otlp->body, r->data);
        writ_otlp_element_end(r->otlp, r->element);
    }
    r->open = false;
    r->buckets_n = 0;
    r->below = 0;
}

static void
put_time(struct reading *r, unsigned field, int64_t wall_us)
{
    writ_protobuf_put_fixed64(r->otlp->body, field, (uint64_t)wall_us * NS_PER_US);
}

static size_t
begin_point(struct reading *r)
{
    size_t at;

    open_metric(r);
    at = writ_protobuf_begin(r->otlp->body, DATA_POINTS);
    if (r->kind != KIND_GAUGE) {
        put_time(r, POINT_START, r->from_us);
    }
    put_time(r, POINT_TIME, r->now_us);
    return at;
}

/* ---- labels */

/* Reads name="value" at `at`, with its escapes, and returns the place behind it. */
static size_t
put_label(struct writ_buf *body, struct writ_view labels, size_t at)
{
    char memory[WRIT_OTLP_LABEL_MAX];
    struct writ_buf value = writ_buf_over(memory, sizeof memory);
    struct writ_view rest = writ_view_sub(labels, at, SIZE_MAX);
    struct writ_view name = writ_view_sub(rest, 0, writ_view_find(rest, '='));

    at += name.len + 2; /* and =" */
    while (at < labels.len && labels.ptr[at] != '"') {
        at += labels.ptr[at] == '\\' && at + 1 < labels.len ? 1 : 0;
        writ_buf_byte(&value, labels.ptr[at++]);
    }
    writ_otlp_put_text(body, NUMBER_ATTRIBUTES, name, writ_buf_view(&value));
    return at + 1;
}

static void
put_labels(struct writ_buf *body, struct writ_view labels)
{
    for (size_t at = 0; at < labels.len; at++) { /* past the comma */
        at = put_label(body, labels, at);
    }
}

/* ---- values */

/* An integer of the text, in two's complement. */
static bool
is_integer(struct writ_view number, uint64_t *ret)
{
    bool negative = writ_view_has_prefix(number, WRIT_LIT("-"));
    struct writ_view digits = negative ? writ_view_sub(number, 1, SIZE_MAX) : number;
    uint64_t value = 0;

    if (digits.len > DIGITS_MAX || !writ_is_ok(writ_text_u64(digits, 0, UINT64_MAX, &value))) {
        return false;
    }
    *ret = negative ? 0 - value : value;
    return true;
}

/* It is the gateway's own text: each value is a number. */
static double
number_of(struct writ_view text)
{
    double value = 0;

    WRIT_IGNORE(writ_number_read(text, &value));
    return value;
}

static void
put_value(struct reading *r, struct writ_view labels, struct writ_view value)
{
    struct writ_buf *body = r->otlp->body;
    size_t at = begin_point(r);
    uint64_t integer;

    if (is_integer(value, &integer)) {
        writ_protobuf_put_fixed64(body, NUMBER_INT, integer);
    } else {
        writ_protobuf_put_double(body, NUMBER_DOUBLE, number_of(value));
    }
    put_labels(body, labels);
    writ_protobuf_end(body, at);
}

/* le="0.005" and all values up to there; the last bound is +Inf. */
static void
take_bucket(struct reading *r, struct writ_view labels, struct writ_view value)
{
    uint64_t below = 0;

    if (r->buckets_n == WRIT_OTLP_BUCKETS_MAX ||
        !writ_is_ok(writ_text_u64(value, 0, UINT64_MAX, &below))) {
        return;
    }
    r->bounds[r->buckets_n] = number_of(writ_view_sub(labels, 4, labels.len - 5));
    r->counts[r->buckets_n++] = below - r->below;
    r->below = below;
}

static void
put_histogram(struct reading *r, struct writ_view count)
{
    struct writ_buf *body = r->otlp->body;
    size_t at = begin_point(r), list;
    uint64_t n = 0;

    WRIT_IGNORE(writ_text_u64(count, 0, UINT64_MAX, &n));
    writ_protobuf_put_fixed64(body, HISTOGRAM_COUNT, n);
    writ_protobuf_put_double(body, HISTOGRAM_SUM, r->sum);
    list = writ_protobuf_begin(body, HISTOGRAM_COUNTS);
    for (size_t i = 0; i < r->buckets_n; i++) {
        writ_protobuf_put_word(body, r->counts[i]);
    }
    writ_protobuf_end(body, list);
    list = writ_protobuf_begin(body, HISTOGRAM_BOUNDS);
    for (size_t i = 0; i + 1 < r->buckets_n; i++) {
        writ_protobuf_put_word(body, writ_protobuf_double_bits(r->bounds[i]));
    }
    writ_protobuf_end(body, list);
    writ_protobuf_end(body, at);
}

/* ---- lines */

/* name{labels} value */
static void
take_sample(struct reading *r, struct writ_view line)
{
    size_t space = line.len, brace;
    struct writ_view series, name, labels, value;

    while (space > 0 && line.ptr[space - 1] != ' ') {
        space--;
    }
    value = writ_view_sub(line, space, SIZE_MAX);
    series = writ_view_sub(line, 0, space > 0 ? space - 1 : 0);
    brace = writ_view_find(series, '{');
    name = writ_view_sub(series, 0, brace);
    labels = brace < series.len ? writ_view_sub(series, brace + 1, series.len - brace - 2)
                                : writ_view(NULL, 0);
    if (r->kind != KIND_HISTOGRAM) {
        put_value(r, labels, value);
    } else if (writ_view_has_suffix(name, WRIT_LIT("_bucket"))) {
        take_bucket(r, labels, value);
    } else if (writ_view_has_suffix(name, WRIT_LIT("_sum"))) {
        r->sum = number_of(value);
    } else {
        put_histogram(r, value);
    }
}

/* The words of "# HELP name text" and "# TYPE name type" after the mark. */
static void
take_head(struct reading *r, struct writ_view line)
{
    struct writ_view rest = writ_view_sub(line, sizeof "# HELP " - 1, SIZE_MAX);
    size_t space = writ_view_find(rest, ' ');
    struct writ_view text = writ_view_sub(rest, space + 1, SIZE_MAX);

    if (writ_view_has_prefix(line, WRIT_LIT("# HELP "))) {
        close_metric(r);
        r->name = writ_view_sub(rest, 0, space);
        r->help = text;
    } else if (writ_view_is(text, "counter")) {
        r->kind = KIND_SUM;
    } else {
        r->kind = writ_view_is(text, "histogram") ? KIND_HISTOGRAM : KIND_GAUGE;
    }
}

void
writ_otlp_metrics_add(
    struct writ_otlp *otlp, struct writ_view text, int64_t from_us, int64_t now_us)
{
    struct reading r = {.otlp = otlp, .from_us = from_us, .now_us = now_us};

    for (size_t at = 0; at < text.len;) {
        struct writ_view rest = writ_view_sub(text, at, SIZE_MAX);
        struct writ_view line = writ_view_sub(rest, 0, writ_view_find(rest, '\n'));

        at += line.len + 1;
        if (writ_view_has_prefix(line, WRIT_LIT("#"))) {
            take_head(&r, line);
        } else if (line.len > 0) {
            take_sample(&r, line);
        }
    }
    close_metric(&r);
}
