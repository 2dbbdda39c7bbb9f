/* jsonschema.h beside the official suite (conformance/test_jsonschema.c): faults, limits, formats,
 * and what is refused. */
#include "policy/schema/jsonschema.h"
#include "support/evidence/value.h"
#include "support/unit.h"

static struct writ_jsonschema *
compiled(const char *text, enum writ_jsonschema_formats formats)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jsonschema *schema = NULL;
    struct writ_err err = {0};
    writ_result r =
        writ_jsonschema_new(writ_value_of(arena, writ_view_str(text)), formats, &schema, &err);

    ck_assert_msg(writ_is_ok(r), "%s: %s", text, err.text);
    return schema;
}

static enum writ_jsonschema_answer
answer(const struct writ_jsonschema *schema, const char *value, struct writ_jsonschema_fault *fault)
{
    struct writ_arena *arena = writ_values_arena();

    return writ_jsonschema_check(schema, writ_value_of(arena, writ_view_str(value)), arena, fault);
}

START_TEST(fault_names_place_and_keyword)
{
    static const struct {
        const char *schema, *value, *place, *keyword;
    } rows[] = {
        {"{\"type\":\"object\"}", "1", "", "type"},
        {"{\"properties\":{\"a\":{\"items\":{\"maxLength\":2}}}}", "{\"a\":[\"x\",\"long\"]}",
            "/a/1", "maxLength"},
        {"{\"required\":[\"a\"]}", "{}", "", "required"},
        {"{\"additionalProperties\":false}", "{\"secret\":1}", "", "additionalProperties"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", "3", "", "anyOf"},
        {"{\"properties\":{\"a/b\":false}}", "{\"a/b\":1}", "/a~1b", "false"},
        {"{\"properties\":{\"n\":{\"multipleOf\":0.01}}}", "{\"n\":0.001}", "/n", "multipleOf"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writ_jsonschema *schema = compiled(rows[i].schema, WRIT_JSONSCHEMA_FORMATS_ANNOTATE);
        struct writ_jsonschema_fault fault = {{NULL, 0}, {NULL, 0}};
        ck_assert_int_eq(answer(schema, rows[i].value, &fault), WRIT_JSONSCHEMA_NO);
        ck_assert_view(fault.place, rows[i].place);
        ck_assert_view(fault.keyword, rows[i].keyword);
        writ_jsonschema_free(schema);
    }
}
END_TEST

START_TEST(schema_with_a_mistake_is_refused)
{
    static const char *const refused[] = {"1", "\"a\"", "null", "[]", "{\"type\":\"strng\"}",
        "{\"type\":[]}", "{\"minLength\":-1}", "{\"minLength\":1.5}", "{\"multipleOf\":0}",
        "{\"required\":\"a\"}", "{\"enum\":1}", "{\"allOf\":[]}", "{\"properties\":[]}",
        "{\"pattern\":\"(\"}", "{\"pattern\":\"(a)\\\\1\"}", "{\"$ref\":\"#/nowhere\"}",
        "{\"$ref\":\"https://example.org/schema\"}", "{\"$ref\":\"file:///etc/passwd\"}",
        "{\"$ref\":\"#missing\"}", "{\"$ref\":\"#/properties/a\",\"properties\":{\"a\":1}}",
        "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "{\"items\":[{}]}",
        "{\"dependencies\":{}}", "{\"uniqueItems\":1}"};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct writ_jsonschema *schema = NULL;
        struct writ_err err = {0};
        writ_result r = writ_jsonschema_new(
            writ_values_json(refused[i]), WRIT_JSONSCHEMA_FORMATS_ANNOTATE, &schema, &err);
        ck_assert_msg(r.code == WRIT_E_INVALID, "%s: %s", refused[i], writ_code_name(r.code));
        ck_assert_ptr_null(schema);
        ck_assert_str_ne(err.text, "");
    }
}
END_TEST

START_TEST(endless_references_have_no_answer)
{
    static const char *const endless[] = {"{\"$ref\":\"#\"}",
        "{\"allOf\":[{\"$ref\":\"#/$defs/b\"}],\"$defs\":{\"b\":{\"$ref\":\"#\"}}}",
        "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}"};

    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        struct writ_jsonschema *schema = compiled(endless[i], WRIT_JSONSCHEMA_FORMATS_ANNOTATE);
        ck_assert_int_eq(answer(schema, "1", NULL), WRIT_JSONSCHEMA_LIMIT);
        writ_jsonschema_free(schema);
    }
}
END_TEST

/* 2^40 ways without a limit. */
START_TEST(check_ends_after_its_steps)
{
    struct writ_jsonschema *schema =
        compiled("{\"$ref\":\"#/$defs/a\",\"$defs\":{"
                 "\"a\":{\"oneOf\":[{\"items\":{\"$ref\":\"#/$defs/a\"}},{\"items\":{\"$ref\":"
                 "\"#/$defs/a\"}}]}}}",
            WRIT_JSONSCHEMA_FORMATS_ANNOTATE);
    writ_auto_buf deep = writ_buf_make(256);

    for (int i = 0; i < 40; i++) {
        writ_buf_byte(&deep, '[');
    }
    for (int i = 0; i < 40; i++) {
        writ_buf_byte(&deep, ']');
    }
    writ_buf_byte(&deep, '\0');
    ck_assert_int_eq(answer(schema, deep.ptr, NULL), WRIT_JSONSCHEMA_LIMIT);
    writ_jsonschema_free(schema);
}
END_TEST

START_TEST(numbers_are_compared_as_they_are_written)
{
    struct writ_jsonschema *schema =
        compiled("{\"maximum\":100,\"multipleOf\":0.1}", WRIT_JSONSCHEMA_FORMATS_ANNOTATE);

    ck_assert_int_eq(answer(schema, "100.0", NULL), WRIT_JSONSCHEMA_YES);
    ck_assert_int_eq(answer(schema, "99.7", NULL), WRIT_JSONSCHEMA_YES);
    ck_assert_int_eq(answer(schema, "99.75", NULL), WRIT_JSONSCHEMA_NO);
    ck_assert_int_eq(answer(schema, "100.0000000000000000001", NULL), WRIT_JSONSCHEMA_NO);
    ck_assert_int_eq(
        answer(schema, "0.12345678901234567890123456789012345", NULL), WRIT_JSONSCHEMA_LIMIT);
    writ_jsonschema_free(schema);
}
END_TEST

/* A tool of an SDK says draft-07, and means the same. */
START_TEST(draft_07_is_taken_where_it_means_the_same)
{
    struct writ_jsonschema *schema =
        compiled("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\","
                 "\"properties\":{\"a\":{\"$ref\":\"#/definitions/n\",\"minimum\":9}},"
                 "\"definitions\":{\"n\":{\"type\":\"integer\"}}}",
            WRIT_JSONSCHEMA_FORMATS_ANNOTATE);

    ck_assert_int_eq(answer(schema, "{\"a\":1}", NULL), WRIT_JSONSCHEMA_YES);
    ck_assert_int_eq(answer(schema, "{\"a\":\"1\"}", NULL), WRIT_JSONSCHEMA_NO);
    writ_jsonschema_free(schema);
}
END_TEST

START_TEST(formats_are_asserted_where_that_is_asked_for)
{
    static const struct {
        const char *format, *yes[6], *no[8];
    } rows[] = {
        {"date", {"2024-02-29"}, {"2023-02-29", "2024-2-9", "2024-02-30", "20240229", ""}},
        {"time", {"12:00:00Z", "23:59:60Z", "22:59:60-01:00", "01:02:03.5+05:30"},
            {"12:00:00", "24:00:00Z", "12:00:60Z", "12:00:00.Z", "1:00:00Z"}},
        {"date-time", {"2024-01-01T00:00:00Z", "1998-12-31t23:59:60z"},
            {"2024-01-01 00:00:00Z", "2024-01-01", "2024-01-01T00:00:00"}},
        {"email", {"ann@example.org", "a.b+c@x.y"}, {"ann", "@x.y", "a@", "a..b@x.y", ".a@x.y"}},
        {"hostname", {"example.org", "a"}, {"-a", "a-", "a..b", "a_b", "", "a."}},
        {"ipv4", {"127.0.0.1"}, {"127.0.0", "256.0.0.1", "127.0.0.01", "1.2.3.4.5"}},
        {"ipv6", {"::1", "2001:db8::ff"}, {"1", ":::", "12345::", "::1%eth0"}},
        {"uuid", {"2EB8AA08-AA98-11EA-B4AA-73B441D16380"}, {"2eb8aa08aa9811eab4aa73b441d16380"}},
        {"uri", {"https://example.org/a?b#c", "urn:a:b"}, {"/a", "a b:c", "1a:b", "http://a/\\\\"}},
        {"json-pointer", {"", "/a/0", "/a~1b"}, {"a", "/a~2"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_auto_buf text = writ_buf_make(256);
        struct writ_jsonschema *asserts, *annotates;

        writ_buf_fmt(&text, "{\"format\":\"%s\"}", rows[i].format);
        writ_buf_byte(&text, '\0');
        asserts = compiled(text.ptr, WRIT_JSONSCHEMA_FORMATS_ASSERT);
        annotates = compiled(text.ptr, WRIT_JSONSCHEMA_FORMATS_ANNOTATE);
        for (size_t k = 0; k < 6 && rows[i].yes[k] != NULL; k++) {
            writ_buf_clear(&text);
            writ_buf_fmt(&text, "\"%s\"", rows[i].yes[k]);
            writ_buf_byte(&text, '\0');
            ck_assert_msg(answer(asserts, text.ptr, NULL) == WRIT_JSONSCHEMA_YES, "%s: %s",
                rows[i].format, text.ptr);
        }
        for (size_t k = 0; k < 8 && rows[i].no[k] != NULL; k++) {
            writ_buf_clear(&text);
            writ_buf_fmt(&text, "\"%s\"", rows[i].no[k]);
            writ_buf_byte(&text, '\0');
            ck_assert_msg(answer(asserts, text.ptr, NULL) == WRIT_JSONSCHEMA_NO, "%s: %s",
                rows[i].format, text.ptr);
            ck_assert_int_eq(answer(annotates, text.ptr, NULL), WRIT_JSONSCHEMA_YES);
        }
        writ_jsonschema_free(asserts);
        writ_jsonschema_free(annotates);
    }
}
END_TEST

static void
put_place(void *to, const struct writ_trail *at)
{
    struct writ_buf *found = to;

    writ_trail_put(at, found);
    writ_buf_byte(found, ' ');
}

/* A schema of a server may have any member: only a caller that asks gets them. */
START_TEST(unknown_names_members_that_are_no_keywords)
{
    struct writ_jsonschema *schema =
        compiled("{\"maximun\":1,\"title\":\"t\",\"allOf\":[true,{\"typ\":\"string\"}],"
                 "\"properties\":{\"typ\":{\"a/b\":1}},\"enum\":[{\"typ\":1}],"
                 "\"$ref\":\"#/x-a/n\",\"x-a\":{\"n\":{\"typ\":1},\"m\":{\"typ\":1}}}",
            WRIT_JSONSCHEMA_FORMATS_ANNOTATE);
    writ_auto_buf found = writ_buf_make(256);

    writ_jsonschema_unknown(schema, put_place, &found);
    ck_assert_view(writ_buf_view(&found), "/maximun /allOf/1/typ /properties/typ/a~1b /x-a/n/typ ");
    ck_assert_int_eq(answer(schema, "{\"typ\":1}", NULL), WRIT_JSONSCHEMA_YES);
    writ_jsonschema_free(schema);
}
END_TEST

WRIT_UNIT_MAIN("jsonschema", fault_names_place_and_keyword, schema_with_a_mistake_is_refused,
    endless_references_have_no_answer, check_ends_after_its_steps,
    numbers_are_compared_as_they_are_written, draft_07_is_taken_where_it_means_the_same,
    formats_are_asserted_where_that_is_asked_for, unknown_names_members_that_are_no_keywords)
