/* echo.h - a listener with handlers that show what it promises, for tests.
 *
 *   POST /t/echo           the body back
 *   GET  /t/ok             "ok"
 *   POST /t/delay/MS       the body back, after MS milliseconds
 *   POST /t/hold           no answer until the client has gone; asks on_gone without a probe
 *   POST /t/watch/MS       the same with a probe at once; answered after MS milliseconds, if not 0
 *   GET  /t/badheader      an answer with a field that would begin another
 *   GET  /t/longheader/N   an answer whose fields are N bytes, each with ": " and CR LF
 *   POST /t/events/N       a stream of N events, one per turn of the loop
 *   GET  /t/silent         a stream with one event, then heartbeats every 250 ms, until gone
 *   GET  /t/flood          a stream of ECHO_FLOOD_BYTES, as fast as the queue takes them
 *   GET  /t/endless        a stream as fast as the queue takes it, until gone
 *   GET  /t/abort          a stream that is cut after one event
 *   GET  /t/big/N          N bytes
 *   GET  /t/headers        the fields of the request, one per line
 *   GET  /t/peer           who the client is */
#ifndef WRIT_TESTS_ECHO_H
#define WRIT_TESTS_ECHO_H

#include "gateway/listener/admin.h"
#include "gateway/listener/listener.h"
#include "gateway/io/loop.h"
#include "gateway/listener/metrics.h"

#include <stdatomic.h>

#define ECHO_LOOPS_MAX   4
#define ECHO_FLOOD_BYTES (4U << 20)

struct echo {
    struct writ_loop *loops[ECHO_LOOPS_MAX];
    size_t loop_count;
    struct writ_metrics *metrics;
    struct writ_listener *listener;
    struct writ_route routes[3 + WRIT_ADMIN_ROUTES];
    size_t route_count;
    struct writ_admin admin;
    atomic_uint handled; /* exchanges that reached a handler */
    atomic_uint gone;    /* on_gone calls */
    atomic_uint busy;    /* writes that were refused */
    atomic_bool ready;
    bool started;
};

/** Starts it on a free port of 127.0.0.1. `options` may hold limits, hosts and TLS; address,
 * routes and metrics are filled in. Aborts the test when it cannot. */
struct echo *echo_start(size_t loops, struct writ_listener_options options);

/** The same on an address given in `options`. NULL when the listener does not open. */
struct echo *echo_try(size_t loops, struct writ_listener_options options, struct writ_err *err);

/** One that gives back the body of any request: every path, GET, POST and DELETE, any type. */
struct echo *echo_start_any(void);

/** One with a single loop that the caller runs on its own thread. */
struct echo *echo_start_here(void);

uint16_t echo_port(const struct echo *echo);
void echo_stop(struct echo *echo);

#endif
