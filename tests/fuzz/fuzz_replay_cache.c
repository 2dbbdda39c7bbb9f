/* A file of used credentials, or its seal, with some bytes changed: four bytes of the input a
 * change, where, and what. It is refused, or opened. Then no used credential is fresh, whatever
 * was changed, none is fresh twice, also not when the file is opened again in between, and with
 * the bytes restored no used credential is fresh either. */
#include "support/fuzz.h"
#include "support/shelter.h"

#include "gateway/guard/replay_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define NOW_S       INT64_C(1782363630)
#define HEADER      4096
#define SLOT        24
#define SEAL_HEAD   256 /* the bytes of the seal before the digests of buckets */
#define CHANGES_MAX 64
#define TOKENS      4
#define ROUNDS_MAX  2000 /* with one file: used credentials stay used */

struct change {
    off_t at;
    uint8_t was;
};

static char path[64], seal[72];
static off_t sizes[2];
static off_t used_slot; /* of the credential that is used in all rounds */

static enum writ_verify_use
take(struct writ_replay_cache *used, int i, uint64_t round, int64_t now_s)
{
    char jti[48];

    (void)snprintf(jti, sizeof jti, "%d-%llu", i, (unsigned long long)round);
    return writ_replay_cache_take(used, writ_view_str(jti), NOW_S, NOW_S + 60, now_s);
}

static off_t
find_slot(void)
{
    int fd = open(path, O_RDONLY);
    off_t at = HEADER;
    uint64_t key = 0;

    WRIT_INVARIANT(fd >= 0);
    while (key == 0) {
        WRIT_INVARIANT(pread(fd, &key, sizeof key, at) == (ssize_t)sizeof key);
        at += SLOT;
    }
    (void)close(fd);
    return at - SLOT;
}

/* A file in which one credential was used. */
static void
prepare(uint64_t round)
{
    struct writ_replay_cache *used = NULL;

    if (path[0] == '\0') {
        (void)shelter_name("used", path, sizeof path);
        (void)shelter_name("used.seal", seal, sizeof seal);
    }
    if (round == 0) {
        (void)unlink(path);
        (void)unlink(seal);
        WRIT_INVARIANT(writ_is_ok(writ_replay_cache_make(path, NOW_S - 1000, NULL)));
        WRIT_INVARIANT(writ_is_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL)));
        WRIT_INVARIANT(take(used, 0, 0, NOW_S) == WRIT_VERIFY_USE_FRESH);
        writ_replay_cache_close(used);
        used_slot = find_slot();
    }
}

/* Where the change lies: in the header or the head of the seal, in the slot that is used, or
 * anywhere. */
static off_t
place_of(const uint8_t *input, bool in_seal)
{
    off_t at = (off_t)(input[1] << 8 | input[2]);

    if (input[0] < 64) {
        return at % (in_seal ? SEAL_HEAD : 64);
    }
    if (input[0] < 160 && !in_seal) {
        return used_slot + at % SLOT;
    }
    return (((off_t)input[0] << 16 | at) * SLOT) % sizes[in_seal ? 1 : 0];
}

static void
change_all(const uint8_t *data, size_t n, bool in_seal, struct change *ret)
{
    int fd = open(in_seal ? seal : path, O_RDWR);

    WRIT_INVARIANT(fd >= 0);
    sizes[in_seal ? 1 : 0] = lseek(fd, 0, SEEK_END);
    for (size_t i = 0; i < n; i++) {
        ret[i] = (struct change){.at = place_of(data + 4 * i, in_seal)};
        WRIT_INVARIANT(pread(fd, &ret[i].was, 1, ret[i].at) == 1);
        WRIT_INVARIANT(pwrite(fd, &data[4 * i + 3], 1, ret[i].at) == 1);
    }
    (void)close(fd);
}

static void
undo_all(const struct change *changes, size_t n, bool in_seal)
{
    int fd = open(in_seal ? seal : path, O_RDWR);

    for (size_t i = n; i > 0; i--) {
        WRIT_INVARIANT(pwrite(fd, &changes[i - 1].was, 1, changes[i - 1].at) == 1);
    }
    (void)close(fd);
}

/* Gives whether it opens. */
static bool
check(uint64_t round)
{
    struct writ_replay_cache *used = NULL;
    enum writ_verify_use first[TOKENS + 1];

    if (!writ_is_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL))) {
        return false;
    }
    WRIT_INVARIANT(take(used, 0, 0, NOW_S) != WRIT_VERIFY_USE_FRESH);
    for (int i = 1; i <= TOKENS; i++) {
        first[i] = take(used, i, round, NOW_S);
        WRIT_INVARIANT(take(used, i, round, NOW_S) != WRIT_VERIFY_USE_FRESH);
    }
    writ_replay_cache_close(used);
    used = NULL;
    if (!writ_is_ok(writ_replay_cache_open(path, NOW_S + 1, 5, &used, NULL))) {
        return false;
    }
    for (int i = 1; i <= TOKENS; i++) {
        WRIT_INVARIANT(take(used, i, round, NOW_S + 59) != WRIT_VERIFY_USE_FRESH ||
                       first[i] == WRIT_VERIFY_USE_UNKNOWN);
    }
    writ_replay_cache_close(used);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t round;
    struct change changes[CHANGES_MAX];
    bool in_seal = size > 0 && (data[0] & 1) != 0;
    size_t n = size > 0 ? (size - 1) / 4 : 0;

    n = n < CHANGES_MAX ? n : CHANGES_MAX;
    prepare(round);
    change_all(size > 0 ? data + 1 : data, n, in_seal, changes);
    (void)check(round + 1);
    undo_all(changes, n, in_seal);
    round = check(round + 2) ? (round + 2) % ROUNDS_MAX : 0;
    return 0;
}
