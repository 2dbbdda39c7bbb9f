/* places.h: lists of folders and hosts, and their cost. */
#include "policy/learn/places.h"

#include "support/evidence/value.h"
#include "support/unit.h"

static void
add(struct writ_places *places, const char *text, uint64_t call, struct writ_arena *arena)
{
    struct writ_seen_in in = {.call = call, .run = call, .decision = WRIT_LIT("d"), .arena = arena};

    ck_assert_ok(writ_places_add(places, writ_view_str(text), &in));
}

/* "/a /b", of the list. */
static const char *
joined(const struct writ_views *list, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, 1 << 16);

    for (size_t i = 0; i < list->n; i++) {
        writ_buf_str(&text, i > 0 ? " " : "");
        writ_buf_put(&text, list->items[i]);
    }
    writ_buf_byte(&text, '\0');
    return text.ptr;
}

START_TEST(cover_has_the_folders_of_a_depth_and_paths_that_end_before)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_places places = {.n = 0};
    struct writ_views list;
    uint64_t cost;

    add(&places, "/srv/box/a/1.txt", 1, arena);
    add(&places, "/srv//box/./a/2.txt", 2, arena);
    add(&places, "/srv/box/b/c/3.txt", 3, arena);
    add(&places, "/srv/box/top.txt", 4, arena);
    ck_assert(writ_places_are_absolute(&places) && !writ_places_are_relative(&places));
    ck_assert_uint_eq(places.common_depth, 2);
    list = writ_places_cover(&places, 2, true, arena, &cost);
    ck_assert_str_eq(joined(&list, arena), "/srv/box");
    ck_assert_uint_eq(cost, 0);
    list = writ_places_cover(&places, 3, true, arena, &cost);
    ck_assert_str_eq(joined(&list, arena), "/srv/box/a /srv/box/b /srv/box/top.txt");
    ck_assert_uint_eq(cost, 2); /* b and top.txt are each of one run */
    list = writ_places_cover(&places, 0, true, arena, &cost);
    ck_assert_uint_eq(list.n, 0);
}
END_TEST

START_TEST(are_absolute_is_false_for_the_root_and_for_disguises)
{
    static const char *const texts[] = {
        "/", "/./", "a/b", "/a/../b", "/a/%2e%2e/b", "/a\\b", "", "https://a.test/x"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_places places = {.n = 0};

        add(&places, "/srv/a", 1, arena);
        add(&places, texts[i], 2, arena);
        ck_assert_msg(!writ_places_are_absolute(&places), "%s", texts[i]);
    }
}
END_TEST

START_TEST(cover_beyond_the_limit_of_folders_keeps_the_depths_that_are_complete)
{
    writ_auto_arena arena = writ_arena_new((size_t)64 << 20);
    struct writ_places places = {.n = 0};
    struct writ_views list;
    uint64_t cost;

    for (uint64_t i = 0; i < WRIT_PLACES_FOLDERS_MAX + 10; i++) {
        char text[64];
        struct writ_buf path = writ_buf_over(text, sizeof text);

        writ_buf_fmt(&path, "/srv/%c/%llu", (char)('a' + i % 3), (unsigned long long)i);
        writ_buf_byte(&path, '\0');
        add(&places, text, i + 1, arena);
    }
    ck_assert_uint_eq(places.complete, 2);
    list = writ_places_cover(&places, 2, true, arena, &cost);
    ck_assert_str_eq(joined(&list, arena), "/srv/a /srv/b /srv/c");
    list = writ_places_cover(&places, 3, true, arena, &cost);
    ck_assert_uint_eq(list.n, 0);
}
END_TEST

START_TEST(hosts_with_suffixes_stand_for_three_or_more_below_one_owner)
{
    static const struct {
        const char *urls[5], *hosts, *suffixes; /* "" : no list */
    } cases[] = {
        {{"https://a.example.com/", "https://B.example.com/x", "http://c.example.com:80/",
             "https://other.test/"},
            "a.example.com b.example.com c.example.com other.test", "*.example.com other.test"},
        {{"https://a.example.com/", "https://b.example.com/"}, "a.example.com b.example.com", ""},
        {{"https://a.co.uk/", "https://b.co.uk/", "https://c.co.uk/"}, "a.co.uk b.co.uk c.co.uk",
            ""},
        {{"https://a.com/", "https://b.com/", "https://c.com/"}, "a.com b.com c.com", ""},
        {{"http://10.0.0.1/", "http://10.0.0.2/", "http://11.0.0.1:8080/", "http://[::1]/"},
            "10.0.0.1 10.0.0.2 11.0.0.1:8080 [::1]", ""},
        {{"https://a.example.com:8443/", "https://b.example.com:8443/",
             "https://c.example.com:8443/"},
            "a.example.com:8443 b.example.com:8443 c.example.com:8443", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_places places = {.n = 0};
        struct writ_views list;
        uint64_t cost;

        for (uint64_t at = 0; at < 5 && cases[i].urls[at] != NULL; at++) {
            add(&places, cases[i].urls[at], at + 1, arena);
        }
        ck_assert(writ_places_are_urls(&places));
        list = writ_places_hosts(&places, false, true, arena, &cost);
        ck_assert_str_eq(joined(&list, arena), cases[i].hosts);
        ck_assert_uint_eq(cost, list.n); /* each in one run */
        list = writ_places_hosts(&places, true, true, arena, &cost);
        ck_assert_str_eq(joined(&list, arena), cases[i].suffixes);
    }
}
END_TEST

START_TEST(are_addresses_reads_one_plain_address)
{
    static const struct {
        const char *text;
        bool address;
    } cases[] = {{"ann@shop.example", true}, {"a.b+c@mail.shop.example", true},
        {"@shop.example", false}, {"ann@localhost", false}, {"a@b.c, d@e.f", false},
        {"a@b@c.d", false}, {"ann@shop.example\n", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_places places = {.n = 0};

        add(&places, cases[i].text, 1, arena);
        ck_assert_msg(writ_places_are_addresses(&places) == cases[i].address, "%s", cases[i].text);
    }
}
END_TEST

WRIT_UNIT_MAIN("places", cover_has_the_folders_of_a_depth_and_paths_that_end_before,
    are_absolute_is_false_for_the_root_and_for_disguises,
    cover_beyond_the_limit_of_folders_keeps_the_depths_that_are_complete,
    hosts_with_suffixes_stand_for_three_or_more_below_one_owner,
    are_addresses_reads_one_plain_address)
