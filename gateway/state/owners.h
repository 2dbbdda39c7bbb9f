/* owners.h - which upstream has a resource, by what the lists that passed have said: URIs, and
 * templates of URIs. A read on the endpoint of all upstreams goes to the owner alone.
 *
 * Bounded: WRIT_OWNERS_MAX URIs, the one that is in the way of a new one is forgotten. Of several
 * upstreams with one URI the first in the configuration has it. Any thread; a short lock. */
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

/** An upstream, by its index, has said that it has a resource or a template. Keeps what it can. */
void writ_owners_note(struct writ_owners *owners, struct writ_view uri, size_t upstream);

/** The owner of a URI: that was noted itself, else that of the template that has the longest text
 * before its first '{' in common with it. WRIT_OWNERS_NONE when nothing was. */
size_t writ_owners_find(struct writ_owners *owners, struct writ_view uri);

#endif
