/* policy.h: finding rules, judging calls. Each refusal has its reason, and without memory the
 * verdict is a deny. The ops are in test_constraint.c. */
#include "evidence/json/jcs.h"
#include "policy/decide/policy.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

static const char sketch[] =
    "listen: 127.0.0.1:8700\n"
    "issuer: https://gateway.example.com\n"
    "store: sqlite:///var/lib/writ/ledger.db\n"
    "agents:\n"
    "  - {id: dev, tenant: acme, role: operator, credential_scope: files-write,\n"
    "     credential_tier: service-account, bearer_sha256: "
    "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"}\n"
    "upstreams:\n"
    "  fs:  {stdio: [npx, -y, \"@modelcontextprotocol/server-filesystem\", /srv/sandbox]}\n"
    "  pay: {http: http://127.0.0.1:9000/mcp, credential: {header: Writ-Credential, meta: true}}\n"
    "tools:\n"
    "  fs/write_file:\n"
    "    scope: \"files/{path}\"\n"
    "    target: \"file:{path}\"\n"
    "    state: {tool: fs/get_file_info, arguments: {path: \"{path}\"}, select: [/size, "
    "/modified], on_error: absent}\n"
    "    arguments:\n"
    "      - {arg: path, op: under, value: /srv/sandbox}\n"
    "      - {arg: content, op: max_length, value: 65536}\n"
    "    duplicates: forbid\n"
    "  pay/transfer:\n"
    "    scope: \"payments/{currency}\"\n"
    "    arguments:\n"
    "      - {arg: amount, op: le, value: \"500.00\"}\n"
    "      - {arg: currency, op: in, value: [EUR, USD]}\n"
    "    budgets:\n"
    "      - {per: [agent], window: 24h, sum: {arg: amount, max: 2000}}\n"
    "defaults: {unlisted_tool: deny, unlisted_argument: deny}\n";

