/* A bucket i below bucket_count has the nodes whose mixed tag ends in the bits of i: in log2(2 *
 * low) bits where bucket i has been split already or came of a split, else in log2(low). */
#include "store/tables/map.h"

#include "base/id.h"

#define BUCKETS_FIRST 64

WRIT_RESULT
writ_map_init(struct writ_map *ret, size_t most, struct writ_err *err)
{
    struct writ_map map = {
        .bucket_count = BUCKETS_FIRST, .bucket_max = BUCKETS_FIRST, .low = BUCKETS_FIRST};

    WRIT_TRY(writ_random(map.salt, sizeof map.salt, err));
    map.salt[0] |= 1;
    map.salt[1] |= 1;
    while (map.bucket_max < most) {
        map.bucket_max *= 2;
    }
    /* large and mostly untouched: the system zeroes pages when they are first used */
    map.buckets = writ_alloc(map.bucket_max * sizeof *map.buckets);
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

/* Multiply and take high bits, by secret random numbers. */
static uint64_t
mix(const struct writ_map *map, struct writ_tag tag)
{
    unsigned __int128 mixed = (unsigned __int128)(tag.high ^ map->salt[1]) * map->salt[0] +
                              (unsigned __int128)(tag.low ^ map->salt[0]) * map->salt[1];

    return (uint64_t)(mixed >> 64);
}

static struct writ_map_node **
bucket(const struct writ_map *map, struct writ_tag tag)
{
    uint64_t mixed = mix(map, tag);
    size_t at = mixed & (2 * map->low - 1);

    return &map->buckets[at < map->bucket_count ? at : mixed & (map->low - 1)];
}

/* Takes one more bucket into use, and moves part of another one there. Nodes keep their order,
 * because the latest node of a tag hides the others. */
static void
split(struct writ_map *map)
{
    size_t fresh = map->bucket_count;
    struct writ_map_node *node = map->buckets[fresh - map->low];
    struct writ_map_node **stay = &map->buckets[fresh - map->low], **go = &map->buckets[fresh];

    while (node != NULL) {
        struct writ_map_node ***end = (mix(map, node->tag) & map->low) == 0 ? &stay : &go;

        **end = node;
        *end = &node->next;
        node = node->next;
    }
    *stay = *go = NULL;
    map->bucket_count++;
    if (map->bucket_count == 2 * map->low) {
        map->low *= 2;
    }
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

struct writ_map_node *
writ_map_hidden(const struct writ_map_node *node)
{
    struct writ_map_node *next = node->next;

    while (next != NULL && !writ_tag_equal(next->tag, node->tag)) {
        next = next->next;
    }
    return next;
}

void
writ_map_add(struct writ_map *map, struct writ_map_node *node, struct writ_tag tag)
{
    struct writ_map_node **head;

    if (map->count >= map->bucket_count && map->bucket_count < map->bucket_max) {
        split(map);
    }
    head = bucket(map, tag);
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
