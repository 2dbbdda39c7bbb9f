/* archive_read.h - reads single records of an archive (archive.h). Nothing that it gives is
 * checked: compare each record with a tree whose root is signed.
 *
 * One thread; everything blocks on the disk. */
#ifndef WRIT_STORE_ARCHIVE_READ_H
#define WRIT_STORE_ARCHIVE_READ_H

#include "base/bytes.h"

struct writ_archive_read;

/** Opens the folder. `ret` is new, free with writ_archive_read_close; written only on success.
 * WRIT_E_ABSENT: no archive; WRIT_E_MISMATCH: its checkpoint is not one; WRIT_E_IO, WRIT_E_NOMEM.
 */
WRIT_RESULT writ_archive_read_open(
    const char *folder, struct writ_archive_read **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_archive_read_close(struct writ_archive_read *archive);

/** How many records it has. */
uint64_t writ_archive_read_size(const struct writ_archive_read *archive);

/** A record. Records near to each other are read fastest.
 *
 * @param ret  borrowed until the second next call
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  its file is missing or damaged; `err` names it
 *         WRIT_E_IO, WRIT_E_LIMIT, WRIT_E_NOMEM */
WRIT_RESULT writ_archive_read_record(
    struct writ_archive_read *archive, uint64_t leaf, struct writ_view *ret, struct writ_err *err);

/** Takes the first entry off a bundle; an empty one has a file of its own. False: the bundle is
 * damaged. */
bool writ_archive_read_entry(struct writ_view *bundle, struct writ_view *ret);

#endif
