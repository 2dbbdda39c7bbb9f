/* Rates are differences of two readings; a counter that went back belongs to a gateway that was
 * started again, and counts from zero. Quantiles are those of Prometheus: linear within a bucket.
 */
#include "cli/commands/top_view.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "gateway/listener/metrics_text.h"
#include "evidence/json/write.h"

#define ROWS_MAX    256
#define NAME_MAX    200
#define BUCKETS_MAX 64
#define VERDICTS    3
#define LINE_MAX    1024
#define TEXT_MAX    ((size_t)1 << 20)

static const struct writ_view no_label = {NULL, 0};
static const char *const verdicts[VERDICTS] = {"allow", "deny", "require_approval"};
static const struct {
    const char *name, *metric;
} latencies[] = {
    {"request", "writ_request_seconds"},
    {"call", "writ_call_seconds"},
    {"ledger", "writ_ledger_seconds"},
    {"upstream", "writ_upstream_seconds"},
};
#define LATENCIES (sizeof latencies / sizeof *latencies)

/* ---- numbers */

static double
now_of(const struct writ_top_view *view, const char *name)
{
    return writ_metrics_text_sum(view->now, writ_view_str(name), no_label, no_label, NULL);
}

static double
rate_of(const struct writ_top_view *view, double before, double now)
{
    double more = now >= before ? now - before : now;

    return view->before.len > 0 && view->seconds > 0 ? more / view->seconds : 0;
}

static double
rate(const struct writ_top_view *view, const char *name, const char *label, const char *value)
{
    struct writ_view n = writ_view_str(name), l = writ_view_str(label), v = writ_view_str(value);

    return rate_of(view, writ_metrics_text_sum(view->before, n, l, v, NULL),
        writ_metrics_text_sum(view->now, n, l, v, NULL));
}

/* A histogram: upper bounds and how many are below each. */
struct histogram {
    double bounds[BUCKETS_MAX], counts[BUCKETS_MAX];
    size_t n;
};

static void
read_histogram(struct writ_view text, const char *name, struct histogram *ret)
{
    struct writ_metrics_text_sample sample;
    struct writ_view base = writ_view_str(name);

    ret->n = 0;
    while (ret->n < BUCKETS_MAX && writ_metrics_text_next(&text, &sample)) {
        struct writ_view le = writ_metrics_text_label(&sample, WRIT_LIT("le"));

        if (writ_view_has_prefix(sample.name, base) &&
            writ_view_is(writ_view_sub(sample.name, base.len, SIZE_MAX), "_bucket")) {
            double bound = -1; /* +Inf */

            if (!writ_is_ok(writ_number_read(le, &bound))) {
                bound = -1;
            }
            ret->bounds[ret->n] = bound;
            ret->counts[ret->n++] = sample.value;
        }
    }
}

/* In seconds; -1 without observations. */
static double
quantile(const struct histogram *h, double q)
{
    double all = h->n > 0 ? h->counts[h->n - 1] : 0, below = 0, from = 0;

    if (all <= 0) {
        return -1;
    }
    for (size_t i = 0; i < h->n; i++) {
        if (h->counts[i] >= q * all) {
            double in = h->counts[i] - below;

            return h->bounds[i] < 0 || in <= 0
                       ? from
                       : from + (h->bounds[i] - from) * (q * all - below) / in;
        }
        below = h->counts[i];
        from = h->bounds[i];
    }
    return from;
}

/* What one histogram tells. */
struct latency {
    double rate, p50, p99, all_p50, all_p99;
};

static struct latency
latency_of(const struct writ_top_view *view, const char *name)
{
    struct histogram now, before, fresh;
    struct latency ret;

    read_histogram(view->now, name, &now);
    read_histogram(view->before, name, &before);
    fresh = now;
    for (size_t i = 0; before.n == now.n && i < now.n; i++) {
        bool again = now.counts[now.n - 1] < before.counts[now.n - 1];

        fresh.counts[i] = again ? now.counts[i] : now.counts[i] - before.counts[i];
    }
    ret = (struct latency){.p50 = -1, .p99 = -1};
    if (before.n == now.n && now.n > 0) {
        ret.rate = view->seconds > 0 ? fresh.counts[now.n - 1] / view->seconds : 0;
        ret.p50 = quantile(&fresh, 0.5);
        ret.p99 = quantile(&fresh, 0.99);
    }
    ret.all_p50 = quantile(&now, 0.5);
    ret.all_p99 = quantile(&now, 0.99);
    return ret;
}

