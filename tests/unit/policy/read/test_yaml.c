/* The reader of YAML. It gives texts with lines and pointers, resolves nothing, and refuses what
 * exceeds its limits. */
#include "policy/read/yaml.h"
#include "support/unit.h"
#include "support/evidence/value.h"

static const struct writ_yaml untouched;

/* Reads, and gives the findings as they are printed. */
static writ_result
read_text(struct writ_view text, struct writ_arena *arena, const struct writ_yaml **ret,
    struct writ_buf *found)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    writ_result result = writ_yaml_read(text, arena, &findings, ret);

    writ_findings_put(&findings, WRIT_LIT("f"), found);
    return result;
}

static const struct writ_yaml *
good(const char *text, struct writ_arena *arena)
{
    writ_auto_buf found = writ_buf_make(1 << 16);
    const struct writ_yaml *root = NULL;

    ck_assert_ok(read_text(writ_view_str(text), arena, &root, &found));
    ck_assert_view(writ_buf_view(&found), "");
    return root;
}

static const struct writ_yaml *
at(const struct writ_yaml *map, const char *key)
{
    const struct writ_yaml *node = writ_yaml_get(map, writ_view_str(key));

    ck_assert_ptr_nonnull(node);
    return node;
}

START_TEST(yaml_read_gives_texts_lines_and_pointers)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_yaml *root = good("a: 1\nb:\n  - x\n  - {c/d: \"y z\", e~f: 'no'}\n", arena);
    const struct writ_yaml *map = at(root, "b")->first->next;
    writ_auto_buf pointer = writ_buf_make(100);

    ck_assert_int_eq(root->type, WRIT_YAML_MAP);
    ck_assert_uint_eq(root->count, 2);
    ck_assert_view(at(root, "a")->text, "1");
    ck_assert(at(root, "a")->plain);
    ck_assert_view(at(map, "c/d")->text, "y z");
    ck_assert(!at(map, "e~f")->plain);
    ck_assert_uint_eq(at(map, "c/d")->line, 4);
    writ_yaml_pointer(at(map, "c/d"), &pointer);
    writ_buf_byte(&pointer, ' ');
    writ_yaml_pointer(at(map, "e~f"), &pointer);
    ck_assert_view(writ_buf_view(&pointer), "/b/1/c~1d /b/1/e~0f");
}
END_TEST

START_TEST(yaml_read_accepts_json)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_yaml *root = good(
        "{\n\t\"a\": [1, true, null, \"x\\n\\u00e9\\/\"],\n\t\"b\": {\"c\": -1.5e3}\n}\n", arena);

    ck_assert_uint_eq(at(root, "a")->count, 4);
    ck_assert_view(at(root, "a")->last->text, "x\n\xc3\xa9/");
    ck_assert_view(at(at(root, "b"), "c")->text, "-1.5e3");
}
END_TEST

START_TEST(strict_json_is_read_by_its_own_rules)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_yaml *root =
        good("{\n \"a\": \"\\ud83d\\ude00\",\n \"<<\": [\"\xe2\x80\xa8 x\",\n  {\"b\": 1.50,\n"
             "   \"c\": null}], \"d\": {}}\n",
            arena);
    const struct writ_yaml *inner = at(root, "<<")->last;
    writ_auto_buf pointer = writ_buf_make(100);

    ck_assert_view(at(root, "a")->text, "\xf0\x9f\x98\x80");
    ck_assert(!at(root, "a")->plain);
    ck_assert_uint_eq(at(root, "a")->key_line, 2);
    ck_assert_view(at(root, "<<")->first->text, "\xe2\x80\xa8 x");
    ck_assert_uint_eq(at(root, "<<")->key_line, 3);
    ck_assert_uint_eq(inner->line, 4);
    ck_assert_view(at(inner, "b")->text, "1.50");
    ck_assert(at(inner, "b")->plain);
    ck_assert_uint_eq(at(inner, "c")->key_line, 5);
    ck_assert_view(at(inner, "c")->text, "null");
    ck_assert_uint_eq(at(root, "d")->count, 0);
    writ_yaml_pointer(at(inner, "c"), &pointer);
    ck_assert_view(writ_buf_view(&pointer), "/<</1/c");
}
END_TEST

START_TEST(yaml_from_json_of_no_strict_json_leaves_it_to_yaml)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_yaml *root = &untouched;

    ck_assert(!writ_yaml_from_json(WRIT_LIT("{a: b}"), arena, &root));
    ck_assert(!writ_yaml_from_json(WRIT_LIT("{\"a\": 1, \"a\": 2}"), arena, &root));
    ck_assert_ptr_eq(root, &untouched);
    ck_assert_view(at(good("{a: b, }\n", arena), "a")->text, "b");
}
END_TEST

