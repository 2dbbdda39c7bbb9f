/* 1. Every live entry is between the slot of its id and the next free slot.
 * 2. Removed entries keep their slots until the table is rebuilt, which happens when it is three
 * quarters full: then the list is packed, so that it is at most a few times as long as its live
 * part. */
#include "crew/idmap.h"

#include "base/alloc.h"
#include "crew/vec.h"

#define SLOTS_LEAST 16

void
writ_idmap_wipe(struct writ_idmap *map)
{
    writ_free(map->list);
    writ_free(map->slots);
    *map = (struct writ_idmap){0};
}

static size_t
slot_of(const struct writ_idmap *map, uint64_t id)
{
    size_t slot = (size_t)(id ^ id >> 32) & (map->slots_n - 1);

    while (map->slots[slot] != 0 &&
           (map->list[map->slots[slot] - 1].id != id || map->list[map->slots[slot] - 1].gone)) {
        slot = (slot + 1) & (map->slots_n - 1);
    }
    return slot;
}

/* keeps (2) */
static WRIT_RESULT
remake(struct writ_idmap *map)
{
    size_t slots_n = SLOTS_LEAST, n = 0;
    uint32_t *slots;

    while (slots_n < (map->live + 1) * 2) {
        slots_n *= 2;
    }
    slots = slots_n < UINT32_MAX ? writ_alloc(slots_n * sizeof *slots) : NULL;
    if (slots == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_free(map->slots);
    map->slots = slots;
    map->slots_n = slots_n;
    for (size_t at = 0; at < map->n; at++) {
        if (!map->list[at].gone) {
            map->list[n] = map->list[at];
            n++;
            map->slots[slot_of(map, map->list[n - 1].id)] = (uint32_t)n;
        }
    }
    map->n = n;
    return WRIT_DONE;
}

bool
writ_idmap_get(const struct writ_idmap *map, uint64_t id, size_t *ret)
{
    size_t slot;

    if (map->slots_n == 0) {
        return false;
    }
    slot = slot_of(map, id);
    if (map->slots[slot] == 0) {
        return false;
    }
    if (ret != NULL) {
        *ret = map->list[map->slots[slot] - 1].value;
    }
    return true;
}

WRIT_RESULT
writ_idmap_put(struct writ_idmap *map, uint64_t id, size_t value)
{
    size_t slot;

    if (map->slots_n == 0 || (map->n + 1) * 4 > map->slots_n * 3) {
        WRIT_TRY(remake(map));
    }
    slot = slot_of(map, id);
    if (map->slots[slot] != 0) {
        map->list[map->slots[slot] - 1].value = value;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_vec_room(&map->list, &map->cap, map->n, sizeof *map->list));
    map->list[map->n++] = (struct writ_idmap_entry){id, value, false};
    map->slots[slot] = (uint32_t)map->n;
    map->live++;
    return WRIT_DONE;
}

void
writ_idmap_remove(struct writ_idmap *map, uint64_t id)
{
    size_t slot = map->slots_n > 0 ? slot_of(map, id) : 0;

    if (map->slots_n > 0 && map->slots[slot] != 0) {
        map->list[map->slots[slot] - 1].gone = true;
        map->live--;
    }
}
