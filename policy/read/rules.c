/* Reads `tools`: each rule with its templates, probe, budgets, results, approval and constraints. A
 * fault in any part refuses the file. Budgets of one name share a counter, so they must agree. */
#include "policy/read/rules.h"

#include "policy/model/trail.h"
#include "policy/model/glob.h"
#include "policy/model/host.h"
#include "policy/read/canonical.h"
#include "policy/read/retention.h"
#include "policy/read/doubts.h"
#include "policy/read/flows.h"
#include "policy/read/output_rules.h"
#include "policy/read/placeholder.h"
#include "policy/read/reviews.h"
#include "policy/read/template_read.h"
#include "policy/read/value_read.h"

#include <stdlib.h>

#define REF_MAX 1024

/* The rules under construction. */
struct making {
    struct writ_options *o;
    const struct writ_config *config; /* its upstreams */
    struct writ_pattern_list **patterns;
    const struct writ_yaml *tools;
    const struct writ_raw_defaults *defaults;
    const struct writ_output_rules *output; /* of the defaults; NULL: none */
    struct writ_retention contents;         /* of the defaults */
    const struct writ_yaml *labels;         /* of the defaults; NULL: none */
    struct writ_tool_entry *entry;          /* of the present rule */
    const struct writ_yaml *node;           /* of that entry */
};

/* ---- state probes */

static bool
split_name(struct writ_view name, struct writ_view *ret_upstream, struct writ_view *ret_tool)
{
    size_t slash = writ_view_find(name, '/');

    *ret_upstream = writ_view_sub(name, 0, slash);
    *ret_tool = writ_view_sub(name, slash + 1, name.len);
    return slash > 0 && slash + 1 < name.len;
}

static bool
check_upstream(struct making *m, const struct writ_yaml *node, struct writ_view name)
{
    if (writ_config_runs_tools(m->config, name)) {
        return true;
    }
    WRIT_OPTION_FAULT(m->o, node, "there is no upstream \"" WRIT_VIEW_FMT "\"",
        WRIT_VIEW_ARG(writ_view_sub(name, 0, 64)));
    return false;
}

/* A framework runs tools, and answers no requests. */
static bool
check_asked(struct making *m, const struct writ_yaml *node, struct writ_view name)
{
    if (writ_config_framework(m->config, name) == NULL) {
        return true;
    }
    WRIT_OPTION_FAULT(m->o, node, "a framework cannot be asked for the state of a target");
    return false;
}

static bool
check_probe_url(struct making *m, const struct writ_yaml *node, bool insecure)
{
    struct writ_view text = node->text;
    struct writ_url url;

    text = writ_view_sub(text, 0, writ_view_find(text, '{'));
    if (!writ_is_ok(writ_host_read_url(text, &url)) ||
        !writ_view_has_prefix(url.rest, WRIT_LIT("/"))) {
        WRIT_OPTION_FAULT(m->o, node,
            "must be an http or https URL whose host and first slash come before any {argument}");
        return false;
    }
    if (!insecure && !writ_host_is_protected(text)) {
        WRIT_OPTION_FAULT(m->o, node, WRIT_HOST_PLAIN("the state"));
        return false;
    }
    return true;
}

static bool
read_probe_target(struct making *m, const struct writ_yaml *node, const struct writ_raw_state *raw,
    struct writ_state_probe *ret)
{
    const struct writ_yaml *tool = writ_yaml_get(node, WRIT_LIT("tool"));
    const struct writ_yaml *resource = writ_yaml_get(node, WRIT_LIT("resource"));
    const struct writ_yaml *http = writ_yaml_get(node, WRIT_LIT("http"));

