/* secret.c - reads a secret into memory that is wiped. A file that other users can read is refused,
 * and no error shows the bytes that were read. */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

static WRIT_RESULT
check_file(const char *path, const struct stat *st, struct writ_err *err)
{
    if (!S_ISREG(st->st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: not a regular file", path);
    }
    if (st->st_uid != geteuid() && st->st_uid != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: belongs to another user", path);
    }
    if ((st->st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "%s: others can read it, or write it: make its mode 0600", path);
    }
    if (st->st_size > (off_t)WRIT_SECRET_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s: longer than %zu bytes", path, WRIT_SECRET_MAX);
    }
    return WRIT_DONE;
}

/* Into a piece of memory that is wiped. */
static WRIT_RESULT
read_all(const char *path, int fd, char *bytes, size_t room, size_t *ret, struct writ_err *err)
{
    size_t len = 0;
    ssize_t got;

    do {
        got = read(fd, bytes + len, room - len);
        len += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && len < room) || (got < 0 && errno == EINTR));
    if (got < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: cannot be read", path);
    }
    *ret = len;
    return WRIT_DONE;
}

/* Takes the text without the line ends after it. */
static WRIT_RESULT
take(const char *place, struct writ_view bytes, struct writ_buf *ret, struct writ_err *err)
{
    while (
        bytes.len > 0 && (bytes.ptr[bytes.len - 1] == '\n' || bytes.ptr[bytes.len - 1] == '\r')) {
        bytes.len--;
    }
    if (bytes.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: holds nothing", place);
    }
    if (bytes.len > WRIT_SECRET_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s: longer than %zu bytes", place, WRIT_SECRET_MAX);
    }
    (void)writ_buf_reserve(ret, bytes.len); /* a buffer that grows would leave pieces behind */
    writ_buf_put(ret, bytes);
    return writ_buf_check(ret, err);
}

static void
secret_wipe(struct writ_buf *buf)
{
    writ_buf_wipe_secret(buf);
}

WRIT_RESULT
writ_secret_file(const char *path, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    WRIT_AUTO(struct writ_buf, secret_wipe) bytes = writ_buf_make(WRIT_SECRET_MAX + 1);
    char *room;
    size_t len = 0;
    struct stat st;

    if (fd < 0) {
        WRIT_FAIL(err, errno == ENOENT || errno == ENOTDIR ? WRIT_E_ABSENT : WRIT_E_IO,
            "%s: cannot be opened", path);
    }
    if (fstat(fd, &st) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: cannot be read", path);
    }
    WRIT_TRY(check_file(path, &st, err));
    room = writ_buf_reserve(&bytes, WRIT_SECRET_MAX + 1);
    if (room == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read %s", path);
    }
    WRIT_TRY(read_all(path, fd, room, WRIT_SECRET_MAX + 1, &len, err));
    return take(path, writ_view(room, len), ret, err);
}

WRIT_RESULT
writ_secret_variable(const char *name, struct writ_buf *ret, struct writ_err *err)
{
    const char *value = getenv(name);

    if (value == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the environment variable %s is not set", name);
    }
    return take(name, writ_view_str(value), ret, err);
}
