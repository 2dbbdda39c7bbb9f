/* admin.h - the routes of the admin listener: liveness, readiness, metrics.
 *
 *   GET /healthz   200 as long as the loop runs
 *   GET /readyz    200 when every check holds, else 503 and the failed checks
 *   GET /metrics   Prometheus text format
 *
 * Nothing here is secret: names of checks and upstreams, sums, and why a database refuses. */
#ifndef WRIT_GATEWAY_ADMIN_H
#define WRIT_GATEWAY_ADMIN_H

#include "gateway/listener/listener.h"
#include "gateway/listener/metrics.h"

#define WRIT_ADMIN_ROUTES     3
#define WRIT_ADMIN_CHECKS_MAX 16

/** Whether a condition of readiness holds. Called on the thread of `loop`, or with NULL by the
 * owner of the checks; must not block. It may name the failed parts in `ret_names`: only names of
 * the configuration. */
typedef bool writ_admin_holds(void *ctx, const struct writ_loop *loop, struct writ_buf *ret_names);

/** One condition of readiness. */
struct writ_admin_check {
    const char *name; /* lower-case word, static */
    writ_admin_holds *holds;
    void *ctx;
};

/** The data of the admin routes. Owned by the caller, outlives the listener. */
struct writ_admin {
    struct writ_metrics *metrics;
    void (*put_more)(const void *ctx, struct writ_buf *ret); /* further metrics; NULL: none */
    const void *more;                                        /* its ctx */
    struct writ_admin_check checks[WRIT_ADMIN_CHECKS_MAX];
    size_t check_count;
    /* or NULL: appends lines to /readyz that do not change its status; as `holds` */
    void (*remarks)(void *ctx, const struct writ_loop *loop, struct writ_buf *ret);
    void *remarks_ctx;
};

/** Appends all metrics, the text of /metrics. From any thread. */
void writ_admin_put_metrics(const struct writ_admin *admin, struct writ_buf *ret);

/** Adds a condition. WRIT_E_LIMIT. Before the listener opens. */
WRIT_RESULT writ_admin_add(struct writ_admin *admin, const char *name, writ_admin_holds *holds,
    void *ctx, struct writ_err *err);

/** Whether every condition holds. Appends the names of the failed ones: "upstreams (fs, git),
 * issuers". */
bool writ_admin_is_ready(
    const struct writ_admin *admin, const struct writ_loop *loop, struct writ_buf *ret_missing);

/** Fills the routes of a listener that serves `admin`. */
void writ_admin_routes(struct writ_admin *admin, struct writ_route ret[WRIT_ADMIN_ROUTES]);

#endif
