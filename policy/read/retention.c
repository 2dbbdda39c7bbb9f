/* Reads `contents`, and refuses a rule whose records would have a secret argument: a record is
 * signed and stays, so what is in it cannot be left out or erased. */
#include "policy/read/retention.h"

#include "policy/decide/template.h"
#include "policy/model/constraint.h"
#include "policy/read/compile.h"

void
writ_retention_read(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_retention *defaults, struct writ_retention *ret)
{
    struct writ_raw_contents raw = {0};

    if (node == NULL) {
        *ret = defaults != NULL ? *defaults : (struct writ_retention){0};
        return;
    }
    writ_option_read(o, WRIT_SECTION_contents, node, &raw);
    if (defaults != NULL && writ_yaml_get(node, WRIT_LIT("keep")) == NULL) {
        raw.keep_us = defaults->keep_us;
    }
    if (defaults != NULL && defaults->keep_us > 0 &&
        writ_yaml_get(node, WRIT_LIT("results")) == NULL) {
        raw.results_bytes = defaults->results_bytes;
    }
    if (raw.keep_us == 0 && writ_yaml_get(node, WRIT_LIT("results")) != NULL) {
        WRIT_OPTION_WARN(o, node, "keeps nothing: set keep, such as keep: 30d");
    }
    *ret = (struct writ_retention){
        .keep_us = raw.keep_us, .results_bytes = raw.keep_us > 0 ? raw.results_bytes : 0};
}

/* ---- secrets in records */

static const struct writ_constraint_place *
child_of(const struct writ_constraint_place *place, struct writ_view token)
{
    const struct writ_constraint_place *child = place->children;

    while (child != NULL && !writ_view_equal(child->token, token)) {
        child = child->next;
    }
    return child;
}

/* An element of an array with a secret in its elements counts as secret. */
static bool
hides_elements(const struct writ_constraint_place *place)
{
    for (size_t i = 0; i < place->each_n; i++) {
        if (place->each[i]->root.hides) {
            return true;
        }
    }
    return false;
}

static bool
is_secret(const struct writ_constraint_set *set, const struct writ_views *tokens)
{
    const struct writ_constraint_place *place = &set->root;

    for (size_t i = 0; i < tokens->n && place != NULL && !place->secret; i++) {
        if (hides_elements(place)) {
            return true;
        }
        place = child_of(place, tokens->items[i]);
    }
    return place != NULL && place->secret;
}

static bool
template_hides(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_constraint_set *set, const struct writ_template *template)
{
    struct writ_views tokens;

    for (size_t i = 0; template != NULL && i < template->parts_n; i++) {
        if (template->parts[i].kind == WRIT_TEMPLATE_PART_LITERAL) {
            continue;
        }
        if (!writ_compile_arg(o, node, template->parts[i].text, &tokens) ||
            is_secret(set, &tokens)) {
            return true;
        }
    }
    return false;
}

static bool
check_template(struct writ_options *o, const struct writ_tool_rule *rule,
    const struct writ_template *template, const char *option)
{
    const struct writ_yaml *node = writ_option_of(rule->node, option);

    if (!template_hides(o, node, rule->arguments, template)) {
        return true;
    }
    WRIT_OPTION_FAULT(o, node,
        "names a secret argument: records have the %s. Leave it out, or do not mark the argument",
        option);
    return false;
}

static bool
check_budgets(struct writ_options *o, const struct writ_tool_rule *rule)
{
    for (size_t i = 0; i < rule->budgets_n; i++) {
        const struct writ_budget *budget = &rule->budgets[i];

        if (!budget->counts_calls && is_secret(rule->arguments, &budget->tokens)) {
            WRIT_OPTION_FAULT(o, budget->node,
                "sums a secret argument: records have the amount. Count calls, or do not mark the "
                "argument");
            return false;
        }
    }
    return true;
}

bool
writ_retention_check(struct writ_options *o, const struct writ_tool_rule *rule)
{
    bool good = true;

    if (!rule->arguments->root.hides) {
        return true;
    }
    good = check_template(o, rule, rule->scope, "scope");
    good = check_template(o, rule, rule->target, "target") && good;
    good = check_budgets(o, rule) && good;
    if (rule->approval != NULL) {
        WRIT_OPTION_WARN(o, writ_option_of(rule->node, "approval"),
            "shows secret arguments to the voters: until the verdict the ledger has them");
    }
    return good;
}

static bool
hides(const struct writ_tool_entry *entry)
{
    for (size_t i = 0; i < entry->rules_n; i++) {
        const struct writ_tool_rule *rule = &entry->rules[i];

        if (rule->arguments == NULL || rule->arguments->root.hides ||
            (!rule->agreed && rule->scope == NULL)) {
            return true;
        }
    }
    return false;
}

bool
writ_retention_hide(const struct writ_policy *policy)
{
    for (size_t i = 0; i < policy->n; i++) {
        if (hides(&policy->entries[i])) {
            return true;
        }
    }
    return false;
}

/* Another entry of the upstream with secret arguments; NULL: none. */
static const struct writ_tool_entry *
secret_beside(const struct writ_tool_entry *entries, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++) {
        if (i != at && writ_view_equal(entries[i].upstream, entries[at].upstream) &&
            hides(&entries[i])) {
            return &entries[i];
        }
    }
    return NULL;
}

static void
warn(struct writ_options *o, const struct writ_tool_entry *entry,
    const struct writ_tool_entry *other)
{
    for (size_t i = 0; i < entry->rules_n; i++) {
        if (entry->rules[i].contents.keep_us > 0) {
            WRIT_OPTION_WARN(o, entry->rules[i].node,
                "keeps no contents: a call may be of \"" WRIT_VIEW_FMT
                "\", whose arguments may be secret, under a wrong name. Give a rule of its own to "
                "each tool whose contents are to be kept",
                WRIT_VIEW_ARG(writ_view_sub(other->key, 0, 64)));
        }
    }
}

void
writ_retention_doubt(struct writ_options *o, struct writ_tool_entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct writ_tool_entry *other =
            entries[i].pattern ? secret_beside(entries, n, i) : NULL;

        entries[i].may_be_else = other != NULL;
        if (other != NULL) {
            warn(o, &entries[i], other);
        }
    }
}
