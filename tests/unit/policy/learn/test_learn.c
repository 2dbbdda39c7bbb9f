/* learn.h: which step each kind of value takes, what it lets through and what not, and what stands
 * behind it. The rules are read as any configuration. */
#include "policy/learn/learn.h"

#include "support/evidence/value.h"
#include "support/policy/learning.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#define ARENA_MAX ((size_t)256 << 20)
#define RUNS      100

static void
learn_freep(struct writ_learn **learn)
{
    writ_learn_free(*learn);
}

#define auto_learn WRIT_AUTO(struct writ_learn *, learn_freep)

static struct writ_learn *
new_learn(void)
{
    struct writ_learn *learn = NULL;

    ck_assert_ok(writ_learn_new(&learn, NULL));
    return learn;
}

/* Calls of one argument. A # in a form is the number of the run. */
struct example {
    const char *forms[4]; /* each in every run */
    const char *step, *yes[4], *no[8];
};

static void
add_form(struct writ_learn *learn, const char *form, size_t run)
{
    char value[512], text[1024];
    struct writ_buf buf = writ_buf_over(value, sizeof value);
    struct writ_buf whole = writ_buf_over(text, sizeof text);
    struct writ_view rest = writ_view_str(form);
    size_t at = writ_view_find(rest, '#');

    writ_buf_put(&buf, writ_view_sub(rest, 0, at));
    if (at < rest.len) {
        writ_buf_u64(&buf, run);
        writ_buf_put(&buf, writ_view_sub(rest, at + 1, rest.len));
    }
    writ_buf_str(&whole, "{\"x\":");
    writ_buf_put(&whole, writ_buf_view(&buf));
    writ_buf_str(&whole, "}");
    writ_buf_byte(&whole, '\0');
    ck_assert_ok(writ_buf_check(&whole, NULL));
    writ_learning_add(learn, text, run);
}

static bool
allowed(const struct writ_config *config, const char *value, struct writ_arena *arena)
{
    struct writ_buf call = writ_buf_in(arena, 1 << 20);
    struct writ_verdict verdict;

    writ_buf_str(&call, "{");
    if (value[0] != '-' || value[1] != '\0') {
        writ_buf_fmt(&call, "\"x\":%s", value);
    }
    writ_buf_str(&call, "}");
    writ_buf_byte(&call, '\0');
    writ_ruling_decide_text(config, "s/t", call.ptr, arena, &verdict);
    return verdict.answer == WRIT_POLICY_ALLOW;
}

static void
check_example(const struct example *example)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_learned learned;
    struct writ_config *config;
    const char *yaml;

    for (size_t run = 1; run <= RUNS; run++) {
        for (size_t i = 0; i < 4 && example->forms[i] != NULL; i++) {
            add_form(learn, example->forms[i], run);
        }
    }
    learned = writ_learning_propose(learn, 20, arena);
    yaml = writ_learning_yaml(learn, &learned, arena);
    config = writ_ruling_config(yaml);
    ck_assert_str_eq(
        writ_ladder_step_name(writ_learning_argument(&learned, "/x")->step), example->step);
    for (size_t i = 0; i < 4 && example->yes[i] != NULL; i++) {
        ck_assert_msg(
            allowed(config, example->yes[i], arena), "%s is refused\n%s", example->yes[i], yaml);
    }
    for (size_t i = 0; i < 8 && example->no[i] != NULL; i++) {
        ck_assert_msg(
            !allowed(config, example->no[i], arena), "%s passes\n%s", example->no[i], yaml);
    }
    ck_assert(!allowed(config, "1,\"y\":1", arena));
    writ_config_drop(config);
}

