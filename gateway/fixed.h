/* fixed.h - what a reload does not change: it is read once, when the gateway starts.
 *
 * Some of it a reload may not even touch (listeners, the ledger, upstreams): such a file is
 * refused. The rest keeps the value of the start until the next one, and whoever wrote another
 * value is told its name. */
#ifndef WRIT_GATEWAY_FIXED_H
#define WRIT_GATEWAY_FIXED_H

#include "policy/config.h"

#define WRIT_FIXED_NAMES_MAX 2048 /* bytes of the names that writ_fixed_keep tells */

/** Refuses a configuration that only a restart can take, and names what in it. WRIT_E_INVALID. */
WRIT_RESULT writ_fixed_check(
    const struct writ_config *running, const struct writ_config *fresh, struct writ_err *err);

/**
 * Gives `fresh` the values of the start, and tells what it would have changed.
 *
 * @param running   outlives `fresh`, which borrows from it from now on
 * @param fresh     not used by anybody else yet
 * @param ret_names names of options, as "limits.body, upstreams.fs.timeout"; as many as fit
 */
void writ_fixed_keep(
    const struct writ_config *running, struct writ_config *fresh, struct writ_buf *ret_names);

#endif
