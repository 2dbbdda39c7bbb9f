/* owners.h - the upstreams that own resources, learned from lists on their way to clients: URIs,
 * and templates of URIs. A read on the endpoint of all upstreams goes only to the owner.
 *
 * Bounded: WRIT_OWNERS_MAX URIs; a new one replaces the one in its place. Of several upstreams with
 * one URI the first in the configuration owns it. Any thread; a short lock. */
#ifndef WRIT_GATEWAY_OWNERS_H
#define WRIT_GATEWAY_OWNERS_H

#include "base/bytes.h"

#define WRIT_OWNERS_MAX     16384
#define WRIT_OWNERS_URI_MAX 2048 /* bytes of a URI that is kept */
#define WRIT_OWNERS_NONE    ((size_t)-1)

struct writ_owners;

/** WRIT_E_NOMEM. */
WRIT_RESULT writ_owners_new(struct writ_owners **ret, struct writ_err *err);
void writ_owners_free(struct writ_owners *owners);

/** Notes that an upstream, by its index, listed a resource or a template, if there is room. */
void writ_owners_note(struct writ_owners *owners, struct writ_view uri, size_t upstream);

/** The owner of a URI: of the noted URI itself, else of the template that shares the longest text
 * before its first '{' with it. WRIT_OWNERS_NONE without one. */
size_t writ_owners_find(struct writ_owners *owners, struct writ_view uri);

#endif
