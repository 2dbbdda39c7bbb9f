/* archive_check.h - checks an archive (archive.h) without its ledger: that its records and its
 * tiles are those of a checkpoint that a trusted key signed. */
#ifndef WRIT_STORE_ARCHIVE_CHECK_H
#define WRIT_STORE_ARCHIVE_CHECK_H

#include "evidence/log/checkpoint.h"
#include "store/read/archive_file.h"

/** What is to be checked. Borrowed for the call. */
struct writ_archive_check {
    const char *folder;
    const struct writ_note_key *const *keys; /* trusted */
    size_t keys_n;
    struct writ_view note; /* in place of keys: its checkpoint, which is trusted; or empty */
    writ_archive_file_progress *progress; /* may be NULL */
    void *ctx;
};

struct writ_archive_state {
    struct writ_buf origin; /* wipe it */
    uint64_t size;
    struct writ_digest root;
};

/**
 * Reads every file of the archive.
 *
 * @return WRIT_OK          all are there, and as signed
 *         WRIT_E_MISMATCH  a file is missing, or differs from what the checkpoint covers; `err`
 *                          names it
 *         WRIT_E_ABSENT    the folder is not an archive, or none of the keys signed it
 *         WRIT_E_BUSY      `progress` ended it
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_archive_check_run(
    const struct writ_archive_check *check, struct writ_archive_state *ret, struct writ_err *err);

#endif