START_TEST(learn_values_take_the_tightest_step_that_their_runs_agree_on)
{
    static const struct example examples[] = {
        {{"\"a\""}, "value", {"\"a\""}, {"\"b\"", "1", "null", "-"}},
        {{"\"a\"", "\"b\""}, "enumeration", {"\"a\"", "\"b\""}, {"\"c\"", "[\"a\"]", "-"}},
        {{"true", "false"}, "switch", {"true"}, {"\"true\"", "1"}},
        {{"7", "9.5"}, "enumeration", {"7", "9.5", "7.0"}, {"8", "\"7\""}},
        {{"#", "1", "100"}, "range", {"1", "55", "100"}, {"0", "101", "5.5", "\"5\""}},
        {{"#", "#.5"}, "wide range", {"3.25", "200"}, {"0.9", "201", "-1"}},
        {{"-#"}, "wide range", {"-100", "0"}, {"-101", "1"}},
        {{"\"/srv/box/a/#\"", "\"/srv/box/b/#\""}, "folder",
            {"\"/srv/box/a/new\"", "\"/srv/box/b/c/d\""},
            {"\"/srv/box/c/x\"", "\"/srv/box/a-evil/x\"", "\"/srv/box/a/../../x\"", "\"a\"",
                "\"/etc/passwd\""}},
        {{"\"/srv/box/#/x\""}, "common folder", {"\"/srv/box/new/x\""},
            {"\"/srv/boxes\"", "\"/srv\""}},
        {{"\"src/#.c\"", "\"docs/a.md\""}, "relative path", {"\"src/new.c\""},
            {"\"/etc/passwd\"", "\"../x\"", "\"a/../../x\"", "\"~/x\"", "\"c:/x\"", "\"\""}},
        {{"\"https://a.example.com/#\"", "\"https://b.example.com/#\""}, "host",
            {"\"https://a.example.com/new\""},
            {"\"https://c.example.com/1\"", "\"https://evil.test/a.example.com\"",
                "\"https://a.example.com.evil.test/\"", "\"ftp://a.example.com/\""}},
        {{"\"https://h#.example.com/\""}, "host suffix", {"\"https://new.example.com/\""},
            {"\"https://example.com.evil.test/\"", "\"https://evil.test/\""}},
        {{"\"a#@shop.example\"", "\"b#@SHOP.example\""}, "domain", {"\"new@shop.example\""},
            {"\"a@evil.test\"", "\"a@shop.example.evil.test\"", "\"a@shop.example,b@evil.test\""}},
        {{"\"00000000-0000-4000-8000-000000001#\"", "\"ffffffff-ffff-4fff-bfff-ffffffffffff\""},
            "shape", {NULL}, {"\"\"", "\"1\""}},
        {{"\"2026-01-02T03:04:05.#Z\""}, "format", {"\"2027-12-31T00:00:00Z\""},
            {"\"now\"", "\"2026\""}},
        {{"\"T-#\"", "\"AB-#\""}, "shape", {"\"T-7\"", "\"XY-55\""},
            {"\"t-7\"", "\"T-\"", "\"T-7 \""}},
        {{"\"note no. # of all!\""}, "prefix", {"\"note no. new\""},
            {"\"a note no. 1\"", "\"note no. \\n\""}},
        {{"\"#\\n!\""}, "text", {"\"a\\tb\""},
            {"\"a\\u0000\"", "\"a\\u202eb\"", "\"longer\"", "\"\""}},
        {{"\"#\\u200b!\""}, "any text", {"\"x\""}, {"1", "\"012345678901234567890\""}},
        {{"[\"a\"]", "[]"}, "items", {"[]", "[\"a\"]"},
            {"[\"a\",\"a\"]", "[\"b\"]", "[1]", "\"a\""}},
        {{"{}"}, "object", {"{}"}, {"{\"a\":1}", "[]", "1"}},
        {{"\"text!! #\"", "#.25"}, "type", {"\"other\"", "5"}, {"true", "null", "[1]"}},
        {{"1", "[1]"}, "anything", {"\"x\"", "{\"a\":[1]}"}, {"-"}},
        {{"\"(#)\""}, "line", {"\"[9]\""}, {"\"(1)\\u200b\"", "\"123456\"", "\"\\n\""}},
        {{"null", "5"}, "value", {"null", "5"}, {"6", "-"}},
        {{"null"}, "value", {"null"}, {"0", "\"\"", "-"}},
    };

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        check_example(&examples[i]);
    }
}
END_TEST

