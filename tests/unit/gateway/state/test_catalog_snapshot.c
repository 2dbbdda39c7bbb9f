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

START_TEST(catalog_snapshot_look_gives_the_last_put)
{
    struct writ_catalog_snapshot snapshot;
    struct writ_catalog_snapshot_view one = {0}, other = {0};
    const struct writ_catalog *seen;

    ck_assert_ok(writ_catalog_snapshot_init(&snapshot, NULL));
    ck_assert_ptr_null(writ_catalog_snapshot_look(&snapshot, &one));
    writ_catalog_snapshot_put(&snapshot, catalog_with("a"));
    seen = writ_catalog_snapshot_look(&snapshot, &one);
    ck_assert_ptr_nonnull(writ_catalog_find(seen, WRIT_LIT("a")));
    ck_assert_ptr_eq(writ_catalog_snapshot_look(&snapshot, &one), seen);
    writ_catalog_snapshot_put(&snapshot, catalog_with("b"));
    ck_assert_ptr_nonnull(
        writ_catalog_find(seen, WRIT_LIT("a"))); /* borrowed until the next look */
    ck_assert_ptr_nonnull(
        writ_catalog_find(writ_catalog_snapshot_look(&snapshot, &one), WRIT_LIT("b")));
    ck_assert_ptr_eq(
        writ_catalog_snapshot_look(&snapshot, &other), writ_catalog_snapshot_look(&snapshot, &one));
    writ_catalog_snapshot_forget(&one);
    writ_catalog_snapshot_forget(&other);
    writ_catalog_snapshot_wipe(&snapshot);
}
END_TEST

START_TEST(catalog_snapshot_put_of_an_equal_catalog_changes_nothing)
{
    struct writ_catalog_snapshot snapshot;
    uint64_t before, after;

    ck_assert_ok(writ_catalog_snapshot_init(&snapshot, NULL));
    writ_catalog_snapshot_put(&snapshot, catalog_with("a"));
    writ_catalog_drop(writ_catalog_snapshot_hold(&snapshot, &before));
    writ_catalog_snapshot_put(&snapshot, catalog_with("a"));
    writ_catalog_drop(writ_catalog_snapshot_hold(&snapshot, &after));
    ck_assert_uint_eq(before, after);
    writ_catalog_snapshot_wipe(&snapshot);
}
END_TEST

START_TEST(catalog_snapshot_is_doubtful_after_its_time)
{
    struct writ_catalog_snapshot snapshot;

    ck_assert_ok(writ_catalog_snapshot_init(&snapshot, NULL));
    writ_catalog_snapshot_settle(&snapshot, writ_catalog_snapshot_doubts(&snapshot), 50, 100);
    ck_assert_int_eq(writ_catalog_snapshot_asked_us(&snapshot), 50);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&snapshot, 99));
    ck_assert(writ_catalog_snapshot_is_doubtful(&snapshot, 100));
    writ_catalog_snapshot_settle(&snapshot, writ_catalog_snapshot_doubts(&snapshot), 50, 200);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&snapshot, 100));
    writ_catalog_snapshot_wipe(&snapshot);
}
END_TEST

START_TEST(catalog_snapshot_doubt_during_a_fetch_stays)
{
    struct writ_catalog_snapshot snapshot;
    uint64_t doubts;

    ck_assert_ok(writ_catalog_snapshot_init(&snapshot, NULL));
    ck_assert(writ_catalog_snapshot_is_doubtful(&snapshot, 10)); /* no list arrived */
    writ_catalog_snapshot_settle(&snapshot, writ_catalog_snapshot_doubts(&snapshot), 50, 100);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&snapshot, 10));
    writ_catalog_snapshot_doubt(&snapshot);
    doubts = writ_catalog_snapshot_doubts(&snapshot);
    writ_catalog_snapshot_doubt(&snapshot);
    writ_catalog_snapshot_settle(&snapshot, doubts, 50, 100);
    ck_assert(writ_catalog_snapshot_is_doubtful(&snapshot, 10));
    writ_catalog_snapshot_settle(&snapshot, writ_catalog_snapshot_doubts(&snapshot), 50, 100);
    ck_assert(!writ_catalog_snapshot_is_doubtful(&snapshot, 10));
    writ_catalog_snapshot_wipe(&snapshot);
}
END_TEST

WRIT_UNIT_MAIN("catalog_snapshot", catalog_snapshot_is_doubtful_after_its_time,
    catalog_snapshot_look_gives_the_last_put,
    catalog_snapshot_put_of_an_equal_catalog_changes_nothing,
    catalog_snapshot_doubt_during_a_fetch_stays)
