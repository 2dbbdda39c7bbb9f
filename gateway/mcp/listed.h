/* listed.h - the items that one upstream lists, while its part of an answer is put together.
 *
 * A name that is listed twice with different definitions is a name for two tools: a client that
 * shows one may call the other. Neither is shown. */
#ifndef WRIT_GATEWAY_LISTED_H
#define WRIT_GATEWAY_LISTED_H

#include "evidence/json/digest.h"

struct writ_listed_item {
    struct writ_view name;
    struct writ_digest digest;
    size_t start, len; /* where it is in the text; len 0: it is not shown */
};

/** Zeroed it has none. */
struct writ_listed {
    struct writ_listed_item *items;
    size_t n, cap;
};

/** One more; the name is borrowed until writ_listed_wipe. WRIT_E_NOMEM. */
WRIT_RESULT writ_listed_add(struct writ_listed *listed, const struct writ_listed_item *item);

/** Writes the items again, comma-separated, without those whose name has two definitions; of equal
 * ones the first stays. `ret_hidden`: how many are left out for it. The order of the names in
 * `listed` is another afterwards. */
void writ_listed_join(struct writ_listed *listed, struct writ_buf *text, size_t *ret_hidden);

void writ_listed_wipe(struct writ_listed *listed);

#endif
