/* constraint.h: verdicts on the arguments of a call, and how a failure is reported. What each op
 * accepts, and coverage, are in conformance/test_ops.c. */
#include "evidence/json/jcs.h"
#include "policy/decide/coverage.h"
#include "policy/decide/evaluate.h"
#include "policy/model/constraint.h"
#include "policy/read/compile.h"
#include "support/unit.h"
#include "support/evidence/value.h"

static const struct writ_constraint_set *
set_of(const char *yaml, struct writ_arena *arena)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    struct writ_pattern_list *patterns = NULL; /* no op here makes one */
    const struct writ_constraint_set *set;
    const struct writ_yaml *root = NULL;

    ck_assert_ok(writ_yaml_read(writ_view_str(yaml), arena, &findings, &root));
    set = writ_compile_constraints(&o, root, &patterns);
    ck_assert_ptr_nonnull(set);
    ck_assert_ptr_null(patterns);
    return set;
}

START_TEST(first_constraint_that_fails_is_reported)
{
    static const struct {
        const char *arguments;
        enum writ_reason reason;
        const char *failed;
    } cases[] = {
        {"{\"a\":5,\"b\":\"x\"}", WRIT_REASON_POLICY_OK, ""},
        {"{\"a\":6,\"b\":\"xyz\"}", WRIT_REASON_CONSTRAINT_FAILED, "a le"},
        {"{\"a\":-1,\"b\":\"xyz\"}", WRIT_REASON_CONSTRAINT_FAILED, "a ge"},
        {"{\"a\":5,\"b\":\"xyz\"}", WRIT_REASON_CONSTRAINT_FAILED, "b max_length"},
        {"{\"a\":5}", WRIT_REASON_CONSTRAINT_FAILED, "b max_length"},
        {"{}", WRIT_REASON_CONSTRAINT_FAILED, "a le"},
        /* an unlisted argument is reported before a failure, an error at its place */
        {"{\"a\":6,\"b\":\"xyz\",\"c\":1}", WRIT_REASON_ARGUMENT_NOT_LISTED, ""},
        {"{\"a\":1.00000000000000000000000000000000000001,\"b\":\"xyz\"}",
            WRIT_REASON_CONSTRAINT_ERROR, "a le"},
    };
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set =
        set_of("[{arg: a, op: le, value: 5}, {arg: a, op: ge, value: 0}, "
               "{arg: b, op: max_length, value: 2}]",
            arena);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_constraint_failure failed;
        ck_assert_int_eq(
            writ_evaluate_arguments(
                set, writ_value_of(arena, writ_view_str(cases[i].arguments)), arena, &failed),
            cases[i].reason);
        ck_assert_view(failed.constraint, cases[i].failed);
    }
}
END_TEST

START_TEST(evaluate_one_gives_the_verdict_of_each_constraint)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set = set_of(
        "[{arg: a, op: le, value: 5}, {arg: /b/0, op: eq, value: x, optional: true}]", arena);
    const struct writ_json *arguments = writ_value_of(arena, WRIT_LIT("{\"a\":6,\"b\":[\"x\"]}"));

    ck_assert_int_eq(writ_evaluate_one(set, &set->items[0], arguments, arena, NULL), WRIT_HOLDS_NO);
    ck_assert_int_eq(
        writ_evaluate_one(set, &set->items[1], arguments, arena, NULL), WRIT_HOLDS_YES);
}
END_TEST

/* Four `each` on an array, each with four `each` on its elements: sixteen paths to the inside, of
 * which WRIT_CONSTRAINT_COVER_MAX are checked. */
START_TEST(coverage_beyond_the_limit_of_paths_refuses)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf yaml = writ_buf_make(8192);
    const struct writ_constraint_set *set;

    for (int i = 0; i < 4; i++) {
        writ_buf_str(&yaml, "- arg: a\n  op: each\n  value:\n");
        for (int j = 0; j < 4; j++) {
            writ_buf_fmt(&yaml, "  - {op: each, value: {arg: m%d, op: required}}\n", i * 4 + j);
        }
    }
    writ_buf_byte(&yaml, '\0');
    set = set_of(yaml.ptr, arena);
    ck_assert(writ_coverage_holds(
        set, writ_value_of(arena, WRIT_LIT("{\"a\":[[{\"m0\":1,\"m7\":1}]]}")), NULL));
    ck_assert(
        !writ_coverage_holds(set, writ_value_of(arena, WRIT_LIT("{\"a\":[[{\"m8\":1}]]}")), NULL));
}
END_TEST

