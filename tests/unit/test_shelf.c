#include "support/unit.h"

#include "gateway/state/shelf.h"

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
    struct writ_shelf shelf;
    struct writ_shelf_view one = {0}, other = {0};
    const struct writ_catalog *seen;

    ck_assert_ok(writ_shelf_init(&shelf, NULL));
    ck_assert_ptr_null(writ_shelf_look(&shelf, &one));
    writ_shelf_put(&shelf, catalog_with("a"));
    seen = writ_shelf_look(&shelf, &one);
    ck_assert_ptr_nonnull(writ_catalog_find(seen, WRIT_LIT("a")));
    ck_assert_ptr_eq(writ_shelf_look(&shelf, &one), seen);
    writ_shelf_put(&shelf, catalog_with("b"));
    ck_assert_ptr_nonnull(
        writ_catalog_find(seen, WRIT_LIT("a"))); /* borrowed until the next look */
    ck_assert_ptr_nonnull(writ_catalog_find(writ_shelf_look(&shelf, &one), WRIT_LIT("b")));
    ck_assert_ptr_eq(writ_shelf_look(&shelf, &other), writ_shelf_look(&shelf, &one));
    writ_shelf_forget(&one);
    writ_shelf_forget(&other);
    writ_shelf_wipe(&shelf);
}
END_TEST

START_TEST(the_same_catalog_again_is_no_change)
{
    struct writ_shelf shelf;
    uint64_t before, after;

    ck_assert_ok(writ_shelf_init(&shelf, NULL));
    writ_shelf_put(&shelf, catalog_with("a"));
    writ_catalog_drop(writ_shelf_hold(&shelf, &before));
    writ_shelf_put(&shelf, catalog_with("a"));
    writ_catalog_drop(writ_shelf_hold(&shelf, &after));
    ck_assert_uint_eq(before, after);
    writ_shelf_wipe(&shelf);
}
END_TEST

START_TEST(a_list_is_good_for_its_time)
{
    struct writ_shelf shelf;

    ck_assert_ok(writ_shelf_init(&shelf, NULL));
    writ_shelf_settle(&shelf, writ_shelf_doubts(&shelf), 50, 100);
    ck_assert_int_eq(writ_shelf_asked_us(&shelf), 50);
    ck_assert(!writ_shelf_is_doubtful(&shelf, 99));
    ck_assert(writ_shelf_is_doubtful(&shelf, 100));
    writ_shelf_settle(&shelf, writ_shelf_doubts(&shelf), 50, 200);
    ck_assert(!writ_shelf_is_doubtful(&shelf, 100));
    writ_shelf_wipe(&shelf);
}
END_TEST

START_TEST(a_doubt_that_comes_while_the_list_is_asked_for_stays)
{
    struct writ_shelf shelf;
    uint64_t doubts;

    ck_assert_ok(writ_shelf_init(&shelf, NULL));
    ck_assert(writ_shelf_is_doubtful(&shelf, 10)); /* nothing was learned */
    writ_shelf_settle(&shelf, writ_shelf_doubts(&shelf), 50, 100);
    ck_assert(!writ_shelf_is_doubtful(&shelf, 10));
    writ_shelf_doubt(&shelf);
    doubts = writ_shelf_doubts(&shelf);
    writ_shelf_doubt(&shelf);
    writ_shelf_settle(&shelf, doubts, 50, 100);
    ck_assert(writ_shelf_is_doubtful(&shelf, 10));
    writ_shelf_settle(&shelf, writ_shelf_doubts(&shelf), 50, 100);
    ck_assert(!writ_shelf_is_doubtful(&shelf, 10));
    writ_shelf_wipe(&shelf);
}
END_TEST

WRIT_UNIT_MAIN("shelf", a_list_is_good_for_its_time,
    every_loop_sees_at_its_next_look_what_one_put_there, the_same_catalog_again_is_no_change,
    a_doubt_that_comes_while_the_list_is_asked_for_stays)
