/* replay_cache.c - the file has a header page, and slots in buckets. The seal is a second file: a
 * digest of the header and of each bucket, and the use that is being written.
 *
 * Invariants:
 * (1) Both files are read and changed only under the lock of the first.
 * (2) A bucket and the header are trusted when they match the digests of the seal, after a use that
 *     a killed guard left half written is finished. A use is answered after its digests are
 *     written.
 * (3) No slot is reused before its time; the header has the latest time of reused ones.
 * (4) Finishing a use replaces no live slot and sets no time of the header back: so a forged seal
 *     alone makes no used credential unused. */
#include "gateway/guard/replay_cache.h"

#include "evidence/json/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC      UINT64_C(0x32306465737577) /* "wused02" */
#define SEAL_MAGIC UINT64_C(0x31306c61657377) /* "wseal01" */
#define SUFFIX     ".seal"
#define PATH_BYTES 4200
#define PAGE       4096
#define BOOT_BYTES 36
#define BOOT_FILE  "/proc/sys/kernel/random/boot_id"
#define FILE_BYTES (PAGE + WRIT_REPLAY_CACHE_SLOTS * sizeof(struct slot))
#define MAKE_NEW                                                                                   \
    "Remove it and its " SUFFIX                                                                    \
    " and run writ guard init: what was issued before is then refused, "                           \
    "and calls are repeated with new credentials."
#define BUCKETS (WRIT_REPLAY_CACHE_SLOTS / WRIT_REPLAY_CACHE_BUCKET)

struct slot {
    uint64_t key[2]; /* of SHA-256 of the jti */
    int64_t until_s; /* 0: free */
};

struct bucket {
    struct slot slots[WRIT_REPLAY_CACHE_BUCKET];
};

struct header {
    uint64_t magic;
    int64_t since_s;      /* a credential issued at or before this time may have been used */
    int64_t given_away_s; /* a credential that expired at or before this time may have been used */
};

_Static_assert(sizeof(struct header) <= PAGE, "the header has a page");

/* One use under construction: its slot and header when it is done. */
struct use {
    uint64_t index; /* of the slot */
    struct slot slot;
    struct header header;
    struct writ_digest bucket_digest, header_digest;
};

struct seal {
    uint64_t magic;
    char boot[BOOT_BYTES]; /* which start of the machine */
    _Atomic(uint32_t) begun;
    struct use use; /* counts while `begun` is not 0 */
    struct writ_digest header;
    struct writ_digest buckets[BUCKETS];
};

