/* Files of cases for `writ check`. A case passes or tells the difference, and faults are reported
 * with their place. */
#include "policy/read/case.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

static const char yaml[] =
    "agents:\n"
    "  - {id: dev, tenant: acme, role: operator, bearer_sha256: "
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
    "  - {anonymous: true, id: anybody}\n"
    "  - {issuer: i, audience: a, jwks: k, role: dev2}\n"
    "tools:\n"
    "  u/t: {scope: \"s/{a}\", target: t, arguments: [{arg: a, op: le, value: 5}]}\n";

START_TEST(case_read_gives_the_call)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(yaml);
    struct writ_case_call call = {0};

    ck_assert_ok(
        writ_case_call(writ_value_of(arena,
                           WRIT_LIT("{\"agent\":\"dev\",\"tool\":\"u/a/b\",\"arguments\":{\"a\":1},"
                                    "\"boundary_id\":\"b\",\"idempotency_key\":\"k\"}")),
            config, arena, &call, NULL));
    ck_assert_view(call.agent.role, "operator");
    ck_assert_view(call.upstream, "u");
    ck_assert_view(call.tool, "a/b");
    ck_assert_view(call.boundary_id, "b");
    ck_assert_view(call.idempotency_key, "k");
    ck_assert_ptr_null(call.target_state_digest.ptr);
    ck_assert_uint_eq(call.arguments->count, 1);
    ck_assert_ok(writ_case_call(
        writ_value_of(arena, WRIT_LIT("{\"tool\":\"u/t\"}")), config, arena, &call, NULL));
    ck_assert_view(call.agent.id, "anybody");
    ck_assert_uint_eq(call.arguments->count, 0);
    ck_assert_ok(writ_case_call(
        writ_value_of(arena, WRIT_LIT("{\"tool\":\"u/t\",\"agent\":{\"id\":\"x\",\"role\":\"r\","
                                      "\"scopes\":\"a b\"}}")),
        config, arena, &call, NULL));
    ck_assert_view(call.agent.id, "x");
    ck_assert_view(call.agent.role, "r");
    ck_assert_view(call.agent.scopes, "a b");
    writ_config_drop(config);
}
END_TEST

START_TEST(faulty_call_is_reported)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[]", "the call is not an object"},
        {"{\"agent\":\"dev\"}", "the call lacks tool, as upstream/tool"},
        {"{\"agent\":\"dev\",\"tool\":\"t\"}", "the call lacks tool, as upstream/tool"},
        {"{\"agent\":\"dev\",\"tool\":\"/t\"}", "the call lacks tool, as upstream/tool"},
        {"{\"agent\":\"dev\",\"tool\":\"u/\"}", "the call lacks tool, as upstream/tool"},
        {"{\"agent\":\"dev\",\"tool\":5}", "tool is not a string"},
        {"{\"tool\":\"u/t\",\"args\":{}}", "the call has an unknown member \"args\""},
        {"{\"agent\":\"dve\",\"tool\":\"u/t\"}",
            "no agent \"dve\" is configured; write {\"id\": ..., \"role\": ...}"},
        {"{\"agent\":{\"role\":\"x\"},\"tool\":\"u/t\"}", "agent lacks id"},
        {"{\"agent\":{\"id\":\"x\",\"name\":\"y\"},\"tool\":\"u/t\"}",
            "agent has an unknown member \"name\""},
        {"{\"agent\":7,\"tool\":\"u/t\"}", "agent is not an object"},
    };
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(yaml);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_case_call call = {0};
        struct writ_err err = {0};
        ck_assert_code(writ_case_call(writ_value_of(arena, writ_view_str(cases[i].json)), config,
                           arena, &call, &err),
            WRIT_E_INVALID);
        ck_assert_str_eq(err.text, cases[i].message);
        ck_assert_ptr_null(call.arguments);
    }
    writ_config_drop(config);
}
END_TEST

