/* places.h - what the paths, the URLs or the e-mail addresses of one argument have in common:
 * folders, hosts, domains. */
#ifndef WRIT_POLICY_PLACES_H
#define WRIT_POLICY_PLACES_H

#include "policy/learn/seen.h"
#include "policy/model/config.h"

#define WRIT_PLACES_FOLDERS_MAX 4096 /* folders and files that are kept; below them, less deep */
#define WRIT_PLACES_HOSTS_MAX   512  /* hosts, or domains, that are kept */
#define WRIT_PLACES_COVER_MAX   16   /* folders of one constraint */
#define WRIT_PLACES_LIST_MAX    64   /* hosts or domains of one constraint */

struct writ_places {
    uint64_t n; /* texts */
    bool not_absolute, not_relative, not_url, not_address;
    bool slashes;            /* some text has a slash */
    struct writ_seen paths;  /* "/a", "/a/b": each folder on the way, and the path itself */
    size_t complete;         /* down to this depth all of them are there */
    struct writ_view common; /* the folder or path around all of them, normal; relative: without
                              * the slash before it */
    size_t common_depth;
    struct writ_seen hosts;   /* "example.com", "[::1]:8080" */
    struct writ_seen domains; /* in lower case */
};

/** Takes one text. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_places_add(
    struct writ_places *places, struct writ_view text, struct writ_seen_in *in);

/** True when all texts are paths, URLs, or e-mail addresses. */
bool writ_places_are_absolute(const struct writ_places *places);
bool writ_places_are_relative(const struct writ_places *places);
bool writ_places_are_urls(const struct writ_places *places);
bool writ_places_are_addresses(const struct writ_places *places);

/** The folders that are `depth` deep, and the paths that end before: {NULL, 0} when they are not
 * known or too many. `cost` is that of the list. */
struct writ_views writ_places_cover(const struct writ_places *places, size_t depth, bool by_run,
    struct writ_arena *arena, uint64_t *cost);

/** The entries of `host_in`. `suffixes`: "*.example.com" stands for three or more hosts below it,
 * except below a name that many share, such as co.uk. */
struct writ_views writ_places_hosts(const struct writ_places *places, bool suffixes, bool by_run,
    struct writ_arena *arena, uint64_t *cost);

#endif
