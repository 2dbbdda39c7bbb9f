/* gauges.c - each value is read when /metrics asks for it; nothing is kept here. Two calls of the
 * file system, stat and statvfs, are all that a scrape waits for. */
#include "gateway/service/gauges.h"

#include "gateway/listener/label_set.h"
#include "gateway/upstream/upstream.h"
#include "store/ledger/ledger.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#define US_PER_S       INT64_C(1000000)
#define PATH_MAX_BYTES 4200 /* of a store, with "-wal" */
#define LABEL_MAX      8192 /* of the name of a gateway, escaped */

/* ---- the ledger */

/* One number of the ledger's health, as a gauge asks for it. */
#define LEDGER_GAUGE(name, member)                                                                 \
    static int64_t name(void *ctx)                                                                 \
    {                                                                                              \
        struct writ_ledger_health health;                                                          \
                                                                                                   \
        writ_ledger_health(((const struct writ_gateway *)ctx)->ledger, &health);                   \
        return (int64_t)health.member;                                                             \
    }
LEDGER_GAUGE(ledger_records, records)
LEDGER_GAUGE(ledger_queued, queued)
LEDGER_GAUGE(outcomes_kept, kept_outcomes)
LEDGER_GAUGE(claims, claims)
LEDGER_GAUGE(reviews_open, reviews)
LEDGER_GAUGE(reviews_waiting, reviews_waiting)
LEDGER_GAUGE(scrubs, scrubs)
#undef LEDGER_GAUGE

/* The seconds since a wall time of the ledger's health; 0 for none. */
#define AGE_GAUGE(name, member)                                                                    \
    static int64_t name(void *ctx)                                                                 \
    {                                                                                              \
        const struct writ_gateway *gateway = ctx;                                                  \
        int64_t now_us = writ_clock_wall_us(gateway->clock);                                       \
        struct writ_ledger_health health;                                                          \
                                                                                                   \
        writ_ledger_health(gateway->ledger, &health);                                              \
        return health.member > 0 && health.member < now_us ? (now_us - health.member) / US_PER_S   \
                                                           : 0;                                    \
    }
AGE_GAUGE(checkpoint_age, last_time_us)
AGE_GAUGE(scrub_age, scrubbed_us)
AGE_GAUGE(review_age, review_since_us)
#undef AGE_GAUGE

static int64_t
file_bytes(struct writ_view path, const char *suffix)
{
    char memory[PATH_MAX_BYTES];
    struct writ_buf name = writ_buf_over(memory, sizeof memory);
    struct stat found;

    writ_buf_put(&name, path);
    writ_buf_str(&name, suffix);
    writ_buf_byte(&name, '\0');
    return writ_is_ok(writ_buf_check(&name, NULL)) && stat(name.ptr, &found) == 0 ? found.st_size
                                                                                  : 0;
}

static int64_t
ledger_bytes(void *ctx)
{
    struct writ_view store = ((const struct writ_gateway *)ctx)->config->store;

    return file_bytes(store, "") + file_bytes(store, "-wal");
}

static int64_t
disk_bytes(void *ctx)
{
    struct statvfs disk;

    return statvfs(((const struct writ_gateway *)ctx)->config->store.ptr, &disk) == 0
               ? (int64_t)(disk.f_blocks * disk.f_frsize)
               : 0;
}

static int64_t
disk_free(void *ctx)
{
    struct statvfs disk;

    return statvfs(((const struct writ_gateway *)ctx)->config->store.ptr, &disk) == 0
               ? (int64_t)(disk.f_bavail * disk.f_frsize)
               : 0;
}

static void
put_state(const struct writ_gateway *gateway, struct writ_buf *ret)
{
    static const struct {
        enum writ_ledger_state state;
        const char *name;
    } states[] = {
        {WRIT_LEDGER_READY, "ready"},
        {WRIT_LEDGER_REFUSING, "refusing"},
        {WRIT_LEDGER_POISONED, "poisoned"},
    };
    const char *name = writ_metrics_put_head(WRIT_LABELLED_LEDGER_STATE, ret);
    struct writ_ledger_health health;

    writ_ledger_health(gateway->ledger, &health);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        writ_buf_fmt(ret, "%s{state=\"%s\"} %d\n", name, states[i].name,
            health.state == states[i].state ? 1 : 0);
    }
}

static void
put_of_gateway(const struct writ_ledger_fleet_figures *figures, enum writ_labelled which,
    int64_t value_us, int64_t unit, struct writ_buf *ret)
{
    const char *name = writ_metrics_put_head(which, ret);
    writ_auto_buf label = writ_buf_make(LABEL_MAX);

    writ_label_set_put(&label, "gateway", figures->gateway);
    writ_buf_fmt(ret, "%s{" WRIT_VIEW_FMT "} ", name, WRIT_VIEW_ARG(writ_buf_view(&label)));
    if (unit == 1) {
        writ_buf_fmt(ret, "%lld\n", (long long)value_us);
    } else {
        writ_buf_fmt(ret, "%.6f\n", (double)value_us / (double)unit);
    }
}

