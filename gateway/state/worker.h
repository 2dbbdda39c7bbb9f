/* worker.h - the state of one loop. Only that loop's thread uses it. */
#ifndef WRIT_GATEWAY_WORKER_H
#define WRIT_GATEWAY_WORKER_H

#include "gateway/auth/identity.h"
#include "gateway/io/loop.h"
#include "gateway/listener/metrics.h"
#include "gateway/probe/probe_get.h"
#include "gateway/state/catalog_snapshot.h"
#include "gateway/state/generation.h"
#include "store/ledger/ledger.h"
#include "store/tables/shares.h"

#define WRIT_WORKER_STRANGERS_S 10 /* lines about refused tokens, a second */

struct writ_gateway;
struct writ_request;
struct writ_review_stream;
struct writ_ledger_stream;
struct writ_late_join;

/** The state of one loop. Only that loop's thread uses it. */
struct writ_worker {
    struct writ_gateway *gateway;
    struct writ_ledger *ledger; /* open for as long as the worker */
    struct writ_loop *loop;
    unsigned index;
    struct writ_metrics_shard *metrics;
    struct writ_generation *generation; /* the current one */
    struct writ_identity *identity;     /* identifies callers, by that generation */
    struct writ_shares shares;          /* of open requests */
    /* records, handed to the ledger as one batch when the loop has nothing else to do */
    struct writ_task flush;
    struct writ_entry **batch;
    size_t batch_n, batch_cap;
    struct writ_post stopping, refusing, expiring;
    struct writ_arena *scratch;   /* empty except while a function parses with it */
    bool ending;                  /* the gateway stops: nothing is waited for that need not be */
    atomic_bool refuses;          /* the upstreams stop: no message begins */
    bool expired;                 /* the time of all that is under way is over */
    struct writ_request *streams; /* those of STREAM: stream_merge.h ends them */
    struct writ_late_join *joins; /* late.c */
    struct writ_review_stream *review_streams; /* watchers of reviews */
    struct writ_ledger_stream *ledger_streams; /* watchers of calls */
    /* by the index of an upstream: tool_discovery.c */
    struct writ_catalog_snapshot_view shelves[WRIT_UPSTREAMS_MAX];
    struct writ_request *learners[WRIT_UPSTREAMS_MAX]; /* the request for tools, or one that waits
                                                          for it; NULL: none */
    int64_t learn_after_us[WRIT_UPSTREAMS_MAX];
    struct writ_probe_servers probed; /* by an HTTP GET */
    struct writ_log_rate strangers;   /* lines about refused tokens */
};

/** Queues a record of this loop for the ledger; the batch goes out when it is full, or the loop has
 * nothing else to do (WRIT_LOOP_IDLE): a group costs one sync and one signature, whatever its size.
 * The submitter owns the entry again when its `done` was called, on the loop's thread through
 * `post`. A full ledger fails the entry with WRIT_E_BUSY, in the same way. */
void writ_worker_submit(struct writ_worker *worker, struct writ_entry *entry);

/** Prepares the batch of a worker, and the shares of `limits.in_flight`. WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_worker_init(struct writ_worker *worker, size_t batch_max,
    const struct writ_limits *limits, struct writ_err *err);
void writ_worker_wipe(struct writ_worker *worker);

#endif
