/* names.h - finds a name among names; orders of names for qsort(3) and bsearch(3). */
#ifndef WRIT_CREW_NAMES_H
#define WRIT_CREW_NAMES_H

#include "base/alloc.h"
#include "base/bytes.h"

/** Names for lookup. Zeroed: none. Never changes after it is made. */
struct writ_names {
    const struct writ_view *list; /* borrowed */
    size_t n;
    size_t *order; /* places in the list, by name and then by place */
};

/** @param arena  gets the order; it and `list` live as long as `ret` is used
 *
 * @return WRIT_OK, WRIT_E_NOMEM */
WRIT_RESULT writ_names_make(
    struct writ_names *ret, const struct writ_view *list, size_t n, struct writ_arena *arena);

/** The first place of the name; n: absent. In the logarithm of n. */
size_t writ_names_find(const struct writ_names *names, struct writ_view name);

/* Two `struct writ_view`: by bytes, which is by code points; by UTF-16 code units. */
int writ_names_by_bytes(const void *a, const void *b);
int writ_names_by_units(const void *a, const void *b);

#endif