static const char without_anonymous[] = "tools: {}";

START_TEST(case_without_an_agent_needs_an_anonymous_agent)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(without_anonymous);
    struct writ_case_call call;

    ck_assert_code(writ_case_call(writ_value_of(arena, WRIT_LIT("{\"tool\":\"u/t\"}")), config,
                       arena, &call, NULL),
        WRIT_E_INVALID);
    writ_config_drop(config);
}
END_TEST

static const char cases_yaml[] =
    "config: c.yaml\n"
    "cases:\n"
    "  - name: fine\n"
    "    call: {agent: dev, tool: u/t, arguments: {a: 5}}\n"
    "    expect: {decision: allow, reason: policy_ok, scope: s/5, target: t, shadow: false}\n"
    "  - {call: {agent: dev, tool: u/t, arguments: {a: 5.5}}, expect: deny}\n"
    "  - name: wrong decision\n"
    "    call: {agent: dev, tool: u/t, arguments: {a: 6}}\n"
    "    expect: allow\n"
    "  - name: wrong in every way\n"
    "    call: {agent: dev, tool: u/t, arguments: {a: 6}}\n"
    "    expect: {decision: allow, reason: policy_ok, constraint: x, scope: yy, target: z, shadow: "
    "true}\n"
    "  - {call: {agent: dev, tool: u/t}, expect: maybe}\n"
    "  - {call: {agent: dev, tool: u/t}, expect: {reason: because}}\n"
    "  - {call: {agent: nobody, tool: u/t}, expect: deny}\n"
    "  - {call: {agent: dev, tool: u/t}, expect: {decisoin: deny}}\n";

START_TEST(case_check_passes_or_reports_the_difference)
{
    static const struct {
        enum writ_code code;
        bool passed;
        const char *text; /* the difference, or the error */
    } want[] = {
        {WRIT_OK, true, ""},
        {WRIT_OK, true, ""},
        {WRIT_OK, false, "decision is \"deny\", not \"allow\""},
        {WRIT_OK, false,
            "decision is \"deny\", not \"allow\", reason is \"constraint_failed\", not "
            "\"policy_ok\", constraint is \"a le\", not \"x\", scope is \"s/6\", not \"yy\", "
            "target "
            "is \"t\", not \"z\", shadow is false"},
        {WRIT_E_INVALID, false, "the expected decision must be allow, deny or require_approval"},
        {WRIT_E_INVALID, false, "the expected reason is not in docs/reasons.md"},
        {WRIT_E_INVALID, false,
            "no agent \"nobody\" is configured; write {\"id\": ..., \"role\": ...}"},
        {WRIT_E_INVALID, false, "expect has an unknown member \"decisoin\""},
    };
    writ_auto_arena arena = writ_value_arena();
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_config *config = writ_ruling_config(yaml);
    struct writ_case_file file = {0};

    ck_assert_ok(writ_case_file(writ_view_str(cases_yaml), arena, &findings, &file));
    ck_assert_view(file.config, "c.yaml");
    ck_assert_uint_eq(file.n, sizeof want / sizeof want[0]);
    ck_assert_uint_eq(file.cases[1].line, 6);
    for (size_t i = 0; i < file.n; i++) {
        writ_auto_buf difference = writ_buf_make(4096);
        struct writ_verdict verdict;
        struct writ_err err = {0};
        bool passed = false;
        writ_result result =
            writ_case_run(config, &file.cases[i], arena, &passed, &verdict, &difference, &err);
        ck_assert_msg(result.code == want[i].code, "case %zu", i);
        ck_assert_int_eq(passed, want[i].passed);
        ck_assert_view(writ_is_ok(result) ? writ_buf_view(&difference) : writ_view_str(err.text),
            want[i].text);
    }
    writ_config_drop(config);
}
END_TEST