/* ---- rows: refusals by reason, calls by tool */

struct row {
    struct writ_view upstream, name; /* a reason has no upstream */
    double rate, total, verdict[VERDICTS];
};

struct rows {
    struct row items[ROWS_MAX];
    size_t n;
};

static struct row *
row_of(struct rows *rows, struct writ_view upstream, struct writ_view name)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (writ_view_equal(rows->items[i].upstream, upstream) &&
            writ_view_equal(rows->items[i].name, name)) {
            return &rows->items[i];
        }
    }
    if (rows->n == ROWS_MAX) {
        return NULL;
    }
    rows->items[rows->n] = (struct row){.upstream = upstream, .name = name};
    return &rows->items[rows->n++];
}

static double
before_of(const struct writ_top_view *view, const struct writ_metrics_text_sample *sample)
{
    struct writ_metrics_text_sample old;
    struct writ_view rest = view->before;

    while (writ_metrics_text_next(&rest, &old)) {
        if (writ_view_equal(old.name, sample->name) &&
            writ_view_equal(old.labels, sample->labels)) {
            return old.value;
        }
    }
    return 0;
}

static void
sort_rows(struct rows *rows)
{
    for (size_t i = 1; i < rows->n; i++) {
        for (size_t j = i; j > 0; j--) {
            struct row *a = &rows->items[j - 1], *b = &rows->items[j], moved = *b;

            if (a->rate > b->rate || (a->rate >= b->rate && a->total >= b->total)) {
                break;
            }
            *b = *a;
            *a = moved;
        }
    }
}

static void
read_rows(const struct writ_top_view *view, const char *name, const char *label, struct rows *ret)
{
    struct writ_metrics_text_sample sample;
    struct writ_view rest = view->now;

    ret->n = 0;
    while (writ_metrics_text_next(&rest, &sample)) {
        struct writ_view verdict = writ_metrics_text_label(&sample, WRIT_LIT("verdict"));
        struct row *row;
        double more;

        if (!writ_view_is(sample.name, name)) {
            continue;
        }
        row = row_of(ret, writ_metrics_text_label(&sample, WRIT_LIT("upstream")),
            writ_metrics_text_label(&sample, writ_view_str(label)));
        if (row == NULL) {
            continue;
        }
        more = rate_of(view, before_of(view, &sample), sample.value);
        row->rate += more;
        row->total += sample.value;
        for (size_t v = 0; v < VERDICTS; v++) {
            row->verdict[v] += writ_view_is(verdict, verdicts[v]) ? sample.value : 0;
        }
    }
    sort_rows(ret);
}

/* ---- as text */

struct page {
    struct writ_buf *to;
    size_t rows, columns, n;
};

static bool
has_room(const struct page *page)
{
    return page->rows == 0 || page->n < page->rows;
}

/* Adds a line; what is not plain ASCII becomes a question mark. */
static void
put_line(struct page *page, struct writ_buf *line)
{
    size_t len = page->columns > 0 && line->len > page->columns ? page->columns : line->len;

    if (has_room(page)) {
        for (size_t i = 0; i < len; i++) {
            writ_buf_byte(page->to, line->ptr[i] < ' ' || line->ptr[i] > '~' ? '?' : line->ptr[i]);
        }
        writ_buf_byte(page->to, '\n');
        page->n++;
    }
    writ_buf_clear(line);
}

static void
put_seconds(struct writ_buf *line, double seconds)
{
    if (seconds < 0) {
        writ_buf_fmt(line, " %9s", "-");
    } else if (seconds < 1) {
        writ_buf_fmt(line, " %6.1f ms", seconds * 1000);
    } else {
        writ_buf_fmt(line, " %7.2f s", seconds);
    }
}

static void
put_upstreams(const struct writ_top_view *view, struct writ_buf *line)
{
    struct writ_metrics_text_sample sample;
    struct writ_view rest = view->now;
    size_t up = 0, down = 0;

    while (writ_metrics_text_next(&rest, &sample)) {
        if (writ_view_is(sample.name, "writ_upstream_up")) {
            *(sample.value > 0 ? &up : &down) += 1;
        }
    }
    writ_buf_fmt(line, "upstreams %zu up, %zu down", up, down);
    rest = view->now;
    while (down > 0 && writ_metrics_text_next(&rest, &sample)) {
        if (writ_view_is(sample.name, "writ_upstream_up") && sample.value <= 0) {
            writ_buf_fmt(line, " " WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(writ_view_sub(
                    writ_metrics_text_label(&sample, WRIT_LIT("upstream")), 0, NAME_MAX)));
        }
    }
}

