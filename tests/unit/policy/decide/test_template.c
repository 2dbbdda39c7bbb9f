/* Templates for scopes and for the arguments of probes. A value never changes the structure around
 * it, and faults are reported with their place. */
#include "evidence/json/jcs.h"
#include "policy/decide/template.h"
#include "policy/read/findings.h"
#include "policy/read/setting.h"
#include "policy/read/template_read.h"
#include "policy/read/yaml.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define MAX 64

static const struct writ_template *
template_of(const char *yaml, bool object, struct writ_arena *arena, size_t *ret_errors)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    const struct writ_yaml *root = NULL;
    const struct writ_yaml *node;
    const struct writ_template *template;

    ck_assert_ok(writ_yaml_read(writ_view_str(yaml), arena, &findings, &root));
    node = writ_yaml_get(root, WRIT_LIT("t"));
    template = object ? writ_template_read_object(&o, node) : writ_template_read_text(&o, node);
    ck_assert_int_eq(template == NULL, findings.errors > 0);
    *ret_errors = findings.errors;
    return template;
}

struct filling {
    const char *yaml, *arguments;
    enum writ_code code;
    const char *want;
};

static void
check_text(const struct filling *f)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_view got = WRIT_LIT("untouched");
    size_t errors;
    const struct writ_template *template = template_of(f->yaml, false, arena, &errors);
    const struct writ_json *arguments = writ_value_of(arena, writ_view_str(f->arguments));
    writ_result result = writ_template_fill(template, arguments, MAX, arena, &got, NULL);

    ck_assert_msg(result.code == f->code, "%s with %s: %s", f->yaml, f->arguments,
        writ_code_name(result.code));
    ck_assert_view(got, writ_is_ok(result) ? f->want : "untouched");
}

