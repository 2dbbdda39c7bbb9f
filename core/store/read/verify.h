/* verify.h - checks every record of a ledger, also while a gateway writes it.
 *
 * Each record: its index follows, its time grows, its bytes are canonical and of the strict form,
 * it is valid by its route, its digests are what its members give, and the columns beside it say
 * the same. Each boundary: seq from 0 without a gap, running_count, nothing after its seal, and a
 * seal that counts and hashes its decisions. Each call: a decision, at most one outcome that joins
 * it, none without a decision; a refused call did not run; a granted one was an allow, or says that
 * shadow mode granted it. Each review: its records follow from each other. The tree: each record is
 * the leaf that is stored, each checkpoint has the root that the records give, and is signed: by a
 * key that is trusted for it, or by a key that was revoked by then, when a later trusted checkpoint
 * covers it. The last records may be unsigned yet (write/signing.h): they are counted, and compared
 * with their MAC where the key for it is known (signed_all, below).
 *
 * Of records that were removed (write/removing.h) the digests are checked, and that the log says
 * so. Other checks begin after them: a run that began before continues from the seq that it has,
 * and an outcome is accepted without its decision.
 *
 * Only a checkpoint that another party kept can reveal a suffix that was cut off together with
 * its checkpoints. Without the keys the same holds for a rewritten history with new checkpoints. */
#ifndef WRIT_STORE_VERIFY_H
#define WRIT_STORE_VERIFY_H

#include "evidence/jose/keyring.h"
#include "store/read/verify_report.h"

/**
 * Verifies the records that exist when it begins; when some of these are removed before they were
 * read, it begins again.
 *
 * @param ring      keys of the ledger, whose signatures are required; NULL: none
 * @param progress  called now and then, stops the work when it returns false; may be NULL
 * @param ret       written also when there are problems: then ret->problems is above 0
 *
 * Memory grows with the number of boundaries that are open at one time and of calls that are in
 * flight at one time, not with the length of the log. Blocks.
 *
 * @return WRIT_OK  everything was checked, whatever was found
 *         WRIT_E_BUSY     `progress` stopped it, or the ledger is locked
 *         WRIT_E_LIMIT    over WRIT_VERIFY_LIVE_MAX or WRIT_VERIFY_REVIEWS_MAX
 *         WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_PARSE (as writ_reader_open), WRIT_E_IO,
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_verify_ledger(const char *path, const struct writ_keyring *ring,
    bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx,
    struct writ_verify_report *ret, struct writ_err *err);

/** What a verification reads. */
struct writ_verify_sources {
    const char *path;
    const char *archive;             /* a folder (archive.h): its records are checked in place of
                                        those that were removed; NULL: none */
    const struct writ_keyring *ring; /* as writ_verify_ledger */
    struct writ_view tail_key;       /* of the last records, while they are not signed (options.h);
                                        ptr NULL: they are not authenticated */
    bool signed_all;                 /* with a ring: last records that are neither signed nor
                                        authenticated are a problem, once no gateway has signed them
                                        within a second; false: they are counted */
};

/** As writ_verify_ledger. What is wrong with the archive is a problem of its record. Also
 * WRIT_E_ABSENT: the folder is not an archive. */
WRIT_RESULT writ_verify_joined(const struct writ_verify_sources *sources,
    bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx,
    struct writ_verify_report *ret, struct writ_err *err);

#endif
