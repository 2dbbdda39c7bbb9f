/* export_cursor.h - the file that says which record is exported next:
 *
 *     writ-export 1
 *     ORIGIN
 *     NEXT
 *
 * ORIGIN is the name of the ledger's checkpoints, so that the cursor of one ledger is never used
 * for another. The file is complete or absent, belongs to this user, and its folder is trusted as
 * trusted.h says. Everything blocks on the disk. */
#ifndef WRIT_GATEWAY_EXPORT_CURSOR_H
#define WRIT_GATEWAY_EXPORT_CURSOR_H

#include "base/bytes.h"

/** Reads the index of the next record. WRIT_E_ABSENT: there is no file; WRIT_E_MISMATCH: it is of
 * another ledger, or not a cursor; WRIT_E_INVALID: others can write it; WRIT_E_LIMIT, WRIT_E_IO,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_export_cursor_read(
    const char *path, struct writ_view origin, uint64_t *ret, struct writ_err *err);

/** Replaces the file, durably. As writ_export_cursor_read. */
WRIT_RESULT writ_export_cursor_write(
    const char *path, struct writ_view origin, uint64_t next, struct writ_err *err);

#endif
