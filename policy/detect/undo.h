/* undo.h - a text without the disguises that detect.h names, one layer of them. */
#ifndef WRIT_POLICY_UNDO_H
#define WRIT_POLICY_UNDO_H

#include "base/bytes.h"

/** A text, and where its bytes stood. Zero-initialise; wipe to free. */
struct writ_undone {
    struct writ_buf text;
    uint32_t *at; /* text.len + 1 offsets into the first text */
};

/**
 * Undoes one layer.
 *
 * @param at   of `text`, as in struct writ_undone; NULL: it is the first one
 * @param ret  taken: an empty one; written when something was undone
 * @param ret_changed  whether something was
 *
 * WRIT_E_NOMEM; WRIT_E_LIMIT for a text of 4 GiB.
 */
WRIT_RESULT writ_undo(
    struct writ_view text, const uint32_t *at, struct writ_undone *ret, bool *ret_changed);

void writ_undo_wipe(struct writ_undone *undone);

#endif
