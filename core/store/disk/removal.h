/* removal.h - removes records from the left of the log, which an archive has.
 *
 * A slice is one transaction, or part of one: whole groups of records go, with their bodies, and
 * the facts among them move to the table `fact`. So the log has no gap after any slice, and another
 * process may go on from there. The rows of `head` stay.
 *
 * One thread; everything blocks on the disk. */
#ifndef WRIT_STORE_REMOVAL_H
#define WRIT_STORE_REMOVAL_H

#include "evidence/jose/keyring.h"
#include "store/disk/disk.h"

/** Called now and then with the records that are gone and all that are to go; false ends it. */
typedef bool writ_removal_progress(void *ctx, uint64_t done, uint64_t all);

struct writ_removal {
    const char *uri;                 /* of a role that may delete records: a gateway's may not */
    const struct writ_keyring *ring; /* the keys of the ledger */
    uint64_t until; /* as a fact of the log says (evidence/record/archive_fact.h) */
    writ_removal_progress *progress; /* may be NULL */
    void *ctx;
};

/**
 * Removes all records before `until` from a ledger on PostgreSQL, in several transactions, also
 * while gateways write it: drops partitions that end before, and deletes rows of the one that it
 * cuts. Removes nothing from a database without the signed fact that names `until`: it may be a
 * copy, whose records no archive has to have.
 *
 * @param removal  borrowed for the call
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY      `progress` ended it: the next run goes on
 *         WRIT_E_MISMATCH  the database lacks the fact
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_removal_run(const struct writ_removal *removal, struct writ_err *err);

/**
 * Removes about `most` records, and none from `until` on, in the present transaction.
 *
 * @param until      the first record of a group
 * @param ret_first  the first record of the log afterwards: `until` or later when all are gone
 *
 * @return WRIT_OK
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM
 */
WRIT_RESULT writ_removal_slice(struct writ_disk *disk, uint64_t until, uint64_t most,
    uint64_t *ret_first, struct writ_err *err);

#endif
