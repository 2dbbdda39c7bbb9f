/* The running gateway, by what its admin listener tells everyone: /readyz and /metrics. Limits
 * that it has reached since its start, or is near now. */
#include "cli/commands/doctor.h"
#include "gateway/listener/metrics_text.h"
#include "gateway/http/fetch.h"
#include "store/write/options.h"

#include <sys/sysinfo.h>

#define FETCH_MS  10000
#define URL_MAX   512
#define SHOWN_MAX 1000 /* bytes of /readyz */
#define NEAR      0.8

/* Appends the body of an answer, and gives its status: 0 without one. */
static long
ask(const struct writ_doctor *d, const char *path, struct writ_buf *ret)
{
    const struct writ_tls_config *tls = &d->config->admin_tls;
    struct writ_view ca = writ_cli_get(d->cli, "ca");
    const struct writ_fetch_request request = {.accept = "Accept: */*",
        .ca_file = ca.len > 0          ? ca.ptr
                   : tls->cert.len > 0 ? tls->cert.ptr
                                       : NULL};
    struct writ_view given = writ_cli_get(d->cli, "url");
    struct writ_view base = given.len > 0 ? given : d->admin_url;
    writ_auto_buf url = writ_buf_make(URL_MAX);
    long status = 0;

    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    if (base.len == 0) {
        return 0;
    }
    writ_buf_put(&url, base);
    writ_buf_str(&url, path);
    writ_buf_byte(&url, '\0');
    if (!writ_is_ok(writ_buf_check(&url, NULL)) ||
        !writ_is_ok(writ_fetch_ask(url.ptr, &request, FETCH_MS, NULL, &status, ret, NULL))) {
        return 0;
    }
    return status;
}

/* "ledger: not ready" and the like, in one line. */
static void
look_at_readiness(struct writ_doctor *d)
{
    writ_auto_buf answer = writ_buf_make(WRIT_DOCTOR_ANSWER_MAX);
    writ_auto_buf line = writ_buf_make(SHOWN_MAX);
    struct writ_view rest;

    if (ask(d, "/readyz", &answer) != 503) {
        return;
    }
    rest = writ_buf_view(&answer);
    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');
        struct writ_view one = writ_view_sub(rest, 0, end);

        if (writ_view_search(one, WRIT_LIT("not ready")) < one.len) {
            writ_buf_str(&line, line.len > 0 ? "; " : "");
            writ_buf_put(&line, writ_view_sub(one, 0, SHOWN_MAX));
        }
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    writ_doctor_add(d, WRIT_DOCTOR_GATEWAY_NOT_READY, writ_doctor_option(d, "/admin_listen"),
        WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&line)));
}

/* ---- limits */

static void
look_at_gauge(struct writ_doctor *d, struct writ_view metrics, const char *gauge,
    const char *option, int64_t limit)
{
    double now = writ_metrics_text_sum(
        metrics, writ_view_str(gauge), writ_view(NULL, 0), writ_view(NULL, 0), NULL);

    if (limit > 0 && now >= NEAR * (double)limit) {
        writ_doctor_add(d, WRIT_DOCTOR_LIMIT_NEAR, writ_doctor_option(d, option),
            "%s is %.0f of %lld", gauge, now, (long long)limit);
    }
}

static void
look_at_refusals(struct writ_doctor *d, struct writ_view metrics)
{
    static const struct {
        const char *reason, *option;
    } reasons[] = {
        {"overloaded", "/limits"},
        {"share_exceeded", "/limits/agent_share"},
        {"request_too_large", "/limits/body"},
        {"result_too_large", "/limits/response"},
        {"reviews_full", "/limits/reviews"},
        {"reviews_exceeded", "/limits/agent_reviews"},
    };
    double refused = writ_metrics_text_sum(metrics, WRIT_LIT("writ_connections_refused_total"),
        writ_view(NULL, 0), writ_view(NULL, 0), NULL);

    if (refused > 0) {
        writ_doctor_add(d, WRIT_DOCTOR_LIMIT_REACHED, writ_doctor_option(d, "/limits/connections"),
            "%.0f connections were refused since the gateway started", refused);
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        refused = writ_metrics_text_sum(metrics, WRIT_LIT("writ_refusals_total"),
            WRIT_LIT("reason"), writ_view_str(reasons[i].reason), NULL);
        if (refused > 0) {
            writ_doctor_add(d, WRIT_DOCTOR_LIMIT_REACHED, writ_doctor_option(d, reasons[i].option),
                "%.0f refusals with the reason %s since the gateway started", refused,
                reasons[i].reason);
        }
    }
}

WRIT_RESULT
writ_doctor_gateway(struct writ_doctor *d, struct writ_err *err)
{
    const struct writ_limits *limits = &d->config->limits;
    int64_t loops = d->config->loops > 0 ? d->config->loops : get_nprocs();
    writ_auto_buf answer = writ_buf_make(WRIT_DOCTOR_ANSWER_MAX);
    struct writ_view metrics;

    (void)err;
    look_at_readiness(d);
    if (ask(d, "/metrics", &answer) != 200) {
        return WRIT_DONE;
    }
    metrics = writ_buf_view(&answer);
    look_at_gauge(
        d, metrics, "writ_connections_open", "/limits/connections", limits->connections * loops);
    look_at_gauge(
        d, metrics, "writ_exchanges_open", "/limits/in_flight", limits->in_flight * loops);
    look_at_gauge(d, metrics, "writ_sessions_open", "/limits/sessions", limits->sessions);
    look_at_gauge(d, metrics, "writ_ledger_queued", "/limits/queue", limits->queue);
    look_at_gauge(d, metrics, "writ_reviews_open", "/limits/reviews", limits->reviews);
    look_at_refusals(d, metrics);
    return WRIT_DONE;
}
