/* Copies the write-ahead log into the database beside its writer, which here is the test. A pass
 * reports its progress, and concurrent requests make one pass. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/disk/wal_checkpoint.h"

#include <time.h>

#define BUSY_US     1000000
#define PATIENCE_MS 60000

static struct writ_wal_state
rested(struct writ_wal_checkpoint *checkpoint)
{
    struct writ_wal_state state = writ_wal_checkpoint_state(checkpoint, NULL);

    for (int i = 0; i < PATIENCE_MS && state.busy; i++) {
        const struct timespec ms = {.tv_nsec = 1000000};

        (void)nanosleep(&ms, NULL);
        state = writ_wal_checkpoint_state(checkpoint, NULL);
    }
    ck_assert(!state.busy);
    ck_assert(!state.poisoned);
    return state;
}

static void
append(struct writ_disk *disk)
{
    ck_assert_ok(writ_disk_begin(disk, NULL));
    ck_assert_ok(writ_disk_run(disk, WRIT_SQL_PROBE, NULL, "i", INT64_C(7)));
    ck_assert_ok(writ_disk_finish(disk, WRIT_DONE, NULL));
}

START_TEST(pass_reports_frames_copied_until_the_log_restarts)
{
    struct writ_wal_checkpoint *checkpoint = NULL;
    struct writ_disk disk = {0};
    struct writ_kit kit;
    uint64_t pages;

    writ_kit_init(&kit);
    ck_assert_ok(writ_disk_open(kit.path, BUSY_US, &disk, NULL));
    ck_assert_ok(writ_wal_checkpoint_start(kit.path, BUSY_US, &checkpoint, NULL));
    ck_assert_uint_eq(rested(checkpoint).copied, 0);
    append(&disk);
    append(&disk);
    pages = disk.wal_pages;
    ck_assert_uint_gt(pages, 0);
    ck_assert_uint_eq(rested(checkpoint).copied, 0); /* without a wake */
    writ_wal_checkpoint_wake(checkpoint);
    ck_assert_uint_eq(rested(checkpoint).copied, pages);

    writ_wal_checkpoint_begun(checkpoint);
    ck_assert_uint_eq(rested(checkpoint).copied, 0);
    append(&disk); /* all was folded in: it begins at its beginning */
    ck_assert(disk.wal_begun);
    writ_wal_checkpoint_wake(checkpoint);
    ck_assert_uint_eq(rested(checkpoint).copied, disk.wal_pages);
    writ_wal_checkpoint_stop(checkpoint);
    writ_disk_close(&disk);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(wake_twice_makes_one_pass_and_stop_without_wake_ends)
{
    struct writ_wal_checkpoint *checkpoint = NULL;
    struct writ_kit kit;

    writ_kit_init(&kit);
    ck_assert_ok(writ_wal_checkpoint_start(kit.path, BUSY_US, &checkpoint, NULL));
    writ_wal_checkpoint_wake(checkpoint);
    writ_wal_checkpoint_wake(checkpoint);
    (void)rested(checkpoint);
    writ_wal_checkpoint_stop(checkpoint);
    ck_assert_ok(writ_wal_checkpoint_start(kit.path, BUSY_US, &checkpoint, NULL));
    writ_wal_checkpoint_stop(checkpoint);
    writ_wal_checkpoint_stop(NULL);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(start_without_a_ledger_fails)
{
    struct writ_wal_checkpoint *checkpoint = NULL;

    ck_assert_code(
        writ_wal_checkpoint_start("/nowhere/ledger.db", BUSY_US, &checkpoint, NULL), WRIT_E_IO);
    ck_assert_ptr_null(checkpoint);
}
END_TEST

#define REST (WRIT_WAL_PAGES + WRIT_WAL_REST)

static const struct {
    uint64_t pages, copied;
    bool busy, idle;
    enum writ_wal_work want;
} works[] = {
    {0, 0, false, true, WRIT_WAL_NOTHING},
    {1, 0, false, false, WRIT_WAL_NOTHING},
    {1, 0, false, true, WRIT_WAL_COPY},
    {WRIT_WAL_PAGES - 1, 0, false, false, WRIT_WAL_NOTHING},
    {WRIT_WAL_PAGES, 0, false, false, WRIT_WAL_PASS},
    {WRIT_WAL_PAGES, 0, true, true, WRIT_WAL_NOTHING},
    {REST, WRIT_WAL_PAGES, false, false, WRIT_WAL_COPY},
    {REST + 1, WRIT_WAL_PAGES, false, false, WRIT_WAL_PASS},
    {WRIT_WAL_PAGES_MAX - 1, 0, false, false, WRIT_WAL_PASS},
    {WRIT_WAL_PAGES_MAX, 0, false, false, WRIT_WAL_COPY},
    {WRIT_WAL_PAGES_MAX, 0, true, false, WRIT_WAL_NOTHING},
};

START_TEST(next_of_a_log_is_a_pass_until_the_rest_is_small_or_the_log_too_long)
{
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        const struct writ_wal_state state = {.busy = works[i].busy, .copied = works[i].copied};

        ck_assert_msg(
            writ_wal_checkpoint_next(works[i].pages, &state, works[i].idle) == works[i].want,
            "row %zu", i);
    }
}
END_TEST

WRIT_UNIT_MAIN("wal_checkpoint",
    next_of_a_log_is_a_pass_until_the_rest_is_small_or_the_log_too_long,
    pass_reports_frames_copied_until_the_log_restarts,
    wake_twice_makes_one_pass_and_stop_without_wake_ends, start_without_a_ledger_fails)
