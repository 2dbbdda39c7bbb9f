/* gateway.h - what the parts of a running gateway share, and what each loop has of its own.
 *
 * A call lives and dies on one loop: it works with its struct writ_worker, and reads what is in
 * struct writ_gateway, which does not change while the loops run. What a reload replaces is a
 * struct writ_generation; every request holds the one it began with, so that nothing changes under
 * a call that is under way. */
#ifndef WRIT_GATEWAY_GATEWAY_H
#define WRIT_GATEWAY_GATEWAY_H

#include "base/clock.h"
#include "base/log.h"
#include "evidence/keyring.h"
#include "evidence/profile.h"
#include "gateway/admin.h"
#include "gateway/http_client.h"
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

/** What SIGHUP replaces as one: policy and agents, the signing keys, the issuers' keys. */
struct writ_generation {
    const struct writ_config *config;
    struct writ_keyring *keyring;
    const struct writ_signer *signer; /* the active credential key of the ring */
    struct writ_buf jwks;             /* its public keys, as they are published */
    struct writ_identity_keys *issuers;
    atomic_uint holders;
};

#define WRIT_PROBE_ORIGINS_MAX 16 /* servers that HTTP probes may ask, per loop */

/** One server that HTTP probes ask, and the connections to it. */
struct writ_probe_origin {
    struct writ_buf origin;
    struct writ_http_client *client;
};

/** One loop's own. Used from that loop's thread alone. */
struct writ_worker {
    struct writ_gateway *gateway;
    struct writ_loop *loop;
    unsigned index;
    struct writ_metrics_shard *metrics;
    struct writ_generation *generation; /* the current one */
    struct writ_identity *identity;       /* who is calling, by that generation */
    unsigned in_flight;                 /* requests that are not answered */
    /* records of this turn, handed to the ledger as one batch when it ends */
    struct writ_task flush;
    struct writ_entry **batch;
    size_t batch_n, batch_cap;
    struct writ_probe_origin origins[WRIT_PROBE_ORIGINS_MAX];
    size_t origins_n;
};

struct writ_gateway {
    const struct writ_clock *clock;
    struct writ_log *log;
    struct writ_ledger *ledger;
    struct writ_sessions *sessions;
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

/** Makes a generation of a configuration: opens the key directory, reads the issuers' keys. Held
 * once. Blocks for files. As writ_keydir_open and writ_identity_keys_new. `config` is held. */
WRIT_RESULT writ_generation_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_generation **ret, struct writ_err *err);

/** One more hold; gives it back. Any thread. */
struct writ_generation *writ_generation_hold(struct writ_generation *generation);

/** Drops one hold; the last one frees. NULL is fine. Any thread; may block for a fetch of issuers'
 * keys when it is the last, so the main thread keeps the current one. */
void writ_generation_drop(struct writ_generation *generation);

/** Queues a record of this loop for the ledger; the batch goes out when the turn ends. The entry
 * is the submitter's again when its `done` was called, on the loop's thread through `post`.
 * A ledger that takes no more fails the entry with WRIT_E_BUSY, in the same way. */
void writ_worker_submit(struct writ_worker *worker, struct writ_entry *entry);

/** Prepares the batch of a worker. WRIT_E_NOMEM. */
WRIT_RESULT writ_worker_init(struct writ_worker *worker, size_t batch_max, struct writ_err *err);
void writ_worker_wipe(struct writ_worker *worker);

/** The worker of the running loop. */
struct writ_worker *writ_gateway_worker(
    const struct writ_gateway *gateway, const struct writ_loop *loop);

/** The upstream of that name, or NULL. */
struct writ_upstream *writ_gateway_upstream(
    const struct writ_gateway *gateway, struct writ_view name);

#endif
