/* image.h - what the writer has in memory of the records, as bytes: open boundaries, calls in
 * flight, claims, budgets, and the segments that have the older claims.
 *
 * The bytes are read back by the next start in place of the records before them. They are believed
 * because they are signed (manifest.h), not because they are checked here; what they say is
 * compared with the rows beside the records all the same. One thread, the writer's. */
#ifndef WRIT_STORE_IMAGE_H
#define WRIT_STORE_IMAGE_H

#include "store/write/store.h"

/** How many things an image has, about: its size and its cost are in proportion to that. */
size_t writ_image_things(const struct writ_ledger *ledger);

/** Appends the bytes, between two groups. What the buffer says is not looked at. */
void writ_image_put(const struct writ_ledger *ledger, struct writ_buf *buf);

/**
 * Reads them back, into a ledger that has its open boundaries of the disk and nothing else.
 *
 * @param leaf  the records that they are over
 * @param past  stands for every boundary that was sealed since
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  not readable, or something on the disk is not what they say
 *         WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_image_take(struct writ_ledger *ledger, struct writ_view bytes, uint64_t leaf,
    struct writ_boundary *past, struct writ_err *err);

#endif
