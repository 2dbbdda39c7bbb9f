/* Every check reads the finished configuration and changes nothing in it. All of them warn, but a
 * voter that cannot exist is an error: its review might never be decided. */
#include "policy/read/doubts.h"

#include "policy/decide/approval.h"

/* ---- listeners */

static void
warn_listener(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_listen_address *address, const struct writ_tls_config *tls,
    const struct writ_views *hosts)
{
    if (node == NULL || address->text.len == 0 || address->loopback) {
        return;
    }
    if (tls->cert.len == 0) {
        WRIT_OPTION_WARN(o, node,
            "listens beyond loopback without TLS: others on the way can read tokens and calls");
    }
    if (hosts->n == 0) {
        WRIT_OPTION_WARN(o, node,
            "listens beyond loopback without hosts: set the names under which clients reach it");
    }
}

/* ---- possible agents */

struct known {
    bool any; /* an issuer of tokens names agents freely */
    const struct writ_config *config;
};

static struct known
known_of(const struct writ_config *config)
{
    struct known known = {.config = config};

    for (size_t i = 0; i < config->agents_n; i++) {
        known.any = known.any || config->agents[i].kind == WRIT_IDENTITY_JWT;
    }
    known.any = known.any || config->agents_n == 0; /* a file with rules only */
    return known;
}

static struct writ_view
id_of(const struct writ_agent *agent)
{
    return agent->id;
}

static struct writ_view
role_of(const struct writ_agent *agent)
{
    return agent->role;
}

static struct writ_view
tenant_of(const struct writ_agent *agent)
{
    return agent->tenant;
}

static bool
exists(const struct known *known, struct writ_view name,
    struct writ_view (*member)(const struct writ_agent *agent))
{
    for (size_t i = 0; i < known->config->agents_n; i++) {
        if (writ_view_equal(member(&known->config->agents[i].agent), name)) {
            return true;
        }
    }
    return known->any;
}

static void
warn_unknown(struct writ_options *o, const struct writ_yaml *rule, const struct known *known,
    const char *option, const struct writ_views *names,
    struct writ_view (*member)(const struct writ_agent *agent))
{
    for (size_t i = 0; i < names->n; i++) {
        if (!exists(known, names->items[i], member)) {
            WRIT_OPTION_WARN(o, writ_option_of(rule, option),
                "no entry of agents can be \"" WRIT_VIEW_FMT "\"",
                WRIT_VIEW_ARG(writ_view_sub(names->items[i], 0, 64)));
        }
    }
}

static bool
can_vote(const struct known *known, struct writ_view id)
{
    for (size_t i = 0; i < known->config->agents_n; i++) {
        if (writ_view_equal(writ_approval_subject(&known->config->agents[i].agent), id)) {
            return true;
        }
    }
    for (size_t i = 0; i < known->config->reviewers_n; i++) {
        if (writ_view_equal(known->config->reviewers[i].id, id)) {
            return true;
        }
    }
    return false;
}

static void
check_voter(struct writ_options *o, const struct writ_yaml *voters, const struct known *known,
    struct writ_view id)
{
    struct writ_view shown = writ_view_sub(id, 0, 64);

    if (known->config->agents_n == 0 || can_vote(known, id)) { /* a file with rules only */
        return;
    }
    if (known->any) {
        WRIT_OPTION_WARN(o, voters,
            "\"" WRIT_VIEW_FMT "\" is neither in agents nor in reviewers: it can vote only if an "
            "issuer gives out tokens with that subject",
            WRIT_VIEW_ARG(shown));
        return;
    }
    WRIT_OPTION_FAULT(o, voters,
        "\"" WRIT_VIEW_FMT
        "\" can never vote: it is neither the subject of an entry of agents (its "
        "id, without a subject) nor in reviewers. Add an entry of agents with this subject, or a "
        "reviewer of this name",
        WRIT_VIEW_ARG(shown));
}

