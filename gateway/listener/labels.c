/* labels.c - for each metric a set of series and an array by their numbers; its last element counts
 * what has no series of its own. */
#include "gateway/listener/labels.h"

#include "gateway/listener/metrics.h"

#include <pthread.h>

#define LABELS_MAX_BYTES 1400 /* an upstream's and a rule's, escaped; a reason or a budget */
#define SECOND_US        1000000
#define VERDICTS         WRIT_DECISION_ROUTES_N
#define TOOL_MAX_BYTES   1100

struct budget {
    struct writ_decimal limit, used;
    int64_t window_us, window; /* its length, and the number of the one that `used` counts */
};

struct writ_labels {
    pthread_mutex_t lock;
    struct writ_label_set calls, refused, budgets;
    uint64_t call_counts[WRIT_LABEL_SET_N][VERDICTS];
    uint64_t refused_counts[WRIT_LABEL_SET_N];
    struct budget amounts[WRIT_LABEL_SET_PLACES];        /* other budgets are not shown */
    struct writ_labels_export exports[WRIT_EXPORTS_MAX]; /* without a name: none */
};

WRIT_RESULT
writ_labels_new(struct writ_labels **ret, struct writ_err *err)
{
    struct writ_labels *labels = writ_alloc(sizeof *labels);

    if (labels == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for counts by tool");
    }
    (void)pthread_mutex_init(&labels->lock, NULL);
    *ret = labels;
    return WRIT_DONE;
}

void
writ_labels_free(struct writ_labels *labels)
{
    if (labels == NULL) {
        return;
    }
    writ_label_set_wipe(&labels->calls);
    writ_label_set_wipe(&labels->refused);
    writ_label_set_wipe(&labels->budgets);
    (void)pthread_mutex_destroy(&labels->lock);
    writ_free(labels);
}

/* ---- counting */

/* "tools/fs~1read_*#0": the part after the upstream's name, with its escapes undone. */
static void
put_tool(struct writ_buf *buf, const struct writ_tool_rule *rule)
{
    struct writ_view key = writ_view_sub(rule->ref, 0, writ_view_find(rule->ref, '#'));
    size_t at = writ_view_search(key, WRIT_LIT("~1")) + 2;

    while (at < key.len) {
        if (key.ptr[at] == '~' && at + 1 < key.len) {
            writ_buf_str(buf, key.ptr[at + 1] == '1' ? "/" : "~");
            at += 2;
        } else {
            writ_buf_byte(buf, key.ptr[at]);
            at++;
        }
    }
}

/* upstream="pay",tool="transfer" */
static void
put_labels(struct writ_buf *buf, const struct writ_labels_call *call)
{
    char memory[TOOL_MAX_BYTES];
    struct writ_buf tool = writ_buf_over(memory, sizeof memory);

    if (call->rule != NULL) {
        put_tool(&tool, call->rule);
    } else {
        writ_buf_str(&tool, "unlisted");
    }
    if (!writ_is_ok(writ_buf_check(&tool, NULL))) {
        buf->failed = WRIT_E_LIMIT;
    }
    writ_label_set_put(buf, "upstream", call->upstream);
    writ_label_set_put(buf, "tool", writ_buf_view(&tool));
}

void
writ_labels_count(struct writ_labels *labels, const struct writ_labels_call *call)
{
    char memory[LABELS_MAX_BYTES];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);

    put_labels(&text, call);
    (void)pthread_mutex_lock(&labels->lock);
    labels->call_counts[writ_label_set_find(&labels->calls, &text)][call->verdict]++;
    if (call->refused != WRIT_REASON_NONE) {
        writ_label_set_put(&text, "reason", writ_reason_name(call->refused));
        labels->refused_counts[writ_label_set_find(&labels->refused, &text)]++;
    }
    (void)pthread_mutex_unlock(&labels->lock);
}

void
writ_labels_budget(struct writ_labels *labels, const struct writ_labels_call *call,
    const struct writ_reservation *drawn, const struct writ_decimal *used, int64_t now_us)
{
    char memory[LABELS_MAX_BYTES];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);
    int64_t window = now_us / drawn->window_us;
    size_t number;

    put_labels(&text, call);
    writ_label_set_put(&text, "budget", drawn->name);
    (void)pthread_mutex_lock(&labels->lock);
    number = writ_label_set_find(&labels->budgets, &text);
    if (number != WRIT_LABEL_SET_OTHER) {
        struct budget *budget = &labels->amounts[number];
        bool first = budget->window != window || budget->window_us != drawn->window_us;
        if (first || writ_decimal_compare(used, &budget->used) > 0) {
            budget->used = *used;
        }
        budget->limit = drawn->limit;
        budget->window_us = drawn->window_us;
        budget->window = window;
    }
    (void)pthread_mutex_unlock(&labels->lock);
}

/* ---- reading */

static void
put_verdicts(struct writ_buf *ret, const char *name, struct writ_view labels,
    const uint64_t counts[VERDICTS])
{
    for (unsigned v = 0; v < VERDICTS; v++) {
        if (counts[v] > 0) {
            writ_buf_fmt(ret, "%s{", name);
            writ_buf_put(ret, labels);
            writ_buf_fmt(ret, ",verdict=\"" WRIT_VIEW_FMT "\"} %llu\n",
                WRIT_VIEW_ARG(writ_decision_route_name((enum writ_decision_route)v)),
                (unsigned long long)counts[v]);
        }
    }
}

