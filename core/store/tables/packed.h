/* packed.h - values as bytes, in sequence: numbers of eight bytes, highest byte first, and texts
 * after their length.
 *
 * Reading past the end gives zeros and empty texts: a reader checks `ended` once, where it matters.
 * Pure. */
#ifndef WRIT_STORE_PACKED_H
#define WRIT_STORE_PACKED_H

#include "evidence/json/digest.h"
#include "store/tables/tag.h"

/* Each appends one; a failure stays in the buffer. */
void writ_packed_put_number(struct writ_buf *buf, uint64_t number);
void writ_packed_put_tag(struct writ_buf *buf, struct writ_tag tag);
void writ_packed_put_text(struct writ_buf *buf, struct writ_view text);
void writ_packed_put_digest(struct writ_buf *buf, const struct writ_digest *digest);

/** The bytes that are left; borrowed. */
struct writ_packed {
    struct writ_view left;
    bool ended; /* a read went past the end */
};

/* Each takes the next one; views are parts of the bytes. */
struct writ_view writ_packed_bytes(struct writ_packed *packed, uint64_t len);
uint64_t writ_packed_number(struct writ_packed *packed);
int64_t writ_packed_time(struct writ_packed *packed);
struct writ_tag writ_packed_tag(struct writ_packed *packed);
struct writ_view writ_packed_text(struct writ_packed *packed);

/** WRIT_E_MISMATCH when a read went past the end. */
WRIT_RESULT writ_packed_check(const struct writ_packed *packed, struct writ_err *err);

#endif
