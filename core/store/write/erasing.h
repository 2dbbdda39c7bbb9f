/* erasing.h - destroys kept contents: those whose time is over, and those that an entry names.
 *
 * Destroying is three steps. The wrapped keys are overwritten with zeros in their place and the
 * ciphertext is deleted, in small transactions between the groups. What was derived from contents
 * in clear is deleted, and the tables that had it are rewritten, so that no unused part of a
 * page has a copy. Then the write-ahead log, which has earlier versions of pages, is copied into
 * the database and cut to nothing.
 *
 * The selection of an erase, and the fact that the log still has to be cut, are rows of `meta`,
 * written in the same transactions: after a crash the next opening continues. The fact that is
 * recorded last has the selection, the number of destroyed contents, and who asked.
 *
 * One thread, the writer's. Everything blocks on the disk. */
#ifndef WRIT_STORE_ERASING_H
#define WRIT_STORE_ERASING_H

#include "store/write/store.h"

/** WRIT_ENTRY_ERASE. True: it waits for its end. False: entry->code says why not. */
bool writ_erasing_ask(struct writ_ledger *ledger, struct writ_entry *entry);

/** Reads what an earlier process began, when the ledger opens. WRIT_E_MISMATCH: that is not
 * readable; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_erasing_load(struct writ_ledger *ledger, struct writ_err *err);

/** One slice of the work that is due. `idle`: no entry waits, so that expired contents are deleted
 * without a group to go with. Failures are in ledger->trouble. */
void writ_erasing_work(struct writ_ledger *ledger, bool idle);

/** Cuts the write-ahead log, when it may have destroyed keys: at once for an erase, else once a
 * minute. Does not wait for readers, and is repeated until it succeeds. */
void writ_erasing_cut(struct writ_ledger *ledger);

/** How long the writer may rest while there is work, in microseconds; `otherwise` without any. */
int64_t writ_erasing_rest_us(const struct writ_ledger *ledger, int64_t otherwise);

/** Ends all entries, because the ledger is closed or poisoned: with WRIT_OK and `held` when their
 * erase is recorded, else with `code`. */
void writ_erasing_end_all(struct writ_ledger *ledger, enum writ_code code);

void writ_erasing_wipe(struct writ_ledger *ledger);

/** Deletes some expired contents in every group, so that it costs no sync. */
extern const struct writ_participant writ_erasing_participant;

#endif
