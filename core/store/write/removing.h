/* removing.h - gives up the oldest records of the log, which an archive has (disk/removal.h).
 *
 * The first record that stays is recorded as a fact (evidence/record/archive_fact.h), which is
 * signed like every record: so nothing beside the log says where it begins, and a ledger from which
 * more is missing is one that was cut. Then the rows go in small parts, with the groups or while
 * the writer is idle; a start after a crash reads the fact and goes on. Where several gateways
 * write, none may remove records: the fact is all that the writer does.
 *
 * One thread, the writer's. Everything blocks on the disk. */
#ifndef WRIT_STORE_REMOVING_H
#define WRIT_STORE_REMOVING_H

#include "evidence/record/fact.h"
#include "store/write/store.h"

/** WRIT_ENTRY_REMOVE. True: it waits for its end. False: entry->code says why not. */
bool writ_removing_ask(struct writ_ledger *ledger, struct writ_entry *entry);

/** Takes a fact of the log, also of another gateway. WRIT_E_MISMATCH: it is not readable. */
WRIT_RESULT writ_removing_hear(
    struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err);

/** When all facts are known, at the opening: compares them with the records that are there.
 * WRIT_E_MISMATCH: more are missing than were removed; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_removing_load(struct writ_ledger *ledger, struct writ_err *err);

/** Begins what was asked for, and removes a part. `idle`: no entry waits. Failures are in
 * ledger->trouble. */
void writ_removing_work(struct writ_ledger *ledger, bool idle);

/** How long the writer may rest while there is work, in microseconds; `otherwise` without any. */
int64_t writ_removing_rest_us(const struct writ_ledger *ledger, int64_t otherwise);

/** Ends all entries, because the ledger is closed or poisoned: with WRIT_OK when their removal is
 * recorded, else with `code`. */
void writ_removing_end_all(struct writ_ledger *ledger, enum writ_code code);

/** Removes some records in every group, so that it costs no sync. */
extern const struct writ_participant writ_removing_participant;

#endif
