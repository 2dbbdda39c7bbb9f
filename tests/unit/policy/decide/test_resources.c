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
    find_of_a_uri_with_two_meanings_is_not_known, find_without_patterns_asks_nothing_of_a_uri,
    of_gives_the_entry_of_a_pattern)
