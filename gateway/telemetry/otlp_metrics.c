/* otlp_metrics.c - reads the text line by line: HELP, TYPE, then the values of a metric. A metric
 * is written with its first value. In the text each bucket of a histogram has all values up to its
 * bound; in OTLP only its own. */
#include "gateway/telemetry/otlp_metrics.h"

#include "base/text.h"

#define NS_PER_US  1000
#define CUMULATIVE 2
#define DIGITS_MAX 18 /* of an integer of 64 bits */

enum kind { KIND_GAUGE = 0, KIND_SUM, KIND_HISTOGRAM };

/* The metric that is read. */
struct reading {
    struct writ_otlp *otlp;
    int64_t from_us, now_us;
    struct writ_view name, help;
    enum kind kind;
    bool open; /* it has a value already */
    /* of a histogram */
    struct writ_view bounds[WRIT_OTLP_BUCKETS_MAX];
    uint64_t counts[WRIT_OTLP_BUCKETS_MAX], below;
    size_t buckets_n;
    struct writ_view sum;
};

static void
put_digits(struct writ_write *w, uint64_t value)
{
    char memory[24];
    struct writ_buf digits = writ_buf_over(memory, sizeof memory);

    writ_buf_u64(&digits, value);
    writ_write_string(w, writ_buf_view(&digits));
}

static void
put_time(struct writ_write *w, const char *name, int64_t wall_us)
{
    writ_write_name(w, writ_view_str(name));
    put_digits(w, (uint64_t)wall_us * NS_PER_US);
}

/* ---- a metric */

static void
open_metric(struct reading *r)
{
    static const char *const kinds[] = {
        [KIND_GAUGE] = "gauge", [KIND_SUM] = "sum", [KIND_HISTOGRAM] = "histogram"};
    struct writ_write *w = &r->otlp->w;

    if (r->open) {
        return;
    }
    r->open = true;
    r->otlp->n++;
    writ_write_object_begin(w);
    writ_write_text(w, "name", r->name);
    writ_write_text(w, "description", r->help);
    if (writ_view_has_suffix(r->name, WRIT_LIT("_seconds"))) {
        writ_write_text(w, "unit", WRIT_LIT("s"));
    }
    writ_write_name(w, writ_view_str(kinds[r->kind]));
    writ_write_object_begin(w);
    if (r->kind != KIND_GAUGE) {
        writ_write_count(w, "aggregationTemporality", CUMULATIVE);
    }
    if (r->kind == KIND_SUM) {
        writ_write_flag(w, "isMonotonic", true);
    }
    writ_write_name(w, WRIT_LIT("dataPoints"));
    writ_write_array_begin(w);
}

static void
close_metric(struct reading *r)
{
    struct writ_write *w = &r->otlp->w;

    if (r->open) {
        writ_write_array_end(w);
        writ_write_object_end(w);
        writ_write_object_end(w);
    }
    r->open = false;
    r->buckets_n = 0;
    r->below = 0;
}

static void
begin_point(struct reading *r)
{
    struct writ_write *w = &r->otlp->w;

    open_metric(r);
    writ_write_object_begin(w);
    if (r->kind != KIND_GAUGE) {
        put_time(w, "startTimeUnixNano", r->from_us);
    }
    put_time(w, "timeUnixNano", r->now_us);
}

/* ---- labels */

/* Reads name="value" at `at`, with its escapes, and returns the place behind it. */
static size_t
put_label(struct writ_write *w, struct writ_view labels, size_t at)
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
    writ_otlp_put_text(w, name, writ_buf_view(&value));
    return at + 1;
}

static void
put_labels(struct writ_write *w, struct writ_view labels)
{
    writ_write_name(w, WRIT_LIT("attributes"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < labels.len; at++) { /* past the comma */
        at = put_label(w, labels, at);
    }
    writ_write_array_end(w);
}

/* ---- values */

static bool
is_integer(struct writ_view number)
{
    struct writ_view digits =
        writ_view_has_prefix(number, WRIT_LIT("-")) ? writ_view_sub(number, 1, SIZE_MAX) : number;

    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') {
            return false;
        }
    }
    return digits.len > 0 && digits.len <= DIGITS_MAX;
}

static void
put_value(struct reading *r, struct writ_view labels, struct writ_view value)
{
    struct writ_write *w = &r->otlp->w;

    begin_point(r);
    if (is_integer(value)) {
        writ_write_text(w, "asInt", value);
    } else {
        writ_write_name(w, WRIT_LIT("asDouble"));
        writ_write_raw(w, value);
    }
    put_labels(w, labels);
    writ_write_object_end(w);
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
    r->bounds[r->buckets_n] = writ_view_sub(labels, 4, labels.len - 5);
    r->counts[r->buckets_n++] = below - r->below;
    r->below = below;
}

static void
put_histogram(struct reading *r, struct writ_view count)
{
    struct writ_write *w = &r->otlp->w;

    begin_point(r);
    writ_write_name(w, WRIT_LIT("bucketCounts"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < r->buckets_n; i++) {
        put_digits(w, r->counts[i]);
    }
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("explicitBounds"));
    writ_write_array_begin(w);
    for (size_t i = 0; i + 1 < r->buckets_n; i++) {
        writ_write_raw(w, r->bounds[i]);
    }
    writ_write_array_end(w);
    writ_write_text(w, "count", count);
    writ_write_name(w, WRIT_LIT("sum"));
    writ_write_raw(w, r->sum);
    writ_write_object_end(w);
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
        r->sum = value;
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