    if (!writ_option_choice(m->o, WRIT_SECTION_state, node) ||
        !writ_option_together(m->o, WRIT_SECTION_state, node)) {
        return false;
    }
    if (tool != NULL) {
        ret->kind = WRIT_PROBE_TOOL;
        if (!split_name(raw->tool, &ret->upstream, &ret->tool)) {
            WRIT_OPTION_FAULT(m->o, tool, "must be upstream/tool");
            return false;
        }
        return check_upstream(m, tool, ret->upstream) && check_asked(m, tool, ret->upstream);
    }
    ret->kind = resource != NULL ? WRIT_PROBE_RESOURCE : WRIT_PROBE_HTTP;
    ret->upstream = resource != NULL ? m->entry->upstream : writ_view(NULL, 0);
    if (resource != NULL && !check_asked(m, resource, ret->upstream)) {
        return false;
    }
    ret->uri = writ_template_read_text(m->o, resource != NULL ? resource : http);
    return ret->uri != NULL && (resource != NULL || check_probe_url(m, http, raw->insecure));
}

static bool
check_select(struct making *m, const struct writ_yaml *node, const struct writ_views *select)
{
    for (size_t i = 0; i < select->n; i++) {
        if (!writ_json_is_pointer(select->items[i])) {
            WRIT_OPTION_FAULT(m->o, writ_yaml_get(node, WRIT_LIT("select")),
                "element %zu is not a JSON Pointer such as /size", i);
            return false;
        }
    }
    return true;
}

static bool
read_probe(struct making *m, const struct writ_yaml *node, struct writ_tool_rule *rule)
{
    struct writ_raw_state raw = {0};
    struct writ_state_probe *probe = writ_option_memory(m->o, 1, sizeof *probe);

    if (probe == NULL) {
        return false;
    }
    writ_option_read(m->o, WRIT_SECTION_state, node, &raw);
    *probe = (struct writ_state_probe){.select = raw.select,
        .on_error = (enum writ_probe_missing)raw.on_error,
        .timeout_us = raw.timeout_us};
    if (node->type != WRIT_YAML_MAP || !read_probe_target(m, node, &raw, probe) ||
        !check_select(m, node, &raw.select)) {
        return false;
    }
    if (raw.arguments != NULL && probe->kind != WRIT_PROBE_TOOL) {
        WRIT_OPTION_FAULT(m->o, raw.arguments, "only a tool has arguments");
        return false;
    }
    if (raw.arguments != NULL) {
        probe->members = writ_template_read_object(m->o, raw.arguments);
    }
    if (!writ_is_ok(writ_canonical_digest(node, m->o->arena, &probe->digest))) {
        m->o->nomem = true;
        return false;
    }
    rule->state = probe;
    return raw.arguments == NULL || probe->members != NULL;
}

/* ---- budgets */

static bool
read_per(struct making *m, const struct writ_yaml *node, const struct writ_views *per,
    struct writ_budget *ret)
{
    for (size_t i = 0; i < per->n; i++) {
        bool *flag = writ_view_is(per->items[i], "agent")    ? &ret->per_agent
                     : writ_view_is(per->items[i], "tenant") ? &ret->per_tenant
                     : writ_view_is(per->items[i], "tool")   ? &ret->per_tool
                                                             : NULL;
        if (flag == NULL || *flag) {
            WRIT_OPTION_FAULT(m->o, writ_yaml_get(node, WRIT_LIT("per")),
                "must list agent, tenant and tool, each at most once");
            return false;
        }
        *flag = true;
    }
    return true;
}

/* The argument of a sum as a JSON Pointer, for refusals. */
static bool
put_pointer(struct making *m, struct writ_budget *ret)
{
    writ_auto_buf pointer = writ_buf_make(REF_MAX * 2);

    for (size_t i = 0; i < ret->tokens.n; i++) {
        writ_buf_byte(&pointer, '/');
        writ_trail_token(ret->tokens.items[i], &pointer);
    }
    ret->pointer = writ_trail_keep(&pointer, m->o->arena);
    m->o->nomem = m->o->nomem || ret->pointer.ptr == NULL;
    return !m->o->nomem;
}

static bool
read_sum(struct making *m, const struct writ_yaml *node, struct writ_budget *ret)
{
    struct writ_raw_sum raw = {0};

    writ_option_read(m->o, WRIT_SECTION_sum, node, &raw);
    if (raw.arg.len == 0 || raw.max == NULL ||
        !writ_value_read_number(m->o, raw.max, &ret->limit) ||
        !writ_compile_arg(m->o, node, raw.arg, &ret->tokens)) {
        return false;
    }
    if (ret->limit.negative) {
        WRIT_OPTION_FAULT(m->o, raw.max, "cannot be negative");
        return false;
    }
    ret->arg = raw.arg;
    return put_pointer(m, ret);
}

