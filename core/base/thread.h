/* thread.h - starts a thread. Signals are for the main thread: a started one takes none. */
#ifndef WRIT_BASE_THREAD_H
#define WRIT_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/** Calls `run(ctx)` on a new thread, which the caller joins or detaches. `ps -L` and debuggers show
 * its `name`, of at most 15 bytes. False: the system gave no thread. */
bool writ_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx, const char *name);

#endif
