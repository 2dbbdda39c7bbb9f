/* place.h: the bytes of a node are found in blocks, in brackets, behind characters of several bytes
 * and in JSON. */
#include "policy/read/place.h"
#include "support/unit.h"

static const struct {
    const char *text, *pointer, *found;
} places[] = {
    {"a: 1\n", "", "a: 1"},
    {"a: 1\nb: [x, 'y z']  # c\n", "/b", "[x, 'y z']"},
    {"a: 1\nb: [x, 'y z']  # c\n", "/b/1", "'y z'"},
    {"\xef\xbb\xbf"
     "gr\xc3\xb6\xc3\x9f"
     "e: {\xf0\x9f\x98\x80: v}\n",
        "/gr\xc3\xb6\xc3\x9f"
        "e/\xf0\x9f\x98\x80",
        "v"},
    {"l:\n- x\n- {k: v}   # c\n\nm: n\n", "/l", "- x\n- {k: v}"},
    {"l:\n  - a: 1\n    b: 2\nm: n\n", "/l/0", "a: 1\n    b: 2"},
    {"{\"a/b\": [1, {\"c~d\": \"e\"}]}", "/a~1b/1/c~0d", "\"e\""},
};

START_TEST(place_find_returns_the_bytes_of_a_node)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct writ_view text = writ_view_str(places[i].text);
        struct writ_place place;

        ck_assert_ok(writ_place_find(text, writ_view_str(places[i].pointer), &place));
        ck_assert_view(writ_view_sub(text, place.start, place.end - place.start), places[i].found);
    }
}
END_TEST

START_TEST(place_find_absent_or_unreadable_leaves_its_result)
{
    struct writ_place place = {.count = 7};

    ck_assert_code(writ_place_find(WRIT_LIT("a: 1"), WRIT_LIT("/b"), &place), WRIT_E_ABSENT);
    ck_assert_code(writ_place_find(WRIT_LIT("a: [1"), WRIT_LIT("/a"), &place), WRIT_E_PARSE);
    ck_assert_uint_eq(place.count, 7);
}
END_TEST

WRIT_UNIT_MAIN("place", place_find_returns_the_bytes_of_a_node,
    place_find_absent_or_unreadable_leaves_its_result)
