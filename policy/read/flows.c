/* flows.c - see flows.h. */
#include "policy/read/flows.h"

#include "policy/model/constraint.h"
#include "policy/model/flow.h"
#include "policy/model/glob.h"
#include "policy/read/detectors.h"
#include "policy/read/reviews.h"

#define REF_MAX   32
#define NAMES_MAX 512

/* ---- approvals of the op `from` */

bool
writ_flows_approvals(struct writ_options *o, const struct writ_sources_pending *pending,
    const struct writ_yaml *tool, const struct writ_config *config,
    struct writ_pattern_list **patterns)
{
    bool good = true;

    for (; pending != NULL; pending = pending->next) {
        pending->from->approval =
            writ_reviews_approval(o, pending->approval, tool, config, patterns);
        good = pending->from->approval != NULL && good;
    }
    return good;
}

/* ---- labels */

static bool
check_pointers(struct writ_options *o, const struct writ_yaml *map, const char *name,
    const struct writ_views *all)
{
    for (size_t i = 0; i < all->n; i++) {
        if (!writ_json_is_pointer(all->items[i])) {
            WRIT_OPTION_FAULT(o, writ_option_of(map, name),
                "element %zu is not a JSON Pointer such as /items/*", i);
            return false;
        }
    }
    return true;
}

static bool
check_labels(struct writ_options *o, const struct writ_yaml *node, const struct writ_views *labels)
{
    for (size_t i = 0; i < labels->n; i++) {
        if (labels->items[i].len == 0 || labels->items[i].len > WRIT_RUN_LABEL_MAX ||
            writ_view_is(labels->items[i], "trusted")) {
            WRIT_OPTION_FAULT(o, node, "a label is a word of 1 to %d bytes, and not `trusted`",
                WRIT_RUN_LABEL_MAX);
            return false;
        }
    }
    return true;
}

static bool
read_believe(struct writ_options *o, const struct writ_yaml *node, const struct writ_views *names,
    bool pinned, struct writ_labels *ret)
{
    for (size_t i = 0; i < names->n; i++) {
        bool meta = writ_view_is(names->items[i], "meta");
        if (!meta && !writ_view_is(names->items[i], "annotations")) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "believe"), "lists annotations and meta");
            return false;
        }
        *(meta ? &ret->believe_meta : &ret->believe_annotations) = true;
    }
    if (names->n > 0 && !pinned) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "believe"),
            "needs `pin: true` in the rule: a server whose definitions are not accepted is not "
            "believed");
        return false;
    }
    return true;
}

static bool
read_detected_one(struct writ_options *o, const struct writ_yaml *node, struct writ_detected *ret)
{
    const struct writ_yaml *detect = writ_yaml_get(node, WRIT_LIT("detect"));
    struct writ_raw_detected raw = {0};
    writ_auto_buf names = writ_buf_make(NAMES_MAX);
    struct writ_views label = {&raw.add, 1};

    writ_option_read(o, WRIT_SECTION_detected, node, &raw);
    if (node->type != WRIT_YAML_MAP || raw.add.len == 0) {
        return false;
    }
    if (detect == NULL) {
        WRIT_OPTION_FAULT(o, node, "lacks detect: name detectors, such as secret.*");
        return false;
    }
    if (writ_view_is(raw.add, "public")) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "add"), "public is no label: nothing is added");
        return false;
    }
    writ_detectors_tell(detect, &names);
    *ret = (struct writ_detected){.detectors = writ_detectors_named(o, detect),
        .names = writ_view_copy(writ_buf_view(&names), o->arena),
        .label = raw.add};
    o->nomem = o->nomem || ret->names.ptr == NULL;
    return check_labels(o, writ_option_of(node, "add"), &label) && ret->detectors != NULL;
}

static bool
read_detected(struct writ_options *o, const struct writ_yaml *node, struct writ_labels *ret)
{
    struct writ_detected *all;
    bool good = true;

    if (node == NULL) {
        return true;
    }
    if (node->type != WRIT_YAML_LIST || node->count > WRIT_DETECTED_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a list of at most %d entries", WRIT_DETECTED_MAX);
        return false;
    }
    all = writ_option_memory(o, node->count, sizeof *all);
    if (all == NULL) {
        return false;
    }
    WRIT_YAML_EACH(element, node)
    {
        good = read_detected_one(o, element, &all[element->index]) && good;
    }
    ret->detected = all;
    ret->detected_n = good ? node->count : 0;
    return good;
}