struct writ_replay_cache {
    int fd, seal_fd;
    int64_t skew_s;
    struct header *header; /* the whole mapping begins here */
    struct bucket *buckets;
    struct seal *seal;
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

/* "<path>.seal", NUL-terminated. */
static WRIT_RESULT
name_seal(const char *path, struct writ_buf *ret, struct writ_err *err)
{
    *ret = writ_buf_make(PATH_BYTES);
    writ_buf_str(ret, path);
    writ_buf_str(ret, SUFFIX);
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

/* ---- digests */

static WRIT_RESULT
digest_header(const struct header *header, struct writ_digest *ret)
{
    return writ_digest_bytes(writ_view((const char *)header, sizeof *header), ret, NULL);
}

static WRIT_RESULT
digest_bucket(const struct bucket *bucket, struct writ_digest *ret)
{
    return writ_digest_bytes(writ_view((const char *)bucket, sizeof *bucket), ret, NULL);
}

static bool
header_is_sealed(const struct writ_replay_cache *used)
{
    struct writ_digest digest;

    return writ_is_ok(digest_header(used->header, &digest)) &&
           writ_digest_equal(&digest, &used->seal->header);
}

static bool
bucket_is_sealed(const struct writ_replay_cache *used, size_t b)
{
    struct writ_digest digest;

    return writ_is_ok(digest_bucket(&used->buckets[b], &digest)) &&
           writ_digest_equal(&digest, &used->seal->buckets[b]);
}

/* Seals the contents of the file. */
static WRIT_RESULT
seal_all(const struct header *header, const struct bucket *buckets, struct seal *ret)
{
    for (size_t b = 0; b < BUCKETS; b++) {
        WRIT_TRY(digest_bucket(&buckets[b], &ret->buckets[b]));
    }
    return digest_header(header, &ret->header);
}

/* ---- making */

/* Makes a file of that size that begins with `head`. */
static WRIT_RESULT
make_file(const char *path, size_t bytes, struct writ_view head, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd)
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    int fault;

    if (fd < 0) {
        return fail_io(err, path, "cannot be made");
    }
    fault =
        posix_fallocate(fd, 0, (off_t)bytes); /* a mapped page without a place would be a signal */
    if (fault != 0) {
        errno = fault;
        (void)unlink(path);
        return fail_io(err, path, "has no room");
    }
    if (pwrite(fd, head.ptr, head.len, 0) != (ssize_t)head.len || fsync(fd) != 0) {
        (void)unlink(path);
        return fail_io(err, path, "cannot be written");
    }
    return WRIT_DONE;
}

static void
seal_freep(struct seal **seal)
{
    writ_free(*seal);
}

/* The seal of a file with that header and no use. */
static WRIT_RESULT
make_seal(const struct header *header, struct seal *ret, struct writ_err *err)
{
    const struct bucket none = {0};

    ret->magic = SEAL_MAGIC;
    WRIT_TRY(read_boot(ret->boot, err));
    WRIT_TRY(digest_header(header, &ret->header));
    for (size_t b = 0; b < BUCKETS; b++) {
        WRIT_TRY(digest_bucket(&none, &ret->buckets[b]));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_replay_cache_make(const char *path, int64_t now_s, struct writ_err *err)
{
    const struct header header = {.magic = MAGIC, .since_s = now_s};
    WRIT_AUTO(struct seal *, seal_freep) seal = writ_alloc(sizeof *seal);
    writ_auto_buf name = {0};
    writ_result made;

    if (seal == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for used credentials");
    }
    WRIT_TRY(name_seal(path, &name, err));
    WRIT_TRY(make_seal(&header, seal, err));
    WRIT_TRY(make_file(path, FILE_BYTES, writ_view((const char *)&header, sizeof header), err));
    made = make_file(name.ptr, sizeof *seal, writ_view((const char *)seal, sizeof *seal), err);
    if (!writ_is_ok(made)) {
        (void)unlink(path);
    }
    return made;
}

/* ---- writing one use */

static bool
is_same(const struct slot *a, const struct slot *b)
{
    return a->key[0] == b->key[0] && a->key[1] == b->key[1] && a->until_s == b->until_s;
}

/* Completes the use that the seal announces. False: the file has other contents (4). */
static bool
finish(struct writ_replay_cache *used)
{
    struct seal *seal = used->seal;
    const struct use use = seal->use;
    size_t b = use.index / WRIT_REPLAY_CACHE_BUCKET;
    struct slot *slot;

    if (use.index >= WRIT_REPLAY_CACHE_SLOTS) {
        return false;
    }
    slot = &used->buckets[b].slots[use.index % WRIT_REPLAY_CACHE_BUCKET];
    if ((slot->until_s > use.header.given_away_s && !is_same(slot, &use.slot)) ||
        use.header.magic != MAGIC || use.header.since_s < used->header->since_s ||
        use.header.given_away_s < used->header->given_away_s) {
        return false;
    }
    *slot = use.slot;
    *used->header = use.header;
    seal->buckets[b] = use.bucket_digest;
    seal->header = use.header_digest;
    atomic_store(&seal->begun, 0);
    return true;
}

/* Under the lock: a killed guard may have left a use half written. The caller checks its digests:
 * they are those of the complete use, or nothing is trusted. */
static bool
settle(struct writ_replay_cache *used)
{
    return atomic_load(&used->seal->begun) == 0 || finish(used);
}

static bool
put(struct writ_replay_cache *used, size_t b, size_t i, const struct slot *slot)
{
    struct bucket bucket = used->buckets[b];
    struct use *use = &used->seal->use;
    int64_t until_s = bucket.slots[i].until_s;

    bucket.slots[i] = *slot;
    use->index = b * WRIT_REPLAY_CACHE_BUCKET + i;
    use->slot = *slot;
    use->header = *used->header;
    if (until_s > use->header.given_away_s) {
        use->header.given_away_s = until_s; /* keeps (3) */
    }
    if (!writ_is_ok(digest_bucket(&bucket, &use->bucket_digest)) ||
        !writ_is_ok(digest_header(&use->header, &use->header_digest))) {
        return false;
    }
    atomic_store(&used->seal->begun, 1);
    return finish(used); /* keeps (2) */
}

/* ---- opening */

static void
used_freep(struct writ_replay_cache **used)
{
    writ_replay_cache_close(*used);
}

void
writ_replay_cache_close(struct writ_replay_cache *used)
{
    if (used == NULL) {
        return;
    }
    if (used->header != NULL) {
        (void)munmap(used->header, FILE_BYTES);
    }
    if (used->seal != NULL) {
        (void)munmap(used->seal, sizeof *used->seal);
    }
    close_fd(&used->fd);
    close_fd(&used->seal_fd);
    writ_free(used);
}

static WRIT_RESULT
check_file(const char *path, int fd, size_t bytes, struct writ_err *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return fail_io(err, path, "cannot be inspected");
    }
    if (!S_ISREG(st.st_mode) || st.st_size != (off_t)bytes) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: not a file of used credentials. " MAKE_NEW, path);
    }
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (st.st_uid != geteuid() && st.st_uid != 0)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: others than its owner can write to it", path);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
map_file(const char *path, size_t bytes, int *ret_fd, void **ret, struct writ_err *err)
{
    void *mapped;

    *ret_fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0) {
        return fail_io(err, path, "cannot be opened. " MAKE_NEW);
    }
    WRIT_TRY(check_file(path, *ret_fd, bytes, err));
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
    if (mapped == MAP_FAILED) {
        return fail_io(err, path, "cannot be mapped");
    }
    *ret = mapped;
    return WRIT_DONE;
}

/* After a start of the machine, bytes that were not on the disk yet may be lost, of both files:
 * nothing from before counts as unused, and the present contents are sealed. */
static WRIT_RESULT
begin_boot(struct writ_replay_cache *used, const char boot[BOOT_BYTES], int64_t now_s)
{
    struct header *header = used->header;

    header->since_s = now_s > header->since_s ? now_s : header->since_s;
    atomic_store(&used->seal->begun, 0);
    WRIT_TRY(seal_all(header, used->buckets, used->seal));
    (void)writ_view_place(writ_view(boot, BOOT_BYTES), used->seal->boot);
    return WRIT_DONE;
}

static bool
is_sealed(struct writ_replay_cache *used)
{
    if (!settle(used) || !header_is_sealed(used)) {
        return false;
    }
    for (size_t b = 0; b < BUCKETS; b++) {
        if (!bucket_is_sealed(used, b)) {
            return false;
        }
    }
    return true;
}

/* Under the lock. */
static WRIT_RESULT
begin(struct writ_replay_cache *used, const char *path, int64_t now_s, struct writ_err *err)
{
    char boot[BOOT_BYTES];

    if (used->header->magic != MAGIC || used->seal->magic != SEAL_MAGIC) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: not a file of used credentials. " MAKE_NEW, path);
    }
    WRIT_TRY(read_boot(boot, err));
    if (!writ_view_equal(writ_view(used->seal->boot, BOOT_BYTES), writ_view(boot, BOOT_BYTES))) {
        return begin_boot(used, boot, now_s);
    }
    if (!is_sealed(used)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s: it, or its " SUFFIX ", was changed, damaged or put back: which credentials were "
            "used is not known. " MAKE_NEW,
            path);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_replay_cache_open(const char *path, int64_t now_s, int64_t skew_s,
    struct writ_replay_cache **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_replay_cache *, used_freep) used = writ_alloc(sizeof *used);
    writ_auto_buf name = {0};
    writ_result begun;
    void *mapped = NULL;

