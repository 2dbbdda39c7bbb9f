/* group.h - the rows that are written together, and ops that have the changes made for them.
 *
 * Preparing changes only memory, and writing only the disk. When the transaction is committed the
 * ops are finished, else they are undone, so that memory has nothing that is not on disk. */
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
/** Where the next body begins in `bodies`: after a line feed, unless it is the first. If the body
 * is not made after all, cut `bodies` to the length before this call. */
size_t writ_group_body(struct writ_group *group);
/** The next op. `steps` outlives the group. */
struct writ_op *writ_group_op(
    struct writ_group *group, const struct writ_op_steps *steps, struct writ_entry *entry);
/** The clock's time, or that of the last record when the clock is behind it. */
int64_t writ_group_now(const struct writ_ledger *ledger);
/** The time of the next record: the clock's time, and later than every earlier record. */
int64_t writ_group_stamp(struct writ_ledger *ledger);
/** Notes that the present group appends to the boundary. */
void writ_group_touch(struct writ_ledger *ledger, struct writ_boundary *boundary);
/** Lets the participants add parts of a size that suits a group of so many records. True when one
 * has something to write. */
bool writ_group_prepare(struct writ_ledger *ledger, size_t records);
/** Writes the group in one transaction and finishes its ops, or undoes them. Leaves the group
 * empty. WRIT_E_IO, WRIT_E_NOMEM; ledger->trouble.why has the details. */
WRIT_RESULT writ_group_commit(struct writ_ledger *ledger);
/** Ends a group that is not written: undoes its ops with that code. */
void writ_group_abandon(struct writ_ledger *ledger, enum writ_code code);
/** Notes why the ledger refuses. */
void writ_group_trouble(struct writ_ledger *ledger, const struct writ_err *err);
/** Notes a failure of the disk as trouble. Returns the result, WRIT_E_BUSY as WRIT_E_IO. */
WRIT_RESULT writ_group_note(
    struct writ_ledger *ledger, writ_result result, const struct writ_err *err);
/** Poisons the ledger because a read record differs from the written one, as `err` says: it writes
 * nothing until it is opened again. Adds that to `err`; returns WRIT_E_IO. */
writ_result writ_group_changed(struct writ_ledger *ledger, struct writ_err *err);
/** Poisons the ledger because a row beside the records contradicts them: it writes nothing until it
 * is opened again. Adds that and the record to `err`; returns WRIT_E_IO. */
writ_result writ_group_poison(
    struct writ_ledger *ledger, uint64_t leaf, const char *what, struct writ_err *err);

#endif
