/* kept.h: which arguments are kept. A secret is left out wherever it stands, and so is whatever
 * cannot be told from one. */
#include "policy/decide/kept.h"
#include "support/evidence/value.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#define HEAD2                                                                                      \
    "listen: 127.0.0.1:1\n"                                                                        \
    "agents: [{id: dev, anonymous: true}]\n"                                                       \
    "upstreams: {s: {http: http://127.0.0.1:1/mcp}, t: {http: http://127.0.0.1:2/mcp}, "           \
    "u: {http: http://127.0.0.1:3/mcp}}\n"
#define HEAD                                                                                       \
    "listen: 127.0.0.1:1\n"                                                                        \
    "agents: [{id: dev, anonymous: true}]\n"                                                       \
    "upstreams: {s: {http: http://127.0.0.1:1/mcp}}\n"

/* Without a rule that marks a secret. */
static const char plain[] = HEAD "defaults: {contents: {keep: 30d}}\n"
                                 "tools:\n"
                                 "  s/all: {scope: x, arguments: [{arg: a, op: eq, value: 1}]}\n"
                                 "  s/some:\n"
                                 "  - {agents: [x], scope: x, contents: {keep: 2h, results: 0}}\n"
                                 "  - {agents: [y], scope: x, contents: {keep: 1h}}\n"
                                 "  s/off:\n"
                                 "  - {agents: [x], scope: x, contents: {keep: 0s}}\n"
                                 "  - {agents: [y], scope: x}\n";

static const char secrets[] =
    HEAD "defaults: {contents: {keep: 30d}}\n"
         "tools:\n"
         "  s/login:\n"
         "  - agents: [dev]\n"
         "    scope: x\n"
         "    arguments:\n"
         "    - {arg: user, op: type, value: string}\n"
         "    - {arg: pin, op: type, value: [string, number], secret: true}\n"
         "    - {arg: /auth/password, op: type, value: string, secret: true, optional: true}\n"
         "    - {arg: /auth/realm, op: type, value: string, optional: true}\n"
         "    - {arg: tags, op: each, optional: true, value: {op: type, value: string}}\n"
         "    - {arg: options, op: type, value: any, optional: true}\n"
         "    - arg: hosts\n"
         "      op: each\n"
         "      optional: true\n"
         "      value:\n"
         "      - {arg: name, op: type, value: string}\n"
         "      - {arg: key, op: type, value: string, secret: true, optional: true}\n"
         "    - {arg: tokens, op: each, optional: true,\n"
         "       value: {op: type, value: string, secret: true}}\n"
         "  - agents: [other]\n"
         "    scope: x\n"
         "    arguments: [{arg: user, op: type, value: string}, {arg: otp, op: type, value: any, "
         "secret: true}]\n"
         "  s/all: {scope: x, arguments: [{arg: \"\", op: type, value: any}, {arg: pin, op: type, "
         "value: any, secret: true, optional: true}]}\n"
         "  s/whole: {scope: x, arguments: [{arg: \"\", op: type, value: any, secret: true}]}\n"
         "  s/open: {scope: x, arguments: [{arg: a, op: type, value: any}]}\n";

/* Each pattern has contents of its own. */
static const char wild[] =
    HEAD2 "defaults: {contents: {keep: 30d}}\n"
          "tools:\n"
          "  s/login: {scope: x, arguments: [{arg: pin, op: type, value: string, secret: true}]}\n"
          "  s/log*: {scope: x, arguments: [{arg: pin, op: type, value: string}]}\n"
          "  s/Login: {scope: x, arguments: [{arg: pin, op: type, value: string}]}\n"
          "  t/*: {scope: x, arguments: [{arg: pin, op: type, value: string, secret: true}]}\n"
          "  u/*: {scope: x, contents: {keep: 1h}}\n";

static void
check_kept(const char *yaml, const char *tool, const char *arguments, const char *want)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(yaml);
    writ_auto_buf text = writ_buf_make(4096);
    bool whole = false;

    ck_assert_ok(writ_kept_arguments(config, WRIT_LIT("s"), writ_view_str(tool),
        writ_value_of(arena, writ_view_str(arguments)), &text, &whole));
    ck_assert_view(writ_buf_view(&text), want);
    ck_assert_msg(whole == (strcmp(arguments, want) == 0), "%s: %s", arguments, want);
    writ_config_drop(config);
}

