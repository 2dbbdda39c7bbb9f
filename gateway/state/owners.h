/* owners.h - the upstreams that own resources, by their lists: URIs, and templates of URIs. A read
 * on the endpoint of all upstreams goes only to the owner.
 *
 * The owner is a function of the lists alone: of several upstreams with one URI the first in the
 * configuration owns it. So that every gateway finds the same one, also after a restart, lists that
 * it does not have are asked for (resource_owner.h), and what is known expires: an upstream may
 * have given a resource to another one.
 *
 * Bounded: WRIT_OWNERS_MAX URIs; a new one replaces the one in its place. Times are monotonic. Any
 * thread; a short lock. */
#ifndef WRIT_GATEWAY_OWNERS_H
#define WRIT_GATEWAY_OWNERS_H

#include "base/bytes.h"

#define WRIT_OWNERS_MAX      16384
#define WRIT_OWNERS_URI_MAX  2048 /* bytes of a URI that is kept */
#define WRIT_OWNERS_NONE     ((size_t)-1)
#define WRIT_OWNERS_FRESH_US (INT64_C(300) * 1000000) /* a list is asked for again after that */
#define WRIT_OWNERS_AGAIN_US                                                                       \
    (INT64_C(5) * 1000000) /* and one that did not come, or that lacks a                           \
                              URI */
#define WRIT_OWNERS_KEPT_US                                                                        \
    (2 * WRIT_OWNERS_FRESH_US) /* an item that no list repeated is forgotten                       \
                                */

struct writ_owners;

/** The lists of one upstream. */
enum writ_owners_list {
    WRIT_OWNERS_RESOURCES = 0,
    WRIT_OWNERS_TEMPLATES,
    WRIT_OWNERS_LISTS, /* how many */
};

/** For that many upstreams. WRIT_E_NOMEM. */
WRIT_RESULT writ_owners_new(size_t upstreams, struct writ_owners **ret, struct writ_err *err);
void writ_owners_free(struct writ_owners *owners);

/** Notes that an upstream, by its index, listed a resource or a template, if there is room. */
void writ_owners_note(
    struct writ_owners *owners, struct writ_view uri, size_t upstream, int64_t now_us);

/** Notes that a list of an upstream was read to its end, or could not be. */
void writ_owners_read(struct writ_owners *owners, size_t upstream, enum writ_owners_list list,
    bool whole, int64_t now_us);

/** Whether that list must be asked for before an owner can be said; `unknown`: the lists that were
 * read have no owner. */
bool writ_owners_lacks(struct writ_owners *owners, size_t upstream, enum writ_owners_list list,
    bool unknown, int64_t now_us);

/** The owner of a URI: of the noted URI itself, else of the template that shares the longest text
 * before its first '{' with it. WRIT_OWNERS_NONE without one. */
size_t writ_owners_find(struct writ_owners *owners, struct writ_view uri, int64_t now_us);

#endif
