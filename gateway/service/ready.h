/* ready.h - when the gateway is ready for calls: the conditions that /readyz asks about, and the
 * lines of the log that say so.
 *
 *   ready      info  every condition holds, for the first time or again
 *   not_ready  warn  some do not, with their names and the upstreams that are not up
 */
#ifndef WRIT_GATEWAY_READY_H
#define WRIT_GATEWAY_READY_H

#include "gateway/state/gateway.h"

/** Zero-initialise with the first two. Used by the main thread, but for the conditions. */
struct writ_ready {
    struct writ_gateway *gateway;
    struct writ_generation *const *generation; /* the main thread's current one */
    bool is;                                   /* at the last look */
    unsigned looks;                            /* in a row that found it not ready */
};

/** Adds the conditions to the gateway's admin routes. WRIT_E_LIMIT. */
WRIT_RESULT writ_ready_open(struct writ_ready *ready, struct writ_err *err);

/** Looks, logs what changed, and gives whether it is ready. */
bool writ_ready_look(struct writ_ready *ready);

#endif
