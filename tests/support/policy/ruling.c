/* Reads a configuration and decides a call without error handling: a failure here fails the
 * test. */
#include "policy/read/findings.h"
#include "policy/read/load.h"
#include "support/policy/ruling.h"

#include "support/unit.h"
#include "support/evidence/value.h"

#define OUTPUT_MAX (1 << 20)

struct writ_config *
writ_ruling_config(const char *yaml)
{
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    writ_result result = writ_load_text(writ_view_str(yaml), "c.yaml", NULL, &config, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return config;
}

struct writ_config *
writ_ruling_of_constraints(struct writ_view constraints)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);
    struct writ_config *config = NULL;

    writ_buf_str(&text, "{\"tools\": {\"u/t\": {\"scope\": \"s\", \"arguments\": ");
    writ_buf_put(&text, constraints);
    writ_buf_str(&text, "}}}");
    if (!writ_is_ok(writ_buf_check(&text, NULL)) ||
        !writ_is_ok(writ_load_text(writ_buf_view(&text), "fuzz", NULL, &config, NULL))) {
        WRIT_INVARIANT(config == NULL);
    }
    return config;
}

void
writ_ruling_decide(const struct writ_config *config, const char *tool,
    const struct writ_json *arguments, struct writ_arena *arena, struct writ_verdict *ret)
{
    static const struct writ_agent dev = {
        .id = {"dev", 3}, .tenant = {"acme", 4}, .role = {"operator", 8}};
    struct writ_view name = writ_view_str(tool);
    size_t slash = writ_view_find(name, '/');
    struct writ_policy_call call = {
        &dev, writ_view_sub(name, 0, slash), writ_view_sub(name, slash + 1, name.len), arguments};

    writ_policy_decide(config, &call, arena, ret);
}

void
writ_ruling_decide_text(const struct writ_config *config, const char *tool, const char *arguments,
    struct writ_arena *arena, struct writ_verdict *ret)
{
    writ_ruling_decide(config, tool, writ_value_of(arena, writ_view_str(arguments)), arena, ret);
}

struct writ_view
writ_ruling_reason(const struct writ_config *config, const char *tool, const char *arguments)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_verdict verdict;

    writ_ruling_decide_text(config, tool, arguments, arena, &verdict);
    return writ_reason_name(verdict.reason);
}

struct writ_buf
writ_ruling_faults(struct writ_view yaml)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_config *config = NULL;
    writ_result result = writ_load_text(yaml, "c.yaml", &findings, &config, NULL);

    ck_assert(!writ_is_ok(result));
    ck_assert_ptr_null(config);
    writ_findings_put(&findings, WRIT_LIT("c.yaml"), &output);
    writ_buf_byte(&output, '\0');
    ck_assert_ok(writ_buf_check(&output, NULL));
    return output;
}

struct writ_buf
writ_ruling_warnings(const char *yaml)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    writ_result result = writ_load_text(writ_view_str(yaml), "c.yaml", &findings, &config, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    writ_config_drop(config);
    writ_findings_put(&findings, WRIT_LIT("c.yaml"), &output);
    writ_buf_byte(&output, '\0');
    ck_assert_ok(writ_buf_check(&output, NULL));
    return output;
}