START_TEST(kept_arguments_without_a_secret_are_all_of_them)
{
    check_kept(plain, "all", "{\"a\":2,\"b\":[{\"c\":null}]}", "{\"a\":2,\"b\":[{\"c\":null}]}");
    check_kept(plain, "unknown", "{\"a\":2}", "{\"a\":2}");
    check_kept(plain, "all", "[1]", "[1]");
    check_kept(secrets, "open", "{\"a\":2,\"pin\":3}", "{\"a\":2,\"pin\":3}");
}
END_TEST

START_TEST(kept_arguments_leave_out_each_secret_member)
{
    check_kept(secrets, "login", "{\"pin\":1234,\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"auth\":{\"password\":\"x\",\"realm\":\"r\"},\"user\":\"a\"}",
        "{\"auth\":{\"realm\":\"r\"},\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"hosts\":[{\"key\":\"k\",\"name\":\"h\"},{\"name\":\"i\"}]}",
        "{\"hosts\":[{\"name\":\"h\"},{\"name\":\"i\"}]}");
    check_kept(secrets, "login", "{\"tokens\":[\"t\"],\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "whole", "{\"a\":1}", "{}");
}
END_TEST

/* A secret of one rule is a secret in the calls of every caller: the wrong caller may have sent it
 * all the same. */
START_TEST(kept_arguments_leave_out_the_secrets_of_every_rule_of_the_tool)
{
    check_kept(secrets, "login", "{\"otp\":\"9\",\"pin\":1,\"user\":\"a\"}", "{\"user\":\"a\"}");
}
END_TEST

START_TEST(kept_arguments_leave_out_possible_secrets)
{
    /* another name, another place */
    check_kept(secrets, "login", "{\"Pin\":1,\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"auth\":{\"pass\":\"x\"},\"user\":\"a\"}",
        "{\"auth\":{},\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"user\":{\"pin\":1}}", "{\"user\":{}}");
    check_kept(secrets, "login", "{\"tags\":[\"a\",{\"pin\":1}]}", "{\"tags\":[\"a\",{}]}");
    /* another type where the secret should be */
    check_kept(secrets, "login", "{\"auth\":\"x\",\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"auth\":[\"x\"],\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"hosts\":\"k\",\"user\":\"a\"}", "{\"user\":\"a\"}");
    check_kept(secrets, "login", "{\"hosts\":[{\"name\":\"h\"},\"k\"]}", "{}");
    check_kept(secrets, "login", "{\"hosts\":{\"key\":\"k\"}}", "{\"hosts\":{}}");
    check_kept(secrets, "login", "{\"pin\":{\"pin\":1}}", "{}");
    check_kept(secrets, "login", "\"x\"", "{}");
    check_kept(secrets, "login", "[\"x\"]", "{}");
    /* a constraint around a secret does not name what is beside it */
    check_kept(secrets, "all", "{\"Pin\":1,\"pin\":2}", "{}");
}
END_TEST

START_TEST(kept_arguments_have_values_covered_as_a_whole)
{
    check_kept(secrets, "login", "{\"options\":{\"a\":[1,{\"b\":2}]},\"tags\":[\"x\",\"y\"]}",
        "{\"options\":{\"a\":[1,{\"b\":2}]},\"tags\":[\"x\",\"y\"]}");
    check_kept(secrets, "login", "{\"hosts\":[],\"user\":null}", "{\"hosts\":[],\"user\":null}");
}
END_TEST

START_TEST(kept_arguments_beyond_the_room_fail)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(secrets);
    const struct writ_json *arguments = writ_value_of(
        arena, WRIT_LIT("{\"auth\":{\"realm\":\"r\"},\"pin\":1,\"user\":\"abcdefgh\",\"zip\":1}"));
    bool whole = true, fits = false;

    for (size_t room = 0; !fits; room++) {
        writ_auto_buf text = writ_buf_make(room);
        writ_result r =
            writ_kept_arguments(config, WRIT_LIT("s"), WRIT_LIT("login"), arguments, &text, &whole);
        fits = writ_is_ok(r);
        if (fits) {
            ck_assert_view(
                writ_buf_view(&text), "{\"auth\":{\"realm\":\"r\"},\"user\":\"abcdefgh\"}");
            ck_assert(!whole);
        } else {
            ck_assert_int_eq(r.code, WRIT_E_LIMIT);
            ck_assert(whole);
        }
    }
    writ_config_drop(config);
}
END_TEST

