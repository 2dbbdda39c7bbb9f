/* A domain never leaves out a value that its schema takes: NEVER and ALWAYS are certain. */
#include "support/unit.h"

#include "policy/fit/domain.h"
#include "policy/read/compile.h"
#include "policy/read/findings.h"
#include "support/evidence/value.h"

#include <string.h>

#define MEMORY ((size_t)16 << 20)

static const struct writ_json *
schema_of(struct writ_arena *arena, const char *text)
{
    return writ_value_of(arena, writ_view_str(text));
}

/* The first constraint of a list, compiled as the configuration's would be. */
static const struct writ_constraint *
constraint_of(struct writ_arena *arena, const char *text, struct writ_pattern_list **patterns)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    const struct writ_yaml *node = NULL;
    const struct writ_constraint_set *set;

    ck_assert_ok(writ_yaml_read(writ_view_str(text), arena, &findings, &node));
    set = writ_compile_constraints(&o, node, patterns);
    ck_assert_msg(set != NULL && set->n == 1, "%s", text);
    return &set->items[0];
}

static enum writ_domain_answer
relate(const char *schema, const char *constraint)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    struct writ_pattern_list *patterns = NULL;
    const struct writ_json *root = schema_of(arena, schema);
    struct writ_domain_reading reading = {.root = root, .arena = arena};
    enum writ_domain_answer answer = writ_domain_relate(
        &reading, writ_domain_of(&reading, root), constraint_of(arena, constraint, &patterns));

    writ_pattern_list_free(patterns);
    return answer;
}

struct relation {
    const char *schema, *constraint;
    enum writ_domain_answer want;
};

static void
check_relations(const struct relation *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum writ_domain_answer got = relate(cases[i].schema, cases[i].constraint);

        ck_assert_msg(got == cases[i].want, "%s with %s: %d, not %d", cases[i].schema,
            cases[i].constraint, (int)got, (int)cases[i].want);
    }
}

START_TEST(relate_of_an_op_and_types_is_certain)
{
    static const struct relation cases[] = {
        {"{\"type\":\"string\"}", "[{arg: a, op: le, value: 3}]", WRIT_DOMAIN_NEVER},
        {"{\"type\":\"integer\"}", "[{arg: a, op: max_length, value: 3}]", WRIT_DOMAIN_NEVER},
        {"{\"type\":[\"string\",\"number\"]}", "[{arg: a, op: le, value: 3}]",
            WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"number\"}", "[{arg: a, op: type, value: integer}]", WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"string\"}", "[{arg: a, op: type, value: integer}]", WRIT_DOMAIN_NEVER},
        {"{\"type\":\"null\"}", "[{arg: a, op: required}]", WRIT_DOMAIN_NEVER},
        {"{}", "[{arg: a, op: le, value: 3}]", WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"gizmo\"}", "[{arg: a, op: le, value: 3}]", WRIT_DOMAIN_SOMETIMES},
        {"true", "[{arg: a, op: le, value: 3}]", WRIT_DOMAIN_SOMETIMES},
    };

    check_relations(cases, sizeof cases / sizeof cases[0]);
}
END_TEST

START_TEST(relate_of_an_op_and_ranges_is_certain)
{
    static const struct relation cases[] = {
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: ge, value: 11}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: ge, value: 10}]",
            WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: gt, value: 10}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: le, value: 10}]",
            WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: lt, value: 10}]",
            WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"number\",\"exclusiveMaximum\":10}", "[{arg: a, op: lt, value: 10}]",
            WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"number\",\"exclusiveMaximum\":10}", "[{arg: a, op: ge, value: 10}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"number\",\"minimum\":1}", "[{arg: a, op: lt, value: 1}]", WRIT_DOMAIN_NEVER},
        {"{\"type\":\"number\",\"minimum\":1}", "[{arg: a, op: le, value: 1}]",
            WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"number\",\"minimum\":1}", "[{arg: a, op: gt, value: 0.99}]",
            WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"number\",\"minimum\":1}", "[{arg: a, op: ge, value: 1}]", WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"number\",\"exclusiveMinimum\":1}", "[{arg: a, op: gt, value: 1}]",
            WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"number\",\"exclusiveMinimum\":1}", "[{arg: a, op: le, value: 1}]",
            WRIT_DOMAIN_NEVER},
        {"{\"maximum\":10}", "[{arg: a, op: le, value: 10}]", WRIT_DOMAIN_SOMETIMES},
    };

    check_relations(cases, sizeof cases / sizeof cases[0]);
}
END_TEST

