/* The mask is an attribute, so that no signal can come between the start and a change of it. */
#include "base/thread.h"

#include <signal.h>

bool
writ_thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx, const char *name)
{
    pthread_attr_t attr;
    sigset_t all;
    bool started;

    if (pthread_attr_init(&attr) != 0) {
        return false;
    }
    (void)sigfillset(&all);
    started =
        pthread_attr_setsigmask_np(&attr, &all) == 0 && pthread_create(ret, &attr, run, ctx) == 0;
    (void)pthread_attr_destroy(&attr);
    if (started) {
        (void)pthread_setname_np(*ret, name);
    }
    return started;
}
