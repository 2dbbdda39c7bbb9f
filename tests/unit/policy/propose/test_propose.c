/* propose.h: what the proposed rules of made-up tools let through, keyword by keyword on both
 * sides, and what a tool needs before its calls run. The rules are read as any configuration. */
#include "policy/propose/propose.h"

#include "policy/model/constraint.h"
#include "policy/propose/proposal_text.h"
#include "policy/read/load.h"
#include "support/evidence/value.h"
#include "support/policy/proposing.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#define TEXT_MAX (4 << 20)

/* The proposal for one tool. */
static struct writ_proposal
propose(const char *definition, struct writ_arena *arena)
{
    struct writ_proposal proposal = writ_propose_start(WRIT_LIT("s"), arena);
    const struct writ_json *value = writ_value_of(arena, writ_view_str(definition));

    ck_assert_ok(writ_propose_tool(&proposal, value, NULL));
    return proposal;
}

static const char *
text_of(const struct writ_proposal *proposal, bool fill, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, TEXT_MAX);

    writ_proposing_put(&text, proposal, fill);
    writ_buf_byte(&text, '\0');
    ck_assert_ok(writ_buf_check(&text, NULL));
    return text.ptr;
}

/* `schema` is that of the argument x, which is required unless it begins with a question mark. The
 * argument's name is `name`. */
static const char *
definition_of(const char *tool, const char *name, const char *schema, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
    bool optional = schema[0] == '?';

    writ_buf_fmt(&text,
        "{\"name\":\"%s\",\"annotations\":{\"readOnlyHint\":true},\"inputSchema\":{\"type\":"
        "\"object\","
        "\"$defs\":{\"short\":{\"type\":\"string\",\"maxLength\":3},\"tree\":{\"type\":\"object\","
        "\"properties\":{\"v\":{\"type\":\"integer\"},\"next\":{\"$ref\":\"#/$defs/tree\"}}}},"
        "\"properties\":{\"%s\":%s}%s%s%s}}",
        tool, name, schema + (optional ? 1 : 0), optional ? "" : ",\"required\":[\"",
        optional ? "" : name, optional ? "" : "\"]");
    writ_buf_byte(&text, '\0');
    ck_assert_ok(writ_buf_check(&text, NULL));
    return text.ptr;
}

struct example {
    const char *schema, *yes[4], *no[6]; /* values of x; "-" is a call without it */
};

static bool
allowed(
    const struct writ_config *config, const char *name, const char *value, struct writ_arena *arena)
{
    struct writ_buf call = writ_buf_in(arena, TEXT_MAX);
    struct writ_verdict verdict;

    if (value[0] == '-' && value[1] == '\0') {
        writ_buf_str(&call, "{}");
    } else {
        writ_buf_fmt(&call, "{\"%s\":%s}", name, value);
    }
    writ_buf_byte(&call, '\0');
    writ_ruling_decide_text(config, "s/t", call.ptr, arena, &verdict);
    return verdict.answer == WRIT_POLICY_ALLOW;
}

static void
check_example(const char *name, const struct example *example)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_proposal proposal =
        propose(definition_of("t", name, example->schema, arena), arena);
    const char *yaml = text_of(&proposal, true, arena);
    struct writ_config *config = writ_ruling_config(yaml);

    for (size_t i = 0; i < 4 && example->yes[i] != NULL; i++) {
        ck_assert_msg(allowed(config, name, example->yes[i], arena), "%s: %s is refused\n%s",
            example->schema, example->yes[i], yaml);
    }
    for (size_t i = 0; i < 6 && example->no[i] != NULL; i++) {
        ck_assert_msg(!allowed(config, name, example->no[i], arena), "%s: %s passes\n%s",
            example->schema, example->no[i], yaml);
    }
    writ_config_drop(config);
}