START_TEST(yaml_read_resolves_no_scalar)
{
    static const char *const texts[] = {"no", "on", "yes", "~", "null", "0x10", "010", "1_000",
        "12:30", "1e3", ".inf", "2026-01-01"};
    writ_auto_arena arena = writ_value_arena();

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_buf text = writ_buf_make(100);
        writ_buf_fmt(&text, "a: %s\n", texts[i]);
        writ_buf_byte(&text, '\0');
        ck_assert_view(at(good(text.ptr, arena), "a")->text, texts[i]);
    }
}
END_TEST

START_TEST(yaml_read_skips_a_byte_order_mark)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_view(at(good("\xef\xbb\xbf"
                           "a: b\n",
                          arena),
                       "a")
                       ->text,
        "b");
}
END_TEST

START_TEST(yaml_is_empty_of_an_absent_value_is_true)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_yaml *root = good("a:\nb: ''\nc: []\n", arena);

    ck_assert(writ_yaml_is_empty(at(root, "a")));
    ck_assert(!writ_yaml_is_empty(at(root, "b")));
    ck_assert_str_eq(writ_yaml_type_name(at(root, "a")), "nothing");
    ck_assert_str_eq(writ_yaml_type_name(at(root, "b")), "a text");
    ck_assert_str_eq(writ_yaml_type_name(at(root, "c")), "a list");
    ck_assert_str_eq(writ_yaml_type_name(root), "a map");
}
END_TEST

START_TEST(yaml_get_from_no_map_is_null)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_yaml *root = good("a: [b]\n", arena);

    ck_assert_ptr_null(writ_yaml_get(NULL, WRIT_LIT("a")));
    ck_assert_ptr_null(writ_yaml_get(at(root, "a"), WRIT_LIT("b")));
    ck_assert_ptr_null(writ_yaml_get(root, WRIT_LIT("A")));
}
END_TEST

struct fault {
    const char *text, *found;
};

/* Faults that stop the reading. */
static const struct fault fatal[] = {
    {"", "f: the file is empty\n"},
    {"# a comment\n", "f: the file is empty\n"},
    {"a: 1\n---\nb: 2\n", "f:2: a second document: one file holds one\n"},
    {"[a]: b\n", "f:1: a key must be a text\n"},
    {"? {a: b}\n: c\n", "f:1: a key must be a text\n"},
    {"a: &x 1\n*x : 2\n", "f:1: /a: anchors (&name) are not supported: write the value out\n"
                          "f:2: aliases (*name) are not supported\n"},
    {"a: [1\n", "f:2: not readable as YAML: did not find expected ',' or ']', while parsing a flow "
                "sequence\n"},
    {"a: b: c\n", "f:1: not readable as YAML: mapping values are not allowed in this context\n"},
    {"a:\n\tb: c\n", "f:2: not readable as YAML: found character that cannot start any token, "
                     "while scanning for the next token (indented with a tab?)\n"},
    {"a: \"\xff\"\n", "f: not UTF-8 at byte 4\n"},
    {"a: \xed\xa0\x80\n", "f: not UTF-8 at byte 3\n"},
    {"a: \x01\n", "f: not readable as YAML: control characters are not allowed\n"},
};

START_TEST(invalid_yaml_is_reported_with_its_line)
{
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf found = writ_buf_make(1 << 16);
        const struct writ_yaml *root = &untouched;

        ck_assert_code(read_text(writ_view_str(fatal[i].text), arena, &root, &found), WRIT_E_PARSE);
        ck_assert_view(writ_buf_view(&found), fatal[i].found);
        ck_assert_ptr_eq(root, &untouched);
    }
}
END_TEST

/* Faults after which the rest of the file is still read. */
static const struct fault faults[] = {
    {"a: 1\nb: 2\na: 3\n", "f:3: /a: written twice; the first is on line 1\n"},
    {"a: 1\n\"a\": 3\n\"\\u0061\": 1\n", "f:2: /a: written twice; the first is on line 1\n"
                                         "f:3: /a: written twice; the first is on line 1\n"},
    {"a: {b: 1, b: 2, b: 3}\n", "f:1: /a/b: written twice; the first is on line 1\n"
                                "f:1: /a/b: written twice; the first is on line 1\n"},
    {"a: &x {b: 1}\nc: 2\n", "f:1: /a: anchors (&name) are not supported: write the value out\n"},
    {"a: [&x 1, *x]\n", "f:1: /a/0: anchors (&name) are not supported: write the value out\n"
                        "f:1: /a/1: aliases (*name) are not supported: write the value out\n"},
    {"a: !!int 1\n", "f:1: /a: tags (!name) are not supported\n"},
    {"a: ! 1\n", "f:1: /a: tags (!name) are not supported\n"},
    {"a: !x [1]\n", "f:1: /a: tags (!name) are not supported\n"},
    {"<<: {a: 1}\nb: 1\n", "f:1: merge keys (<<) are not supported\n"},
    {"!x a: 1\n", "f:1: anchors and tags on keys are not supported\n"},
    {"&x a: 1\n", "f:1: anchors and tags on keys are not supported\n"},
    {"?\n: 1\n", "f:1: a key is empty\n"},
};

