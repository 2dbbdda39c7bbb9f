/* Edits of a client's file: the text around them stays byte for byte, comments too. */
#include "support/unit.h"

#include "gateway/discover/client_text.h"

#define MEMORY ((size_t)64 << 20)

struct edit {
    const char *before, *path, *value, *after;
};

/* "a/b" */
static struct writ_client_path
path_of(const char *text, struct writ_view names[4])
{
    struct writ_view rest = writ_view_str(text);
    struct writ_client_path path = {names, 0};

    while (rest.len > 0) {
        size_t slash = writ_view_find(rest, '/');
        names[path.n++] = writ_view_sub(rest, 0, slash);
        rest = writ_view_sub(rest, slash + 1, rest.len);
    }
    return path;
}

static struct writ_buf
buf_of(const char *text)
{
    struct writ_buf buf = writ_buf_make(WRIT_CLIENT_TEXT_MAX);

    writ_buf_str(&buf, text);
    return buf;
}

static void
assert_put(const struct edit *edit)
{
    struct writ_view names[4], value;
    struct writ_client_path path = path_of(edit->path, names);
    writ_auto_buf text = buf_of(edit->before), before = buf_of(edit->after);

    ck_assert_ok(writ_client_text_put(&text, &path, writ_view_str(edit->value), NULL));
    ck_assert_view(writ_buf_view(&text), edit->after);
    ck_assert_ok(writ_client_text_put(&text, &path, writ_view_str(edit->value), NULL));
    ck_assert_view(writ_buf_view(&text), edit->after);
    ck_assert_ok(writ_client_text_get(writ_buf_view(&text), &path, &value, NULL));
    ck_assert_ptr_nonnull(value.ptr);
}

START_TEST(put_of_a_new_member_keeps_the_layout_of_the_text)
{
    static const struct edit edits[] = {
        {"", "m/w", "{\"u\":1}", "{\n  \"m\": {\n    \"w\": {\n      \"u\": 1\n    }\n  }\n}\n"},
        {"{}", "m/w", "1", "{\n  \"m\": {\n    \"w\": 1\n  }\n}"},
        {"{}\n", "w", "[]", "{\n  \"w\": []\n}\n"},
        {"{\"a\":1}", "m/w", "{\"u\":[1,\"x\"]}", "{\"a\":1, \"m\": {\"w\": {\"u\": [1, \"x\"]}}}"},
        {"{\n\t\"a\": 1\n}\n", "b", "{\"c\":2}",
            "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": 2\n\t}\n}\n"},
        {"{\r\n    \"m\": {\r\n    }\r\n}\r\n", "m/w", "1",
            "{\r\n    \"m\": {\r\n        \"w\": 1\r\n    }\r\n}\r\n"},
        {"{\n  \"m\": {\"x\": 1}\n}", "m/w", "{\"u\":2}",
            "{\n  \"m\": {\"x\": 1, \"w\": {\"u\": 2}}\n}"},
        {"\xef\xbb\xbf{\n  \"m\": {}\n}", "m/w", "1",
            "\xef\xbb\xbf{\n  \"m\": {\n    \"w\": 1\n  }\n}"},
        {"{\n  // who\n  \"a\": 1, // why\n}\n", "b", "2",
            "{\n  // who\n  \"a\": 1, // why\n  \"b\": 2\n}\n"},
        {"{\n  \"a\": 1 // why, \"b\": 7\n  /* } */\n}\n", "b", "2",
            "{\n  \"a\": 1, // why, \"b\": 7\n  /* } */\n  \"b\": 2\n}\n"},
        {"{\n  \"m\": { // none\n  }\n}\n", "m/w", "1",
            "{\n  \"m\": { // none\n    \"w\": 1\n  }\n}\n"},
        {"// mine", "a", "1", "// mine\n{\n  \"a\": 1\n}\n"},
        {"{\n  \"a\\u0062\": {\"}\": \"//\"}\n}", "ab/c", "1",
            "{\n  \"a\\u0062\": {\"}\": \"//\", \"c\": 1}\n}"},
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        assert_put(&edits[i]);
    }
}
END_TEST

START_TEST(put_of_a_member_that_is_there_replaces_its_value_alone)
{
    static const struct edit edits[] = {
        {"{\n  \"m\": {\n    \"w\": {\"old\": [1, 2]}, // mine\n    \"x\": 1\n  }\n}\n", "m/w",
            "{\"u\":\"a\"}",
            "{\n  \"m\": {\n    \"w\": {\n      \"u\": \"a\"\n    }, // mine\n    \"x\": 1\n  "
            "}\n}\n"},
        {"{\"a\":7,\"b\":8}", "a", "{\"c\":null}", "{\"a\":{\"c\": null},\"b\":8}"},
        {"{\"a\" : -1.5e3 }", "a", "true", "{\"a\" : true }"},
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        assert_put(&edits[i]);
    }
}
END_TEST

