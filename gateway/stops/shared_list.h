/* shared_list.h - the list of revoked credentials of gateways that share a ledger. Each of them
 * computes the same list from the stops that the ledger has, so that any of them may be asked.
 *
 * The place of a credential says when it was issued and for whom: its era is the number of stops
 * that the ledger had, modulo WRIT_SHARED_LIST_ERAS; its group follows from agent, tool and tenant.
 * A stop revokes the credentials of all earlier eras in every group that it may name: also some
 * that it does not name, which were issued shortly before. Credentials that are issued later have
 * another era, and live. When more stops follow each other than there are eras, within the longest
 * life of a credential, new ones in the groups of these stops count as revoked, too.
 *
 * A table in memory, no I/O; its owner (stop_rules.h) keeps the lock. */
#ifndef WRIT_GATEWAY_SHARED_LIST_H
#define WRIT_GATEWAY_SHARED_LIST_H

#include "evidence/credential/status_list.h"
#include "gateway/stops/kill.h"

#define WRIT_SHARED_LIST_ERAS   32
#define WRIT_SHARED_LIST_GROUPS (WRIT_STATUS_LIST_BYTES * 8 / WRIT_SHARED_LIST_ERAS)
#define WRIT_SHARED_LIST_STOPS  1024 /* the last ones, which are remembered */

/** One stop: it names calls of the groups whose bits in `mask` are those of `bits`. */
struct writ_shared_stop {
    int64_t at_s;
    uint32_t mask, bits;
};

/** A zeroed one is that of a ledger without stops. */
struct writ_shared_list {
    uint64_t n;                                            /* stops that the ledger has */
    struct writ_shared_stop stops[WRIT_SHARED_LIST_STOPS]; /* the last of them, by their number */
    struct writ_shared_stop alone[WRIT_SHARED_LIST_STOPS]; /* stops that only this gateway has */
    size_t alone_n;
    int64_t all_until_s; /* until then every credential is revoked */
};

/** The group of a call, below WRIT_SHARED_LIST_GROUPS. */
uint32_t writ_shared_list_group(const struct writ_kill_call *call);

/** The place for a credential of the call that is issued now. */
int64_t writ_shared_list_give(
    const struct writ_shared_list *list, const struct writ_kill_call *call);

/** Counts the next stop of the ledger. `group`: that of the call whose credential it stops; NULL:
 * unknown, or another kind of stop. */
void writ_shared_list_count(struct writ_shared_list *list, const struct writ_kill *kill,
    const uint32_t *group, int64_t at_s, int64_t now_s);

/** Adds a stop that the ledger could not take: it also revokes what is issued later. */
void writ_shared_list_add_alone(
    struct writ_shared_list *list, const struct writ_kill *kill, int64_t now_s);

/** Revokes everything, for good. */
void writ_shared_list_revoke_all(struct writ_shared_list *list);

/** True when the place is revoked and its credentials may live. */
bool writ_shared_list_has(const struct writ_shared_list *list, int64_t place, int64_t now_s);

/** Sets the bits of all such places. */
void writ_shared_list_put(
    const struct writ_shared_list *list, int64_t now_s, char ret[WRIT_STATUS_LIST_BYTES]);

#endif
