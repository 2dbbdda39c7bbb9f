/* options.h - the options of a ledger, its health, and keys for an open one.
 */
#ifndef WRIT_STORE_OPTIONS_H
#define WRIT_STORE_OPTIONS_H

#include "base/clock.h"
#include "evidence/record/extension.h"
#include "evidence/jose/keyring.h"
#include "evidence/record/reason.h"
#include "evidence/record/record.h"
#include "evidence/record/review.h"
#include "evidence/record/review_judge.h"

#define WRIT_LEDGER_TAIL_KEY 32 /* bytes */

/** A checkpoint that was kept outside the ledger. */
struct writ_ledger_memory {
    struct writ_view note; /* a signed note */
    bool own; /* written by this user alone: a note that cannot be read, or is of another ledger, is
                 refused too. Of other notes, those that no trusted key signed are skipped */
};

/** Work that the ledger does by itself and reports to the program. The writer's thread calls; these
 * functions must not block or call the ledger. */
struct writ_ledger_reports {
    /** The outcome of a call that waited is on disk, because its time has passed: `error`, with the
     * name of `reason` as error_type. Borrowed for the call. */
    void (*given_up)(void *ctx, const struct writ_decision *decision,
        const struct writ_extension *extension, enum writ_reason reason);
    /** This gateway (`own`) or another one that writes the same ledger has recorded a fact
     * (evidence/record/fact.h): its canonical bytes, borrowed for the call. The next call that is
     * granted here comes after it. NULL: nobody asks. */
    void (*heard)(void *ctx, struct writ_view fact, bool own);
    /** The writer calls it after `done` of one or more entries, as soon as no other `done` follows
     * at once. May be NULL. */
    void (*told)(void *ctx);
    void *ctx;
};

/** The options of a ledger. Start from writ_ledger_options_default and change what differs.
 * writ_ledger_open checks all ranges. */
struct writ_ledger_options {
    const struct writ_clock *clock;       /* borrowed until the ledger is closed */
    size_t queue_max;                     /* entries waiting for the writer; outcomes always fit */
    size_t group_max;                     /* entries of one group */
    size_t segment_claims;                /* so many claims are written to the disk at once */
    size_t segment_merge;                 /* this many segments become one */
    size_t manifest_records;              /* about how many records a start after a crash may have
                                             to read again: manifest.h */
    size_t agent_percent, tenant_percent; /* of boundaries_max, for one owner: shares.h */
    size_t boundaries_max;                /* open boundaries in memory, about 400 bytes each */
    size_t in_flight_max;                 /* granted calls without an outcome */
    size_t waits_max;                     /* those among them that wait, and tasks that ended */
    size_t budgets_max;                   /* counters of budgets in memory */
    size_t sessions_max;                  /* rows of the session table */
    size_t reviews_max;                   /* reviews in memory, live or just over: with more, no
                                             other one opens */
    size_t reviews_agent_max;             /* live ones of one agent, and redeemed sets beside */
    const struct writ_keyring *keyring;   /* its active key for the ledger signs, until new keys
                                             replace it; borrowed until the ledger is closed */
    struct writ_view tail_key; /* WRIT_LEDGER_TAIL_KEY random bytes, the same at each opening:
                                  groups that follow each other within milliseconds are signed
                                  together (signing.h); ptr NULL: each is signed. Copied */
    struct writ_view pinned;   /* a kept checkpoint, as a signed note, that the ledger must
                                  contain; borrowed for the opening; ptr NULL: none */
    const struct writ_ledger_memory *remembered; /* checkpoints that the ledger is known to have
                                                    had; borrowed for the opening */
    size_t remembered_n;
    bool resume; /* records that are remembered or pinned may be missing: see writ_ledger_open */
    const struct writ_review_judge *judge; /* counts votes; NULL: no call is put under review */
    int64_t results_max_bytes;             /* all results kept for replay; the oldest go first */
    int64_t claim_kept_us;      /* how long a key that is claimed from now on is remembered: 24 h */
    int64_t window_kept_us;     /* the same for an implicit key whose boundary is sealed */
    int64_t boundary_idle_us;   /* a boundary without calls for so long is sealed */
    int64_t budget_window_us;   /* the longest known window of a budget; 0: none. Amounts taken in
                                   it are counted at the opening, and not by the first call */
    int64_t clock_tolerance_us; /* how far the clock may step back */
    int64_t busy_us;            /* how long to wait for a lock of another process */
    int64_t retry_us;           /* between attempts to recover while refusing */
    const struct writ_ledger_reports *reports; /* borrowed until the ledger is closed; may be NULL
                                                */
    int64_t scrub_us; /* from one verification of the whole ledger to the next */

