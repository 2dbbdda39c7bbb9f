/* archive_file.c - a file is written beside its place, and renamed. */
#include "store/read/archive_file.h"

#include "base/backlog.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define PATH_MAX_BYTES 128
#define BESIDE         "~"

WRIT_RESULT
writ_archive_file_make(const char *path, int *ret, struct writ_err *err)
{
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
        return writ_trusted_fail(err, errno, path, "cannot be made");
    }
    WRIT_TRY(writ_trusted_dir(path, ret, err));
    if (flock(*ret, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            WRIT_FAIL(err, WRIT_E_BUSY, "%s: another command writes this archive: wait for its end",
                path);
        }
        return writ_trusted_fail(err, errno, path, "cannot be locked");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_archive_file_open(const char *path, int *ret, struct writ_err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) {
        return writ_trusted_fail(err, errno, path, "cannot be opened");
    }
    *ret = fd;
    return WRIT_DONE;
}

static WRIT_RESULT
make_folders(int folder, const char *path, struct writ_err *err)
{
    char part[PATH_MAX_BYTES];
    struct writ_view whole = writ_view_str(path);

    for (size_t i = 0; i < whole.len; i++) {
        if (whole.ptr[i] == '/') {
            struct writ_buf name = writ_buf_over(part, sizeof part);

            writ_buf_put(&name, writ_view_sub(whole, 0, i));
            writ_buf_byte(&name, '\0');
            WRIT_TRY(writ_buf_check(&name, err));
            if (mkdirat(folder, part, S_IRWXU) != 0 && errno != EEXIST) {
                return writ_trusted_fail(err, errno, part, "cannot be made");
            }
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
write_beside(int folder, const char *beside, struct writ_view bytes, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close)
    fd = openat(
        folder, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, WRIT_TRUSTED_OURS);

    if (fd < 0) {
        return writ_trusted_fail(err, errno, beside, "cannot be created");
    }
    if (!writ_backlog_write(fd, bytes)) {
        return writ_trusted_fail(err, errno, beside, "cannot be written");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_archive_file_write(int folder, const char *path, struct writ_view bytes, struct writ_err *err)
{
    char memory[PATH_MAX_BYTES];
    struct writ_buf beside = writ_buf_over(memory, sizeof memory);

    writ_buf_str(&beside, path);
    writ_buf_put(&beside, writ_view(BESIDE, sizeof BESIDE)); /* with its NUL */
    WRIT_TRY(writ_buf_check(&beside, err));
    WRIT_TRY(make_folders(folder, path, err));
    WRIT_TRY(write_beside(folder, memory, bytes, err));
    if (renameat(folder, memory, folder, path) != 0) {
        return writ_trusted_fail(err, errno, path, "cannot be created");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_archive_file_read(int folder, const char *path, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close)
    fd = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) != 0) {
        return writ_trusted_fail(err, errno, path, "cannot be opened");
    }
    if (!S_ISREG(st.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a regular file", path);
    }
    if ((uint64_t)st.st_size > ret->max - ret->len) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s is too large", path);
    }
    for (size_t left = (size_t)st.st_size; left > 0; left -= (size_t)n) {
        char *to = writ_buf_reserve(ret, left);

        WRIT_TRY(writ_buf_check(ret, err));
        n = read(fd, to, left);
        if (n <= 0) {
            return writ_trusted_fail(err, n == 0 ? EIO : errno, path, "cannot be read");
        }
        ret->len += (size_t)n;
    }
    return WRIT_DONE;
}

void
writ_archive_file_drop(int folder, const char *path)
{
    struct writ_view whole = writ_view_str(path);
    char memory[PATH_MAX_BYTES];
    struct writ_buf above = writ_buf_over(memory, sizeof memory);
    size_t slash = whole.len;

    (void)unlinkat(folder, path, 0);
    while (slash > 0 && whole.ptr[slash - 1] != '/') {
        slash--;
    }
    writ_buf_put(&above, writ_view_sub(whole, 0, slash > 0 ? slash - 1 : 0));
    writ_buf_byte(&above, '\0');
    if (slash > 0 && writ_is_ok(writ_buf_check(&above, NULL))) {
        (void)unlinkat(folder, memory, AT_REMOVEDIR);
    }
}

WRIT_RESULT
writ_archive_file_settle(int folder, struct writ_err *err)
{
    return syncfs(folder) == 0 ? WRIT_DONE
                               : writ_trusted_fail(err, errno, "the archive", "cannot be synced");
}
