/* name_counts.h - how often names occurred, and the most frequent ones: for answers about many
 * calls. In an arena; one thread. */
#ifndef WRIT_GATEWAY_NAME_COUNTS_H
#define WRIT_GATEWAY_NAME_COUNTS_H

#include "evidence/json/write.h"

#define WRIT_NAME_COUNTS_MAX 4096 /* different names; others have no name */
#define WRIT_NAME_COUNTS_TOP 10   /* names in an answer */

/** A name; of a tool, `group` is its upstream. */
struct writ_name_count {
    struct writ_view group, name;
    uint64_t count;
};

struct writ_name_counts {
    struct writ_arena *arena;
    struct writ_name_count *items;
    size_t n;
    uint64_t all; /* of every name */
    bool failed;  /* no memory */
};

/** WRIT_E_NOMEM. `arena` is borrowed as long as it is used. */
WRIT_RESULT writ_name_counts_init(struct writ_name_counts *ret, struct writ_arena *arena);

/** Counts; the names are copied. */
void writ_name_counts_add(
    struct writ_name_counts *counts, struct writ_view group, struct writ_view name, uint64_t count);

/** Writes {"names":[{"upstream"?,"name","count"},...],"others":n} as the member `label`, the most
 * frequent first. Nothing can be added after it. */
void writ_name_counts_put(
    struct writ_name_counts *counts, struct writ_view label, struct writ_write *w);

#endif