START_TEST(learn_objects_and_lists_have_constraints_for_all_that_is_inside)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_learned learned;
    struct writ_config *config;
    struct writ_verdict verdict;
    static const struct {
        const char *arguments;
        bool allowed;
    } calls[] = {
        {"{\"o\":{\"a\":1,\"b\":{\"c\":\"x\"}},\"l\":[{\"k\":1},{\"k\":2,\"m\":true}]}", true},
        {"{\"o\":{\"a\":1},\"l\":[]}", true},
        {"{\"l\":[]}", true},
        {"{\"o\":null,\"l\":[]}", true},
        {"{\"o\":{\"a\":2},\"l\":[]}", false},
        {"{\"o\":{\"a\":1,\"z\":1},\"l\":[]}", false},
        {"{\"o\":{\"a\":1,\"b\":{\"c\":\"y\"}},\"l\":[]}", false},
        {"{\"o\":{\"a\":1},\"l\":[{\"k\":3}]}", false},
        {"{\"o\":{\"a\":1},\"l\":[{\"k\":1,\"z\":1}]}", false},
        {"{\"o\":{\"a\":1},\"l\":[{}]}", false},
        {"{\"o\":{\"a\":1}}", false},
    };

    for (size_t run = 1; run <= RUNS; run++) {
        for (size_t i = 0; i < 4; i++) {
            writ_learning_add(learn, calls[i].arguments, run);
        }
    }
    learned = writ_learning_propose(learn, 20, arena);
    config = writ_ruling_config(writ_learning_yaml(learn, &learned, arena));
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        writ_ruling_decide_text(config, "s/t", calls[i].arguments, arena, &verdict);
        ck_assert_msg((verdict.answer == WRIT_POLICY_ALLOW) == calls[i].allowed, "%s\n%s",
            calls[i].arguments, writ_learning_yaml(learn, &learned, arena));
    }
    ck_assert(!learned.open);
    writ_config_drop(config);
}
END_TEST

START_TEST(learn_few_calls_stay_as_they_are_and_say_so)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_learned tight, loose;

    for (size_t run = 1; run <= 19; run++) {
        add_form(learn, "\"/srv/box/#\"", run);
    }
    tight = writ_learning_propose(learn, 20, arena);
    loose = writ_learning_propose(learn, 19, arena);
    ck_assert_int_eq(writ_learning_argument(&tight, "/x")->step, WRIT_LEARN_ENUMERATION);
    ck_assert(writ_learning_argument(&tight, "/x")->few);
    ck_assert_uint_eq(tight.cost, 19);
    ck_assert_ptr_nonnull(
        __builtin_strstr(writ_learning_yaml(learn, &tight, arena), "too few calls to generalise"));
    ck_assert_int_eq(writ_learning_argument(&loose, "/x")->step, WRIT_LEARN_COMMON_FOLDER);
    ck_assert(!writ_learning_argument(&loose, "/x")->few);
}
END_TEST

START_TEST(learn_one_strange_run_in_many_does_not_loosen_a_list)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_learned_argument *argument;
    struct writ_learned learned;

    for (size_t run = 1; run <= 200; run++) {
        add_form(learn, "\"EUR\"", run);
        add_form(learn, "\"USD\"", run);
    }
    add_form(learn, "\"XAU\"", 201);
    learned = writ_learning_propose(learn, 20, arena);
    argument = writ_learning_argument(&learned, "/x");
    ck_assert_int_eq(argument->step, WRIT_LEARN_ENUMERATION);
    ck_assert_uint_eq(argument->cost, 1);
    ck_assert_uint_eq(argument->without, 1);
    ck_assert_uint_eq(argument->decisions_n, 1);
    ck_assert_uint_eq(argument->calls, 401);
    ck_assert_uint_eq(argument->values, 3);
    ck_assert_uint_eq(learned.cost, 1);
}
END_TEST

