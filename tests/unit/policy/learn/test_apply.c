/* apply.h: what each form of a file becomes, line by line, and that nothing else in it changes. */
#include "policy/learn/apply.h"

#include "policy/read/load.h"
#include "support/evidence/value.h"
#include "support/policy/learning.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#include <string.h>

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX  (1 << 20)
#define HEAD                                                                                       \
    "listen: 127.0.0.1:1\nissuer: https://gateway.example.com\nkeys: k\nstore: sqlite://l\n"       \
    "upstreams: {s: {http: \"http://127.0.0.1:9/mcp\"}}\n"
#define WHY "# 30 calls, 1 value: value, the one value that was seen\n"

static void
learn_freep(struct writ_learn **learn)
{
    writ_learn_free(*learn);
}

#define auto_learn WRIT_AUTO(struct writ_learn *, learn_freep)

/* The file with what 30 calls with these arguments say. `drop` is the number of a constraint that
 * leaves; -1: none. NULL: no place is found. */
static const char *
applied_calls(const char *file, const char *arguments, int drop, struct writ_arena *arena)
{
    auto_learn learn = NULL;
    bool dropped[8] = {false};
    struct writ_config *config = writ_ruling_config(file);
    struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
    struct writ_learned learned;
    struct writ_apply_change change = {.learned = &learned, .drop = dropped};
    static const struct writ_agent dev = {.id = {"dev", 3}};
    writ_result result;

    ck_assert_ok(writ_learn_new(&learn, NULL));
    for (size_t run = 1; run <= 30; run++) {
        writ_learning_add(learn, arguments, run);
    }
    learned = writ_learning_propose(learn, 20, arena);
    learned.agents = (struct writ_views){.n = 0};
    if (drop >= 0) {
        dropped[drop] = true;
    }
    change.tool = writ_learn_tools(learn);
    change.entry = writ_rule_entry(config->policy, WRIT_LIT("s"), WRIT_LIT("t"));
    change.rule = writ_policy_find(config, &dev, WRIT_LIT("s"), WRIT_LIT("t"), NULL);
    result = writ_apply_put(writ_view_str(file), &change, &text);
    writ_buf_byte(&text, '\0');
    writ_config_drop(config);
    if (!writ_is_ok(result)) {
        ck_assert_int_eq(result.code, WRIT_E_ABSENT);
        return NULL;
    }
    config = writ_ruling_config(text.ptr);
    ck_assert_view(writ_ruling_reason(config, "s/t", arguments), "policy_ok");
    ck_assert_view(writ_ruling_reason(config, "s/t", "{\"a\":\"y\"}"), "constraint_failed");
    writ_config_drop(config);
    return text.ptr;
}

static const char *
applied(const char *file, int drop, struct writ_arena *arena)
{
    return applied_calls(file, "{\"a\":\"x\"}", drop, arena);
}

struct edit {
    const char *before, *after;
    int drop;
};

static void
check_edits(const struct edit *edits, size_t n)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    for (size_t i = 0; i < n; i++) {
        const char *after = applied(edits[i].before, edits[i].drop, arena);

        ck_assert_ptr_nonnull(after);
        ck_assert_str_eq(after, edits[i].after);
    }
}

START_TEST(apply_adds_a_rule_to_each_form_of_tools)
{
    static const struct edit edits[] = {
        {HEAD "tools: {} # none\n",
            HEAD "tools: # none\n  s/t:\n    scope: s/t\n    duplicates: forbid # no identical "
                 "call came "
                 "again in one run\n    arguments:\n      - {arg: a, op: in, value: [x]} " WHY,
            -1},
        {HEAD "tools:\n  s/other: {scope: o} # mine\n\nlimits: {body: 1MiB}\n",
            HEAD
            "tools:\n  s/other: {scope: o} # mine\n  s/t:\n    scope: s/t\n    duplicates: "
            "forbid # no identical call came again in one run\n    arguments:\n      - {arg: a, "
            "op: in, value: [x]} " WHY "\nlimits: {body: 1MiB}\n",
            -1},
        {HEAD "tools: {s/other: {scope: o}}\n",
            HEAD "tools: {s/other: {scope: o}, \"s/t\": {\"scope\": \"s/t\", \"duplicates\": "
                 "\"forbid\", \"arguments\": [{\"arg\": \"a\", \"op\": \"in\", \"value\": "
                 "[\"x\"]}]}}\n",
            -1},
    };

    check_edits(edits, sizeof edits / sizeof edits[0]);
}
END_TEST

