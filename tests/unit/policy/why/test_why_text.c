/* why_text.h: the text around a value is cut at characters, bounded, and marked. */
#include "policy/why/why_text.h"
#include "base/utf8.h"
#include "support/evidence/value.h"
#include "support/unit.h"

#define VALUE      "DE89370400440532013000"
#define ZERO_WIDTH "\xE2\x80\x8B"
#define UMLAUT     "\xC3\xA4"
#define EMOJI      "\xF0\x9F\x98\x80"
#define ELLIPSIS   "\xE2\x80\xA6"

static struct writ_arena *arena;

/* What is found in a result, or in arguments, of that JSON. */
static struct writ_why_text
look(struct writ_view json, bool of_arguments, const char *at)
{
    struct writ_mark_key *key = NULL;
    struct writ_why_text ret = {.n = 9};
    struct writ_why_text_value value = {.at = writ_view_str(at), .ret = &ret};
    struct writ_why_text_source source = {.of_arguments = of_arguments, .values = &value, .n = 1};

    ck_assert_ok(writ_mark_key_of(WRIT_LIT("0123456789abcdef0123456789abcdef"), &key, NULL));
    source.key = key;
    ck_assert_ok(writ_mark_want(key, WRIT_LIT(VALUE), false, 16, arena, &value.wanted, NULL));
    ck_assert_ok(writ_json_read(json, &writ_json_limits_default, arena, &source.content, NULL));
    ck_assert_ok(writ_why_text_find(&source, arena, arena, NULL));
    writ_mark_key_free(key);
    return ret;
}

/* A result whose only text is `before`, n times, the value, and `after`, n times. */
static struct writ_why_text
around(const char *before, const char *after, size_t n)
{
    writ_auto_buf json = writ_buf_make(65536);

    writ_buf_str(&json, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(&json, before);
    }
    writ_buf_str(&json, " " VALUE " ");
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(&json, after);
    }
    writ_buf_str(&json, "\"}]}");
    return look(writ_buf_view(&json), false, "/content/*/text");
}