START_TEST(faulty_file_of_cases_is_reported)
{
    static const struct {
        const char *text, *found;
    } cases[] = {
        {"cases: [{call: {}, expect: deny}]",
            "f:1: the file lacks config, the name of a configuration\n"},
        {"config: c", "f:1: the file lacks cases, a list\n"},
        {"config: c\ncases: []", "f:2: the file lacks cases, a list\n"},
        {"config: c\ncases: [5]", "f:2: /cases/0: a case is not an object\n"},
        {"config: c\ncases: [{call: {}}]", "f:2: /cases/0: a case lacks call or expect\n"},
        {"config: c\ncases: [{call: {}, expect: deny, nmae: x}]",
            "f:2: /cases/0: a case has an unknown member \"nmae\"\n"},
        {"config: c\ncases: [{call: {}, expect: deny, name: 5}]",
            "f:2: /cases/0: name is not a string\n"},
        {"config: c\ncases: [{call: {a: no}, expect: deny}]",
            "f:2: /cases/0/call/a: YAML readers disagree about what this is: write a string in "
            "quotes, a number, true, false and null as JSON does\n"},
        {"config: c\nx: 1\ncases: [{call: {}, expect: deny}]",
            "f:2: /x: unknown option; there are config and cases\n"},
        {"- a", "f:1: the file lacks config, the name of a configuration\n"
                "f:1: the file lacks cases, a list\n"},
        {"config: c\ncases:\n- call: {}\n  expect: {}",
            "f:4: /cases/0/expect: the case expects nothing: write allow, deny or "
            "require_approval, or an object with decision, reason, argument, constraint, scope, "
            "target or shadow\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
        writ_auto_buf found = writ_buf_make(1 << 16);
        struct writ_case_file file = {.n = 7};

        ck_assert(
            !writ_is_ok(writ_case_file(writ_view_str(cases[i].text), arena, &findings, &file)));
        writ_findings_put(&findings, WRIT_LIT("f"), &found);
        ck_assert_view(writ_buf_view(&found), cases[i].found);
        ck_assert_uint_eq(file.n, 7);
    }
}
END_TEST

START_TEST(case_file_beyond_the_maximum_is_refused)
{
    for (size_t over = 0; over <= 1; over++) {
        struct writ_arena *arena = writ_arena_new((size_t)512 << 20);
        WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
        writ_auto_buf text = writ_buf_make(4 << 20);
        struct writ_case_file file = {0};

        writ_buf_str(&text, "config: c\ncases:\n");
        for (size_t i = 0; i < WRIT_CASES_MAX + over; i++) {
            writ_buf_str(&text, "- {call: {}, expect: deny}\n");
        }
        ck_assert_code(writ_case_file(writ_buf_view(&text), arena, &findings, &file),
            over ? WRIT_E_LIMIT : WRIT_OK);
        writ_arena_free(arena);
    }
}
END_TEST

START_TEST(case_verdict_is_one_json_object)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(yaml);
    writ_auto_buf text = writ_buf_make(4096);
    struct writ_verdict verdict;

    writ_ruling_decide_text(config, "u/t", "{\"a\":6}", arena, &verdict);
    writ_case_put(&verdict, &text);
    ck_assert_view(writ_buf_view(&text),
        "{\"decision\":\"deny\",\"reason\":\"constraint_failed\",\"rule\":\"tools/u~1t#0\","
        "\"policy_refs\":[\"tools/u~1t#0\"],\"normalized_scope\":\"s/6\",\"target\":\"t\","
        "\"argument\":\"/a\",\"constraint\":\"a le\",\"accepted\":\"a number not above "
        "5\",\"shadow\":false}");
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("case", case_read_gives_the_call, faulty_call_is_reported,
    case_without_an_agent_needs_an_anonymous_agent, case_check_passes_or_reports_the_difference,
    faulty_file_of_cases_is_reported, case_file_beyond_the_maximum_is_refused,
    case_verdict_is_one_json_object)
