/* map.h - finds things by the first 16 bytes of a digest.
 *
 * A map over nodes that are members of the things. It allocates only its buckets, once; nothing
 * moves, and adding and removing never fail. Buckets come into use one by one as the map fills
 * (linear hashing), so that a map that could hold millions touches no more memory than the things
 * in it need, and no addition takes long. The bucket of a tag depends on a secret of the map, so
 * that a caller that chooses keys cannot fill one bucket.
 *
 * One thread. */
#ifndef WRIT_STORE_MAP_H
#define WRIT_STORE_MAP_H

#include "store/tables/tag.h"

struct writ_map_node {
    struct writ_tag tag;
    struct writ_map_node *next;
};

/** Zeroed: an empty map that finds nothing and cannot be added to. */
struct writ_map {
    struct writ_map_node **buckets;
    size_t bucket_count; /* in use */
    size_t bucket_max;
    size_t low; /* the largest power of two that is not above bucket_count */
    size_t count;
    uint64_t salt[2];
};

/** The thing that `node`, its member `member`, belongs to. NULL stays NULL. */
#define WRIT_MAP_OF(node, type, member)                                                            \
    ((node) == NULL ? NULL : (type *)(void *)((char *)(node)-offsetof(type, member)))

/** A map for about `most` nodes (more only make it slower). WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_map_init(struct writ_map *ret, size_t most, struct writ_err *err);
/** Frees the buckets; the owners free the nodes. A zeroed map is fine. */
void writ_map_wipe(struct writ_map *map);

/** The node last added with this tag, or NULL. */
struct writ_map_node *writ_map_find(const struct writ_map *map, struct writ_tag tag);
/** The node with the same tag that this one hides, or NULL. */
struct writ_map_node *writ_map_hidden(const struct writ_map_node *node);
/** Adds a node; it hides a node with the same tag until it is removed. */
void writ_map_add(struct writ_map *map, struct writ_map_node *node, struct writ_tag tag);
/** Removes a node that is in the map. */
void writ_map_remove(struct writ_map *map, struct writ_map_node *node);

#endif
