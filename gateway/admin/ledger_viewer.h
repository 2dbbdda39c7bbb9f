/* ledger_viewer.h - which calls of the ledger, and how much of the policy, a caller of the admin
 * listener may read, by its role and its subject. */
#ifndef WRIT_GATEWAY_LEDGER_VIEWER_H
#define WRIT_GATEWAY_LEDGER_VIEWER_H

#include "gateway/admin/review_viewer.h"

enum writ_ledger_scope {
    WRIT_LEDGER_OWN = 0, /* the calls that it made itself */
    WRIT_LEDGER_TENANT,  /* those of its tenant */
    WRIT_LEDGER_ALL,
};

/** What a caller sees of the calls. Views are the viewer's. */
struct writ_ledger_sight {
    enum writ_ledger_scope scope;
    struct writ_view tenant, agent_id; /* its own; a caller without a tenant: empty, not NULL */
};

struct writ_ledger_sight writ_ledger_viewer_sight(const struct writ_review_viewer *viewer);

/** Whether it sees a call of that tenant and agent. */
bool writ_ledger_viewer_sees(
    const struct writ_ledger_sight *sight, struct writ_view tenant, struct writ_view agent_id);

/** By `auditors` and the tenant. */
enum writ_ledger_scope writ_ledger_viewer_scope(const struct writ_review_viewer *viewer);

/** "own", "tenant", "all". Static storage. */
struct writ_view writ_ledger_viewer_scope_name(enum writ_ledger_scope scope);

/** Whether it is one of the `administrators`. */
bool writ_ledger_viewer_administers(const struct writ_review_viewer *viewer);

/** Whether it may read the rules behind a call that it sees: an auditor or an administrator. */
bool writ_ledger_viewer_reads_policy(const struct writ_review_viewer *viewer);

/** Whether the rules of every tenant are its own concern: it has no tenant, or the configuration
 * has no agent of another one. */
bool writ_ledger_viewer_of_all(const struct writ_review_viewer *viewer);

/** Whether the configuration has an agent of that name and of the viewer's tenant. */
bool writ_ledger_viewer_has_agent(
    const struct writ_review_viewer *viewer, struct writ_view agent_id);

#endif
