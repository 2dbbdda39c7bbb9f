/* A keyring in a directory.
 *
 * (1) trusted.h opens every file: the checked file is the one that is read.
 * (2) Text of private keys is held in buffers that are wiped.
 * (3) keys.json never names a key whose private half is kept and not durable yet. */
#include "store/trusted/keydir.h"

#include "base/folder.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define INDEX_NAME    "keys.json"
#define NAME_MAX_LEN  64   /* of a file in the directory: a thumbprint and a suffix */
#define SWEEP_MOST    4096 /* files that one change removes at most */
#define SWEEP_ARENA   ((size_t)1 << 20)
#define LOCK_TRIES    50
#define LOCK_PAUSE_NS 20000000L

struct writ_keydir {
    int fd;
    struct writ_keyring *ring;
};

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

/* Waits a bounded time: the other lock belongs to a command that runs only for a moment. */
static WRIT_RESULT
lock_dir(int fd, int operation, struct writ_err *err)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, operation | LOCK_NB) == 0) {
            return WRIT_DONE;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return writ_trusted_fail(err, errno, "key directory", "cannot lock");
        }
        (void)nanosleep(&pause, NULL);
    }
    WRIT_FAIL(err, WRIT_E_BUSY, "another process is changing the key directory: try again");
}

/* ---- reading: keeps (1) */

/* The file name of a private key, with NUL. A kid of a ring is a thumbprint: 43 characters of the
 * base64url alphabet, so it cannot name a file elsewhere. */
static void
private_name(const struct writ_keyring_key *key, struct writ_buf *ret)
{
    *ret = writ_buf_make(NAME_MAX_LEN);
    writ_buf_put(ret, writ_keyring_kid(key));
    writ_buf_str(ret, key->wrap != NULL ? ".jwk" : ".pem");
    writ_buf_byte(ret, '\0');
}

/* A symmetric key, as a JWK. */
static WRIT_RESULT
adopt_wrap(struct writ_keyring *ring, const struct writ_keyring_key *key, const char *name,
    struct writ_view text, struct writ_err *err)
{
    writ_auto_wrap_key wrap = NULL;
    struct writ_err why = {0};
    writ_result result = writ_wrap_key_read(text, &wrap, &why);

    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", name, why.text);
    }
    if (!writ_view_equal(writ_wrap_key_kid(wrap), writ_keyring_kid(key))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s: holds another key than its name says", name);
    }
    WRIT_TRY(writ_keyring_adopt_wrap(ring, wrap, err));
    (void)WRIT_TAKE(wrap);
    return WRIT_DONE;
}

/* A new key would not be this one: what is lost is named, and what can be done about it. */
static WRIT_RESULT
fail_missing(
    const char *path, const struct writ_keyring_key *key, const char *name, struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_ABSENT,
        "%s is missing. Restore it from a backup, or replace its key with: writ keys revoke --dir "
        "%s --kid " WRIT_VIEW_FMT,
        name, path, WRIT_VIEW_ARG(writ_keyring_kid(key)));
}

/* WRIT_E_ABSENT: only when the file is missing. */
static WRIT_RESULT
load_private(const char *path, int dir, struct writ_keyring *ring,
    const struct writ_keyring_key *key, struct writ_err *err)
{
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    WRIT_AUTO(struct writ_signer *, signer_freep) signer = NULL;
    writ_auto_buf name = {0};
    struct writ_err why = {0};
    writ_result result;

    private_name(key, &name);
    WRIT_TRY(writ_buf_check(&name, err));
    result = writ_trusted_read(dir, name.ptr, WRIT_TRUSTED_PRIVATE, &pem, err);
    if (result.code == WRIT_E_ABSENT) {
        return fail_missing(path, key, name.ptr, err);
    }
    WRIT_TRY(result);
    if (key->wrap != NULL) {
        return adopt_wrap(ring, key, name.ptr, writ_buf_view(&pem), err);
    }
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

    WRIT_TRY(writ_trusted_read(dir, INDEX_NAME, WRIT_TRUSTED_UNWRITABLE, &text, err));
    result = writ_keyring_read(writ_buf_view(&text), ret, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, INDEX_NAME ": %s", why.text);
    }
    return WRIT_DONE;
}