static void
check_voters(struct writ_options *o, const struct writ_yaml *reviews, const struct known *known)
{
    const struct writ_yaml *node = reviews != NULL ? reviews->first : NULL;

    for (size_t r = 0; r < known->config->reviews_n && node != NULL; r++, node = node->next) {
        const struct writ_review_config *review = &known->config->reviews[r];

        for (size_t i = 0; i < review->voters_n; i++) {
            if (review->voters[i].delegation != NULL) {
                check_voter(
                    o, writ_option_of(node, "voters"), known, review->voters[i].delegation->to);
            }
            if (!writ_view_equal(review->voters[i].id, review->elicitation)) {
                check_voter(o, writ_option_of(node, "voters"), known, review->voters[i].id);
            }
        }
        for (size_t i = 0; i < review->delegable.stand_ins_n; i++) {
            check_voter(o, writ_option_of(writ_option_of(node, "delegations"), "stand_ins"), known,
                review->delegable.stand_ins[i].id);
        }
    }
}

void
writ_doubts_warn(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_top *top, const struct writ_config *config)
{
    static const struct writ_views by_address = {.n = 1}; /* the admin listener does not check
                                                           * Host */
    const struct known known = known_of(config);

    warn_listener(o, writ_option_of(root, "listen"), &config->listen, &config->tls, &config->hosts);
    warn_listener(o, writ_option_of(root, "admin_listen"), &config->admin_listen,
        &config->admin_tls, &by_address);
    check_voters(o, top->reviews, &known);
    if (top->defaults.shadow) {
        WRIT_OPTION_WARN(o, writ_option_of(writ_option_of(root, "defaults"), "shadow"),
            "calls run whatever the verdict is, by every rule without shadow of its own: nothing "
            "is "
            "refused that such a rule is for");
    }
}

/* ---- unreachable rules */

static bool
holds_all(const struct writ_views *outer, const struct writ_views *inner)
{
    if (outer->n == 0) {
        return true;
    }
    for (size_t i = 0; i < inner->n; i++) {
        bool found = false;
        for (size_t j = 0; j < outer->n && !found; j++) {
            found = writ_view_equal(outer->items[j], inner->items[i]);
        }
        if (!found) {
            return false;
        }
    }
    return inner->n > 0;
}

/* Whether every caller of `later` is one of `earlier`. */
static bool
hides(const struct writ_tool_rule *earlier, const struct writ_tool_rule *later)
{
    return holds_all(&earlier->agents, &later->agents) &&
           holds_all(&earlier->roles, &later->roles) &&
           holds_all(&earlier->tenants, &later->tenants);
}

void
writ_doubts_rules(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_config *config, const struct writ_tool_entry *entry)
{
    const struct writ_yaml *rule = node->type == WRIT_YAML_LIST ? node->first : node;
    const struct known known = known_of(config);

    for (size_t at = 0; at < entry->rules_n && rule != NULL; at++, rule = rule->next) {
        const struct writ_tool_rule *one = &entry->rules[at];

        warn_unknown(o, rule, &known, "agents", &one->agents, id_of);
        warn_unknown(o, rule, &known, "roles", &one->roles, role_of);
        warn_unknown(o, rule, &known, "tenants", &one->tenants, tenant_of);
        for (size_t before = 0; before < at; before++) {
            if (hides(&entry->rules[before], one)) {
                WRIT_OPTION_WARN(o, rule,
                    "is never reached: rule %zu of the list is for all of its callers", before + 1);
                break;
            }
        }
    }
}

/* The prefix of a pattern like read_* or *; false for another pattern. */
static bool
begins_with(struct writ_view pattern, struct writ_view *ret)
{
    size_t star = writ_view_find(pattern, '*');

    *ret = writ_view_sub(pattern, 0, star);
    return star + 1 == pattern.len && writ_view_find(*ret, '?') == ret->len &&
           writ_view_find(*ret, '[') == ret->len && writ_view_find(*ret, '\\') == ret->len;
}

void
writ_doubts_pattern(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_tool_entry *entries, size_t n, const struct writ_tool_entry *entry)
{
    for (size_t i = 0; entry->pattern && i < n; i++) {
        struct writ_view begin;

        if (entries[i].pattern && writ_view_equal(entries[i].upstream, entry->upstream) &&
            begins_with(entries[i].tool, &begin) && writ_view_has_prefix(entry->tool, begin) &&
            writ_view_find(entry->tool, '/') == entry->tool.len &&
            writ_view_search(entry->tool, WRIT_LIT("**")) == entry->tool.len) {
            WRIT_OPTION_WARN(o, node,
                "is never reached: \"" WRIT_VIEW_FMT
                "\" stands before it and matches the same tools",
                WRIT_VIEW_ARG(writ_view_sub(entries[i].key, 0, 64)));
            return;
        }
    }
}
