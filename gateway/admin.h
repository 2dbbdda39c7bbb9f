/* admin.h - the routes of the admin listener: is it alive, is it ready, what did it count.
 *
 *   GET /healthz   200 as long as the loop turns
 *   GET /readyz    200 when every check holds, else 503 and the names of those that do not
 *   GET /metrics   Prometheus text format
 *
 * Nothing here tells a secret: names of checks and sums only. */
#ifndef WRIT_GATEWAY_ADMIN_H
#define WRIT_GATEWAY_ADMIN_H

#include "gateway/listener.h"
#include "gateway/metrics.h"

#define WRIT_ADMIN_ROUTES     3
#define WRIT_ADMIN_CHECKS_MAX 16

/** One condition of readiness. `holds` is called on the thread of `loop` and must not block. */
struct writ_admin_check {
    const char *name; /* lower-case word, static */
    bool (*holds)(void *ctx, const struct writ_loop *loop);
    void *ctx;
};

/** What the admin routes answer from. Owned by the caller, outlives the listener. */
struct writ_admin {
    struct writ_metrics *metrics;
    struct writ_admin_check checks[WRIT_ADMIN_CHECKS_MAX];
    size_t check_count;
};

/** Adds a condition. WRIT_E_LIMIT. Before the listener opens. */
WRIT_RESULT writ_admin_add(struct writ_admin *admin, const char *name,
    bool (*holds)(void *ctx, const struct writ_loop *loop), void *ctx, struct writ_err *err);

/** Fills the routes of a listener that serves `admin`. */
void writ_admin_routes(struct writ_admin *admin, struct writ_route ret[WRIT_ADMIN_ROUTES]);

#endif
