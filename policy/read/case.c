/* Reads written calls, judges them by the same function as the gateway, and compares the verdict
 * with the expected one. Unknown members are refused, so a misspelt expectation cannot pass. */
#include "policy/read/case.h"

#include "evidence/json/write.h"
#include "policy/decide/approval.h"
#include "policy/decide/value.h"
#include "policy/read/value_read.h"

/* ---- reading objects with a closed set of members */

static WRIT_RESULT
closed(const struct writ_json *object, const char *const *names, const char *what,
    struct writ_err *err)
{
    if (writ_json_type(object) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not an object", what);
    }
    WRIT_JSON_EACH(name, object)
    {
        const char *const *known = names;
        while (*known != NULL && !writ_view_is(writ_json_string(name), *known)) {
            known++;
        }
        if (*known == NULL) {
            WRIT_FAIL(err, WRIT_E_INVALID, "%s has an unknown member \"" WRIT_VIEW_FMT "\"", what,
                WRIT_VIEW_ARG(writ_view_sub(writ_json_string(name), 0, 64)));
        }
    }
    return WRIT_DONE;
}

/* A string member; absent leaves `ret` as it is. */
static WRIT_RESULT
text_member(
    const struct writ_json *object, const char *name, struct writ_view *ret, struct writ_err *err)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(name));

    if (value != NULL && writ_json_type(value) != WRIT_JSON_STRING) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s is not a string", name);
    }
    if (value != NULL) {
        *ret = writ_json_string(value);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
configured_agent(const struct writ_config *config, struct writ_view id, struct writ_agent *ret,
    struct writ_err *err)
{
    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *identity = &config->agents[i];
        bool fits = id.ptr != NULL ? writ_view_equal(identity->agent.id, id)
                                   : identity->kind == WRIT_IDENTITY_ANONYMOUS;
        if (fits && identity->kind != WRIT_IDENTITY_JWT) {
            *ret = identity->agent;
            return WRIT_DONE;
        }
    }
    if (id.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the call lacks agent, and no anonymous one is configured");
    }
    WRIT_FAIL(err, WRIT_E_INVALID,
        "no agent \"" WRIT_VIEW_FMT "\" is configured; write {\"id\": ..., \"role\": ...}",
        WRIT_VIEW_ARG(writ_view_sub(id, 0, 64)));
}

static WRIT_RESULT
read_agent(const struct writ_json *value, const struct writ_config *config, struct writ_agent *ret,
    struct writ_err *err)
{
    static const char *const names[] = {
        "id", "tenant", "role", "credential_scope", "credential_tier", "scopes", NULL};

    if (value == NULL || writ_json_type(value) == WRIT_JSON_STRING) {
        return configured_agent(config, writ_json_string(value), ret, err);
    }
    WRIT_TRY(closed(value, names, "agent", err));
    WRIT_TRY(text_member(value, "id", &ret->id, err));
    WRIT_TRY(text_member(value, "tenant", &ret->tenant, err));
    WRIT_TRY(text_member(value, "role", &ret->role, err));
    WRIT_TRY(text_member(value, "credential_scope", &ret->credential_scope, err));
    WRIT_TRY(text_member(value, "credential_tier", &ret->credential_tier, err));
    WRIT_TRY(text_member(value, "scopes", &ret->scopes, err));
    if (ret->id.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "agent lacks id");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_case_call(const struct writ_json *value, const struct writ_config *config,
    struct writ_arena *arena, struct writ_case_call *ret, struct writ_err *err)
{
    static const char *const names[] = {"agent", "tool", "arguments", "target_state_digest",
        "boundary_id", "idempotency_key", NULL};
    struct writ_case_call call = {0};
    struct writ_view tool = {NULL, 0};
    struct writ_digest ignored;
    size_t slash;

