/* idmap.h - finds entries by correlation id, and keeps the order in which the ids came.
 *
 * Zeroed: empty. One thread. Ids are 64-bit hashes, so they are their own hash; an agent that
 * chooses names can make them collide in the table, which makes it slower but never wrong. */
#ifndef WRIT_CREW_IDMAP_H
#define WRIT_CREW_IDMAP_H

#include "base/result.h"

struct writ_idmap_entry {
    uint64_t id;
    size_t value;
    bool gone;
};

struct writ_idmap {
    struct writ_idmap_entry *list; /* in order; removed entries are `gone` */
    size_t n, cap;
    size_t live;
    uint32_t *slots; /* index + 1 into list; 0: free */
    size_t slots_n;  /* a power of two, or 0 */
};

void writ_idmap_wipe(struct writ_idmap *map);

/** Adds an id at the end, or replaces the value of an existing one. WRIT_E_NOMEM. */
WRIT_RESULT writ_idmap_put(struct writ_idmap *map, uint64_t id, size_t value);

/** False when the id is not there; `ret` (may be NULL) is then untouched. */
bool writ_idmap_get(const struct writ_idmap *map, uint64_t id, size_t *ret);

/** Does nothing without the id. */
void writ_idmap_remove(struct writ_idmap *map, uint64_t id);

#endif
