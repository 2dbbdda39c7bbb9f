/* A rule that does what its author means, by the definitions of its tools, has no finding. Each way
 * to miss that has one, with its line. */
#include "support/unit.h"

#include "policy/fit/fit.h"
#include "policy/read/load.h"
#include "support/evidence/value.h"

#include <stdio.h>
#include <string.h>

#define MEMORY ((size_t)64 << 20)

static const char definitions[] =
    "[{\"name\":\"read\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\"},\"head\":{\"type\":\"integer\",\"maximum\":100},"
    "\"mode\":{\"enum\":[\"fast\",\"slow\"]}},"
    "\"required\":[\"path\"],\"additionalProperties\":false}},"
    "{\"name\":\"read_all\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"paths\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":10},"
    "\"minItems\":1}},\"required\":[\"paths\"]}},"
    "{\"name\":\"search\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"filter\":{\"type\":\"object\",\"properties\":{\"min\":{\"type\":\"number\"},"
    "\"max\":{\"type\":\"number\"}},\"required\":[\"min\"]},"
    "\"meta\":{\"type\":\"object\"}},\"required\":[\"filter\"]}},"
    "{\"name\":\"free\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"odd\\u202e\"}]";

/* "error 7 message" and so on, in lines. */
static void
fit(const char *tools, struct writ_buf *ret)
{
    static const char *const words[] = {"error", "warning", "note"};
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_json *all = writ_value_of(arena, writ_view_str(definitions));
    struct writ_fit_tool listed[8];
    struct writ_fit_server server = {.upstream = WRIT_LIT("fs"), .tools = listed};
    struct writ_config *config = NULL;
    struct writ_err err = {{0}, 0, 0};
    char text[4096];

    (void)snprintf(text, sizeof text,
        "listen: 127.0.0.1:0\nstore: s.db\nkeys: k\nissuer: i\nagents: [{id: a, anonymous: true, "
        "tenant: t}]\nupstreams: {fs: {stdio: [x]}}\ntools:\n%s",
        tools);
    WRIT_JSON_EACH(one, all)
    {
        listed[server.n++] =
            (struct writ_fit_tool){writ_json_string(writ_json_get(one, WRIT_LIT("name"))), one};
    }
    ck_assert_msg(
        writ_is_ok(writ_load_text(writ_view_str(text), "f", NULL, &config, &err)), "%s", err.text);
    ck_assert_ok(writ_fit_check(config, &server, &findings, NULL));
    writ_findings_sort(&findings);
    for (size_t i = 0; i < findings.n; i++) {
        const struct writ_finding *one = &findings.items[i];
        writ_buf_fmt(ret, "%s %zu " WRIT_VIEW_FMT " " WRIT_VIEW_FMT "\n", words[one->severity],
            one->line, WRIT_VIEW_ARG(one->pointer), WRIT_VIEW_ARG(one->message));
    }
    writ_config_drop(config);
}

/* Exactly these lines, and the note on tools without a rule; NULL: none. */
static void
expect(const char *tools, const char *const *lines, size_t n)
{
    writ_auto_buf got = writ_buf_make(1 << 20);
    size_t count = 0;

    fit(tools, &got);
    writ_buf_byte(&got, '\0');
    for (const char *c = got.ptr; *c != '\0'; c++) {
        count += *c == '\n';
    }
    n -= lines[0] == NULL;
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(
            strstr(got.ptr, lines[i]) != NULL, "%s\nlacks: %s\nhas:\n%s", tools, lines[i], got.ptr);
    }
    ck_assert_msg(count == n + 1, "%s\nhas %zu, not %zu:\n%s", tools, count, n + 1, got.ptr);
}

#define EXPECT(tools, ...)                                                                         \
    do {                                                                                           \
        static const char *const lines_[] = {__VA_ARGS__};                                         \
        expect((tools), lines_, sizeof lines_ / sizeof lines_[0]);                                 \
    } while (0)

#define READ(extra)                                                                                \
    "  fs/read:\n    scope: s\n    arguments:\n"                                                   \
    "      - {arg: path, op: under, value: /srv}\n" extra

