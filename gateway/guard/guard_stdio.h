/* guard_stdio.h - a guard between the standard streams of a client and those of a server that it
 * starts. Part of guard.h.
 *
 * One client, one server: the guard ends with either of them. A line of the client is forwarded
 * unchanged, or not at all; lines of the server go to the client unchanged. */
#ifndef WRIT_GATEWAY_GUARD_STDIO_H
#define WRIT_GATEWAY_GUARD_STDIO_H

#include "gateway/guard/guard.h"

/** Starts the server. WRIT_E_INVALID, WRIT_E_IO (standard input that epoll cannot watch, such as a
 * regular file), WRIT_E_NOMEM. `ret` is written in any case, close with writ_guard_stdio_close. */
WRIT_RESULT writ_guard_stdio_open(struct writ_guard *guard, void **ret, struct writ_err *err);

/** When the client or the server has ended. */
bool writ_guard_stdio_is_over(void *form);

/** Ends the server and waits for it, a few seconds at most. */
void writ_guard_stdio_drain(void *form);

/** Call it when the loop has ended. NULL is permitted. */
void writ_guard_stdio_close(void *form);

#endif
