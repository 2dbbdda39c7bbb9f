/* facts.h - records that belong to no call and no run (evidence/record/fact.h), in the writer.
 *
 * Their rows are of kind 5, in boundary 0, which no run has. The index `record_fact` finds them.
 * When they are read, each is compared with the signed tree, and its number n is checked: a removed
 * fact is noticed when another one follows it. One thread. */
#ifndef WRIT_STORE_FACTS_H
#define WRIT_STORE_FACTS_H

#include "evidence/record/fact.h"
#include "store/write/store.h"

/** WRIT_ENTRY_FACT: appends the record to the present group. WRIT_E_INVALID, WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_facts_enter(struct writ_ledger *ledger, struct writ_entry *entry);

/** Appends a fact to the present group beside the op of an entry, which is the caller's. *ret_leaf
 * is its record. As writ_facts_enter. */
WRIT_RESULT writ_facts_add(struct writ_ledger *ledger, enum writ_fact_event event,
    struct writ_view data, uint64_t *ret_leaf);

/** Records a fact in a group of its own, while the ledger opens. ledger->trouble.why has the
 * failure. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_facts_record(
    struct writ_ledger *ledger, enum writ_fact_event event, struct writ_view data);

/** Reads and counts all facts when the ledger opens; its edge and last time must be known. Gives
 * each fact to `hear`, whose failure ends the reading. WRIT_E_MISMATCH: a fact is missing, not the
 * signed one, or not readable; WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_facts_load(struct writ_ledger *ledger,
    writ_result (*hear)(
        struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err),
    struct writ_err *err);

#endif
