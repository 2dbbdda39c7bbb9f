/* Every file is opened relative to its directory's descriptor, never through a symbolic link, and
 * checked by its own descriptor: the checked file is the one that is read. */
#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_MAX_LEN 4096

void
writ_trusted_close(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

static enum writ_code
code_of(int error)
{
    switch (error) {
    case ENOENT:
        return WRIT_E_ABSENT;
    case ELOOP: /* O_NOFOLLOW met a link */
    case ENOTDIR:
        return WRIT_E_INVALID;
    case ENOMEM:
        return WRIT_E_NOMEM;
    default: /* errno is an open set */
        return WRIT_E_IO;
    }
}

writ_result
writ_trusted_fail(struct writ_err *err, int error, const char *name, const char *what)
{
    const char *why = error == ELOOP ? "Is a symbolic link" : strerrordesc_np(error);

    WRIT_FAIL(err, code_of(error), "%s: %s: %s", name, what, why);
}

/* ---- what is trusted */

static WRIT_RESULT
check_owner(const struct stat *status, const char *name, mode_t forbidden, struct writ_err *err)
{
    if (status->st_uid != geteuid() && status->st_uid != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: belongs to another user", name);
    }
    if ((status->st_mode & forbidden) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: mode %04o gives %s to others (chmod %s)", name,
            (unsigned)(status->st_mode & 07777),
            forbidden == WRIT_TRUSTED_UNWRITABLE ? "writing" : "access",
            S_ISDIR(status->st_mode) ? "700" : "600");
    }
    return WRIT_DONE;
}

/* Opens the directory itself; a slash at the end of its name would follow a link. */
writ_result
writ_trusted_dir(const char *path, int *ret, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(PATH_MAX_LEN);
    struct writ_view text = writ_view_str(path);
    struct stat status;
    WRIT_AUTO(int, writ_trusted_close) fd = -1;

    while (text.len > 1 && text.ptr[text.len - 1] == '/') {
        text.len--;
    }
    writ_buf_put(&name, text);
    writ_buf_byte(&name, '\0');
    WRIT_TRY(writ_buf_check(&name, err));
    fd = open(name.ptr, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return writ_trusted_fail(err, errno, path, "cannot open the directory");
    }
    if (fstat(fd, &status) != 0) {
        return writ_trusted_fail(err, errno, path, "cannot inspect the directory");
    }
    WRIT_TRY(check_owner(&status, path, WRIT_TRUSTED_UNWRITABLE, err));
    *ret = fd;
    fd = -1;
    return WRIT_DONE;
}

static WRIT_RESULT
read_all(int fd, const char *name, size_t size, struct writ_buf *ret, struct writ_err *err)
{
    while (size > 0) {
        char *room = writ_buf_reserve(ret, size);
        ssize_t got = room != NULL ? read(fd, room, size) : 0;

        if (got < 0 && errno != EINTR) {
            return writ_trusted_fail(err, errno, name, "cannot read");
        }
        if (got == 0) {
            break; /* no room (the buffer keeps the failure), or shorter than before */
        }
        if (got > 0) {
            ret->len += (size_t)got;
            size -= (size_t)got;
        }
    }
    return writ_buf_check(ret, err);
}

writ_result
writ_trusted_read(
    int dir, const char *name, mode_t forbidden, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close)
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    if (fd < 0) {
        return writ_trusted_fail(err, errno, name, "cannot open");
    }
    if (fstat(fd, &status) != 0) {
        return writ_trusted_fail(err, errno, name, "cannot inspect");
    }
    if (!S_ISREG(status.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: not a regular file", name);
    }
    WRIT_TRY(check_owner(&status, name, forbidden, err));
    if (status.st_size < 0 || (uint64_t)status.st_size > ret->max) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s: longer than %zu bytes", name, ret->max);
    }
    return read_all(fd, name, (size_t)status.st_size, ret, err);
}

static WRIT_RESULT
write_all(int fd, const char *name, struct writ_view bytes, struct writ_err *err)
{
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);

        if (put < 0 && errno != EINTR) {
            return writ_trusted_fail(err, errno, name, "cannot write");
        }
        if (put > 0) {
            bytes = writ_view_sub(bytes, (size_t)put, bytes.len);
        }
    }
    if (fsync(fd) != 0) {
        return writ_trusted_fail(err, errno, name, "cannot make durable");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_trusted_folder(const char *path, int *ret, const char **ret_name, struct writ_err *err)
{
    struct writ_view all = writ_view_str(path);
    size_t name = all.len;
    writ_auto_buf folder = writ_buf_make(PATH_MAX);

    while (name > 0 && path[name - 1] != '/') {
        name--;
    }
    writ_buf_put(&folder, name == 0 ? WRIT_LIT("./") : writ_view_sub(all, 0, name));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    WRIT_TRY(writ_trusted_dir(folder.ptr, ret, err));
    *ret_name = path + name;
    return WRIT_DONE;
}

WRIT_RESULT
writ_trusted_load(const char *path, mode_t forbidden, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    const char *name = NULL;
    struct writ_err why = {0};
    writ_result result;

    WRIT_TRY(writ_trusted_folder(path, &dir, &name, err));
    result = writ_trusted_read(dir, name, forbidden, ret, &why);
    if (!writ_is_ok(result)) { /* the error text begins with the name alone */
        WRIT_FAIL(err, result.code, "%.*s%s", (int)(name - path), path, why.text);
    }
    return WRIT_DONE;
}

writ_result
writ_trusted_write(
    int dir, const char *name, mode_t mode, struct writ_view bytes, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) fd = -1;
    writ_auto_buf beside = writ_buf_make(WRIT_TRUSTED_NAME_MAX + sizeof WRIT_TRUSTED_NEW);
    writ_result result;

    writ_buf_fmt(&beside, "%s" WRIT_TRUSTED_NEW, name);
    writ_buf_byte(&beside, '\0');
    WRIT_TRY(writ_buf_check(&beside, err));
    (void)unlinkat(dir, beside.ptr, 0); /* left by a change that was cut short */
    fd = openat(
        dir, beside.ptr, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, WRIT_TRUSTED_OURS);
    if (fd < 0) {
        return writ_trusted_fail(err, errno, name, "cannot create");
    }
    result = write_all(fd, name, bytes, err);
    if (writ_is_ok(result) && mode != WRIT_TRUSTED_OURS && fchmod(fd, mode) != 0) {
        result = writ_trusted_fail(err, errno, name, "cannot be shown to others");
    }
    if (writ_is_ok(result) && renameat(dir, beside.ptr, dir, name) != 0) {
        result = writ_trusted_fail(err, errno, name, "cannot put into place");
    }
    if (!writ_is_ok(result)) {
        (void)unlinkat(dir, beside.ptr, 0);
    }
    return result;
}

writ_result
writ_trusted_sync(int dir, struct writ_err *err)
{
    if (fsync(dir) != 0) {
        return writ_trusted_fail(err, errno, "directory", "cannot make durable");
    }
    return WRIT_DONE;
}
