/* resource_owner.h - the owner of a resource on the endpoint of several upstreams (owners.h), by
 * the upstreams' lists of resources and of templates.
 *
 * Lists that this gateway does not have, or that are old, are asked for before the message is sent
 * (owner_search.c): every gateway, also one that was just started, sends it to the same upstream. A
 * resource that no list has belongs to none, and each request tries the upstreams in their order.
 */
#ifndef WRIT_GATEWAY_RESOURCE_OWNER_H
#define WRIT_GATEWAY_RESOURCE_OWNER_H

#include "gateway/request/request.h"
#include "gateway/state/owners.h"

/** The URI in a message: a resource, or the template to complete. ptr NULL: none. */
struct writ_view writ_resource_owner_uri(const struct writ_request *request);

/** The upstream that owns that URI, by the present lists, or NULL. */
struct writ_upstream *writ_resource_owner_find(const struct writ_request *request);

/** Whether that upstream's list must be asked for before an owner can be said. */
bool writ_resource_owner_lacks(
    const struct writ_request *request, size_t upstream, enum writ_owners_list list);

/** Whether that is so for any list: then the next step is SEEK, which returns to PASS. False for a
 * request that was there. */
bool writ_resource_owner_is_due(const struct writ_request *request);

/** Notes an item of a list of that upstream. */
void writ_resource_owner_note(const struct writ_request *request,
    const struct writ_upstream *upstream, const struct writ_json *item);

/** Notes that a list of that upstream was read to its end, or could not be. */
void writ_resource_owner_read(const struct writ_request *request,
    const struct writ_upstream *upstream, enum writ_owners_list list, bool whole);

#endif
