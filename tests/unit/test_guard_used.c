#include "support/unit.h"

#include "gateway/guard_used.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_S 1000
#define NOW_S  2000

static char folder[] = "/tmp/writ-used-XXXXXX";
static char path[64];
static struct writ_guard_used *used;

static void
setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/used", folder);
    ck_assert_ok(writ_guard_used_make(path, MADE_S, NULL));
    ck_assert_ok(writ_guard_used_open(path, NOW_S, 5, &used, NULL));
}

static void
teardown(void)
{
    writ_guard_used_close(used);
    (void)unlink(path);
    (void)rmdir(folder);
    (void)snprintf(folder, sizeof folder, "/tmp/writ-used-XXXXXX");
}

static enum writ_verify_use
take(int n, int64_t until_s, int64_t now_s)
{
    char jti[16];
    int len = snprintf(jti, sizeof jti, "jti-%d", n);

    return writ_guard_used_take(used, writ_view(jti, (size_t)len), NOW_S, until_s, now_s);
}

START_TEST(each_is_fresh_once_also_for_another_who_opened_the_file)
{
    struct writ_guard_used *other = NULL;

    setup();
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(take(2, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    ck_assert_ok(writ_guard_used_open(path, NOW_S, 5, &other, NULL));
    ck_assert_int_eq(writ_guard_used_take(other, WRIT_LIT("jti-1"), NOW_S, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(writ_guard_used_take(other, WRIT_LIT("jti-3"), NOW_S, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_FRESH);
    ck_assert_int_eq(take(3, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    writ_guard_used_close(other);
    writ_guard_used_close(used);
    ck_assert_ok(writ_guard_used_open(path, NOW_S, 5, &used, NULL));
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    teardown();
}
END_TEST

START_TEST(what_was_issued_before_the_file_was_made_is_not_known_to_be_unused)
{
    setup();
    ck_assert_int_eq(writ_guard_used_take(used, WRIT_LIT("a"), MADE_S + 5, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(writ_guard_used_take(used, WRIT_LIT("a"), MADE_S + 6, NOW_S + 60, NOW_S),
        WRIT_VERIFY_USE_FRESH);
    teardown();
}
END_TEST

/* Another start of the machine, as the file remembers it: 8 bytes of magic, then its id. */
/* However late that is: a clock may have been anywhere. */
START_TEST(a_file_from_the_end_of_time_knows_no_credential_to_be_unused)
{
    setup();
    writ_guard_used_close(used);
    (void)unlink(path);
    ck_assert_ok(writ_guard_used_make(path, INT64_MAX, NULL));
    ck_assert_ok(writ_guard_used_open(path, NOW_S, 5, &used, NULL));
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    teardown();
}
END_TEST

START_TEST(what_was_issued_before_the_machine_started_is_not_known_to_be_unused)
{
    FILE *file;

    setup();
    ck_assert_int_eq(take(1, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_FRESH);
    writ_guard_used_close(used);
    file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 8, SEEK_SET), 0);
    ck_assert_int_eq(fputc('x', file), 'x');
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_ok(writ_guard_used_open(path, NOW_S, 5, &used, NULL));
    ck_assert_int_eq(take(2, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(writ_guard_used_take(used, WRIT_LIT("b"), NOW_S + 6, NOW_S + 66, NOW_S + 6),
        WRIT_VERIFY_USE_FRESH);
    teardown();
}
END_TEST

START_TEST(places_are_given_away_in_time_and_a_clock_that_goes_back_makes_nothing_new)
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

START_TEST(when_there_is_no_room_nobody_knows)
{
    size_t unknown = 0;
    int i = 0;

    setup();
    for (; unknown == 0 && (size_t)i <= WRIT_GUARD_USED_SLOTS; i++) {
        unknown += take(i, NOW_S + 60, NOW_S) == WRIT_VERIFY_USE_UNKNOWN;
    }
    ck_assert_uint_eq(unknown, 1);
    ck_assert_int_gt(i, 500000); /* what docs/guard.md says */
    ck_assert_int_eq(take(0, NOW_S + 60, NOW_S), WRIT_VERIFY_USE_SPENT);
    ck_assert_int_eq(take(i - 1, NOW_S + 121, NOW_S + 61), WRIT_VERIFY_USE_FRESH); /* expired */
    teardown();
}
END_TEST

START_TEST(files_that_are_no_memory_or_that_others_can_change_are_refused)
{
    struct writ_guard_used *other = NULL;

    setup();
    ck_assert_code(writ_guard_used_make(path, NOW_S, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_guard_used_open("/nowhere/used", NOW_S, 0, &other, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_guard_used_make("/nowhere/used", NOW_S, NULL), WRIT_E_ABSENT);
    ck_assert_int_eq(chmod(path, 0620), 0);
    ck_assert_code(writ_guard_used_open(path, NOW_S, 0, &other, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(chmod(path, 0600), 0);
    writ_guard_used_close(used);
    used = NULL;
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_code(writ_guard_used_open(path, NOW_S, 0, &other, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(truncate(path, 4096 + (off_t)(WRIT_GUARD_USED_SLOTS * 24)), 0);
    ck_assert_code(writ_guard_used_open(path, NOW_S, 0, &other, NULL), WRIT_E_INVALID);
    ck_assert_ptr_null(other);
    writ_guard_used_close(NULL);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("guard_used", each_is_fresh_once_also_for_another_who_opened_the_file,
    what_was_issued_before_the_file_was_made_is_not_known_to_be_unused,
    a_file_from_the_end_of_time_knows_no_credential_to_be_unused,
    what_was_issued_before_the_machine_started_is_not_known_to_be_unused,
    places_are_given_away_in_time_and_a_clock_that_goes_back_makes_nothing_new,
    when_there_is_no_room_nobody_knows,
    files_that_are_no_memory_or_that_others_can_change_are_refused)
