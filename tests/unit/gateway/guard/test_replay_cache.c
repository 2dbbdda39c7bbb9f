/* The file in which a guard keeps used credentials. A credential is fresh once, across processes,
 * kills and restarts; a changed, older or missing file never makes a used credential fresh. */
#include "support/unit.h"

#include "gateway/guard/replay_cache.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MADE_S 1000
#define NOW_S  2000

static char folder[] = "/tmp/writ-used-XXXXXX";
static char path[64], seal[72];
static struct writ_replay_cache *used;

static void
setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/used", folder);
    (void)snprintf(seal, sizeof seal, "%s.seal", path);
    ck_assert_ok(writ_replay_cache_make(path, MADE_S, NULL));
    ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
}

static void
teardown(void)
{
    writ_replay_cache_close(used);
    (void)unlink(path);
    (void)unlink(seal);
    (void)rmdir(folder);
    (void)snprintf(folder, sizeof folder, "/tmp/writ-used-XXXXXX");
}

static enum writ_verify_use
take(int n, int64_t until_s, int64_t now_s)
{
    char jti[16];
    int len = snprintf(jti, sizeof jti, "jti-%d", n);

    return writ_replay_cache_take(used, writ_view(jti, (size_t)len), NOW_S, until_s, now_s);
}

/* ---- the bytes of the files */

#define HEADER     4096
#define SLOT       24
#define FILE_BYTES (HEADER + SLOT * WRIT_REPLAY_CACHE_SLOTS)
#define SEAL_BEGUN 44 /* after the magic and the id of the start */

static void
put_bytes(const char *file, size_t at, struct writ_view bytes)
{
    int fd = open(file, O_WRONLY);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, bytes.ptr, bytes.len, (off_t)at), (ssize_t)bytes.len);
    (void)close(fd);
}

static char *
get_bytes(const char *file, size_t *ret_n)
{
    struct stat st;
    int fd = open(file, O_RDONLY);
    char *bytes;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    *ret_n = (size_t)st.st_size;
    bytes = malloc(*ret_n);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(pread(fd, bytes, *ret_n, 0), st.st_size);
    (void)close(fd);
    return bytes;
}

/* Where the only slot that is in use lies. */
static size_t
slot_in_use(void)
{
    size_t n, at = HEADER;
    char *bytes = get_bytes(path, &n);

    while (at < n && writ_view_load64((const uint8_t *)bytes + at) == 0) {
        at += SLOT;
    }
    ck_assert_uint_lt(at, n);
    free(bytes);
    return at;
}

static void
assert_open_refused(enum writ_code code)
{
    struct writ_replay_cache *other = NULL;
    struct writ_err err = {{0}, 0, 0};

    ck_assert_code(writ_replay_cache_open(path, NOW_S, 5, &other, &err), code);
    ck_assert_ptr_null(other);
    ck_assert_ptr_nonnull(strstr(err.text, "writ guard init"));
}

START_TEST(replay_cache_open_with_a_changed_entry_is_refused)
{
    const char none[SLOT] = {0};

    setup();
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    put_bytes(path, slot_in_use() + 16, writ_view(none, 8));               /* its time alone */
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_UNKNOWN); /* while it is open */
    assert_open_refused(WRIT_E_MISMATCH);
    put_bytes(path, slot_in_use(), writ_view(none, SLOT));
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_UNKNOWN);
    assert_open_refused(WRIT_E_MISMATCH);
    teardown();
}
END_TEST

START_TEST(replay_cache_open_with_a_changed_header_is_refused)
{
    setup();
    put_bytes(path, 8, writ_view("\0", 1)); /* made earlier than it was */
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_UNKNOWN);
    assert_open_refused(WRIT_E_MISMATCH);
    teardown();
}
END_TEST

