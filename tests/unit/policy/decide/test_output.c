/* output.h: rules on results. A result passes or is withheld, and one that cannot be judged is
 * withheld. Results on every way that they come are in integration/results.test.mjs. */
#include "policy/decide/output.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#include "policy/decide/policy.h"

static struct writ_arena *arena;
static struct writ_config *config;

/* The rules of "up/t" in a configuration with that `result`, and that in its defaults. */
static const struct writ_output_rules *
rules_of(const char *result, const char *defaults)
{
    static const struct writ_agent agent = {.id = {"dev", 3}};
    writ_auto_buf yaml = writ_buf_make(65536);
    const struct writ_tool_rule *rule;

    writ_buf_fmt(&yaml, "{\"tools\":{\"up/t\":{\"scope\":\"s\",\"result\":%s}}%s%s%s}", result,
        defaults != NULL ? ",\"defaults\":{\"result\":" : "", defaults != NULL ? defaults : "",
        defaults != NULL ? "}" : "");
    writ_buf_byte(&yaml, '\0');
    config = writ_ruling_config(yaml.ptr);
    rule = writ_policy_find(config, &agent, WRIT_LIT("up"), WRIT_LIT("t"), NULL);
    ck_assert_ptr_nonnull(rule);
    ck_assert_ptr_nonnull(rule->result);
    return rule->result;
}

static struct writ_output
applied(const struct writ_output_rules *rules, const char *text, bool error)
{
    struct writ_output output;
    const struct writ_json *value;

    ck_assert_ok(
        writ_json_read(writ_view_str(text), &writ_json_limits_default, arena, &value, NULL));
    if (error) {
        writ_output_apply_error(
            rules, writ_clock_system(), value, writ_view_str(text).len, arena, &output);
    } else {
        writ_output_apply(
            rules, writ_clock_system(), value, writ_view_str(text).len, arena, &output);
    }
    return output;
}

static void
begin(void)
{
    arena = writ_arena_new((size_t)64 << 20);
    ck_assert_ptr_nonnull(arena);
}

static void
finish(void)
{
    writ_config_drop(config);
    writ_arena_free(arena);
}