/* `path` is for errors. `lost`: the private half of this key may be missing; empty: of none. */
static WRIT_RESULT
load(const char *path, int dir, bool secrets, struct writ_view lost, struct writ_keyring **ret,
    struct writ_err *err)
{
    writ_auto_keyring ring = NULL;

    WRIT_TRY(load_index(dir, &ring, err));
    for (size_t i = 0; secrets && i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        writ_result result = WRIT_DONE;

        if (writ_keyring_keeps_secret(key)) {
            result = load_private(path, dir, ring, key, err);
        }
        if (result.code != WRIT_E_ABSENT || !writ_view_equal(writ_keyring_kid(key), lost)) {
            WRIT_TRY(result);
        }
    }
    *ret = WRIT_TAKE(ring);
    return WRIT_DONE;
}

static bool
has_no_index(int dir)
{
    return faccessat(dir, INDEX_NAME, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

/* Adds the command that makes keys to the error for a directory without keys. */
static WRIT_RESULT
with_hint(writ_result result, bool no_keys, const char *path, struct writ_err *err)
{
    struct writ_err why = {0};

    if (result.code == WRIT_E_ABSENT && no_keys && err != NULL) {
        why = *err;
        return writ_fail(
            err, result.code, "%s. Make the keys with: writ keys new --dir %s", why.text, path);
    }
    return result;
}

static WRIT_RESULT
open_and_load(const char *path, bool secrets, struct writ_keyring **ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) fd = -1;
    writ_result result;

    WRIT_TRY(with_hint(writ_trusted_dir(path, &fd, err), true, path, err));
    WRIT_TRY(lock_dir(fd, LOCK_SH, err));
    result = writ_fail_in(err, load(path, fd, secrets, writ_view(NULL, 0), ret, err), path);
    return with_hint(result, has_no_index(fd), path, err);
}

WRIT_RESULT
writ_keydir_load(const char *path, struct writ_keyring **ret, struct writ_err *err)
{
    return open_and_load(path, true, ret, err);
}

WRIT_RESULT
writ_keydir_list(const char *path, struct writ_keyring **ret, struct writ_err *err)
{
    return open_and_load(path, false, ret, err);
}

/* ---- changing */

/* Syncs the parent: a power cut must not lose a directory whose content survives. */
static WRIT_RESULT
make_dir(const char *path, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) fd = -1;
    WRIT_AUTO(int, writ_trusted_close) parent = -1;

    if (mkdir(path, S_IRWXU) != 0) {
        if (errno == EEXIST) {
            return WRIT_DONE;
        }
        return writ_trusted_fail(err, errno, path, "cannot make the key directory");
    }
    WRIT_TRY(writ_trusted_dir(path, &fd, err));
    parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0 || fsync(parent) != 0) {
        return writ_trusted_fail(err, errno, path, "cannot make the key directory durable");
    }
    return WRIT_DONE;
}

/* New private keys of a change that was cut short: unused, and could only be stolen. The directory
 * is locked, so no other change is writing them. What cannot be removed now stays for the next one.
 */
static void
sweep(const char *path, int fd)
{
    static const char *const suffixes[] = {".pem" WRIT_TRUSTED_NEW, ".jwk" WRIT_TRUSTED_NEW};
    writ_auto_arena arena = writ_arena_new(SWEEP_ARENA);
    struct writ_view *names = NULL;
    size_t n = 0;

    for (size_t i = 0; arena != NULL && i < sizeof suffixes / sizeof *suffixes; i++) {
        if (!writ_is_ok(
                writ_folder_names(path, suffixes[i], SWEEP_MOST, arena, &names, &n, NULL))) {
            continue;
        }
        for (size_t at = 0; at < n; at++) {
            (void)unlinkat(fd, names[at].ptr, 0);
        }
    }
}

