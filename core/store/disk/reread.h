/* reread.h - reads the records of the writer's own ledger in order and checks that they are the
 * signed ones.
 *
 * Every body goes into the tree, whose root must in the end be the one that the last checkpoint
 * signs; the columns of a record must agree with its body. Do not rely on anything that was read
 * before writ_reread_end succeeds.
 *
 * Used by the opening of a ledger (load.c), and to count budgets (charges.c). One thread;
 * everything blocks on the disk. */
#ifndef WRIT_STORE_REREAD_H
#define WRIT_STORE_REREAD_H

#include "store/disk/heads.h"
#include "store/disk/said.h"

/** Zeroed: not begun. */
struct writ_reread {
    struct writ_disk *disk;
    struct writ_heads heads;
    struct writ_tree_edge edge; /* of the records so far */
    struct writ_buf nodes;
    struct writ_arena *arena; /* one record */
    struct writ_view lines;   /* bodies that were read: the first of them is record `line_leaf` */
    uint64_t line_leaf;
    int64_t before_us; /* time of the record before */
    bool has_row, has_lines;
    bool standing; /* the statements stand at the next record, or after the last one read */
    bool taken;    /* the row was given */
};

/** Begins before record `leaf` of a ledger whose last checkpoint was verified. End with
 * writ_reread_wipe. WRIT_E_MISMATCH, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reread_begin(
    struct writ_reread *ret, struct writ_disk *disk, uint64_t leaf, struct writ_err *err);

/**
 * The next record.
 *
 * @param ret_row   false: there is none
 * @param ret_said  its content; borrowed until the next one
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  a record is missing, or its columns disagree with its body
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_reread_next(struct writ_reread *reread, struct writ_row *ret, bool *ret_row,
    struct writ_said *ret_said, struct writ_err *err);

/** Reads only the body of the next record, without its columns. Use either this or writ_reread_next
 * for one reading. There are as many records as the last checkpoint covers.
 *
 * @param ret  borrowed until the next one
 *
 * @return as writ_reread_next; WRIT_E_MISMATCH: there is none */
WRIT_RESULT writ_reread_body(
    struct writ_reread *reread, struct writ_view *ret, struct writ_err *err);

/** Resets the statements until the next record is read, so that the connection can do other work
 * meanwhile. Borrowed values of earlier records end here. */
void writ_reread_rest(struct writ_reread *reread);

/** Succeeds when the records were those of the last checkpoint, whose tree has that edge.
 * WRIT_E_MISMATCH: they were others; WRIT_E_CRYPTO. */
WRIT_RESULT writ_reread_end(
    const struct writ_reread *reread, const struct writ_tree_edge *edge, struct writ_err *err);

/** A zeroed one is fine. */
void writ_reread_wipe(struct writ_reread *reread);

#endif