static void
put_fleet(const struct writ_gateway *gateway, struct writ_buf *ret)
{
    struct writ_ledger_fleet_figures f;

    if (!writ_ledger_fleet(gateway->ledger, &f)) {
        return;
    }
    put_of_gateway(&f, WRIT_LABELLED_FLEET_EPOCH, (int64_t)f.epoch, 1, ret);
    put_of_gateway(&f, WRIT_LABELLED_FLEET_LEASE, f.lease_us, US_PER_S, ret);
    put_of_gateway(&f, WRIT_LABELLED_FLEET_GATEWAYS, (int64_t)f.live, 1, ret);
    put_of_gateway(&f, WRIT_LABELLED_FLEET_TAKEN, (int64_t)f.taken, 1, ret);
    put_of_gateway(&f, WRIT_LABELLED_FLEET_TURNS, (int64_t)f.turns, 1, ret);
    put_of_gateway(&f, WRIT_LABELLED_FLEET_TURN_SECONDS, f.turns_us, US_PER_S, ret);
    put_of_gateway(&f, WRIT_LABELLED_FLEET_UNKNOWN, (int64_t)f.unknown, 1, ret);
}

/* ---- the rest */

static int64_t
sessions_open(void *ctx)
{
    return (int64_t)writ_sessions_count(((const struct writ_gateway *)ctx)->sessions);
}

static int64_t
upstreams_silent(void *ctx)
{
    const struct writ_gateway *gateway = ctx;
    int64_t now_us = writ_clock_mono_us(gateway->clock), n = 0;

    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        n += writ_upstream_is_left_out(gateway->upstreams[i], now_us) ? 1 : 0;
    }
    return n;
}

static int64_t
upstreams_refused(void *ctx)
{
    const struct writ_gateway *gateway = ctx;
    int64_t n = 0;

    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        n += writ_upstream_is_refused(gateway->upstreams[i]) ? 1 : 0;
    }
    return n;
}

static void
put_certificate(struct writ_buf *ret, const char *name, const char *option,
    const struct writ_listener *listener, int64_t now_us)
{
    int64_t expires_s = listener != NULL ? writ_listener_expires_s(listener) : 0;

    if (expires_s > 0) {
        writ_buf_fmt(ret, "%s{listener=\"%s\"} %lld\n", name, option,
            (long long)(expires_s - now_us / US_PER_S));
    }
}

static void
put_more(const void *ctx, struct writ_buf *ret)
{
    const struct writ_gateway *gateway = ctx;
    struct writ_labels_upstream upstreams[WRIT_UPSTREAMS_MAX];
    int64_t now_us = writ_clock_wall_us(gateway->clock);
    const char *name;

    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        upstreams[i] = (struct writ_labels_upstream){
            .name = writ_upstream_config(gateway->upstreams[i])->name,
            .up = writ_upstream_answers(gateway->upstreams[i]),
        };
    }
    writ_labels_put(gateway->labels, upstreams, gateway->upstreams_n, now_us, ret);
    put_state(gateway, ret);
    put_fleet(gateway, ret);
    name = writ_metrics_put_head(WRIT_LABELLED_CERTIFICATE, ret);
    put_certificate(ret, name, "listen", gateway->listener, now_us);
    put_certificate(ret, name, "admin_listen", gateway->admin_listener, now_us);
}

void
writ_gauges_open(struct writ_gateway *gateway)
{
    static const struct {
        enum writ_gauge gauge;
        int64_t (*ask)(void *ctx);
    } asked[] = {
        {WRIT_GAUGE_SESSIONS_OPEN, sessions_open},
        {WRIT_GAUGE_UPSTREAMS_SILENT, upstreams_silent},
        {WRIT_GAUGE_UPSTREAMS_REFUSED, upstreams_refused},
        {WRIT_GAUGE_LEDGER_RECORDS, ledger_records},
        {WRIT_GAUGE_LEDGER_QUEUED, ledger_queued},
        {WRIT_GAUGE_LEDGER_OUTCOMES_KEPT, outcomes_kept},
        {WRIT_GAUGE_LEDGER_BYTES, ledger_bytes},
        {WRIT_GAUGE_DISK_BYTES, disk_bytes},
        {WRIT_GAUGE_DISK_FREE, disk_free},
        {WRIT_GAUGE_CHECKPOINT_AGE, checkpoint_age},
        {WRIT_GAUGE_SCRUBS, scrubs},
        {WRIT_GAUGE_SCRUB_AGE, scrub_age},
        {WRIT_GAUGE_CLAIMS, claims},
        {WRIT_GAUGE_REVIEWS_OPEN, reviews_open},
        {WRIT_GAUGE_REVIEWS_WAITING, reviews_waiting},
        {WRIT_GAUGE_REVIEW_AGE, review_age},
    };

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        writ_metrics_ask(gateway->metrics, asked[i].gauge, asked[i].ask, gateway);
    }
    gateway->admin.put_more = put_more;
    gateway->admin.more = gateway;
}
