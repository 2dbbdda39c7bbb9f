/* ledger_sight.h - whether a viewer sees a call. */
#ifndef WRIT_GATEWAY_LEDGER_SIGHT_H
#define WRIT_GATEWAY_LEDGER_SIGHT_H

#include "gateway/admin/ledger_viewer.h"

/** A viewer with its scope. Views are the viewer's. */
struct writ_ledger_sight {
    enum writ_ledger_scope scope;
    struct writ_view tenant, agent_id;
};

struct writ_ledger_sight writ_ledger_sight_of(const struct writ_review_viewer *viewer);

bool writ_ledger_sight_sees(
    const struct writ_ledger_sight *sight, struct writ_view tenant, struct writ_view agent_id);

#endif
