/* The first pattern that matches a URI decides; where a server could take the URI for another one,
 * none does. */
#include "policy/decide/resources.h"

#include "support/unit.h"

static const struct writ_labels accounts = {.trusted = true, .resource = WRIT_LIT("bank://a/*")},
                                people = {.resource = WRIT_LIT("bank://**")},
                                secret = {.resource = WRIT_LIT("bank://a/x y")};

static const struct writ_labels *const items[] = {&secret, &accounts, &people};
static const struct writ_resources resources = {items, 3};

START_TEST(find_gives_the_first_pattern_that_matches)
{
    static const struct {
        const char *uri;
        const struct writ_labels *labels;
    } cases[] = {
        {"bank://a/1", &accounts},
        {"bank://a/1/2", &people},
        {"bank://b", &people},
        {"bank://a/x y", &secret},
        {"bank://a/x%2Dy", &accounts},
        {"bank://a/%c3%a4", &accounts},
        {"bank://a/...", &accounts},
        {"http://a/1", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_labels *found = &secret;

        ck_assert(writ_resources_find(&resources, writ_view_str(cases[i].uri), &found));
        ck_assert_msg(found == cases[i].labels, "%s", cases[i].uri);
    }
}
END_TEST

START_TEST(find_of_a_uri_with_two_meanings_is_not_known)
{
    static const char *const uris[] = {"bank://a/x%20y", "bank://a/../b", "bank://a/%2e%2E/b",
        "bank://a/b%2fc", "bank://a/./1", "bank://a/..", "bank://a/b\\..\\c", "bank://a/%5c",
        "bank://a/%252e", "bank://a/100%", "bank://a/%00", "http://a/%2e"};

    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        const struct writ_labels *found = &secret;

        ck_assert_msg(
            !writ_resources_find(&resources, writ_view_str(uris[i]), &found), "%s", uris[i]);
        ck_assert_ptr_null(found);
    }
}
END_TEST

START_TEST(find_of_a_uri_that_passes_by_an_earlier_pattern_is_not_known)
{
    static const struct writ_labels own = {.resource = WRIT_LIT("https://people/**")},
                                    file = {.resource = WRIT_LIT("file:///srv/Private/**")},
                                    port = {.resource = WRIT_LIT("https://shop:8443/a?q=*")},
                                    one = {.resource = WRIT_LIT("https://shop/one")},
                                    folder = {.resource = WRIT_LIT("https://shop/two/*")},
                                    rest = {.trusted = true, .resource = WRIT_LIT("*:**")};
    static const struct writ_labels *const list[] = {&own, &file, &port, &one, &folder, &rest};
    static const struct writ_resources all = {list, 6};
    static const char *const known[] = {"https://shop/", "https://shop/one/two", "file:///srv/1",
        "https://shop:8443/", "urn:people", "mailto:people@shop"};
    static const char *const passing[] = {"https://PEOPLE/1", "HTTPS://people/1",
        "https://people:443/1", "https://eve@people/1", "https://people./1",
        "https://a:b@people:1/1", "https://people//1", "https://people/%31;x?a#b",
        "file:///srv//Private/1", "file:///srv/private/1", "file:/srv/Private/1",
        "file://localhost/srv/Private/1", "https://Shop:8443/a?q=1", "https://shop:8443/a?Q=1",
        "https://shop/one/", "https://shop/one?x", "https://shop/one#x", "https://shop/one/?x",
        "https://shop/two//", "https://shop/two//1", "https://people?x", "https://people",
        "file:srv/private/1"};
    const struct writ_labels *found = NULL;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        ck_assert_msg(writ_resources_find(&all, writ_view_str(known[i]), &found), "%s", known[i]);
        ck_assert_ptr_eq(found, &rest);
    }
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        bool is_known = writ_resources_find(&all, writ_view_str(passing[i]), &found);

        ck_assert_msg(!is_known || found == &own, "%s", passing[i]);
    }
}
END_TEST

START_TEST(find_of_a_dot_that_a_server_may_end_is_not_known)
{
    static const char *const uris[] = {
        "bank://a/..?x", "bank://a/..#x", "bank://a/..;x/1", "bank:../a", "bank://a/.;x"};
    const struct writ_labels *found = NULL;

    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++) {
        ck_assert_msg(
            !writ_resources_find(&resources, writ_view_str(uris[i]), &found), "%s", uris[i]);
    }
    ck_assert(!writ_resources_find(&resources, writ_view(NULL, 0), &found));
}
END_TEST

START_TEST(find_of_a_uri_that_is_too_long_is_not_known)
{
    static const struct writ_labels any = {.resource = WRIT_LIT("**")};
    static const struct writ_labels *list[WRIT_RESOURCES_MAX];
    static const size_t long_enough = WRIT_RESOURCES_WORK_MAX / WRIT_RESOURCES_MAX;
    const struct writ_resources many = {list, WRIT_RESOURCES_MAX};
    const struct writ_labels *found = NULL;
    writ_auto_buf uri = writ_buf_make(WRIT_RESOURCE_URI_MAX);

    for (size_t i = 0; i < WRIT_RESOURCES_MAX; i++) {
        list[i] = &any;
    }
    for (size_t i = 0; i < long_enough; i++) {
        writ_buf_byte(&uri, 'a');
    }
    ck_assert(writ_resources_find(&many, writ_buf_view(&uri), &found));
    ck_assert_ptr_eq(found, &any);
    writ_buf_byte(&uri, 'a');
    ck_assert(!writ_resources_find(&many, writ_buf_view(&uri), &found));
    ck_assert_ptr_null(found);
}
END_TEST

START_TEST(find_without_patterns_asks_nothing_of_a_uri)
{
    const struct writ_labels *found = &secret;

    ck_assert(writ_resources_find(NULL, WRIT_LIT("bank://a/../b"), &found));
    ck_assert_ptr_null(found);
}
END_TEST

START_TEST(of_gives_the_entry_of_a_pattern)
{
    ck_assert_ptr_eq(writ_resources_of(&resources, WRIT_LIT("bank://a/*")), &accounts);
    ck_assert_ptr_null(writ_resources_of(&resources, WRIT_LIT("bank://a/1")));
    ck_assert_ptr_null(writ_resources_of(NULL, WRIT_LIT("bank://a/*")));
}
END_TEST

WRIT_UNIT_MAIN("resources", find_gives_the_first_pattern_that_matches,
    find_of_a_uri_with_two_meanings_is_not_known,
    find_of_a_uri_that_passes_by_an_earlier_pattern_is_not_known,
    find_of_a_uri_that_is_too_long_is_not_known, find_of_a_dot_that_a_server_may_end_is_not_known,
    find_without_patterns_asks_nothing_of_a_uri, of_gives_the_entry_of_a_pattern)
