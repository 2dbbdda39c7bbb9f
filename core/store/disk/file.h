/* file.h - the files of a ledger, around SQLite: their owners and modes, their locks, and whether
 * they are still the files that were opened.
 *
 * SQLite keeps writing to a file that was removed or renamed and never notices. So the writer
 * compares the identity of the database, its write-ahead log and its lock before every group; one
 * stat of their directory is enough while nothing has changed in it. */
#ifndef WRIT_STORE_FILE_H
#define WRIT_STORE_FILE_H

#include "base/bytes.h"

#include <sys/types.h>
#include <time.h>

#define WRIT_FILE_PATH_MAX 4000 /* bytes of a ledger's path */

enum writ_file_part {
    WRIT_FILE_DATABASE = 0,
    WRIT_FILE_WAL,
    WRIT_FILE_SHM,
    WRIT_FILE_LOCK,
    WRIT_FILE_PARTS
};

/** The files of one ledger. Zeroed: none. */
struct writ_file {
    struct writ_buf paths[WRIT_FILE_PARTS]; /* NUL-terminated */
    struct {
        bool known;
        dev_t device;
        ino_t inode;
    } identity[WRIT_FILE_PARTS];
    struct {
        struct writ_buf path; /* NUL-terminated */
        bool known;
        dev_t device;
        ino_t inode;
        struct timespec changed;
    } directory; /* its times when its names were last found unchanged */
    bool locked;
    int lock_fd, database_fd; /* open while locked */
};

/** Makes the paths of the files beside `path`. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_file_name(const char *path, struct writ_file *ret, struct writ_err *err);

/** Unlocks and frees. A zeroed one is fine. */
void writ_file_wipe(struct writ_file *file);

/** The name of a part, NUL-terminated; borrowed until the wipe. */
const char *writ_file_path(const struct writ_file *file, enum writ_file_part part);

/**
 * Refuses files that another user may have prepared.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   there is no database
 *         WRIT_E_INVALID  a part is a symbolic link, not a regular file, or writable by group or
 *                         others; or others can write to the directory
 *         WRIT_E_IO       a part cannot be examined
 */
WRIT_RESULT writ_file_check(const struct writ_file *file, struct writ_err *err);

/** As writ_file_check for the directory alone: for a ledger that is about to be created.
 * WRIT_E_INVALID also when the database exists. */
WRIT_RESULT writ_file_check_new(const struct writ_file *file, struct writ_err *err);

/** Makes an empty database, for its owner alone. WRIT_E_INVALID: the path exists. WRIT_E_IO. */
WRIT_RESULT writ_file_make(const struct writ_file *file, struct writ_err *err);

/** Removes the database, its write-ahead log and its shared memory, as far as they exist. */
void writ_file_remove(const struct writ_file *file);

/** Makes the name of a new database durable: syncs its directory. WRIT_E_IO. */
WRIT_RESULT writ_file_settle(const struct writ_file *file, struct writ_err *err);

/**
 * Takes the locks that keep a second process out: of the lock file, which is made when it is
 * missing, and of the database itself, which may be reached by another path.
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY     another process has one of them
 *         WRIT_E_INVALID  a symbolic link; or a database with a second name (a hard link, a mount
 *                         of the file alone), under which another write-ahead log may lie
 *         WRIT_E_IO       cannot be opened or locked
 */
WRIT_RESULT writ_file_lock(struct writ_file *file, struct writ_err *err);

/** Whether a process seems to hold these locks; takes none. By /proc/locks: false where that cannot
 * be read. */
bool writ_file_is_locked(const struct writ_file *file);

/** Remembers the identity of the files, once all are open. WRIT_E_IO. */
WRIT_RESULT writ_file_remember(struct writ_file *file, struct writ_err *err);

/** WRIT_OK while the names still lead to the remembered files, else WRIT_E_IO. */
WRIT_RESULT writ_file_same(struct writ_file *file, struct writ_err *err);

#endif
