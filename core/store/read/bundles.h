/* bundles.h - makes bundles (evidence/proof/bundle.h) from the records of a ledger, also while a
 * gateway writes it. Memory as there. One thread; everything blocks on the disk. */
#ifndef WRIT_STORE_BUNDLES_H
#define WRIT_STORE_BUNDLES_H

#include "evidence/jose/keyring.h"
#include "evidence/proof/bundle.h"

#define WRIT_BUNDLES_REDACTED_MAX 32 /* names of members */

/** The order for a bundle. */
struct writ_bundles_order {
    const char *path;                /* of the ledger */
    const char *archive;             /* folder of its archive: of records that were removed; NULL:
                                        none */
    const struct writ_keyring *ring; /* one of its keys must have signed; the bundle contains
                                        them */
    struct writ_bundle_select select;
    struct writ_view redacted[WRIT_BUNDLES_REDACTED_MAX]; /* records that have one of these members,
                                                             not null, are withheld */
    size_t redacted_n;
    struct writ_view checkpoint; /* the checkpoint for the bundle, as with writ_proofs_pin; empty:
                                    the last */
    uint64_t least; /* records that the last checkpoint must be over; else WRIT_E_MISMATCH */
    bool signs_not; /* no gateway signs now: the last checkpoint is that of this moment */
    bool (*progress)(void *ctx, uint64_t done, uint64_t all); /* of the records, called now and
                                                                 then; may be NULL */
    void *progress_ctx;
};

/**
 * Makes a bundle under the last checkpoint, or the requested one.
 *
 * @param put  takes the next lines; false ends the work
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no record is selected
 *         WRIT_E_INVALID   a time of the selection is malformed
 *         WRIT_E_MISMATCH  a record is invalid, missing, or not that of the tree: see
 *                          writ_verify_ledger; or no key of the ring signed, or as writ_proofs_pin
 *         WRIT_E_BUSY      `put` or `progress` ended it, or the ledger is locked
 *         WRIT_E_LIMIT     over WRIT_BUNDLE_LIVE_MAX
 *         WRIT_E_PARSE (as writ_reader_open), WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_bundles_make(const struct writ_bundles_order *order,
    bool (*put)(void *ctx, struct writ_view lines), void *ctx, struct writ_bundle_report *ret,
    struct writ_err *err);

#endif