START_TEST(reading_continues_after_a_reported_fault)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf found = writ_buf_make(1 << 16);
        const struct writ_yaml *root = NULL;

        ck_assert_ok(read_text(writ_view_str(faults[i].text), arena, &root, &found));
        ck_assert_view(writ_buf_view(&found), faults[i].found);
        ck_assert_int_eq(root->type, WRIT_YAML_MAP);
    }
}
END_TEST

START_TEST(yaml_read_of_a_duplicate_member_keeps_the_first)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf found = writ_buf_make(1 << 16);
    const struct writ_yaml *root = NULL;

    ck_assert_ok(read_text(WRIT_LIT("a: 1\nb: 2\na: 3\nc: 4\nb: 5\n"), arena, &root, &found));
    ck_assert_uint_eq(root->count, 3);
    ck_assert_view(at(root, "a")->text, "1");
    ck_assert_view(at(root, "b")->text, "2");
    ck_assert_view(root->last->text, "4");
}
END_TEST

static void
put_nested(struct writ_buf *ret, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        writ_buf_byte(ret, '[');
    }
    for (size_t i = 0; i < depth; i++) {
        writ_buf_byte(ret, ']');
    }
}

START_TEST(nesting_has_a_limit)
{
    for (size_t over = 0; over <= 1; over++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf text = writ_buf_make(1000), found = writ_buf_make(1000);
        const struct writ_yaml *root = &untouched;

        put_nested(&text, WRIT_YAML_DEPTH_MAX + over);
        ck_assert_code(
            read_text(writ_buf_view(&text), arena, &root, &found), over ? WRIT_E_LIMIT : WRIT_OK);
        ck_assert_int_eq(root == &untouched, over == 1);
    }
}
END_TEST

static void
put_elements(struct writ_buf *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, "- a\n");
    }
}

START_TEST(yaml_read_limits_the_elements_of_a_list)
{
    for (size_t over = 0; over <= 1; over++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf text = writ_buf_make(1 << 20), found = writ_buf_make(1000);
        const struct writ_yaml *root = &untouched;

        put_elements(&text, WRIT_YAML_MEMBERS_MAX + over);
        ck_assert_code(
            read_text(writ_buf_view(&text), arena, &root, &found), over ? WRIT_E_LIMIT : WRIT_OK);
    }
}
END_TEST

/* n lists of 1023 scalars each, in one list: 1024 n + 1 nodes */
static void
put_many(struct writ_buf *ret, size_t lists, size_t more)
{
    for (size_t i = 0; i < lists; i++) {
        writ_buf_str(ret, "- [0");
        for (size_t j = 1; j < 1023; j++) {
            writ_buf_str(ret, ",0");
        }
        writ_buf_str(ret, "]\n");
    }
    put_elements(ret, more);
}

START_TEST(yaml_read_limits_the_values_of_a_file)
{
    for (size_t over = 0; over <= 1; over++) {
        struct writ_arena *arena = writ_arena_new((size_t)256 << 20);
        writ_auto_buf text = writ_buf_make(4 << 20), found = writ_buf_make(1000);
        const struct writ_yaml *root = &untouched;

        put_many(&text, WRIT_YAML_NODES_MAX / 1024 - 1, 1023 + over);
        ck_assert_ok(writ_buf_check(&text, NULL));
        ck_assert_code(
            read_text(writ_buf_view(&text), arena, &root, &found), over ? WRIT_E_LIMIT : WRIT_OK);
        writ_arena_free(arena);
    }
}
END_TEST

START_TEST(yaml_read_with_an_exhausted_arena_fails)
{
    struct writ_arena *arena = writ_arena_new(1000);
    writ_auto_buf found = writ_buf_make(1000);
    const struct writ_yaml *root = &untouched;

    ck_assert_code(read_text(WRIT_LIT("[a, b, c, d, e, f, g, h, i, j, k]\n"), arena, &root, &found),
        WRIT_E_NOMEM);
    ck_assert_ptr_eq(root, &untouched);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("yaml", yaml_read_gives_texts_lines_and_pointers, yaml_read_accepts_json,
    strict_json_is_read_by_its_own_rules, yaml_from_json_of_no_strict_json_leaves_it_to_yaml,
    yaml_read_resolves_no_scalar, yaml_read_skips_a_byte_order_mark,
    yaml_is_empty_of_an_absent_value_is_true, yaml_get_from_no_map_is_null,
    invalid_yaml_is_reported_with_its_line, reading_continues_after_a_reported_fault,
    yaml_read_of_a_duplicate_member_keeps_the_first, nesting_has_a_limit,
    yaml_read_limits_the_elements_of_a_list, yaml_read_limits_the_values_of_a_file,
    yaml_read_with_an_exhausted_arena_fails)
