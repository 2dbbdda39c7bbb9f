/* showing.h - what the voters of a review are shown besides its records, as it is kept in its row
 * while it lives: the arguments of the call, the state of its target, and the state that the review
 * before it was about. */
#ifndef WRIT_STORE_SHOWING_H
#define WRIT_STORE_SHOWING_H

#include "store/disk.h"

/** Each is canonical JSON, or empty: not known. Borrowed. */
struct writ_showing {
    struct writ_view arguments, state, before;
};

/** Appends it. What fails stays in the buffer. */
void writ_showing_put(const struct writ_showing *showing, struct writ_buf *ret);

/** Reads what writ_showing_put wrote; the views are parts of `bytes`. Bytes that are not of that
 * form are arguments, and nothing else. */
struct writ_showing writ_showing_read(struct writ_view bytes);

/** What the voters of the review `id` were shown, from its row, in the arena; all empty when there
 * is none any more. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. Blocks. */
WRIT_RESULT writ_showing_find(struct writ_disk *disk, struct writ_view id, struct writ_arena *arena,
    struct writ_showing *ret, struct writ_err *err);

#endif
