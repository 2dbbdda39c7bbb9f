/* rule.h: entries of `tools` that are refused, and which entry applies to which tool. The exact
 * name wins, then the first pattern. */
#include "policy/model/rule.h"
#include "policy/read/load.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

struct fault {
    const char *yaml, *found;
};

static const struct fault faults[] = {
    {"t: {scope: s}",
        "c.yaml:4: /tools/t: must be a name such as upstream/tool or upstream/read_*\n"},
    {"/t: {scope: s}",
        "c.yaml:4: /tools/~1t: must be a name such as upstream/tool or upstream/read_*\n"},
    {"u/: {scope: s}",
        "c.yaml:4: /tools/u~1: must be a name such as upstream/tool or upstream/read_*\n"},
    {"\"u/a[\": {scope: s}", "c.yaml:4: /tools/u~1a[: is not a pattern: a [ is not closed\n"},
    {"u/t: []", "c.yaml:4: /tools/u~1t: must be a rule, or a list of 1 to 64 rules\n"},
    {"u/t: x", "c.yaml:4: /tools/u~1t: must be a map of options, not a text\n"},
    {"u/t: [{scope: s, roles: [a]}, x]",
        "c.yaml:4: /tools/u~1t/1: must be a map of options, not a text\n"},
    {"u/t: {scope: \"{a\"}",
        "c.yaml:4: /tools/u~1t/scope: has a { that does not begin {argument}\n"},
    {"u/t: {scope: s, duplicates: maybe}", "c.yaml:4: /tools/u~1t/duplicates: does not know "
                                           "\"maybe\". Use one of: forbid, replay, allow, auto\n"},
    {"u/t: {scope: s, state: {}}",
        "c.yaml:4: /tools/u~1t/state: needs exactly one of tool, resource and http\n"},
    {"u/t: {scope: s, state: {tool: u/r, http: \"http://h/\"}}",
        "c.yaml:4: /tools/u~1t/state: needs exactly one of tool, resource and http\n"},
    {"u/t: {scope: s, state: {tool: r}}",
        "c.yaml:4: /tools/u~1t/state/tool: must be upstream/tool\n"},
    {"u/t: {scope: s, state: {tool: v/r}}",
        "c.yaml:4: /tools/u~1t/state/tool: there is no upstream \"v\"\n"},
    {"u/t: {scope: s, state: {tool: u/r, select: [size]}}",
        "c.yaml:4: /tools/u~1t/state/select: element 0 is not a JSON Pointer such as /size\n"},
    {"u/t: {scope: s, state: {resource: \"x:{a}\", arguments: {}}}",
        "c.yaml:4: /tools/u~1t/state/arguments: only a tool has arguments\n"},
    {"u/t: {scope: s, state: {http: \"http://{host}/\"}}",
        "c.yaml:4: /tools/u~1t/state/http: must be an http or https URL whose host and first slash "
        "come before any {argument}\n"},
    {"u/t: {scope: s, state: {http: \"http://10.0.0.7:9/{a}\"}}",
        "c.yaml:4: /tools/u~1t/state/http: is plain http beyond loopback, where others can read "
        "and change the state. Use https, or set insecure: true for a network of your own\n"},
    {"u/t: {scope: s, state: {http: \"http://127.evil.example/\"}}",
        "c.yaml:4: /tools/u~1t/state/http: is plain http beyond loopback, where others can read "
        "and change the state. Use https, or set insecure: true for a network of your own\n"},
    {"u/t: {scope: s, state: {tool: u/r, insecure: true}}",
        "c.yaml:4: /tools/u~1t/state/insecure: is only for a state over http\n"},
    {"u/t: {scope: s, state: {http: \"http://h{a}\"}}",
        "c.yaml:4: /tools/u~1t/state/http: must be an http or https URL whose host and first slash "
        "come before any {argument}\n"},
    {"u/t: {scope: s, state: {http: \"file:///{a}\"}}",
        "c.yaml:4: /tools/u~1t/state/http: must be an http or https URL whose host and first slash "
        "come before any {argument}\n"},
    {"u/t: {scope: s, budgets: {}}",
        "c.yaml:4: /tools/u~1t/budgets: must be a list of at most 16 budgets\n"},
    {"u/t: {scope: s, budgets: [{window: 1h}]}",
        "c.yaml:4: /tools/u~1t/budgets/0: needs exactly one of calls and sum\n"},
    {"u/t: {scope: s, budgets: [{calls: 1}]}",
        "c.yaml:4: /tools/u~1t/budgets/0: lacks window: Length of a window. Windows follow each "
        "other from 1970 on.\n"},
    {"u/t: {scope: s, budgets: [{window: 1h, calls: 1, per: [agent, agent]}]}",
        "c.yaml:4: /tools/u~1t/budgets/0/per: must list agent, tenant and tool, each at most "
        "once\n"},
    {"u/t: {scope: s, budgets: [{window: 1h, calls: 1, per: [role]}]}",
        "c.yaml:4: /tools/u~1t/budgets/0/per: must list agent, tenant and tool, each at most "
        "once\n"},
    {"u/t: {scope: s, budgets: [{window: 1h, sum: {arg: a, max: -1}}]}",
        "c.yaml:4: /tools/u~1t/budgets/0/sum/max: cannot be negative\n"},
    {"u/t: {scope: s, budgets: [{window: 1h, sum: {arg: a}}]}",
        "c.yaml:4: /tools/u~1t/budgets/0/sum: lacks max: Largest sum, exactly as written.\n"},
    {"u/t: {scope: s, budgets: [{name: n, window: 1h, calls: 1}, {name: n, window: 2h, calls: 1}]}",
        "c.yaml:4: /tools/u~1t: budget \"n\" differs from another of the same name\n"},
    {"u/t: {scope: s, contents: {keep: forever}}",
        "c.yaml:4: /tools/u~1t/contents/keep: must be a duration such as 500ms, 60s, 10m, 24h or "
        "7d\n"},
    {"u/t: {scope: s, contents: {keep: 1d, results: 9MiB}}",
        "c.yaml:4: /tools/u~1t/contents/results: is out of range: must be 0 to 8MiB\n"},
    {"u/t: {scope: \"s/{/a/b}\", arguments: [{arg: /a/b, op: required, secret: true}]}",
        "c.yaml:4: /tools/u~1t/scope: names a secret argument: records have the scope. Leave it "
        "out, or do not mark the argument\n"},
    {"u/t: {scope: s, target: \"{/l/0/k}\", arguments: [{arg: l, op: each, value: {arg: k, op: "
     "required, secret: true}}]}",
        "c.yaml:4: /tools/u~1t/target: names a secret argument: records have the target. Leave it "
        "out, or do not mark the argument\n"},
    {"u/t: {scope: s, budgets: [{window: 1h, sum: {arg: a, max: 1}}], arguments: [{arg: a, op: le, "
     "value: 1, secret: true}]}",
        "c.yaml:4: /tools/u~1t/budgets/0: sums a secret argument: records have the amount. Count "
        "calls, or do not mark the argument\n"},
    {"u/t: {scope: s, approval: {review: r, when: [{arg: a, op: le, value: 1, secret: true}]}}\n"
     "reviews: {r: {voters: [{id: v}]}}",
        "c.yaml:4: /tools/u~1t/approval/when: secret marks the arguments of a rule: set it in "
        "`arguments` of the rule\n"},
};

