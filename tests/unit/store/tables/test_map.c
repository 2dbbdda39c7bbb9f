/* The hash map of the store. Entries are found by their tag until they are removed, and running
 * out of memory is reported. */
#include "support/unit.h"

#include "store/tables/map.h"

struct thing {
    int value;
    struct writ_map_node node;
};

START_TEST(map_find_gives_an_entry_until_it_is_removed)
{
    struct writ_map map = {0};
    static struct thing things[1000];

    ck_assert_ok(writ_map_init(&map, 100, NULL)); /* more than it was made for */
    for (int i = 0; i < 1000; i++) {
        things[i].value = i;
        writ_map_add(&map, &things[i].node, writ_tag_number((uint64_t)i));
    }
    ck_assert_uint_eq(map.count, 1000);
    for (int i = 0; i < 1000; i += 2) {
        writ_map_remove(&map, &things[i].node);
    }
    for (int i = 0; i < 1000; i++) {
        struct thing *thing =
            WRIT_MAP_OF(writ_map_find(&map, writ_tag_number((uint64_t)i)), struct thing, node);

        if (i % 2 == 0) {
            ck_assert_ptr_null(thing);
        } else {
            ck_assert_int_eq(thing->value, i);
        }
    }
    ck_assert_uint_eq(map.count, 500);
    writ_map_wipe(&map);
}
END_TEST

START_TEST(map_find_of_equal_tags_gives_the_last_added)
{
    struct writ_map map = {0};
    struct thing first = {.value = 1}, second = {.value = 2};
    struct writ_tag tag = {7, 7};

    ck_assert_ok(writ_map_init(&map, 1, NULL));
    writ_map_add(&map, &first.node, tag);
    writ_map_add(&map, &second.node, tag);
    ck_assert_ptr_eq(writ_map_find(&map, tag), &second.node);
    writ_map_remove(&map, &second.node);
    ck_assert_ptr_eq(writ_map_find(&map, tag), &first.node);
    writ_map_wipe(&map);
}
END_TEST

START_TEST(buckets_come_into_use_as_the_map_fills)
{
    struct writ_map map = {0};
    static struct thing things[5000], again[5000];

    ck_assert_ok(writ_map_init(&map, 4096, NULL));
    ck_assert_uint_eq(map.bucket_count, 64);
    for (int i = 0; i < 5000; i++) {
        things[i].value = again[i].value = i;
        writ_map_add(&map, &things[i].node, writ_tag_number((uint64_t)i));
        if (i % 3 == 0) {
            writ_map_add(&map, &again[i].node, writ_tag_number((uint64_t)i));
        }
        ck_assert_uint_ge(map.bucket_count, map.count < 4096 ? map.count : 4096);
        for (int k = 0; k <= i; k += 1 + i / 7) { /* all are found at every size */
            ck_assert_ptr_eq(writ_map_find(&map, writ_tag_number((uint64_t)k)),
                k % 3 == 0 ? &again[k].node : &things[k].node);
        }
    }
    ck_assert_uint_eq(map.bucket_count, 4096);
    for (int i = 0; i < 5000; i += 3) {
        writ_map_remove(&map, &again[i].node);
    }
    for (int i = 0; i < 5000; i++) {
        ck_assert_ptr_eq(writ_map_find(&map, writ_tag_number((uint64_t)i)), &things[i].node);
        writ_map_remove(&map, &things[i].node);
    }
    ck_assert_uint_eq(map.count, 0);
    for (size_t i = 0; i < map.bucket_max; i++) {
        ck_assert_ptr_null(map.buckets[i]);
    }
    writ_map_wipe(&map);
}
END_TEST

START_TEST(map_zeroed_is_empty_and_can_be_wiped)
{
    struct writ_map map = {0};

    ck_assert_ptr_null(writ_map_find(&map, writ_tag_number(1)));
    writ_map_wipe(&map);
}
END_TEST

static void
remove_stranger(void *arg)
{
    struct thing stranger = {0};

    writ_map_remove(arg, &stranger.node);
}

START_TEST(map_remove_of_an_absent_entry_stops_the_process)
{
    struct writ_map map = {0};

    ck_assert_ok(writ_map_init(&map, 1, NULL));
    ck_assert(writ_unit_aborts(remove_stranger, &map));
    writ_map_wipe(&map);
}
END_TEST

START_TEST(out_of_memory_is_reported)
{
    struct writ_map map = {.count = 77};

    writ_fault_arm(1);
    ck_assert_code(writ_map_init(&map, 1, NULL), WRIT_E_NOMEM);
    (void)writ_fault_disarm();
    ck_assert_uint_eq(map.count, 77);
}
END_TEST

WRIT_UNIT_MAIN("map", map_find_gives_an_entry_until_it_is_removed,
    map_find_of_equal_tags_gives_the_last_added, buckets_come_into_use_as_the_map_fills,
    map_zeroed_is_empty_and_can_be_wiped, map_remove_of_an_absent_entry_stops_the_process,
    out_of_memory_is_reported)
