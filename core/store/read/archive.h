/* archive.h - the records of a ledger as a static log (c2sp.org/tlog-tiles): a folder of files that
 * never change, with the last checkpoint, which any web server can serve and any client of such
 * logs can read. A later run appends what was recorded since.
 *
 *     checkpoint                 the last one, signed
 *     tile/L/N, tile/L/N.p/W     digests of the tree (tile.h)
 *     tile/entries/N[.p/W]       the canonical records, each behind its length of 16 bits
 *     tile/long/N                a record of more than 65,535 bytes, whose place in its bundle is
 *                                empty */
#ifndef WRIT_STORE_ARCHIVE_H
#define WRIT_STORE_ARCHIVE_H

#include "evidence/jose/keyring.h"
#include "evidence/log/checkpoint.h"
#include "store/read/archive_file.h"

/** Borrowed for the call. */
struct writ_archive {
    const char *ledger;
    const char *folder; /* made when it is missing; else an archive of that ledger, or empty */
    const struct writ_keyring *ring;      /* of which a key must have signed the checkpoint */
    bool verify;                          /* and reads the whole archive again: archive_check.h */
    writ_archive_file_progress *progress; /* may be NULL */
    void *ctx;
};

struct writ_archive_report {
    uint64_t before, size;   /* records in the archive before, and now */
    struct writ_digest root; /* of the tree over all of them */
};

/**
 * Brings the archive up to the last checkpoint of the ledger, also while a gateway writes that. The
 * checkpoint is written last, when everything below it is on disk: after a kill the archive is the
 * former one, and the next run continues. Each record is compared with the tree that is signed.
 * Blocks.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    the ledger does not exist, or is empty
 *         WRIT_E_MISMATCH  the folder is an archive of another ledger, or of records that this one
 *                          does not contain (ROLLBACK, FORK), or it lacks records that the ledger
 *                          gave up; or a record is not the signed one
 *         WRIT_E_BUSY      `progress` ended it, or the ledger is locked
 *         WRIT_E_INVALID, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_archive_write(
    const struct writ_archive *archive, struct writ_archive_report *ret, struct writ_err *err);

#endif
