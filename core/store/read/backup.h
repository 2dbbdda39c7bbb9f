/* backup.h - a copy of a ledger as it is at one moment, made and verified while a gateway writes.
 *
 * It ends with a signed checkpoint, if a gateway signs one within a second (disk/heads.h).
 *
 * A copy appears under its name when it is complete, verified and on disk. Until then it is
 * TO.partial, which a later run replaces. */
#ifndef WRIT_STORE_BACKUP_H
#define WRIT_STORE_BACKUP_H

#include "evidence/jose/keyring.h"
#include "store/read/verify_report.h"

/** Called now and then with the work that is done and all of it; false ends the work. */
typedef bool writ_backup_progress(void *ctx, uint64_t done, uint64_t all);

/** How a backup is made. Borrowed for the call. */
struct writ_backup {
    const char *from, *to; /* `to` must not exist */
    const struct writ_keyring
        *ring;                 /* as of writ_verify_ledger; NULL: signatures are not verified */
    struct writ_view tail_key; /* as of writ_verify_sources: with a ring, the last records must be
                                  signed, or authenticated by it */
    writ_backup_progress *copied;   /* in pages; may be NULL */
    writ_backup_progress *verified; /* in records; may be NULL */
    void *ctx;                      /* of both */
};

/**
 * Makes the copy.
 *
 * @param ret  of the verification; with ret->problems above 0 no copy was kept
 *
 * Meanwhile the write-ahead log of the ledger grows: the copy reads one state of it. Blocks.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  `to` exists, or its directory is open to others; or as
 *                         writ_verify_ledger
 *         WRIT_E_BUSY     a progress function ended it, or the ledger is locked
 *         WRIT_E_IO       also a full disk
 *         WRIT_E_ABSENT, WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_backup_make(
    const struct writ_backup *backup, struct writ_verify_report *ret, struct writ_err *err);

#endif
