/* For all bytes: a configuration is refused with a fault that says why, or it is read. Then
 * reading it again gives the same policy, calls are judged, and with one unknown option added it
 * is refused. */
#include "policy/read/findings.h"
#include "policy/read/load.h"
#include "support/fuzz.h"

#include "policy/decide/policy.h"

#define INPUT_MAX 65536
#define ARENA_MAX (1 << 20)

static const char *const tools[] = {"fs/write_file", "pay/transfer", "crm/search_x", "u/t"};

static void
judge(const struct writ_config *config, struct writ_view name, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    static const struct writ_agent agent = {.id = {"dev", 3}, .role = {"operator", 8}};
    size_t slash = writ_view_find(name, '/');
    struct writ_policy_call call = {
        &agent, writ_view_sub(name, 0, slash), writ_view_sub(name, slash + 1, name.len), arguments};
    struct writ_verdict verdict;

    writ_policy_decide(config, &call, arena, &verdict);
    WRIT_INVARIANT(
        (verdict.answer == WRIT_POLICY_ALLOW) == (verdict.reason == WRIT_REASON_POLICY_OK));
    WRIT_INVARIANT(verdict.policy_refs.n > 0);
}

static void
judge_all(const struct writ_config *config)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *arguments;

    WRIT_INVARIANT(arena != NULL);
    WRIT_INVARIANT(writ_is_ok(
        writ_json_read(WRIT_LIT("{\"path\":\"/srv/sandbox/a\",\"amount\":5,\"a\":[{\"b\":null}]}"),
            &writ_json_limits_default, arena, &arguments, NULL)));
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        judge(config, writ_view_str(tools[i]), arguments, arena);
    }
    writ_arena_free(arena);
}

static void
check_again(struct writ_view text, const struct writ_config *config)
{
    struct writ_config *again = NULL;

    WRIT_INVARIANT(writ_is_ok(writ_load_text(text, "again", NULL, &again, NULL)));
    WRIT_INVARIANT(writ_digest_equal(&again->policy_digest, &config->policy_digest));
    writ_config_drop(again);
}

static void
check_unknown(struct writ_view text)
{
    writ_auto_buf more = writ_buf_make(INPUT_MAX + 100);
    struct writ_config *config = NULL;

    writ_buf_put(&more, text);
    writ_buf_str(&more, "\nunknown_option: 1\n");
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&more, NULL)));
    WRIT_INVARIANT(!writ_is_ok(writ_load_text(writ_buf_view(&more), "more", NULL, &config, NULL)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_view text = writ_view(data, size);
    struct writ_config *config = NULL;

    if (size > INPUT_MAX) {
        return 0;
    }
    if (!writ_is_ok(writ_load_text(text, "fuzz", &findings, &config, NULL))) {
        WRIT_INVARIANT(findings.errors > 0);
        WRIT_INVARIANT(config == NULL);
        return 0;
    }
    WRIT_INVARIANT(findings.errors == 0);
    judge_all(config);
    check_again(text, config);
    check_unknown(text);
    writ_config_drop(config);
    return 0;
}
