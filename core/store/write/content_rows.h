/* content_rows.h - kept contents, in the transaction of their record.
 *
 * A content is two rows. `content` has the ciphertext, and is deleted with its time or by an erase.
 * `content_key` has its wrapped key, 40 bytes, and only grows at its right edge: a key is destroyed
 * by zeros in its place. Deleting rows makes SQLite move others from page to page, and leave copies
 * of them in unused parts; a table from which nothing is deleted has no such copies. A row of zeros
 * says for good that there was a content.
 *
 * One thread, the writer's. Everything blocks on the disk. */
#ifndef WRIT_STORE_CONTENT_ROWS_H
#define WRIT_STORE_CONTENT_ROWS_H

#include "store/write/store.h"

/** Keeps the content of a record in the group that writes it; NULL, or one that has expired: does
 * nothing. Leaves grow from call to call. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_content_rows_write(struct writ_ledger *ledger, uint64_t leaf,
    const struct writ_sealed *content, struct writ_err *err);

/** Only the row of `content_key` of a content that is destroyed from the start. WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_content_rows_write_destroyed(
    struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err);

/** The same for the result of that call. When an erase selected the call, or its arguments are
 * destroyed, by an erase or with their time, its row of `content_key` has zeros from the start. */
WRIT_RESULT writ_content_rows_write_result(struct writ_ledger *ledger,
    const struct writ_flight *flight, uint64_t leaf, const struct writ_sealed *content,
    struct writ_err *err);

/** A copy in one piece of memory, or NULL. Free with writ_free. */
struct writ_sealed *writ_content_rows_copy(const struct writ_sealed *content);

#endif