    /* of a ledger that several gateways write (PostgreSQL) */
    struct writ_view gateway; /* the name of this one, which no other running one has; copied */
    struct writ_view policy;  /* the digest of its policy, for `writ store status`; copied */
    int64_t lease_us;         /* a gateway that was not heard of for so long is dead */
    bool alone;               /* the database has no standby: a commit waits for none */
    bool sole;                /* of a shared ledger: opened only while no gateway is live */
};

extern const struct writ_ledger_options writ_ledger_options_default;

/** Each option is in its range. WRIT_E_INVALID, with its name. */
WRIT_RESULT writ_options_check(const struct writ_ledger_options *options, struct writ_err *err);

/* ---- health ---- */

enum writ_ledger_state {
    WRIT_LEDGER_POISONED = 0, /* refuses every entry until it is opened again */
    WRIT_LEDGER_REFUSING,     /* the last attempt to write failed; it is tried again */
    WRIT_LEDGER_READY,
};

struct writ_ledger_health {
    enum writ_ledger_state state;
    struct writ_err why; /* empty when ready */
    uint64_t records;    /* on disk */
    uint64_t unproven;   /* of them, at the opening: resumed without a signature or MAC over them */
    uint64_t groups;     /* committed since the ledger was opened */
    size_t queued;       /* entries waiting for the writer */
    size_t kept_outcomes; /* outcomes that could not be written yet */
    size_t claims, in_flight, waits, boundaries, budgets, sessions, reviews;
    size_t reviews_waiting;  /* the open ones among the reviews */
    int64_t review_since_us; /* wall time at which the oldest of them opened; 0: none */
    uint64_t scrubs;        /* verifications of the whole ledger, since it was opened, that found no
                               fault */
    int64_t scrubbed_us;    /* wall time: the end of the last of them; before it, of the opening */
    uint64_t wal_pages;     /* of the write-ahead log, since it was last copied */
    bool wal_uncut;         /* contents were destroyed, and the log may still have their keys */
    int64_t last_commit_us; /* duration of the last commit */
    int64_t last_time_us;   /* the time of the last record (the high-water mark) */
};

/** This gateway among those that share its ledger. */
struct writ_ledger_fleet_figures {
    struct writ_view gateway; /* its name; borrowed until the ledger is closed */
    uint64_t epoch;           /* 0: it has none now */
    int64_t lease_us;         /* how long its lease lasts; 0: it is over */
    uint64_t live;            /* gateways, as of the last time that it extended its lease */
    uint64_t taken;           /* records of others that it took, since the start */
    uint64_t turns;           /* transactions that it committed, since the start */
    int64_t turns_us;         /* the time of them all, from asking for the turn */
    uint64_t unknown;         /* commits whose answer was lost, since the start */
};

/* ---- other keys ---- */

/** New keys for an open ledger. */
struct writ_ledger_keys {
    struct writ_keyring *ring;
    struct writ_ledger_keys *next;
};

/** `ring` is taken on success; `ret` is new, free with writ_ledger_keys_free or hand it over.
 * WRIT_E_INVALID when the ring has no active Ed25519 key for the ledger; WRIT_E_NOMEM. */
WRIT_RESULT writ_ledger_keys_new(
    struct writ_keyring *ring, struct writ_ledger_keys **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_ledger_keys_free(struct writ_ledger_keys *keys);

#endif