START_TEST(evaluate_of_an_empty_set_holds_without_arguments_only)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set = set_of("[]", arena);
    struct writ_constraint_failure failed;

    ck_assert_int_eq(
        writ_evaluate_arguments(set, writ_value_of(arena, WRIT_LIT("{}")), arena, &failed),
        WRIT_REASON_POLICY_OK);
    ck_assert_int_eq(
        writ_evaluate_arguments(set, writ_value_of(arena, WRIT_LIT("{\"\":null}")), arena, &failed),
        WRIT_REASON_ARGUMENT_NOT_LISTED);
}
END_TEST

static void
check_failure(const struct writ_constraint_set *set, const char *arguments, const char *argument,
    const char *constraint, const char *accepted)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_constraint_failure failed;

    ck_assert_int_ne(writ_evaluate_arguments(
                         set, writ_value_of(arena, writ_view_str(arguments)), arena, &failed),
        WRIT_REASON_POLICY_OK);
    ck_assert_view(failed.argument, argument);
    ck_assert_view(failed.constraint, constraint);
    ck_assert_view(failed.accepted, accepted);
}

START_TEST(evaluate_failure_names_the_element_and_the_inner_constraint)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set = set_of("- arg: edits\n"
                                                   "  op: each\n"
                                                   "  value:\n"
                                                   "  - {arg: old, op: max_length, value: 3}\n"
                                                   "  - arg: /a~1b/c\n"
                                                   "    op: each\n"
                                                   "    optional: true\n"
                                                   "    value: {op: le, value: 10}\n"
                                                   "- {arg: /o/x, op: eq, value: 1}\n",
        arena);

    check_failure(set, "{\"edits\":[{\"old\":\"abc\"},{\"old\":\"abcd\"}],\"o\":{\"x\":1}}",
        "/edits/1/old", "edits each, old max_length", "a string of at most 3 characters");
    check_failure(set, "{\"edits\":[{\"old\":\"a\",\"a/b\":{\"c\":[1,2,11]}}],\"o\":{\"x\":1}}",
        "/edits/0/a~1b/c/2", "edits each, /a~1b/c each, le", "a number not above 10");
    check_failure(set, "{\"edits\":[{\"a/b\":{\"c\":[]}}],\"o\":{\"x\":1}}", "/edits/0/old",
        "edits each, old max_length", "a string of at most 3 characters");
    check_failure(set, "{\"edits\":\"x\",\"o\":{\"x\":1}}", "/edits", "edits each",
        "an array whose elements are each: a string of at most 3 characters, and an array whose "
        "elements are each: a number not above 10");
    check_failure(set, "{\"edits\":[],\"o\":{\"x\":2}}", "/o/x", "/o/x eq", "exactly 1");
    check_failure(
        set, "{\"edits\":[{\"old\":\"a\",\"new~\":1}],\"o\":{\"x\":1}}", "/edits/0/new~0", "", "");
}
END_TEST

START_TEST(evaluate_failure_with_a_long_pointer_cuts_it_between_names)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(8192);
    const struct writ_constraint_set *set =
        set_of("[{arg: /o/b, op: eq, value: 1, optional: true}]", arena);
    struct writ_constraint_failure failed;

    writ_buf_str(&text, "{\"o\":{\"");
    for (int i = 0; i < 600; i++) {
        writ_buf_byte(&text, 'n');
    }
    writ_buf_str(&text, "\":1}}");
    (void)writ_evaluate_arguments(set, writ_value_of(arena, writ_buf_view(&text)), arena, &failed);
    ck_assert_view(failed.argument, "/o");
}
END_TEST

/* Literals around values of which a double holds one alone. */
static const char *const literals[] = {"100", "1e2", "100.00", "99.9999999999999999999",
    "100.00000000000000000001", "99.99999999999999", "100.00000000000001", "0.1",
    "0.10000000000000001", "0.09999999999999999999", "9007199254740992", "9007199254740993",
    "9007199254740994", "-0", "0", "1e-400", "5e-324", "4e-324",
    "1.00000000000000000000000000000000000000001"}; /* the last has more than configuration may */

static const struct writ_json *
forwarded(const struct writ_json *arguments, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, 4096);

    ck_assert_ok(writ_jcs_put_rounded(&text, arguments, NULL));
    return writ_value_of(arena, writ_buf_view(&text));
}

static void
check_literal(const struct writ_constraint_set *set, const char *literal, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, 4096);
    const struct writ_json *written, *read;

    writ_buf_fmt(&text, "{\"a\":%s,\"l\":[1,{\"n\":%s}]}", literal, literal);
    written = writ_value_of(arena, writ_buf_view(&text));
    read = forwarded(written, arena);
    for (size_t i = 0; i < set->n; i++) {
        enum writ_holds left = writ_evaluate_one(set, &set->items[i], written, arena, NULL);
        ck_assert_msg(left == WRIT_HOLDS_ERROR ||
                          left == writ_evaluate_one(set, &set->items[i], read, arena, NULL),
            "%.*s: %s", WRIT_VIEW_ARG(set->items[i].name), literal);
    }
}