START_TEST(policy_of_the_example_decides_each_call)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(sketch);
    struct writ_verdict v;

    writ_ruling_decide_text(
        config, "pay/transfer", "{\"amount\":500.00,\"currency\":\"EUR\"}", arena, &v);
    ck_assert_int_eq(v.answer, WRIT_POLICY_ALLOW);
    ck_assert_int_eq(v.reason, WRIT_REASON_POLICY_OK);
    ck_assert_view(v.scope, "payments/EUR");
    ck_assert_ptr_null(v.target.ptr);
    ck_assert_uint_eq(v.policy_refs.n, 1);
    ck_assert_view(v.policy_refs.items[0], "tools/pay~1transfer#0");
    ck_assert_uint_eq(v.reservations_n, 1);
    ck_assert_uint_eq(v.constraint.len + v.accepted.len, 0);
    writ_ruling_decide_text(
        config, "fs/write_file", "{\"path\":\"/srv/sandbox/a\",\"content\":\"x\"}", arena, &v);
    ck_assert_int_eq(v.answer, WRIT_POLICY_ALLOW);
    ck_assert_view(v.scope, "files/%2Fsrv%2Fsandbox%2Fa");
    ck_assert_view(v.target, "file:%2Fsrv%2Fsandbox%2Fa");
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_refusal_has_its_reason)
{
    static const struct {
        const char *tool, *arguments, *reason;
    } cases[] = {
        {"pay/transfer", "{\"amount\":5,\"currency\":\"EUR\"}", "policy_ok"},
        {"pay/Transfer", "{\"amount\":5,\"currency\":\"EUR\"}", "tool_not_listed"},
        {"pay/transfer ", "{}", "tool_not_listed"},
        {"paytransfer/x", "{}", "upstream_not_listed"},
        {"Pay/transfer", "{}", "upstream_not_listed"},
        {"pay/transfer", "[]", "arguments_not_an_object"},
        {"pay/transfer", "null", "arguments_not_an_object"},
        {"pay/transfer", "\"x\"", "arguments_not_an_object"},
        {"pay/transfer", "{\"amount\":5,\"currency\":\"EUR\",\"x\":1}", "argument_not_listed"},
        {"pay/transfer", "{\"amount\":5,\"currency\":\"EUR\",\"Amount\":9}", "argument_not_listed"},
        {"pay/transfer", "{\"amount\":{\"x\":5},\"currency\":\"EUR\"}", "argument_not_listed"},
        {"pay/transfer", "{\"amount\":500.01,\"currency\":\"EUR\"}", "constraint_failed"},
        {"pay/transfer", "{\"amount\":\"5\",\"currency\":\"EUR\"}", "constraint_failed"},
        {"pay/transfer", "{\"amount\":\"NaN\",\"currency\":\"EUR\"}", "constraint_failed"},
        {"pay/transfer", "{\"currency\":\"EUR\"}", "constraint_failed"},
        {"pay/transfer", "{\"amount\":null,\"currency\":\"EUR\"}", "constraint_failed"},
        {"pay/transfer", "{}", "constraint_failed"},
        {"pay/transfer",
            "{\"amount\":1.00000000000000000000000000000000000000000001,\"currency\":\"EUR\"}",
            "number_not_exact"},
        {"pay/transfer", "{\"amount\":-1,\"currency\":\"EUR\"}", "constraint_failed"},
    };
    struct writ_config *config = writ_ruling_config(sketch);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_view got = writ_ruling_reason(config, cases[i].tool, cases[i].arguments);
        ck_assert_msg(writ_view_is(got, cases[i].reason), "%s %s: %.*s", cases[i].tool,
            cases[i].arguments, WRIT_VIEW_ARG(got));
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_decides_calls_without_arguments_or_with_deep_ones)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(sketch);
    writ_auto_buf deep = writ_buf_make(1000);
    struct writ_verdict v;

    writ_ruling_decide(config, "pay/transfer", NULL, arena, &v);
    ck_assert_int_eq(v.reason, WRIT_REASON_ARGUMENTS_NOT_AN_OBJECT);
    writ_buf_str(&deep, "{\"amount\":");
    for (size_t i = 0; i < 63; i++) {
        writ_buf_byte(&deep, '[');
    }
    for (size_t i = 0; i < 63; i++) {
        writ_buf_byte(&deep, ']');
    }
    writ_buf_byte(&deep, '}');
    writ_buf_byte(&deep, '\0');
    ck_assert_view(writ_ruling_reason(config, "pay/transfer", deep.ptr), "argument_not_listed");
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_refusal_names_the_constraint_and_accepted_values)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(sketch);
    struct writ_verdict v;

    writ_ruling_decide_text(
        config, "pay/transfer", "{\"amount\":501,\"currency\":\"EUR\"}", arena, &v);
    ck_assert_view(v.constraint, "amount le");
    ck_assert_view(v.accepted, "a number not above 500.00");
    ck_assert_view(v.scope, "payments/EUR"); /* known, although the call is refused */
    ck_assert_uint_eq(v.reservations_n, 0);
    writ_ruling_decide_text(
        config, "pay/transfer", "{\"amount\":5,\"currency\":\"EUR\",\"x\":1}", arena, &v);
    ck_assert_view(v.constraint, "");
    ck_assert_view(v.accepted, "these arguments alone: amount, currency");
    writ_ruling_decide_text(config, "pay/nothing", "{}", arena, &v);
    ck_assert_view(v.policy_refs.items[0], "defaults#unlisted_tool");
    ck_assert_ptr_null(v.rule);
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_without_a_scope_or_target_denies)
{
    static const struct {
        const char *tool, *arguments, *reason;
    } cases[] = {{"u/none", "{}", "scope_missing"}, {"u/scope", "{}", "scope_missing"},
        {"u/scope", "{\"a\":\"x\"}", "policy_ok"}, {"u/scope", "{\"a\":\"\"}", "scope_missing"},
        {"u/scope", "{\"a\":\"..\"}", "scope_missing"}, {"u/target", "{}", "target_missing"},
        {"u/target", "{\"a\":\"x\"}", "policy_ok"}, {"u/both", "{}", "scope_missing"}};
    struct writ_config *config =
        writ_ruling_config("tools:\n"
                           "  u/none: {}\n"
                           "  u/scope: {scope: \"s/{a}\", arguments: [{arg: a, op: type, value: "
                           "string, optional: true}]}\n"
                           "  u/target:\n"
                           "    {scope: s, target: \"{a}\", arguments: [{arg: a, op: type, value: "
                           "string, optional: true}]}\n"
                           "  u/both: {scope: \"{a}\", target: \"{a}\"}\n");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_view got = writ_ruling_reason(config, cases[i].tool, cases[i].arguments);
        ck_assert_msg(writ_view_is(got, cases[i].reason), "%s %s: %.*s", cases[i].tool,
            cases[i].arguments, WRIT_VIEW_ARG(got));
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_with_an_overlong_scope_denies)
{
    struct writ_config *config = writ_ruling_config(
        "tools: {u/t: {scope: \"{a}\", arguments: [{arg: a, op: type, value: string}]}}");

    for (size_t over = 0; over <= 1; over++) {
        writ_auto_buf arguments = writ_buf_make(WRIT_SCOPE_MAX + 100);
        writ_buf_str(&arguments, "{\"a\":\"");
        for (size_t i = 0; i < WRIT_SCOPE_MAX + over; i++) {
            writ_buf_byte(&arguments, 'x');
        }
        writ_buf_str(&arguments, "\"}");
        writ_buf_byte(&arguments, '\0');
        ck_assert_view(
            writ_ruling_reason(config, "u/t", arguments.ptr), over ? "scope_missing" : "policy_ok");
    }
    writ_config_drop(config);
}
END_TEST

