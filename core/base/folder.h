/* folder.h - the names of the files in a folder. */
#ifndef WRIT_BASE_FOLDER_H
#define WRIT_BASE_FOLDER_H

#include "base/bytes.h"

/**
 * Lists the entries of a folder whose names end with `suffix` and do not begin with a dot, sorted
 * by bytes.
 *
 * @param max    most entries to accept
 * @param ret    the names, NUL-terminated, in the arena; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT  the folder does not exist
 *         WRIT_E_IO      it cannot be read
 *         WRIT_E_LIMIT   more than `max` entries
 *         WRIT_E_NOMEM
 *
 * Thread-safe. Blocks on the disk.
 */
WRIT_RESULT writ_folder_names(const char *path, const char *suffix, size_t max,
    struct writ_arena *arena, struct writ_view **ret, size_t *ret_n, struct writ_err *err);

#endif