#define OPTIONAL                                                                                   \
    "      - {arg: head, op: le, value: 50, optional: true}\n"                                     \
    "      - {arg: mode, op: in, value: [fast], optional: true}\n"

START_TEST(check_of_a_rule_that_fits_tells_of_other_tools_alone)
{
    writ_auto_buf got = writ_buf_make(1 << 20);

    fit(READ(OPTIONAL), &got);
    ck_assert_view(writ_buf_view(&got),
        "note 6 /upstreams/fs no rule is for these tools, so their calls are refused: read_all, "
        "search, free, odd\\u202e\n");
}
END_TEST

START_TEST(check_of_an_entry_for_no_tool_is_an_error)
{
    EXPECT("  fs/raed: {scope: s}\n",
        "error 8 /tools/fs~1raed no tool of \"fs\" has this name. It lists: read, read_all,");
    EXPECT("  fs/write_*: {scope: s}\n",
        "error 8 /tools/fs~1write_* no tool of \"fs\" matches this pattern. It lists: read,");
    EXPECT(READ(OPTIONAL) "  fs/rea?: {scope: s}\n",
        "warning 14 /tools/fs~1rea? is never reached: other rules are for every tool");
}
END_TEST

START_TEST(check_of_an_argument_that_the_tool_lacks_is_an_error)
{
    EXPECT(READ(OPTIONAL "      - {arg: tail, op: le, value: 5, optional: true}\n"),
        "error 14 /tools/fs~1read/arguments/3 \"tail le\" names an argument that tool \"read\" "
        "does "
        "not have. Correct");
    EXPECT(READ(OPTIONAL "      - {arg: tail, op: le, value: 5}\n"),
        "\"tail le\" names an argument that tool \"read\" does not have: every call of it is "
        "refused.");
    EXPECT("  fs/search:\n    scope: s\n    arguments:\n"
           "      - {arg: /filter/min, op: ge, value: 0}\n"
           "      - {arg: /filter/max, op: ge, value: 0, optional: true}\n"
           "      - {arg: /filter/mean, op: ge, value: 0, optional: true}\n"
           "      - {arg: meta, op: type, value: any, optional: true}\n",
        "error 13 /tools/fs~1search/arguments/2 \"/filter/mean ge\" names an argument");
    EXPECT(READ(OPTIONAL) "    target: 'files/{+name}'\n",
        "error 14 /tools/fs~1read/target target needs /name, which tool \"read\" does not have");
    EXPECT(READ(OPTIONAL) "    target: 'files/{head}'\n",
        "note 14 /tools/fs~1read/target target needs /head, which tool \"read\" does not require");
    EXPECT(READ(OPTIONAL) "    budgets: [{window: 1h, sum: {arg: path, max: 5}, per: [agent]}]\n",
        "error 14 /tools/fs~1read/budgets budgets needs /path, which is of another type");
}
END_TEST

START_TEST(check_of_a_forbidden_argument_wants_it_optional_in_the_tool)
{
    EXPECT(READ("      - {arg: head, op: forbidden}\n      - {arg: mode, op: forbidden}\n"
                "      - {arg: tail, op: forbidden}\n      - {arg: path, op: forbidden}\n"),
        "error 15 /tools/fs~1read/arguments/4 \"path forbidden\" refuses every call of tool "
        "\"read\"");
}
END_TEST

START_TEST(check_of_a_bound_tells_never_and_always)
{
    EXPECT(READ("      - {arg: head, op: ge, value: 101, optional: true}\n"
                "      - {arg: mode, op: in, value: [quick], optional: true}\n"),
        "error 12 /tools/fs~1read/arguments/1 \"head ge\" can never hold: tool \"read\" takes an "
        "integer up to 100 there",
        "error 13 /tools/fs~1read/arguments/2 \"mode in\" can never hold: tool \"read\" takes one "
        "of "
        "\"fast\", \"slow\" there");
    EXPECT(READ("      - {arg: head, op: le, value: 100, optional: true}\n"
                "      - {arg: mode, op: type, value: string, optional: true}\n"),
        "note 12 /tools/fs~1read/arguments/1 \"head le\" always holds: tool \"read\" takes");
    EXPECT("  fs/read_all:\n    scope: s\n    arguments:\n"
           "      - {arg: paths, op: each, value: [{op: prefix, value: /a},"
           " {op: min_length, value: 11}]}\n",
        "error 11 /tools/fs~1read_all/arguments/0/value/1 \"min_length\" can never hold");
}
END_TEST