static const char people[] = "tools:\n"
                             "  u/t:\n"
                             "    - {scope: boss, agents: [ann], tenants: [acme]}\n"
                             "    - {scope: ops, roles: [operator], tenants: [acme, beta]}\n"
                             "    - {scope: dev, agents: [dev, ann], roles: [reader]}\n"
                             "  u/*: {scope: anybody}\n";

START_TEST(policy_takes_the_first_rule_that_matches_the_caller)
{
    static const struct {
        struct writ_agent agent;
        const char *ref;
    } cases[] = {
        {{.id = {"ann", 3}, .tenant = {"acme", 4}, .role = {"operator", 8}}, "tools/u~1t#0"},
        {{.id = {"ann", 3}, .tenant = {"beta", 4}, .role = {"operator", 8}}, "tools/u~1t#1"},
        {{.id = {"bob", 3}, .tenant = {"acme", 4}, .role = {"operator", 8}}, "tools/u~1t#1"},
        {{.id = {"ann", 3}, .tenant = {"beta", 4}, .role = {"reader", 6}}, "tools/u~1t#2"},
        {{.id = {"dev", 3}, .role = {"reader", 6}}, "tools/u~1t#2"},
        {{.id = {"dev", 3}, .tenant = {"acme", 4}, .role = {"Operator", 8}}, NULL},
        {{.id = {"ann", 3}, .tenant = {"acme2", 5}, .role = {"operator", 8}}, NULL},
        {{.id = {"dev", 3}}, NULL},
        {{.id = {"x", 1}, .role = {"operator", 8}}, NULL},
    };
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(people);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum writ_reason why = WRIT_REASON_NONE;
        const struct writ_tool_rule *rule =
            writ_policy_find(config, &cases[i].agent, WRIT_LIT("u"), WRIT_LIT("t"), &why);
        struct writ_policy_call call = {
            &cases[i].agent, WRIT_LIT("u"), WRIT_LIT("t"), writ_value_of(arena, WRIT_LIT("{}"))};
        struct writ_verdict v;

        writ_policy_decide(config, &call, arena, &v);
        ck_assert_ptr_eq(v.rule, rule);
        ck_assert_int_eq(rule == NULL, cases[i].ref == NULL);
        if (rule != NULL) {
            ck_assert_view(rule->ref, cases[i].ref);
            ck_assert_int_eq(v.answer, WRIT_POLICY_ALLOW);
        } else { /* a listed tool is not looked for further: the pattern does not catch it */
            ck_assert_int_eq(why, WRIT_REASON_AGENT_NOT_PERMITTED);
            ck_assert_int_eq(v.reason, WRIT_REASON_AGENT_NOT_PERMITTED);
            ck_assert_uint_eq(v.policy_refs.n, 3);
        }
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_requires_all_scopes_of_the_rule)
{
    static const struct {
        const char *scopes;
        enum writ_reason reason;
    } cases[] = {
        {"", WRIT_REASON_INSUFFICIENT_SCOPE},
        {"read", WRIT_REASON_INSUFFICIENT_SCOPE},
        {"read writes", WRIT_REASON_INSUFFICIENT_SCOPE},
        {"read WRITE", WRIT_REASON_INSUFFICIENT_SCOPE},
        {"readwrite", WRIT_REASON_INSUFFICIENT_SCOPE},
        {"write read", WRIT_REASON_CONSTRAINT_FAILED}, /* the scopes are checked first */
        {"a write b read", WRIT_REASON_CONSTRAINT_FAILED},
    };
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(
        "tools: {u/t: {scope: \"s/{a}\", scopes: [read, write], arguments: [{arg: a, op: le, "
        "value: 5}]}}");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_agent agent = {
            .id = WRIT_LIT("dev"), .scopes = writ_view_str(cases[i].scopes)};
        const struct writ_policy_call call = {
            &agent, WRIT_LIT("u"), WRIT_LIT("t"), writ_value_of(arena, WRIT_LIT("{\"a\":6}"))};
        struct writ_verdict v;

        writ_policy_decide(config, &call, arena, &v);
        ck_assert_msg(v.reason == cases[i].reason, "%s", cases[i].scopes);
        ck_assert_view(v.scope, "s/6");
        if (v.reason == WRIT_REASON_INSUFFICIENT_SCOPE) {
            ck_assert_view(v.accepted, "a token with read write");
        }
        /* the tool is listed all the same, so that a client can learn what to ask for */
        ck_assert_ptr_nonnull(writ_policy_find(config, &agent, call.upstream, call.tool, NULL));
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(shadow_reports_the_real_verdict)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(
        "tools: {u/t: {scope: s, shadow: true, arguments: [{arg: a, op: le, value: 5}]}}");
    struct writ_verdict v;

    writ_ruling_decide_text(config, "u/t", "{\"a\":6}", arena, &v);
    ck_assert(v.shadow);
    ck_assert_int_eq(v.answer, WRIT_POLICY_DENY);
    ck_assert_int_eq(v.reason, WRIT_REASON_CONSTRAINT_FAILED);
    writ_ruling_decide_text(config, "u/t", "{\"a\":5}", arena, &v);
    ck_assert(v.shadow);
    ck_assert_int_eq(v.answer, WRIT_POLICY_ALLOW);
    writ_ruling_decide_text(config, "u/other", "{}", arena, &v);
    ck_assert(!v.shadow);
    writ_config_drop(config);
}
END_TEST