/* "tools/fs~1write_file#0" or, with a tail, "tools/fs~1write_file#0/budgets/1" */
static struct writ_view
make_ref(struct making *m, size_t rule, const char *tail, size_t index)
{
    writ_auto_buf ref = writ_buf_make(REF_MAX * 2);
    struct writ_view kept = {NULL, 0};

    writ_buf_str(&ref, "tools/");
    writ_trail_token(m->entry->key, &ref);
    writ_buf_byte(&ref, '#');
    writ_buf_u64(&ref, rule);
    if (tail != NULL) {
        writ_buf_fmt(&ref, "/%s/%zu", tail, index);
    }
    if (writ_is_ok(writ_buf_check(&ref, NULL))) {
        kept = writ_view_copy(writ_buf_view(&ref), m->o->arena);
    }
    m->o->nomem = m->o->nomem || kept.ptr == NULL;
    return kept;
}

static bool
read_budget(struct making *m, const struct writ_yaml *node, size_t rule, struct writ_budget *ret)
{
    struct writ_raw_budget raw = {0};
    bool calls = writ_yaml_get(node, WRIT_LIT("calls")) != NULL;

    writ_option_read(m->o, WRIT_SECTION_budget, node, &raw);
    if (node->type != WRIT_YAML_MAP) {
        return false;
    }
    if (!writ_option_choice(m->o, WRIT_SECTION_budget, node)) {
        return false;
    }
    *ret = (struct writ_budget){.node = node,
        .window_us = raw.window_us,
        .counts_calls = calls,
        .limit = writ_decimal_of(raw.calls)};
    ret->name = raw.name.len > 0 ? raw.name : make_ref(m, rule, "budgets", node->index);
    return read_per(m, node, &raw.per, ret) && (calls || read_sum(m, raw.sum, ret)) && !m->o->nomem;
}

static bool
read_budgets(
    struct making *m, const struct writ_yaml *node, size_t index, struct writ_tool_rule *rule)
{
    struct writ_budget *budgets;
    bool good = true;

    if (node->type != WRIT_YAML_LIST || node->count > WRIT_BUDGETS_MAX) {
        WRIT_OPTION_FAULT(m->o, node, "must be a list of at most %d budgets", WRIT_BUDGETS_MAX);
        return false;
    }
    budgets = writ_option_memory(m->o, node->count, sizeof *budgets);
    if (budgets == NULL) {
        return false;
    }
    WRIT_YAML_EACH(element, node)
    {
        good = read_budget(m, element, index, &budgets[element->index]) && good;
    }
    rule->budgets = budgets;
    rule->budgets_n = good ? node->count : 0;
    return good;
}

/* ---- results */

static bool
read_result(struct making *m, const struct writ_yaml *node, struct writ_tool_rule *rule)
{
    if (node == NULL && m->output == NULL) {
        return true;
    }
    rule->result =
        node == NULL ? m->output : writ_output_rules_read(m->o, node, m->output, m->patterns);
    return rule->result != NULL;
}

/* ---- approvals */

static bool
read_approval(struct making *m, const struct writ_yaml *node, struct writ_tool_rule *rule)
{
    rule->approval =
        node != NULL ? writ_reviews_approval(m->o, node, m->node, m->config, m->patterns) : NULL;
    if (rule->approval != NULL && rule->shadow) {
        WRIT_OPTION_WARN(m->o, node, "shadow: calls run without a review");
    }
    return node == NULL || rule->approval != NULL;
}

/* ---- rules */

static int
duplicates_of(const struct making *m, const struct writ_yaml *node, const struct writ_raw_rule *raw)
{
    return writ_yaml_get(node, WRIT_LIT("duplicates")) != NULL ? raw->duplicates
                                                               : m->defaults->duplicates;
}

