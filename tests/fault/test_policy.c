/* The n-th allocation fails while a configuration is read and a call is judged: there is an error
 * or a deny, or the very same outcome, never another one. */
#include "policy/decide/policy.h"
#include "policy/read/load.h"
#include "support/policy/ruling.h"
#include "support/unit.h"
#include "support/evidence/value.h"

static const char yaml[] =
    "agents:\n"
    "  - {issuer: i, audience: a, jwks: k}\n"
    "  - {id: dev, bearer_sha256: "
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
    "upstreams:\n"
    "  u: {stdio: [x, y], environment: {A: b}}\n"
    "  v: {http: \"http://127.0.0.1:1/x\"}\n"
    "tools:\n"
    "  u/*: {scope: s}\n"
    "  u/t:\n"
    "    - {scope: s, roles: [none]}\n"
    "    - scope: \"s/{a}\"\n"
    "      target: \"{/b/0}\"\n"
    "      state: {tool: v/get, arguments: {x: [\"{a}\", 1]}, select: [/y]}\n"
    "      arguments:\n"
    "        - {arg: a, op: matches, value: \"[a-z]+\"}\n"
    "        - {arg: a, op: in, value: [x, yy, {z: 1}]}\n"
    "        - {arg: b, op: each, value: [{op: le, value: \"5.00\"}, {op: type, value: integer}]}\n"
    "        - {arg: /c/d~1e, op: glob, value: \"**/x*\", optional: true}\n"
    "      budgets:\n"
    "        - {per: [agent], window: 1h, sum: {arg: /c/n, max: 5}}\n"
    "        - {window: 1h, calls: 5}\n";
static const char call[] = "{\"a\":\"yy\",\"b\":[1,2],\"c\":{\"d/e\":\"a/xb\",\"n\":3}}";

/* Which are the names of `c`: they need a constraint too. */
static const char more[] = "        - {arg: /c/n, op: ge, value: 0}\n";

static struct writ_buf
whole_yaml(void)
{
    struct writ_buf text = writ_buf_make(8192);
    size_t at = writ_view_search(writ_view_str(yaml), WRIT_LIT("      budgets:"));

    writ_buf_put(&text, writ_view_sub(writ_view_str(yaml), 0, at));
    writ_buf_str(&text, more);
    writ_buf_put(&text, writ_view_sub(writ_view_str(yaml), at, sizeof yaml));
    ck_assert_ok(writ_buf_check(&text, NULL));
    return text;
}

START_TEST(config_with_a_failed_allocation_gives_the_same_or_none)
{
    writ_auto_buf text = whole_yaml();
    struct writ_config *want = NULL;
    bool reached = true;

    ck_assert_ok(writ_load_text(writ_buf_view(&text), "c.yaml", NULL, &want, NULL));
    for (long nth = 1; reached; nth++) {
        struct writ_config *got = NULL;
        writ_result result;

        writ_fault_arm(nth);
        result = writ_load_text(writ_buf_view(&text), "c.yaml", NULL, &got, NULL);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert(writ_digest_equal(&got->policy_digest, &want->policy_digest));
            ck_assert_view(writ_ruling_reason(got, "u/t", call), "policy_ok");
        } else {
            ck_assert_msg(result.code == WRIT_E_NOMEM, "allocation %ld: %s", nth,
                writ_code_name(result.code));
            ck_assert_ptr_null(got);
        }
        writ_config_drop(got);
    }
    writ_config_drop(want);
}
END_TEST

START_TEST(policy_with_a_failed_allocation_gives_the_same_verdict_or_a_deny)
{
    static const char *const calls[] = {call, "{\"a\":\"zz\",\"b\":[1,2]}", "{\"x\":1}",
        "{\"a\":\"yy\",\"b\":[6],\"c\":{\"n\":3}}"};
    writ_auto_buf text = whole_yaml();
    writ_auto_arena values = writ_value_arena();
    struct writ_config *config = NULL;

    ck_assert_ok(writ_load_text(writ_buf_view(&text), "c.yaml", NULL, &config, NULL));
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const struct writ_json *arguments = writ_value_of(values, writ_view_str(calls[i]));
        writ_auto_arena first = writ_value_arena();
        struct writ_verdict want;
        bool reached = true;

        writ_ruling_decide(config, "u/t", arguments, first, &want);
        for (long nth = 1; reached; nth++) {
            struct writ_arena *arena = writ_value_arena();
            struct writ_verdict got;
            writ_fault_arm(nth);
            writ_ruling_decide(config, "u/t", arguments, arena, &got);
            reached = writ_fault_disarm();
            ck_assert(got.answer == want.answer || got.answer == WRIT_POLICY_DENY);
            ck_assert(got.answer == WRIT_POLICY_DENY || writ_view_equal(got.scope, want.scope));
            ck_assert(got.answer == WRIT_POLICY_DENY || got.reservations_n == want.reservations_n);
            writ_arena_free(arena);
        }
    }
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("fault_policy", config_with_a_failed_allocation_gives_the_same_or_none,
    policy_with_a_failed_allocation_gives_the_same_verdict_or_a_deny)
