/* rewrite.h - a message again with one thing in it changed.
 *
 * The rest stays what was read: members in their order, numbers as they were written. All append to
 * `ret` and fail with WRIT_E_PARSE, WRIT_E_LIMIT (the buffer is full) or WRIT_E_NOMEM; what is in
 * the buffer is of no use then. */
#ifndef WRIT_GATEWAY_REWRITE_H
#define WRIT_GATEWAY_REWRITE_H

#include "evidence/json/json.h"

/** With another id, as JSON. */
WRIT_RESULT writ_rewrite_id(
    const struct writ_json *message, struct writ_view id_json, struct writ_buf *ret);

/** With `raw`, one JSON value, in place of the value at `path`, a name for each of its `n` levels;
 * unchanged where there is none. */
WRIT_RESULT writ_rewrite_at(const struct writ_json *message, const struct writ_view *path, size_t n,
    struct writ_view raw, struct writ_buf *ret);

/** With the name `to` where the params, or a ref in them, have the name `from`. */
WRIT_RESULT writ_rewrite_name(const struct writ_json *message, struct writ_view from,
    struct writ_view to, struct writ_buf *ret);

#endif