static void
put_calls(const struct writ_labels *labels, struct writ_buf *ret)
{
    const char *name = writ_metrics_put_head(WRIT_LABELLED_CALLS, ret);

    for (size_t i = 0; i < WRIT_LABEL_SET_PLACES; i++) {
        put_verdicts(ret, name, writ_label_set_view(&labels->calls, i), labels->call_counts[i]);
    }
    put_verdicts(ret, name, WRIT_LIT("upstream=\"other\",tool=\"other\""),
        labels->call_counts[WRIT_LABEL_SET_OTHER]);
}

static void
put_count(struct writ_buf *ret, const char *name, struct writ_view labels, uint64_t count)
{
    if (count > 0) {
        writ_buf_fmt(ret, "%s{", name);
        writ_buf_put(ret, labels);
        writ_buf_fmt(ret, "} %llu\n", (unsigned long long)count);
    }
}

static void
put_refused(const struct writ_labels *labels, struct writ_buf *ret)
{
    const char *name = writ_metrics_put_head(WRIT_LABELLED_CALLS_REFUSED, ret);

    for (size_t i = 0; i < WRIT_LABEL_SET_PLACES; i++) {
        put_count(ret, name, writ_label_set_view(&labels->refused, i), labels->refused_counts[i]);
    }
    put_count(ret, name, WRIT_LIT("upstream=\"other\",tool=\"other\",reason=\"other\""),
        labels->refused_counts[WRIT_LABEL_SET_OTHER]);
}

/* The text of a decimal is a number of JSON, and so one of Prometheus. */
static void
put_amounts(const struct writ_labels *labels, enum writ_labelled which, int64_t now_us,
    struct writ_buf *ret)
{
    static const struct writ_decimal zero = {0};
    const char *name = writ_metrics_put_head(which, ret);

    for (size_t i = 0; i < WRIT_LABEL_SET_PLACES; i++) {
        const struct budget *budget = &labels->amounts[i];
        const struct writ_decimal *amount = &budget->limit;
        if (writ_label_set_view(&labels->budgets, i).len == 0) {
            continue;
        }
        if (which == WRIT_LABELLED_BUDGET_USED) {
            amount = budget->window == now_us / budget->window_us ? &budget->used : &zero;
        }
        writ_buf_fmt(ret, "%s{", name);
        writ_buf_put(ret, writ_label_set_view(&labels->budgets, i));
        writ_buf_str(ret, "} ");
        writ_decimal_put(ret, amount);
        writ_buf_byte(ret, '\n');
    }
}

void
writ_labels_export(struct writ_labels *labels, size_t i, const struct writ_labels_export *state)
{
    WRIT_INVARIANT(i < WRIT_EXPORTS_MAX);
    (void)pthread_mutex_lock(&labels->lock);
    labels->exports[i] = *state;
    (void)pthread_mutex_unlock(&labels->lock);
}

/* Under the lock. */
static void
put_exports(const struct writ_labels *labels, struct writ_buf *ret)
{
    const struct writ_labels_export *exports = labels->exports;
    const char *name = writ_metrics_put_head(WRIT_LABELLED_EXPORT_WAITING, ret);

    for (size_t i = 0; i < WRIT_EXPORTS_MAX && exports[i].name.len > 0; i++) {
        writ_buf_fmt(ret, "%s{export=\"" WRIT_VIEW_FMT "\"} %llu\n", name,
            WRIT_VIEW_ARG(exports[i].name), (unsigned long long)exports[i].waiting);
    }
    name = writ_metrics_put_head(WRIT_LABELLED_EXPORT_LAG, ret);
    for (size_t i = 0; i < WRIT_EXPORTS_MAX && exports[i].name.len > 0; i++) {
        writ_buf_fmt(ret, "%s{export=\"" WRIT_VIEW_FMT "\"} %lld\n", name,
            WRIT_VIEW_ARG(exports[i].name), (long long)(exports[i].lag_us / SECOND_US));
    }
}

void
writ_labels_put(struct writ_labels *labels, const struct writ_labels_upstream *upstreams, size_t n,
    int64_t now_us, struct writ_buf *ret)
{
    const char *name = writ_metrics_put_head(WRIT_LABELLED_BUILD, ret);

    writ_buf_fmt(ret, "%s{version=\"" WRIT_VERSION "\"} 1\n", name);
    name = writ_metrics_put_head(WRIT_LABELLED_UPSTREAM_UP, ret);
    for (size_t i = 0; i < n; i++) {
        writ_buf_fmt(ret, "%s{upstream=\"" WRIT_VIEW_FMT "\"} %d\n", name,
            WRIT_VIEW_ARG(upstreams[i].name), upstreams[i].up ? 1 : 0);
    }
    (void)pthread_mutex_lock(&labels->lock);
    put_amounts(labels, WRIT_LABELLED_BUDGET_LIMIT, now_us, ret);
    put_amounts(labels, WRIT_LABELLED_BUDGET_USED, now_us, ret);
    put_exports(labels, ret);
    put_calls(labels, ret);
    put_refused(labels, ret);
    (void)pthread_mutex_unlock(&labels->lock);
}
