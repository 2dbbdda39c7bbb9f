/* policy_api.c - the rules are those of the generation that the request holds; their use comes from
 * the figures, on the lookups' thread. A caller with a tenant gets the decisions of its own tenant,
 * and no rule that is for other tenants, or for agents of other tenants, alone. */
#include "gateway/admin/policy_api.h"

#include "base/text.h"
#include "evidence/record/record.h"
#include "gateway/admin/api_view.h"
#include "gateway/admin/ledger_viewer.h"
#include "policy/model/rule.h"
#include "policy/read/standing.h"

/* The use of one rule. */
struct use {
    struct writ_view ref;
    uint64_t counts[WRIT_FIGURES_SPANS_N];
    size_t last; /* slot of the week, from 1; 0: none */
};

/* One query; in the arena of its exchange. */
struct policy_view {
    struct writ_api_view view;
    struct use *uses; /* in the order of the rules */
    size_t n;
    bool of_all;                 /* it may know the names of every tenant */
    enum writ_figures_span span; /* that is read */
    struct writ_figures_progress progress;
};

/* ---- how often each rule was used ---- */

static void
add_use(void *ctx, const struct writ_figures_cell *cell)
{
    struct policy_view *a = ctx;
    struct writ_view tenant = a->view.request.viewer.agent.tenant;

    if (cell->point.kind != WRIT_FIGURES_RULE ||
        (tenant.len > 0 && !writ_view_equal(tenant, cell->point.tenant))) {
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        struct use *use = &a->uses[i];

        if (writ_view_equal(use->ref, cell->point.reason)) {
            use->counts[a->span] += cell->count;
            if (a->span == WRIT_FIGURES_WEEK && cell->slot + 1 > use->last) {
                use->last = cell->slot + 1;
            }
            return;
        }
    }
}

static WRIT_RESULT
gather(struct policy_view *a, const struct writ_policy *policy, struct writ_arena *arena)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        n += policy->entries[i].rules_n;
    }
    a->uses = writ_arena_get(arena, (n + 1) * sizeof *a->uses);
    if (a->uses == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            a->uses[a->n++] = (struct use){.ref = policy->entries[i].rules[r].ref};
        }
    }
    for (size_t i = 0; i < WRIT_FIGURES_SPANS_N; i++) {
        a->span = (enum writ_figures_span)i;
        writ_figures_feed_each(a->view.request.worker->gateway->figures, a->span, a->view.now_us,
            add_use, a, &a->progress);
    }
    return WRIT_DONE;
}

/* ---- the answer ---- */

/* A caller of one tenant among several gets no name of another one. */
static bool
is_own(const struct policy_view *a, struct writ_view agent_id)
{
    return writ_ledger_viewer_has_agent(&a->view.request.viewer, agent_id);
}

static bool
sees(const struct policy_view *a, const struct writ_tool_rule *rule)
{
    bool own = rule->agents.n == 0;

    if (a->of_all) {
        return true;
    }
    for (size_t i = 0; i < rule->agents.n && !own; i++) {
        own = is_own(a, rule->agents.items[i]);
    }
    return own && (rule->tenants.n == 0 ||
                      writ_config_has_name(&rule->tenants, a->view.request.viewer.agent.tenant));
}

/* Those that the caller may know. */
static void
put_names(struct policy_view *a, const char *name, const struct writ_views *names,
    bool (*knows)(const struct policy_view *a, struct writ_view one))
{
    if (names->n == 0) {
        return;
    }
    writ_write_name(&a->view.w, writ_view_str(name));
    writ_write_array_begin(&a->view.w);
    for (size_t i = 0; i < names->n; i++) {
        if (a->of_all || knows(a, names->items[i])) {
            writ_write_string(&a->view.w, names->items[i]);
        }
    }
    writ_write_array_end(&a->view.w);
}

static bool
is_own_tenant(const struct policy_view *a, struct writ_view tenant)
{
    return writ_view_equal(tenant, a->view.request.viewer.agent.tenant);
}

static bool
is_any(const struct policy_view *a, struct writ_view role)
{
    (void)a;
    (void)role;
    return true;
}

static void
put_use(struct policy_view *a, const struct use *use)
{
    int64_t since_us = writ_figures_since_us(WRIT_FIGURES_WEEK, a->view.now_us);
    char last[WRIT_TIME_TEXT];

    for (size_t i = 0; i < WRIT_FIGURES_SPANS_N; i++) {
        writ_write_name(&a->view.w, writ_figures_span_name((enum writ_figures_span)i));
        writ_write_u64(&a->view.w, use->counts[i]);
    }
    if (use->last > 0) {
        writ_time_format(
            since_us + (int64_t)(use->last - 1) * writ_figures_slot_us(WRIT_FIGURES_WEEK), last);
        writ_write_text(&a->view.w, "used_after", writ_view_str(last));
    }
}

static void
put_rule(struct policy_view *a, const struct writ_tool_entry *entry,
    const struct writ_tool_rule *rule, const struct use *use)
{
    const struct writ_config *config = a->view.request.viewer.generation->config;

    writ_write_object_begin(&a->view.w);
    writ_write_text(&a->view.w, "tool", entry->key);
    writ_write_text(&a->view.w, "ref", rule->ref);
    writ_write_text(&a->view.w, "file", writ_standing_file(config, rule->node));
    writ_write_count(&a->view.w, "line", rule->node->key_line);
    put_names(a, "agents", &rule->agents, is_own);
    put_names(a, "roles", &rule->roles, is_any);
    put_names(a, "tenants", &rule->tenants, is_own_tenant);
    writ_write_flag(&a->view.w, "approval", rule->approval != NULL);
    writ_write_flag(&a->view.w, "shadow", rule->shadow);
    writ_write_flag(&a->view.w, "pin", rule->pin);
    put_use(a, use);
    writ_write_object_end(&a->view.w);
}

static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct policy_view *a = (struct policy_view *)(void *)view;
    const struct writ_config *config = a->view.request.viewer.generation->config;
    const struct writ_policy *policy = config->policy;
    char digest[WRIT_DIGEST_TEXT];
    size_t at = 0;

    (void)reader;
    a->of_all = writ_ledger_viewer_of_all(&a->view.request.viewer);
    WRIT_TRY(gather(a, policy, arena));
    writ_digest_text(&config->policy_digest, digest);
    writ_write_object_begin(&a->view.w);
    writ_write_text(&a->view.w, "policy", writ_view_str(digest));
    writ_write_flag(&a->view.w, "complete", a->progress.complete && a->progress.lost == 0);
    writ_write_name(&a->view.w, WRIT_LIT("rules"));
    writ_write_array_begin(&a->view.w);
    for (size_t i = 0; i < policy->n; i++) {
        const struct writ_tool_entry *entry = &policy->entries[i];

        for (size_t r = 0; r < entry->rules_n; r++, at++) {
            if (sees(a, &entry->rules[r])) {
                put_rule(a, entry, &entry->rules[r], &a->uses[at]);
            }
        }
    }
    writ_write_array_end(&a->view.w);
    writ_write_object_end(&a->view.w);
    return WRIT_DONE;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct policy_view *a = writ_api_view_open(x, ctx, sizeof *a, tell);

    if (a != NULL && writ_api_view_may_oversee(&a->view)) {
        a->view.without_ledger = true;
        writ_api_view_ask(&a->view);
    }
}

void
writ_policy_api_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/policy"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle,
        .ctx = gateway};
}
