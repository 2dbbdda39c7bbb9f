/* Lists stay unchanged; `order` is an array of places beside them. Equal names keep the order of
 * the list. */
#include "crew/names.h"

#include "evidence/json/jcs.h"

#include <stdlib.h>

int
writ_names_by_bytes(const void *a, const void *b)
{
    return writ_view_compare(*(const struct writ_view *)a, *(const struct writ_view *)b);
}

int
writ_names_by_units(const void *a, const void *b)
{
    return writ_jcs_compare(*(const struct writ_view *)a, *(const struct writ_view *)b);
}

static int
compare_places(const void *a, const void *b, void *user)
{
    const struct writ_view *list = user;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = writ_view_compare(list[left], list[right]);

    return order != 0 ? order : (left > right) - (left < right);
}

WRIT_RESULT
writ_names_make(
    struct writ_names *ret, const struct writ_view *list, size_t n, struct writ_arena *arena)
{
    size_t *order = writ_arena_get(arena, (n + 1) * sizeof *order);

    if (order == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < n; at++) {
        order[at] = at;
    }
    qsort_r(order, n, sizeof *order, compare_places, (void *)list);
    *ret = (struct writ_names){list, n, order};
    return WRIT_DONE;
}

size_t
writ_names_find(const struct writ_names *names, struct writ_view name)
{
    size_t low = 0, high = names->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (writ_view_compare(names->list[names->order[middle]], name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < names->n && writ_view_equal(names->list[names->order[low]], name)
               ? names->order[low]
               : names->n;
}
