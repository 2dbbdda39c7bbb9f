/* stdio_owner.h - a stdio upstream as its owner loop sees it. Inside of stdio.
 *
 * Everything here but the atomics belongs to the owner loop. */
#ifndef WRIT_GATEWAY_STDIO_OWNER_H
#define WRIT_GATEWAY_STDIO_OWNER_H

#include "gateway/child.h"
#include "gateway/flight.h"
#include "gateway/gateway.h"

#define WRIT_STDIO_INITIALIZE_ID 0 /* our id of initialize; requests begin at 1 */
#define WRIT_STDIO_FAILURES_MAX  3 /* after so many failed starts nobody waits for the next one */

enum writ_stdio_state {
    WRIT_STDIO_DOWN = 0,
    WRIT_STDIO_HANDSHAKE, /* the child is there and has not answered initialize */
    WRIT_STDIO_UP,
    WRIT_STDIO_STOPPED, /* there will be no child any more */
};

struct writ_stdio {
    struct writ_gateway *gateway;
    const struct writ_upstream_config *config;
    struct writ_loop *loop;
    struct writ_child *child;
    struct writ_post open, stop;
    atomic_int state;
    struct writ_buf initialized; /* the child's result of initialize */
    struct writ_timer handshake;
    uint64_t last_id;
    size_t flights, listeners_n;
    struct writ_flight *buckets[WRIT_FLIGHT_BUCKETS]; /* requests that were sent, by id */
    struct writ_flight *waiting;                      /* for the child to be up */
    unsigned failures;             /* starts that did not come up, one after the other */
    struct writ_flight *listeners; /* GET streams */
};

#endif
