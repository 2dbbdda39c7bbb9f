/* archive_file.h - the files of an archive, below its folder. A file appears as a whole or not at
 * all; it is on disk after writ_archive_file_settle. */
#ifndef WRIT_STORE_ARCHIVE_FILE_H
#define WRIT_STORE_ARCHIVE_FILE_H

#include "base/bytes.h"

#define WRIT_ARCHIVE_FILE_CHECKPOINT "checkpoint" /* the file of the last one */

/** Called now and then with the records that are done and all of them; false ends the work. */
typedef bool writ_archive_file_progress(void *ctx, uint64_t done, uint64_t all);

/** Opens the folder of an archive that is to be written, into `ret`: close it with
 * writ_trusted_close, also after a failure. It is made when it is missing, for its owner alone, and
 * locked until then. As writ_trusted_dir; WRIT_E_BUSY: another process has it locked. */
WRIT_RESULT writ_archive_file_make(const char *path, int *ret, struct writ_err *err);

/** As writ_archive_file_make to read: everybody may have written it. WRIT_E_ABSENT, WRIT_E_IO. */
WRIT_RESULT writ_archive_file_open(const char *path, int *ret, struct writ_err *err);

/** Replaces a file; makes the folders on the way to it. WRIT_E_IO. */
WRIT_RESULT writ_archive_file_write(
    int folder, const char *path, struct writ_view bytes, struct writ_err *err);

/** Appends the file, of at most ret->max bytes. Links are not followed. WRIT_E_ABSENT,
 * WRIT_E_LIMIT, WRIT_E_INVALID (not a regular file), WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_archive_file_read(
    int folder, const char *path, struct writ_buf *ret, struct writ_err *err);

/** Removes a file, and its folder if it was the last one in it. A missing one is fine. */
void writ_archive_file_drop(int folder, const char *path);

/** Makes everything that was written durable. WRIT_E_IO. */
WRIT_RESULT writ_archive_file_settle(int folder, struct writ_err *err);

#endif
