/* compile.h: constraints that are refused or warned of, and their description for callers. Which
 * arguments they accept is in conformance/test_ops.c. */
#include "policy/decide/coverage.h"
#include "policy/read/compile.h"
#include "support/unit.h"
#include "support/evidence/value.h"

/* Compiles a list; the findings go to `found` as they are printed. */
static const struct writ_constraint_set *
compiled(struct writ_view yaml, struct writ_arena *arena, struct writ_buf *found)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    struct writ_pattern_list *patterns = NULL;
    const struct writ_constraint_set *set;
    const struct writ_yaml *root = NULL;

    ck_assert_ok(writ_yaml_read(yaml, arena, &findings, &root));
    set = writ_compile_constraints(&o, root, &patterns);
    writ_pattern_list_free(patterns);
    writ_findings_put(&findings, WRIT_LIT("f"), found);
    ck_assert(set != NULL || findings.errors > 0);
    return set;
}

struct example {
    const char *yaml, *found;
};

static void
check_all(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf found = writ_buf_make(1 << 16);

        (void)compiled(writ_view_str(examples[i].yaml), arena, &found);
        ck_assert_view(writ_buf_view(&found), examples[i].found);
    }
}

START_TEST(compile_of_an_invalid_constraint_is_refused)
{
    static const struct example examples[] = {
        {"- {arg: a, op: lte, value: 5}",
            "f:1: /0/op: does not know \"lte\"; did you mean \"lt\"? Use one of: eq, ne, in, "
            "not_in, lt, le, gt, ge, type, min_length, max_length, prefix, suffix, matches, "
            "not_matches, glob, under, "
            "host_in, schema, from, contains, lacks, each, min_items, max_items, required, "
            "forbidden\n"},
        {"- {arg: a, op: lacks, value: [card.numbr]}",
            "f:1: /0/value: \"card.numbr\" names no detector; did you mean \"card.number\"? "
            "docs/detectors.md lists them\n"},
        {"- {arg: a, op: lacks, value: [own.code]}",
            "f:1: /0/value: \"own.code\" names no detector. docs/detectors.md lists them\n"},
        {"- {arg: a, op: contains, value: []}",
            "f:1: /0/value: needs at least one detector, such as card.number or secret.*\n"},
        {"- {arg: a, op: contains, value: '['}",
            "f:1: /0/value: needs names of detectors, such as card.number or secret.*\n"},
        {"- {arg: a, value: 5}", "f:1: /0: lacks op: The test (docs/policy.md).\n"},
        {"- {arg: a, op: le}", "f:1: /0: lacks value: set the value that `le` compares with\n"},
        {"- {op: le, value: 5}", "f:1: /0: lacks arg: name the argument (\"\" "
                                 "means all of them as one object)\n"},
        {"- {arg: /a~2, op: le, value: 5}",
            "f:1: /0: is not a JSON Pointer: ~ is written ~0, / in a name ~1\n"},
        {"- {arg: a, op: le, value: 5, valeu: 6}",
            "f:1: /0/valeu: unknown option; did you mean \"value\"?\n"},
        {"- a", "f:1: /0: must be a map of options, not a text\n"},
        {"a: 1", "f:1: must be a list of constraints, each {arg, op, value}\n"},
        {"- {arg: a, op: required, value: false}",
            "f:1: /0/value: `required` takes no value (or true)\n"},
        {"- {arg: a, op: forbidden, optional: true}", "f:1: /0: `forbidden` cannot be optional\n"},
    };

    check_all(examples, sizeof examples / sizeof examples[0]);
}
END_TEST

