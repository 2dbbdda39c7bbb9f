/* listed.h - the items that one upstream lists, while its part of an answer is built.
 *
 * A name with two different definitions names two tools: a client that shows one may call the
 * other. Neither is shown. */
#ifndef WRIT_GATEWAY_LISTED_H
#define WRIT_GATEWAY_LISTED_H

#include "evidence/json/digest.h"

struct writ_listed_item {
    struct writ_view name;
    struct writ_digest digest;
    size_t start, len; /* its place in the text; len 0: not shown */
};

/** Zeroed: no items. */
struct writ_listed {
    struct writ_listed_item *items;
    size_t n, cap;
};

/** Adds one; the name is borrowed until writ_listed_wipe. WRIT_E_NOMEM. */
WRIT_RESULT writ_listed_add(struct writ_listed *listed, const struct writ_listed_item *item);

/** Writes the items again, comma-separated, without those whose name has two definitions; of equal
 * ones the first stays. `ret_hidden`: the number left out. Changes the order of the names in
 * `listed`. */
void writ_listed_join(struct writ_listed *listed, struct writ_buf *text, size_t *ret_hidden);

void writ_listed_wipe(struct writ_listed *listed);

#endif
