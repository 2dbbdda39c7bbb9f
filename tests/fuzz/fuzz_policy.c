/* Evaluation is total and pure: any arguments get a verdict with a reason, the same one twice, and
 * the same in the canonical form in which they are forwarded, unless a number is not exact. The
 * first byte of the input picks a tool; the rest is the JSON text of its arguments. */
#include "policy/read/load.h"
#include "support/fuzz.h"

#include "evidence/json/jcs.h"
#include "policy/decide/policy.h"
#include "policy/model/path.h"

#define ARENA_MAX ((size_t)16 << 20)

static const char yaml[] =
    "tools:\n"
    "  u/0: {scope: \"s/{a}\", arguments: [{arg: a, op: under, value: /srv/sandbox}]}\n"
    "  u/1: {scope: s, arguments: [{arg: a, op: le, value: \"500.00\"}, {arg: a, op: gt, value: "
    "0},\n"
    "        {arg: b, op: ne, value: 7}, {arg: c, op: lt, value: 1e21, optional: true}],\n"
    "        budgets: [{window: 1h, sum: {arg: a, max: 300}}]}\n"
    "  u/2: {scope: s, arguments: [{arg: a, op: host_in, value: [example.com, \"*.b.org\"]}]}\n"
    "  u/3: {scope: s, arguments: [{arg: a, op: matches, value: \"(a+)+[bc]|\\\\w{1,9}\"}]}\n"
    "  u/4: {scope: s, arguments: [{arg: a, op: glob, value: \"**/x*[!a-c]?\"}]}\n"
    "  u/5: {scope: s, arguments: [{arg: a, op: each, value: [{arg: b, op: in, value: [1, x, "
    "null]},\n"
    "        {arg: /c/0, op: type, value: integer, optional: true}]}, {arg: a, op: max_items, "
    "value: 3}]}\n"
    "  u/6: {scope: \"s/{/a/b}\", target: \"{+c}\", arguments: [{arg: /a/b, op: type, value: "
    "[string, number]}, {arg: c, op: min_length, value: 1}]}\n"
    "  u/7: {scope: s, arguments: [{arg: a, op: eq, value: {x: [1, 2.5, \"y\"]}, optional: true},\n"
    "        {arg: b, op: not_in, value: [1, \"x\"], optional: true}, {arg: c, op: type, value: "
    "any,\n"
    "        optional: true}, {arg: d, op: forbidden}, {arg: e, op: suffix, value: z, optional: "
    "true}]}\n";

static const struct writ_config *
config_of_all(void)
{
    static struct writ_config *config;

    if (config == NULL) {
        WRIT_INVARIANT(
            writ_is_ok(writ_load_text(writ_view_str(yaml), "fuzz", NULL, &config, NULL)));
    }
    return config;
}

static void
judge(char tool, const struct writ_json *arguments, struct writ_arena *arena,
    struct writ_verdict *ret)
{
    static const struct writ_agent agent = {.id = {"dev", 3}, .tenant = {"acme", 4}};
    struct writ_policy_call call = {&agent, WRIT_LIT("u"), writ_view(&tool, 1), arguments};

    writ_policy_decide(config_of_all(), &call, arena, ret);
    WRIT_INVARIANT(ret->reason != WRIT_REASON_NONE);
    WRIT_INVARIANT((ret->answer == WRIT_POLICY_ALLOW) == (ret->reason == WRIT_REASON_POLICY_OK));
    WRIT_INVARIANT(ret->answer == WRIT_POLICY_DENY || ret->scope.len > 0);
    WRIT_INVARIANT(ret->answer == WRIT_POLICY_ALLOW || ret->reservations_n == 0);
}

/* The forwarded arguments get the same verdict. */
static void
check_canonical(char tool, const struct writ_json *arguments, const struct writ_verdict *verdict,
    struct writ_arena *arena)
{
    writ_auto_buf text = writ_buf_make(ARENA_MAX);
    const struct writ_json *again;
    struct writ_verdict second;

    if (!writ_is_ok(writ_jcs_put(&text, arguments, NULL))) {
        return; /* no canonical form: such a call is refused before */
    }
    WRIT_INVARIANT(writ_is_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &again, NULL)));
    judge(tool, again, arena, &second);
    WRIT_INVARIANT(verdict->reason == WRIT_REASON_NUMBER_NOT_EXACT ||
                   (verdict->reason == second.reason &&
                       writ_view_equal(verdict->constraint, second.constraint) &&
                       writ_view_equal(verdict->scope, second.scope) &&
                       writ_view_equal(verdict->target, second.target)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *arguments;
    struct writ_verdict first, second;
    char tool;

    WRIT_INVARIANT(arena != NULL);
    if (size > 0 && writ_is_ok(writ_json_read(writ_view(data + 1, size - 1),
                        &writ_json_limits_default, arena, &arguments, NULL))) {
        tool = (char)('0' + data[0] % 8);
        judge(tool, arguments, arena, &first);
        judge(tool, arguments, arena, &second);
        WRIT_INVARIANT(first.reason == second.reason);
        check_canonical(tool, arguments, &first, arena);
        if (tool == '0' && first.answer == WRIT_POLICY_ALLOW) {
            struct writ_view path = writ_json_string(writ_json_get(arguments, WRIT_LIT("a")));
            WRIT_INVARIANT(!writ_path_is_devious(path));
            WRIT_INVARIANT(writ_view_has_prefix(path, WRIT_LIT("/")));
        }
    }
    writ_arena_free(arena);
    return 0;
}
