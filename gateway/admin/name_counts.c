/* name_counts.c - an open-addressed table that is half empty, sorted when it is written. */
#include "gateway/admin/name_counts.h"

#include <stdlib.h>

#define PLACES (2 * WRIT_NAME_COUNTS_MAX)

WRIT_RESULT
writ_name_counts_init(struct writ_name_counts *ret, struct writ_arena *arena)
{
    *ret = (struct writ_name_counts){
        .arena = arena, .items = writ_arena_get(arena, PLACES * sizeof *ret->items)};
    if (ret->items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < PLACES; i++) {
        ret->items[i] = (struct writ_name_count){.count = 0};
    }
    return WRIT_DONE;
}

static size_t
hash_of(struct writ_view group, struct writ_view name)
{
    const struct writ_view texts[] = {group, name};
    size_t hash = 5381;

    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < texts[t].len; i++) {
            hash = hash * 33 + (unsigned char)texts[t].ptr[i];
        }
        hash = hash * 33;
    }
    return hash;
}

void
writ_name_counts_add(
    struct writ_name_counts *counts, struct writ_view group, struct writ_view name, uint64_t count)
{
    struct writ_name_count *at;
    size_t i = hash_of(group, name);

    counts->all += count;
    for (;; i++) {
        at = &counts->items[i % PLACES];
        if (at->count == 0 ||
            (writ_view_equal(at->group, group) && writ_view_equal(at->name, name))) {
            break;
        }
    }
    if (at->count == 0) {
        if (counts->n == WRIT_NAME_COUNTS_MAX) {
            return; /* it is in `all` */
        }
        counts->n++;
        at->group = writ_view_copy(group, counts->arena);
        at->name = writ_view_copy(name, counts->arena);
        counts->failed = counts->failed || at->group.ptr == NULL || at->name.ptr == NULL;
    }
    at->count += count;
}

static int
compare(const void *left, const void *right)
{
    const struct writ_name_count *a = left, *b = right;
    int order;

    if (a->count != b->count) {
        return a->count < b->count ? 1 : -1;
    }
    order = writ_view_compare(a->group, b->group);
    return order != 0 ? order : writ_view_compare(a->name, b->name);
}

void
writ_name_counts_put(struct writ_name_counts *counts, struct writ_view label, struct writ_write *w)
{
    uint64_t others = counts->all;

    qsort(counts->items, PLACES, sizeof *counts->items, compare);
    writ_write_name(w, label);
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("names"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < counts->n && i < WRIT_NAME_COUNTS_TOP; i++) {
        writ_write_object_begin(w);
        writ_write_text_if(w, "upstream", counts->items[i].group);
        writ_write_text(w, "name", counts->items[i].name);
        writ_write_count(w, "count", counts->items[i].count);
        writ_write_object_end(w);
        others -= counts->items[i].count;
    }
    writ_write_array_end(w);
    writ_write_count(w, "others", others);
    writ_write_object_end(w);
}
