/* constraint.h: what is told about a call. What each op accepts, and coverage, are in
 * conformance/test_ops.c. */
#include "policy/constraint.h"
#include "policy/compile.h"
#include "support/unit.h"
#include "support/value.h"

static const struct writ_constraint_set *
set_of(const char *yaml, struct writ_arena *arena)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    struct writ_compile_pattern *patterns = NULL; /* no op here makes one */
    const struct writ_constraint_set *set;
    const struct writ_yaml *root = NULL;

    ck_assert_ok(writ_yaml_read(writ_view_str(yaml), arena, &findings, &root));
    set = writ_compile_constraints(&o, root, &patterns);
    ck_assert_ptr_nonnull(set);
    ck_assert_ptr_null(patterns);
    return set;
}

START_TEST(the_first_constraint_that_does_not_hold_is_told)
{
    static const struct {
        const char *arguments;
        enum writ_reason reason;
        int failed; /* its index, or -1 */
    } cases[] = {
        {"{\"a\":5,\"b\":\"x\"}", WRIT_REASON_POLICY_OK, -1},
        {"{\"a\":6,\"b\":\"xyz\"}", WRIT_REASON_CONSTRAINT_FAILED, 0},
        {"{\"a\":-1,\"b\":\"xyz\"}", WRIT_REASON_CONSTRAINT_FAILED, 1},
        {"{\"a\":5,\"b\":\"xyz\"}", WRIT_REASON_CONSTRAINT_FAILED, 2},
        {"{\"a\":5}", WRIT_REASON_CONSTRAINT_FAILED, 2},
        {"{}", WRIT_REASON_CONSTRAINT_FAILED, 0},
        /* what is not listed comes before what fails, an error where it stands */
        {"{\"a\":6,\"b\":\"xyz\",\"c\":1}", WRIT_REASON_ARGUMENT_NOT_LISTED, -1},
        {"{\"a\":1.00000000000000000000000000000000000001,\"b\":\"xyz\"}",
            WRIT_REASON_CONSTRAINT_ERROR, 0},
    };
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set =
        set_of("[{arg: a, op: le, value: 5}, {arg: a, op: ge, value: 0}, "
               "{arg: b, op: max_length, value: 2}]",
            arena);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_constraint *failed = &set->items[2];
        ck_assert_int_eq(
            writ_constraint_check(
                set, writ_value_of(arena, writ_view_str(cases[i].arguments)), arena, &failed),
            cases[i].reason);
        ck_assert_ptr_eq(failed, cases[i].failed < 0 ? NULL : &set->items[cases[i].failed]);
    }
}
END_TEST

START_TEST(every_constraint_can_be_asked_alone)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set = set_of(
        "[{arg: a, op: le, value: 5}, {arg: /b/0, op: eq, value: x, optional: true}]", arena);
    const struct writ_json *arguments = writ_value_of(arena, WRIT_LIT("{\"a\":6,\"b\":[\"x\"]}"));

    ck_assert_int_eq(writ_constraint_holds(set, &set->items[0], arguments, arena), WRIT_HOLDS_NO);
    ck_assert_int_eq(writ_constraint_holds(set, &set->items[1], arguments, arena), WRIT_HOLDS_YES);
}
END_TEST

/* Four `each` on an array, each with four `each` on its elements: sixteen ways to name what is
 * inside, of which WRIT_CONSTRAINT_COVER_MAX are looked at. */
START_TEST(more_ways_to_name_a_value_than_are_looked_at_refuse)
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
    ck_assert(writ_constraint_covers(
        set, writ_value_of(arena, WRIT_LIT("{\"a\":[[{\"m0\":1,\"m7\":1}]]}")), NULL));
    ck_assert(!writ_constraint_covers(
        set, writ_value_of(arena, WRIT_LIT("{\"a\":[[{\"m8\":1}]]}")), NULL));
}
END_TEST

START_TEST(an_empty_set_holds_for_no_arguments)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_constraint_set *set = set_of("[]", arena);
    const struct writ_constraint *failed;

    ck_assert_int_eq(
        writ_constraint_check(set, writ_value_of(arena, WRIT_LIT("{}")), arena, &failed),
        WRIT_REASON_POLICY_OK);
    ck_assert_int_eq(
        writ_constraint_check(set, writ_value_of(arena, WRIT_LIT("{\"\":null}")), arena, &failed),
        WRIT_REASON_ARGUMENT_NOT_LISTED);
}
END_TEST

static void
ask_for_a_row_beyond_the_table(void *arg)
{
    (void)arg;
    (void)writ_op_row(WRIT_OP_COUNT);
}

START_TEST(an_op_that_is_none_has_no_word)
{
    ck_assert_ptr_null(writ_op_row(WRIT_OP_NONE)->word);
    ck_assert_str_eq(writ_op_row(WRIT_OP_UNDER)->word, "under");
    ck_assert(writ_unit_aborts(ask_for_a_row_beyond_the_table, NULL));
}
END_TEST

WRIT_UNIT_MAIN("constraint", the_first_constraint_that_does_not_hold_is_told,
    every_constraint_can_be_asked_alone, more_ways_to_name_a_value_than_are_looked_at_refuse,
    an_empty_set_holds_for_no_arguments, an_op_that_is_none_has_no_word)