static WRIT_RESULT
open_dir(const char *path, bool create, struct writ_view lost, struct writ_keydir **ret,
    struct writ_err *err)
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
    WRIT_TRY(writ_trusted_dir(path, &dir->fd, err));
    WRIT_TRY(lock_dir(dir->fd, LOCK_EX, err));
    sweep(path, dir->fd);
    result = load(path, dir->fd, true, lost, &dir->ring, err);
    if (result.code == WRIT_E_ABSENT && create && has_no_index(dir->fd)) {
        result = writ_keyring_new(&dir->ring, err);
    }
    WRIT_TRY(writ_fail_in(err, result, path));
    *ret = WRIT_TAKE(dir);
    return WRIT_DONE;
}

WRIT_RESULT
writ_keydir_open(const char *path, bool create, struct writ_keydir **ret, struct writ_err *err)
{
    return open_dir(path, create, writ_view(NULL, 0), ret, err);
}

WRIT_RESULT
writ_keydir_open_lost(
    const char *path, struct writ_view kid, struct writ_keydir **ret, struct writ_err *err)
{
    return open_dir(path, false, kid, ret, err);
}

struct writ_keyring *
writ_keydir_ring(struct writ_keydir *dir)
{
    return dir->ring;
}

static WRIT_RESULT
save_private(int dir, const struct writ_keyring_key *key, struct writ_err *err)
{
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    writ_auto_buf name = {0};

    private_name(key, &name);
    WRIT_TRY(writ_buf_check(&name, err));
    if (faccessat(dir, name.ptr, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return WRIT_DONE; /* already where it was loaded from */
    }
    (void)writ_buf_reserve(&pem, WRIT_SIGNER_PEM_MAX); /* full size at once, so that it never moves:
                                                          keeps (2) */
    WRIT_TRY(key->wrap != NULL ? writ_wrap_key_put(key->wrap, &pem, err)
                               : writ_signer_put_pem(key->signer, &pem, err));
    return writ_trusted_write(dir, name.ptr, WRIT_TRUSTED_OURS, writ_buf_view(&pem), err);
}

/* A private key that signs no more can only be stolen. */
static WRIT_RESULT
drop_private(int dir, const struct writ_keyring_key *key, struct writ_err *err)
{
    writ_auto_buf name = {0};

    private_name(key, &name);
    WRIT_TRY(writ_buf_check(&name, err));
    if (unlinkat(dir, name.ptr, 0) != 0 && errno != ENOENT) {
        return writ_trusted_fail(err, errno, name.ptr, "cannot remove");
    }
    return WRIT_DONE;
}

/* Applies `fn` to the keys whose private half is kept, or to those whose is not. */
static WRIT_RESULT
each_key(const struct writ_keydir *dir, bool kept,
    WRIT_RESULT (*fn)(int, const struct writ_keyring_key *, struct writ_err *),
    struct writ_err *err)
{
    for (size_t i = 0; i < writ_keyring_count(dir->ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(dir->ring, i);
        if (writ_keyring_keeps_secret(key) == kept) {
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
    WRIT_TRY(writ_trusted_sync(dir->fd, err)); /* keeps (3) */
    WRIT_TRY(writ_trusted_write(dir->fd, INDEX_NAME, WRIT_TRUSTED_OURS, writ_buf_view(&text), err));
    WRIT_TRY(writ_trusted_sync(dir->fd, err));
    WRIT_TRY(each_key(dir, false, drop_private, err));
    return writ_trusted_sync(dir->fd, err);
}

void
writ_keydir_close(struct writ_keydir *dir)
{
    if (dir != NULL) {
        writ_trusted_close(&dir->fd);
        writ_keyring_free(dir->ring);
        writ_free(dir);
    }
}
