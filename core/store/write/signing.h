/* signing.h - when the checkpoint of a group is signed.
 *
 * A signature takes longer than all else of a small group. With a key for the tail (options.h), a
 * group within WRIT_HEADS_SIGN_US of the last checkpoint has a MAC of the tree in its place
 * (disk/heads.h). The next group after that time is signed, or, when none comes, the row of the
 * last one; so is the last one of a ledger that is closed. A checkpoint is over all records before
 * it, so every record is signed some milliseconds after it is on disk. The time counts on the
 * monotonic clock and between the records: a verification can then tell a MAC that no gateway
 * wrote there (read/check_tree.c).
 *
 * A ledger that was killed ends with groups that have a MAC. The next opening checks the last MAC,
 * which covers them all, and signs them; without the key it opens only to be resumed. */
#ifndef WRIT_STORE_SIGNING_H
#define WRIT_STORE_SIGNING_H

#include "store/write/store.h"

/** Takes the key from the options. */
void writ_signing_init(struct writ_ledger *ledger);
/** Wipes it. */
void writ_signing_wipe(struct writ_ledger *ledger);

/** Makes the checkpoint or the MAC over group->edge. WRIT_E_CRYPTO, WRIT_E_NOMEM. */
WRIT_RESULT writ_signing_note(struct writ_ledger *ledger, struct writ_err *err);
/** The group with that note is on disk. */
void writ_signing_written(struct writ_ledger *ledger);

/** Whether groups are on disk that are not signed yet. */
bool writ_signing_waits(const struct writ_ledger *ledger);
/** The most that the writer may rest before writ_signing_work has something to do. */
int64_t writ_signing_rest_us(const struct writ_ledger *ledger, int64_t rest_us);
/** Signs the last group when it is due; after a failure again some time later. As
 * writ_signing_sign. */
WRIT_RESULT writ_signing_work(struct writ_ledger *ledger, struct writ_err *err);
/** Signs it in any case, if the disk takes it: the next opening does otherwise. */
void writ_signing_close(struct writ_ledger *ledger);

/** Signs the tree of the ledger in a row of `head`, in a transaction of its own. WRIT_E_IO,
 * WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_signing_sign(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err);

#endif
