/* find.h: the places of a value are the parts of the text whose words its marks are of. */
#include "evidence/flow/find.h"
#include "support/evidence/value.h"
#include "support/unit.h"

static struct writ_mark_key *key;
static struct writ_find *find;

static void
set_up(void)
{
    ck_assert_ok(writ_mark_key_of(WRIT_LIT("0123456789abcdef0123456789abcdef"), &key, NULL));
    ck_assert_ok(writ_find_new(key, &find, NULL));
}

static void
tear_down(void)
{
    writ_find_free(find);
    writ_mark_key_free(key);
}

/* The places, between bars. */
static void
expect(const char *text, const char *value, bool host, const char *places)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf found = writ_buf_make(1024);
    struct writ_view ret[3];
    struct writ_mark_wanted wanted;
    size_t n;

    ck_assert_ok(writ_mark_want(key, writ_view_str(value), host, 16, arena, &wanted, NULL));
    ck_assert_ok(writ_find_read(find, writ_view_str(text), NULL));
    n = writ_find_value(find, &wanted, 3, ret);
    ck_assert_uint_le(n, 3);
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(&found, i > 0 ? "|" : "");
        writ_buf_put(&found, ret[i]);
    }
    ck_assert_msg(writ_view_is(writ_buf_view(&found), places), "%s in %s: " WRIT_VIEW_FMT, value,
        text, WRIT_VIEW_ARG(writ_buf_view(&found)));
}

START_TEST(value_is_found_as_it_stands_in_the_text)
{
    set_up();
    expect("", "a1", false, "");
    expect("pay a1, then", "a1", false, "a1");
    expect("pay (a1). a2", "a1", false, "a1");
    expect("to 'EVE@Evil.example'!", "eve@evil.example", false, "EVE@Evil.example");
    expect("about $98.70 now", "98.7", false, "$98.70");
    expect("see https://a.example/x%20y", "a.example/x%20y", false, "https://a.example/x%20y");
    expect("to Ada,  Lovelace now", "Ada Lovelace", false, "Ada,  Lovelace");
    expect("pay a1", "a2", false, "");
    expect("p\xD0\xB0y", "pay", false, "");
    tear_down();
}
END_TEST

START_TEST(account_is_found_in_groups_and_in_one_piece)
{
    set_up();
    expect("to DE89 3704 0044 0532 0130 00, please", "DE89370400440532013000", false,
        "DE89 3704 0044 0532 0130 00");
    expect("to DE89370400440532013000.", "DE89 3704 0044 0532 0130 00", false,
        "DE89370400440532013000");
    expect("card 1234-5678-9012-3456", "1234567890123456", false, "1234-5678-9012-3456");
    tear_down();
}
END_TEST

START_TEST(host_is_found_in_the_address_around_it)
{
    set_up();
    expect("ask eve@evil.example or https://evil.example/a", "https://evil.example", true,
        "eve@evil.example|https://evil.example/a");
    tear_down();
}
END_TEST

START_TEST(first_places_are_found_in_their_order)
{
    set_up();
    expect("a1 a1 b a1 a1", "a1", false, "a1|a1|a1");
    expect("a1 a1 a1 a1 a1", "a1 a1", false, "a1 a1|a1 a1");
    tear_down();
}
END_TEST

START_TEST(text_that_is_too_long_is_refused_and_forgets_the_one_before)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_mark_wanted wanted;
    struct writ_view ret[1];

    set_up();
    ck_assert_ok(writ_mark_want(key, WRIT_LIT("a1"), false, 16, arena, &wanted, NULL));
    ck_assert_ok(writ_find_read(find, WRIT_LIT("pay a1"), NULL));
    ck_assert_uint_eq(writ_find_value(find, &wanted, 1, ret), 1);
    ck_assert_int_eq(
        writ_find_read(find, writ_view("a", WRIT_FIND_TEXT_MAX + 1), NULL).code, WRIT_E_LIMIT);
    ck_assert_uint_eq(writ_find_value(find, &wanted, 1, ret), 0);
    tear_down();
}
END_TEST

START_TEST(one_reading_finds_several_values)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_mark_wanted first, second;
    struct writ_view ret[3];

    set_up();
    ck_assert_ok(writ_mark_want(key, WRIT_LIT("a1"), false, 16, arena, &first, NULL));
    ck_assert_ok(writ_mark_want(key, WRIT_LIT("b2"), false, 16, arena, &second, NULL));
    ck_assert_ok(writ_find_read(find, WRIT_LIT("b2 a1 b2"), NULL));
    ck_assert_uint_eq(writ_find_value(find, &first, 3, ret), 1);
    ck_assert_uint_eq(writ_find_value(find, &second, 3, ret), 2);
    ck_assert_uint_eq(writ_find_value(find, &first, 3, ret), 1);
    tear_down();
}
END_TEST

WRIT_UNIT_MAIN("find", value_is_found_as_it_stands_in_the_text,
    account_is_found_in_groups_and_in_one_piece, host_is_found_in_the_address_around_it,
    first_places_are_found_in_their_order,
    text_that_is_too_long_is_refused_and_forgets_the_one_before, one_reading_finds_several_values)