static void
put_head(const struct writ_top_view *view, struct page *page, struct writ_buf *line)
{
    char time[WRIT_TIME_TEXT];

    writ_time_format(view->wall_us, time);
    writ_buf_fmt(line, "writ top  " WRIT_VIEW_FMT "  %.19sZ  ",
        WRIT_VIEW_ARG(writ_view_sub(view->url, 0, NAME_MAX)), time);
    if (view->failure.len > 0) {
        writ_buf_fmt(line, "NO ANSWER: " WRIT_VIEW_FMT, WRIT_VIEW_ARG(view->failure));
    } else if (view->not_ready.len > 0) {
        writ_buf_fmt(line, "NOT READY: " WRIT_VIEW_FMT, WRIT_VIEW_ARG(view->not_ready));
    } else {
        writ_buf_str(line, "ready");
    }
    put_line(page, line);
    writ_buf_fmt(line, "calls %.1f/s", rate(view, "writ_decisions_total", "", ""));
    for (size_t i = 0; i < VERDICTS; i++) {
        writ_buf_fmt(line, "  %s %.1f/s", verdicts[i],
            rate(view, "writ_decisions_total", "verdict", verdicts[i]));
    }
    put_line(page, line);
    put_upstreams(view, line);
    writ_buf_fmt(line, "  reviews waiting %.0f", now_of(view, "writ_reviews_open"));
    if (view->stops >= 0) {
        writ_buf_fmt(line, "  stops %lld", (long long)view->stops);
    } else {
        writ_buf_str(line, "  stops -");
    }
    put_line(page, line);
    writ_buf_fmt(line,
        "under way %.0f  connections %.0f  sessions %.0f  ledger %.0f records, %.0f queued",
        now_of(view, "writ_exchanges_open"), now_of(view, "writ_connections_open"),
        now_of(view, "writ_sessions_open"), now_of(view, "writ_ledger_records"),
        now_of(view, "writ_ledger_queued"));
    put_line(page, line);
    put_line(page, line);
}

static void
put_latencies(const struct writ_top_view *view, struct page *page, struct writ_buf *line)
{
    writ_buf_str(line, "LATENCY         /s       p50       p99   all p50   all p99");
    put_line(page, line);
    for (size_t i = 0; i < LATENCIES; i++) {
        struct latency one = latency_of(view, latencies[i].metric);

        writ_buf_fmt(line, "%-9s %8.1f", latencies[i].name, one.rate);
        put_seconds(line, one.p50);
        put_seconds(line, one.p99);
        put_seconds(line, one.all_p50);
        put_seconds(line, one.all_p99);
        put_line(page, line);
    }
    put_line(page, line);
}

static void
put_refusals(const struct writ_top_view *view, struct page *page, struct writ_buf *line)
{
    struct rows rows;

    read_rows(view, "writ_refusals_total", "reason", &rows);
    writ_buf_str(line, "REFUSED         /s     total  REASON");
    put_line(page, line);
    for (size_t i = 0; i < rows.n; i++) {
        writ_buf_fmt(line, "%18.1f %9.0f  " WRIT_VIEW_FMT, rows.items[i].rate, rows.items[i].total,
            WRIT_VIEW_ARG(writ_view_sub(rows.items[i].name, 0, NAME_MAX)));
        put_line(page, line);
    }
    put_line(page, line);
}

static void
put_calls(const struct writ_top_view *view, struct page *page, struct writ_buf *line)
{
    struct rows rows;

    read_rows(view, "writ_calls_total", "tool", &rows);
    writ_buf_str(line, "CALLS           /s     allow      deny  approval  TOOL");
    put_line(page, line);
    for (size_t i = 0; i < rows.n; i++) {
        const struct row *row = &rows.items[i];

        writ_buf_fmt(line, "%18.1f %9.0f %9.0f %9.0f  " WRIT_VIEW_FMT "/" WRIT_VIEW_FMT, row->rate,
            row->verdict[0], row->verdict[1], row->verdict[2],
            WRIT_VIEW_ARG(writ_view_sub(row->upstream, 0, NAME_MAX)),
            WRIT_VIEW_ARG(writ_view_sub(row->name, 0, NAME_MAX)));
        put_line(page, line);
    }
}