START_TEST(rule_read_of_an_invalid_rule_is_refused)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        writ_auto_buf yaml = writ_buf_make(4000);
        writ_auto_buf found = {0};
        writ_buf_fmt(
            &yaml, "agents: []\nupstreams: {u: {stdio: [x]}}\ntools:\n  %s\n", faults[i].yaml);
        found = writ_ruling_faults(writ_buf_view(&yaml));
        ck_assert_str_eq(found.ptr, faults[i].found);
    }
}
END_TEST

#define HIDDEN(rule, by)                                                                           \
    "c.yaml:4: /tools/u~1t/" rule ": warning: is never reached: rule " by                          \
    " of the list is for all of its callers\n"

static const struct fault doubts[] = {
    {"u/t: {target: x}",
        "c.yaml:4: /tools/u~1t: warning: has no scope: every call is refused (scope_missing)\n"},
    {"u/t: {scope: s, replay: {ttl: 1h}}",
        "c.yaml:4: /tools/u~1t/replay: warning: has no effect without duplicates: replay\n"},
    {"u/t: {scope: s, shadow: true}",
        "c.yaml:4: /tools/u~1t: warning: shadow: calls run whatever the verdict is\n"},
    {"u/t: [{scope: s}, {scope: s, roles: [a]}]", HIDDEN("1", "1")},
    {"u/t: [{scope: s}, {scope: s}]", HIDDEN("1", "1")},
    {"u/t: [{scope: s, roles: [a, b]}, {scope: s, roles: [c]}, {scope: s, roles: [b]}]",
        HIDDEN("2", "1")},
    {"u/t: [{scope: s, roles: [a]}, {scope: s, roles: [a], tenants: [x]}]", HIDDEN("1", "1")},
    {"u/t: [{scope: s, roles: [a], tenants: [x]}, {scope: s, roles: [a]}]", ""},
    {"u/t: [{scope: s, agents: [a]}, {scope: s, roles: [a]}]", ""},
    {"\"u/*\": {scope: s}\n  u/read_*: {scope: s}\n  u/read_x: {scope: s}",
        "c.yaml:5: /tools/u~1read_*: warning: is never reached: \"u/*\" stands before it and "
        "matches "
        "the same tools\n"},
    {"u/read_*: {scope: s}\n  \"u/read_[ab]?\": {scope: s}\n  u/reap_*: {scope: s}",
        "c.yaml:5: /tools/u~1read_[ab]?: warning: is never reached: \"u/read_*\" stands before it "
        "and matches the same tools\n"},
    {"u/read_*: {scope: s}\n  u/*: {scope: s}\n  u/**: {scope: s}", ""},
    {"u/t: {scope: s, arguments: [{arg: p, op: glob, value: \"/a/**/*.txt\"}]}",
        "c.yaml:4: /tools/u~1t/arguments/0/value: warning: does not match in the directory itself: "
        "/a/**/*.txt matches /a/b/x.txt and not /a/x.txt. Use /a/**.txt for both\n"},
    {"u/t: {scope: s, arguments: [{arg: p, op: glob, value: \"/a/**\"}]}", ""},
    {"u/t: [{scope: s, roles: [a]}, {scope: s}]", ""},
    {"u/t: {scope: s, contents: {results: 1KiB}}",
        "c.yaml:4: /tools/u~1t/contents: warning: keeps nothing: set keep, such as keep: 30d\n"},
    {"u/t: {scope: \"s/{/a/c}/{b}\", contents: {keep: 1d}, arguments: [{arg: /a/b, op: required, "
     "secret: true}]}",
        ""},
};

