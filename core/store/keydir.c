/* A keyring in a directory.
 *
 * (1) Every file is opened relative to the directory's descriptor, never through a symbolic link,
 *     and judged by its descriptor: what is checked is what is read.
 * (2) Text of private keys is held in buffers that are wiped.
 * (3) keys.json never names an active key whose private half is not durable yet. */
#include "store/keydir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INDEX_NAME    "keys.json"
#define NEW_SUFFIX    ".new"
#define NAME_MAX_LEN  64 /* of a file in the directory: a thumbprint and two suffixes */
#define PATH_MAX_LEN  4096
#define LOCK_TRIES    50
#define LOCK_PAUSE_NS 20000000L

#define MODE_WRITABLE_BY_OTHERS (S_IWGRP | S_IWOTH)
#define MODE_ANYTHING_BY_OTHERS (S_IRWXG | S_IRWXO)

struct writ_keydir {
    int fd;
    struct writ_keyring *ring;
};

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

static void
ring_freep(struct writ_keyring **ring)
{
    writ_keyring_free(*ring);
}

static void
signer_freep(struct writ_signer **signer)
{
    writ_signer_free(*signer);
}

static void
dir_freep(struct writ_keydir **dir)
{
    writ_keydir_close(*dir);
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

static WRIT_RESULT
fail_errno(struct writ_err *err, int error, const char *name, const char *what)
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
            forbidden == MODE_WRITABLE_BY_OTHERS ? "writing" : "access",
            S_ISDIR(status->st_mode) ? "700" : "600");
    }
    return WRIT_DONE;
}

/* The directory itself; a slash at the end of its name would follow a link. */
static WRIT_RESULT
open_dir(const char *path, int *ret, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(PATH_MAX_LEN);
    struct writ_view text = writ_view_str(path);
    struct stat status;
    WRIT_AUTO(int, close_fd) fd = -1;

    while (text.len > 1 && text.ptr[text.len - 1] == '/') {
        text.len--;
    }
    writ_buf_put(&name, text);
    writ_buf_byte(&name, '\0');
    WRIT_TRY(writ_buf_check(&name, err));
    fd = open(name.ptr, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(err, errno, path, "cannot open the key directory");
    }
    if (fstat(fd, &status) != 0) {
        return fail_errno(err, errno, path, "cannot inspect the key directory");
    }
    WRIT_TRY(check_owner(&status, path, MODE_WRITABLE_BY_OTHERS, err));
    *ret = fd;
    fd = -1;
    return WRIT_DONE;
}

/* Waits a bounded time: whoever holds the other lock is a command that runs for an instant. */
static WRIT_RESULT
lock_dir(int fd, int operation, struct writ_err *err)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, operation | LOCK_NB) == 0) {
            return WRIT_DONE;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return fail_errno(err, errno, "key directory", "cannot lock");
        }
        (void)nanosleep(&pause, NULL);
    }
    WRIT_FAIL(err, WRIT_E_BUSY, "the key directory is being changed by somebody else");
}

/* ---- reading: keeps (1) */

static WRIT_RESULT
read_all(int fd, const char *name, size_t size, struct writ_buf *ret, struct writ_err *err)
{
    while (size > 0) {
        char *room = writ_buf_reserve(ret, size);
        ssize_t got = room != NULL ? read(fd, room, size) : 0;

        if (got < 0 && errno != EINTR) {
            return fail_errno(err, errno, name, "cannot read");
        }
        if (got == 0) {
            break; /* no room, which the buffer remembers, or shorter than it was */
        }
        if (got > 0) {
            ret->len += (size_t)got;
            size -= (size_t)got;
        }
    }
    return writ_buf_check(ret, err);
}