START_TEST(apply_adds_arguments_to_a_rule_without_them)
{
    static const struct edit edits[] = {
        {HEAD "tools:\n  s/t:\n    scope: t # one\n  s/u: {scope: u}\n",
            HEAD
            "tools:\n  s/t:\n    scope: t # one\n    arguments:\n      - {arg: a, op: in, value: "
            "[x]} " WHY "  s/u: {scope: u}\n",
            -1},
        {HEAD "tools:\n  s/t: {scope: t}\n",
            HEAD "tools:\n  s/t: {scope: t, \"arguments\": [{\"arg\": \"a\", \"op\": \"in\", "
                 "\"value\": [\"x\"]}]}\n",
            -1},
    };

    check_edits(edits, sizeof edits / sizeof edits[0]);
}
END_TEST

START_TEST(apply_keeps_own_arguments_in_front)
{
    static const struct edit edits[] = {
        {HEAD "tools:\n  s/t:\n    scope: t\n    arguments:\n    - {arg: a, op: max_length, value: "
              "5} "
              "# mine\n    duplicates: allow\n",
            HEAD
            "tools:\n  s/t:\n    scope: t\n    arguments:\n    - {arg: a, op: max_length, value: "
            "5} # mine\n    - {arg: a, op: in, value: [x]} " WHY "    duplicates: allow\n",
            -1},
        {HEAD "tools:\n  s/t:\n    scope: t\n    arguments: [{arg: a, op: prefix, value: x}]\n",
            HEAD
            "tools:\n  s/t:\n    scope: t\n    arguments:\n      - {arg: a, op: prefix, value: "
            "x}\n      - {arg: a, op: in, value: [x]} " WHY,
            -1},
        {HEAD "tools: {s/t: {scope: t, arguments: [{arg: a, op: prefix, value: x}]}}\n",
            HEAD "tools: {s/t: {scope: t, arguments: [{arg: a, op: prefix, value: x}, {\"arg\": "
                 "\"a\", \"op\": \"in\", \"value\": [\"x\"]}]}}\n",
            -1},
    };

    check_edits(edits, sizeof edits / sizeof edits[0]);
}
END_TEST

START_TEST(apply_removes_a_dropped_argument)
{
    static const struct edit edits[] = {
        {HEAD "tools:\n  s/t:\n    scope: t\n    arguments:\n      # two\n      - {arg: a, op: eq, "
              "value: z} # old\n      - {arg: a, op: prefix, value: x}\n",
            HEAD "tools:\n  s/t:\n    scope: t\n    arguments:\n      # two\n      - {arg: a, op: "
                 "prefix, value: x}\n      - {arg: a, op: in, value: [x]} " WHY,
            0},
        {HEAD "tools:\n  s/t:\n    scope: t\n    arguments:\n      - {arg: a, op: eq, value: z}\n",
            HEAD "tools:\n  s/t:\n    scope: t\n    arguments:\n      - {arg: a, op: in, value: "
                 "[x]} " WHY,
            0},
    };

    check_edits(edits, sizeof edits / sizeof edits[0]);
}
END_TEST