/* With auto the annotations of the server decide, if an operator accepted them or policy trusts
 * them. */
static void
set_duplicates(const struct making *m, const struct writ_yaml *node,
    const struct writ_raw_rule *raw, struct writ_tool_rule *ret)
{
    int duplicates = duplicates_of(m, node, raw);
    bool is_auto = duplicates == WRIT_RAW_DUPLICATES_AUTO;

    ret->duplicates = is_auto ? WRIT_DUPLICATES_FORBID : (enum writ_duplicates)duplicates;
    ret->repeats_reads = is_auto && (ret->pin || m->defaults->believe_annotations);
    ret->doubts_reads = is_auto && !ret->repeats_reads;
}

static void
warn_rule(struct making *m, const struct writ_yaml *node, const struct writ_raw_rule *raw)
{
    if (writ_yaml_get(node, WRIT_LIT("scope")) == NULL) {
        WRIT_OPTION_WARN(m->o, node, "has no scope: every call is refused (scope_missing)");
    }
    if (raw->replay != NULL && duplicates_of(m, node, raw) != WRIT_DUPLICATES_REPLAY) {
        WRIT_OPTION_WARN(m->o, raw->replay, "has no effect without duplicates: replay");
    }
    if (raw->shadow) {
        WRIT_OPTION_WARN(m->o, node, "shadow: calls run whatever the verdict is");
    }
}

static bool
read_templates(struct making *m, const struct writ_yaml *node, struct writ_tool_rule *rule)
{
    const struct writ_yaml *scope = writ_yaml_get(node, WRIT_LIT("scope"));
    const struct writ_yaml *target = writ_yaml_get(node, WRIT_LIT("target"));

    rule->scope = scope != NULL ? writ_template_read_text(m->o, scope) : NULL;
    rule->target = target != NULL ? writ_template_read_text(m->o, target) : NULL;
    return (scope == NULL || rule->scope != NULL) && (target == NULL || rule->target != NULL);
}

static bool
read_whole_rule(
    struct making *m, const struct writ_yaml *node, size_t index, struct writ_tool_rule *ret)
{
    struct writ_raw_rule raw = {0};
    struct writ_raw_replay replay = {0};
    struct writ_sources_pending *sources = NULL;
    bool good;

    writ_option_read(m->o, WRIT_SECTION_rule, node, &raw);
    if (node->type != WRIT_YAML_MAP) {
        return false;
    }
    writ_option_read(m->o, WRIT_SECTION_replay, raw.replay, &replay);
    *ret = (struct writ_tool_rule){.ref = ret->ref,
        .node = node,
        .agreed = ret->agreed,
        .agents = raw.agents,
        .roles = raw.roles,
        .tenants = raw.tenants,
        .scopes = raw.scopes,
        .refusal = (enum writ_refusal_form)raw.refusal,
        .shadow =
            writ_yaml_get(node, WRIT_LIT("shadow")) != NULL ? raw.shadow : m->defaults->shadow,
        .pin = writ_yaml_get(node, WRIT_LIT("pin")) != NULL ? raw.pin : m->defaults->pin,
        .timeout_us = raw.timeout_us,
        .replay_ttl_us = replay.ttl_us,
        .replay_bytes = replay.bytes};
    set_duplicates(m, node, &raw, ret);
    ret->schema = raw.schema != 0;
    if (ret->schema && !ret->pin) {
        WRIT_OPTION_FAULT(m->o, writ_option_of(node, "schema"),
            "needs `pin: true`: without it no definition is accepted");
        return false;
    }
    good = read_templates(m, node, ret);
    good = writ_option_scopes(m->o, writ_yaml_get(node, WRIT_LIT("scopes")), &raw.scopes) && good;
    good = (raw.state == NULL || read_probe(m, raw.state, ret)) && good;
    good = read_result(m, raw.result, ret) && good;
    good = read_approval(m, raw.approval, ret) && good;
    good = (raw.budgets == NULL || read_budgets(m, raw.budgets, index, ret)) && good;
    writ_retention_read(m->o, raw.contents, &m->contents, &ret->contents);
    good = writ_flows_labels(m->o, raw.labels, m->labels, ret) && good;
    m->o->sources = &sources;
    ret->arguments = writ_compile_constraints(m->o, raw.arguments, m->patterns);
    m->o->sources = NULL;
    good = writ_flows_approvals(m->o, sources, m->node, m->config, m->patterns) && good;
    good = (ret->arguments == NULL || writ_retention_check(m->o, ret)) && good;
    warn_rule(m, node, &raw);
    return good && ret->arguments != NULL && !m->o->nomem;
}