START_TEST(remove_takes_the_comma_and_the_line)
{
    static const struct edit edits[] = {
        {"{\n  \"a\": 1,\n  \"b\": 2\n}", "b", NULL, "{\n  \"a\": 1\n}"},
        {"{\n  \"a\": 1,\n  \"b\": 2\n}", "a", NULL, "{\n  \"b\": 2\n}"},
        {"{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "b", NULL, "{\n  \"a\": 1,\n  \"c\": 3\n}"},
        {"{\"a\":1, \"b\":2}", "b", NULL, "{\"a\":1}"},
        {"{\"a\":1,\"b\":2}", "a", NULL, "{\"b\":2}"},
        {"{\"a\":1}", "a", NULL, "{}"},
        {"{\n  \"a\": 1,\n}", "a", NULL, "{\n}"},
        {"{\n  \"a\": 1, // why\n  \"b\": 2, // , \"b\"\n}", "b", NULL,
            "{\n  \"a\": 1 // why\n  , // , \"b\"\n}"},
        {"{\n  \"a\": 1 /*,*/ , // why\n  \"b\": 2 }", "b", NULL,
            "{\n  \"a\": 1 /*,*/  // why\n   }"},
        {"{\"m\":{\"a\":1,\"w\":{\"x\":[{}]}}}", "m/w", NULL, "{\"m\":{\"a\":1}}"},
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_view names[4], value;
        struct writ_client_path path = path_of(edits[i].path, names);
        writ_auto_buf text = buf_of(edits[i].before);

        ck_assert_ok(writ_client_text_remove(&text, &path, NULL));
        ck_assert_view(writ_buf_view(&text), edits[i].after);
        ck_assert_ok(writ_client_text_get(writ_buf_view(&text), &path, &value, NULL));
        ck_assert_ptr_null(value.ptr);
        ck_assert_code(writ_client_text_remove(&text, &path, NULL), WRIT_E_ABSENT);
        ck_assert_view(writ_buf_view(&text), edits[i].after);
    }
}
END_TEST

START_TEST(read_of_a_faulty_text_fails_with_its_line)
{
    static const struct {
        const char *text;
        enum writ_code code;
        const char *said;
    } bad[] = {{"{\n\"a\":1,\n\"a\":2}", WRIT_E_PARSE, "line 3: duplicate member name"},
        {"[]", WRIT_E_INVALID, "not a JSON object"}, {"{\n,}", WRIT_E_PARSE, "line 2: "},
        {"{\"a\":[1,,]}", WRIT_E_PARSE, "line 1: "}, {"{} /* x", WRIT_E_PARSE, "line 1: "},
        {"{\"a\":\"\xff\"}", WRIT_E_PARSE, "line 1: "}, {"{'a':1}", WRIT_E_PARSE, "line 1: "},
        {"{\"a\":,}", WRIT_E_PARSE, "line 1: "}, {"{\"a\":1,,}", WRIT_E_PARSE, "line 1: "},
        {"\"{", WRIT_E_PARSE, "line 1: "}};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        writ_auto_arena arena = writ_arena_new(MEMORY);
        writ_auto_buf text = buf_of(bad[i].text);
        struct writ_view name = WRIT_LIT("w");
        struct writ_client_path path = {&name, 1};
        const struct writ_json *root = NULL;
        struct writ_err err = {{0}, 0, 0};

        ck_assert_code(
            writ_client_text_read(writ_buf_view(&text), arena, &root, &err), bad[i].code);
        ck_assert_msg(writ_view_search(writ_view_str(err.text), writ_view_str(bad[i].said)) <
                          writ_view_str(err.text).len,
            "%s: %s", bad[i].text, err.text);
        ck_assert_code(writ_client_text_put(&text, &path, WRIT_LIT("1"), NULL), bad[i].code);
        ck_assert_view(writ_buf_view(&text), bad[i].text);
    }
}
END_TEST

START_TEST(put_through_a_value_that_is_not_an_object_is_refused)
{
    struct writ_view names[4];
    struct writ_client_path path = path_of("m/w", names);
    static const char *const texts[] = {"{\"m\":[]}", "{\"m\":null}", "{\"m\":\"x\"}"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_buf text = buf_of(texts[i]);

        ck_assert_code(writ_client_text_put(&text, &path, WRIT_LIT("1"), NULL), WRIT_E_INVALID);
        ck_assert_view(writ_buf_view(&text), texts[i]);
    }
}
END_TEST

START_TEST(read_accepts_a_text_of_the_most_bytes_and_none_longer)
{
    writ_auto_buf text = buf_of("{}");
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_json *root = NULL;

    while (text.len < WRIT_CLIENT_TEXT_MAX) {
        writ_buf_byte(&text, ' ');
    }
    ck_assert_ok(writ_client_text_read(writ_buf_view(&text), arena, &root, NULL));
    root = NULL;
    ck_assert_code(
        writ_client_text_read(writ_view(text.ptr, WRIT_CLIENT_TEXT_MAX + 1), arena, &root, NULL),
        WRIT_E_LIMIT);
    ck_assert_ptr_null(root);
}
END_TEST

WRIT_UNIT_MAIN("client_text", put_of_a_new_member_keeps_the_layout_of_the_text,
    put_of_a_member_that_is_there_replaces_its_value_alone, remove_takes_the_comma_and_the_line,
    read_of_a_faulty_text_fails_with_its_line, put_through_a_value_that_is_not_an_object_is_refused,
    read_accepts_a_text_of_the_most_bytes_and_none_longer)
