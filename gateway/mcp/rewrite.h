/* rewrite.h - writes a message again with one change.
 *
 * The rest stays unchanged: members in order, numbers as written. All functions append to `ret` and
 * fail with WRIT_E_PARSE, WRIT_E_LIMIT (the buffer is full) or WRIT_E_NOMEM; the buffer is unusable
 * then. */
#ifndef WRIT_GATEWAY_REWRITE_H
#define WRIT_GATEWAY_REWRITE_H

#include "evidence/json/json.h"

/** With another id, as JSON. */
WRIT_RESULT writ_rewrite_id(
    const struct writ_json *message, struct writ_view id_json, struct writ_buf *ret);

/** Replaces the value at `path`, with a name for each of its `n` levels, by `raw`, one JSON value;
 * unchanged without such a value. */
WRIT_RESULT writ_rewrite_at(const struct writ_json *message, const struct writ_view *path, size_t n,
    struct writ_view raw, struct writ_buf *ret);

/** Replaces the name `from` by `to` in the params, or in a ref in them. */
WRIT_RESULT writ_rewrite_name(const struct writ_json *message, struct writ_view from,
    struct writ_view to, struct writ_buf *ret);

#endif
