#include "store/map.h"

#include "base/id.h"

WRIT_RESULT
writ_map_init(struct writ_map *ret, size_t most, struct writ_err *err)
{
    struct writ_map map = {.bucket_count = 64};

    WRIT_TRY(writ_random(map.salt, sizeof map.salt, err));
    map.salt[0] |= 1;
    map.salt[1] |= 1;
    while (map.bucket_count < most) {
        map.bucket_count *= 2;
    }
    /* large and mostly untouched: the system gives zeroed pages when they are first used */
    map.buckets = writ_alloc(map.bucket_count * sizeof *map.buckets);
    if (map.buckets == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a table of %zu entries", most);
    }
    *ret = map;
    return WRIT_DONE;
}

void
writ_map_wipe(struct writ_map *map)
{
    writ_free(map->buckets);
    *map = (struct writ_map){0};
}

/* Multiply and take high bits, by numbers nobody outside knows. */
static struct writ_map_node **
bucket(const struct writ_map *map, struct writ_tag tag)
{
    unsigned __int128 mixed = (unsigned __int128)(tag.high ^ map->salt[1]) * map->salt[0] +
                              (unsigned __int128)(tag.low ^ map->salt[0]) * map->salt[1];

    return &map->buckets[(uint64_t)(mixed >> 64) & (map->bucket_count - 1)];
}

struct writ_map_node *
writ_map_find(const struct writ_map *map, struct writ_tag tag)
{
    struct writ_map_node *node = map->buckets == NULL ? NULL : *bucket(map, tag);

    while (node != NULL && !writ_tag_equal(node->tag, tag)) {
        node = node->next;
    }
    return node;
}

void
writ_map_add(struct writ_map *map, struct writ_map_node *node, struct writ_tag tag)
{
    struct writ_map_node **head = bucket(map, tag);

    node->tag = tag;
    node->next = *head;
    *head = node;
    map->count++;
}

void
writ_map_remove(struct writ_map *map, struct writ_map_node *node)
{
    struct writ_map_node **at = bucket(map, node->tag);

    while (*at != node) {
        WRIT_INVARIANT(*at != NULL);
        at = &(*at)->next;
    }
    *at = node->next;
    node->next = NULL;
    map->count--;
}
