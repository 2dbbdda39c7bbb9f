/* trusted.h - small files that no other user can have written: keys, accepted definitions.
 *
 * A directory and a file are trusted when they belong to the user of the process or to root, and
 * their modes exclude others; neither may be a symbolic link. A file is replaced atomically or not
 * at all. */
#ifndef WRIT_STORE_TRUSTED_H
#define WRIT_STORE_TRUSTED_H

#include "base/bytes.h"

#include <sys/stat.h>

#define WRIT_TRUSTED_NAME_MAX 255 /* bytes of a file's name in its directory */

/** Follows the name of a file while it is written. */
#define WRIT_TRUSTED_NEW ".new"

/** Mode bits that a file must not have: write access for others, or any access for others. */
#define WRIT_TRUSTED_UNWRITABLE (S_IWGRP | S_IWOTH)
#define WRIT_TRUSTED_PRIVATE    (S_IRWXG | S_IRWXO)

/** The mode of a new file: for its owner alone, or readable by all. */
#define WRIT_TRUSTED_OURS  (S_IRUSR | S_IWUSR)
#define WRIT_TRUSTED_SHOWN (WRIT_TRUSTED_OURS | S_IRGRP | S_IROTH)

/** Closes a descriptor that is open; for WRIT_AUTO. */
void writ_trusted_close(int *fd);

/** Opens a directory that others cannot write to, into `ret`: close it. WRIT_E_ABSENT,
 * WRIT_E_INVALID (a link, writable by others, owned by another user), WRIT_E_LIMIT, WRIT_E_IO. */
WRIT_RESULT writ_trusted_dir(const char *path, int *ret, struct writ_err *err);

/** As writ_trusted_dir, for the folder of a file. `ret_name` is the file's name in it, borrowed
 * from `path`. WRIT_E_LIMIT also for a long path. */
WRIT_RESULT writ_trusted_folder(
    const char *path, int *ret, const char **ret_name, struct writ_err *err);

/** Appends a regular file of the directory, of at most ret->max bytes, whose mode has no bit of
 * `forbidden`. As writ_trusted_dir. */
WRIT_RESULT writ_trusted_read(
    int dir, const char *name, mode_t forbidden, struct writ_buf *ret, struct writ_err *err);

/** As writ_trusted_read, for a path: its folder is trusted too. WRIT_E_LIMIT also for a long one.
 */
WRIT_RESULT writ_trusted_load(
    const char *path, mode_t forbidden, struct writ_buf *ret, struct writ_err *err);

/** Replaces a file atomically, its bytes durable, with that mode whatever the umask. Its name is
 * durable after writ_trusted_sync. One writer of a name at a time. WRIT_E_LIMIT (the name),
 * WRIT_E_IO. */
WRIT_RESULT writ_trusted_write(
    int dir, const char *name, mode_t mode, struct writ_view bytes, struct writ_err *err);

/** Makes the names of a directory durable. WRIT_E_IO. */
WRIT_RESULT writ_trusted_sync(int dir, struct writ_err *err);

/** Fails with the meaning of `error` (an errno): "name: what: why". WRIT_E_ABSENT, WRIT_E_INVALID,
 * WRIT_E_NOMEM, WRIT_E_IO. */
WRIT_RESULT writ_trusted_fail(struct writ_err *err, int error, const char *name, const char *what);

#endif
