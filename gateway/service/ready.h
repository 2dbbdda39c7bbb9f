/* ready.h - readiness of the gateway for calls: the conditions of /readyz, and the log lines about
 * them.
 *
 *   ready      info  every condition holds, for the first time or again
 *   not_ready  warn  some do not hold, with their names and the upstreams that are not up
 */
#ifndef WRIT_GATEWAY_READY_H
#define WRIT_GATEWAY_READY_H

#include "gateway/state/gateway.h"

/** Zero-initialise with the first two members set. Only the main thread uses it, except for the
 * conditions. */
struct writ_ready {
    struct writ_gateway *gateway;
    struct writ_generation *const *generation; /* the main thread's current one */
    bool marks_differ; /* mark.key was not that of the newest marks when the gateway started */
    bool is;           /* at the last check */
    unsigned looks;    /* consecutive checks that found it not ready */
};

/** Adds the conditions to the gateway's admin routes. WRIT_E_LIMIT. */
WRIT_RESULT writ_ready_open(struct writ_ready *ready, struct writ_err *err);

/** Checks all conditions, logs changes, and returns whether the gateway is ready. */
bool writ_ready_look(struct writ_ready *ready);

#endif
