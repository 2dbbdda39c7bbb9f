/* Which calls need an approval, and which voters may give it. A condition that cannot be decided
 * needs it. */
#include "policy/read/load.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "policy/decide/approval.h"
#include "policy/decide/policy.h"
#include "policy/decide/terms.h"

#define HEAD                                                                                       \
    "reviews:\n"                                                                                   \
    "  finance: {voters: [{id: ann}, {id: bob, weight: 2}, {id: alice, veto: true}]}\n"            \
    "tools:\n  up/pay: {scope: s, arguments: [{arg: \"\", op: type, value: any}], approval: "

static struct writ_config *
config_of(const char *approval)
{
    writ_auto_buf text = writ_buf_make(4096);
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    writ_result r;

    writ_buf_fmt(&text, HEAD "%s}\n", approval);
    r = writ_load_text(writ_buf_view(&text), "t.yaml", NULL, &config, &err);
    ck_assert_msg(writ_is_ok(r), "%s", err.text);
    return config;
}

/* Of a call with these arguments, under a tool with that `approval`; borrows `*ret_config`. */
static void
decide(const char *approval, const char *arguments, struct writ_arena *arena,
    struct writ_config **ret_config, struct writ_verdict *ret)
{
    static const struct writ_agent agent = {.id = WRIT_LIT("dev")};
    struct writ_policy_call call = {&agent, WRIT_LIT("up"), WRIT_LIT("pay"), NULL};

    *ret_config = config_of(approval);
    call.arguments = writ_value_of(arena, writ_view_str(arguments));
    writ_policy_decide(*ret_config, &call, arena, ret);
}

static bool
needs(const char *when, const char *arguments)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf approval = writ_buf_make(1024);
    struct writ_config *config;
    struct writ_verdict verdict;
    bool needed;

    writ_buf_fmt(&approval, "{review: finance%s%s}", when[0] != '\0' ? ", when: " : "", when);
    writ_buf_byte(&approval, '\0');
    decide(approval.ptr, arguments, arena, &config, &verdict);
    ck_assert_int_eq(verdict.answer, WRIT_POLICY_ALLOW);
    needed = verdict.approval != NULL;
    writ_config_drop(config);
    return needed;
}