START_TEST(apply_copies_the_rule_of_a_pattern)
{
    static const struct edit edits[] = {
        {HEAD "tools:\n  s/*: {scope: t, shadow: false} # all\n",
            HEAD
            "tools:\n  s/*: {scope: t, shadow: false} # all\n  s/t:\n    scope: t\n    shadow: "
            "false\n    arguments:\n      - {arg: a, op: in, value: [x]} " WHY,
            -1},
        {HEAD "tools:\n  s/*:\n    scope: t\n    duplicates: allow # yes\n  s/u: {scope: u}\n",
            HEAD
            "tools:\n  s/*:\n    scope: t\n    duplicates: allow # yes\n  s/t:\n    scope: t\n   "
            " duplicates: allow # yes\n    arguments:\n      - {arg: a, op: in, value: [x]} " WHY
            "  s/u: {scope: u}\n",
            -1},
        {HEAD "tools:\n  s/*:\n    - {agents: [eve], scope: e}\n    - scope: t\n",
            HEAD
            "tools:\n  s/*:\n    - {agents: [eve], scope: e}\n    - scope: t\n  s/t:\n    - "
            "{agents: [eve], scope: e}\n    - scope: t\n      arguments:\n        - {arg: a, op: "
            "in, value: [x]} " WHY,
            -1},
        {HEAD "tools: {\"s/*\": {scope: t}}\n",
            HEAD
            "tools: {\"s/*\": {scope: t}, \"s/t\": {scope: t, \"arguments\": [{\"arg\": \"a\", "
            "\"op\": \"in\", \"value\": [\"x\"]}]}}\n",
            -1},
    };

    check_edits(edits, sizeof edits / sizeof edits[0]);
}
END_TEST

START_TEST(apply_rule_with_equal_constraint_adds_nothing)
{
    static const struct {
        const char *own;
        size_t news;
    } cases[] = {
        {"[{arg: n, op: type, value: integer}, {arg: n, op: ge, value: 0}, {arg: n, op: le, value: "
         "50}]",
            0},
        {"[{arg: n, op: type, value: integer}, {arg: n, op: le, value: 200}]", 2},
        {"[{arg: n, op: le, value: 101, optional: true}]", 3},
        {"[{arg: m, op: le, value: 50}]", 3},
        {"[]", 3},
    };
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    auto_learn learn = NULL;
    struct writ_learned learned;

    ck_assert_ok(writ_learn_new(&learn, NULL));
    for (size_t run = 0; run <= 101; run++) {
        char text[32];
        struct writ_buf buf = writ_buf_over(text, sizeof text);

        writ_buf_fmt(&buf, "{\"n\":%zu}", run);
        writ_buf_byte(&buf, '\0');
        writ_learning_add(learn, text, 0);
        writ_learning_add(learn, "{\"n\":0}", 0);
        writ_learning_add(learn, "{\"n\":101}", 0);
    }
    learned = writ_learning_propose(learn, 20, arena);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        struct writ_config *config;
        struct writ_apply_change change = {.tool = writ_learn_tools(learn), .learned = &learned};

        writ_buf_fmt(&text, HEAD "tools:\n  s/t:\n    scope: t\n    arguments: %s\n", cases[i].own);
        writ_buf_byte(&text, '\0');
        config = writ_ruling_config(text.ptr);
        change.entry = writ_rule_entry(config->policy, WRIT_LIT("s"), WRIT_LIT("t"));
        change.rule = &change.entry->rules[0];
        ck_assert_uint_eq(writ_apply_news(&change), cases[i].news);
        writ_config_drop(config);
    }
}
END_TEST

/* What an agent sent must not hide from who reads the difference, in either style. */
START_TEST(apply_escapes_characters_that_hide)
{
    static const char calls[] = "{\"a\":\"x\\u202ey\\udb40\\udc41 \\\"\"}";
    static const struct {
        const char *file, *has;
    } rows[] = {
        {HEAD "tools: {}\n", "value: [\"x\\u202ey\\U000e0041 \\\"\"]}"},
        {HEAD "tools: {s/other: {scope: o}}\n", "\"value\": [\"x\\u202ey\\U000e0041 \\\"\"]}"},
    };
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *after = applied_calls(rows[i].file, calls, -1, arena);

        ck_assert_ptr_nonnull(after);
        ck_assert_msg(strstr(after, rows[i].has) != NULL, "%s", after);
    }
}
END_TEST

WRIT_UNIT_MAIN("apply", apply_escapes_characters_that_hide, apply_adds_a_rule_to_each_form_of_tools,
    apply_adds_arguments_to_a_rule_without_them, apply_keeps_own_arguments_in_front,
    apply_removes_a_dropped_argument, apply_copies_the_rule_of_a_pattern,
    apply_rule_with_equal_constraint_adds_nothing)