static const char budgeted[] =
    "tools:\n"
    "  u/pay:\n"
    "    scope: s\n"
    "    arguments: [{arg: amount, op: type, value: number}]\n"
    "    budgets:\n"
    "      - {per: [agent], window: 24h, sum: {arg: amount, max: \"100.50\"}}\n"
    "      - {name: shared, window: 1m, calls: 3}\n"
    "      - {per: [tenant, tool], window: 1h, calls: 10}\n"
    "  u/also: {scope: s, budgets: [{name: shared, window: 1m, calls: 3}]}\n";

/* The text of a decimal, for comparing. */
static void
assert_decimal(const struct writ_decimal *value, const char *want)
{
    writ_auto_buf text = writ_buf_make(WRIT_DECIMAL_PUT_MAX);

    writ_decimal_put(&text, value);
    ck_assert_view(writ_buf_view(&text), want);
}

START_TEST(budgets_become_reservations)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(budgeted);
    struct writ_verdict v, also;
    struct writ_digest want;

    writ_ruling_decide_text(config, "u/pay", "{\"amount\":12.5}", arena, &v);
    ck_assert_int_eq(v.answer, WRIT_POLICY_ALLOW);
    ck_assert_uint_eq(v.reservations_n, 3);
    ck_assert_view(v.reservations[0].name, "tools/u~1pay#0/budgets/0");
    ck_assert(!v.reservations[0].counts_calls);
    ck_assert_int_eq(v.reservations[0].window_us, 86400000000LL);
    assert_decimal(&v.reservations[0].amount, "12.5");
    assert_decimal(&v.reservations[0].limit, "100.5");
    ck_assert(v.reservations[1].counts_calls);
    assert_decimal(&v.reservations[1].amount, "1");
    assert_decimal(&v.reservations[1].limit, "3");
    ck_assert_ok(writ_digest_bytes(
        WRIT_LIT("{\"agent\":\"dev\",\"budget\":\"tools/u~1pay#0/budgets/0\",\"tenant\":\"acme\"}"),
        &want, NULL));
    ck_assert(writ_digest_equal(&v.reservations[0].key, &want));
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("{\"budget\":\"tools/u~1pay#0/budgets/2\",\"tenant\":"
                                            "\"acme\",\"tool\":\"pay\",\"upstream\":\"u\"}"),
        &want, NULL));
    ck_assert(writ_digest_equal(&v.reservations[2].key, &want));
    writ_ruling_decide_text(config, "u/also", "{}", arena, &also);
    ck_assert(writ_digest_equal(&v.reservations[1].key, &also.reservations[0].key));
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_of_an_amount_beyond_every_budget_is_refused)
{
    static const struct {
        const char *arguments, *reason;
    } cases[] = {{"{\"amount\":100.5}", "policy_ok"}, {"{\"amount\":0}", "policy_ok"},
        {"{\"amount\":100.51}", "budget_exceeded"}, {"{\"amount\":1e300}", "budget_exceeded"},
        {"{\"amount\":-0.01}", "constraint_failed"}, {"{\"amount\":1e-31}", "policy_ok"},
        {"{\"amount\":1e-32}", "constraint_failed"}, {"{\"amount\":1e-300}", "constraint_failed"},
        {"{\"amount\":100.5000000000000000000001}", "number_not_exact"}};
    struct writ_config *config = writ_ruling_config(budgeted);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_view(writ_ruling_reason(config, "u/pay", cases[i].arguments), cases[i].reason);
    }
    writ_config_drop(config);
}
END_TEST