START_TEST(values_of_the_wrong_kind_are_refused)
{
    static const struct example examples[] = {
        {"- {arg: a, op: le, value: abc}",
            "f:1: /0/value: must be a number as JSON writes it, not a text\n"},
        {"- {arg: a, op: in, value: x}", "f:1: /0/value: `in` needs a list of 1 to 1024 values\n"},
        {"- {arg: a, op: not_in, value: []}",
            "f:1: /0/value: `not_in` needs a list of 1 to 1024 values\n"},
        {"- {arg: a, op: type, value: text}", "f:1: /0/value: must be string, number, integer, "
                                              "boolean, null, array, object or any\n"},
        {"- {arg: a, op: type, value: []}", "f:1: /0/value: needs at least one type\n"},
        {"- {arg: a, op: max_length, value: -1}",
            "f:1: /0/value: must be a whole number from 0 to 1099511627776\n"},
        {"- {arg: a, op: prefix, value: \"\"}",
            "f:1: /0/value: `prefix` needs a text that is not empty\n"},
        {"- {arg: a, op: prefix, value: [a]}",
            "f:1: /0/value: `prefix` needs a text that is not empty\n"},
        {"- {arg: a, op: matches, value: \"(\"}",
            "f:1: /0/value: is not a regular expression: missing "
            "closing parenthesis at byte 1 of the pattern\n"},
        {"- {arg: a, op: glob, value: \"[a\"}",
            "f:1: /0/value: is not a pattern: a [ is not closed\n"},
        {"- {arg: a, op: under, value: a/b}",
            "f:1: /0/value: `under` needs an absolute directory without `.`, `..`, doubled or "
            "trailing slash\n"},
        {"- {arg: a, op: host_in, value: [\"https://a\"]}",
            "f:1: /0/value: `host_in` needs hosts in lower-case ASCII, such as example.com, "
            "*.example.com, 127.0.0.1 or [::1], each with an optional port\n"},
        {"- {arg: a, op: each, value: []}", "f:1: /0/value: must have 1 to 256 constraints\n"},
        {"- {arg: a, op: each, value: x}",
            "f:1: /0/value: must be a list of constraints, each {arg, op, value}\n"},
        {"- {arg: a, op: each, value: {op: le, value: x}}",
            "f:1: /0/value/value: must be a number as JSON writes it, not a text\n"},
        {"- {arg: a, op: eq, value: no}",
            "f:1: /0/value: YAML readers disagree about what this is: write a string in quotes, a "
            "number, true, false and null as JSON does\n"},
    };

    check_all(examples, sizeof examples / sizeof examples[0]);
}
END_TEST

START_TEST(compile_of_a_schema_with_an_unknown_keyword_is_refused)
{
    static const struct example examples[] = {
        {"- {arg: a, op: schema, value: {maximun: 50}}",
            "f:1: /0/value/maximun: unknown keyword of JSON Schema; did you mean \"maximum\"?\n"},
        {"- arg: a\n"
         "  op: schema\n"
         "  value:\n"
         "    type: object\n"
         "    propertes: {a: {type: string}}\n"
         "    additionalPropertys: false\n"
         "    requierd: [a]\n",
            "f:5: /0/value/propertes: unknown keyword of JSON Schema; did you mean "
            "\"properties\"?\n"
            "f:6: /0/value/additionalPropertys: unknown keyword of JSON Schema; did you mean "
            "\"additionalProperties\"?\n"
            "f:7: /0/value/requierd: unknown keyword of JSON Schema; did you mean "
            "\"required\"?\n"},
        {"- arg: a\n"
         "  op: schema\n"
         "  value:\n"
         "    anyOf:\n"
         "      - {type: string}\n"
         "      - properties:\n"
         "          maximun: {minimun: 1}\n"
         "    $defs: {\"a/b\": {Type: string}}\n",
            "f:7: /0/value/anyOf/1/properties/maximun/minimun: unknown keyword of JSON Schema; "
            "did you mean \"minimum\"?\n"
            "f:8: /0/value/$defs/a~1b/Type: unknown keyword of JSON Schema; did you mean "
            "\"type\"?\n"},
        {"- {arg: a, op: schema, value: {type: string, nullable: true}}",
            "f:1: /0/value/nullable: unknown keyword of JSON Schema. Remove it, or begin a "
            "name of your own with x-\n"},
        {"- {arg: a, op: schema, value: {$ref: '#/shared/n', shared: {n: {maximun: 1}}}}",
            "f:1: /0/value/shared: unknown keyword of JSON Schema. Remove it, or begin a "
            "name of your own with x-\n"
            "f:1: /0/value/shared/n/maximun: unknown keyword of JSON Schema; did you mean "
            "\"maximum\"?\n"},
        {"- {arg: a, op: each, value: {op: schema, value: {lenght: 1}}}",
            "f:1: /0/value/value/lenght: unknown keyword of JSON Schema. Remove it, or begin a "
            "name of your own with x-\n"},
        {"- {arg: a, op: schema, value: {additionalItems: false}}",
            "f:1: /0/value: is no JSON Schema: /additionalItems: is a keyword of draft-07 that is "
            "not supported\n"},
        /* annotations, names of properties, and what is no schema */
        {"- arg: a\n"
         "  op: schema\n"
         "  value:\n"
         "    $schema: https://json-schema.org/draft/2020-12/schema\n"
         "    $id: https://example.com/a\n"
         "    $comment: c\n"
         "    title: t\n"
         "    description: d\n"
         "    default: {maximun: 1}\n"
         "    examples: [{maximun: 1}]\n"
         "    deprecated: true\n"
         "    readOnly: true\n"
         "    writeOnly: true\n"
         "    contentEncoding: base64\n"
         "    contentMediaType: text/plain\n"
         "    contentSchema: {type: string}\n"
         "    x-owner: {maximun: ann}\n"
         "    const: {maximun: 1}\n"
         "    properties: {maximun: {type: number, format: email}}\n"
         "    definitions: {maximun: true}\n",
            ""},
    };

    check_all(examples, sizeof examples / sizeof examples[0]);
}
END_TEST

