/* unified.h - the unified difference of two texts, for `patch -p0`. */
#ifndef WRIT_CLI_UNIFIED_H
#define WRIT_CLI_UNIFIED_H

#include "base/bytes.h"

/** Appends the difference of two texts of one file, nothing when they are the same. A line with
 * characters that hide (but a tab) is written with escapes, and then does not apply. Memory runs
 * out: the buffer fails. */
void writ_unified_put(struct writ_buf *ret, struct writ_view file, struct writ_view before,
    struct writ_view after, struct writ_arena *arena);

#endif
