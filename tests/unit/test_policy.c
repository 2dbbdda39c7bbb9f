/* policy.h: finding rules, judging calls. The ops have test_constraint.c. */
#include "policy/policy.h"
#include "support/unit.h"
#include "support/value.h"

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

START_TEST(the_sketch_of_the_architecture_decides)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    struct writ_verdict verdict;
    struct writ_agent dev = {
        .id = WRIT_LIT("dev"), .tenant = WRIT_LIT("acme"), .role = WRIT_LIT("operator")};
    struct writ_policy_call call = {&dev, WRIT_LIT("pay"), WRIT_LIT("transfer"),
        writ_value_of(arena, WRIT_LIT("{\"amount\":500.00,\"currency\":\"EUR\"}"))};
    writ_result result =
        writ_config_read(writ_view_str(sketch), "sketch.yaml", &findings, &config, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    ck_assert_uint_eq(findings.warnings, 0);
    writ_policy_decide(config, &call, arena, &verdict);
    ck_assert_view(writ_reason_name(verdict.reason), "policy_ok");
    ck_assert_int_eq(verdict.answer, WRIT_POLICY_ALLOW);
    ck_assert_view(verdict.scope, "payments/EUR");
    ck_assert_uint_eq(verdict.reservations_n, 1);
    ck_assert_view(verdict.policy_refs.items[0], "tools/pay~1transfer#0");
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("policy", the_sketch_of_the_architecture_decides)