static bool
read_labels(struct writ_options *o, const struct writ_yaml *node, bool pinned,
    const struct writ_labels **ret)
{
    struct writ_raw_labels raw = {0};
    struct writ_labels *labels;

    if (node == NULL) {
        return true;
    }
    labels = writ_option_memory(o, 1, sizeof *labels);
    writ_option_read(o, WRIT_SECTION_labels, node, &raw);
    if (labels == NULL || node->type != WRIT_YAML_MAP) {
        return false;
    }
    *labels = (struct writ_labels){.trusted = raw.integrity == 1,
        .trusted_at = raw.trusted_at,
        .untrusted_at = raw.untrusted_at,
        .confidentiality = raw.confidentiality};
    *ret = labels;
    return check_labels(o, writ_option_of(node, "confidentiality"), &raw.confidentiality) &&
           check_pointers(o, node, "trusted_at", &raw.trusted_at) &&
           check_pointers(o, node, "untrusted_at", &raw.untrusted_at) &&
           read_believe(o, node, &raw.believe, pinned, labels) &&
           read_detected(o, raw.detected, labels);
}

bool
writ_flows_labels(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_yaml *defaults, struct writ_tool_rule *ret)
{
    return read_labels(o, node != NULL ? node : defaults, ret->pin, &ret->labels);
}

/* Resources and prompts have no accepted definition. */
static bool
refuse_believe(struct writ_options *o, const struct writ_yaml *node)
{
    if (writ_yaml_get(node, WRIT_LIT("believe")) == NULL) {
        return false;
    }
    WRIT_OPTION_FAULT(o, writ_option_of(node, "believe"),
        "is for tools: resources and prompts have no accepted definition");
    return true;
}

static const struct writ_labels *
read_resource(struct writ_options *o, const struct writ_yaml *node)
{
    const struct writ_labels *read = NULL;
    struct writ_labels *labels = writ_option_memory(o, 1, sizeof *labels);
    const char *fault = writ_glob_fault(node->key);

    if (fault != NULL) {
        WRIT_OPTION_FAULT(o, node, "%s", fault);
    }
    if (labels == NULL || refuse_believe(o, node) || !read_labels(o, node, false, &read) ||
        read == NULL) {
        return NULL;
    }
    *labels = *read;
    labels->resource = node->key;
    return labels;
}

static void
read_resources(struct writ_options *o, const struct writ_yaml *node, struct writ_resources *ret)
{
    const struct writ_labels **all;
    size_t n = 0;

    if (node == NULL) {
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_RESOURCES_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a map of at most %d patterns", WRIT_RESOURCES_MAX);
        return;
    }
    all = writ_option_memory(o, node->count, sizeof *all);
    WRIT_YAML_EACH(member, all != NULL ? node : NULL)
    {
        all[n] = read_resource(o, member);
        n += all[n] != NULL ? 1 : 0; /* else: a finding says why */
    }
    *ret = (struct writ_resources){all, n};
}

/* The labels of what is read. */
static void
read_upstreams(struct writ_options *o, const struct writ_yaml *defaults, struct writ_config *config)
{
    const struct writ_labels **all = writ_option_memory(o, config->upstreams_n, sizeof *all);
    struct writ_resources *resources =
        writ_option_memory(o, config->upstreams_n, sizeof *resources);

    for (size_t i = 0; all != NULL && resources != NULL && i < config->upstreams_n; i++) {
        const struct writ_yaml *own = writ_yaml_get(config->upstreams[i].node, WRIT_LIT("labels"));
        struct writ_labels *labels = NULL;

        all[i] = NULL;
        resources[i] = (struct writ_resources){.n = 0};
        read_resources(
            o, writ_yaml_get(config->upstreams[i].node, WRIT_LIT("resources")), &resources[i]);
        if (own != NULL) {
            if (!refuse_believe(o, own)) {
                (void)read_labels(o, own, false, &all[i]);
            }
        } else if (defaults != NULL && read_labels(o, defaults, true, &all[i]) && all[i] != NULL) {
            labels = writ_option_memory(o, 1, sizeof *labels);
            if (labels != NULL) {
                *labels = *all[i];
                labels->believe_annotations = labels->believe_meta = false;
                all[i] = labels;
            }
        }
    }
    config->read_labels = all;
    config->resources = resources;
}

/* ---- flows */

static bool
check_patterns(struct writ_options *o, const struct writ_yaml *node, const struct writ_views *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const char *fault = writ_glob_fault(all->items[i]);
        if (fault != NULL || writ_view_find(all->items[i], '/') == all->items[i].len) {
            WRIT_OPTION_FAULT(o, node, "element %zu is not a pattern of upstream/tool: %s", i,
                fault != NULL ? fault : "it has no slash");
            return false;
        }
    }
    return true;
}

static bool
read_requires(struct writ_options *o, const struct writ_yaml *node, struct writ_flow_rule *ret)
{
    struct writ_raw_requires raw = {0};
    struct writ_flow_requires *requires = writ_option_memory(o, 1, sizeof *requires);
    struct writ_views call = {&raw.call, 1};

    writ_option_read(o, WRIT_SECTION_requires, node, &raw);
    if (requires == NULL || node->type != WRIT_YAML_MAP || raw.call.len == 0 ||
        !check_patterns(o, node, &call)) {
        return false;
    }
    *requires = (struct writ_flow_requires){raw.call, raw.same, raw.within_us};
    ret->requires = requires;
    return true;
}

