/* The differences between two JSON values, as lines for a terminal. Each difference has its line,
 * and no text can send a control sequence or hide a character. */
#include "support/unit.h"

#include "evidence/json/difference.h"

static struct writ_arena *arena;

static const struct writ_json *
value_of(const char *text)
{
    const struct writ_json *value = NULL;

    if (text == NULL) {
        return NULL;
    }
    ck_assert_ok(
        writ_json_read(writ_view_str(text), &writ_json_limits_default, arena, &value, NULL));
    return value;
}

static void
setup(void)
{
    arena = writ_arena_new((size_t)16 << 20);
    ck_assert_ptr_nonnull(arena);
}

START_TEST(difference_has_a_line_for_every_change)
{
    static const struct {
        const char *before, *after, *want;
    } cases[] = {
        {"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", ""},
        {"1", "1.0", ""},
        {"[9223372036854775807]", "[9223372036854775807.0]", ""},
        {"[9223372036854775807]", "[9223372036854775806]",
            "~ /0 9223372036854775807 -> 9223372036854775806\n"},
        {"[0.1]", "[0.10000000000000001]", "~ /0 0.1 -> 0.10000000000000001\n"},
        {"{\"a\":1}", "{\"a\":2}", "~ /a 1 -> 2\n"},
        {"{}", "{\"x\":{\"y\":[true,null]}}", "+ /x {\"y\":[true,null]}\n"},
        {"{\"x\":\"t\"}", "{}", "- /x \"t\"\n"},
        {"{\"a/b\":{\"c~d\":1}}", "{\"a/b\":{\"c~d\":2}}", "~ /a~1b/c~0d 1 -> 2\n"},
        {"[1,2,3]", "[1,4]", "~ /1 2 -> 4\n- /2 3\n"},
        {"[]", "{}", "~  [] -> {}\n"},
        {"{\"b\":1,\"c\":1}", "{\"a\":1,\"c\":2}", "+ /a 1\n- /b 1\n~ /c 1 -> 2\n"},
        {NULL, "{\"a\":1}", "+  {\"a\":1}\n"},
        {"{\"a\":1}", NULL, "-  {\"a\":1}\n"},
        {NULL, NULL, ""},
    };

    setup();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf got = writ_buf_make(65536);
        size_t lines = 0;
        size_t n = writ_difference_put(
            value_of(cases[i].before), value_of(cases[i].after), WRIT_DIFFERENCE_TEXT_MAX, &got);
        for (size_t c = 0; c < got.len; c++) {
            lines += got.ptr[c] == '\n';
        }
        ck_assert_view(writ_buf_view(&got), cases[i].want);
        ck_assert_uint_eq(n, lines);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(difference_escapes_control_sequences)
{
    writ_auto_buf got = writ_buf_make(65536);

    setup();
    (void)writ_difference_put(value_of("{\"a\":\"x\"}"),
        value_of("{\"a\":\"\\u001b[2J\\u202e\\n\",\"\\u001b\\n\":{\"k\":\"\\u009b\"}}"),
        WRIT_DIFFERENCE_TEXT_MAX, &got);
    for (size_t i = 0; i < got.len; i++) {
        unsigned char c = (unsigned char)got.ptr[i];
        ck_assert_msg((c >= 0x20 && c <= 0x7e) || (c == '\n' && i > 0), "byte %02x", c);
    }
    ck_assert_uint_eq(writ_view_find(writ_buf_view(&got), '\n') < got.len, 1);
    writ_arena_free(arena);
}
END_TEST

START_TEST(difference_shows_hidden_characters_by_number)
{
    static const struct {
        const char *after, *want;
    } cases[] = {
        {"\"a\\u200bb\"", "+  \"a\\u200bb\"\n"},
        {"\"\xf3\xa0\x81\x81\"", "+  \"\\u{e0041}\"\n"},
        {"[\"\xef\xb8\x8f\xc2\xa0\"]", "+  [\"\\ufe0f\\u00a0\"]\n"},
        {"\"\xc3\xa9\"", "+  \"\xc3\xa9\"\n"},
    };

    setup();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf got = writ_buf_make(65536);
        (void)writ_difference_put(NULL, value_of(cases[i].after), SIZE_MAX, &got);
        ck_assert_view(writ_buf_view(&got), cases[i].want);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(difference_cuts_long_values)
{
    writ_auto_buf text = writ_buf_make(65536);
    writ_auto_buf cut = writ_buf_make(65536), whole = writ_buf_make(65536);

    setup();
    writ_buf_str(&text, "{\"a\":[\"");
    for (size_t i = 0; i < 3000; i++) {
        writ_buf_byte(&text, 'x');
    }
    writ_buf_str(&text, "y\"]}");
    writ_buf_byte(&text, '\0');
    ck_assert_uint_eq(writ_difference_put(NULL, value_of(text.ptr), 1011, &cut), 1);
    ck_assert(writ_view_has_suffix(writ_buf_view(&cut), WRIT_LIT("x... (2000 bytes more)\n")));
    ck_assert_uint_eq(writ_difference_put(NULL, value_of(text.ptr), SIZE_MAX, &whole), 1);
    ck_assert(writ_view_has_suffix(writ_buf_view(&whole), WRIT_LIT("xy\"]}\n")));
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("difference", difference_has_a_line_for_every_change,
    difference_escapes_control_sequences, difference_shows_hidden_characters_by_number,
    difference_cuts_long_values)
