/* Files are compared by device and inode. A file that cannot be examined is refused: an unknown
 * file never counts as the opened one. */
#include "store/disk/file.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define US_PER_S  1000000
#define LOCKS_MAX ((size_t)4 << 20) /* bytes of /proc/locks */
#define DIRECTORY_REST_S                                                                           \
    1 /* a directory counts as known when it has not changed for this many seconds */

static const char *const suffixes[WRIT_FILE_PARTS] = {
    [WRIT_FILE_DATABASE] = "",
    [WRIT_FILE_WAL] = "-wal",
    [WRIT_FILE_SHM] = "-shm",
    [WRIT_FILE_LOCK] = "-lock",
};

static const char *const names[WRIT_FILE_PARTS] = {
    [WRIT_FILE_DATABASE] = "the ledger",
    [WRIT_FILE_WAL] = "the write-ahead log of the ledger",
    [WRIT_FILE_SHM] = "the shared memory of the ledger",
    [WRIT_FILE_LOCK] = "the lock file of the ledger",
};

/* The directory of the ledger, NUL-terminated. */
static WRIT_RESULT
name_directory(struct writ_view path, struct writ_buf *ret, struct writ_err *err)
{
    size_t slash = path.len;

    while (slash > 0 && path.ptr[slash - 1] != '/') {
        slash--;
    }
    *ret = writ_buf_make(WRIT_FILE_PATH_MAX + 16);
    writ_buf_put(ret, slash == 0 ? WRIT_LIT("./") : writ_view_sub(path, 0, slash));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

WRIT_RESULT
writ_file_name(const char *path, struct writ_file *ret, struct writ_err *err)
{
    struct writ_view view = writ_view_str(path);
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};

    if (view.len == 0 || view.len > WRIT_FILE_PATH_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the path of a ledger has 1 to %d bytes", WRIT_FILE_PATH_MAX);
    }
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        file.paths[i] = writ_buf_make(WRIT_FILE_PATH_MAX + 16);
        writ_buf_put(&file.paths[i], view);
        writ_buf_str(&file.paths[i], suffixes[i]);
        writ_buf_byte(&file.paths[i], '\0');
        WRIT_TRY(writ_buf_check(&file.paths[i], err));
    }
    WRIT_TRY(name_directory(view, &file.directory.path, err));
    *ret = file;
    file = (struct writ_file){0};
    return WRIT_DONE;
}

void
writ_file_wipe(struct writ_file *file)
{
    if (file->locked) {
        (void)close(file->database_fd); /* and with them the locks */
        (void)close(file->lock_fd);
    }
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        writ_buf_wipe(&file->paths[i]);
    }
    writ_buf_wipe(&file->directory.path);
    *file = (struct writ_file){0};
}

const char *
writ_file_path(const struct writ_file *file, enum writ_file_part part)
{
    return file->paths[part].ptr;
}

/* A user who can write to the directory can exchange the files in it, or add a write-ahead log that
 * SQLite would play back. A sticky bit does not prevent the second. */