START_TEST(propose_tool_scalar_keywords_hold_on_both_sides)
{
    static const struct example examples[] = {
        {"{\"type\":\"string\"}", {"\"a\"", "\"\""}, {"1", "null", "[\"a\"]", "{}", "-"}},
        {"?{\"type\":\"string\"}", {"\"a\"", "-"}, {"null", "1"}},
        {"{\"type\":[\"string\",\"null\"]}", {"\"a\"", "null"}, {"1", "-"}},
        {"{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}", {"\"ab\"", "\"abc\""},
            {"\"a\"", "\"abcd\""}},
        {"{\"type\":\"string\",\"pattern\":\"^[a-c]+$\"}", {"\"abc\""}, {"\"abd\"", "\"\""}},
        {"{\"type\":\"string\",\"pattern\":\"b\"}", {"\"abc\""}, {"\"ac\""}},
        {"{\"type\":\"string\",\"pattern\":\"(?<a>b)\"}", {NULL}, {"\"b\"", "\"x\""}},
        {"{\"type\":\"string\",\"format\":\"email\"}", {"\"a.b@example.com\""},
            {"\"a\"", "\"a@b\"", "\"a@b.c\\nBcc: d@e.f\"", "\"a@b.c,d@e.f\""}},
        {"{\"type\":\"string\",\"format\":\"date-time\"}",
            {"\"2026-01-02T03:04:05Z\"", "\"2026-01-02T03:04:05.6+01:00\""},
            {"\"2026\"", "\"now\""}},
        {"{\"type\":\"string\",\"format\":\"date\"}", {"\"2026-01-02\""}, {"\"2026-1-2\""}},
        {"{\"type\":\"string\",\"format\":\"uuid\"}", {"\"01234567-89ab-cdef-0123-456789abcdef\""},
            {"\"01234567\""}},
        {"{\"type\":\"string\",\"format\":\"uri\"}", {"\"https://example.com/x\""},
            {"\"https://evil.test/\"", "\"file:///etc/passwd\"", "\"x\""}},
        {"{\"type\":\"string\",\"format\":\"hostname\"}", {"\"example.com\""}, {"\"evil.test\""}},
        {"{\"type\":\"string\",\"not\":{\"const\":\"root\"}}", {"\"dev\""}, {"\"root\"", "1"}},
        {"{\"type\":\"string\",\"not\":{\"enum\":[\"a\",1]}}", {"\"b\""}, {"\"a\""}},
        {"{\"type\":\"string\",\"not\":{\"pattern\":\"a\"}}", {NULL}, {"\"b\"", "\"a\""}},
        {"{\"enum\":[\"a\",1,null,{\"k\":[true]}]}", {"\"a\"", "1", "null", "{\"k\":[true]}"},
            {"\"b\"", "2", "{\"k\":[false]}", "-"}},
        {"{\"type\":\"integer\",\"enum\":[1,null]}", {"1"}, {"null"}},
        {"{\"const\":\"no\"}", {"\"no\""}, {"\"yes\"", "false", "null"}},
        {"{\"enum\":[]}", {NULL}, {"1", "null"}},
        {"{\"enum\":[\"REPLACE_ALL\",\"a.c\"]}", {"\"REPLACE_ALL\"", "\"a.c\""},
            {"\"abc\"", "\"REPLACE_\""}},
        {"{\"enum\":[\"a\"],\"not\":{\"const\":\"a\"}}", {NULL}, {"\"a\""}},
        {"{\"type\":\"boolean\"}", {"true", "false"}, {"1", "\"true\"", "null"}},
        {"{\"type\":\"null\"}", {"null"}, {"0", "false"}},
        {"{\"type\":\"integer\"}", {"1", "-5", "1.0"}, {"1.5", "\"1\"", "1e14", "-1e14"}},
        {"{\"type\":\"number\"}", {"1.5"}, {"true", "1e14"}},
        {"{\"type\":\"number\",\"minimum\":1,\"maximum\":2.5}", {"1", "2.5"}, {"0.99", "2.51"}},
        {"{\"type\":\"number\",\"exclusiveMinimum\":1,\"exclusiveMaximum\":2}", {"1.5"},
            {"1", "2"}},
        {"{\"type\":\"number\",\"minimum\":1,\"exclusiveMinimum\":true,\"maximum\":9}", {"1.5"},
            {"1"}},
        {"{\"type\":\"number\",\"minimum\":1e20}", {"1e20"}, {"1e19"}},
        {"{\"type\":\"number\",\"maximum\":-1e20}", {"-1e20"}, {"-1e19"}},
        {"{\"type\":\"number\",\"minimum\":1.00000000000000000000000000000000000001}", {NULL},
            {"2"}},
        {"{}", {"\"a\""}, {"1", "{}"}},
        {"true", {"\"a\""}, {"1", "{}"}},
        {"false", {NULL}, {"\"a\"", "null"}},
    };

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        check_example("x", &examples[i]);
    }
}
END_TEST

