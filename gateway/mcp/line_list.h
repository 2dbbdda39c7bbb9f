/* line_list.h - a few short texts without line breaks, one after the other in a buffer. */
#ifndef WRIT_GATEWAY_LINE_LIST_H
#define WRIT_GATEWAY_LINE_LIST_H

#include "base/bytes.h"

/** Appends one. False: it does not fit, and the list is unchanged. */
bool writ_line_list_add(struct writ_buf *list, struct writ_view line);

/** Removes one, if present. */
bool writ_line_list_take(struct writ_buf *list, struct writ_view line);

/** The line at `*at`, which moves past it; an empty view with ptr NULL at the end. Borrowed until
 * the list changes. */
struct writ_view writ_line_list_next(const struct writ_buf *list, size_t *at);

#endif
