/* Whatever a server says of a tool, the proposed rule is a configuration that is read without a
 * fault once its placeholders are replaced, and says the same each time; a proposal with
 * placeholders is refused as it is. An empty call is judged. */
#include "policy/propose/propose.h"
#include "policy/read/findings.h"
#include "policy/read/load.h"
#include "support/fuzz.h"
#include "support/policy/proposing.h"

#include "policy/decide/policy.h"

#define INPUT_MAX 65536
#define ARENA_MAX (64 << 20)
#define TEXT_MAX  (8 << 20)

static void
judge(const struct writ_config *config, struct writ_view tool, struct writ_arena *arena)
{
    static const struct writ_agent agent = {.id = {"dev", 3}};
    const struct writ_json *arguments;
    struct writ_policy_call call = {&agent, WRIT_LIT("s"), tool, NULL};
    struct writ_verdict verdict;

    WRIT_INVARIANT(writ_is_ok(writ_json_read(
        WRIT_LIT("{\"\":null}"), &writ_json_limits_default, arena, &arguments, NULL)));
    call.arguments = arguments;
    writ_policy_decide(config, &call, arena, &verdict);
}

/* Reads the configuration; true when it has no fault. */
static bool
is_read(const struct writ_proposal *proposal, bool fill, struct writ_arena *arena)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    writ_auto_buf text = writ_buf_make(TEXT_MAX), again = writ_buf_make(TEXT_MAX);
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    bool good;

    writ_proposing_put(&text, proposal, fill);
    writ_proposing_put(&again, proposal, fill);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&text, NULL)));
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&text), writ_buf_view(&again)));
    good = writ_is_ok(writ_load_text(writ_buf_view(&text), "fuzz", &findings, &config, &err));
    if (good && proposal->last != NULL && proposal->last->left_out == NULL) {
        judge(config, proposal->last->tool, arena);
    }
    writ_config_drop(config);
    return good;
}

/* Any value as a definition, and as the schema of one. */
static void
check(const struct writ_json *definition, struct writ_arena *arena)
{
    struct writ_proposal proposal = writ_propose_start(WRIT_LIT("s"), arena);

    WRIT_INVARIANT(writ_is_ok(writ_propose_tool(&proposal, definition, NULL)));
    WRIT_INVARIANT(is_read(&proposal, true, arena));
    WRIT_INVARIANT(is_read(&proposal, false, arena) == (proposal.placeholders == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    writ_auto_buf whole = writ_buf_make(INPUT_MAX + 256);
    const struct writ_json *value;

    if (size > INPUT_MAX) {
        return 0;
    }
    WRIT_INVARIANT(arena != NULL);
    if (!writ_is_ok(writ_json_read(
            writ_view(data, size), &writ_json_limits_default, arena, &value, NULL))) {
        return 0;
    }
    check(value, arena);
    writ_buf_str(
        &whole, "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"x\":");
    writ_buf_put(&whole, writ_view(data, size));
    writ_buf_str(&whole, "},\"required\":[\"x\"]}}");
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&whole, NULL)));
    if (writ_is_ok(writ_json_read(
            writ_buf_view(&whole), &writ_json_limits_default, arena, &value, NULL))) {
        check(value, arena);
    }
    return 0;
}