static struct writ_view
ref_of(struct writ_options *o, size_t index)
{
    char room[REF_MAX];
    struct writ_buf ref = writ_buf_over(room, sizeof room);
    struct writ_view kept;

    writ_buf_fmt(&ref, "flows#%zu", index);
    kept = writ_view_copy(writ_buf_view(&ref), o->arena);
    o->nomem = o->nomem || kept.ptr == NULL;
    return kept;
}

static bool
read_flow(struct writ_options *o, const struct writ_yaml *node, const struct writ_config *config,
    struct writ_pattern_list **patterns, struct writ_flow_rule *ret)
{
    struct writ_raw_flow raw = {0};

    writ_option_read(o, WRIT_SECTION_flow, node, &raw);
    if (node->type != WRIT_YAML_MAP || !writ_option_choice(o, WRIT_SECTION_flow, node)) {
        return false;
    }
    if (raw.tools.n == 0) {
        WRIT_OPTION_FAULT(o, node, "lacks tools: name the calls that the rule is about");
        return false;
    }
    *ret = (struct writ_flow_rule){.ref = ref_of(o, node->index),
        .node = node,
        .tools = raw.tools,
        .after = raw.after,
        .after_calls = raw.after_calls,
        .at_most = raw.at_most};
    if (raw.approval != NULL && raw.at_most > 0) {
        WRIT_OPTION_FAULT(
            o, raw.approval, "a call beyond at_most is refused: no approval permits it");
        return false;
    }
    if (raw.approval != NULL) {
        ret->approval = writ_reviews_approval(o, raw.approval, node, config, patterns);
    }
    return check_patterns(o, writ_option_of(node, "tools"), &raw.tools) &&
           check_patterns(o, writ_option_of(node, "after_calls"), &raw.after_calls) &&
           check_labels(o, writ_option_of(node, "after"), &raw.after) &&
           (raw.requires == NULL || read_requires(o, raw.requires, ret)) &&
           (raw.approval == NULL || ret->approval != NULL);
}

static void
read_flows(struct writ_options *o, const struct writ_yaml *node, struct writ_config *config,
    struct writ_pattern_list **patterns)
{
    struct writ_flow_rule *flows;
    bool good = true;

    if (node->type != WRIT_YAML_LIST || node->count > WRIT_FLOWS_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a list of at most %d rules", WRIT_FLOWS_MAX);
        return;
    }
    flows = writ_option_memory(o, node->count, sizeof *flows);
    if (flows == NULL) {
        return;
    }
    WRIT_YAML_EACH(element, node)
    {
        good = read_flow(o, element, config, patterns, &flows[element->index]) && good;
    }
    config->flows = flows;
    config->flows_n = good ? node->count : 0;
}

static void
read_tasks(struct writ_options *o, const struct writ_yaml *node, struct writ_config *config,
    struct writ_pattern_list **patterns)
{
    struct writ_raw_tasks raw = {0};
    struct writ_tasks *tasks = writ_option_memory(o, 1, sizeof *tasks);

    writ_option_read(o, WRIT_SECTION_tasks, node, &raw);
    if (tasks == NULL || node->type != WRIT_YAML_MAP) {
        return;
    }
    if (raw.agents.n == 0 && raw.scopes.n == 0) {
        WRIT_OPTION_WARN(o, node, "names no agents and no scopes: no caller states a task");
    }
    *tasks = (struct writ_tasks){.agents = raw.agents, .scopes = raw.scopes, .always = raw.always};
    (void)check_patterns(o, writ_option_of(node, "always"), &raw.always);
    if (raw.approval != NULL) {
        tasks->approval = writ_reviews_approval(o, raw.approval, node, config, patterns);
    }
    config->tasks = tasks;
}

/* ---- whether the state of runs is needed */

static bool
asks_sources(const struct writ_constraint_set *set)
{
    for (size_t i = 0; set != NULL && i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        if (c->op == WRIT_OP_FROM || (c->op == WRIT_OP_EACH && asks_sources(c->value.each))) {
            return true;
        }
    }
    return false;
}

static bool
follows_values(const struct writ_config *config)
{
    const struct writ_policy *policy = config->policy;

    if (config->flows_n > 0 || config->tasks != NULL) {
        return true;
    }
    for (size_t i = 0; policy != NULL && i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            if (asks_sources(policy->entries[i].rules[r].arguments)) {
                return true;
            }
        }
    }
    return false;
}

void
writ_flows_read(struct writ_options *o, const struct writ_raw_top *top, struct writ_config *config,
    struct writ_pattern_list **patterns)
{
    if (top->flows != NULL) {
        read_flows(o, top->flows, config, patterns);
    }
    if (top->tasks != NULL) {
        read_tasks(o, top->tasks, config, patterns);
    }
    read_upstreams(o, top->defaults.labels, config);
    config->follows_values = follows_values(config);
}