START_TEST(rule_read_of_a_doubtful_rule_warns)
{
    for (size_t i = 0; i < sizeof doubts / sizeof doubts[0]; i++) {
        writ_auto_buf yaml = writ_buf_make(4000);
        writ_auto_buf found = {0};
        writ_buf_fmt(
            &yaml, "agents: []\nupstreams: {u: {stdio: [x]}}\ntools:\n  %s\n", doubts[i].yaml);
        writ_buf_byte(&yaml, '\0');
        found = writ_ruling_warnings(yaml.ptr);
        ck_assert_str_eq(found.ptr, doubts[i].found);
    }
}
END_TEST

START_TEST(rule_auto_forbids_unless_the_annotations_are_trusted)
{
    static const struct {
        const char *defaults, *rule;
        enum writ_duplicates duplicates;
        bool repeats_reads, doubts_reads;
    } cases[] = {
        {"{}", "", WRIT_DUPLICATES_FORBID, false, true},
        {"{}", ", pin: true", WRIT_DUPLICATES_FORBID, true, false},
        {"{believe_annotations: true}", "", WRIT_DUPLICATES_FORBID, true, false},
        {"{believe_annotations: true}", ", duplicates: forbid", WRIT_DUPLICATES_FORBID, false,
            false},
        {"{duplicates: forbid, pin: true}", "", WRIT_DUPLICATES_FORBID, false, false},
        {"{duplicates: forbid, pin: true}", ", duplicates: auto", WRIT_DUPLICATES_FORBID, true,
            false},
        {"{duplicates: replay}", "", WRIT_DUPLICATES_REPLAY, false, false},
        {"{duplicates: allow}", ", duplicates: auto", WRIT_DUPLICATES_FORBID, false, true},
    };
    static const struct writ_agent agent = {.id = {"dev", 3}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf yaml = writ_buf_make(4000);
        struct writ_config *config;
        const struct writ_tool_rule *rule;

        writ_buf_fmt(
            &yaml, "defaults: %s\ntools:\n  u/t: {scope: s%s}\n", cases[i].defaults, cases[i].rule);
        writ_buf_byte(&yaml, '\0');
        config = writ_ruling_config(yaml.ptr);
        rule = writ_policy_find(config, &agent, WRIT_LIT("u"), WRIT_LIT("t"), NULL);
        ck_assert_int_eq(rule->duplicates, cases[i].duplicates);
        ck_assert_msg(rule->repeats_reads == cases[i].repeats_reads, "case %zu", i);
        ck_assert_msg(writ_rule_doubts_reads(config->policy, WRIT_LIT("u"), WRIT_LIT("t")) ==
                          cases[i].doubts_reads,
            "case %zu", i);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(rule_find_prefers_the_exact_name_then_the_first_pattern)
{
    struct writ_config *config = writ_ruling_config("tools:\n"
                                                    "  u/read_*: {scope: s}\n"
                                                    "  u/*: {scope: s}\n"
                                                    "  u/read_all: {scope: s}\n"
                                                    "  v/a?[bc]: {scope: s}\n"
                                                    "  u/a/b: {scope: s}\n");
    static const struct {
        const char *upstream, *tool, *key;
    } cases[] = {{"u", "read_all", "u/read_all"}, {"u", "read_one", "u/read_*"},
        {"u", "write", "u/*"}, {"u", "read_", "u/read_*"}, {"u", "Read_all", "u/*"},
        {"v", "axb", "v/a?[bc]"}, {"v", "axd", NULL}, {"v", "read_all", NULL}, {"w", "x", NULL},
        {"u", "", "u/*"}, {"", "x", NULL}, {"u", "a/b", "u/a/b"}, {"u", "a/c", NULL},
        {"u/a", "b", NULL}, {"U", "read_all", NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_tool_entry *entry = writ_rule_entry(
            config->policy, writ_view_str(cases[i].upstream), writ_view_str(cases[i].tool));
        ck_assert_msg((entry == NULL) == (cases[i].key == NULL), "%s", cases[i].tool);
        if (entry != NULL) {
            ck_assert_view(entry->key, cases[i].key);
        }
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(rule_find_in_many_tools_finds_each)
{
    writ_auto_buf yaml = writ_buf_make(1 << 20);
    struct writ_config *config;

    writ_buf_str(&yaml, "tools:\n");
    for (size_t i = 0; i < 5000; i++) {
        writ_buf_fmt(&yaml, "  u/tool%zu: {scope: s}\n", i);
    }
    writ_buf_byte(&yaml, '\0');
    config = writ_ruling_config(yaml.ptr);
    for (size_t i = 0; i < 5001; i++) {
        writ_auto_buf name = writ_buf_make(100);
        writ_buf_fmt(&name, "tool%zu", i);
        ck_assert_int_eq(
            writ_rule_entry(config->policy, WRIT_LIT("u"), writ_buf_view(&name)) != NULL, i < 5000);
    }
    writ_config_drop(config);
}
END_TEST

static void
put_rules(struct writ_buf *ret, const char *begin, const char *one, size_t n)
{
    writ_buf_str(ret, begin);
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_buf_str(ret, one);
    }
    writ_buf_str(ret, "]");
}

START_TEST(rules_and_budgets_have_maxima)
{
    static const struct {
        const char *begin, *one, *end;
        size_t most;
    } cases[] = {{"tools: {u/t: [", "{scope: s, roles: [a]}", "}", WRIT_RULES_MAX},
        {"tools: {u/t: {scope: s, budgets: [", "{window: 1h, calls: 1}", "}}", WRIT_BUDGETS_MAX}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t over = 0; over <= 1; over++) {
            writ_auto_buf yaml = writ_buf_make(1 << 16);
            struct writ_config *config = NULL;
            put_rules(&yaml, cases[i].begin, cases[i].one, cases[i].most + over);
            writ_buf_str(&yaml, cases[i].end);
            ck_assert_msg(writ_is_ok(writ_load_text(
                              writ_buf_view(&yaml), "f", NULL, &config, NULL)) == (over == 0),
                "case %zu", i);
            writ_config_drop(config);
        }
    }
}
END_TEST

WRIT_UNIT_MAIN("rule", rule_read_of_an_invalid_rule_is_refused, rule_read_of_a_doubtful_rule_warns,
    rule_auto_forbids_unless_the_annotations_are_trusted,
    rule_find_prefers_the_exact_name_then_the_first_pattern, rule_find_in_many_tools_finds_each,
    rules_and_budgets_have_maxima)