    WRIT_TRY(closed(value, names, "the call", err));
    WRIT_TRY(read_agent(writ_json_get(value, WRIT_LIT("agent")), config, &call.agent, err));
    WRIT_TRY(text_member(value, "tool", &tool, err));
    WRIT_TRY(text_member(value, "target_state_digest", &call.target_state_digest, err));
    WRIT_TRY(text_member(value, "boundary_id", &call.boundary_id, err));
    WRIT_TRY(text_member(value, "idempotency_key", &call.idempotency_key, err));
    slash = writ_view_find(tool, '/');
    if (slash == 0 || slash + 1 >= tool.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the call lacks tool, as upstream/tool");
    }
    call.upstream = writ_view_sub(tool, 0, slash);
    call.tool = writ_view_sub(tool, slash + 1, tool.len);
    call.arguments = writ_json_get(value, WRIT_LIT("arguments"));
    if (call.arguments == NULL) {
        WRIT_TRY(
            writ_json_read(WRIT_LIT("{}"), &writ_json_limits_default, arena, &call.arguments, err));
    }
    if (call.target_state_digest.ptr != NULL) {
        WRIT_TRY(writ_digest_read(call.target_state_digest, &ignored, err));
    }
    *ret = call;
    return WRIT_DONE;
}

struct writ_policy_call
writ_case_policy_call(const struct writ_case_call *call)
{
    return (struct writ_policy_call){&call->agent, call->upstream, call->tool, call->arguments};
}

/* ---- files of cases */

static void
read_case(struct writ_options *o, const struct writ_yaml *node, struct writ_case *ret)
{
    static const char *const names[] = {"name", "call", "expect", NULL};
    const struct writ_json *value = writ_value_read(o, node);
    struct writ_err err = {0};

    *ret = (struct writ_case){.line = node->key_line};
    if (value == NULL) {
        return;
    }
    if (!writ_is_ok(closed(value, names, "a case", &err)) ||
        !writ_is_ok(text_member(value, "name", &ret->name, &err))) {
        WRIT_OPTION_FAULT(o, node, "%s", err.text);
        return;
    }
    ret->call = writ_json_get(value, WRIT_LIT("call"));
    ret->expect = writ_json_get(value, WRIT_LIT("expect"));
    if (ret->call == NULL || ret->expect == NULL) {
        WRIT_OPTION_FAULT(o, node, "a case lacks call or expect");
    } else if (writ_json_type(ret->expect) == WRIT_JSON_OBJECT && ret->expect->count == 0) {
        /* it would pass whatever is decided */
        WRIT_OPTION_FAULT(o, writ_yaml_get(node, WRIT_LIT("expect")),
            "the case expects nothing: write allow, deny or require_approval, or an object with "
            "decision, reason, argument, constraint, scope, target or shadow");
    }
}

static WRIT_RESULT
read_cases(struct writ_options *o, const struct writ_yaml *root, struct writ_case_file *ret)
{
    const struct writ_yaml *node = writ_yaml_get(root, WRIT_LIT("cases"));
    struct writ_case *cases;

    if (node == NULL || node->type != WRIT_YAML_LIST || node->count == 0) {
        writ_findings_add(o->findings, WRIT_SEVERITY_ERROR, node != NULL ? node->line : root->line,
            writ_view(NULL, 0), "the file lacks cases, a list");
        return (writ_result){WRIT_E_INVALID};
    }
    if (node->count > WRIT_CASES_MAX) {
        WRIT_OPTION_FAULT(o, node, "more than %d cases", WRIT_CASES_MAX);
        return (writ_result){WRIT_E_LIMIT};
    }
    cases = writ_option_memory(o, node->count, sizeof *cases);
    if (cases == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_YAML_EACH(element, node)
    {
        read_case(o, element, &cases[element->index]);
    }
    ret->cases = cases;
    ret->n = node->count;
    return o->nomem ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
}

WRIT_RESULT
writ_case_file(struct writ_view text, struct writ_arena *arena, struct writ_findings *findings,
    struct writ_case_file *ret)
{
    struct writ_options o = {.arena = arena, .findings = findings};
    struct writ_case_file file = {0};
    const struct writ_yaml *root, *config;

    WRIT_TRY(writ_yaml_read(text, arena, findings, &root));
    config = writ_yaml_get(root, WRIT_LIT("config"));
    if (config == NULL || !writ_option_text(&o, config)) {
        writ_findings_add(findings, WRIT_SEVERITY_ERROR, root->line, writ_view(NULL, 0),
            "the file lacks config, the name of a configuration");
    } else {
        file.config = config->text;
    }
    WRIT_YAML_EACH(member, root)
    {
        if (root->type == WRIT_YAML_MAP && !writ_view_is(member->key, "config") &&
            !writ_view_is(member->key, "cases")) {
            WRIT_OPTION_FAULT(&o, member, "unknown option; there are config and cases");
        }
    }
    WRIT_TRY(read_cases(&o, root, &file));
    if (findings->errors > 0) {
        return (writ_result){WRIT_E_INVALID};
    }
    *ret = file;
    return WRIT_DONE;
}

/* ---- running */

const char *
writ_case_decision(const struct writ_verdict *verdict)
{
    if (verdict->answer != WRIT_POLICY_ALLOW) {
        return "deny";
    }
    return verdict->approval != NULL ? "require_approval" : "allow";
}

enum writ_reason
writ_case_reason(const struct writ_verdict *verdict)
{
    return verdict->approval != NULL ? WRIT_REASON_APPROVAL_REQUIRED : verdict->reason;
}

static void
compare(const char *what, const struct writ_json *expected, struct writ_view got,
    struct writ_buf *difference)
{
    if (expected == NULL || writ_json_is(expected, got)) {
        return;
    }
    writ_buf_fmt(difference, "%s%s is \"" WRIT_VIEW_FMT "\", not \"" WRIT_VIEW_FMT "\"",
        difference->len > 0 ? ", " : "", what, WRIT_VIEW_ARG(writ_view_sub(got, 0, 200)),
        WRIT_VIEW_ARG(writ_view_sub(writ_json_text(expected), 0, 200)));
}

static WRIT_RESULT
compare_all(const struct writ_json *expect, const struct writ_verdict *verdict,
    struct writ_buf *difference, struct writ_err *err)
{
    static const char *const names[] = {
        "decision", "reason", "argument", "constraint", "scope", "target", "shadow", NULL};
    const struct writ_json *shadow;

    WRIT_TRY(closed(expect, names, "expect", err));
    shadow = writ_json_get(expect, WRIT_LIT("shadow"));
    compare("decision", writ_json_get(expect, WRIT_LIT("decision")),
        writ_view_str(writ_case_decision(verdict)), difference);
    compare("reason", writ_json_get(expect, WRIT_LIT("reason")),
        writ_reason_name(writ_case_reason(verdict)), difference);
    compare("argument", writ_json_get(expect, WRIT_LIT("argument")), verdict->argument, difference);
    compare("constraint", writ_json_get(expect, WRIT_LIT("constraint")), verdict->constraint,
        difference);
    compare("scope", writ_json_get(expect, WRIT_LIT("scope")), verdict->scope, difference);
    compare("target", writ_json_get(expect, WRIT_LIT("target")), verdict->target, difference);
    if (shadow != NULL && (writ_json_type(shadow) == WRIT_JSON_TRUE) != verdict->shadow) {
        writ_buf_fmt(difference, "%sshadow is %s", difference->len > 0 ? ", " : "",
            verdict->shadow ? "true" : "false");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_expect(const struct writ_json *expect, struct writ_err *err)
{
    const struct writ_json *decision = writ_json_type(expect) == WRIT_JSON_OBJECT
                                           ? writ_json_get(expect, WRIT_LIT("decision"))
                                           : expect;
    const struct writ_json *reason = writ_json_get(expect, WRIT_LIT("reason"));

    if (decision != NULL && !writ_json_is(decision, WRIT_LIT("allow")) &&
        !writ_json_is(decision, WRIT_LIT("deny")) &&
        !writ_json_is(decision, WRIT_LIT("require_approval"))) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "the expected decision must be allow, deny or require_approval");
    }
    if (reason != NULL && writ_reason_find(writ_json_string(reason)) == WRIT_REASON_NONE) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the expected reason is not in docs/reasons.md");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_case_run(const struct writ_config *config, const struct writ_case *one,
    struct writ_arena *arena, bool *ret_passed, struct writ_verdict *ret,
    struct writ_buf *difference, struct writ_err *err)
{
    struct writ_case_call call;
    struct writ_policy_call policy_call;

    writ_buf_clear(difference);
    WRIT_TRY(check_expect(one->expect, err));
    WRIT_TRY(writ_case_call(one->call, config, arena, &call, err));
    policy_call = writ_case_policy_call(&call);
    writ_policy_decide(config, &policy_call, arena, ret);
    if (writ_json_type(one->expect) == WRIT_JSON_STRING) {
        compare("decision", one->expect, writ_view_str(writ_case_decision(ret)), difference);
    } else {
        WRIT_TRY(compare_all(one->expect, ret, difference, err));
    }
    WRIT_TRY(writ_buf_check(difference, err));
    *ret_passed = difference->len == 0;
    return WRIT_DONE;
}

void
writ_case_put(const struct writ_verdict *verdict, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text_or_null(&w, "decision", writ_view_str(writ_case_decision(verdict)));
    writ_write_text_or_null(&w, "reason", writ_reason_name(writ_case_reason(verdict)));
    writ_write_text_or_null(
        &w, "rule", verdict->rule != NULL ? verdict->rule->ref : writ_view(NULL, 0));
    writ_write_name(&w, WRIT_LIT("policy_refs"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < verdict->policy_refs.n; i++) {
        writ_write_string(&w, verdict->policy_refs.items[i]);
    }
    writ_write_array_end(&w);
    writ_write_text_or_null(&w, "normalized_scope", verdict->scope);
    writ_write_text_or_null(&w, "target", verdict->target);
    writ_write_text_or_null(&w, "argument", verdict->argument);
    writ_write_text_or_null(&w, "constraint", verdict->constraint);
    writ_write_text_or_null(&w, "accepted", verdict->accepted);
    if (verdict->approval != NULL) {
        writ_write_text_or_null(&w, "review", verdict->approval->review->name);
    }
    writ_write_flag(&w, "shadow", verdict->shadow);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
}
