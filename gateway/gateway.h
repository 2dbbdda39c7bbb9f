/* gateway.h - what the parts of a running gateway share, and what each loop has of its own.
 *
 * A call lives and dies on one loop: it works with its struct writ_worker, and reads what is in
 * struct writ_gateway, which does not change while the loops run (but for the configuration, of
 * which every request holds the one it began with). */
#ifndef WRIT_GATEWAY_GATEWAY_H
#define WRIT_GATEWAY_GATEWAY_H

#include "base/clock.h"
#include "base/log.h"
#include "evidence/keyring.h"
#include "evidence/profile.h"
#include "gateway/admin.h"
#include "gateway/identity.h"
#include "gateway/listener.h"
#include "gateway/loop.h"
#include "gateway/metrics.h"
#include "gateway/resolver.h"
#include "gateway/session.h"
#include "gateway/upstream.h"
#include "policy/config.h"
#include "store/ledger.h"

#define WRIT_UPSTREAMS_MAX 64

struct writ_gateway;

/** One loop's own. Used from that loop's thread alone. */
struct writ_worker {
    struct writ_gateway *gateway;
    struct writ_loop *loop;
    unsigned index;
    struct writ_metrics_shard *metrics;
    const struct writ_config *config; /* the current one; a request holds its own reference */
    const struct writ_signer *signer; /* the current one, likewise */
    /* records of this turn, handed to the ledger as one batch by `flush` */
    struct writ_task flush;
    struct writ_entry **batch;
    size_t batch_n, batch_cap;
};

struct writ_gateway {
    const struct writ_clock *clock;
    struct writ_log *log;
    struct writ_ledger *ledger;
    struct writ_sessions *sessions;
    struct writ_identity_set *identities;
    struct writ_keyring *keyring;
    struct writ_metrics *metrics;
    struct writ_resolver *resolver;
    const struct writ_profile *profile;
    const struct writ_config *config; /* as at the start: listeners, upstreams, limits */
    struct writ_upstream *upstreams[WRIT_UPSTREAMS_MAX];
    size_t upstreams_n;
    struct writ_worker *workers;
    size_t workers_n;
    struct writ_listener *listener, *admin_listener;
    struct writ_admin admin;
};

/** Queues a record of this loop for the ledger; the batch goes out when the turn ends. The entry
 * is the submitter's again when its `done` was called; a full queue fails it the same way. */
void writ_worker_submit(struct writ_worker *worker, struct writ_entry *entry);

/** The worker of the running loop. */
struct writ_worker *writ_gateway_worker(struct writ_gateway *gateway, const struct writ_loop *loop);

/** The upstream of that name, or NULL. */
struct writ_upstream *writ_gateway_upstream(
    const struct writ_gateway *gateway, struct writ_view name);

#endif
