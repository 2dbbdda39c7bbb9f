/* kill.h - one stop and the calls that it names. Pure. */
#ifndef WRIT_GATEWAY_KILL_H
#define WRIT_GATEWAY_KILL_H

#include "evidence/json/write.h"

/** The kind of a stop. Zero is none. */
enum writ_kill_by {
    WRIT_KILL_NONE = 0,
    WRIT_KILL_AGENT,      /* its agent_id */
    WRIT_KILL_TOOL,       /* "upstream/tool" */
    WRIT_KILL_TENANT,     /* its name */
    WRIT_KILL_POLICY,     /* its digest */
    WRIT_KILL_CREDENTIAL, /* its jti, which is the decision_id */
};

/** "agent", "tool", "tenant", "policy", "credential"; and back, NONE for another word. Static
 * storage. */
struct writ_view writ_kill_by_name(enum writ_kill_by by);
enum writ_kill_by writ_kill_by_find(struct writ_view name);

/** A call in the form for stops. */
struct writ_kill_call {
    struct writ_view agent_id, tenant, upstream, tool;
    struct writ_view policy;      /* its digest as text */
    struct writ_view decision_id; /* empty: it is not decided yet */
};

/** One stop. Views borrowed. */
struct writ_kill {
    struct writ_view id; /* given by writ_stop_rules_pull */
    enum writ_kill_by by;
    struct writ_view value;
    struct writ_view tenant; /* only calls of this tenant; empty: of any */
    struct writ_view reason; /* for people */
    struct writ_view who;    /* the administrator's subject */
    int64_t at_us;
    const struct writ_kill_call *issued; /* CREDENTIAL: the call for which it was issued; only
                                            writ_stop_rules_pull borrows it. NULL: unknown, any
                                            credential may be it */
    const uint32_t *group; /* CREDENTIAL, to be recorded: that of the call in the list of all
                              gateways (shared_list.h); NULL: none. Borrowed by writ_kill_put */
};

/** True when the stop names the call. A stop of an unknown kind names every call. */
bool writ_kill_names(const struct writ_kill *kill, const struct writ_kill_call *call);

/** Writes it as an object: at, by, group, id, reason, tenant, value, who; omits empty ones. */
void writ_kill_put(const struct writ_kill *kill, struct writ_write *w);

#endif
