/* unified.h - the unified difference of two texts, for `patch -p0`. */
#ifndef WRIT_POLICY_UNIFIED_H
#define WRIT_POLICY_UNIFIED_H

#include "base/bytes.h"

/** Two texts of one file. All borrowed. */
struct writ_unified {
    struct writ_view file, before, after;
    const bool *may_show; /* of each line of `before`, whether it may be printed; NULL: all may */
};

/**
 * Appends the difference, nothing when the texts are the same. A line with characters that hide
 * (but a tab) is written with escapes, and then does not apply. Where an unchanged line beside a
 * change may not be shown, no unchanged line is. Memory runs out: the buffer fails.
 *
 * False: a line that changes may not be shown; nothing was appended.
 */
bool writ_unified_put(
    struct writ_buf *ret, const struct writ_unified *texts, struct writ_arena *arena);

#endif