START_TEST(replay_cache_open_with_an_older_or_missing_file_or_seal_is_refused)
{
    size_t n, seal_n;
    char *before, *seal_before;

    setup();
    before = get_bytes(path, &n);
    seal_before = get_bytes(seal, &seal_n);
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    writ_replay_cache_close(used);
    used = NULL;
    put_bytes(seal, 0, writ_view(seal_before, seal_n));
    assert_open_refused(WRIT_E_MISMATCH);
    put_bytes(path, 0, writ_view(before, n));
    ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL)); /* both: docs/guard.md */
    ck_assert_int_eq(take(2, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    writ_replay_cache_close(used);
    used = NULL;
    put_bytes(path, 0, writ_view(before, n));
    assert_open_refused(WRIT_E_MISMATCH);
    ck_assert_int_eq(truncate(seal, 0), 0);
    assert_open_refused(WRIT_E_INVALID);
    ck_assert_int_eq(truncate(seal, (off_t)seal_n), 0);
    assert_open_refused(WRIT_E_INVALID);
    ck_assert_int_eq(unlink(seal), 0);
    assert_open_refused(WRIT_E_ABSENT);
    free(before);
    free(seal_before);
    teardown();
}
END_TEST

/* What was there before the use, and how much of the slot was written when the guard was killed. */
START_TEST(replay_cache_open_completes_an_unfinished_use)
{
    const size_t written[] = {0, 8, 16, SLOT};

    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        const char none[SLOT] = {0};
        size_t at;

        setup();
        ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
        at = slot_in_use();
        put_bytes(path, at + written[i], writ_view(none, SLOT - written[i]));
        put_bytes(seal, SEAL_BEGUN, writ_view("\1", 1));
        if (i % 2 == 0) {
            writ_replay_cache_close(used);
            ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
        }
        ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
        ck_assert_int_eq(take(2, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
        writ_replay_cache_close(used);
        ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
        teardown();
    }
}
END_TEST

START_TEST(replay_cache_unfinished_use_never_replaces_a_live_entry)
{
    const char none[SLOT] = {0};
    size_t at;

    setup();
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    at = slot_in_use();
    put_bytes(seal, SEAL_BEGUN + 12, writ_view(none, SLOT)); /* after the index: the slot */
    put_bytes(seal, SEAL_BEGUN, writ_view("\1", 1));
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_UNKNOWN);
    assert_open_refused(WRIT_E_MISMATCH);
    ck_assert_uint_eq(slot_in_use(), at);
    teardown();
}
END_TEST

/* Takes one credential after the other, and says each that was fresh. */
static void
take_until_killed(int first, int out)
{
    struct writ_replay_cache *own = NULL;

    if (!writ_is_ok(writ_replay_cache_open(path, NOW_S, 5, &own, NULL))) {
        _exit(1);
    }
    used = own;
    for (int n = first;; n++) {
        if (take(n, NOW_S + 60, NOW_S) != WRIT_VERIFY_USE_FRESH ||
            write(out, &n, sizeof n) != (ssize_t)sizeof n) {
            _exit(1);
        }
    }
}

START_TEST(replay_cache_after_a_kill_keeps_every_answered_use)
{
    int next = 0;

    setup();
    for (int round = 0; round < 40; round++) {
        int ends[2], n = next, status;
        pid_t child;

        ck_assert_int_eq(pipe(ends), 0);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            take_until_killed(next, ends[1]);
        }
        (void)close(ends[1]);
        for (int i = 0; i <= round; i++) {
            ck_assert_int_eq(read(ends[0], &n, sizeof n), (ssize_t)sizeof n);
        }
        (void)kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        while (read(ends[0], &n, sizeof n) == (ssize_t)sizeof n) {
        }
        (void)close(ends[0]);
        writ_replay_cache_close(used);
        ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
        for (int i = next; i <= n; i++) {
            ck_assert_int_eq(take(i, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
        }
        next = n + 2; /* the use after the last may have been stored without an answer */
    }
    teardown();
}
END_TEST

START_TEST(replay_cache_of_two_processes_is_fresh_once)
{
    struct writ_replay_cache *other = NULL;

    setup();
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(take(2, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &other, NULL));
    ck_assert_int_eq(writ_replay_cache_take(other, WRIT_LIT("jti-1"), NOW_S, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(writ_replay_cache_take(other, WRIT_LIT("jti-3"), NOW_S, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_FRESH);
    ck_assert_int_eq(take(3, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    writ_replay_cache_close(other);
    writ_replay_cache_close(used);
    ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    teardown();
}
END_TEST

START_TEST(replay_cache_of_a_credential_older_than_the_file_is_unknown)
{
    setup();
    ck_assert_int_eq(writ_replay_cache_take(used, WRIT_LIT("a"), MADE_S + 5, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(writ_replay_cache_take(used, WRIT_LIT("a"), MADE_S + 6, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_FRESH);
    teardown();
}
END_TEST

/* However late that is: a clock may have been anywhere. */
START_TEST(replay_cache_of_a_file_from_the_future_is_unknown)
{
    setup();
    writ_replay_cache_close(used);
    (void)unlink(path);
    (void)unlink(seal);
    ck_assert_ok(writ_replay_cache_make(path, INT64_MAX, NULL));
    ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    teardown();
}
END_TEST

/* Another start of the machine, as the seal remembers it: 8 bytes of magic, then its id. */
START_TEST(replay_cache_of_a_credential_older_than_the_boot_is_unknown)
{
    setup();
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    writ_replay_cache_close(used);
    put_bytes(seal, 8, writ_view("x", 1));
    ck_assert_ok(writ_replay_cache_open(path, NOW_S, 5, &used, NULL));
    ck_assert_int_eq(take(2, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(writ_replay_cache_take(used, WRIT_LIT("b"), NOW_S + 6, NOW_S + 66, NOW_S + 6),
        WRIT_VERIFY_USE_FRESH);
    teardown();
}
END_TEST

START_TEST(replay_cache_reuses_expired_entries_and_never_after_a_clock_step)
{
    struct stat before, after;
    int fresh = 0;

    setup();
    ck_assert_int_eq(stat(path, &before), 0);
    /* so many that every bucket has had all its slots in use, in rounds that have expired */
    for (int round = 0; round < 4; round++) {
        int64_t now_s = NOW_S + 100 * round;

        for (int i = 0; i < 200000; i++) {
            fresh += take(round * 200000 + i, now_s + 60, now_s) == WRIT_VERIFY_USE_FRESH;
        }
    }
    ck_assert_int_eq(fresh, 800000);
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    for (int i = 0; i < 200000; i += 997) {
        ck_assert_int_eq(take(i, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    }
    teardown();
}
END_TEST

START_TEST(full_cache_answers_unknown)
{
    size_t unknown = 0;
    int i = 0;

    setup();
    for (; unknown == 0 && (size_t)i <= WRIT_REPLAY_CACHE_SLOTS; i++) {
        unknown += take(i, NOW_S + 60, NOW_S) == WRIT_VERIFY_USE_UNKNOWN;
    }
    ck_assert_uint_eq(unknown, 1);
    ck_assert_int_gt(i, 500000); /* what docs/guard.md says */
    ck_assert_int_eq(take(0, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(take(i - 1, NOW_S + 121, NOW_S + 61), WRIT_VERIFY_USE_FRESH); /* expired */
    teardown();
}
END_TEST

START_TEST(replay_cache_open_of_a_foreign_or_shared_file_is_refused)
{
    struct writ_replay_cache *other = NULL;

    setup();
    ck_assert_code(writ_replay_cache_make(path, NOW_S, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_replay_cache_open("/nowhere/used", NOW_S, 0, &other, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_replay_cache_make("/nowhere/used", NOW_S, NULL), WRIT_E_ABSENT);
    ck_assert_int_eq(chmod(path, 0620), 0);
    ck_assert_code(writ_replay_cache_open(path, NOW_S, 0, &other, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(chmod(path, 0600), 0);
    writ_replay_cache_close(used);
    used = NULL;
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_code(writ_replay_cache_open(path, NOW_S, 0, &other, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(truncate(path, (off_t)FILE_BYTES), 0);
    ck_assert_code(writ_replay_cache_open(path, NOW_S, 0, &other, NULL), WRIT_E_INVALID);
    ck_assert_ptr_null(other);
    writ_replay_cache_close(NULL);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("replay_cache", replay_cache_of_two_processes_is_fresh_once,
    replay_cache_of_a_credential_older_than_the_file_is_unknown,
    replay_cache_of_a_file_from_the_future_is_unknown,
    replay_cache_of_a_credential_older_than_the_boot_is_unknown,
    replay_cache_reuses_expired_entries_and_never_after_a_clock_step, full_cache_answers_unknown,
    replay_cache_open_of_a_foreign_or_shared_file_is_refused,
    replay_cache_open_with_a_changed_entry_is_refused,
    replay_cache_open_with_a_changed_header_is_refused,
    replay_cache_open_with_an_older_or_missing_file_or_seal_is_refused,
    replay_cache_open_completes_an_unfinished_use,
    replay_cache_unfinished_use_never_replaces_a_live_entry,
    replay_cache_after_a_kill_keeps_every_answered_use)
