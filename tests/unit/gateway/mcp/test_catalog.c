/* The tools of one upstream. A tool is found with the digest of its definition; a name with two
 * definitions has none, and the limit holds. */
#include "support/unit.h"

#include "gateway/mcp/catalog.h"

static struct writ_arena *arena;

static const struct writ_json *
value_of(const char *text)
{
    const struct writ_json *value = NULL;

    ck_assert_ok(
        writ_json_read(writ_view_str(text), &writ_json_limits_default, arena, &value, NULL));
    return value;
}

static struct writ_catalog *
catalog_of(const char *const *items, size_t n)
{
    struct writ_catalog *catalog = NULL;

    ck_assert_ok(writ_catalog_new(&catalog));
    for (size_t i = 0; i < n; i++) {
        ck_assert_ok(writ_catalog_add(catalog, value_of(items[i])));
    }
    writ_catalog_seal(catalog);
    return catalog;
}

START_TEST(catalog_find_gives_the_tool_with_its_digest)
{
    static const char *const items[] = {
        "{\"name\":\"write\",\"b\":1,\"a\":1.0}", "{\"name\":\"read\"}", "{\"name\":\"\"}"};
    struct writ_catalog *catalog;
    const struct writ_catalog_tool *tool;
    struct writ_digest want;

    arena = writ_arena_new((size_t)1 << 20);
    catalog = catalog_of(items, 3);
    tool = writ_catalog_find(catalog, WRIT_LIT("write"));
    ck_assert_ptr_nonnull(tool);
    ck_assert_view(tool->text, "{\"a\":1,\"b\":1,\"name\":\"write\"}");
    ck_assert_ok(writ_digest_bytes(tool->text, &want, NULL));
    ck_assert(writ_digest_equal(&tool->digest, &want));
    ck_assert_ptr_nonnull(writ_catalog_find(catalog, WRIT_LIT("")));
    ck_assert_ptr_null(writ_catalog_find(catalog, WRIT_LIT("rea")));
    ck_assert_ptr_null(writ_catalog_find(NULL, WRIT_LIT("read")));
    writ_catalog_drop(catalog);
    writ_arena_free(arena);
}
END_TEST

START_TEST(catalog_find_of_a_tool_with_two_definitions_is_absent)
{
    static const char *const items[] = {"{\"name\":\"a\",\"x\":1}", "{\"name\":\"b\"}",
        "{\"name\":\"a\",\"x\":2}", "{\"name\":\"b\"}", "{\"name\":\"a\",\"x\":1}"};
    struct writ_catalog *catalog;

    arena = writ_arena_new((size_t)1 << 20);
    catalog = catalog_of(items, 5);
    ck_assert_uint_eq(catalog->n, 2);
    ck_assert_ptr_null(writ_catalog_find(catalog, WRIT_LIT("a")));
    ck_assert_ptr_nonnull(writ_catalog_find(catalog, WRIT_LIT("b")));
    writ_catalog_drop(catalog);
    writ_arena_free(arena);
}
END_TEST

START_TEST(catalog_add_of_no_tool_is_refused)
{
    struct writ_catalog *catalog = NULL;

    arena = writ_arena_new((size_t)1 << 20);
    ck_assert_ok(writ_catalog_new(&catalog));
    ck_assert_code(writ_catalog_add(catalog, value_of("[]")), WRIT_E_INVALID);
    ck_assert_code(writ_catalog_add(catalog, value_of("{\"name\":1}")), WRIT_E_INVALID);
    ck_assert_uint_eq(catalog->n, 0);
    writ_catalog_drop(catalog);
    writ_arena_free(arena);
}
END_TEST

START_TEST(definitions_with_inexact_numbers_are_distinguished)
{
    static const char *const numbers[] = {"9223372036854775807", "9223372036854775806",
        "9223372036854775808", "1e-400", "1e-401", "0.10000000000000001", "0.1",
        "123456789012345678901234567890123456789012345678901",
        "123456789012345678901234567890123456789012345678902"};
    enum { N = sizeof numbers / sizeof *numbers };
    struct writ_catalog *catalog = NULL;

    arena = writ_arena_new((size_t)1 << 20);
    ck_assert_ok(writ_catalog_new(&catalog));
    for (size_t i = 0; i < N; i++) {
        writ_auto_buf text = writ_buf_make(256);
        writ_buf_fmt(&text, "{\"name\":\"t%zu\",\"maximum\":%s}", i, numbers[i]);
        writ_buf_byte(&text, '\0');
        ck_assert_ok(writ_catalog_add(catalog, value_of(text.ptr)));
        ck_assert_uint_lt(writ_view_search(catalog->tools[i].text, writ_view_str(numbers[i])),
            catalog->tools[i].text.len);
    }
    ck_assert_uint_eq(catalog->n, N);
    writ_catalog_drop(catalog);
    writ_arena_free(arena);
}
END_TEST

START_TEST(catalog_add_beyond_the_limit_is_refused)
{
    struct writ_catalog *catalog = NULL;

    arena = writ_arena_new((size_t)16 << 20);
    ck_assert_ok(writ_catalog_new(&catalog));
    for (int i = 0; i < WRIT_CATALOG_TOOLS_MAX; i++) {
        writ_auto_buf text = writ_buf_make(64);
        writ_buf_fmt(&text, "{\"name\":\"t%d\"}", i);
        writ_buf_byte(&text, '\0');
        ck_assert_ok(writ_catalog_add(catalog, value_of(text.ptr)));
    }
    ck_assert_code(writ_catalog_add(catalog, value_of("{\"name\":\"one\"}")), WRIT_E_LIMIT);
    writ_catalog_seal(catalog);
    ck_assert_ptr_nonnull(writ_catalog_find(catalog, WRIT_LIT("t4095")));
    writ_catalog_drop(catalog);
    writ_arena_free(arena);
}
END_TEST

START_TEST(catalog_equal_ignores_the_order)
{
    static const char *const one[] = {"{\"name\":\"a\"}", "{\"name\":\"b\",\"x\":1}"};
    static const char *const other[] = {"{\"x\":1,\"name\":\"b\"}", "{\"name\":\"a\"}"};
    static const char *const changed[] = {"{\"name\":\"a\"}", "{\"name\":\"b\",\"x\":2}"};
    struct writ_catalog *a, *b, *c, *none;

    arena = writ_arena_new((size_t)1 << 20);
    a = catalog_of(one, 2);
    b = catalog_of(other, 2);
    c = catalog_of(changed, 2);
    none = catalog_of(one, 0);
    ck_assert(writ_catalog_equal(a, b));
    ck_assert(!writ_catalog_equal(a, c));
    ck_assert(!writ_catalog_equal(a, none));
    ck_assert(!writ_catalog_equal(NULL, none));
    ck_assert(writ_catalog_equal(NULL, NULL));
    writ_catalog_drop(a);
    writ_catalog_drop(b);
    writ_catalog_drop(c);
    writ_catalog_drop(none);
    writ_catalog_drop(NULL);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("catalog", catalog_find_gives_the_tool_with_its_digest,
    catalog_find_of_a_tool_with_two_definitions_is_absent, catalog_add_of_no_tool_is_refused,
    definitions_with_inexact_numbers_are_distinguished, catalog_add_beyond_the_limit_is_refused,
    catalog_equal_ignores_the_order)