START_TEST(output_applies_each_rule_to_a_result)
{
    static const struct {
        const char *result, *given, *want; /* want NULL: unchanged */
    } cases[] = {
        {"{}", "{\"content\":[]}", NULL},
        {"{\"remove\":[\"/a\"]}", "{\"b\":1.50}", NULL},
        {"{\"remove\":[\"/a\",\"/l/0\"]}", "{\"a\":{},\"l\":[1,2],\"n\":1.50}",
            "{\"l\":[2],\"n\":1.50}"},
        {"{\"redact\":[{\"pattern\":\"s\"}]}", "{\"a\":[\"s\",{\"b\":\"xsx\"}]}",
            "{\"a\":[\"[redacted]\",{\"b\":\"x[redacted]x\"}]}"},
        {"{\"redact\":[{\"pattern\":\"a\",\"with\":\"b\"},{\"pattern\":\"b\",\"with\":\"c\"}]}",
            "{\"x\":\"ab\"}", "{\"x\":\"cc\"}"},
        {"{\"redact\":[{\"pattern\":\"Q\"}]}",
            "{\"resultType\":\"Q\",\"requestState\":\"Q\",\"taskId\":\"Q\"}", NULL},
        {"{\"redact\":[{\"pattern\":\"q\",\"with\":\"\"}]}",
            "{\"content\":[{\"type\":\"audio\",\"data\":\"q\",\"mimeType\":\"audio/q\"},"
            "{\"type\":\"text\",\"data\":\"q\",\"text\":\"q\"},"
            "{\"type\":\"resource\",\"resource\":{\"blob\":\"q\",\"uri\":\"q\"}}]}",
            "{\"content\":[{\"type\":\"audio\",\"data\":\"q\",\"mimeType\":\"audio/\"},"
            "{\"type\":\"text\",\"data\":\"\",\"text\":\"\"},"
            "{\"type\":\"resource\",\"resource\":{\"blob\":\"q\",\"uri\":\"\"}}]}"},
        {"{\"redact\":[{\"detect\":[card.number,bank.*],\"with\":\"*\"}]}",
            "{\"x\":\"4111 1111 1111 1111, DE89370400440532013000, &#52;111111111111111.\"}",
            "{\"x\":\"*, *, *.\"}"},
        {"{\"redact\":[{\"detect\":[secret.*,host.private]}]}",
            "{\"x\":\"at 10.0.0.1, %31%30.0.0.1 or 8.8.8.8\",\"n\":4111111111111111}",
            "{\"x\":\"at [redacted], [redacted] or 8.8.8.8\",\"n\":4111111111111111}"},
        {"{\"redact\":[{\"detect\":[secret.*],\"with\":\"*\"}],\"refuse\":[secret.*]}",
            "{\"a\":{\"password\":[1,\"hunter2-Tr0ub\"],\"b\":\"hunter2-Tr0ub\"}}",
            "{\"a\":{\"password\":[1,\"*\"],\"b\":\"hunter2-Tr0ub\"}}"},
        {"{\"redact\":[{\"detect\":[host.private]}],\"refuse\":[host.private]}",
            "{\"x\":\"10.0.0.1\"}", "{\"x\":\"[redacted]\"}"},
        {"{\"refuse\":[prompt.*]}", "{\"x\":\"a fine day\"}", NULL},
        {"{\"refuse\":[host.private]}",
            "{\"requestState\":\"10.0.0.1\",\"content\":[{\"type\":\"image\",\"data\":\"10.0.0.1\"}"
            "]}",
            NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_output output;
        begin();
        output = applied(rules_of(cases[i].result, NULL), cases[i].given, false);
        ck_assert_int_eq(output.refused, WRIT_REASON_NONE);
        ck_assert_int_eq(output.changed, cases[i].want != NULL);
        if (cases[i].want != NULL) {
            ck_assert_view(output.text, cases[i].want);
            ck_assert_uint_gt(output.applied.n, 0);
        }
        finish();
    }
}
END_TEST

START_TEST(output_of_an_unreadable_result_is_withheld)
{
    static const struct {
        const char *result, *given;
        enum writ_reason want;
    } cases[] = {
        {"{}", "[]", WRIT_REASON_RESULT_RULE_FAILED},
        {"{\"max_bytes\":2}", "{}", WRIT_REASON_NONE},
        {"{\"max_bytes\":2}", "{ }", WRIT_REASON_RESULT_TOO_LARGE},
        {"{\"content\":[]}", "{}", WRIT_REASON_NONE},
        {"{\"content\":[]}", "{\"structuredContent\":null}", WRIT_REASON_RESULT_CONTENT_REFUSED},
        {"{\"content\":[text]}", "{\"content\":[{\"type\":\"text\"}]}", WRIT_REASON_NONE},
        {"{\"content\":[text]}", "{\"content\":[1]}", WRIT_REASON_RESULT_CONTENT_REFUSED},
        {"{\"content\":[\"image/*\"]}", "{\"content\":[{\"type\":\"image\"}]}",
            WRIT_REASON_RESULT_CONTENT_REFUSED},
        {"{\"content\":[image]}", "{\"content\":[{\"type\":\"image\"}]}", WRIT_REASON_NONE},
        {"{\"is_error\":refuse}", "{\"isError\":true}", WRIT_REASON_RESULT_ERROR_REFUSED},
        {"{\"is_error\":refuse}", "{\"isError\":false}", WRIT_REASON_NONE},
        {"{\"redact\":[{\"pattern\":x}]}", "{\"x\":1}", WRIT_REASON_RESULT_RULE_FAILED},
        {"{\"redact\":[{\"pattern\":x}]}", "{\"a\":[{\"x\":1}]}", WRIT_REASON_RESULT_RULE_FAILED},
        {"{\"redact\":[{\"detect\":[host.private]}]}", "{\"10.0.0.1\":1}",
            WRIT_REASON_RESULT_RULE_FAILED},
        {"{\"refuse\":[host.private]}", "{\"10.0.0.1\":1}", WRIT_REASON_RESULT_CONTENT_REFUSED},
        {"{\"refuse\":[card.number]}", "{\"a\":[4111111111111111]}",
            WRIT_REASON_RESULT_CONTENT_REFUSED},
        {"{\"refuse\":[card.number],\"remove\":[/a]}", "{\"a\":[4111111111111111]}",
            WRIT_REASON_NONE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_output output;
        begin();
        output = applied(rules_of(cases[i].result, NULL), cases[i].given, false);
        ck_assert_msg(output.refused == cases[i].want, "case %zu: %d", i, (int)output.refused);
        finish();
    }
}
END_TEST

START_TEST(output_applies_the_defaults_before_the_rule)
{
    const struct writ_output_rules *rules;
    writ_auto_buf told = writ_buf_make(4096);

    begin();
    rules = rules_of("{\"max_bytes\":9,\"remove\":[/b],\"redact\":[{\"pattern\":y}]}",
        "{\"max_bytes\":5,\"content\":[text],\"remove\":[/a],\"redact\":[{\"pattern\":x}],"
        "\"is_error\":error}");
    writ_output_tell(rules, &told);
    ck_assert_view(writ_buf_view(&told),
        "max_bytes 9, content text, remove /a, remove /b, redact x, redact y, is_error error");
    ck_assert(applied(rules, "{}", false).is_error == false);
    ck_assert(applied(rules, "{\"isError\":true}", false).refused == WRIT_REASON_RESULT_TOO_LARGE);
    finish();
}
END_TEST

START_TEST(output_rule_can_omit_the_default_redaction)
{
    const struct writ_output_rules *rules;
    writ_auto_buf told = writ_buf_make(4096);

    begin();
    rules = rules_of("{\"default_redact\":false,\"redact\":[{\"pattern\":y}]}",
        "{\"remove\":[/a],\"redact\":[{\"pattern\":x}]}");
    writ_output_tell(rules, &told);
    ck_assert_view(writ_buf_view(&told), "remove /a, redact y, is_error pass");
    finish();
}
END_TEST

START_TEST(output_of_an_error_replaces_texts_only)
{
    struct writ_output output;

    begin();
    output = applied(rules_of("{\"max_bytes\":1,\"content\":[],\"remove\":[/data],"
                              "\"redact\":[{\"pattern\":q,\"with\":z}]}",
                         NULL),
        "{\"code\":-1,\"message\":\"q\",\"data\":[\"q\"]}", true);
    ck_assert_int_eq(output.refused, WRIT_REASON_NONE);
    ck_assert_view(output.text, "{\"code\":-1,\"message\":\"z\",\"data\":[\"z\"]}");
    finish();
}
END_TEST

START_TEST(result_without_memory_is_withheld)
{
    const struct writ_output_rules *rules;
    struct writ_output output;
    const struct writ_json *value;
    struct writ_arena *full;

    begin();
    rules = rules_of("{\"redact\":[{\"pattern\":q}]}", NULL);
    ck_assert_ok(
        writ_json_read(WRIT_LIT("{\"a\":\"q\"}"), &writ_json_limits_default, arena, &value, NULL));
    full = writ_arena_new(1);
    writ_output_apply(rules, writ_clock_system(), value, 9, full, &output);
    ck_assert_int_eq(output.refused, WRIT_REASON_RESULT_RULE_FAILED);
    writ_arena_free(full);
    finish();
}
END_TEST

WRIT_UNIT_MAIN("output", output_applies_each_rule_to_a_result,
    output_of_an_unreadable_result_is_withheld, output_applies_the_defaults_before_the_rule,
    output_rule_can_omit_the_default_redaction, output_of_an_error_replaces_texts_only,
    result_without_memory_is_withheld)
