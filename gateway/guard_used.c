/* The file is a page of what holds for all of it, and slots in buckets.
 *
 * Invariants:
 * (1) The header and the slots are looked at and changed under the lock of the file alone.
 * (2) A slot counts from the moment in which its time is written, and that is written last: whoever
 * is killed before has not said that the credential is fresh. (3) No slot is given away before its
 * time; the latest time of those that were is in the header. */
#include "gateway/guard_used.h"

#include "evidence/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC      UINT64_C(0x31306465737577) /* "wused01" */
#define PAGE       4096
#define BOOT_BYTES 36
#define BOOT_FILE  "/proc/sys/kernel/random/boot_id"
#define FILE_BYTES (PAGE + WRIT_GUARD_USED_SLOTS * sizeof(struct slot))
#define BUCKETS    (WRIT_GUARD_USED_SLOTS / WRIT_GUARD_USED_BUCKET)

struct slot {
    uint64_t key[2];          /* of SHA-256 of the jti */
    _Atomic(int64_t) until_s; /* 0: free */
};

struct header {
    uint64_t magic;
    char boot[BOOT_BYTES]; /* which start of the machine */
    int64_t since_s;       /* nothing that was issued then or before is known to be unused */
    int64_t given_away_s;  /* nothing that ended then or before is known to be unused */
};

_Static_assert(sizeof(struct header) <= PAGE, "the header has a page");

struct writ_guard_used {
    int fd;
    int64_t skew_s;
    struct header *header; /* the whole mapping begins here */
    struct slot *slots;
};

static writ_result
fail_io(struct writ_err *err, const char *path, const char *what)
{
    enum writ_code code = errno == ENOENT   ? WRIT_E_ABSENT
                          : errno == EEXIST ? WRIT_E_INVALID
                                            : WRIT_E_IO;

    return writ_fail(err, code, "%s: %s: %s", path, what, strerrordesc_np(errno));
}

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

/* Which start of the machine this is. */
static WRIT_RESULT
read_boot(char ret[BOOT_BYTES], struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = open(BOOT_FILE, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, ret, BOOT_BYTES) != BOOT_BYTES) {
        return fail_io(err, BOOT_FILE, "cannot be read");
    }
    return WRIT_DONE;
}

/* ---- making */

WRIT_RESULT
writ_guard_used_make(const char *path, int64_t now_s, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd)
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    struct header header = {.magic = MAGIC, .since_s = now_s};
    int fault;

    if (fd < 0) {
        return fail_io(err, path, "cannot be made");
    }
    WRIT_TRY(read_boot(header.boot, err));
    fault =
        posix_fallocate(fd, 0, FILE_BYTES); /* a mapped page without a place would be a signal */
    if (fault != 0) {
        errno = fault;
        (void)unlink(path);
        return fail_io(err, path, "has no room");
    }
    if (pwrite(fd, &header, sizeof header, 0) != (ssize_t)sizeof header || fsync(fd) != 0) {
        (void)unlink(path);
        return fail_io(err, path, "cannot be written");
    }
    return WRIT_DONE;
}

/* ---- opening */

static void
used_freep(struct writ_guard_used **used)
{
    writ_guard_used_close(*used);
}

void
writ_guard_used_close(struct writ_guard_used *used)
{
    if (used == NULL) {
        return;
    }
    if (used->header != NULL) {
        (void)munmap(used->header, FILE_BYTES);
    }
    close_fd(&used->fd);
    writ_free(used);
}

static WRIT_RESULT
check_file(const char *path, int fd, struct writ_err *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return fail_io(err, path, "cannot be looked at");
    }
    if (!S_ISREG(st.st_mode) || st.st_size != (off_t)FILE_BYTES) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "%s: not a file of used credentials (writ guard init)", path);
    }
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (st.st_uid != geteuid() && st.st_uid != 0)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: others than its owner can write to it", path);
    }
    return WRIT_DONE;
}

