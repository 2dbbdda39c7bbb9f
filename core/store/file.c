#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
    *ret = file;
    file = (struct writ_file){0};
    return WRIT_DONE;
}

void
writ_file_wipe(struct writ_file *file)
{
    if (file->locked) {
        (void)close(file->lock_fd); /* and with it the lock */
    }
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        writ_buf_wipe(&file->paths[i]);
    }
    *file = (struct writ_file){0};
}

const char *
writ_file_path(const struct writ_file *file, enum writ_file_part part)
{
    return file->paths[part].ptr;
}

/* The directory of the ledger, NUL-terminated. */
static WRIT_RESULT
directory_of(const struct writ_file *file, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_view path = writ_view_str(writ_file_path(file, WRIT_FILE_DATABASE));
    size_t slash = path.len;

    while (slash > 0 && path.ptr[slash - 1] != '/') {
        slash--;
    }
    writ_buf_put(ret, slash == 0 ? WRIT_LIT("./") : writ_view_sub(path, 0, slash));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

/* Whoever can write to the directory can exchange the files in it, or put a write-ahead log there
 * that SQLite would play back. A sticky bit does not help against the second. */
static WRIT_RESULT
check_directory(const struct writ_file *file, struct writ_err *err)
{
    writ_auto_buf dir = writ_buf_make(WRIT_FILE_PATH_MAX + 16);
    struct stat st;

    WRIT_TRY(directory_of(file, &dir, err));
    if (stat(dir.ptr, &st) != 0) {
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO,
            "the directory of the ledger, %s, cannot be read (errno %d)", dir.ptr, errno);
    }
    if (!S_ISDIR(st.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a directory", dir.ptr);
    }
    if ((st.st_mode & S_IWOTH) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "everybody can write to the directory of the ledger, %s: use one of its own", dir.ptr);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_file_settle(const struct writ_file *file, struct writ_err *err)
{
    writ_auto_buf dir = writ_buf_make(WRIT_FILE_PATH_MAX + 16);
    int fd, synced;

    WRIT_TRY(directory_of(file, &dir, err));
    fd = open(dir.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "the directory %s cannot be opened (errno %d)", dir.ptr, errno);
    }
    synced = fsync(fd);
    (void)close(fd);
    if (synced != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "the directory %s cannot be synced (errno %d)", dir.ptr, errno);
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
            errno == ENOENT ? "there is no ledger at %s; `writ ledger init` makes one"
                            : "%s cannot be looked at",
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

WRIT_RESULT
writ_file_lock(struct writ_file *file, struct writ_err *err)
{
    const char *path = writ_file_path(file, WRIT_FILE_LOCK);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0) {
        WRIT_FAIL(err, errno == ELOOP ? WRIT_E_INVALID : WRIT_E_IO,
            "the lock file %s cannot be opened (errno %d)", path, errno);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int reason = errno;

        (void)close(fd);
        WRIT_FAIL(err, reason == EWOULDBLOCK ? WRIT_E_BUSY : WRIT_E_IO,
            reason == EWOULDBLOCK ? "another process has the ledger open (it holds %s)"
                                  : "the lock file %s cannot be locked",
            path);
    }
    file->lock_fd = fd;
    file->locked = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_file_remember(struct writ_file *file, struct writ_err *err)
{
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        struct stat st;

        if (lstat(file->paths[i].ptr, &st) != 0) {
            WRIT_FAIL(err, WRIT_E_IO, "%s, %s, is not there (errno %d)", names[i],
                file->paths[i].ptr, errno);
        }
        file->identity[i].device = st.st_dev;
        file->identity[i].inode = st.st_ino;
        file->identity[i].known = true;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_file_same(const struct writ_file *file, struct writ_err *err)
{
    for (int i = 0; i < WRIT_FILE_PARTS; i++) {
        struct stat st;

        if (!file->identity[i].known) {
            continue;
        }
        if (lstat(file->paths[i].ptr, &st) != 0) {
            WRIT_FAIL(
                err, WRIT_E_IO, "%s, %s, has gone (errno %d)", names[i], file->paths[i].ptr, errno);
        }
        if (st.st_dev != file->identity[i].device || st.st_ino != file->identity[i].inode) {
            WRIT_FAIL(err, WRIT_E_IO, "%s, %s, was exchanged for another file", names[i],
                file->paths[i].ptr);
        }
    }
    return WRIT_DONE;
}
