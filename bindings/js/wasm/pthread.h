/* pthread.h - for WebAssembly, where Debian's C library has none: a module has one thread, so that
 * a lock is always free and `once` needs no lock. */
#ifndef WRIT_WASM_PTHREAD_H
#define WRIT_WASM_PTHREAD_H

#include <sys/types.h>

#define PTHREAD_ONCE_INIT 0

static inline int
pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (*once == PTHREAD_ONCE_INIT) {
        *once = 1;
        run();
    }
    return 0;
}

#endif
