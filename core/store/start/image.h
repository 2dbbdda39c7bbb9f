/* image.h - the memory of the writer as bytes: open boundaries, calls in flight, claims, budgets,
 * and the segments that have the older claims.
 *
 * The next start reads the bytes back in place of the records before them. It trusts them because
 * they are signed (manifest.h), not because of the checks here; it still compares them with the
 * rows beside the records. One thread, the writer's. */
#ifndef WRIT_STORE_IMAGE_H
#define WRIT_STORE_IMAGE_H

#include "store/write/store.h"

/** About how many things an image has: its size and its cost are in proportion. */
size_t writ_image_things(const struct writ_ledger *ledger);

/** Appends the bytes, between two groups. Does not check the buffer for failure. */
void writ_image_put(const struct writ_ledger *ledger, struct writ_buf *buf);

/**
 * Reads the bytes back, into a ledger that has only loaded its open boundaries from the disk.
 *
 * @param leaf  the number of records that they cover
 * @param past  stands for every boundary that was sealed since
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  not readable, or the disk disagrees with them
 *         WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_image_take(struct writ_ledger *ledger, struct writ_view bytes, uint64_t leaf,
    struct writ_boundary *past, struct writ_err *err);

#endif
