/* ledger_viewer.c - an agent sees its own calls, an auditor those of its tenant or of all. An entry
 * of agents that takes its tenant from a token can be of any tenant. */
#include "gateway/admin/ledger_viewer.h"

enum writ_ledger_scope
writ_ledger_viewer_scope(const struct writ_review_viewer *viewer)
{
    if (!writ_config_has_name(&viewer->generation->config->auditors, viewer->agent.role)) {
        return WRIT_LEDGER_OWN;
    }
    return viewer->agent.tenant.len > 0 ? WRIT_LEDGER_TENANT : WRIT_LEDGER_ALL;
}

struct writ_ledger_sight
writ_ledger_viewer_sight(const struct writ_review_viewer *viewer)
{
    struct writ_view tenant = viewer->agent.tenant;

    return (struct writ_ledger_sight){
        .scope = writ_ledger_viewer_scope(viewer),
        .tenant = tenant.len > 0 ? tenant : WRIT_LIT(""), /* as the ledger names no tenant */
        .agent_id = viewer->agent.id,
    };
}

bool
writ_ledger_viewer_sees(
    const struct writ_ledger_sight *sight, struct writ_view tenant, struct writ_view agent_id)
{
    switch (sight->scope) {
    case WRIT_LEDGER_ALL:
        return true;
    case WRIT_LEDGER_TENANT:
        return writ_view_equal(tenant, sight->tenant);
    case WRIT_LEDGER_OWN:
        break;
    }
    return writ_view_equal(tenant, sight->tenant) && writ_view_equal(agent_id, sight->agent_id);
}

struct writ_view
writ_ledger_viewer_scope_name(enum writ_ledger_scope scope)
{
    static const struct writ_view names[] = {
        [WRIT_LEDGER_OWN] = WRIT_LIT("own"),
        [WRIT_LEDGER_TENANT] = WRIT_LIT("tenant"),
        [WRIT_LEDGER_ALL] = WRIT_LIT("all"),
    };

    return names[scope];
}

bool
writ_ledger_viewer_administers(const struct writ_review_viewer *viewer)
{
    return writ_config_has_name(
        &viewer->generation->config->administrators, writ_review_viewer_subject(viewer));
}

bool
writ_ledger_viewer_reads_policy(const struct writ_review_viewer *viewer)
{
    return writ_ledger_viewer_scope(viewer) != WRIT_LEDGER_OWN ||
           writ_ledger_viewer_administers(viewer);
}

bool
writ_ledger_viewer_of_all(const struct writ_review_viewer *viewer)
{
    const struct writ_config *config = viewer->generation->config;
    struct writ_view own = viewer->agent.tenant;

    for (size_t i = 0; own.len > 0 && i < config->agents_n; i++) {
        const struct writ_identity_config *entry = &config->agents[i];

        if (entry->claims.tenant.len > 0 || !writ_view_equal(entry->agent.tenant, own)) {
            return false;
        }
    }
    return true;
}

bool
writ_ledger_viewer_has_agent(const struct writ_review_viewer *viewer, struct writ_view agent_id)
{
    const struct writ_config *config = viewer->generation->config;

    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_agent *agent = &config->agents[i].agent;

        if (writ_view_equal(agent->id, agent_id) &&
            writ_view_equal(agent->tenant, viewer->agent.tenant)) {
            return true;
        }
    }
    return false;
}