START_TEST(approval_is_needed_unless_a_condition_clearly_fails)
{
    static const struct {
        const char *when, *arguments;
        bool needed;
    } rows[] = {
        {"", "{}", true},
        {"[{arg: n, op: ge, value: 100}]", "{\"n\":100}", true},
        {"[{arg: n, op: ge, value: 100}]", "{\"n\":99.999}", false},
        {"[{arg: n, op: ge, value: 100}]", "{\"n\":\"5\"}", true},
        {"[{arg: n, op: ge, value: 100}]", "{}", true},
        {"[{arg: n, op: ge, value: 100}]", "{\"n\":null}", true},
        {"[{arg: t, op: eq, value: prod}]", "{\"t\":\"test\"}", false},
        {"[{arg: t, op: eq, value: prod}]", "{\"t\":\"prod\"}", true},
        {"[{arg: t, op: eq, value: prod}]", "{}", true},
        {"[{arg: t, op: ne, value: test}]", "{\"t\":\"test\"}", false},
        {"[{arg: t, op: ne, value: test}]", "{\"t\":7}", true},
        {"[{arg: t, op: not_in, value: [a, b]}]", "{\"t\":\"b\"}", false},
        {"[{arg: t, op: not_in, value: [a, b]}]", "{\"t\":[]}", true},
        {"[{arg: t, op: prefix, value: x}]", "{\"t\":\"y\"}", false},
        {"[{arg: t, op: prefix, value: x}]", "{\"t\":1}", true},
        {"[{arg: t, op: required}]", "{}", false},
        {"[{arg: t, op: forbidden}]", "{\"t\":1}", false},
        {"[{arg: t, op: forbidden}]", "{}", true},
        {"[{arg: l, op: min_items, value: 2}]", "{\"l\":[1]}", false},
        {"[{arg: l, op: min_items, value: 2}]", "{\"l\":{}}", true},
        {"[{arg: n, op: ge, value: 1}, {arg: t, op: eq, value: a}]", "{\"n\":5,\"t\":\"b\"}",
            false},
        {"[{arg: n, op: ge, value: 1}, {arg: t, op: eq, value: a}]", "{\"n\":5,\"t\":\"a\"}", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(needs(rows[i].when, rows[i].arguments) == rows[i].needed, "%s of %s",
            rows[i].when, rows[i].arguments);
    }
}
END_TEST

START_TEST(caller_is_excluded_from_the_voters_under_every_name)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = config_of("{review: finance}");
    const struct writ_agent agents[] = {
        {.id = WRIT_LIT("dev"), .subject = WRIT_LIT("alice")},
        {.id = WRIT_LIT("alice")},
        {.id = WRIT_LIT("alice"), .subject = WRIT_LIT("bob")},
        {.id = WRIT_LIT("dev")},
    };
    static const size_t left[] = {2, 2, 1, 3};

    for (size_t i = 0; i < 4; i++) {
        const struct writ_json *arguments = writ_value_of(arena, WRIT_LIT("{}"));
        const struct writ_policy_call call = {
            &agents[i], WRIT_LIT("up"), WRIT_LIT("pay"), arguments};
        struct writ_verdict verdict;
        struct writ_review terms;

        writ_policy_decide(config, &call, arena, &verdict);
        ck_assert_ptr_nonnull(verdict.approval);
        ck_assert_ok(writ_terms_make(verdict.approval, &call, 0, arena, &terms));
        ck_assert_uint_eq(terms.voters_n, left[i]);
        ck_assert_view(terms.threshold, "2/3");
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(review_that_could_not_be_decided_is_refused_with_its_place)
{
    static const struct {
        const char *review, *fault;
    } rows[] = {
        {"{voters: []}", "/reviews/x/voters"},
        {"{voters: [{id: a}, {id: a}]}", "/reviews/x/voters/1"},
        {"{voters: [{id: a, weight: 0}]}", "/reviews/x/voters"},
        {"{voters: [{id: a}], threshold: 1/2}", "/reviews/x"},
        {"{voters: [{id: a}], threshold: \"0.5\"}", "/reviews/x"},
        {"{voters: [{id: a}], threshold: 3/2}", "/reviews/x"},
        {"{voters: [{id: a}], threshold: most}", "/reviews/x"},
        {"{voters: [{id: a}], quorum: \"2\"}", "/reviews/x"},
        {"{voters: [{id: a}], quorum: 3/2}", "/reviews/x"},
        {"{voters: [{id: a}], engine: first_valid}", "/reviews/x/engine"},
        {"{voters: [{id: a}], engine: majority, threshold: 2/3}", "/reviews/x/threshold"},
        {"{voters: [{id: a, weight: 2}], engine: majority}", "/reviews/x/voters"},
        {"{voters: [{id: a}], engine: majority, options: [approve, reject]}", "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [approve]}", "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [approve, abstain]}", "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [approve, approve]}", "/reviews/x/options"},
        {"{voters: [{id: a}], options: [candidates, reject]}", "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [candidates]}", "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [candidates, approve]}",
            "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [candidates, candidates]}",
            "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, options: [\"2\", reject]}", "/reviews/x/options"},
        {"{voters: [{id: a, veto: true}], engine: borda, options: [candidates, modify]}",
            "/reviews/x/options"},
        {"{voters: [{id: a}], engine: borda, bulk: true}", "/reviews/x"},
        {"{voters: [{id: a, veto: true}], engine: borda, options: [approve, modify]}",
            "/reviews/x/options"},
        {"{voters: [{id: a, weight: 1/0}]}", "/reviews/x/voters/0/weight"},
        {"{voters: [{id: a, weight: -1}]}", "/reviews/x/voters/0/weight"},
        {"{voters: [{id: a, weight: 1000001}]}", "/reviews/x/voters/0/weight"},
        {"{voters: [{id: a, weight: 1/999983}, {id: b, weight: 1/999979}]}", "/reviews/x/voters"},
        {"{voters: [{id: a}], threshold: {by: n}}", "/reviews/x/threshold"},
        {"{voters: [{id: a}], threshold: {by: n, steps: []}}", "/reviews/x/threshold/steps"},
        {"{voters: [{id: a}], threshold: {by: n, steps: [{at_least: 1, share: 1/2}]}}",
            "/reviews/x/threshold/steps/0/share"},
        {"{voters: [{id: a}], threshold: {by: n, steps: [{at_least: x, share: 1}]}}",
            "/reviews/x/threshold/steps/0/at_least"},
        {"{voters: [{id: a}], threshold: {by: n, steps: [{at_least: 2, share: 1}, {at_least: 2, "
         "share: 2/3}]}}",
            "/reviews/x/threshold/steps/1"},
        {"{voters: [{id: a}], quorums: 1}", "/reviews/x/quorums"},
        {"{voters: [{id: a}], expires: 0s}", "/reviews/x/expires"},
        {"{threshold: 2/3}", "/reviews/x"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_auto_buf text = writ_buf_make(4096);
        struct writ_config *config = NULL;
        struct writ_err err = {0};

        writ_buf_fmt(&text, "reviews:\n  x: %s\n", rows[i].review);
        ck_assert_code(
            writ_load_text(writ_buf_view(&text), "t.yaml", NULL, &config, &err), WRIT_E_INVALID);
        ck_assert_msg(writ_view_search(writ_view_str(err.text), writ_view_str(rows[i].fault)) <
                          writ_view_str(err.text).len,
            "%s: %s", rows[i].review, err.text);
        ck_assert_ptr_null(config);
    }
}
END_TEST

START_TEST(approval_read_of_an_unknown_review_is_refused)
{
    struct writ_config *config = NULL;

    ck_assert_code(
        writ_load_text(WRIT_LIT("tools: {up/pay: {scope: s, approval: {review: nobody}}}\n"),
            "t.yaml", NULL, &config, NULL),
        WRIT_E_INVALID);
    ck_assert_code(writ_load_text(WRIT_LIT("tools: {up/pay: {scope: s, approval: {}}}\n"), "t.yaml",
                       NULL, &config, NULL),
        WRIT_E_INVALID);
    ck_assert_ptr_null(config);
}
END_TEST

/* Whether calls of the tool with that definition need it. */
static bool
needs_as(const char *annotations, const char *definition)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf approval = writ_buf_make(1024);
    struct writ_config *config;
    struct writ_verdict verdict;
    unsigned hints;
    bool needed;

    writ_buf_fmt(&approval, "{review: finance, annotations: %s}", annotations);
    writ_buf_byte(&approval, '\0');
    decide(approval.ptr, "{}", arena, &config, &verdict);
    hints = definition != NULL
                ? writ_approval_hints(writ_value_of(arena, writ_view_str(definition)))
                : 0;
    needed = writ_approval_annotated(verdict.approval, definition != NULL ? &hints : NULL);
    writ_config_drop(config);
    return needed;
}

START_TEST(approval_by_annotation_uses_the_defaults_of_mcp)
{
    static const struct {
        const char *wanted, *definition;
        bool needed;
    } rows[] = {
        {"{destructiveHint: true}", "{}", true},
        {"{destructiveHint: true}", "{\"annotations\":{}}", true},
        {"{destructiveHint: true}", "{\"annotations\":{\"destructiveHint\":true}}", true},
        {"{destructiveHint: true}", "{\"annotations\":{\"destructiveHint\":false}}", false},
        {"{destructiveHint: true}", "{\"annotations\":{\"destructiveHint\":\"no\"}}", true},
        {"{destructiveHint: true}", "{\"annotations\":{\"destructiveHint\":null}}", true},
        {"{destructiveHint: true}", "{\"annotations\":{\"readOnlyHint\":true}}", false},
        {"{destructiveHint: true}",
            "{\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":true}}", false},
        {"{destructiveHint: true}", "{\"annotations\":[{\"destructiveHint\":false}]}", true},
        {"{destructiveHint: true}", NULL, true},
        {"{readOnlyHint: false}", "{}", true},
        {"{readOnlyHint: false}", "{\"annotations\":{\"readOnlyHint\":true}}", false},
        {"{idempotentHint: false}", "{}", true},
        {"{idempotentHint: false}", "{\"annotations\":{\"idempotentHint\":true}}", false},
        {"{openWorldHint: true}", "{}", true},
        {"{openWorldHint: true}", "{\"annotations\":{\"openWorldHint\":false}}", false},
        {"{openWorldHint: true, destructiveHint: true}",
            "{\"annotations\":{\"openWorldHint\":false}}", false},
        {"{}", "{\"annotations\":{\"readOnlyHint\":true}}", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(needs_as(rows[i].wanted, rows[i].definition) == rows[i].needed, "row %zu", i);
    }
}
END_TEST

START_TEST(approval_of_impossible_annotations_is_refused)
{
    static const char *const bad[] = {"{readOnlyHint: true, destructiveHint: true}",
        "{destructive: true}", "{destructiveHint: 1}", "[destructiveHint]"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        writ_auto_buf text = writ_buf_make(4096);
        struct writ_config *config = NULL;

        writ_buf_fmt(&text, HEAD "{review: finance, annotations: %s}}\n", bad[i]);
        ck_assert_code(
            writ_load_text(writ_buf_view(&text), "t.yaml", NULL, &config, NULL), WRIT_E_INVALID);
        ck_assert_ptr_null(config);
    }
}
END_TEST

WRIT_UNIT_MAIN("approval", approval_is_needed_unless_a_condition_clearly_fails,
    caller_is_excluded_from_the_voters_under_every_name,
    review_that_could_not_be_decided_is_refused_with_its_place,
    approval_read_of_an_unknown_review_is_refused, approval_by_annotation_uses_the_defaults_of_mcp,
    approval_of_impossible_annotations_is_refused)
