#include "gateway/gateway.h"

struct writ_worker *
writ_gateway_worker(const struct writ_gateway *gateway, const struct writ_loop *loop)
{
    unsigned index = writ_loop_index(loop);

    WRIT_INVARIANT(index < gateway->workers_n);
    return &gateway->workers[index];
}

struct writ_upstream *
writ_gateway_upstream(const struct writ_gateway *gateway, struct writ_view name)
{
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_view_equal(writ_upstream_config(gateway->upstreams[i])->name, name)) {
            return gateway->upstreams[i];
        }
    }
    return NULL;
}
