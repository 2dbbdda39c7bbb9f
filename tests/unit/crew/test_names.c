/* Finding names among names (crew/names.h). The first occurrence is found, in both orders of
 * names. */
#include "support/unit.h"

#include "crew/names.h"

START_TEST(names_find_gives_the_first_occurrence)
{
    const struct writ_view list[] = {WRIT_LIT("b"), WRIT_LIT(""), WRIT_LIT("ab"), WRIT_LIT("b"),
        WRIT_LIT("a"), WRIT_LIT("abc"), WRIT_LIT("")};
    static const struct {
        const char *name;
        size_t want;
    } cases[] = {
        {"b", 0}, {"", 1}, {"ab", 2}, {"a", 4}, {"abc", 5}, {"c", 7}, {"A", 7}, {"aba", 7}};
    struct writ_arena *arena = writ_arena_new(SIZE_MAX);
    struct writ_names names = {0};

    ck_assert_uint_eq(writ_names_find(&names, WRIT_LIT("b")), 0); /* none: there are none */
    ck_assert_ok(writ_names_make(&names, list, sizeof list / sizeof *list, arena));
    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        ck_assert_uint_eq(writ_names_find(&names, writ_view_str(cases[at].name)), cases[at].want);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(names_orders_differ_where_utf_16_differs)
{
    const struct writ_view astral = WRIT_LIT("\xf0\x90\x80\x80"), high = WRIT_LIT("\xee\x80\x80");

    ck_assert_int_gt(writ_names_by_bytes(&astral, &high), 0);
    ck_assert_int_lt(writ_names_by_units(&astral, &high), 0);
}
END_TEST

START_TEST(names_without_memory_are_unchanged)
{
    const struct writ_view list[] = {WRIT_LIT("a")};
    struct writ_arena *arena = writ_arena_new(1);
    struct writ_names names = {0};

    ck_assert_code(writ_names_make(&names, list, 1, arena), WRIT_E_NOMEM);
    ck_assert_uint_eq(names.n, 0);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("names", names_find_gives_the_first_occurrence,
    names_orders_differ_where_utf_16_differs, names_without_memory_are_unchanged)
