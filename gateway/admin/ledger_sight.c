/* ledger_sight.c - an agent sees its own calls, an auditor those of its tenant or of all. */
#include "gateway/admin/ledger_sight.h"

struct writ_ledger_sight
writ_ledger_sight_of(const struct writ_review_viewer *viewer)
{
    struct writ_view tenant = viewer->agent.tenant;

    return (struct writ_ledger_sight){
        .scope = writ_ledger_viewer_scope(viewer),
        .tenant = tenant.len > 0 ? tenant : WRIT_LIT(""), /* as the ledger names no tenant */
        .agent_id = viewer->agent.id,
    };
}

bool
writ_ledger_sight_sees(
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