/* Reads a regular file of the directory that nobody else can have `forbidden` access to. */
static WRIT_RESULT
read_file(int dir, const char *name, mode_t forbidden, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd)
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    if (fd < 0) {
        return fail_errno(err, errno, name, "cannot open");
    }
    if (fstat(fd, &status) != 0) {
        return fail_errno(err, errno, name, "cannot inspect");
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

/* The file name of a private key, with NUL. A kid of a ring is a thumbprint: 43 characters of the
 * base64url alphabet, so it can name nothing outside. */
static void
pem_name(const struct writ_jwk *key, struct writ_buf *ret)
{
    *ret = writ_buf_make(NAME_MAX_LEN);
    writ_buf_put(ret, writ_jwk_kid(key));
    writ_buf_str(ret, ".pem");
    writ_buf_byte(ret, '\0');
}

static WRIT_RESULT
load_private(
    int dir, struct writ_keyring *ring, const struct writ_keyring_key *key, struct writ_err *err)
{
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    WRIT_AUTO(struct writ_signer *, signer_freep) signer = NULL;
    writ_auto_buf name = {0};
    struct writ_err why = {0};
    writ_result result;

    pem_name(key->public, &name);
    WRIT_TRY(writ_buf_check(&name, err));
    WRIT_TRY(read_file(dir, name.ptr, MODE_ANYTHING_BY_OTHERS, &pem, err));
    result = writ_signer_read(writ_buf_view(&pem), &signer, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", name.ptr, why.text);
    }
    if (!writ_view_equal(writ_jwk_kid(writ_signer_jwk(signer)), writ_jwk_kid(key->public))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s: holds another key than its name says", name.ptr);
    }
    WRIT_TRY(writ_keyring_adopt(ring, signer, err));
    (void)WRIT_TAKE(signer);
    return WRIT_DONE;
}

static WRIT_RESULT
load_index(int dir, struct writ_keyring **ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    struct writ_err why = {0};
    writ_result result;

    WRIT_TRY(read_file(dir, INDEX_NAME, MODE_WRITABLE_BY_OTHERS, &text, err));
    result = writ_keyring_read(writ_buf_view(&text), ret, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, INDEX_NAME ": %s", why.text);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
load(int dir, bool secrets, struct writ_keyring **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keyring *, ring_freep) ring = NULL;

    WRIT_TRY(load_index(dir, &ring, err));
    for (size_t i = 0; secrets && i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        if (key->state == WRIT_KEY_STATE_ACTIVE) {
            WRIT_TRY(load_private(dir, ring, key, err));
        }
    }
    *ret = WRIT_TAKE(ring);
    return WRIT_DONE;
}

WRIT_RESULT
writ_keydir_load(const char *path, struct writ_keyring **ret, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = -1;

    WRIT_TRY(open_dir(path, &fd, err));
    WRIT_TRY(lock_dir(fd, LOCK_SH, err));
    return load(fd, true, ret, err);
}

WRIT_RESULT
writ_keydir_list(const char *path, struct writ_keyring **ret, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = -1;

    WRIT_TRY(open_dir(path, &fd, err));
    WRIT_TRY(lock_dir(fd, LOCK_SH, err));
    return load(fd, false, ret, err);
}

/* ---- changing */

/* A directory that was made must not be forgotten by a power cut that its content survives. */
static WRIT_RESULT
make_dir(const char *path, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = -1;
    WRIT_AUTO(int, close_fd) parent = -1;

    if (mkdir(path, S_IRWXU) != 0) {
        if (errno == EEXIST) {
            return WRIT_DONE;
        }
        return fail_errno(err, errno, path, "cannot make the key directory");
    }
    WRIT_TRY(open_dir(path, &fd, err));
    parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0 || fsync(parent) != 0) {
        return fail_errno(err, errno, path, "cannot make the key directory durable");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_keydir_open(const char *path, bool create, struct writ_keydir **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = writ_alloc(sizeof(*dir));
    writ_result result;

    if (dir == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key directory");
    }
    dir->fd = -1;
    if (create) {
        WRIT_TRY(make_dir(path, err));
    }
    WRIT_TRY(open_dir(path, &dir->fd, err));
    WRIT_TRY(lock_dir(dir->fd, LOCK_EX, err));
    result = load(dir->fd, true, &dir->ring, err);
    if (result.code == WRIT_E_ABSENT && create &&
        faccessat(dir->fd, INDEX_NAME, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
        result = writ_keyring_new(&dir->ring, err);
    }
    WRIT_TRY(result);
    *ret = WRIT_TAKE(dir);
    return WRIT_DONE;
}

struct writ_keyring *
writ_keydir_ring(struct writ_keydir *dir)
{
    return dir->ring;
}

static WRIT_RESULT
write_all(int fd, const char *name, struct writ_view bytes, struct writ_err *err)
{
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);

        if (put < 0 && errno != EINTR) {
            return fail_errno(err, errno, name, "cannot write");
        }
        if (put > 0) {
            bytes = writ_view_sub(bytes, (size_t)put, bytes.len);
        }
    }
    if (fsync(fd) != 0) {
        return fail_errno(err, errno, name, "cannot make durable");
    }
    return WRIT_DONE;
}

/* Puts a file into place as a whole, readable by us alone. */
static WRIT_RESULT
write_file(int dir, const char *name, struct writ_view bytes, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = -1;
    writ_auto_buf beside = writ_buf_make(NAME_MAX_LEN);
    writ_result result;

    writ_buf_fmt(&beside, "%s" NEW_SUFFIX, name);
    writ_buf_byte(&beside, '\0');
    WRIT_TRY(writ_buf_check(&beside, err));
    (void)unlinkat(dir, beside.ptr, 0); /* left by a change that was cut short */
    fd = openat(
        dir, beside.ptr, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return fail_errno(err, errno, name, "cannot create");
    }
    result = write_all(fd, name, bytes, err);
    if (writ_is_ok(result) && renameat(dir, beside.ptr, dir, name) != 0) {
        result = fail_errno(err, errno, name, "cannot put into place");
    }
    if (!writ_is_ok(result)) {
        (void)unlinkat(dir, beside.ptr, 0);
    }
    return result;
}

static WRIT_RESULT
sync_dir(int dir, struct writ_err *err)
{
    if (fsync(dir) != 0) {
        return fail_errno(err, errno, "key directory", "cannot make durable");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
save_private(int dir, const struct writ_keyring_key *key, struct writ_err *err)
{
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    writ_auto_buf name = {0};

    pem_name(key->public, &name);
    WRIT_TRY(writ_buf_check(&name, err));
    if (faccessat(dir, name.ptr, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return WRIT_DONE; /* it is where it was loaded from */
    }
    (void)writ_buf_reserve(&pem, WRIT_SIGNER_PEM_MAX); /* so that it never moves: keeps (2) */
    WRIT_TRY(writ_signer_put_pem(key->signer, &pem, err));
    return write_file(dir, name.ptr, writ_buf_view(&pem), err);
}

/* A private key that signs no more can only be stolen. */
static WRIT_RESULT
drop_private(int dir, const struct writ_keyring_key *key, struct writ_err *err)
{
    writ_auto_buf name = {0};

    pem_name(key->public, &name);
    WRIT_TRY(writ_buf_check(&name, err));
    if (unlinkat(dir, name.ptr, 0) != 0 && errno != ENOENT) {
        return fail_errno(err, errno, name.ptr, "cannot remove");
    }
    return WRIT_DONE;
}

/* Applies `fn` to the keys that are active, or to those that are not. */
static WRIT_RESULT
each_key(const struct writ_keydir *dir, bool active,
    WRIT_RESULT (*fn)(int, const struct writ_keyring_key *, struct writ_err *),
    struct writ_err *err)
{
    for (size_t i = 0; i < writ_keyring_count(dir->ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(dir->ring, i);
        if ((key->state == WRIT_KEY_STATE_ACTIVE) == active) {
            WRIT_TRY(fn(dir->fd, key, err));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_keydir_save(struct writ_keydir *dir, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);

    writ_keyring_put(&text, dir->ring);
    WRIT_TRY(writ_buf_check(&text, err));
    WRIT_TRY(each_key(dir, true, save_private, err));
    WRIT_TRY(sync_dir(dir->fd, err)); /* keeps (3) */
    WRIT_TRY(write_file(dir->fd, INDEX_NAME, writ_buf_view(&text), err));
    WRIT_TRY(sync_dir(dir->fd, err));
    WRIT_TRY(each_key(dir, false, drop_private, err));
    return sync_dir(dir->fd, err);
}

void
writ_keydir_close(struct writ_keydir *dir)
{
    if (dir != NULL) {
        close_fd(&dir->fd);
        writ_keyring_free(dir->ring);
        writ_free(dir);
    }
}