START_TEST(relate_of_an_op_and_lengths_is_certain)
{
    static const struct relation cases[] = {
        {"{\"type\":\"string\",\"maxLength\":5}", "[{arg: a, op: min_length, value: 6}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"string\",\"maxLength\":5}", "[{arg: a, op: max_length, value: 5}]",
            WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"string\",\"minLength\":5}", "[{arg: a, op: max_length, value: 4}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"string\"}", "[{arg: a, op: min_length, value: 0}]", WRIT_DOMAIN_ALWAYS},
        {"{\"type\":\"array\",\"maxItems\":2}", "[{arg: a, op: min_items, value: 3}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"array\",\"minItems\":2}", "[{arg: a, op: min_items, value: 2}]",
            WRIT_DOMAIN_ALWAYS},
    };

    check_relations(cases, sizeof cases / sizeof cases[0]);
}
END_TEST

START_TEST(relate_of_an_op_and_values_is_certain)
{
    static const struct relation cases[] = {
        {"{\"enum\":[\"a\",\"b\"]}", "[{arg: a, op: in, value: [c, d]}]", WRIT_DOMAIN_NEVER},
        {"{\"enum\":[\"a\",\"b\"]}", "[{arg: a, op: in, value: [b, c]}]", WRIT_DOMAIN_SOMETIMES},
        {"{\"enum\":[\"a\",\"b\"]}", "[{arg: a, op: in, value: [b, a, c]}]", WRIT_DOMAIN_ALWAYS},
        {"{\"enum\":[\"a\",\"b\",null]}", "[{arg: a, op: in, value: [b, a]}]", WRIT_DOMAIN_ALWAYS},
        {"{\"enum\":[\"a\",\"b\"]}", "[{arg: a, op: not_in, value: [a, b]}]", WRIT_DOMAIN_NEVER},
        {"{\"enum\":[\"aa\",\"ab\"]}", "[{arg: a, op: prefix, value: a}]", WRIT_DOMAIN_ALWAYS},
        {"{\"enum\":[\"aa\",\"ab\"]}", "[{arg: a, op: matches, value: 'b+'}]", WRIT_DOMAIN_NEVER},
        {"{\"const\":3}", "[{arg: a, op: eq, value: 3.0}]", WRIT_DOMAIN_ALWAYS},
        {"{\"const\":3}", "[{arg: a, op: eq, value: 4}]", WRIT_DOMAIN_NEVER},
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: eq, value: 11}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"integer\",\"maximum\":10}", "[{arg: a, op: in, value: [11, 9]}]",
            WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"string\",\"maxLength\":2}", "[{arg: a, op: eq, value: abc}]",
            WRIT_DOMAIN_NEVER},
        {"{\"type\":\"string\"}", "[{arg: a, op: ne, value: x}]", WRIT_DOMAIN_SOMETIMES},
        {"{\"type\":\"string\"}", "[{arg: a, op: ne, value: 4}]", WRIT_DOMAIN_NEVER},
    };

    check_relations(cases, sizeof cases / sizeof cases[0]);
}
END_TEST

START_TEST(relate_of_an_op_and_several_schemas_is_certain)
{
    static const struct relation cases[] = {
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "[{arg: a, op: le, value: 3}]",
            WRIT_DOMAIN_NEVER},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}",
            "[{arg: a, op: le, value: 3}]", WRIT_DOMAIN_SOMETIMES},
        {"{\"oneOf\":[{\"const\":\"a\"},{\"const\":\"b\"}]}", "[{arg: a, op: in, value: [a, b]}]",
            WRIT_DOMAIN_ALWAYS},
        {"{\"oneOf\":[{\"const\":\"a\"},{\"const\":\"b\"}]}", "[{arg: a, op: eq, value: c}]",
            WRIT_DOMAIN_NEVER},
        {"{\"allOf\":[{\"type\":\"number\"},{\"maximum\":3}]}", "[{arg: a, op: gt, value: 3}]",
            WRIT_DOMAIN_NEVER},
        {"{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"integer\",\"maximum\":3}}}",
            "[{arg: a, op: gt, value: 3}]", WRIT_DOMAIN_NEVER},
        {"{\"$ref\":\"https://example.com/n\"}", "[{arg: a, op: gt, value: 3}]",
            WRIT_DOMAIN_SOMETIMES},
        {"{\"$ref\":\"#\"}", "[{arg: a, op: gt, value: 3}]", WRIT_DOMAIN_SOMETIMES},
        {"{\"not\":{\"type\":\"number\"}}", "[{arg: a, op: gt, value: 3}]", WRIT_DOMAIN_SOMETIMES},
    };

    check_relations(cases, sizeof cases / sizeof cases[0]);
}
END_TEST