/* One such call would make every later sum inexact, which refuses it. The text does not have the
 * number of decimals, because it tells how large the limit is. */
START_TEST(policy_of_an_amount_with_too_many_decimals_names_the_argument)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(budgeted);
    struct writ_verdict v;

    writ_ruling_decide_text(config, "u/pay", "{\"amount\":1e-300}", arena, &v);
    ck_assert_int_eq(v.answer, WRIT_POLICY_DENY);
    ck_assert_int_eq(v.reason, WRIT_REASON_CONSTRAINT_FAILED);
    ck_assert_uint_eq(v.reservations_n, 0);
    ck_assert_view(v.argument, "/amount");
    ck_assert_view(v.constraint, "amount");
    ck_assert_view(v.accepted, "a number with fewer decimals, for the budget");
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_with_an_exhausted_arena_denies)
{
    struct writ_config *config = writ_ruling_config(budgeted);
    writ_auto_arena values = writ_value_arena();
    const struct writ_json *arguments = writ_value_of(values, WRIT_LIT("{\"amount\":1}"));
    struct writ_arena *arena = writ_arena_new(8);
    struct writ_verdict v;

    writ_ruling_decide(config, "u/pay", arguments, arena, &v);
    ck_assert_int_eq(v.answer, WRIT_POLICY_DENY);
    ck_assert_int_eq(v.reason, WRIT_REASON_POLICY_ERROR);
    writ_arena_free(arena);
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_probe_is_filled_in)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(
        "tools:\n"
        "  u/a: {scope: s, state: {tool: v/get, arguments: {p: \"{path}\"}, select: [/x],\n"
        "        on_error: absent, timeout: 7s}}\n"
        "  u/b: {scope: s, state: {resource: \"file://{+path}\"}}\n"
        "  u/c: {scope: s, state: {http: \"http://127.0.0.1/x/{path}?y\"}}\n"
        "  u/d: {scope: s, state: {tool: u/now}}\n"
        "  u/e: {scope: s}\n");
    const struct writ_json *arguments = writ_value_of(arena, WRIT_LIT("{\"path\":\"/a b\"}"));
    static const char *const tools[] = {"a", "b", "c", "d"};
    static const char *const want[] = {
        "{\"p\":\"/a b\"}", "file:///a%20b", "http://127.0.0.1/x/%2Fa%20b?y", "{}"};
    struct writ_agent agent = {.id = {"dev", 3}};

    for (size_t i = 0; i < 4; i++) {
        const struct writ_tool_rule *rule =
            writ_policy_find(config, &agent, WRIT_LIT("u"), writ_view_str(tools[i]), NULL);
        struct writ_probe_request request = {0};
        writ_auto_buf text = writ_buf_make(1000);

        ck_assert_ok(writ_policy_probe(rule, arguments, arena, &request, NULL));
        if (request.probe->kind == WRIT_PROBE_TOOL) {
            ck_assert_ok(writ_jcs_put(&text, request.arguments, NULL));
        } else {
            writ_buf_put(&text, request.uri);
        }
        ck_assert_view(writ_buf_view(&text), want[i]);
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(policy_probe_with_an_unfillable_template_is_an_error)
{
    static const struct {
        const char *tool, *arguments;
        enum writ_code code;
    } cases[] = {{"e", "{}", WRIT_E_ABSENT}, {"b", "{}", WRIT_E_ABSENT},
        {"b", "{\"path\":\"/a/../b\"}", WRIT_E_INVALID}, {"b", "{\"path\":[]}", WRIT_E_INVALID}};
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(
        "tools: {u/b: {scope: s, state: {resource: \"file://{+path}\"}}, u/e: {scope: s}}");
    struct writ_agent agent = {.id = {"dev", 3}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_tool_rule *rule =
            writ_policy_find(config, &agent, WRIT_LIT("u"), writ_view_str(cases[i].tool), NULL);
        struct writ_probe_request request = {0};

        ck_assert_code(
            writ_policy_probe(rule, writ_value_of(arena, writ_view_str(cases[i].arguments)), arena,
                &request, NULL),
            cases[i].code);
        ck_assert_ptr_null(request.probe);
    }
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("policy", policy_of_the_example_decides_each_call, policy_refusal_has_its_reason,
    policy_decides_calls_without_arguments_or_with_deep_ones,
    policy_refusal_names_the_constraint_and_accepted_values,
    policy_without_a_scope_or_target_denies, policy_with_an_overlong_scope_denies,
    policy_takes_the_first_rule_that_matches_the_caller, policy_requires_all_scopes_of_the_rule,
    shadow_reports_the_real_verdict, budgets_become_reservations,
    policy_of_an_amount_beyond_every_budget_is_refused,
    policy_of_an_amount_with_too_many_decimals_names_the_argument,
    policy_with_an_exhausted_arena_denies, policy_probe_is_filled_in,
    policy_probe_with_an_unfillable_template_is_an_error)