START_TEST(compile_of_a_doubtful_constraint_warns)
{
    static const struct example examples[] = {
        {"- {arg: a, op: in, value: [x, /tmp, /var]}",
            "f:1: /0/value: warning: looks like a path: `in` compares with exactly this text; use "
            "`under` "
            "for what is inside a directory\n"},
        {"- {arg: a, op: eq, value: /tmp}", "f:1: /0/value: warning: looks like a path: `eq` "
                                            "compares with exactly this text; use `under` "
                                            "for what is inside a directory\n"},
        {"- {arg: a, op: eq, value: \"500\"}", "f:1: /0/value: warning: the quoted number "
                                               "is a string here, and never equals a number\n"},
        {"- {arg: a, op: prefix, value: /srv/box}", "f:1: /0/value: warning: looks like a path: a "
                                                    "prefix does not mean inside (/srv/box-evil, "
                                                    "/srv/box/../x); use `under`\n"},
        {"- {arg: a, op: under, value: /}",
            "f:1: /0/value: warning: every absolute path is under /\n"},
        {"- {arg: a, op: ne, value: /tmp}", ""},
        {"- {arg: a, op: in, value: [EUR]}", ""},
    };

    check_all(examples, sizeof examples / sizeof examples[0]);
}
END_TEST

START_TEST(compile_describes_the_name_and_accepted_values)
{
    static const struct {
        const char *yaml, *name, *accepted;
    } cases[] = {
        {"- {arg: amount, op: le, value: \"500.00\"}", "amount le", "a number not above 500.00"},
        {"- {arg: /a/b, op: in, value: [x, 1]}", "/a/b in", "one of [\"x\",1]"},
        {"- {arg: a, op: eq, value: {b: 1}}", "a eq", "exactly {\"b\":1}"},
        {"- {arg: a, op: ne, value: x}", "a ne",
            "a value of the same type that the policy does not deny"},
        {"- {arg: a, op: type, value: [string, 'null']}", "a type", "type string or null"},
        {"- {arg: a, op: max_length, value: 5}", "a max_length",
            "a string of at most 5 characters"},
        {"- {arg: a, op: min_items, value: 1}", "a min_items", "an array of at least 1 elements"},
        {"- {arg: a, op: under, value: [/x, /y]}", "a under",
            "an absolute path, without .. or backslash, inside /x, /y"},
        {"- {arg: a, op: each, value: {op: lt, value: 1}}", "a each",
            "an array whose elements are each: a number below 1"},
        {"- {arg: a, op: forbidden}", "a forbidden", "no such argument"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf found = writ_buf_make(1 << 16);
        const struct writ_constraint_set *set =
            compiled(writ_view_str(cases[i].yaml), arena, &found);
        ck_assert_view(set->items[0].name, cases[i].name);
        ck_assert_view(set->items[0].accepted, cases[i].accepted);
    }
}
END_TEST

/* n constraints on p different arguments */
static void
put_constraints(struct writ_buf *ret, size_t n, size_t p)
{
    for (size_t i = 0; i < n; i++) {
        writ_buf_fmt(ret, "- {arg: a%zu, op: required}\n", i % p);
    }
}

START_TEST(constraints_and_arguments_have_maxima)
{
    static const struct {
        size_t n, paths;
        bool good;
    } cases[] = {{WRIT_CONSTRAINTS_MAX, 8, true}, {WRIT_CONSTRAINTS_MAX + 1, 8, false},
        {WRIT_CONSTRAINT_PATHS_MAX, WRIT_CONSTRAINT_PATHS_MAX, true},
        {WRIT_CONSTRAINT_PATHS_MAX + 1, WRIT_CONSTRAINT_PATHS_MAX + 1, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf yaml = writ_buf_make(1 << 16), found = writ_buf_make(1 << 16);
        put_constraints(&yaml, cases[i].n, cases[i].paths);
        ck_assert_msg((compiled(writ_buf_view(&yaml), arena, &found) != NULL) == cases[i].good,
            "case %zu", i);
    }
}
END_TEST

START_TEST(compile_limits_the_depth_and_number_of_each)
{
    static const struct {
        const char *yaml;
        bool good;
    } cases[] = {
        {"- {arg: a, op: each, value: {op: each, value: {op: each, value: {op: each, value: {op: "
         "required}}}}}",
            true},
        {"- {arg: a, op: each, value: {op: each, value: {op: each, value: {op: each, value: {op: "
         "each, value: {op: required}}}}}}",
            false},
        {"[{arg: a, op: each, value: {op: required}}, {arg: a, op: each, value: {op: required}},"
         " {arg: a, op: each, value: {op: required}}, {arg: a, op: each, value: {op: required}}]",
            true},
        {"[{arg: a, op: each, value: {op: required}}, {arg: a, op: each, value: {op: required}},"
         " {arg: a, op: each, value: {op: required}}, {arg: a, op: each, value: {op: required}},"
         " {arg: a, op: each, value: {op: required}}]",
            false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf found = writ_buf_make(1 << 16);
        ck_assert_msg(
            (compiled(writ_view_str(cases[i].yaml), arena, &found) != NULL) == cases[i].good,
            "case %zu", i);
    }
}
END_TEST

START_TEST(compile_without_a_list_gives_an_empty_set)
{
    writ_auto_arena arena = writ_value_arena();
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    struct writ_pattern_list *patterns = NULL;
    const struct writ_constraint_set *set = writ_compile_constraints(&o, NULL, &patterns);

    ck_assert_uint_eq(set->n, 0);
    ck_assert(!writ_coverage_holds(set, writ_value_of(arena, WRIT_LIT("{\"a\":1}")), NULL));
    writ_pattern_list_free(NULL);
}
END_TEST

WRIT_UNIT_MAIN("compile", compile_of_an_invalid_constraint_is_refused,
    values_of_the_wrong_kind_are_refused, compile_of_a_schema_with_an_unknown_keyword_is_refused,
    compile_of_a_doubtful_constraint_warns, compile_describes_the_name_and_accepted_values,
    constraints_and_arguments_have_maxima, compile_limits_the_depth_and_number_of_each,
    compile_without_a_list_gives_an_empty_set)
