/* gateway_start.h - finds the gateway of a configuration on its Unix socket, or starts it.
 *
 * One gateway serves all programs of a user that use one configuration. The first that needs it
 * starts it: a lock makes the others wait, also when that process is killed meanwhile. It runs in a
 * session of its own, with its log in a file, ends when it is unused for `idle_s`, and is started
 * again by the next who needs it. */
#ifndef WRIT_GATEWAY_START_H
#define WRIT_GATEWAY_START_H

#include "base/bytes.h"

#include <signal.h>

/** All borrowed, NUL-terminated. */
struct writ_gateway_start {
    const char *config; /* absolute: the file for `writ serve` */
    const char *socket; /* absolute: what `listen` of that file says */
    unsigned idle_s;    /* it ends when it is unused for so long */
    char **environment; /* that it gets, NULL-terminated */
};

/** Whether a gateway accepts connections now. */
bool writ_gateway_start_is_up(const struct writ_gateway_start *start);

/**
 * Starts the gateway unless it is there, and waits until it accepts connections.
 *
 * @param stops  blocked signals; one of them gives the wait up
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY  given up by a signal
 *         WRIT_E_IO    it did not start, or an earlier one does not end; `err` has its own reason
 */
WRIT_RESULT writ_gateway_start_ensure(
    const struct writ_gateway_start *start, const sigset_t *stops, struct writ_err *err);

/** Sends a signal to the gateway, if it is there. */
void writ_gateway_start_signal(const struct writ_gateway_start *start, int signal);

/** Asks the gateway to end in order, also one that is being started, and waits until it has. As
 * writ_gateway_start_ensure. */
WRIT_RESULT writ_gateway_start_end(
    const struct writ_gateway_start *start, const sigset_t *stops, struct writ_err *err);

#endif