START_TEST(check_of_an_optional_argument_wants_the_constraint_optional)
{
    EXPECT(READ("      - {arg: head, op: le, value: 50}\n"
                "      - {arg: mode, op: in, value: [fast], optional: true}\n"),
        "note 12 /tools/fs~1read/arguments/1 \"head le\" refuses calls of tool \"read\" without "
        "the "
        "argument");
}
END_TEST

START_TEST(check_of_an_argument_without_constraint_is_an_error_when_it_is_needed)
{
    EXPECT("  fs/read:\n    scope: s\n    arguments:\n" OPTIONAL,
        "error 10 /tools/fs~1read/arguments no constraint names /path, which tool \"read\" "
        "requires");
    EXPECT(READ(""), "note 10 /tools/fs~1read/arguments no constraint names /head, /mode of tool "
                     "\"read\": a call with it is refused");
    EXPECT("  fs/search: {scope: s, arguments: [{arg: /filter/min, op: ge, value: 0}]}\n",
        "no constraint names /filter/max, /meta of tool \"search\"");
    EXPECT("  fs/search: {scope: s, arguments: [{arg: filter, op: type, value: object},"
           " {arg: meta, op: type, value: object, optional: true}]}\n",
        "error 8 /tools/fs~1search/arguments no constraint names /filter/min, which tool "
        "\"search\" "
        "requires",
        "no constraint names /filter/max, /meta/* of tool \"search\"");
    EXPECT("  fs/read_all: {scope: s, arguments: [{arg: paths, op: min_items, value: 1}]}\n",
        "\"paths min_items\" always holds", "no constraint names /paths/- of tool \"read_all\"");
    EXPECT("  fs/free: {scope: s, arguments: [{arg: '', op: type, value: any}]}\n", NULL);
}
END_TEST

/* An optional constraint of a pattern is for those of its tools that have the argument. */
START_TEST(check_of_a_pattern_looks_at_each_of_its_tools)
{
    EXPECT("  fs/read*:\n    scope: s\n    arguments:\n"
           "      - {arg: path, op: under, value: /srv, optional: true}\n"
           "      - {arg: paths, op: each, value: {op: under, value: /srv}, optional: true}\n"
           "      - {arg: head, op: le, value: 50, optional: true}\n"
           "      - {arg: mode, op: type, value: string, optional: true}\n",
        NULL);
    EXPECT("  fs/read*:\n    scope: s\n    arguments:\n"
           "      - {arg: path, op: under, value: /srv}\n"
           "      - {arg: paths, op: each, value: {op: under, value: /srv}, optional: true}\n"
           "      - {arg: head, op: le, value: 50, optional: true}\n"
           "      - {arg: mode, op: type, value: string, optional: true}\n",
        "error 11 /tools/fs~1read*/arguments/0 \"path under\" names an argument that tool "
        "\"read_all\" does not have: every call of it is refused");
}
END_TEST

WRIT_UNIT_MAIN("fit", check_of_a_rule_that_fits_tells_of_other_tools_alone,
    check_of_an_entry_for_no_tool_is_an_error, check_of_an_argument_that_the_tool_lacks_is_an_error,
    check_of_a_forbidden_argument_wants_it_optional_in_the_tool,
    check_of_a_bound_tells_never_and_always,
    check_of_an_optional_argument_wants_the_constraint_optional,
    check_of_an_argument_without_constraint_is_an_error_when_it_is_needed,
    check_of_a_pattern_looks_at_each_of_its_tools)
