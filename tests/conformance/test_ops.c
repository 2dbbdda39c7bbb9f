/* Every op of a constraint, and closed coverage, on the cases of vectors/policy. Each case has the
 * verdict that the vector says, and each op has a case that holds and one that fails. */
#include "evidence/json/jcs.h"
#include "policy/decide/coverage.h"
#include "policy/decide/evaluate.h"
#include "policy/read/compile.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#define SETS_AT_LEAST 60

/* The set of constraints that a JSON value describes. */
static const struct writ_constraint_set *
compiled(const struct writ_json *constraints, struct writ_arena *arena,
    struct writ_pattern_list **patterns)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_options o = {.arena = arena, .findings = &findings};
    writ_auto_buf text = writ_buf_make(1 << 20);
    const struct writ_constraint_set *set = NULL;
    const struct writ_yaml *root = NULL;

    ck_assert_ok(writ_jcs_put(&text, constraints, NULL));
    ck_assert_ok(writ_yaml_read(writ_buf_view(&text), arena, &findings, &root));
    set = writ_compile_constraints(&o, root, patterns);
    ck_assert_msg(set != NULL && findings.errors == 0, "%.*s: %.*s",
        WRIT_VIEW_ARG(writ_buf_view(&text)),
        WRIT_VIEW_ARG(findings.n > 0 ? findings.items[0].message : WRIT_LIT("")));
    return set;
}

/* [constraint with arg "a"] */
static const struct writ_json *
list_of(const struct writ_json *constraint, struct writ_arena *arena)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    writ_buf_str(&text, "[");
    ck_assert_ok(writ_jcs_put(&text, constraint, NULL));
    text.len--; /* the closing brace */
    writ_buf_str(&text, ",\"arg\":\"a\"}]");
    return writ_value_of(arena, writ_buf_view(&text));
}

static const struct writ_json *
arguments_of(struct writ_view value, struct writ_arena *arena)
{
    writ_auto_buf text = writ_buf_make(1 << 20);

    writ_buf_str(&text, value.len > 0 ? "{\"a\":" : "{");
    writ_buf_put(&text, value);
    writ_buf_str(&text, "}");
    return writ_value_of(arena, writ_buf_view(&text));
}

static const char *
word(enum writ_holds holds)
{
    return holds == WRIT_HOLDS_YES ? "hold" : holds == WRIT_HOLDS_NO ? "fail" : "error";
}

static void
check_list(const struct writ_json *group, const char *name, enum writ_holds want,
    const struct writ_constraint_set *set)
{
    const struct writ_json *texts = writ_value_get(group, name);

    WRIT_JSON_EACH(text, texts)
    {
        writ_auto_arena arena = writ_value_arena();
        const struct writ_json *arguments = arguments_of(writ_json_string(text), arena);
        enum writ_holds got = writ_evaluate_one(set, &set->items[0], arguments, arena, NULL);
        ck_assert_msg(got == want, "%.*s: %.*s: %s, not %s",
            WRIT_VIEW_ARG(writ_json_string(writ_value_get(group, "about"))),
            WRIT_VIEW_ARG(writ_view_sub(writ_json_string(text), 0, 100)), word(got), word(want));
    }
}

START_TEST(evaluate_of_each_case_gives_its_verdict)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *groups = writ_value_file(arena, "vectors/policy/ops.json");

    ck_assert_uint_ge(groups->count, SETS_AT_LEAST);
    WRIT_JSON_EACH(group, groups)
    {
        struct writ_pattern_list *patterns = NULL;
        const struct writ_constraint_set *set =
            compiled(list_of(writ_value_get(group, "constraint"), arena), arena, &patterns);
        check_list(group, "hold", WRIT_HOLDS_YES, set);
        check_list(group, "fail", WRIT_HOLDS_NO, set);
        check_list(group, "error", WRIT_HOLDS_ERROR, set);
        writ_pattern_list_free(patterns);
    }
}
END_TEST

START_TEST(cases_cover_both_verdicts_of_every_op)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *groups = writ_value_file(arena, "vectors/policy/ops.json");

    for (enum writ_op op = WRIT_OP_EQ; op < WRIT_OP_COUNT; op++) {
        size_t hold = 0, fail = 0;
        if (op == WRIT_OP_FROM || op == WRIT_OP_SCHEMA) {
            /* the run decides (policy/decide/test_flow.c); vectors/json-schema-2020-12 */
            continue;
        }
        WRIT_JSON_EACH(group, groups)
        {
            const struct writ_json *constraint = writ_value_get(group, "constraint");
            if (writ_json_is(
                    writ_value_get(constraint, "op"), writ_view_str(writ_op_row(op)->word))) {
                hold += writ_value_get(group, "hold")->count;
                fail += writ_value_get(group, "fail")->count;
            }
        }
        ck_assert_msg(hold > 0 && fail > 0, "%s", writ_op_row(op)->word);
    }
}
END_TEST

static void
check_uncovered(
    const struct writ_json *group, const struct writ_constraint_set *set, struct writ_arena *arena)
{
    const struct writ_json *pairs = writ_value_get(group, "uncovered");

    WRIT_JSON_EACH(pair, pairs)
    {
        struct writ_view text = writ_json_string(writ_json_element(pair, 0));
        const struct writ_json *pointer = writ_json_element(pair, 1);
        writ_auto_buf unlisted = writ_buf_make(4096);
        struct writ_constraint_failure failed;
        const struct writ_json *arguments = writ_value_of(arena, text);

        ck_assert_msg(!writ_coverage_holds(set, arguments, &unlisted), "%.*s is covered",
            WRIT_VIEW_ARG(text));
        ck_assert_msg(writ_json_is(pointer, writ_buf_view(&unlisted)), "%.*s: %.*s",
            WRIT_VIEW_ARG(text), WRIT_VIEW_ARG(writ_buf_view(&unlisted)));
        ck_assert_int_eq(writ_evaluate_arguments(set, arguments, arena, &failed),
            WRIT_REASON_ARGUMENT_NOT_LISTED);
        ck_assert(writ_json_is(pointer, failed.argument));
    }
}

START_TEST(coverage_of_each_case_names_unlisted_arguments)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *groups = writ_value_file(arena, "vectors/policy/coverage.json");

    WRIT_JSON_EACH(group, groups)
    {
        struct writ_pattern_list *patterns = NULL;
        const struct writ_constraint_set *set =
            compiled(writ_value_get(group, "constraints"), arena, &patterns);
        const struct writ_json *covered = writ_value_get(group, "covered");
        WRIT_JSON_EACH(text, covered)
        {
            struct writ_constraint_failure failed;
            const struct writ_json *arguments = writ_value_of(arena, writ_json_string(text));
            ck_assert_msg(
                writ_evaluate_arguments(set, arguments, arena, &failed) == WRIT_REASON_POLICY_OK,
                "%.*s: %.*s", WRIT_VIEW_ARG(writ_json_string(writ_value_get(group, "about"))),
                WRIT_VIEW_ARG(writ_json_string(text)));
        }
        check_uncovered(group, set, arena);
        writ_pattern_list_free(patterns);
    }
}
END_TEST

WRIT_UNIT_MAIN("ops", evaluate_of_each_case_gives_its_verdict,
    cases_cover_both_verdicts_of_every_op, coverage_of_each_case_names_unlisted_arguments)
