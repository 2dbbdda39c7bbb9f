/* labels.c - a hash table with open addressing, twice as large as the most series it may hold, so a
 * search always ends. Series are added and never removed; those that do not fit are counted as
 * "other".
 */
#include "gateway/listener/labels.h"

#include <pthread.h>

#define PLACES           (WRIT_LABELS_MAX * 2)
#define LABELS_MAX_BYTES 1100 /* an upstream's and a rule's, escaped */
#define VERDICTS         WRIT_DECISION_ROUTES_N

struct series {
    struct writ_buf labels; /* upstream="fs",tool="read_*"; empty: the place is free */
    uint64_t counts[VERDICTS];
};

struct writ_labels {
    pthread_mutex_t lock;
    struct series places[PLACES]; /* by hash, open addressing */
    size_t n;
    uint64_t other[VERDICTS];
};

struct row {
    const char *name, *type, *help;
};

enum which {
#define WRIT_METRIC_LABELS(NAME, text, type, labels, help) LABELS_##NAME,
#include "gateway/listener/metrics.tbl.h"
};

static const struct row rows[] = {
#define WRIT_METRIC_LABELS(NAME, text, type, labels, help) {"writ_" text, type, help},
#include "gateway/listener/metrics.tbl.h"
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
    for (size_t i = 0; i < PLACES; i++) {
        writ_buf_wipe(&labels->places[i].labels);
    }
    (void)pthread_mutex_destroy(&labels->lock);
    writ_free(labels);
}

/* ---- counting */

/* Writes the value of a label: quotes, backslashes and line breaks are escaped. */
static void
put_value(struct writ_buf *buf, struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\') {
            writ_buf_byte(buf, '\\');
        }
        writ_buf_byte(buf, c == '\n' ? ' ' : c);
    }
}

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
            put_value(buf, writ_view_sub(key, at, 1));
            at++;
        }
    }
}

/* FNV-1a: the names are the configuration's own. */
static size_t
place_of(struct writ_view text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return hash % PLACES;
}

/* Under the lock. */
static uint64_t *
counts_of(struct writ_labels *labels, struct writ_view text)
{
    size_t at = place_of(text);
    struct series *place = &labels->places[at];

    while (place->labels.len > 0) {
        if (writ_view_equal(text, writ_buf_view(&place->labels))) {
            return place->counts;
        }
        at = (at + 1) % PLACES;
        place = &labels->places[at];
    }
    place->labels = writ_buf_make(text.len);
    if (labels->n < WRIT_LABELS_MAX) {
        writ_buf_put(&place->labels, text);
    }
    if (place->labels.len == 0) {
        return labels->other;
    }
    labels->n++;
    return place->counts;
}

void
writ_labels_count(struct writ_labels *labels, struct writ_view upstream,
    const struct writ_tool_rule *rule, enum writ_decision_route verdict)
{
    char memory[LABELS_MAX_BYTES];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);
    uint64_t *counts;

    writ_buf_str(&text, "upstream=\"");
    put_value(&text, upstream);
    writ_buf_str(&text, "\",tool=\"");
    if (rule != NULL) {
        put_tool(&text, rule);
    } else {
        writ_buf_str(&text, "unlisted");
    }
    writ_buf_str(&text, "\"");
    (void)pthread_mutex_lock(&labels->lock);
    counts = text.failed == WRIT_E_UNSET ? counts_of(labels, writ_buf_view(&text)) : labels->other;
    counts[verdict]++;
    (void)pthread_mutex_unlock(&labels->lock);
}

/* ---- reading */

static void
put_row(struct writ_buf *ret, enum which which)
{
    writ_buf_fmt(ret, "# HELP %s %s\n# TYPE %s %s\n", rows[which].name, rows[which].help,
        rows[which].name, rows[which].type);
}

static void
put_counts(struct writ_buf *ret, struct writ_view labels, const uint64_t counts[VERDICTS])
{
    for (unsigned v = 0; v < VERDICTS; v++) {
        if (counts[v] > 0) {
            writ_buf_fmt(ret, "%s{", rows[LABELS_CALLS].name);
            writ_buf_put(ret, labels);
            writ_buf_fmt(ret, ",verdict=\"" WRIT_VIEW_FMT "\"} %llu\n",
                WRIT_VIEW_ARG(writ_decision_route_name((enum writ_decision_route)v)),
                (unsigned long long)counts[v]);
        }
    }
}

static void
put_calls(struct writ_labels *labels, struct writ_buf *ret)
{
    put_row(ret, LABELS_CALLS);
    (void)pthread_mutex_lock(&labels->lock);
    for (size_t i = 0; i < PLACES; i++) {
        if (labels->places[i].labels.len > 0) {
            put_counts(ret, writ_buf_view(&labels->places[i].labels), labels->places[i].counts);
        }
    }
    put_counts(ret, WRIT_LIT("upstream=\"other\",tool=\"other\""), labels->other);
    (void)pthread_mutex_unlock(&labels->lock);
}

void
writ_labels_put(struct writ_labels *labels, const struct writ_labels_upstream *upstreams, size_t n,
    struct writ_buf *ret)
{
    put_row(ret, LABELS_BUILD);
    writ_buf_fmt(ret, "%s{version=\"" WRIT_VERSION "\"} 1\n", rows[LABELS_BUILD].name);
    put_row(ret, LABELS_UPSTREAM_UP);
    for (size_t i = 0; i < n; i++) {
        writ_buf_fmt(ret, "%s{upstream=\"" WRIT_VIEW_FMT "\"} %d\n", rows[LABELS_UPSTREAM_UP].name,
            WRIT_VIEW_ARG(upstreams[i].name), upstreams[i].up ? 1 : 0);
    }
    put_calls(labels, ret);
}
