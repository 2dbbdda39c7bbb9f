/* schema.h: the schema and the manual in the tree equal those made from the tables.
 * integration/config.test.mjs shows with a validator that the schema accepts what the reader
 * accepts. */
#include "base/text.h"
#include "policy/read/manual.h"
#include "policy/read/schema.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define PAGE_MAX (1 << 20)

static void
assert_file(const char *path, WRIT_RESULT (*page)(struct writ_buf *ret, struct writ_err *err),
    const char *command)
{
    writ_auto_buf want = writ_buf_make(PAGE_MAX), got = writ_buf_make(PAGE_MAX);

    ck_assert_ok(writ_text_file(path, PAGE_MAX, &want, NULL));
    ck_assert_ok(page(&got, NULL));
    ck_assert_msg(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)),
        "%s is out of date: build/dev/writ check %s > %s", path, command, path);
}

START_TEST(schema_in_the_tree_equals_the_tables)
{
    assert_file(WRIT_SOURCE_DIR "/config/writ.schema.json", writ_schema_put, "--schema");
}
END_TEST

START_TEST(manual_in_the_tree_equals_the_tables)
{
    assert_file(WRIT_SOURCE_DIR "/docs/configuration.md", writ_manual_put, "--manual");
}
END_TEST

START_TEST(schema_is_strict_json)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(PAGE_MAX);
    const struct writ_json *schema;

    ck_assert_ok(writ_schema_put(&text, NULL));
    schema = writ_value_of(arena, writ_buf_view(&text));
    ck_assert(writ_json_is(writ_value_get(schema, "$schema"),
        WRIT_LIT("https://json-schema.org/draft/2020-12/schema")));
    ck_assert_int_eq(
        writ_json_type(writ_value_get(schema, "additionalProperties")), WRIT_JSON_FALSE);
}
END_TEST

START_TEST(schema_put_into_a_small_buffer_fails)
{
    writ_auto_buf small = writ_buf_make(1000), again = writ_buf_make(1000);

    ck_assert_code(writ_schema_put(&small, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_manual_put(&again, NULL), WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("schema", schema_in_the_tree_equals_the_tables, manual_in_the_tree_equals_the_tables,
    schema_is_strict_json, schema_put_into_a_small_buffer_fails)