/* A rule with placeholders, in a file that is not agreed, says for whom the tool is listed. Its
 * faults are reported when the placeholders are replaced. */
static bool
read_draft(struct making *m, const struct writ_yaml *node, size_t index, struct writ_tool_rule *ret)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) untold = {0};
    struct writ_findings *findings = m->o->findings;

    m->o->findings = &untold;
    (void)read_whole_rule(m, node, index, ret);
    m->o->findings = findings;
    *ret = (struct writ_tool_rule){.ref = ret->ref,
        .node = node,
        .agents = ret->agents,
        .roles = ret->roles,
        .tenants = ret->tenants,
        .refusal = ret->refusal,
        .arguments = writ_compile_constraints(m->o, NULL, m->patterns)};
    return ret->arguments != NULL && !m->o->nomem;
}

static bool
read_rule(struct making *m, const struct writ_yaml *node, size_t index, struct writ_tool_rule *ret)
{
    const struct writ_yaml_source *source = writ_yaml_source(node);

    *ret = (struct writ_tool_rule){.ref = make_ref(m, index, NULL, 0),
        .node = node,
        .agreed = source == NULL || source->agreed};
    return !ret->agreed && writ_placeholder_any(node) ? read_draft(m, node, index, ret)
                                                      : read_whole_rule(m, node, index, ret);
}

static bool
read_rules(struct making *m, const struct writ_yaml *node)
{
    bool many = node->type == WRIT_YAML_LIST;
    size_t n = many ? node->count : 1;
    struct writ_tool_rule *rules = writ_option_memory(m->o, n, sizeof *rules);
    struct writ_view *refs = writ_option_memory(m->o, n, sizeof *refs);
    bool good = true;
    size_t at = 0;

    if (n == 0 || n > WRIT_RULES_MAX) {
        WRIT_OPTION_FAULT(m->o, node, "must be a rule, or a list of 1 to %d rules", WRIT_RULES_MAX);
        return false;
    }
    if (rules == NULL || refs == NULL) {
        return false;
    }
    for (const struct writ_yaml *one = many ? node->first : node; at < n; one = one->next, at++) {
        good = read_rule(m, one, at, &rules[at]) && good;
        refs[at] = good ? rules[at].ref : writ_view(NULL, 0);
    }
    m->entry->rules = rules;
    m->entry->rules_n = n;
    m->entry->refs = (struct writ_views){refs, n};
    if (good) {
        writ_doubts_rules(m->o, node, m->config, m->entry);
    }
    return good;
}

/* ---- the table of tools */

static bool
read_entry(struct making *m, const struct writ_yaml *node, struct writ_tool_entry *ret)
{
    const char *fault;
    bool good;

    *ret = (struct writ_tool_entry){.key = node->key};
    m->entry = ret;
    m->node = node;
    if (node->key.len > 512 || !split_name(node->key, &ret->upstream, &ret->tool)) {
        WRIT_OPTION_FAULT(m->o, node, "must be a name such as upstream/tool or upstream/read_*");
        return false;
    }
    ret->pattern = writ_view_find(ret->tool, '*') < ret->tool.len ||
                   writ_view_find(ret->tool, '?') < ret->tool.len ||
                   writ_view_find(ret->tool, '[') < ret->tool.len;
    fault = ret->pattern ? writ_glob_fault(ret->tool) : NULL;
    if (fault != NULL) {
        WRIT_OPTION_FAULT(m->o, node, "is not a pattern: %s", fault);
        return false;
    }
    good = check_upstream(m, node, ret->upstream);
    return node->type != WRIT_YAML_NONE && read_rules(m, node) && good;
}

