/* A log that is folded in beside its writer, which here is the test. */
#include "support/kit.h"
#include "support/unit.h"

#include "store/disk.h"
#include "store/fold.h"

#include <time.h>

#define BUSY_US     1000000
#define PATIENCE_MS 10000

static struct writ_fold_state
rested(struct writ_fold *fold)
{
    struct writ_fold_state state = writ_fold_look(fold, NULL);

    for (int i = 0; i < PATIENCE_MS && state.busy; i++) {
        const struct timespec ms = {.tv_nsec = 1000000};

        (void)nanosleep(&ms, NULL);
        state = writ_fold_look(fold, NULL);
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
    ck_assert_ok(writ_disk_commit(disk, NULL));
}

START_TEST(a_pass_tells_how_much_it_folded_in_until_the_log_begins_anew)
{
    struct writ_fold *fold = NULL;
    struct writ_disk disk = {0};
    struct writ_kit kit;
    uint64_t pages;

    writ_kit_init(&kit);
    ck_assert_ok(writ_disk_open(kit.path, BUSY_US, &disk, NULL));
    ck_assert_ok(writ_fold_start(kit.path, BUSY_US, &fold, NULL));
    ck_assert_uint_eq(rested(fold).folded, 0);
    append(&disk);
    append(&disk);
    pages = disk.wal_pages;
    ck_assert_uint_gt(pages, 0);
    ck_assert_uint_eq(rested(fold).folded, 0); /* not asked for */
    writ_fold_wake(fold);
    ck_assert_uint_eq(rested(fold).folded, pages);

    writ_fold_anew(fold);
    ck_assert_uint_eq(rested(fold).folded, 0);
    append(&disk); /* all was folded in: it begins at its beginning */
    ck_assert(disk.wal_anew);
    writ_fold_wake(fold);
    ck_assert_uint_eq(rested(fold).folded, disk.wal_pages);
    writ_fold_stop(fold);
    writ_disk_close(&disk);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(asking_twice_is_one_pass_and_one_that_never_was_asked_ends)
{
    struct writ_fold *fold = NULL;
    struct writ_kit kit;

    writ_kit_init(&kit);
    ck_assert_ok(writ_fold_start(kit.path, BUSY_US, &fold, NULL));
    writ_fold_wake(fold);
    writ_fold_wake(fold);
    (void)rested(fold);
    writ_fold_stop(fold);
    ck_assert_ok(writ_fold_start(kit.path, BUSY_US, &fold, NULL));
    writ_fold_stop(fold);
    writ_fold_stop(NULL);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(without_a_ledger_there_is_nothing_to_fold)
{
    struct writ_fold *fold = NULL;

    ck_assert_code(writ_fold_start("/nowhere/ledger.db", BUSY_US, &fold, NULL), WRIT_E_IO);
    ck_assert_ptr_null(fold);
}
END_TEST

WRIT_UNIT_MAIN("fold", a_pass_tells_how_much_it_folded_in_until_the_log_begins_anew,
    asking_twice_is_one_pass_and_one_that_never_was_asked_ends,
    without_a_ledger_there_is_nothing_to_fold)
