/* The catalog that the loops share. Each loop sees a change at its next look, and a list that
 * changed while it was fetched is fetched again. */
#include "support/unit.h"

#include "gateway/state/catalog_snapshot.h"

static struct writ_catalog *
catalog_with(const char *name)
{
    struct writ_arena *arena = writ_arena_new(65536);
    writ_auto_buf text = writ_buf_make(256);
    struct writ_catalog *catalog = NULL;
    const struct writ_json *value;

    writ_buf_fmt(&text, "{\"name\":\"%s\"}", name);
    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL));
    ck_assert_ok(writ_catalog_new(&catalog));
    ck_assert_ok(writ_catalog_add(catalog, value));
    writ_catalog_seal(catalog);
    writ_arena_free(arena);
    return catalog;
}

START_TEST(every_loop_sees_at_its_next_look_what_one_put_there)
{
    struct writ_catalog_snapshot shelf;
    struct writ_catalog_snapshot_view one = {0}, other = {0};
    const struct writ_catalog *seen;

    ck_assert_ok(writ_catalog_snapshot_init(&shelf, NULL));
    ck_assert_ptr_null(writ_catalog_snapshot_look(&shelf, &one));
    writ_catalog_snapshot_put(&shelf, catalog_with("a"));
    seen = writ_catalog_snapshot_look(&shelf, &one);
    ck_assert_ptr_nonnull(writ_catalog_find(seen, WRIT_LIT("a")));
    ck_assert_ptr_eq(writ_catalog_snapshot_look(&shelf, &one), seen);
    writ_catalog_snapshot_put(&shelf, catalog_with("b"));
    ck_assert_ptr_nonnull(
        writ_catalog_find(seen, WRIT_LIT("a"))); /* borrowed until the next look */
    ck_assert_ptr_nonnull(
        writ_catalog_find(writ_catalog_snapshot_look(&shelf, &one), WRIT_LIT("b")));
    ck_assert_ptr_eq(
        writ_catalog_snapshot_look(&shelf, &other), writ_catalog_snapshot_look(&shelf, &one));
    writ_catalog_snapshot_forget(&one);
    writ_catalog_snapshot_forget(&other);
    writ_catalog_snapshot_wipe(&shelf);
}
END_TEST

START_TEST(the_same_catalog_again_is_no_change)
{
    struct writ_catalog_snapshot shelf;
    uint64_t before, after;

    ck_assert_ok(writ_catalog_snapshot_init(&shelf, NULL));
    writ_catalog_snapshot_put(&shelf, catalog_with("a"));
    writ_catalog_drop(writ_catalog_snapshot_hold(&shelf, &before));
    writ_catalog_snapshot_put(&shelf, catalog_with("a"));
    writ_catalog_drop(writ_catalog_snapshot_hold(&shelf, &after));
    ck_assert_uint_eq(before, after);
    writ_catalog_snapshot_wipe(&shelf);
}
END_TEST

START_TEST(a_list_is_good_for_its_time)
{
    struct writ_catalog_snapshot shelf;

    ck_assert_ok(writ_catalog_snapshot_init(&shelf, NULL));
    writ_catalog_snapshot_settle(&shelf, writ_catalog_snapshot_doubts(&shelf), 50, 100);
    ck_assert_int_eq(writ_catalog_snapshot_asked_us(&shelf), 50);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&shelf, 99));
    ck_assert(writ_catalog_snapshot_is_doubtful(&shelf, 100));
    writ_catalog_snapshot_settle(&shelf, writ_catalog_snapshot_doubts(&shelf), 50, 200);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&shelf, 100));
    writ_catalog_snapshot_wipe(&shelf);
}
END_TEST

START_TEST(a_doubt_that_comes_while_the_list_is_asked_for_stays)
{
    struct writ_catalog_snapshot shelf;
    uint64_t doubts;

    ck_assert_ok(writ_catalog_snapshot_init(&shelf, NULL));
    ck_assert(writ_catalog_snapshot_is_doubtful(&shelf, 10)); /* nothing was learned */
    writ_catalog_snapshot_settle(&shelf, writ_catalog_snapshot_doubts(&shelf), 50, 100);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&shelf, 10));
    writ_catalog_snapshot_doubt(&shelf);
    doubts = writ_catalog_snapshot_doubts(&shelf);
    writ_catalog_snapshot_doubt(&shelf);
    writ_catalog_snapshot_settle(&shelf, doubts, 50, 100);
    ck_assert(writ_catalog_snapshot_is_doubtful(&shelf, 10));
    writ_catalog_snapshot_settle(&shelf, writ_catalog_snapshot_doubts(&shelf), 50, 100);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&shelf, 10));
    writ_catalog_snapshot_wipe(&shelf);
}
END_TEST

WRIT_UNIT_MAIN("shelf", a_list_is_good_for_its_time,
    every_loop_sees_at_its_next_look_what_one_put_there, the_same_catalog_again_is_no_change,
    a_doubt_that_comes_while_the_list_is_asked_for_stays)
