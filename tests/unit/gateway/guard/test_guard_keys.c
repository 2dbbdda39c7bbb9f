/* Keys of a guard. A request waits until the keys that it needs have been fetched. */
#include "support/unit.h"

#include "gateway/guard/guard_keys.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int told_n;
static bool told_text;

static int64_t
stands_still(void *ctx)
{
    (void)ctx;
    return 10;
}

static void
note_told(void *ctx, size_t place, const struct writ_buf *text)
{
    told_n++;
    told_text = place == 0 && text != NULL;
    writ_loop_stop(ctx);
}

/* Between the end of a fetch and its delivery on the loop, a request for the keys still waits. */
START_TEST(fetched_keys_are_awaited_until_delivered)
{
    const struct timespec moment = {.tv_nsec = 300000000};
    const struct writ_clock clock = {stands_still, stands_still, NULL};
    struct writ_guard_place places[WRIT_GUARD_KEYS_PLACES] = {0};
    struct writ_loop_options options = {.clock = &clock};
    struct writ_guard_keys *keys = NULL;
    struct writ_loop *loop = NULL;
    char path[] = "/tmp/writ-keys-XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    ck_assert_ok(writ_loop_new(&options, &loop, NULL));
    places[0] = (struct writ_guard_place){.place = path, .max = 64, .every_us = INT64_MAX / 2};
    ck_assert_ok(writ_guard_keys_open(loop, places, NULL, &clock, note_told, loop, &keys, NULL));
    ck_assert_ok(writ_guard_keys_start(keys, NULL));
    (void)nanosleep(&moment, NULL); /* long enough to read a file */
    ck_assert(writ_guard_keys_hurry(keys, 0));
    ck_assert_ok(writ_loop_run(loop, NULL));
    ck_assert_int_eq(told_n, 1);
    ck_assert(told_text);
    ck_assert(!writ_guard_keys_hurry(keys, 0)); /* delivered a moment ago */
    writ_guard_keys_free(keys);
    writ_loop_free(loop);
    (void)unlink(path);
}
END_TEST

WRIT_UNIT_MAIN("guard_keys", fetched_keys_are_awaited_until_delivered)
