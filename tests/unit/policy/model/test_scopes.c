/* OAuth scopes (RFC 6749). A list is words between single spaces, compared whole and by their
 * bytes. */
#include "policy/model/scopes.h"
#include "support/unit.h"

START_TEST(scope_read_accepts_exactly_rfc_6749)
{
    static const char *const yes[] = {"a", "files:read", "https://as.example/x", "!", "~", "#[]"};
    static const char *const no[] = {"", " ", "a b", "a\"", "a\\", "a\n", "\x7f", "\xc3\xa4"};

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        ck_assert_msg(writ_scopes_is_one(writ_view_str(yes[i])), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ck_assert_msg(!writ_scopes_is_one(writ_view_str(no[i])), "%s", no[i]);
    }
}
END_TEST

START_TEST(scopes_read_splits_at_single_spaces)
{
    struct writ_view list = WRIT_LIT("  a bc   d ");

    ck_assert_view(writ_scopes_next(&list), "a");
    ck_assert_view(writ_scopes_next(&list), "bc");
    ck_assert_view(writ_scopes_next(&list), "d");
    ck_assert_view(writ_scopes_next(&list), "");
    ck_assert_view(writ_scopes_next(&list), "");
    list = writ_view(NULL, 0);
    ck_assert_view(writ_scopes_next(&list), "");
}
END_TEST

START_TEST(scopes_are_compared_whole_and_exactly)
{
    const struct writ_view both[] = {WRIT_LIT("a"), WRIT_LIT("bc")};
    const struct writ_views all = {both, 2}, none = {NULL, 0};

    ck_assert(writ_scopes_has(WRIT_LIT("a bc"), WRIT_LIT("bc")));
    ck_assert(!writ_scopes_has(WRIT_LIT("a bc"), WRIT_LIT("b")));
    ck_assert(!writ_scopes_has(WRIT_LIT("a bc"), WRIT_LIT("BC")));
    ck_assert(!writ_scopes_has(WRIT_LIT(""), WRIT_LIT("a")));
    ck_assert(!writ_scopes_has(WRIT_LIT("a"), WRIT_LIT("")));
    ck_assert(writ_scopes_has_all(WRIT_LIT("bc x a"), &all));
    ck_assert(!writ_scopes_has_all(WRIT_LIT("bc x"), &all));
    ck_assert(writ_scopes_has_all(WRIT_LIT(""), &none));
}
END_TEST

START_TEST(scopes_add_twice_adds_once)
{
    const struct writ_view words[] = {WRIT_LIT("b"), WRIT_LIT("a"), WRIT_LIT("b"), WRIT_LIT("")};
    const struct writ_views all = {words, 4};
    writ_auto_buf list = writ_buf_make(3), small = writ_buf_make(2);

    writ_scopes_add_all(&list, &all);
    ck_assert_view(writ_buf_view(&list), "b a");
    writ_scopes_add_all(&small, &all);
    ck_assert_code(writ_buf_check(&small, NULL), WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("scopes", scope_read_accepts_exactly_rfc_6749, scopes_read_splits_at_single_spaces,
    scopes_are_compared_whole_and_exactly, scopes_add_twice_adds_once)