void
writ_top_view_text(
    const struct writ_top_view *view, size_t rows, size_t columns, struct writ_buf *ret)
{
    struct page page = {.to = ret, .rows = rows, .columns = columns};
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    put_head(view, &page, &line);
    put_latencies(view, &page, &line);
    put_refusals(view, &page, &line);
    put_calls(view, &page, &line);
}

/* ---- as JSON */

/* Rates and times as text, so that no locale or exponent gets in. */
static void
write_number(struct writ_write *w, const char *name, double value)
{
    writ_auto_buf text = writ_buf_make(64);

    writ_write_name(w, writ_view_str(name));
    if (value < 0) {
        writ_write_null(w);
        return;
    }
    writ_buf_fmt(&text, "%.6f", value);
    writ_write_string(w, writ_buf_view(&text));
}

static void
write_rows(struct writ_write *w, const struct writ_top_view *view, bool tools)
{
    struct rows rows;

    read_rows(
        view, tools ? "writ_calls_total" : "writ_refusals_total", tools ? "tool" : "reason", &rows);
    writ_write_name(w, tools ? WRIT_LIT("calls") : WRIT_LIT("refusals"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < rows.n; i++) {
        const struct row *row = &rows.items[i];

        writ_write_object_begin(w);
        if (tools) {
            writ_write_text(w, "upstream", row->upstream);
        }
        writ_write_text(w, tools ? "tool" : "reason", row->name);
        write_number(w, "per_second", row->rate);
        writ_write_count(w, "total", (uint64_t)row->total);
        for (size_t v = 0; tools && v < VERDICTS; v++) {
            writ_write_count(w, verdicts[v], (uint64_t)row->verdict[v]);
        }
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_latencies(struct writ_write *w, const struct writ_top_view *view)
{
    writ_write_name(w, WRIT_LIT("latencies"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < LATENCIES; i++) {
        struct latency one = latency_of(view, latencies[i].metric);

        writ_write_object_begin(w);
        writ_write_text(w, "of", writ_view_str(latencies[i].name));
        write_number(w, "per_second", one.rate);
        write_number(w, "p50_seconds", one.p50);
        write_number(w, "p99_seconds", one.p99);
        write_number(w, "all_p50_seconds", one.all_p50);
        write_number(w, "all_p99_seconds", one.all_p99);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
write_upstreams(struct writ_write *w, const struct writ_top_view *view)
{
    struct writ_metrics_text_sample sample;
    struct writ_view rest = view->now;

    writ_write_name(w, WRIT_LIT("upstreams"));
    writ_write_array_begin(w);
    while (writ_metrics_text_next(&rest, &sample)) {
        if (writ_view_is(sample.name, "writ_upstream_up")) {
            writ_write_object_begin(w);
            writ_write_text(w, "name", writ_metrics_text_label(&sample, WRIT_LIT("upstream")));
            writ_write_flag(w, "up", sample.value > 0);
            writ_write_object_end(w);
        }
    }
    writ_write_array_end(w);
}

void
writ_top_view_json(const struct writ_top_view *view, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);
    char time[WRIT_TIME_TEXT];

    writ_time_format(view->wall_us, time);
    writ_write_object_begin(&w);
    writ_write_text(&w, "at", writ_view_str(time));
    writ_write_flag(&w, "ready", view->not_ready.len == 0);
    writ_write_text(&w, "not_ready", view->not_ready);
    write_number(&w, "seconds", view->seconds);
    write_number(&w, "calls_per_second", rate(view, "writ_decisions_total", "", ""));
    writ_write_count(&w, "reviews_waiting", (uint64_t)now_of(view, "writ_reviews_open"));
    writ_write_name(&w, WRIT_LIT("stops"));
    if (view->stops >= 0) {
        writ_write_u64(&w, (uint64_t)view->stops);
    } else {
        writ_write_null(&w);
    }
    writ_write_count(&w, "under_way", (uint64_t)now_of(view, "writ_exchanges_open"));
    writ_write_count(&w, "connections", (uint64_t)now_of(view, "writ_connections_open"));
    writ_write_count(&w, "sessions", (uint64_t)now_of(view, "writ_sessions_open"));
    writ_write_count(&w, "ledger_records", (uint64_t)now_of(view, "writ_ledger_records"));
    write_upstreams(&w, view);
    write_latencies(&w, view);
    write_rows(&w, view, false);
    write_rows(&w, view, true);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}
