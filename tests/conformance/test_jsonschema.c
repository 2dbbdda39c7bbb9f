/* The required tests of the official suite for JSON Schema 2020-12 (vectors/json-schema-2020-12).
 *
 * Nothing is fetched: schemas whose references lead to a server are refused. Those are named here,
 * with the number of their tests, and all others must agree. */
#include "policy/schema/jsonschema.h"
#include "support/evidence/value.h"
#include "support/unit.h"
#include "support/vectors.h"

#include <stdio.h>

#define TESTS_ALL     1299
#define TESTS_REFUSED 53

struct tally {
    size_t tests, refused, wrong;
};

/* A group whose references lead to a server: to the suite's own, or to the metaschema. */
static bool
leads_to_a_server(struct writ_view file, struct writ_view description)
{
    static const char *const groups[] = {"validate definition against metaschema",
        "remote ref, containing refs itself",
        "strict-tree schema, guards against misspelled properties",
        "tests for implementation dynamic anchor and reference link",
        "$ref and $dynamicAnchor are independent of order - $defs first",
        "$ref and $dynamicAnchor are independent of order - $ref first",
        "$ref to $dynamicRef finds detached $dynamicAnchor",
        "schema that uses custom metaschema with with no validation vocabulary",
        "ignore unrecognized optional vocabulary"};

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (writ_view_is(description, groups[i])) {
            return true;
        }
    }
    return writ_view_is(file, "refRemote.json");
}

static void
check_test(const struct writ_jsonschema *schema, const struct writ_json *test, const char *file,
    struct writ_view group, struct tally *tally)
{
    writ_auto_arena arena = writ_value_arena();
    bool valid = writ_json_type(writ_value_get(test, "valid")) == WRIT_JSON_TRUE;
    enum writ_jsonschema_answer answer =
        writ_jsonschema_check(schema, writ_value_get(test, "data"), arena, NULL);

    if (answer != (valid ? WRIT_JSONSCHEMA_YES : WRIT_JSONSCHEMA_NO)) {
        struct writ_view what = writ_json_string(writ_value_get(test, "description"));
        printf("%s: " WRIT_VIEW_FMT ": " WRIT_VIEW_FMT ": %d\n", file, WRIT_VIEW_ARG(group),
            WRIT_VIEW_ARG(what), (int)answer);
        tally->wrong++;
    }
}

static void
check_group(const char *file, const struct writ_json *group, struct tally *tally)
{
    const struct writ_json *tests = writ_value_get(group, "tests");
    struct writ_view description = writ_json_string(writ_value_get(group, "description"));
    struct writ_jsonschema *schema = NULL;
    struct writ_err err = {0};
    writ_result r = writ_jsonschema_new(
        writ_value_get(group, "schema"), WRIT_JSONSCHEMA_FORMATS_ANNOTATE, &schema, &err);

    tally->tests += tests->count;
    if (!writ_is_ok(r)) {
        tally->refused += tests->count;
        if (!leads_to_a_server(writ_view_str(file), description)) {
            printf("%s: " WRIT_VIEW_FMT ": %s\n", file, WRIT_VIEW_ARG(description), err.text);
            tally->wrong++;
        }
        return;
    }
    WRIT_JSON_EACH(test, tests)
    {
        check_test(schema, test, file, description, tally);
    }
    writ_jsonschema_free(schema);
}

static void
check_file(const char *name, struct writ_view content, void *arg)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *groups = writ_value_of(arena, content);

    WRIT_JSON_EACH(group, groups)
    {
        check_group(name, group, arg);
    }
}

START_TEST(required_tests_of_the_suite_agree)
{
    struct tally tally = {0};

    (void)writ_vectors_each("json-schema-2020-12", ".json", check_file, &tally);
    ck_assert_uint_eq(tally.wrong, 0);
    ck_assert_uint_eq(tally.tests, TESTS_ALL);
    ck_assert_uint_eq(tally.refused, TESTS_REFUSED);
}
END_TEST

WRIT_UNIT_MAIN("jsonschema", required_tests_of_the_suite_agree)