static void
check_terms_of(const char *yaml, const char *server, const char *tool, size_t rule, int64_t keep_s,
    int64_t results)
{
    struct writ_config *config = writ_ruling_config(yaml);
    struct writ_view upstream = writ_view_str(server);
    const struct writ_tool_entry *entry =
        writ_rule_entry(config->policy, upstream, writ_view_str(tool));
    struct writ_retention terms = writ_kept_terms(config, upstream, writ_view_str(tool),
        entry != NULL && rule < entry->rules_n ? &entry->rules[rule] : NULL);

    ck_assert_int_eq(terms.keep_us, keep_s * 1000000);
    ck_assert_int_eq(terms.results_bytes, results);
    writ_config_drop(config);
}

static void
check_terms(const char *yaml, const char *tool, size_t rule, int64_t keep_s, int64_t results)
{
    check_terms_of(yaml, "s", tool, rule, keep_s, results);
}

#define NO_RULE SIZE_MAX

START_TEST(kept_terms_of_a_rule_replace_those_of_defaults)
{
    check_terms(plain, "all", 0, 30 * 86400, 65536);
    check_terms(plain, "some", 0, 7200, 0);
    check_terms(plain, "some", 1, 3600, 65536);
    check_terms(plain, "off", 0, 0, 0);
    check_terms(plain, "off", 1, 30 * 86400, 65536);
}
END_TEST

START_TEST(kept_terms_without_a_rule_are_the_least_of_the_tool)
{
    check_terms(plain, "some", NO_RULE, 3600, 0);
    check_terms(plain, "off", NO_RULE, 0, 0);
}
END_TEST

START_TEST(kept_terms_of_an_unknown_tool_are_those_of_defaults_unless_a_rule_has_secrets)
{
    check_terms(plain, "unknown", NO_RULE, 30 * 86400, 65536);
    check_terms(secrets, "unknown", NO_RULE, 0, 0);
    check_terms(HEAD, "unknown", NO_RULE, 0, 0);
}
END_TEST

/* A wrong name of a tool with secrets falls under the pattern, with the secrets. */
START_TEST(kept_terms_of_a_pattern_beside_secrets_are_none)
{
    check_terms_of(wild, "s", "LOGIN", 0, 0, 0);
    check_terms_of(wild, "s", "logon", 0, 0, 0);
    check_terms_of(wild, "s", "logon", NO_RULE, 0, 0);
    check_terms_of(wild, "s", "login", 0, 30 * 86400, 65536);
    check_terms_of(wild, "s", "Login", 0, 30 * 86400, 65536);
    check_terms_of(wild, "t", "any", 0, 30 * 86400, 65536);
    check_terms_of(wild, "u", "any", 0, 3600, 65536);
}
END_TEST

WRIT_UNIT_MAIN("kept", kept_terms_of_a_pattern_beside_secrets_are_none,
    kept_arguments_without_a_secret_are_all_of_them, kept_arguments_leave_out_each_secret_member,
    kept_arguments_leave_out_the_secrets_of_every_rule_of_the_tool,
    kept_arguments_leave_out_possible_secrets, kept_arguments_have_values_covered_as_a_whole,
    kept_arguments_beyond_the_room_fail, kept_terms_of_a_rule_replace_those_of_defaults,
    kept_terms_without_a_rule_are_the_least_of_the_tool,
    kept_terms_of_an_unknown_tool_are_those_of_defaults_unless_a_rule_has_secrets)
