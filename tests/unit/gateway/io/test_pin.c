/* The digest of a file is that of its bytes, also after it was changed, replaced or truncated while
 * it was read in slices; a file that stays as it is is read once. */
#include "gateway/io/pin.h"

#include "support/shelter.h"
#include "support/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LATER_US  (INT64_C(3600) * 1000000) /* the files of a test have rested */
#define RESTED_US (INT64_C(2) * 1000000)

static int64_t now_us, rest_us;

static int64_t
wall_us(void *ctx)
{
    (void)ctx;
    return now_us + rest_us;
}

static int64_t mono_now_us;

static int64_t
mono_us(void *ctx)
{
    (void)ctx;
    return mono_now_us;
}

static const struct writ_clock clock_at = {.wall_us = wall_us, .mono_us = mono_us};
static char path[256];

static void
put(struct writ_view bytes)
{
    shelter_name("server", path, sizeof path);
    shelter_put("server", bytes);
    now_us = writ_clock_wall_us(writ_clock_system());
}

static writ_result
look(struct writ_pin *pin, size_t budget, struct writ_digest *ret, struct writ_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    writ_result r;

    ck_assert_int_ge(fd, 0);
    r = writ_pin_digest(pin, fd, path, &clock_at, &budget, ret, err);
    (void)close(fd);
    return r;
}

static void
expect(struct writ_pin *pin, struct writ_view bytes)
{
    struct writ_digest want, got;

    ck_assert_ok(writ_digest_bytes(bytes, &want, NULL));
    ck_assert_ok(look(pin, SIZE_MAX, &got, NULL));
    ck_assert(writ_digest_equal(&got, &want));
}

START_TEST(pin_digest_is_that_of_the_present_bytes)
{
    struct writ_pin pin = {.known = false};

    rest_us = LATER_US;
    put(WRIT_LIT("one"));
    expect(&pin, WRIT_LIT("one"));
    put(WRIT_LIT("two"));
    expect(&pin, WRIT_LIT("two"));
    put(WRIT_LIT(""));
    expect(&pin, WRIT_LIT(""));
}
END_TEST

START_TEST(pin_digest_of_an_unchanged_file_is_read_once)
{
    struct writ_pin pin = {.known = false};
    struct writ_digest got, other;

    rest_us = LATER_US;
    put(WRIT_LIT("one"));
    expect(&pin, WRIT_LIT("one"));
    ck_assert(pin.known);
    pin.found.bytes[0] ^= 1;
    other = pin.found;
    ck_assert_ok(look(&pin, 0, &got, NULL));
    ck_assert(writ_digest_equal(&got, &other)); /* the kept one: it was not read */
    ck_assert_int_eq(chmod(path, 0700), 0);     /* another ctime, same size and mtime */
    expect(&pin, WRIT_LIT("one"));
}
END_TEST

START_TEST(pin_digest_of_a_file_that_changed_just_now_is_not_kept)
{
    struct writ_pin pin = {.known = false};

    rest_us = 0;
    put(WRIT_LIT("one"));
    expect(&pin, WRIT_LIT("one"));
    ck_assert(!pin.known);
}
END_TEST

START_TEST(pin_digest_of_a_file_ahead_of_the_clock_is_kept_when_it_has_rested)
{
    struct writ_pin pin = {.known = false};

    rest_us = -LATER_US;
    mono_now_us = 1;
    put(WRIT_LIT("one"));
    expect(&pin, WRIT_LIT("one"));
    ck_assert(!pin.known);
    mono_now_us += RESTED_US;
    expect(&pin, WRIT_LIT("one"));
    ck_assert(!pin.known); /* a change in the tick of the first look would be missed */
    mono_now_us += 1;
    expect(&pin, WRIT_LIT("one"));
    ck_assert(pin.known);
    put(WRIT_LIT("another"));
    expect(&pin, WRIT_LIT("another"));
    ck_assert(!pin.known);
    mono_now_us += RESTED_US + 1;
    expect(&pin, WRIT_LIT("another"));
    ck_assert(pin.known);
}
END_TEST

START_TEST(pin_digest_in_slices_equals_that_of_the_whole)
{
    struct writ_pin pin = {.known = false};
    struct writ_digest want, got = {{0}}, zero = {{0}};
    unsigned slices = 0;

    rest_us = LATER_US;
    put(WRIT_LIT("0123456789"));
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("0123456789"), &want, NULL));
    while (look(&pin, 3, &got, NULL).code == WRIT_E_BUSY) {
        ck_assert(writ_digest_equal(&got, &zero));
        slices++;
    }
    ck_assert_uint_eq(slices, 3);
    ck_assert(writ_digest_equal(&got, &want));
}
END_TEST

START_TEST(pin_digest_in_slices_begins_again_when_the_file_changes)
{
    struct writ_pin pin = {.known = false};
    struct writ_digest got;

    rest_us = LATER_US;
    put(WRIT_LIT("0123456789"));
    ck_assert_code(look(&pin, 4, &got, NULL), WRIT_E_BUSY);
    put(WRIT_LIT("9876543210"));
    expect(&pin, WRIT_LIT("9876543210"));
    writ_pin_wipe(&pin);
    ck_assert(!pin.known);
}
END_TEST

START_TEST(pin_digest_refuses_a_fifo_and_a_folder)
{
    struct writ_pin pin = {.known = false};
    struct writ_digest got;
    struct writ_err err = {0};

    put(WRIT_LIT("one"));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0700), 0);
    ck_assert_code(look(&pin, SIZE_MAX, &got, &err), WRIT_E_INVALID);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_code(look(&pin, SIZE_MAX, &got, &err), WRIT_E_INVALID);
}
END_TEST

WRIT_UNIT_MAIN("pin", pin_digest_is_that_of_the_present_bytes,
    pin_digest_of_an_unchanged_file_is_read_once,
    pin_digest_of_a_file_that_changed_just_now_is_not_kept,
    pin_digest_of_a_file_ahead_of_the_clock_is_kept_when_it_has_rested,
    pin_digest_in_slices_equals_that_of_the_whole,
    pin_digest_in_slices_begins_again_when_the_file_changes, pin_digest_refuses_a_fifo_and_a_folder)
