/* discover_stdio.h - a link to a program. Part of discover.h. */
#ifndef WRIT_GATEWAY_DISCOVER_STDIO_H
#define WRIT_GATEWAY_DISCOVER_STDIO_H

#include "gateway/discover/discover_link.h"
#include "store/trusted/definitions.h"

/** Starts the program from the loop's next turn on. All are borrowed until the close.
 * @param accepted for program_digest; NULL: none
 * @param ends_us  monotonic: when all of it is over
 * As writ_exec_env_make and writ_child_open. */
WRIT_RESULT writ_discover_stdio_open(const struct writ_upstream_config *server,
    const struct writ_definitions *accepted, struct writ_loop *loop, int64_t ends_us,
    struct writ_discover_link **ret, struct writ_err *err);

#endif
