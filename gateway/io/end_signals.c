/* end_signals.c - one list of these signals for every program that waits for them. */
#include "gateway/io/end_signals.h"

void
writ_end_signals_block(sigset_t *ret)
{
    (void)sigemptyset(ret);
    (void)sigaddset(ret, SIGTERM);
    (void)sigaddset(ret, SIGINT);
    (void)sigaddset(ret, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, ret, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}
