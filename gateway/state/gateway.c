/* gateway.c - each loop has exactly one worker, at the loop's index. */
#include "gateway/state/gateway.h"

struct writ_worker *
writ_gateway_worker(const struct writ_gateway *gateway, const struct writ_loop *loop)
{
    unsigned index = writ_loop_index(loop);

    WRIT_INVARIANT(index < gateway->workers_n);
    return &gateway->workers[index];
}