START_TEST(learn_calls_of_one_run_count_as_one_witness)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_learned learned;

    for (size_t run = 1; run <= 50; run++) { /* each run has a value of its own, three times */
        for (size_t i = 0; i < 3; i++) {
            add_form(learn, "\"T-#\"", run);
        }
    }
    learned = writ_learning_propose(learn, 20, arena);
    ck_assert(learned.by_run);
    ck_assert_int_eq(writ_learning_argument(&learned, "/x")->step, WRIT_LEARN_SHAPE);
    ck_assert_uint_eq(writ_learning_argument(&learned, "/x")->without, 150);
}
END_TEST

START_TEST(learn_secrets_are_not_written_down)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_learned learned;

    for (size_t run = 1; run <= RUNS; run++) {
        writ_learning_add(
            learn, "{\"password\":\"hunter2\",\"auth\":{\"apiKey\":\"k-12345\"}}", run);
    }
    learned = writ_learning_propose(learn, 20, arena);
    ck_assert_ptr_null(__builtin_strstr(writ_learning_yaml(learn, &learned, arena), "hunter2"));
    ck_assert_ptr_null(__builtin_strstr(writ_learning_yaml(learn, &learned, arena), "k-12345"));
}
END_TEST

START_TEST(learn_more_than_a_rule_can_hold_passes_and_is_said)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_learned learned;
    struct writ_config *config;

    for (size_t run = 1; run <= 60; run++) { /* a map: each call has another member */
        char text[64];
        struct writ_buf buf = writ_buf_over(text, sizeof text);

        writ_buf_fmt(&buf, "{\"map\":{\"k%zu\":1},\"y\":2}", run);
        writ_buf_byte(&buf, '\0');
        writ_learning_add(learn, text, run);
    }
    learned = writ_learning_propose(learn, 20, arena);
    ck_assert(learned.open);
    ck_assert_int_eq(writ_learning_argument(&learned, "/map")->step, WRIT_LEARN_ANYTHING);
    ck_assert_int_eq(writ_learning_argument(&learned, "/y")->step, WRIT_LEARN_VALUE);
    config = writ_ruling_config(writ_learning_yaml(learn, &learned, arena));
    ck_assert_view(
        writ_ruling_reason(config, "s/t", "{\"map\":{\"new\":[1]},\"y\":2}"), "policy_ok");
    ck_assert_view(writ_ruling_reason(config, "s/t", "{\"map\":{},\"y\":3}"), "constraint_failed");
    writ_config_drop(config);
}
END_TEST

START_TEST(learn_values_beyond_the_limit_are_counted_and_memory_is_bounded)
{
    auto_learn learn = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_learned_argument *argument;
    struct writ_learned learned;

    for (size_t run = 1; run <= 3 * WRIT_SPOT_VALUES_MAX; run++) {
        add_form(learn, "\"/srv/box/#/x\"", run);
    }
    learned = writ_learning_propose(learn, 20, arena);
    argument = writ_learning_argument(&learned, "/x");
    ck_assert(argument->more_values);
    ck_assert_uint_eq(argument->values, WRIT_SPOT_VALUES_MAX);
    ck_assert_uint_eq(argument->without, 3 * WRIT_SPOT_VALUES_MAX);
    ck_assert_uint_eq(argument->decisions_n, WRIT_LEARN_DECISIONS_MAX);
    ck_assert_int_eq(argument->step, WRIT_LEARN_COMMON_FOLDER);
}
END_TEST

START_TEST(learn_order_of_calls_does_not_change_the_proposal)
{
    auto_learn one = new_learn();
    auto_learn other = new_learn();
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    static const char *const forms[] = {"\"b\"", "\"a\"", "\"c\"", "\"B\""};
    struct writ_learned a, b;

    for (size_t run = 1; run <= RUNS; run++) {
        for (size_t i = 0; i < 4; i++) {
            add_form(one, forms[i], run);
            add_form(other, forms[3 - i], RUNS + 1 - run);
        }
    }
    a = writ_learning_propose(one, 20, arena);
    b = writ_learning_propose(other, 20, arena);
    ck_assert_str_eq(writ_learning_yaml(one, &a, arena), writ_learning_yaml(other, &b, arena));
}
END_TEST

