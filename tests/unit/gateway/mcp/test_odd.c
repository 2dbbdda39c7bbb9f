/* Kinds of oddities as bits, and what the option `definitions` makes of them. */
#include "support/unit.h"

#include "gateway/mcp/odd.h"
#include "support/evidence/value.h"

#define HIDDEN    WRIT_ODD_BIT(WRIT_ODDITY_HIDDEN)
#define LOOKALIKE WRIT_ODD_BIT(WRIT_ODDITY_LOOKALIKE)
#define REPEATS   WRIT_ODD_BIT(WRIT_ODDITY_REPEATS)
#define IMITATES  WRIT_ODD_BIT(WRIT_ODDITY_IMITATES)
#define ADDRESSES WRIT_ODD_BIT(WRIT_ODDITY_ADDRESSES)

START_TEST(of_finds_the_kinds_of_a_definition)
{
    writ_auto_arena arena = writ_value_arena();
    static const struct {
        const char *text;
        unsigned odd;
    } cases[] = {
        {"{\"name\":\"read\",\"description\":\"Reads.\"}", 0},
        {"{\"name\":\"read\",\"description\":\"Reads.\\u200b\"}", HIDDEN},
        {"{\"name\":\"r\\u0435ad\"}", LOOKALIKE},
        {"{\"name\":\"r\\u0435ad\",\"title\":\"You must.\\u202e\"}",
            HIDDEN | LOOKALIKE | ADDRESSES},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writ_view text = writ_view_str(cases[i].text);
        ck_assert_uint_eq(writ_odd_of(writ_value_of(arena, text)), cases[i].odd);
        ck_assert_uint_eq(writ_odd_of_text(text), cases[i].odd);
    }
}
END_TEST

START_TEST(of_text_that_cannot_be_read_is_odd_in_every_way)
{
    ck_assert_uint_eq(writ_odd_of_text(WRIT_LIT("{\"name\":")), HIDDEN | LOOKALIKE | ADDRESSES);
}
END_TEST

START_TEST(withheld_and_refused_follow_the_option)
{
    const struct writ_odd_config config = {.hidden = WRIT_ODD_HIDE,
        .lookalike = WRIT_ODD_REFUSE,
        .repeats = WRIT_ODD_HIDE,
        .imitates = WRIT_ODD_TELL,
        .addresses = WRIT_ODD_TELL};
    const struct writ_odd_config zero = {WRIT_ODD_REFUSE};
    const unsigned all = HIDDEN | LOOKALIKE | REPEATS | IMITATES | ADDRESSES;

    ck_assert_uint_eq(writ_odd_withheld(&config, all, false), HIDDEN | LOOKALIKE | REPEATS);
    ck_assert_uint_eq(writ_odd_withheld(&config, all, true), HIDDEN | LOOKALIKE);
    ck_assert_uint_eq(writ_odd_refused(&config, all), LOOKALIKE);
    ck_assert_uint_eq(writ_odd_withheld(&config, IMITATES | ADDRESSES, false), 0);
    ck_assert_uint_eq(writ_odd_withheld(&zero, REPEATS, true), REPEATS); /* refuse is for all */
    ck_assert_uint_eq(writ_odd_refused(&zero, all), all);
    ck_assert_uint_eq(writ_odd_refused(&zero, 0), 0);
}
END_TEST

START_TEST(put_names_the_kinds)
{
    writ_auto_buf text = writ_buf_make(256);

    writ_odd_put(&text, 0);
    ck_assert_uint_eq(text.len, 0);
    writ_odd_put(&text, HIDDEN | ADDRESSES);
    ck_assert(writ_view_is(writ_buf_view(&text), "hidden, addresses"));
    ck_assert_int_eq(writ_odd_first(HIDDEN | ADDRESSES), WRIT_ODDITY_HIDDEN);
    ck_assert_int_eq(writ_odd_first(0), WRIT_ODDITY_NONE);
}
END_TEST

WRIT_UNIT_MAIN("odd", of_finds_the_kinds_of_a_definition,
    of_text_that_cannot_be_read_is_odd_in_every_way, withheld_and_refused_follow_the_option,
    put_names_the_kinds)