    if (used == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for used credentials");
    }
    used->skew_s = skew_s;
    used->fd = used->seal_fd = -1;
    WRIT_TRY(name_seal(path, &name, err));
    WRIT_TRY(map_file(path, FILE_BYTES, &used->fd, &mapped, err));
    used->header = mapped;
    used->buckets = (struct bucket *)(void *)((char *)mapped + PAGE);
    WRIT_TRY(map_file(name.ptr, sizeof *used->seal, &used->seal_fd, &mapped, err));
    used->seal = mapped;
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

/* Under the lock. */
static enum writ_verify_use
take(struct writ_replay_cache *used, const struct slot *use, int64_t issued_s, int64_t now_s)
{
    size_t b = use->key[0] % BUCKETS, room = WRIT_REPLAY_CACHE_BUCKET;

    if (!settle(used) || !header_is_sealed(used) || !bucket_is_sealed(used, b)) {
        return WRIT_VERIFY_USE_UNKNOWN;
    }
    if (issued_s - used->skew_s <= used->header->since_s ||
        use->until_s <= used->header->given_away_s) {
        return WRIT_VERIFY_USE_SPENT;
    }
    for (size_t i = 0; i < WRIT_REPLAY_CACHE_BUCKET; i++) {
        const struct slot *slot = &used->buckets[b].slots[i];

        if (slot->until_s >= now_s && slot->key[0] == use->key[0] && slot->key[1] == use->key[1]) {
            return WRIT_VERIFY_USE_SPENT;
        }
        if (room == WRIT_REPLAY_CACHE_BUCKET && slot->until_s < now_s) {
            room = i;
        }
    }
    return room < WRIT_REPLAY_CACHE_BUCKET && put(used, b, room, use) ? WRIT_VERIFY_USE_FRESH
                                                                      : WRIT_VERIFY_USE_UNKNOWN;
}

enum writ_verify_use
writ_replay_cache_take(struct writ_replay_cache *used, struct writ_view jti, int64_t issued_s,
    int64_t until_s, int64_t now_s)
{
    struct slot use = {.until_s = until_s};
    enum writ_verify_use answer;
    struct writ_digest digest;

    if (!writ_is_ok(writ_digest_bytes(jti, &digest, NULL)) || flock(used->fd, LOCK_EX) != 0) {
        return WRIT_VERIFY_USE_UNKNOWN;
    }
    use.key[0] = writ_view_load64(digest.bytes);
    use.key[1] = writ_view_load64(digest.bytes + sizeof use.key[0]);
    answer = take(used, &use, issued_s, now_s);
    (void)flock(used->fd, LOCK_UN); /* keeps (1) */
    return answer;
}