START_TEST(propose_tool_object_and_list_keywords_hold_on_both_sides)
{
    static const struct example examples[] = {
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":"
         "\"string\"}},"
         "\"required\":[\"a\"]}",
            {"{\"a\":1}", "{\"a\":1,\"b\":\"c\"}"},
            {"{}", "{\"a\":\"1\"}", "{\"a\":1,\"c\":2}", "[]", "\"a\"", "{\"a\":1,\"b\":{}}"}},
        {"?{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":[\"a\"]"
         "}",
            {"-", "{\"a\":1}"}, {"{\"b\":1}", "null"}},
        {"{\"type\":[\"object\",\"null\"],\"properties\":{\"a\":{\"type\":\"integer\"}},"
         "\"required\":[\"a\"]}",
            {"null", "{\"a\":1}"}, {"{\"a\":null}"}},
        {"{\"type\":\"object\"}", {"{}"}, {"{\"a\":1}", "[]"}},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}", {"{}"},
            {"{\"a\":\"b\"}"}},
        {"{\"type\":\"object\",\"properties\":{\"/"
         "\":{\"type\":\"integer\"},\"~\":{\"type\":\"integer\"},"
         "\"\":{\"type\":\"integer\"}}}",
            {"{\"/\":1,\"~\":2,\"\":3}"}, {"{\"/\":\"1\"}", "{\"\":\"1\"}"}},
        {"{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"maximum\":3}}", {"[]", "[1,3]"},
            {"[4]", "[\"a\"]", "[[1]]", "1"}},
        {"{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":1,\"maxItems\":2}",
            {"[1]", "[1,2]"}, {"[]", "[1,2,3]"}},
        {"{\"type\":\"array\"}", {"[]"}, {"[1]", "[{}]"}},
        {"{\"type\":\"array\",\"items\":true}", {"[]"}, {"[1]"}},
        {"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
         "\"integer\"},"
         "\"t\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":1}}},\"required\":"
         "[\"n\"]}}",
            {"[{\"n\":1}]", "[{\"n\":1,\"t\":[\"a\"]}]"},
            {"[{}]", "[{\"n\":1,\"m\":2}]", "[{\"n\":1,\"t\":[\"ab\"]}]", "[1]"}},
        {"{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],"
         "\"minItems\":1}",
            {"[1]", "[1,\"a\"]"}, {"[]", "[\"a\"]", "[1,2]", "[1,\"a\",2]"}},
        {"{\"type\":\"array\",\"items\":[{\"type\":\"integer\"}]}", {"[1]", "[]"},
            {"[\"a\"]", "[1,2]"}},
        {"{\"type\":\"array\",\"items\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}}",
            {"[\"a\",null]"}, {"[1]"}},
        {"{\"$ref\":\"#/$defs/short\"}", {"\"abc\""}, {"\"abcd\"", "1"}},
        {"{\"$ref\":\"#/$defs/short\",\"maxLength\":2}", {"\"ab\""}, {"\"abc\""}},
        {"{\"$ref\":\"#/$defs/none\"}", {NULL}, {"\"a\"", "1"}},
        {"{\"$ref\":\"#/$defs/tree\"}",
            {"{\"v\":1}", "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3}}}"},
            {"{\"v\":\"a\"}", "{\"next\":{\"v\":\"a\"}}"}},
        {"{\"allOf\":[{\"$ref\":\"#/$defs/short\"},{\"minLength\":2}]}", {"\"ab\""},
            {"\"a\"", "\"abcd\""}},
        {"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}}},{\"properties\":{\"a\":{"
         "\"maximum\":3,"
         "\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"}}}]}",
            {"{\"a\":3,\"b\":true}"}, {"{\"a\":4}", "{\"a\":\"b\"}", "{\"c\":1}"}},
        {"{\"anyOf\":[{\"type\":\"string\",\"maxLength\":2},{\"type\":\"array\",\"items\":{"
         "\"type\":\"string\"}}]}",
            {"\"ab\""}, {"\"abc\"", "[\"a\"]", "1"}},
        {"{\"oneOf\":[{\"const\":\"a\"},{\"const\":2}]}", {"\"a\"", "2"}, {"\"b\"", "null"}},
        {"{\"type\":\"string\",\"if\":{\"const\":\"a\"},\"then\":{\"maxLength\":9}}", {NULL},
            {"\"a\"", "\"b\""}},
        {"{\"allOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},{\"items\":{"
         "\"maxLength\":1}}]}",
            {NULL}, {"[\"a\"]"}},
    };

    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        check_example("x", &examples[i]);
    }
}
END_TEST