START_TEST(template_fill_takes_strings_numbers_and_booleans)
{
    static const struct filling cases[] = {
        {"t: fixed", "{}", WRIT_OK, "fixed"},
        {"t: \"files/{path}\"", "{\"path\":\"a.txt\"}", WRIT_OK, "files/a.txt"},
        {"t: \"{a}-{b}\"", "{\"a\":1.50,\"b\":true}", WRIT_OK, "1.5-true"},
        {"t: \"{a}\"", "{\"a\":1e2}", WRIT_OK, "100"},
        {"t: \"{a}\"", "{\"a\":-0}", WRIT_OK, "0"},
        {"t: \"{/a/b}\"", "{\"a\":{\"b\":\"x\"}}", WRIT_OK, "x"},
        {"t: \"{/a/1}\"", "{\"a\":[0,\"y\"]}", WRIT_OK, "y"},
        {"t: \"{a/b}\"", "{\"a/b\":\"x\",\"a\":{\"b\":\"no\"}}", WRIT_OK, "x"},
        {"t: \"{{{a}}}\"", "{\"a\":\"x\"}", WRIT_OK, "{x}"},
        {"t: \"{a}{a}\"", "{\"a\":\"x\"}", WRIT_OK, "xx"},
        {"t: \"{a}\"", "{}", WRIT_E_ABSENT, NULL},
        {"t: \"{a}\"", "{\"A\":\"x\"}", WRIT_E_ABSENT, NULL},
        {"t: \"{a}\"", "{\"a\":null}", WRIT_E_ABSENT, NULL},
        {"t: \"{a}\"", "{\"a\":[]}", WRIT_E_INVALID, NULL},
        {"t: \"{a}\"", "{\"a\":{\"b\":1}}", WRIT_E_INVALID, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_text(&cases[i]);
    }
}
END_TEST

START_TEST(template_fill_of_any_value_forges_no_other_scope)
{
    static const struct filling cases[] = {
        {"t: \"s/{a}\"", "{\"a\":\"x/../y\"}", WRIT_OK, "s/x%2F..%2Fy"},
        {"t: \"s/{a}\"", "{\"a\":\"../y\"}", WRIT_OK, "s/..%2Fy"},
        {"t: \"s/{a}\"", "{\"a\":\"x%2Fy\"}", WRIT_OK, "s/x%252Fy"},
        {"t: \"s/{a}\"", "{\"a\":\"\\u0000\\n\\u007f\"}", WRIT_OK, "s/%00%0A%7F"},
        {"t: \"s/{a}\"", "{\"a\":\"\\u00e9 \\\\\"}", WRIT_OK, "s/%C3%A9%20%5C"},
        {"t: \"s/{a}/{b}\"", "{\"a\":\"x/y\",\"b\":\"z\"}", WRIT_OK, "s/x%2Fy/z"},
        {"t: \"s/{a}\"", "{\"a\":\"{b}\"}", WRIT_OK, "s/%7Bb%7D"},
        {"t: \"s/{a}\"", "{\"a\":\"\"}", WRIT_E_INVALID, NULL},
        {"t: \"s/{a}\"", "{\"a\":\".\"}", WRIT_E_INVALID, NULL},
        {"t: \"s/{a}\"", "{\"a\":\"..\"}", WRIT_E_INVALID, NULL},
        {"t: \"s/{a}\"", "{\"a\":\"...\"}", WRIT_OK, "s/..."},
        {"t: \"s{+a}\"", "{\"a\":\"/x/y z\"}", WRIT_OK, "s/x/y%20z"},
        {"t: \"s/{+a}\"", "{\"a\":\"x/../y\"}", WRIT_E_INVALID, NULL},
        {"t: \"s/{+a}\"", "{\"a\":\"x/.\"}", WRIT_E_INVALID, NULL},
        {"t: \"s/{+a}\"", "{\"a\":\"..\"}", WRIT_E_INVALID, NULL},
        {"t: \"s/{+a}\"", "{\"a\":\"x\\\\..\\\\y\"}", WRIT_OK, "s/x%5C..%5Cy"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_text(&cases[i]);
    }
}
END_TEST

START_TEST(template_fill_beyond_the_maximum_fails)
{
    static const char sixty[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

    for (size_t over = 0; over <= 1; over++) {
        writ_auto_buf arguments = writ_buf_make(200);
        struct filling f = {"t: \"s/{a}\"", NULL, over ? WRIT_E_LIMIT : WRIT_OK, NULL};
        writ_auto_buf want = writ_buf_make(200);

        writ_buf_fmt(&arguments, "{\"a\":\"%s%s\"}", sixty, over ? "xxx" : "xx");
        writ_buf_byte(&arguments, '\0');
        writ_buf_fmt(&want, "s/%sxx", sixty);
        writ_buf_byte(&want, '\0');
        f.arguments = arguments.ptr;
        f.want = want.ptr;
        check_text(&f);
    }
}
END_TEST

START_TEST(faulty_template_is_reported)
{
    static const char *const cases[] = {"t: \"{a\"", "t: \"a}\"", "t: \"{}\"", "t: \"{a{b}}\"",
        "t: \"{+a}/x\"", "t: \"{+}\"", "t: \"{/a~2}\"", "t: [a]", "t:", "t: \"a\\nb\""};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        size_t errors;
        ck_assert_msg(template_of(cases[i], false, arena, &errors) == NULL, "%s", cases[i]);
        ck_assert_uint_eq(errors, 1);
    }
}
END_TEST

static void
check_object(const struct filling *f)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf got = writ_buf_make(1000);
    const struct writ_json *value = NULL;
    size_t errors;
    const struct writ_template *template = template_of(f->yaml, true, arena, &errors);
    const struct writ_json *arguments = writ_value_of(arena, writ_view_str(f->arguments));
    writ_result result = writ_template_fill_object(template, arguments, MAX, arena, &value, NULL);

    ck_assert_msg(result.code == f->code, "%s with %s: %s", f->yaml, f->arguments,
        writ_code_name(result.code));
    if (writ_is_ok(result)) {
        ck_assert_ok(writ_jcs_put(&got, value, NULL));
        ck_assert_view(writ_buf_view(&got), f->want);
    } else {
        ck_assert_ptr_null(value);
    }
}

START_TEST(template_fill_of_probe_arguments_keeps_their_types)
{
    static const struct filling cases[] = {
        {"t: {path: \"{p}\"}", "{\"p\":\"/a/../b\"}", WRIT_OK, "{\"path\":\"/a/../b\"}"},
        {"t: {n: \"{n}\"}", "{\"n\":5.0}", WRIT_OK, "{\"n\":5}"},
        {"t: {n: \"x{n}\"}", "{\"n\":5.0}", WRIT_OK, "{\"n\":\"x5\"}"},
        {"t: {b: \"{b}\", c: [1, true, null, x, \"y {b}\"]}", "{\"b\":false}", WRIT_OK,
            "{\"b\":false,\"c\":[1,true,null,\"x\",\"y false\"]}"},
        {"t: {a: {b: {c: \"{/x/y}\"}}}", "{\"x\":{\"y\":\"z\"}}", WRIT_OK,
            "{\"a\":{\"b\":{\"c\":\"z\"}}}"},
        {"t: {q: \"1\"}", "{}", WRIT_OK, "{\"q\":\"1\"}"},
        {"t: {}", "{}", WRIT_OK, "{}"},
        {"t: {p: \"{p}\"}", "{}", WRIT_E_ABSENT, NULL},
        {"t: {p: \"{p}\"}", "{\"p\":[1]}", WRIT_E_INVALID, NULL},
        {"t: {p: \"{p}{p}{p}{p}\"}", "{\"p\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}",
            WRIT_E_LIMIT, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_object(&cases[i]);
    }
}
END_TEST

START_TEST(template_fill_keeps_a_value_inside_its_string)
{
    static const struct filling quote = {"t: {p: \"<{p}>\"}", "{\"p\":\"\\\",\\\"q\\\":\\\"x\"}",
        WRIT_OK, "{\"p\":\"<\\\",\\\"q\\\":\\\"x>\"}"};

    check_object(&quote);
}
END_TEST

START_TEST(faulty_arguments_are_reported)
{
    static const char *const cases[] = {
        "t: [a]", "t: x", "t: {a: \"{b\"}", "t: {a: no}", "t: {a: }"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        size_t errors;
        ck_assert_msg(template_of(cases[i], true, arena, &errors) == NULL, "%s", cases[i]);
        ck_assert_uint_eq(errors, 1);
    }
}
END_TEST

WRIT_UNIT_MAIN("template", template_fill_takes_strings_numbers_and_booleans,
    template_fill_of_any_value_forges_no_other_scope, template_fill_beyond_the_maximum_fails,
    faulty_template_is_reported, template_fill_of_probe_arguments_keeps_their_types,
    template_fill_keeps_a_value_inside_its_string, faulty_arguments_are_reported)