static bool
same_budget(const struct writ_budget *a, const struct writ_budget *b)
{
    return a->per_agent == b->per_agent && a->per_tenant == b->per_tenant &&
           a->per_tool == b->per_tool && a->window_us == b->window_us &&
           a->counts_calls == b->counts_calls && writ_decimal_compare(&a->limit, &b->limit) == 0;
}

struct named_budget {
    const struct writ_budget *budget;
    size_t entry;
};

static int
by_name(const void *a, const void *b)
{
    const struct named_budget *left = a, *right = b;
    int order = writ_view_compare(left->budget->name, right->budget->name);

    return order != 0 ? order : (left->entry > right->entry) - (left->entry < right->entry);
}

static const struct writ_yaml *
nth_child(const struct writ_yaml *node, size_t n)
{
    const struct writ_yaml *child = node != NULL ? node->first : NULL;

    for (; n > 0 && child != NULL; n--) {
        child = child->next;
    }
    return child;
}

static size_t
collect_budgets(const struct writ_policy *policy, struct named_budget *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            const struct writ_tool_rule *rule = &policy->entries[i].rules[r];
            for (size_t b = 0; b < rule->budgets_n; b++, n++) {
                if (ret != NULL) {
                    ret[n] = (struct named_budget){&rule->budgets[b], i};
                }
            }
        }
    }
    return n;
}

/* Budgets that share a counter must agree. */
static bool
check_budgets(struct making *m, const struct writ_policy *policy)
{
    size_t n = collect_budgets(policy, NULL);
    struct named_budget *all = writ_option_memory(m->o, n, sizeof *all);
    bool good = true;

    if (all == NULL) {
        return false;
    }
    (void)collect_budgets(policy, all);
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 1; i < n; i++) {
        if (writ_view_equal(all[i - 1].budget->name, all[i].budget->name) &&
            !same_budget(all[i - 1].budget, all[i].budget)) {
            WRIT_OPTION_FAULT(m->o, nth_child(m->tools, all[i].entry),
                "budget \"" WRIT_VIEW_FMT "\" differs from another of the same name",
                WRIT_VIEW_ARG(all[i].budget->name));
            good = false;
        }
    }
    return good;
}

const struct writ_policy *
writ_rules_read(struct writ_options *o, const struct writ_yaml *tools,
    const struct writ_raw_defaults *defaults, const struct writ_config *upstreams,
    struct writ_pattern_list **patterns)
{
    struct making m = {.o = o,
        .config = upstreams,
        .patterns = patterns,
        .tools = tools,
        .defaults = defaults,
        .labels = defaults->labels};
    size_t n = tools != NULL && tools->type == WRIT_YAML_MAP ? tools->count : 0;
    struct writ_policy *policy = writ_option_memory(o, 1, sizeof *policy);
    struct writ_tool_entry *entries = writ_option_memory(o, n, sizeof *entries);
    size_t *buckets = writ_option_memory(o, writ_rule_buckets(n), sizeof *buckets);
    bool good = true;
    size_t at = 0;

    if (tools != NULL && tools->type != WRIT_YAML_MAP) {
        WRIT_OPTION_FAULT(o, tools, "must be a map of upstream/tool to rules");
        return NULL;
    }
    if (policy == NULL || entries == NULL || buckets == NULL) {
        return NULL;
    }
    if (defaults->result != NULL) {
        m.output = writ_output_rules_read(o, defaults->result, NULL, patterns);
        good = m.output != NULL;
    }
    writ_retention_read(o, defaults->contents, NULL, &m.contents);
    WRIT_YAML_EACH(node, tools)
    {
        good = read_entry(&m, node, &entries[at]) && good;
        writ_doubts_pattern(o, node, entries, at, &entries[at]);
        at++;
    }
    writ_retention_doubt(o, entries, at);
    writ_rule_index(entries, n, buckets, policy);
    policy->contents = m.contents;
    policy->hides = writ_retention_hide(policy);
    return good && check_budgets(&m, policy) ? policy : NULL;
}