START_TEST(child_of_a_schema_says_where_it_is_listed)
{
    static const struct {
        const char *schema, *name;
        enum writ_domain_place want;
    } cases[] = {
        {"{\"type\":\"object\",\"properties\":{\"a\":{}}}", "a", WRIT_DOMAIN_LISTED},
        {"{\"type\":\"object\",\"properties\":{\"a\":{}}}", "b", WRIT_DOMAIN_UNLISTED},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "b", WRIT_DOMAIN_ABSENT},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"string\"}}", "b",
            WRIT_DOMAIN_LISTED},
        {"{\"properties\":{\"a\":{}},\"patternProperties\":{\"x\":{}}}", "b", WRIT_DOMAIN_ANYTHING},
        {"{\"type\":\"object\"}", "b", WRIT_DOMAIN_ANYTHING},
        {"{\"type\":\"string\"}", "b", WRIT_DOMAIN_ABSENT},
        {"{\"allOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{}}}]}", "b",
            WRIT_DOMAIN_LISTED},
        {"{\"anyOf\":[{\"properties\":{\"a\":{}},\"additionalProperties\":false},"
         "{\"properties\":{\"b\":{}}}]}",
            "b", WRIT_DOMAIN_LISTED},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "x", WRIT_DOMAIN_ABSENT},
        {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "0", WRIT_DOMAIN_ANYTHING},
        {"{\"properties\":{\"a\":false}}", "a", WRIT_DOMAIN_ABSENT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_arena_new(MEMORY);
        const struct writ_json *root = schema_of(arena, cases[i].schema);
        struct writ_domain_reading reading = {.root = root, .arena = arena};
        const struct writ_domain *domain = writ_domain_of(&reading, root);
        enum writ_domain_place got =
            writ_domain_place(writ_domain_child(&reading, domain, writ_view_str(cases[i].name)));

        ck_assert_msg(got == cases[i].want, "%s %s: %d, not %d", cases[i].schema, cases[i].name,
            (int)got, (int)cases[i].want);
    }
}
END_TEST

START_TEST(requires_of_several_forms_needs_all_of_them)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_json *root = schema_of(arena,
        "{\"required\":[\"a\"],\"anyOf\":[{\"required\":[\"b\",\"c\"]},{\"required\":[\"c\"]}]}");
    struct writ_domain_reading reading = {.root = root, .arena = arena};
    const struct writ_domain *domain = writ_domain_of(&reading, root);

    ck_assert(writ_domain_requires(domain, WRIT_LIT("a")));
    ck_assert(!writ_domain_requires(domain, WRIT_LIT("b")));
    ck_assert(writ_domain_requires(domain, WRIT_LIT("c")));
    ck_assert(!writ_domain_requires(domain, WRIT_LIT("d")));
}
END_TEST

START_TEST(describe_of_a_schema_names_types_and_bounds)
{
    static const char *const cases[][2] = {
        {"{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}", "an integer from 1 up to 100"},
        {"{\"enum\":[\"a\",\"\\u202e\",3]}", "one of \"a\", \"\\u202e\", 3"},
        {"{\"anyOf\":[{\"type\":\"string\",\"maxLength\":3},{\"type\":\"null\"}]}",
            "a string of length up to 3 or null"},
        {"{\"type\":[\"number\",\"boolean\"]}", "a number or a boolean"},
        {"{}", ""},
        {"{\"anyOf\":[{\"type\":\"string\"},{}]}", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_arena_new(MEMORY);
        writ_auto_buf text = writ_buf_make(4096);
        const struct writ_json *root = schema_of(arena, cases[i][0]);
        struct writ_domain_reading reading = {.root = root, .arena = arena};

        writ_domain_describe(writ_domain_of(&reading, root), &text);
        ck_assert_view(writ_buf_view(&text), cases[i][1]);
    }
}
END_TEST

/* Each level of this schema has the whole schema twice. */
START_TEST(domain_of_a_schema_that_refers_to_itself_ends)
{
    writ_auto_arena arena = writ_arena_new((size_t)64 << 20);
    const struct writ_json *root = schema_of(
        arena, "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"},{\"allOf\":[{\"$ref\":\"#\"}]}]}");
    struct writ_domain_reading reading = {.root = root, .arena = arena};
    const struct writ_domain *domain = writ_domain_of(&reading, root);
    struct writ_pattern_list *patterns = NULL; /* this op makes none */

    ck_assert_uint_le(reading.work, WRIT_DOMAIN_WORK_MAX);
    ck_assert_int_eq(writ_domain_relate(&reading, domain,
                         constraint_of(arena, "[{arg: a, op: le, value: 1}]", &patterns)),
        WRIT_DOMAIN_SOMETIMES);
}
END_TEST

WRIT_UNIT_MAIN("domain", relate_of_an_op_and_types_is_certain,
    relate_of_an_op_and_ranges_is_certain, relate_of_an_op_and_lengths_is_certain,
    relate_of_an_op_and_values_is_certain, relate_of_an_op_and_several_schemas_is_certain,
    child_of_a_schema_says_where_it_is_listed, requires_of_several_forms_needs_all_of_them,
    describe_of_a_schema_names_types_and_bounds, domain_of_a_schema_that_refers_to_itself_ends)