START_TEST(propose_tool_length_without_a_bound_gets_one)
{
    writ_auto_arena arena = writ_value_arena();
    static const struct {
        const char *name;
        size_t most;
    } cases[] = {{"title", 4096}, {"content", 65536}};

    for (size_t i = 0; i < 2; i++) {
        struct writ_proposal proposal =
            propose(definition_of("t", cases[i].name, "{\"type\":\"string\"}", arena), arena);
        struct writ_config *config = writ_ruling_config(text_of(&proposal, true, arena));
        struct writ_buf value = writ_buf_in(arena, TEXT_MAX);

        writ_buf_byte(&value, '"');
        while (value.len < cases[i].most + 1) {
            writ_buf_byte(&value, 'a');
        }
        writ_buf_str(&value, "\"");
        writ_buf_byte(&value, '\0');
        ck_assert(allowed(config, cases[i].name, value.ptr, arena));
        writ_buf_cut(&value, cases[i].most + 1);
        writ_buf_str(&value, "a\"");
        writ_buf_byte(&value, '\0');
        ck_assert(!allowed(config, cases[i].name, value.ptr, arena));
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(propose_tool_name_of_a_file_has_no_folder)
{
    static const char *const yes[] = {"\"a.txt\"", "\"a b..c\""};
    static const char *const no[] = {
        "\"/etc/passwd\"", "\"../a\"", "\"..\"", "\".\"", "\"a\\\\b\"", "\"\"", "\"a\\u0000\""};
    writ_auto_arena arena = writ_value_arena();
    struct writ_proposal proposal =
        propose("{\"name\":\"zip_file\",\"inputSchema\":{\"type\":\"object\","
                "\"properties\":{\"name\":{\"type\":\"string\"}}}}",
            arena);
    struct writ_config *config = writ_ruling_config(text_of(&proposal, true, arena));
    struct writ_verdict verdict;

    for (size_t i = 0; i < sizeof yes / sizeof yes[0] + sizeof no / sizeof no[0]; i++) {
        bool good = i < sizeof yes / sizeof yes[0];
        struct writ_buf call = writ_buf_in(arena, 256);

        writ_buf_fmt(&call, "{\"name\":%s}", good ? yes[i] : no[i - sizeof yes / sizeof yes[0]]);
        writ_buf_byte(&call, '\0');
        writ_ruling_decide_text(config, "s/zip_file", call.ptr, arena, &verdict);
        ck_assert_msg((verdict.answer == WRIT_POLICY_ALLOW) == good, "%s", call.ptr);
    }
    writ_config_drop(config);
}
END_TEST

/* No value of the unfilled proposal passes: the file is refused, and names each placeholder. */
START_TEST(propose_tool_identifier_does_not_leave_its_place)
{
    static const struct {
        const char *name;
        struct example example;
    } cases[] = {
        {"user_id", {"{\"type\":\"string\"}", {"\"U12\"", "\"a@b.c\"", "\"-7\"", "\"a/b-1.2\""},
                        {"\"a/../b\"", "\"..\"", "\"/a\"", "\"a//b\"", "\"a%2fb\"", "\"a?b\""}}},
        {"user_id", {"{\"type\":\"string\"}", {"\"\u00e4\""},
                        {"\"a\\u202eb\"", "\"--all\"", "\"a b\"", "\"a'b\"", "\"\"", "\"a\\nb\""}}},
        {"branch",
            {"{\"type\":\"string\"}", {"\"feature/x\"", "\"main\""}, {"\"a/./b\"", "\"a;b\""}}},
        {"repo", {"{\"type\":\"string\"}", {"\"box.js\""}, {"\"a/b\"", "\"..\"", "\"a b\""}}},
        {"doc_id", {"{\"type\":\"string\",\"pattern\":\"^ [a-z]$\"}", {"\" a\""}, {"\"a\""}}},
        {"doc_id", {"{\"type\":\"string\",\"description\":\"URL-encoded path of a document\"}",
                       {"\"a/b\""}, {"\"a%2fb\""}}},
        {"owner", {"{\"type\":\"string\"}", {"\"Ann Smith\""}, {"7"}}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_example(cases[i].name, &cases[i].example);
    }
}
END_TEST

START_TEST(propose_tool_number_without_a_bound_gets_the_range_of_its_name)
{
    static const struct {
        const char *name;
        struct example example;
    } cases[] = {
        {"latitude", {"{\"type\":\"number\"}", {"-90", "52.5"}, {"90.1", "-91"}}},
        {"lng", {"{\"type\":\"number\"}", {"-180", "180"}, {"180.5"}}},
        {"issue_number", {"{\"type\":\"number\"}", {"0", "4711"}, {"-1", "1e14"}}},
        {"position", {"{\"type\":\"number\"}", {"0", "10000"}, {"-1", "10001"}}},
        {"timeoutSeconds", {"{\"type\":\"number\"}", {"3600"}, {"3601", "-1"}}},
        {"expireSeconds", {"{\"type\":\"number\"}", {"86400"}, {"-1"}}},
        {"x", {"{\"type\":\"number\"}", {"-1", "1"}, {"1e14"}}},
        {"latitude", {"{\"type\":\"number\",\"maximum\":100}", {"100"}, {"101", "-91"}}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_example(cases[i].name, &cases[i].example);
    }
}
END_TEST

START_TEST(propose_tool_path_in_a_repository_gets_a_glob)
{
    static const struct {
        const char *beside;
        bool inside;
    } cases[] = {{"repo", true}, {"project_id", true}, {"bucket", true}, {"repo_path", false},
        {"name", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        struct writ_proposal proposal;
        const char *yaml;
        struct writ_config *config;

        writ_buf_fmt(&text,
            "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"%s\":{\"type\":"
            "\"string\"},\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}}",
            cases[i].beside);
        writ_buf_byte(&text, '\0');
        proposal = propose(text.ptr, arena);
        yaml = text_of(&proposal, true, arena);
        config = writ_ruling_config(yaml);
        ck_assert_uint_eq(proposal.waiting, 1);
        ck_assert_msg(allowed(config, "path", "\"src/a.c\"", arena) == cases[i].inside, "%s", yaml);
        ck_assert_msg(
            allowed(config, "path", "\"/srv/box/a.c\"", arena) != cases[i].inside, "%s", yaml);
        ck_assert(!allowed(config, "path", "\"src/../a.c\"", arena));
        ck_assert(!allowed(config, "path", "\"src/%2e%2e/a.c\"", arena));
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(propose_tool_dangerous_argument_gets_a_placeholder)
{
    static const struct {
        const char *name, *schema;
        struct example filled;
    } cases[] = {
        {"path", "{\"type\":\"string\"}",
            {NULL, {"\"/srv/box/a\""}, {"\"/etc/passwd\"", "\"/srv/box/../a\"", "\"a\"", "7"}}},
        {"paths", "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
            {NULL, {"[\"/srv/box/a\"]", "[]"}, {"[\"/etc/passwd\"]", "\"/srv/box/a\""}}},
        {"outputDir", "?{\"type\":\"string\"}", {NULL, {"\"/srv/box\"", "-"}, {"\"/srv\""}}},
        {"files",
            "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":"
            "\"string\"}},"
            "\"required\":[\"path\"]}}",
            {NULL, {"[{\"path\":\"/srv/box/a\"}]"}, {"[{\"path\":\"/a\"}]", "[{}]"}}},
        {"image_url", "{\"type\":\"string\"}",
            {NULL, {"\"https://example.com/a\""}, {"\"https://evil.test/\"", "\"example.com\""}}},
        {"host", "{\"type\":\"string\"}", {NULL, {"\"example.com\""}, {"\"evil.test\""}}},
        {"amount", "{\"type\":\"number\"}",
            {NULL, {"100", "0.01"}, {"100.01", "0", "-1", "\"1\""}}},
        {"amount", "?{\"type\":\"number\",\"maximum\":50}", {NULL, {"50", "-"}, {"51"}}},
        {"amount", "{\"type\":\"string\"}", {NULL, {"\"1\""}, {"\"3\""}}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct example example = cases[i].filled;
        struct writ_proposal proposal =
            propose(definition_of("t", cases[i].name, cases[i].schema, arena), arena);
        struct writ_buf faults =
            writ_ruling_faults(writ_view_str(text_of(&proposal, false, arena)));

        ck_assert_uint_ge(proposal.placeholders, 1);
        ck_assert_uint_eq(proposal.waiting, 1);
        ck_assert_uint_eq(proposal.open, 0);
        ck_assert_uint_lt(
            writ_view_search(writ_buf_view(&faults), WRIT_LIT("placeholder REPLACE_")), faults.len);
        writ_buf_wipe(&faults);
        example.schema = cases[i].schema;
        check_example(cases[i].name, &example);
    }
}
END_TEST

/* Whether the annotations have the hint as true. */
static bool
says(const char *annotations, const char *hint)
{
    writ_auto_buf text = writ_buf_make(64);

    writ_buf_fmt(&text, "\"%s\":true", hint);
    return writ_view_search(writ_view_str(annotations), writ_buf_view(&text)) <
           writ_view_str(annotations).len;
}

START_TEST(propose_tool_hints_and_names_decide_approval_and_repeats)
{
    static const struct {
        const char *name, *annotations, *argument;
        bool review, repeats;
    } cases[] = {
        {"get_thing", "{\"readOnlyHint\":true}", "x", false, true},
        {"get_thing", "{}", "x", false, false},
        {"get_thing", "{\"readOnlyHint\":\"true\"}", "x", false, false},
        {"put_thing", "{\"destructiveHint\":true}", "x", true, false},
        {"put_thing", "{\"destructiveHint\":true,\"readOnlyHint\":true}", "x", true, false},
        {"database_delete", "{\"destructiveHint\":true,\"readOnlyHint\":true}", "x", true, false},
        {"database_delete", "{\"readOnlyHint\":true}", "x", true, false},
        {"delete_thing", "{}", "x", true, false},
        {"delete_thing", "{\"destructiveHint\":false}", "x", true, false},
        {"delete_thing", "{\"readOnlyHint\":true}", "x", true, false},
        {"thing-delete", "{}", "x", true, false},
        {"thing-delete", "{\"destructiveHint\":false}", "x", true, false},
        {"thing-delete-mark", "{\"destructiveHint\":false}", "x", false, false},
        {"slack_post_message", "{}", "x", true, false},
        {"add_issue_comment", "{}", "x", true, false},
        {"get_issue_comments", "{}", "x", false, false},
        {"mark_comment", "{\"readOnlyHint\":true}", "x", false, true},
        {"list_payments", "{\"readOnlyHint\":true}", "x", false, true},
        {"sendMail", "{}", "x", true, false},
        {"get-env", "{\"readOnlyHint\":true}", "x", true, false},
        {"get_thing", "{\"readOnlyHint\":true}", "command", true, false},
        {"read_query", "{\"readOnlyHint\":true}", "sql", true, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        struct writ_proposal proposal;
        struct writ_config *config;
        const struct writ_tool_rule *rule;

        writ_buf_fmt(&text,
            "{\"name\":\"%s\",\"annotations\":%s,\"inputSchema\":{\"type\":\"object\","
            "\"properties\":"
            "{\"%s\":{\"type\":\"string\"}}}}",
            cases[i].name, cases[i].annotations, cases[i].argument);
        writ_buf_byte(&text, '\0');
        proposal = propose(text.ptr, arena);
        config = writ_ruling_config(text_of(&proposal, true, arena));
        rule = config->policy->entries[0].rules;
        ck_assert_msg((rule->approval != NULL) == cases[i].review, "%s %s %s: review",
            cases[i].name, cases[i].annotations, cases[i].argument);
        ck_assert_msg((rule->duplicates == WRIT_DUPLICATES_ALLOW) == cases[i].repeats,
            "%s %s %s: repeats", cases[i].name, cases[i].annotations, cases[i].argument);
        ck_assert_uint_eq(proposal.reviewed, cases[i].review ? 1 : 0);
        ck_assert_uint_eq(proposal.open, cases[i].review ? 0 : 1);
        ck_assert_uint_eq(rule->budgets_n, says(cases[i].annotations, "readOnlyHint") &&
                                                   !says(cases[i].annotations, "destructiveHint")
                                               ? 0
                                               : 1);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(propose_tool_required_amount_gets_a_budget)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_proposal proposal =
        propose("{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
                "\"amount\":{\"type\":\"number\"},\"to\":{\"type\":\"string\"}},"
                "\"required\":[\"amount\",\"to\"]}}",
            arena);
    struct writ_config *config = writ_ruling_config(text_of(&proposal, true, arena));
    const struct writ_tool_rule *rule = config->policy->entries[0].rules;

    ck_assert_uint_eq(rule->budgets_n, 2);
    ck_assert_view(rule->budgets[1].arg, "amount");
    ck_assert_uint_eq(proposal.placeholders, 2);
    writ_config_drop(config);
}
END_TEST

START_TEST(propose_tool_read_only_hint_of_a_tool_with_an_amount_is_not_believed)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_proposal proposal =
        propose("{\"name\":\"make_payment\",\"annotations\":{\"readOnlyHint\":true},"
                "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
                "\"amount\":{\"type\":\"number\"}},\"required\":[\"amount\"]}}",
            arena);
    struct writ_config *config = writ_ruling_config(text_of(&proposal, true, arena));
    const struct writ_tool_rule *rule = config->policy->entries[0].rules;

    ck_assert_int_eq(rule->duplicates, WRIT_DUPLICATES_FORBID);
    ck_assert_uint_eq(rule->budgets_n, 2);
    writ_config_drop(config);
}
END_TEST

START_TEST(propose_tool_argument_name_of_two_scripts_is_refused)
{
    static const struct {
        const char *name;
        bool refused;
    } cases[] = {{"p\u0430th", true}, {"\uff50ath", true}, {"\u0444\u0430\u0439\u043b", false},
        {"\u0438\u043c\u044f_x", false}, {"stra\u00dfe", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_proposal proposal =
            propose(definition_of("t", cases[i].name, "{\"type\":\"string\"}", arena), arena);
        struct writ_config *config = writ_ruling_config(text_of(&proposal, true, arena));

        ck_assert_msg(
            allowed(config, cases[i].name, "\"/etc/a\"", arena) != cases[i].refused, "%zu", i);
        ck_assert_uint_eq(proposal.closed, cases[i].refused ? 1 : 0);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(propose_tool_target_is_a_path_before_a_url_before_an_id)
{
    static const struct {
        const char *properties, *required, *arguments, *target;
    } cases[] = {
        {"\"id\":{\"type\":\"string\"},\"url\":{\"type\":\"string\"},\"path\":{\"type\":"
         "\"string\"}",
            "\"id\",\"url\",\"path\"",
            "{\"id\":\"7\",\"url\":\"https://example.com/\",\"path\":\"/srv/box/a\"}",
            "file:%2Fsrv%2Fbox%2Fa"},
        {"\"id\":{\"type\":\"string\"},\"url\":{\"type\":\"string\"}", "\"id\",\"url\"",
            "{\"id\":\"7\",\"url\":\"https://example.com/\"}", "url:https%3A%2F%2Fexample.com%2F"},
        {"\"issueId\":{\"type\":\"integer\"},\"title\":{\"type\":\"string\"}", "\"issueId\"",
            "{\"issueId\":7}", "issueId:7"},
        {"\"id\":{\"type\":\"string\"}", "", "{\"id\":\"7\"}", ""},
        {"\"title\":{\"type\":\"string\"}", "\"title\"", "{\"title\":\"a\"}", ""},
        {"\"id\":{\"type\":\"object\"}", "\"id\"", "{\"id\":{}}", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        struct writ_proposal proposal;
        struct writ_config *config;
        struct writ_verdict verdict;

        writ_buf_fmt(&text,
            "{\"name\":\"t{x}\",\"inputSchema\":{\"type\":\"object\",\"properties\":{%s},"
            "\"required\":[%s]}}",
            cases[i].properties, cases[i].required);
        writ_buf_byte(&text, '\0');
        proposal = propose(text.ptr, arena);
        config = writ_ruling_config(text_of(&proposal, true, arena));
        writ_ruling_decide_text(config, "s/t{x}", cases[i].arguments, arena, &verdict);
        ck_assert_int_eq(verdict.answer, WRIT_POLICY_ALLOW);
        ck_assert_view(verdict.target, cases[i].target);
        ck_assert_view(verdict.scope, "s/t{x}");
        writ_config_drop(config);
    }
}
END_TEST

/* What a server calls its tools and arguments cannot become YAML of the file. */
START_TEST(propose_tool_odd_names_stay_names)
{
    static const char *const left_out[] = {
        "\"a*\"", "\"a?b\"", "\"[a]\"", "\"\"", "\"a\\nb\"", "\"a\\u202eb\"", "3", "null", "\"s\""};
    static const char *const kept[] = {"\"a: {b}\"", "\"a # b\"", "\"'a'\"", "\"a\\\"b\\\\\"",
        "\"a/b\"", "\"- a\"", "\"no\"", "\"\xc3\xa4\xf0\x9f\x98\x80\"", "\"REPLACE_X\"",
        "\"&a !b\""};
    writ_auto_arena arena = writ_value_arena();
    struct writ_proposal proposal = writ_propose_start(WRIT_LIT("s"), arena);
    struct writ_config *config;

    ck_assert_ok(writ_propose_tool(&proposal,
        writ_value_of(arena, WRIT_LIT("{\"name\":\"s\",\"inputSchema\":{\"type\":\"object\"}}")),
        NULL));
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        writ_buf_fmt(&text, "{\"name\":%s,\"inputSchema\":{\"type\":\"object\"}}", left_out[i]);
        ck_assert_ok(
            writ_propose_tool(&proposal, writ_value_of(arena, writ_buf_view(&text)), NULL));
        ck_assert_ptr_nonnull(proposal.last->left_out);
    }
    ck_assert_ok(writ_propose_tool(&proposal, writ_value_of(arena, WRIT_LIT("7")), NULL));
    ck_assert_uint_eq(proposal.closed, sizeof left_out / sizeof left_out[0] + 1);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        writ_buf_fmt(&text,
            "{\"name\":%s,\"inputSchema\":{\"type\":\"object\",\"properties\":{%s:{\"enum\":[%s]}},"
            "\"required\":[%s]}}",
            kept[i], kept[i], kept[i], kept[i]);
        ck_assert_ok(
            writ_propose_tool(&proposal, writ_value_of(arena, writ_buf_view(&text)), NULL));
        ck_assert_msg(proposal.last->left_out == NULL, "%s: %s", kept[i], proposal.last->left_out);
    }
    config = writ_ruling_config(text_of(&proposal, true, arena));
    ck_assert_uint_eq(config->policy->n, 1 + sizeof kept / sizeof kept[0]);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct writ_buf call = writ_buf_in(arena, TEXT_MAX);
        struct writ_buf tool = writ_buf_in(arena, TEXT_MAX);
        struct writ_verdict verdict;

        writ_buf_fmt(&call, "{%s:%s}", kept[i], kept[i]);
        writ_buf_byte(&call, '\0');
        writ_buf_str(&tool, "s/");
        writ_buf_put(&tool, writ_json_string(writ_value_of(arena, writ_view_str(kept[i]))));
        writ_buf_byte(&tool, '\0');
        writ_ruling_decide_text(config, tool.ptr, call.ptr, arena, &verdict);
        ck_assert_msg(verdict.answer == WRIT_POLICY_ALLOW, "%s", kept[i]);
    }
    writ_config_drop(config);
}
END_TEST

/* More than a rule can name is refused, never let through. */
START_TEST(propose_tool_arguments_beyond_the_limit_are_refused)
{
    for (size_t n = WRIT_CONSTRAINT_PATHS_MAX; n <= WRIT_CONSTRAINT_PATHS_MAX + 1; n++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_buf text = writ_buf_in(arena, TEXT_MAX);
        struct writ_proposal proposal;
        struct writ_config *config;
        struct writ_buf call = writ_buf_in(arena, 64);
        struct writ_verdict verdict;

        writ_buf_str(
            &text, "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
        for (size_t i = 0; i < n; i++) {
            writ_buf_fmt(&text, "%s\"a%zu\":{\"type\":\"boolean\"}", i > 0 ? "," : "", i);
        }
        writ_buf_str(&text, "}}}");
        writ_buf_byte(&text, '\0');
        proposal = propose(text.ptr, arena);
        config = writ_ruling_config(text_of(&proposal, true, arena));
        writ_buf_fmt(&call, "{\"a%zu\":true}", n - 1);
        writ_buf_byte(&call, '\0');
        writ_ruling_decide_text(config, "s/t", call.ptr, arena, &verdict);
        ck_assert_int_eq(
            verdict.answer, n == WRIT_CONSTRAINT_PATHS_MAX ? WRIT_POLICY_ALLOW : WRIT_POLICY_DENY);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(propose_tool_required_argument_refused_closes_the_tool)
{
    writ_auto_arena arena = writ_value_arena();

    ck_assert_uint_eq(
        propose(definition_of("t", "x", "{\"type\":\"string\",\"not\":{}}", arena), arena).closed,
        1);
    ck_assert_uint_eq(
        propose(definition_of("t", "x", "?{\"type\":\"string\",\"not\":{}}", arena), arena).closed,
        0);
    ck_assert_uint_eq(
        propose("{\"name\":\"t\",\"inputSchema\":{\"type\":\"string\"}}", arena).closed, 1);
    ck_assert_uint_eq(propose("{\"name\":\"t\"}", arena).open, 1);
}
END_TEST

START_TEST(propose_tool_beyond_the_limit_is_an_error)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_proposal proposal = writ_propose_start(WRIT_LIT("s"), arena);
    struct writ_err err = {0};

    for (size_t i = 0; i < WRIT_PROPOSE_TOOLS_MAX; i++) {
        ck_assert_ok(writ_propose_tool(&proposal, NULL, &err));
    }
    ck_assert_code(writ_propose_tool(&proposal, NULL, &err), WRIT_E_LIMIT);
}
END_TEST

START_TEST(propose_tool_without_memory_is_an_error)
{
    const struct writ_json *definition = writ_values_json(definition_of(
        "t", "x", "{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]}}", writ_values_arena()));
    bool done = false;

    for (size_t bytes = 64; bytes < 65536 && !done; bytes += 64) {
        writ_auto_arena arena = writ_arena_new(bytes);
        struct writ_proposal proposal = writ_propose_start(WRIT_LIT("s"), arena);
        writ_result result = writ_propose_tool(&proposal, definition, NULL);

        done = writ_is_ok(result);
        ck_assert(done || result.code == WRIT_E_NOMEM);
        ck_assert(!done || proposal.open == 1);
    }
    ck_assert(done);
}
END_TEST

WRIT_UNIT_MAIN("propose", propose_tool_scalar_keywords_hold_on_both_sides,
    propose_tool_object_and_list_keywords_hold_on_both_sides,
    propose_tool_length_without_a_bound_gets_one, propose_tool_name_of_a_file_has_no_folder,
    propose_tool_identifier_does_not_leave_its_place,
    propose_tool_number_without_a_bound_gets_the_range_of_its_name,
    propose_tool_path_in_a_repository_gets_a_glob,
    propose_tool_dangerous_argument_gets_a_placeholder,
    propose_tool_hints_and_names_decide_approval_and_repeats,
    propose_tool_required_amount_gets_a_budget,
    propose_tool_read_only_hint_of_a_tool_with_an_amount_is_not_believed,
    propose_tool_argument_name_of_two_scripts_is_refused,
    propose_tool_target_is_a_path_before_a_url_before_an_id, propose_tool_odd_names_stay_names,
    propose_tool_arguments_beyond_the_limit_are_refused,
    propose_tool_required_argument_refused_closes_the_tool,
    propose_tool_beyond_the_limit_is_an_error, propose_tool_without_memory_is_an_error)