START_TEST(text_is_cut_at_characters_on_both_sides)
{
    static const char *const characters[] = {"a", UMLAUT, "\xE2\x82\xAC", EMOJI};

    arena = writ_value_arena();
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        const struct writ_why_text text = around(characters[i], characters[i], 200);
        const struct writ_why_place *place = &text.places[0];

        ck_assert_int_eq(text.state, WRIT_WHY_TEXT_SHOWN);
        ck_assert_uint_eq(text.n, 1);
        ck_assert(writ_view_is(place->value, VALUE));
        ck_assert(writ_utf8_is_valid(place->before, NULL));
        ck_assert(writ_utf8_is_valid(place->after, NULL));
        ck_assert_uint_eq(writ_utf8_points(place->before), WRIT_WHY_AROUND);
        ck_assert_uint_eq(writ_utf8_points(place->after), WRIT_WHY_AROUND);
        ck_assert(!place->starts && !place->ends);
        ck_assert(writ_view_has_prefix(place->marked, WRIT_LIT(ELLIPSIS)));
        ck_assert(writ_view_has_suffix(place->marked, WRIT_LIT(ELLIPSIS)));
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(text_that_is_whole_has_no_ellipsis)
{
    arena = writ_value_arena();
    const struct writ_why_text text = around("a", "b", 119);

    ck_assert(text.places[0].starts && text.places[0].ends);
    ck_assert_uint_eq(
        writ_view_search(text.places[0].marked, WRIT_LIT(ELLIPSIS)), text.places[0].marked.len);
    ck_assert_uint_eq(text.places[0].marks, 0);
    writ_arena_free(arena);
}
END_TEST

START_TEST(hidden_characters_do_not_push_words_away_and_are_bounded)
{
    arena = writ_value_arena();
    const struct writ_why_text some = around("pay" ZERO_WIDTH, ZERO_WIDTH "now", 30);
    const struct writ_why_text many = around(ZERO_WIDTH, ZERO_WIDTH, 3000);

    ck_assert(some.places[0].starts && some.places[0].ends);
    ck_assert_uint_eq(some.places[0].marks, 60);
    ck_assert_uint_eq(writ_utf8_points(many.places[0].before), WRIT_WHY_PIECE_MAX);
    ck_assert_uint_eq(writ_utf8_points(many.places[0].after), WRIT_WHY_PIECE_MAX);
    ck_assert(!many.places[0].starts && !many.places[0].ends);
    writ_arena_free(arena);
}
END_TEST

START_TEST(value_stands_where_the_record_says_and_nowhere_else)
{
    static const char json[] = "{\"structuredContent\":{\"a\":[{\"note\":\"to " VALUE
                               "\"},{\"note\":\"or " VALUE "\"}],\"b\":\"" VALUE "\"}}";
    struct writ_why_text text;

    arena = writ_value_arena();
    text = look(writ_view_str(json), false, "/a/*/note");
    ck_assert_uint_eq(text.n, 2);
    ck_assert(writ_view_is(text.places[1].before, "or "));
    text = look(writ_view_str(json), false, "/b");
    ck_assert_uint_eq(text.n, 1);
    ck_assert_uint_eq(text.places[0].before.len, 0);
    text = look(writ_view_str(json), false, "/c");
    ck_assert_int_eq(text.state, WRIT_WHY_TEXT_MOVED);
    ck_assert_uint_eq(text.n, 0);
    text = look(WRIT_LIT("{\"to\":[\"x\",\"" VALUE "\"]}"), true, "/to/1");
    ck_assert_int_eq(text.state, WRIT_WHY_TEXT_SHOWN);
    text = look(WRIT_LIT("{\"to\":[\"x\",\"" VALUE "\"]}"), true, "/to/0");
    ck_assert_int_eq(text.state, WRIT_WHY_TEXT_MOVED);
    writ_arena_free(arena);
}
END_TEST

START_TEST(places_of_one_value_are_bounded)
{
    static const char json[] =
        "{\"content\":[{\"text\":\"" VALUE " " VALUE "\"},{\"text\":\"" VALUE " " VALUE "\"}]}";

    arena = writ_value_arena();
    ck_assert_uint_eq(look(writ_view_str(json), false, "/content/*/text").n, WRIT_WHY_PLACES_MAX);
    writ_arena_free(arena);
}
END_TEST

START_TEST(marks_show_hidden_characters)
{
    arena = writ_value_arena();
    const struct writ_why_text text =
        look(WRIT_LIT("{\"content\":[{\"text\":\"p\xD0\xB0y\\n" ZERO_WIDTH "the IBAN " VALUE
                      "\xE2\x80\xAE\"}]}"),
            false, "/content/*/text");

    ck_assert_uint_eq(text.n, 0); /* U+202E belongs to the word: it is another value */
    const struct writ_why_text apart =
        look(WRIT_LIT("{\"content\":[{\"text\":\"p\xD0\xB0y\\n" ZERO_WIDTH "the IBAN " VALUE
                      " \xE2\x80\xAE\"}]}"),
            false, "/content/*/text");
    ck_assert(writ_view_is(
        apart.places[0].marked, "p[U+0430]\xD0\xB0y[U+000A][U+200B]the IBAN " VALUE " [U+202E]"));
    ck_assert_uint_eq(apart.places[0].marks, 4);
    writ_arena_free(arena);
}
END_TEST

START_TEST(values_of_one_result_are_found_in_one_reading)
{
    static const char json[] = "{\"a\":\"x1 and y2\",\"b\":\"y2\",\"c\":\"x1\"}";
    struct writ_why_text texts[3];
    struct writ_why_text_value values[] = {{.at = WRIT_LIT("/a"), .ret = &texts[0]},
        {.at = WRIT_LIT("/a"), .ret = &texts[1]}, {.at = WRIT_LIT("/b"), .ret = &texts[2]}};
    struct writ_why_text_source source = {.values = values, .n = 3};
    struct writ_mark_key *key = NULL;

    arena = writ_value_arena();
    ck_assert_ok(writ_mark_key_of(WRIT_LIT("0123456789abcdef0123456789abcdef"), &key, NULL));
    ck_assert_ok(writ_mark_want(key, WRIT_LIT("x1"), false, 16, arena, &values[0].wanted, NULL));
    ck_assert_ok(writ_mark_want(key, WRIT_LIT("y2"), false, 16, arena, &values[1].wanted, NULL));
    values[2].wanted = values[0].wanted;
    ck_assert_ok(writ_json_read(
        writ_view_str(json), &writ_json_limits_default, arena, &source.content, NULL));
    source.key = key;
    for (int of_arguments = 0; of_arguments < 2; of_arguments++) {
        source.of_arguments = of_arguments == 1;
        ck_assert_ok(writ_why_text_find(&source, arena, arena, NULL));
        ck_assert_uint_eq(texts[0].n, 1);
        ck_assert(writ_view_is(texts[0].places[0].after, " and y2"));
        ck_assert_uint_eq(texts[1].n, 1);
        ck_assert(writ_view_is(texts[1].places[0].before, "x1 and "));
        ck_assert_int_eq(texts[2].state, WRIT_WHY_TEXT_MOVED);
    }
    writ_mark_key_free(key);
    writ_arena_free(arena);
}
END_TEST

START_TEST(text_that_is_too_long_is_said_beside_shorter_ones)
{
    const size_t most = (size_t)4 << 20;
    writ_auto_buf json = writ_buf_make(most + 4096);
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_mark_key *key = NULL;
    struct writ_why_text text;
    struct writ_why_text_value value = {.at = WRIT_LIT("/a/*"), .ret = &text};
    struct writ_why_text_source source = {.values = &value, .n = 1};

    arena = writ_arena_new(4 * most);
    writ_buf_str(&json, "{\"a\":[\"");
    for (size_t i = 0; i <= most; i++) {
        writ_buf_byte(&json, 'x');
    }
    writ_buf_str(&json, "\",\"" VALUE "\"],\"b\":0}");
    limits.bytes = limits.string_bytes = 2 * most;
    ck_assert_ok(writ_json_read(writ_buf_view(&json), &limits, arena, &source.content, NULL));
    ck_assert_ok(writ_mark_key_of(WRIT_LIT("0123456789abcdef0123456789abcdef"), &key, NULL));
    source.key = key;
    ck_assert_ok(writ_mark_want(key, WRIT_LIT(VALUE), false, 16, arena, &value.wanted, NULL));
    ck_assert_ok(writ_why_text_find(&source, arena, arena, NULL));
    ck_assert_int_eq(text.state, WRIT_WHY_TEXT_SHOWN);
    ck_assert_ok(writ_mark_want(key, WRIT_LIT("other"), false, 16, arena, &value.wanted, NULL));
    ck_assert_ok(writ_why_text_find(&source, arena, arena, NULL));
    ck_assert_int_eq(text.state, WRIT_WHY_TEXT_TOO_LARGE);
    writ_mark_key_free(key);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("why_text", values_of_one_result_are_found_in_one_reading,
    text_that_is_too_long_is_said_beside_shorter_ones, text_is_cut_at_characters_on_both_sides,
    text_that_is_whole_has_no_ellipsis, hidden_characters_do_not_push_words_away_and_are_bounded,
    value_stands_where_the_record_says_and_nowhere_else, places_of_one_value_are_bounded,
    marks_show_hidden_characters)
