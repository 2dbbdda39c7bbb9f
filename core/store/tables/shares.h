/* shares.h - the part of a table that each agent and each tenant holds, so that none takes all of
 * it.
 *
 * Of a table for `most` things an agent may hold a half and a tenant three quarters, or what the
 * configuration says, rounded up: whatever one of them does, there is room for the others. An owner
 * that holds nothing costs nothing.
 *
 * One thread, or under its owner's lock. */
#ifndef WRIT_STORE_SHARES_H
#define WRIT_STORE_SHARES_H

#include "store/tables/map.h"

/** The things that one agent, or one tenant, holds. */
struct writ_share {
    struct writ_map_node by_owner;
    size_t held;
};

/** The owner of a thing: an agent of a tenant. */
struct writ_owner {
    struct writ_tag agent, tenant;
};

#define WRIT_SHARES_KNOWN      16
#define WRIT_SHARES_KNOWN_TEXT 80

/** An owner with its names, side by side; without names: none. */
struct writ_shares_known {
    struct writ_owner owner;
    size_t tenant_len, agent_len;
    char names[WRIT_SHARES_KNOWN_TEXT];
};

struct writ_shares {
    struct writ_map owners;
    size_t agent_most, tenant_most;
    struct writ_shares_known known[WRIT_SHARES_KNOWN]; /* of writ_shares_take: no digest for each */
};

/** The holder of one thing. Zeroed: none. */
struct writ_charge {
    struct writ_share *agent, *tenant;
};

/** WRIT_E_CRYPTO. */
WRIT_RESULT writ_shares_owner(struct writ_view tenant, struct writ_view agent_id,
    struct writ_owner *ret, struct writ_err *err);

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_shares_init(struct writ_shares *ret, size_t most, struct writ_err *err);
/** Other parts of the same `most`, in percent of it, from 1 to 100. */
void writ_shares_divide(
    struct writ_shares *shares, size_t most, unsigned agent_percent, unsigned tenant_percent);
/** Charges that were not released must not be released any more. A zeroed one is fine. */
void writ_shares_wipe(struct writ_shares *shares);

/** True when the agent may hold one more; false also when the check fails. */
bool writ_shares_have_room(
    const struct writ_shares *shares, struct writ_view tenant, struct writ_view agent_id);

/** As writ_shares_have_room, for a known owner. */
bool writ_shares_have_room_for(const struct writ_shares *shares, const struct writ_owner *owner);

/** Counts one thing, whether or not there is room. WRIT_E_NOMEM. */
WRIT_RESULT writ_shares_charge_to(struct writ_shares *shares, const struct writ_owner *owner,
    struct writ_charge *ret, struct writ_err *err);

/** Counts one thing, whether or not there is room. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_shares_charge(struct writ_shares *shares, struct writ_view tenant,
    struct writ_view agent_id, struct writ_charge *ret, struct writ_err *err);

/** Counts one thing if there is room for it. WRIT_E_LIMIT: there is none; WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_shares_take(struct writ_shares *shares, struct writ_view tenant,
    struct writ_view agent_id, struct writ_charge *ret, struct writ_err *err);

/** Whether the thing counts against that agent; false also when the check fails. */
bool writ_shares_is_of(const struct writ_shares *shares, const struct writ_charge *charge,
    struct writ_view tenant, struct writ_view agent_id);

/** Whether freeing the thing that `charge` counts would make room for another thing of this agent:
 * the thing is its own, or, when its tenant has no room, its tenant's. */
bool writ_shares_would_help(const struct writ_shares *shares, const struct writ_charge *charge,
    struct writ_view tenant, struct writ_view agent_id);

/** Stops counting the thing, and zeroes the charge. A zeroed one is fine. */
void writ_shares_release(struct writ_shares *shares, struct writ_charge *charge);

#endif
