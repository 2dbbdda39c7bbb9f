/* group.h - what is written together: rows, and ops that say what was changed for them.
 *
 * Preparing changes memory alone and writing the disk alone. When the transaction holds the ops are
 * finished, else they are undone, so that nothing is in memory that is not on disk. */
#ifndef WRIT_STORE_GROUP_H
#define WRIT_STORE_GROUP_H

#include "store/write/store.h"

/** `participants` are borrowed, up to NULL. WRIT_E_NOMEM. */
WRIT_RESULT writ_group_init(struct writ_group *ret, size_t entries_max,
    const struct writ_participant *const *participants, struct writ_err *err);
void writ_group_wipe(struct writ_group *group);
/** True when another entry may still be prepared. */
bool writ_group_has_room(const struct writ_group *group);
/** The next free row; its leaf is set. */
struct writ_group_row *writ_group_row(struct writ_ledger *ledger);
/** Where the next body begins in `bodies`: behind a line feed, unless it is the first. When it is
 * not made after all, cut `bodies` to the length that it had before this. */
size_t writ_group_body(struct writ_group *group);
/** The next op. `steps` outlives the group. */
struct writ_op *writ_group_op(
    struct writ_group *group, const struct writ_op_steps *steps, struct writ_entry *entry);
/** The time of the next record: the clock's, and later than every record before. */
int64_t writ_group_stamp(struct writ_ledger *ledger);
/** Notes that the present group appends to the boundary. */
void writ_group_touch(struct writ_ledger *ledger, struct writ_boundary *boundary);
/** Lets the participants add what suits a group of so many records. True when one has something to
 * write. */
bool writ_group_prepare(struct writ_ledger *ledger, size_t records);
/** Writes the group in one transaction and finishes its ops, or undoes them. Leaves it empty.
 * WRIT_E_IO, WRIT_E_NOMEM; ledger->trouble.why says more. */
WRIT_RESULT writ_group_commit(struct writ_ledger *ledger);
/** Ends a group that is not written: undoes its ops with that code. */
void writ_group_abandon(struct writ_ledger *ledger, enum writ_code code);
/** Notes why the ledger refuses. */
void writ_group_trouble(struct writ_ledger *ledger, const struct writ_err *err);
/** What was read is not what was written, as `err` says: nothing is written any more until the
 * ledger is opened again. Says so in `err`; gives WRIT_E_IO. */
writ_result writ_group_changed(struct writ_ledger *ledger, struct writ_err *err);
/** Something beside the records is not what they say: nothing is written any more until the ledger
 * is opened again. Says so in `err`, with the record; gives WRIT_E_IO. */
writ_result writ_group_poison(
    struct writ_ledger *ledger, uint64_t leaf, const char *what, struct writ_err *err);

#endif
