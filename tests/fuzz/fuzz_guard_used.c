/* A file of used credentials whose bytes somebody has changed, four bytes of the input a change:
 * where, and what. It is refused, or opened. Then no credential is fresh twice while it lives,
 * whatever was in the slots, also not when the file is opened again in between. */
#include "support/fuzz.h"
#include "support/shelter.h"

#include "gateway/guard_used.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define NOW_S       INT64_C(1782363630)
#define HEADER      4096
#define SLOT        24
#define CHANGES_MAX 64
#define TOKENS      8
#define ROUNDS_MAX  20000 /* with one file: what was taken in it stays */

static char path[64];
static uint8_t header[HEADER];

static void
prepare(uint64_t round)
{
    int fd;

    if (path[0] == '\0') {
        (void)shelter_name("used", path, sizeof path);
    }
    if (round == 0) {
        (void)unlink(path);
        WRIT_INVARIANT(writ_is_ok(writ_guard_used_make(path, NOW_S - 1000, NULL)));
        fd = open(path, O_RDONLY);
        WRIT_INVARIANT(fd >= 0 && read(fd, header, sizeof header) == (ssize_t)sizeof header);
        (void)close(fd);
    }
}

/* Where the change lies: in the header, or in a slot. Gives the place in the file. */
static off_t
place_of(const uint8_t *change)
{
    size_t at = (size_t)change[1] << 8 | change[2];

    if (change[0] == 0) {
        return (off_t)(at % HEADER);
    }
    return (off_t)(HEADER + (((size_t)(change[0] - 1) << 16 | at) * SLOT / 8 * 8) %
                                (WRIT_GUARD_USED_SLOTS * SLOT));
}

static void
change(const uint8_t *data, size_t n)
{
    int fd = open(path, O_WRONLY);

    WRIT_INVARIANT(fd >= 0 && pwrite(fd, header, sizeof header, 0) == (ssize_t)sizeof header);
    for (size_t i = 0; i < n; i++) {
        WRIT_INVARIANT(pwrite(fd, &data[4 * i + 3], 1, place_of(data + 4 * i)) == 1);
    }
    (void)close(fd);
}

static void
check(uint64_t round)
{
    struct writ_guard_used *used = NULL;
    enum writ_verify_use first[TOKENS];
    char jti[TOKENS][48];

    if (!writ_is_ok(writ_guard_used_open(path, NOW_S, 5, &used, NULL))) {
        return;
    }
    for (int i = 0; i < TOKENS; i++) {
        (void)snprintf(jti[i], sizeof jti[i], "%d-%llu", i, (unsigned long long)round);
        first[i] = writ_guard_used_take(used, writ_view_str(jti[i]), NOW_S, NOW_S + 60, NOW_S);
        WRIT_INVARIANT(writ_guard_used_take(used, writ_view_str(jti[i]), NOW_S, NOW_S + 60,
                           NOW_S) != WRIT_VERIFY_USE_FRESH);
    }
    writ_guard_used_close(used);
    used = NULL;
    WRIT_INVARIANT(writ_is_ok(writ_guard_used_open(path, NOW_S + 1, 5, &used, NULL)));
    for (int i = 0; i < TOKENS; i++) {
        enum writ_verify_use second =
            writ_guard_used_take(used, writ_view_str(jti[i]), NOW_S, NOW_S + 60, NOW_S + 59);

        WRIT_INVARIANT(second != WRIT_VERIFY_USE_FRESH || first[i] == WRIT_VERIFY_USE_UNKNOWN);
    }
    writ_guard_used_close(used);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t round;
    size_t n = size / 4 < CHANGES_MAX ? size / 4 : CHANGES_MAX;

    prepare(round);
    change(data, n);
    check(round);
    round = (round + 1) % ROUNDS_MAX;
    return 0;
}
