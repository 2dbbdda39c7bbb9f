/* resource_owner.c - reads the clock, the message and the items of lists for owners.h. */
#include "gateway/relay/resource_owner.h"

#include "gateway/upstream/upstream.h"

static struct writ_owners *
owners_of(const struct writ_request *request)
{
    return request->worker->gateway->owners;
}

static int64_t
now_us(const struct writ_request *request)
{
    return writ_loop_now_us(request->worker->loop);
}

struct writ_view
writ_resource_owner_uri(const struct writ_request *request)
{
    return writ_json_string(writ_json_pointer(request->message.params,
        request->method == WRIT_MCP_COMPLETE ? WRIT_LIT("/ref/uri") : WRIT_LIT("/uri")));
}

struct writ_upstream *
writ_resource_owner_find(const struct writ_request *request)
{
    const struct writ_gateway *gateway = request->worker->gateway;
    struct writ_view uri = writ_resource_owner_uri(request);
    size_t owner = uri.ptr != NULL ? writ_owners_find(gateway->owners, uri, now_us(request))
                                   : WRIT_OWNERS_NONE;

    return owner < gateway->upstreams_n ? gateway->upstreams[owner] : NULL;
}

bool
writ_resource_owner_lacks(
    const struct writ_request *request, size_t upstream, enum writ_owners_list list)
{
    return writ_owners_lacks(owners_of(request), upstream, list,
        writ_resource_owner_find(request) == NULL, now_us(request));
}

bool
writ_resource_owner_is_due(const struct writ_request *request)
{
    size_t n = request->worker->gateway->upstreams_n;

    if (request->sought || request->endpoint->only != NULL || n < 2 ||
        writ_resource_owner_uri(request).ptr == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (writ_resource_owner_lacks(request, i, WRIT_OWNERS_RESOURCES) ||
            writ_resource_owner_lacks(request, i, WRIT_OWNERS_TEMPLATES)) {
            return true;
        }
    }
    return false;
}

void
writ_resource_owner_note(const struct writ_request *request, const struct writ_upstream *upstream,
    const struct writ_json *item)
{
    static const struct writ_view members[] = {WRIT_LIT("uri"), WRIT_LIT("uriTemplate")};

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        writ_owners_note(owners_of(request), writ_json_string(writ_json_get(item, members[i])),
            writ_upstream_index(upstream), now_us(request));
    }
}

void
writ_resource_owner_read(const struct writ_request *request, const struct writ_upstream *upstream,
    enum writ_owners_list list, bool whole)
{
    writ_owners_read(
        owners_of(request), writ_upstream_index(upstream), list, whole, now_us(request));
}
