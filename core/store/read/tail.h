/* tail.h - the records of a ledger in their order, from any index on, each with what an event needs
 * (evidence/event/export_event.h): the decision that it is about, and the checkpoint of its group.
 *
 * A connection of its own, which never delays the gateway that writes. One thread; everything
 * blocks on the disk. */
#ifndef WRIT_STORE_TAIL_H
#define WRIT_STORE_TAIL_H

#include "base/bytes.h"

struct writ_tail;

/** One record. Views are borrowed until the callback returns. */
struct writ_tail_record {
    uint64_t leaf;
    int kind; /* enum writ_row_kind: 1 decision, 2 outcome, 3 seal, 4 event of a review, 5 fact */
    int64_t time_us;
    struct writ_view body;     /* canonical form */
    struct writ_view decision; /* that an outcome or an event of a review is about; or empty */
    struct writ_view note;     /* the checkpoint of its group */
};

/** Opens a ledger to read. As writ_reader_open. `ret` is new, free with writ_tail_close; written
 * only on success. */
WRIT_RESULT writ_tail_open(const char *path, struct writ_tail **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_tail_close(struct writ_tail *tail);

#define writ_auto_tail WRIT_AUTO(struct writ_tail *, writ_tail_release)

static inline void
writ_tail_release(struct writ_tail **tail)
{
    writ_tail_close(*tail);
}

/** The number of records that a signed checkpoint is over: only these are read (write/signing.h).
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_tail_size(struct writ_tail *tail, uint64_t *ret, struct writ_err *err);
/** The number of records, signed or not. As writ_tail_size. */
WRIT_RESULT writ_tail_all(struct writ_tail *tail, uint64_t *ret, struct writ_err *err);
/** Waits until the present records are signed, and tells whether they are; at most a second, for a
 * gateway may not live. As writ_tail_size. */
WRIT_RESULT writ_tail_settle(struct writ_tail *tail, bool *ret, struct writ_err *err);
/** The first record of the ledger: earlier ones are in an archive. As writ_tail_size. */
WRIT_RESULT writ_tail_first(struct writ_tail *tail, uint64_t *ret, struct writ_err *err);
/** The origin of the ledger's checkpoints. Borrowed until close. */
struct writ_view writ_tail_origin(const struct writ_tail *tail);

/**
 * Calls `each` for the records from `leaf` on, until it returns false, or for `most` of them. The
 * ledger's write-ahead log is held meanwhile, so `each` must not wait.
 *
 * @return WRIT_OK          also without any record
 *         WRIT_E_MISMATCH  a record is missing: see writ_verify_ledger
 *         WRIT_E_ABSENT    `leaf` is before writ_tail_first
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM
 */
WRIT_RESULT writ_tail_read(struct writ_tail *tail, uint64_t leaf, uint64_t most,
    bool (*each)(void *ctx, const struct writ_tail_record *record), void *ctx,
    struct writ_err *err);

#endif