START_TEST(evaluate_of_the_text_and_of_the_canonical_form_agree)
{
    for (size_t b = 0; b + 1 < sizeof literals / sizeof literals[0]; b++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf yaml = writ_buf_make(8192);
        const struct writ_constraint_set *set;

        for (enum writ_op op = WRIT_OP_EQ; op <= WRIT_OP_GE; op++) {
            const char *word = writ_op_row(op)->word;
            bool list = op == WRIT_OP_IN || op == WRIT_OP_NOT_IN;
            const char *open = list ? "[7, " : "", *close = list ? "]" : "";
            writ_buf_fmt(
                &yaml, "- {arg: a, op: %s, value: %s%s%s}\n", word, open, literals[b], close);
            writ_buf_fmt(
                &yaml, "- {arg: /l/1/n, op: %s, value: %s%s%s}\n", word, open, literals[b], close);
        }
        writ_buf_fmt(&yaml, "- {arg: l, op: eq, value: [1, {n: %s}]}\n", literals[b]);
        writ_buf_fmt(&yaml, "- {arg: l, op: ne, value: [1, {n: %s}]}\n", literals[b]);
        writ_buf_fmt(&yaml,
            "- {arg: l, op: each, value: {arg: n, op: ne, value: %s, optional: true}}\n",
            literals[b]);
        writ_buf_str(&yaml, "- {arg: a, op: type, value: integer}\n");
        writ_buf_byte(&yaml, '\0');
        set = set_of(yaml.ptr, arena);
        for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
            check_literal(set, literals[i], arena);
        }
    }
}
END_TEST

START_TEST(evaluate_of_null_holds_for_a_nullable_constraint_only)
{
    static const struct {
        const char *arguments;
        enum writ_reason reason;
    } cases[] = {
        {"{\"a\":null,\"b\":[null,\"x\"]}", WRIT_REASON_POLICY_OK},
        {"{\"a\":\"xy\",\"b\":null}", WRIT_REASON_POLICY_OK},
        {"{\"a\":\"xyz\",\"b\":[]}", WRIT_REASON_CONSTRAINT_FAILED},
        {"{\"a\":0,\"b\":[]}", WRIT_REASON_CONSTRAINT_FAILED},
        {"{\"a\":[null],\"b\":[]}", WRIT_REASON_ARGUMENT_NOT_LISTED},
        {"{\"b\":[]}", WRIT_REASON_CONSTRAINT_FAILED}, /* absent is not null */
        {"{\"a\":null,\"b\":[],\"c\":null}", WRIT_REASON_CONSTRAINT_FAILED},
    };
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set =
        set_of("[{arg: a, op: max_length, value: 2, nullable: true}, "
               "{arg: b, op: each, value: {op: eq, value: x, nullable: true}, nullable: true}, "
               "{arg: c, op: le, value: 1, optional: true}]",
            arena);
    struct writ_constraint_failure failed;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(
            writ_evaluate_arguments(set, writ_value_of(arena, writ_view_str(cases[i].arguments)),
                arena, &failed) == cases[i].reason,
            "%s", cases[i].arguments);
    }
    ck_assert_view(set->items[0].accepted, "a string of at most 2 characters, or null");
}
END_TEST

static void
ask_for_a_row_beyond_the_table(void *arg)
{
    (void)arg;
    (void)writ_op_row(WRIT_OP_COUNT);
}

START_TEST(op_word_of_an_unknown_op_is_empty)
{
    ck_assert_ptr_null(writ_op_row(WRIT_OP_NONE)->word);
    ck_assert_str_eq(writ_op_row(WRIT_OP_UNDER)->word, "under");
    ck_assert(writ_unit_aborts(ask_for_a_row_beyond_the_table, NULL));
}
END_TEST

WRIT_UNIT_MAIN("constraint", first_constraint_that_fails_is_reported,
    evaluate_one_gives_the_verdict_of_each_constraint, coverage_beyond_the_limit_of_paths_refuses,
    evaluate_of_an_empty_set_holds_without_arguments_only,
    evaluate_failure_names_the_element_and_the_inner_constraint,
    evaluate_failure_with_a_long_pointer_cuts_it_between_names,
    evaluate_of_null_holds_for_a_nullable_constraint_only,
    evaluate_of_the_text_and_of_the_canonical_form_agree, op_word_of_an_unknown_op_is_empty)
