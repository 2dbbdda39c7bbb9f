/* bundle_live.h - the state of a bundle between two of its lines: the runs, with the flaws of their
 * seqs, and the calls in flight. bundle.h makes the lines from it.
 *
 * Memory grows with both, and with the keys that are claimed, never with the number of records; at
 * most WRIT_BUNDLE_LIVE_MAX runs and calls. Tables are by digest, so that callers cannot choose
 * names that collide. For one thread; nothing blocks. */
#ifndef WRIT_EVIDENCE_BUNDLE_LIVE_H
#define WRIT_EVIDENCE_BUNDLE_LIVE_H

#include "evidence/proof/approved_call.h"
#include "evidence/proof/bundle_keys.h"
#include "evidence/record/profile.h"
#include "evidence/record/seal.h"

#define WRIT_BUNDLE_LIVE_MAX 1000000 /* runs, and calls in flight at one time */
#define WRIT_BUNDLE_NAMED    16      /* gaps, repeats and the like that are named for one run */

#define WRIT_BUNDLE_LIVE_BUCKETS 65536

/** Ranges of seqs that are named, up to the room for them. */
struct writ_bundle_named {
    uint64_t first[WRIT_BUNDLE_NAMED], last[WRIT_BUNDLE_NAMED];
    size_t n;
    uint64_t total; /* seqs, those of ranges without room included */
};

/** The faults in the seqs of a run. */
struct writ_bundle_flaws {
    struct writ_bundle_named missing, doubles;
    struct writ_bundle_named miscounted; /* their running_count is wrong */
};

/** A run with a decision or a seal. */
struct writ_bundle_run {
    struct writ_bundle_run *next, *next_named; /* in their buckets */
    struct writ_bundle_run *newer;
    uint64_t next_seq, held;
    struct writ_bundle_flaws *flaws; /* NULL: none, as in most runs; runs can be many */
    struct writ_seal_hash ids;
    bool is_sealed, seal_differs;
    struct writ_view name, tenant;
    char text[];
};

/** A decision that may still get an outcome or a successor. */
struct writ_bundle_call {
    struct writ_bundle_call *next; /* in its bucket */
    struct writ_bundle_call *older, *newer;
    struct writ_buf id, body, outcome;  /* body: empty when withheld; outcome: see _keep */
    const struct writ_profile *profile; /* NULL when withheld */
    struct writ_bundle_run *run;        /* NULL: none */
    bool waits;                         /* for an approval: an outcome does not end it */
    bool is_withheld;
    struct writ_bundle_claim claim;
    struct writ_approved_call *approved; /* by its review; NULL: no record of one */
};

/** Zero-initialise. Both lists are in the order of arrival. */
struct writ_bundle_live {
    struct writ_bundle_run *by_id[WRIT_BUNDLE_LIVE_BUCKETS];   /* tenant and name */
    struct writ_bundle_run *by_name[WRIT_BUNDLE_LIVE_BUCKETS]; /* for seals, which do not name a
                                                                * tenant */
    struct writ_bundle_run *oldest_run, *newest_run;
    struct writ_bundle_call *calls[WRIT_BUNDLE_LIVE_BUCKETS];
    struct writ_bundle_call *oldest_call, *newest_call;
    size_t runs_n, calls_n;
    struct writ_bundle_keys keys;
};

/** Frees all of it. */
void writ_bundle_live_wipe(struct writ_bundle_live *live);

/** The run of that name of a tenant; a new one is added. Belongs to `live`. WRIT_E_LIMIT,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_live_run(struct writ_bundle_live *live, struct writ_view tenant,
    struct writ_view name, struct writ_bundle_run **ret, struct writ_err *err);

/** Places a decision in its run. `is_counted`: its running_count matches its seq. WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_live_place(struct writ_bundle_run *run, uint64_t seq, bool is_counted,
    struct writ_view decision_id, struct writ_err *err);

/** Ends the run of a seal: the one of its name whose decisions it hashes. As
 * writ_bundle_live_run. */
WRIT_RESULT writ_bundle_live_seal(
    struct writ_bundle_live *live, const struct writ_seal *seal, struct writ_err *err);

/** True when a seq is missing, twice or miscounted, or the seal contradicts the run. */
bool writ_bundle_live_is_faulty(const struct writ_bundle_run *run);

/** The call of that decision_id, NULL when there is none. WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_live_find(struct writ_bundle_live *live, struct writ_view id,
    struct writ_bundle_call **ret, struct writ_err *err);

/** Adds a call; `body` (empty: withheld) is copied. Belongs to `live` until it is dropped.
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_live_add(struct writ_bundle_live *live, struct writ_view id,
    struct writ_view body, struct writ_bundle_call **ret, struct writ_err *err);

/** Keeps a copy of an outcome that does not end the call. WRIT_E_NOMEM. */
WRIT_RESULT writ_bundle_live_keep(
    struct writ_bundle_call *call, struct writ_view outcome, struct writ_err *err);

/** What the review of a call approves, allocated at its first record. WRIT_E_NOMEM. */
WRIT_RESULT writ_bundle_live_approved(
    struct writ_bundle_call *call, struct writ_approved_call **ret, struct writ_err *err);

/** Frees a call that has ended. WRIT_E_CRYPTO: it stays. */
WRIT_RESULT writ_bundle_live_drop(
    struct writ_bundle_live *live, struct writ_bundle_call *call, struct writ_err *err);

#endif
