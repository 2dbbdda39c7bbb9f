/* Parameters that are repeated in headers. The definition says which ones, and head and body must
 * agree. */
#include "support/unit.h"

#include "gateway/mcp/param.h"

static struct writ_arena *arena;

static const struct writ_json *
value_of(const char *text)
{
    const struct writ_json *value = NULL;

    ck_assert_ok(
        writ_json_read(writ_view_str(text), &writ_json_limits_default, arena, &value, NULL));
    return value;
}

static struct writ_params
read_params(const char *properties)
{
    writ_auto_buf text = writ_buf_make(65536);
    struct writ_params params = {NULL, 9};

    writ_buf_fmt(&text, "{\"inputSchema\":{\"type\":\"object\",\"properties\":%s}}", properties);
    writ_buf_byte(&text, '\0');
    ck_assert_ok(
        writ_param_read(value_of(writ_view_copy(writ_buf_view(&text), arena).ptr), arena, &params));
    return params;
}

#define HEADER(type, name) "{\"type\":\"" type "\",\"x-mcp-header\":\"" name "\"}"

START_TEST(param_read_finds_header_arguments_along_properties)
{
    struct writ_params params;

    arena = writ_arena_new((size_t)1 << 20);
    params = read_params("{\"region\":" HEADER("string",
        "Region") ",\"n\":{\"type\":\"object\","
                  "\"properties\":{\"a/b\":" HEADER("integer",
                      "N") "}},"
                           "\"list\":{\"type\":\"array\",\"items\":{\"properties\":{\"x\":" HEADER(
                               "string", "X") "}}},\"plain\":{\"type\":\"string\"}}");
    ck_assert_uint_eq(params.n, 2);
    ck_assert_view(params.items[0].header, "Mcp-Param-Region");
    ck_assert_view(params.items[0].pointer, "/region");
    ck_assert_view(params.items[1].pointer, "/n/a~1b");
    ck_assert_int_eq(params.items[1].type, WRIT_PARAM_INTEGER);
    writ_arena_free(arena);
}
END_TEST

START_TEST(malformed_definition_has_no_parameters)
{
    static const char *const cases[] = {
        "{\"a\":" HEADER("number", "A") "}",
        "{\"a\":" HEADER("string", "") "}",
        "{\"a\":" HEADER("string", "A B") "}",
        "{\"a\":{\"type\":\"string\",\"x-mcp-header\":1}}",
        "{\"a\":" HEADER("string", "A") ",\"b\":" HEADER("string", "a") "}",
        "{}",
        "[]",
    };

    arena = writ_arena_new((size_t)1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_uint_eq(read_params(cases[i]).n, 0);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(param_read_beyond_the_limit_is_refused)
{
    for (int more = 0; more < 2; more++) {
        writ_auto_buf text = writ_buf_make(65536);
        arena = writ_arena_new((size_t)1 << 20);
        for (int i = 0; i < WRIT_PARAMS_MAX + more; i++) {
            writ_buf_fmt(&text, "%s\"a%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}",
                i == 0 ? "{" : ",", i, i);
        }
        writ_buf_str(&text, "}");
        writ_buf_byte(&text, '\0');
        ck_assert_uint_eq(read_params(text.ptr).n, more == 0 ? WRIT_PARAMS_MAX : 0);
        writ_arena_free(arena);
    }
}
END_TEST

START_TEST(param_check_compares_head_and_body)
{
    static const struct {
        const char *argument, *header; /* header NULL: there is none */
        enum writ_param_answer want;
    } cases[] = {
        {"\"eu\"", "eu", WRIT_PARAM_AGREES},
        {"\"eu\"", " eu\t", WRIT_PARAM_AGREES},
        {"\"eu\"", "EU", WRIT_PARAM_DIFFERS},
        {"\"eu\"", "=?base64?ZXU=?=", WRIT_PARAM_AGREES},
        {"\"eu\"", "=?base64?ZXU?=", WRIT_PARAM_DIFFERS},
        {"\"=?base64?ZXU=?=\"", "=?base64?ZXU=?=", WRIT_PARAM_DIFFERS},
        {"\"\xc3\xa9\"", "=?base64?w6k=?=", WRIT_PARAM_AGREES},
        {"\"eu\"", NULL, WRIT_PARAM_MISSING},
        {"\"\"", "", WRIT_PARAM_AGREES},
        {"42", "42", WRIT_PARAM_AGREES},
        {"42.0", "42", WRIT_PARAM_AGREES},
        {"42", "4.2e1", WRIT_PARAM_AGREES},
        {"42", "43", WRIT_PARAM_DIFFERS},
        {"42", "x", WRIT_PARAM_DIFFERS},
        {"\"42\"", "42", WRIT_PARAM_AGREES},
        {"9007199254740993", "9007199254740992", WRIT_PARAM_DIFFERS},
        {"true", "true", WRIT_PARAM_AGREES},
        {"false", "true", WRIT_PARAM_DIFFERS},
        {"false", NULL, WRIT_PARAM_MISSING},
        {"null", NULL, WRIT_PARAM_AGREES},
        {"null", "null", WRIT_PARAM_DIFFERS},
        {"[1]", NULL, WRIT_PARAM_AGREES},
        {"[1]", "1", WRIT_PARAM_DIFFERS},
    };
    static const struct writ_param param = {{"Mcp-Param-A", 11}, {"/a", 2}, WRIT_PARAM_STRING};

    arena = writ_arena_new((size_t)1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf text = writ_buf_make(256);
        writ_buf_fmt(&text, "{\"a\":%s}", cases[i].argument);
        writ_buf_byte(&text, '\0');
        ck_assert_msg(
            writ_param_check(&param, value_of(writ_view_copy(writ_buf_view(&text), arena).ptr),
                writ_view_str(cases[i].header)) == cases[i].want,
            "case %zu", i);
    }
    ck_assert_int_eq(
        writ_param_check(&param, value_of("{}"), writ_view(NULL, 0)), WRIT_PARAM_AGREES);
    ck_assert_int_eq(writ_param_check(&param, value_of("{}"), WRIT_LIT("x")), WRIT_PARAM_DIFFERS);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("param", param_read_finds_header_arguments_along_properties,
    malformed_definition_has_no_parameters, param_read_beyond_the_limit_is_refused,
    param_check_compares_head_and_body)