static WRIT_RESULT
check_directory(const struct writ_file *file, struct writ_err *err)
{
    const char *path = file->directory.path.ptr;
    struct stat st;

    if (stat(path, &st) != 0) {
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO,
            "the directory of the ledger, %s, cannot be read (%s)", path, strerrordesc_np(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a directory", path);
    }
    if ((st.st_mode & S_IWOTH) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "all users can write to the directory of the ledger, %s: use a directory of its own",
            path);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_file_make(const struct writ_file *file, struct writ_err *err)
{
    const char *path = writ_file_path(file, WRIT_FILE_DATABASE);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);

    if (fd < 0) {
        WRIT_FAIL(err, errno == EEXIST ? WRIT_E_INVALID : WRIT_E_IO, "%s cannot be created (%s)",
            path, strerrordesc_np(errno));
    }
    (void)close(fd);
    return WRIT_DONE;
}

void
writ_file_remove(const struct writ_file *file)
{
    (void)unlink(writ_file_path(file, WRIT_FILE_DATABASE));
    (void)unlink(writ_file_path(file, WRIT_FILE_WAL));
    (void)unlink(writ_file_path(file, WRIT_FILE_SHM));
}

WRIT_RESULT
writ_file_settle(const struct writ_file *file, struct writ_err *err)
{
    const char *path = file->directory.path.ptr;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), synced;

    if (fd < 0) {
        WRIT_FAIL(
            err, WRIT_E_IO, "the directory %s cannot be opened (%s)", path, strerrordesc_np(errno));
    }
    synced = fsync(fd);
    (void)close(fd);
    if (synced != 0) {
        WRIT_FAIL(
            err, WRIT_E_IO, "the directory %s cannot be synced (%s)", path, strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_part(const struct writ_file *file, enum writ_file_part part, struct writ_err *err)
{
    const char *path = writ_file_path(file, part);
    struct stat st;

    if (lstat(path, &st) != 0) {
        if (errno == ENOENT && part != WRIT_FILE_DATABASE) {
            return WRIT_DONE;
        }
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO,
            errno == ENOENT ? "the ledger %s does not exist; `writ ledger init` makes one"
                            : "cannot inspect %s",
            path);
    }
    if (!S_ISREG(st.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s, %s, is %s, not a regular file", names[part], path,
            S_ISLNK(st.st_mode) ? "a symbolic link" : "something else");
    }
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "others can write to %s, %s: chmod go-w", names[part], path);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_file_check(const struct writ_file *file, struct writ_err *err)
{
    WRIT_TRY(check_directory(file, err));
    WRIT_TRY(check_part(file, WRIT_FILE_DATABASE, err));
    WRIT_TRY(check_part(file, WRIT_FILE_WAL, err));
    WRIT_TRY(check_part(file, WRIT_FILE_SHM, err));
    return check_part(file, WRIT_FILE_LOCK, err);
}

WRIT_RESULT
writ_file_check_new(const struct writ_file *file, struct writ_err *err)
{
    static const enum writ_file_part parts[] = {WRIT_FILE_DATABASE, WRIT_FILE_WAL, WRIT_FILE_SHM};
    struct stat st;

    WRIT_TRY(check_directory(file, err));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (lstat(writ_file_path(file, parts[i]), &st) == 0) {
            WRIT_FAIL(err, WRIT_E_INVALID, "%s exists already", writ_file_path(file, parts[i]));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_lock(const struct writ_file *file, enum writ_file_part part, int flags, int *ret,
    struct writ_err *err)
{
    const char *path = writ_file_path(file, part);
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0) {
        WRIT_FAIL(err, errno == ELOOP ? WRIT_E_INVALID : WRIT_E_IO, "%s, %s, cannot be opened (%s)",
            names[part], path, strerrordesc_np(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int reason = errno;

        (void)close(fd);
        WRIT_FAIL(err, reason == EWOULDBLOCK ? WRIT_E_BUSY : WRIT_E_IO,
            reason == EWOULDBLOCK ? "another process has the ledger open (it holds %s)"
                                  : "%s cannot be locked (%s): a ledger needs a local file system",
            path, strerrordesc_np(reason));
    }
    *ret = fd;
    return WRIT_DONE;
}

/* A line of /proc/locks ends with the device, the inode and the range. The device is another number
 * than that of stat on some file systems. */
static bool
is_listed(struct writ_view locks, const char *path)
{
    writ_auto_buf inode = writ_buf_make(64);
    struct stat status;

    if (stat(path, &status) != 0) {
        return false;
    }
    writ_buf_fmt(&inode, ":%llu 0 EOF", (unsigned long long)status.st_ino);
    return writ_view_search(locks, writ_buf_view(&inode)) < locks.len;
}

/* Both, because a file of another file system may have one of the inodes. */
bool
writ_file_is_locked(const struct writ_file *file)
{
    writ_auto_buf locks = writ_buf_make(LOCKS_MAX);

    return writ_is_ok(writ_text_file("/proc/locks", LOCKS_MAX, &locks, NULL)) &&
           is_listed(writ_buf_view(&locks), writ_file_path(file, WRIT_FILE_LOCK)) &&
           is_listed(writ_buf_view(&locks), writ_file_path(file, WRIT_FILE_DATABASE));
}

/* SQLite finds the write-ahead log by the name of the database: with two names there would be two
 * logs. */
static WRIT_RESULT
check_only_name(const struct writ_file *file, struct writ_err *err)
{
    const char *path = writ_file_path(file, WRIT_FILE_DATABASE);
    struct statx own, around;

    if (statx(file->database_fd, "", AT_EMPTY_PATH, STATX_NLINK | STATX_MNT_ID, &own) != 0 ||
        statx(AT_FDCWD, file->directory.path.ptr, 0, STATX_MNT_ID, &around) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot inspect %s (%s)", path, strerrordesc_np(errno));
    }
    if (own.stx_nlink > 1) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the ledger, %s, has another name, too (a hard link): copy it or remove one", path);
    }
    if (own.stx_mnt_id != around.stx_mnt_id) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the ledger, %s, is mounted there by itself: mount the folder that it is in", path);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_file_lock(struct writ_file *file, struct writ_err *err)
{
    writ_result r;

    WRIT_TRY(take_lock(file, WRIT_FILE_LOCK, O_RDWR | O_CREAT, &file->lock_fd, err));
    r = take_lock(file, WRIT_FILE_DATABASE, O_RDONLY, &file->database_fd, err);
    if (!writ_is_ok(r)) {
        (void)close(file->lock_fd);
        return r;
    }
    file->locked = true;
    return check_only_name(file, err);
}

WRIT_RESULT
writ_file_remember(struct writ_file *file, struct writ_err *err)
{
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        struct stat st;

        if (lstat(file->paths[i].ptr, &st) != 0) {
            WRIT_FAIL(err, WRIT_E_IO, "%s, %s, is not there (%s)", names[i], file->paths[i].ptr,
                strerrordesc_np(errno));
        }
        file->identity[i].device = st.st_dev;
        file->identity[i].inode = st.st_ino;
        file->identity[i].known = true;
    }
    file->directory.known = false;
    return WRIT_DONE;
}

/* The times of a directory show when a name in it changed, but only to the tick. */
static bool
directory_known(const struct writ_file *file, const struct stat *st)
{
    return file->directory.known && st->st_dev == file->directory.device &&
           st->st_ino == file->directory.inode &&
           st->st_ctim.tv_sec == file->directory.changed.tv_sec &&
           st->st_ctim.tv_nsec == file->directory.changed.tv_nsec;
}

static void
know_directory(struct writ_file *file, const struct stat *st)
{
    int64_t now_s = writ_clock_wall_us(writ_clock_system()) / US_PER_S;

    file->directory.device = st->st_dev;
    file->directory.inode = st->st_ino;
    file->directory.changed = st->st_ctim;
    file->directory.known = st->st_ctim.tv_sec + DIRECTORY_REST_S < now_s;
}

WRIT_RESULT
writ_file_same(struct writ_file *file, struct writ_err *err)
{
    struct stat directory;
    bool seen = stat(file->directory.path.ptr, &directory) == 0;

    if (seen && directory_known(file, &directory)) {
        return WRIT_DONE;
    }
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        struct stat st;

        if (!file->identity[i].known) {
            continue;
        }
        if (lstat(file->paths[i].ptr, &st) != 0) {
            WRIT_FAIL(err, WRIT_E_IO, "%s, %s, has gone (%s)", names[i], file->paths[i].ptr,
                strerrordesc_np(errno));
        }
        if (st.st_dev != file->identity[i].device || st.st_ino != file->identity[i].inode) {
            WRIT_FAIL(err, WRIT_E_IO, "%s, %s, was exchanged for another file", names[i],
                file->paths[i].ptr);
        }
    }
    if (seen) {
        know_directory(file, &directory);
    }
    return WRIT_DONE;
}
