/* label_set.h - the series of one metric: the texts of their labels, each with a number.
 *
 * Series are added and never removed. At most WRIT_LABEL_SET_MAX of them; further ones share the
 * number WRIT_LABEL_SET_OTHER, so that neither memory nor the scraped text grows without limit.
 * Not thread-safe. */
#ifndef WRIT_GATEWAY_LABEL_SET_H
#define WRIT_GATEWAY_LABEL_SET_H

#include "base/bytes.h"

#define WRIT_LABEL_SET_MAX    1024
#define WRIT_LABEL_SET_PLACES (WRIT_LABEL_SET_MAX * 2)
#define WRIT_LABEL_SET_OTHER  WRIT_LABEL_SET_PLACES
#define WRIT_LABEL_SET_N      (WRIT_LABEL_SET_PLACES + 1) /* for arrays by number */

/** Zero-initialise. */
struct writ_label_set {
    struct writ_buf places[WRIT_LABEL_SET_PLACES]; /* by hash; an empty one is free */
    size_t n;
};

void writ_label_set_wipe(struct writ_label_set *set);

/** The number of the series with these labels (`upstream="fs",tool="read_*"`), which is added when
 * it is new. OTHER: there is no room, no memory, or `labels` has failed. */
size_t writ_label_set_find(struct writ_label_set *set, const struct writ_buf *labels);

/** The labels of a number below OTHER; empty: there is no such series. */
struct writ_view writ_label_set_view(const struct writ_label_set *set, size_t number);

/** Appends one label, `name="value"`, after a comma when `buf` is not empty. Quotes, backslashes
 * and line breaks of the value are escaped; each byte that is not UTF-8 becomes a question mark,
 * because a scraper refuses the whole text for one of them. */
void writ_label_set_put(struct writ_buf *buf, const char *name, struct writ_view value);

#endif