START_TEST(learn_agents_are_named_unless_every_run_has_its_own)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    for (int own = 0; own < 2; own++) {
        auto_learn learn = new_learn();
        struct writ_learned learned;

        for (size_t run = 1; run <= 30; run++) {
            char agent[16], name[16];
            struct writ_buf buf = writ_buf_over(agent, sizeof agent);
            struct writ_buf run_name = writ_buf_over(name, sizeof name);
            struct writ_learn_call call = {.upstream = WRIT_LIT("s"),
                .tool = WRIT_LIT("t"),
                .rule = WRIT_LIT(""),
                .decision = WRIT_LIT("d"),
                .arguments = writ_value_of(arena, WRIT_LIT("{}"))};

            writ_buf_fmt(&buf, "a%zu", own != 0 ? run : run % 3);
            writ_buf_fmt(&run_name, "%zu", run);
            call.agent = writ_buf_view(&buf);
            call.run = writ_buf_view(&run_name);
            ck_assert_ok(writ_learn_add(learn, &call, NULL));
        }
        learned = writ_learning_propose(learn, 20, arena);
        ck_assert_uint_eq(learned.agents.n, own != 0 ? 0 : 3);
    }
}
END_TEST

START_TEST(learn_repeats_in_one_run_are_noticed)
{
    auto_learn learn = new_learn();

    writ_learning_add(learn, "{\"a\":1,\"b\":2}", 1);
    writ_learning_add(learn, "{\"a\":1,\"b\":2}", 2);
    ck_assert(!writ_learn_tools(learn)->repeats);
    writ_learning_add(learn, "{\"b\":2,\"a\":1.0}", 2);
    ck_assert(writ_learn_tools(learn)->repeats);
}
END_TEST

START_TEST(learn_without_memory_fails_or_proposes_the_same)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    auto_learn whole = new_learn();
    struct writ_learned want, got;
    const char *text;
    bool reached = true;

    writ_learning_add(whole, "{\"a\":[1,{\"b\":\"/srv/x\"}]}", 1);
    want = writ_learning_propose(whole, 1, arena);
    text = writ_learning_yaml(whole, &want, arena);
    for (long nth = 1; reached; nth++) {
        auto_learn learn = NULL;
        struct writ_learn_call call = {.upstream = WRIT_LIT("s"),
            .tool = WRIT_LIT("t"),
            .rule = WRIT_LIT(""),
            .agent = WRIT_LIT("dev"),
            .run = WRIT_LIT("run 1"),
            .decision = WRIT_LIT("d"),
            .arguments = writ_value_of(arena, WRIT_LIT("{\"a\":[1,{\"b\":\"/srv/x\"}]}"))};
        writ_result result;

        writ_fault_arm(nth);
        result = writ_learn_new(&learn, NULL);
        if (writ_is_ok(result)) {
            result = writ_learn_add(learn, &call, NULL);
        }
        reached = writ_fault_disarm();
        if (!writ_is_ok(result)) {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
            continue;
        }
        got = writ_learning_propose(learn, 1, arena);
        ck_assert_str_eq(writ_learning_yaml(learn, &got, arena), text);
    }
}
END_TEST

WRIT_UNIT_MAIN("learn", learn_values_take_the_tightest_step_that_their_runs_agree_on,
    learn_objects_and_lists_have_constraints_for_all_that_is_inside,
    learn_few_calls_stay_as_they_are_and_say_so,
    learn_one_strange_run_in_many_does_not_loosen_a_list,
    learn_calls_of_one_run_count_as_one_witness, learn_secrets_are_not_written_down,
    learn_more_than_a_rule_can_hold_passes_and_is_said,
    learn_values_beyond_the_limit_are_counted_and_memory_is_bounded,
    learn_order_of_calls_does_not_change_the_proposal,
    learn_agents_are_named_unless_every_run_has_its_own, learn_repeats_in_one_run_are_noticed,
    learn_without_memory_fails_or_proposes_the_same)