/* Under the lock. After a start of the machine, what was not on the disk yet may be lost. */
static WRIT_RESULT
begin(struct writ_guard_used *used, const char *path, int64_t now_s, struct writ_err *err)
{
    char boot[BOOT_BYTES];

    if (used->header->magic != MAGIC) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "%s: not a file of used credentials (writ guard init)", path);
    }
    WRIT_TRY(read_boot(boot, err));
    if (!writ_view_equal(writ_view(used->header->boot, BOOT_BYTES), writ_view(boot, BOOT_BYTES))) {
        used->header->since_s = now_s > used->header->since_s ? now_s : used->header->since_s;
        (void)writ_view_place(writ_view(boot, BOOT_BYTES), used->header->boot);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_guard_used_open(const char *path, int64_t now_s, int64_t skew_s, struct writ_guard_used **ret,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_guard_used *, used_freep) used = writ_alloc(sizeof *used);
    writ_result begun;
    void *mapped;

    if (used == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for used credentials");
    }
    used->skew_s = skew_s;
    used->fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (used->fd < 0) {
        return fail_io(err, path, "cannot be opened (writ guard init makes it)");
    }
    WRIT_TRY(check_file(path, used->fd, err));
    mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, used->fd, 0);
    if (mapped == MAP_FAILED) {
        return fail_io(err, path, "cannot be mapped");
    }
    used->header = mapped;
    used->slots = (struct slot *)(void *)((char *)mapped + PAGE);
    if (flock(used->fd, LOCK_EX) != 0) {
        return fail_io(err, path, "cannot be locked");
    }
    begun = begin(used, path, now_s, err);
    (void)flock(used->fd, LOCK_UN);
    WRIT_TRY(begun);
    *ret = WRIT_TAKE(used);
    return WRIT_DONE;
}

/* ---- taking */

static bool
is_key(const struct slot *slot, const uint64_t key[2])
{
    return slot->key[0] == key[0] && slot->key[1] == key[1];
}

/* Under the lock. */
static enum writ_verify_use
take(struct writ_guard_used *used, const uint64_t key[2], int64_t until_s, int64_t now_s)
{
    struct slot *bucket = &used->slots[key[0] % BUCKETS * WRIT_GUARD_USED_BUCKET], *room = NULL;

    for (size_t i = 0; i < WRIT_GUARD_USED_BUCKET; i++) {
        struct slot *slot = &bucket[i];

        if (slot->until_s >= now_s && is_key(slot, key)) {
            return WRIT_VERIFY_USE_SPENT;
        }
        if (room == NULL && slot->until_s < now_s) {
            room = slot;
        }
    }
    if (room == NULL) {
        return WRIT_VERIFY_USE_UNKNOWN;
    }
    if (room->until_s > used->header->given_away_s) {
        used->header->given_away_s = room->until_s; /* keeps (3) */
    }
    room->until_s = 0;
    room->key[0] = key[0];
    room->key[1] = key[1];
    room->until_s = until_s; /* keeps (2) */
    return WRIT_VERIFY_USE_FRESH;
}

enum writ_verify_use
writ_guard_used_take(struct writ_guard_used *used, struct writ_view jti, int64_t issued_s,
    int64_t until_s, int64_t now_s)
{
    enum writ_verify_use answer;
    struct writ_digest digest;
    uint64_t key[2];

    if (!writ_is_ok(writ_digest_bytes(jti, &digest, NULL)) || flock(used->fd, LOCK_EX) != 0) {
        return WRIT_VERIFY_USE_UNKNOWN;
    }
    key[0] = writ_view_load64(digest.bytes);
    key[1] = writ_view_load64(digest.bytes + sizeof key[0]);
    if (issued_s - used->skew_s <= used->header->since_s || until_s <= used->header->given_away_s) {
        answer = WRIT_VERIFY_USE_SPENT;
    } else {
        answer = take(used, key, until_s, now_s);
    }
    (void)flock(used->fd, LOCK_UN); /* keeps (1) */
    return answer;
}
