/* ledger.h - the log of decisions, outcomes and seals, and the one place where a call is granted.
 *
 * One writer thread owns the ledger. Loops hand it entries; it takes what has arrived as one
 * group, commits the group with one fsync, and then calls every entry's `done`. What an entry was
 * granted is on disk when `done` runs, and nothing of a group that failed is.
 *
 * What it promises:
 * - A key is granted once (contract 6.8, 7): two calls under one key, from any threads, before
 *   and after a crash, never both run, for as long as the claim is kept (`claim_kept_us` of the
 *   time when it was made, and at least the life of its boundary).
 * - A refusal by the ledger (duplicate, budget, sealed boundary, clock) is itself recorded, as the
 *   deny that it is, with its outcome `blocked`: the draft never stands in the log as allow.
 * - Records have contiguous indexes from 0 (`leaf`) and keep their canonical bytes, so that a tree
 *   can be built over them.
 * - All of it is verified beside the work, again and again; when something is not as it was
 * written, nothing is accepted any more.
 * - Each group ends with a checkpoint over all records so far, signed by the ledger's key, and the
 *   next opening asks for it: what was cut off, rolled back behind a pinned checkpoint, or
 * exchanged does not open.
 * - seq is contiguous from 0 within a boundary; times of records are strictly increasing.
 * - A sealed boundary has no granted call without an outcome and takes no further record.
 * - A call that was granted and has no outcome when the ledger opens gets the outcome `error`
 *   with error_type interrupted_execution_unknown; its claim stands. One that waits (for input, for
 *   the end of a task) goes on waiting.
 * - The rounds of one call are decisions of which each supersedes the one before, under one claim
 *   and one booking; one of them goes on, and the last has the outcome.
 * - A review changes as review.tbl.h says, each change a record of its own; a vote and the verdict
 *   that it brings, and an approval that is spent and the call that it grants, are one transaction.
 * - What could not be written is not applied in memory either. After disk full, a lock held by
 *   someone else, a read-only file system or an I/O error entries fail with WRIT_E_IO and the next
 *   ones are tried again; after a failed fsync, a corrupt or an exchanged database nothing is
 *   accepted until the ledger is opened anew.
 * - An outcome is never lost while the process lives: one that could not be written is kept, its
 *   budget and claim with it, and written before any other claim is granted.
 *
 * Files: PATH (SQLite), PATH-wal, PATH-shm, and PATH-lock, which keeps a second process out. */
#ifndef WRIT_STORE_LEDGER_H
#define WRIT_STORE_LEDGER_H

#include "base/clock.h"
#include "evidence/jose/keyring.h"
#include "evidence/record/budget.h"
#include "evidence/record/duplicates.h"
#include "evidence/record/extension.h"
#include "evidence/record/fact.h"
#include "evidence/record/reason.h"
#include "evidence/record/record.h"
#include "evidence/record/review.h"

#define WRIT_LEDGER_ORIGIN_MAX  128       /* bytes of the name in its checkpoints */
#define WRIT_LEDGER_NAME_MAX    1024      /* bytes of a tenant, boundary_id or decision_id */
#define WRIT_LEDGER_RECORD_MAX  (1 << 20) /* canonical bytes of one record */
#define WRIT_LEDGER_RESULT_MAX  (8 << 20) /* bytes of one result kept for replay */
#define WRIT_LEDGER_SESSION_MAX 16384     /* bytes of one session's value */
#define WRIT_LEDGER_RESULTS_MAX 65536     /* results kept for replay */

/** Boundaries of our own begin with this; a draft that names one is refused (WRIT_E_INVALID). Calls
 * under a sealed boundary are recorded, as denied, in one per tenant and day that is named
 * writ:refused:YYYY-MM-DD; what was stated is in their evidence_refs as boundary:<id>. */
#define WRIT_LEDGER_RESERVED "writ:"

/** An open ledger and its writer thread. */
struct writ_ledger;

/** A checkpoint that was kept outside the ledger. */
struct writ_ledger_memory {
    struct writ_view note; /* a signed note */
    bool own; /* by us alone: one that cannot be read, or of another ledger, refuses too.
                 Else what is not signed by who is believed is passed over */
};

/** What the ledger does by itself and reports to the program. The writer's thread calls; nothing
 * here may block or call the ledger. */
struct writ_ledger_reports {
    /** A call that waited has its outcome on disk, because its time has passed: `error`, with the
     * name of `reason` as error_type. Borrowed for the call. */
    void (*given_up)(void *ctx, const struct writ_decision *decision,
        const struct writ_extension *ours, enum writ_reason reason);
    void *ctx;
};

/** How a ledger runs. Start from writ_ledger_options_default and change what differs. All are
 * range-checked by writ_ledger_open. */
struct writ_ledger_options {
    const struct writ_clock *clock;       /* borrowed until the ledger is closed */
    size_t queue_max;                     /* entries waiting for the writer; outcomes always fit */
    size_t group_max;                     /* entries of one group */
    size_t segment_claims;                /* so many claims are written to the disk at once */
    size_t segment_merge;                 /* so many segments of them become one */
    size_t manifest_records;              /* records that a start after a crash may have to read
                                             again, about: manifest.h */
    size_t agent_percent, tenant_percent; /* of boundaries_max that one may have: shares.h */
    size_t boundaries_max;                /* open boundaries in memory, about 400 bytes each */
    size_t in_flight_max;                 /* granted calls without an outcome */
    size_t waits_max;                     /* those among them that wait, and tasks that ended */
    size_t budgets_max;                   /* counters of budgets in memory */
    size_t sessions_max;                  /* rows of the session table */
    size_t reviews_max;                   /* reviews in memory, live or just over */
    size_t reviews_agent_max;             /* live ones of one agent */
    const struct writ_keyring *keyring;   /* its active key for the ledger signs, until others are
                                             handed over; borrowed until the ledger is closed */
    struct writ_view pinned; /* a checkpoint that somebody kept, as a signed note: the ledger has to
                                contain what it covers; borrowed for the opening; ptr NULL: none */
    const struct writ_ledger_memory *remembered; /* checkpoints that it is known to have had;
                                                    borrowed for the opening */
    size_t remembered_n;
    bool resume; /* it may lack what is remembered or pinned: see writ_ledger_open */
    const struct writ_review_judge *judge; /* counts votes; NULL: no call is put under review */
    int64_t results_max_bytes;             /* all results kept for replay; the oldest go first */
    int64_t claim_kept_us;      /* how long a key is remembered that is claimed from now on: 24 h */
    int64_t window_kept_us;     /* the same for an implicit key whose boundary is sealed */
    int64_t boundary_idle_us;   /* a boundary without calls for so long is sealed */
    int64_t budget_window_us;   /* the longest window of a budget that is known; 0: of none. What
                                   was taken in it is counted at the opening, and not by the first
                                   call */
    int64_t clock_tolerance_us; /* how far the clock may step back */
    int64_t busy_us;            /* how long to wait for a lock that someone else holds */
    int64_t retry_us;           /* between attempts to recover while refusing */
    const struct writ_ledger_reports *reports; /* borrowed until the ledger is closed; may be NULL
                                                */
    int64_t scrub_us; /* from one verification of the whole ledger to the next */
};

extern const struct writ_ledger_options writ_ledger_options_default;

/**
 * Creates an empty ledger (`writ ledger init`); the daemon never does.
 *
 * @param path    must not exist; its directory must, and be writable by its owner alone (or sticky)
 * @param origin  the name in its checkpoints and of its keys; empty: `writ-ledger/` and its id
 *
 * The file has mode 0600. Blocks. Returns
 *         WRIT_OK
 *         WRIT_E_INVALID  something is there already, the directory is open to others, or the
 * origin is longer than WRIT_LEDGER_ORIGIN_MAX or no name (writ_note_check_name) WRIT_E_IO
 */
WRIT_RESULT writ_ledger_create(const char *path, struct writ_view origin,
    const struct writ_clock *clock, struct writ_err *err);

/**
 * Opens a ledger, rebuilds what the writer keeps in memory, gives interrupted calls their outcome
 * and starts the writer.
 *
 * @param path     an existing ledger
 * @param options  copied
 * @param ret      written only on success; close with writ_ledger_close
 *
 * With `resume` it opens although records were lost: all calls in flight, reviews and runs of
 * before end, sessions are forgotten, and the loss is recorded (WRIT_FACT_RESUMED). From then on,
 * for as long as a claim of before can stand, a call that claims a key is refused with
 * LEDGER_RESUMED, because the keys of the lost time are not known: unless its key is that of a
 * session or window that began later, or its tool was released (WRIT_FACT_RELEASED, with
 * {"tool":"upstream/tool"}).
 *
 * Claims stand for as long as their records say. When the longest of `claim_kept_us` and
 * `window_kept_us` is another one than before, that is recorded first (WRIT_FACT_KEPT).
 *
 * Blocks, in proportion to the records since the last manifest (manifest.h) and to what is open;
 * without a manifest to the records of open boundaries and of the longest time for which a claim
 * can still stand.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    there is no such file
 *         WRIT_E_INVALID   a symbolic link, no regular file, writable by others, in a directory
 *                          that others can write to; a hard link to it, or mounted apart from its
 *                          directory; an option out of range; or no keyring with an
 *                          active Ed25519 key for the ledger
 *         WRIT_E_PARSE     not a ledger, or of a newer version than this program
 *         WRIT_E_MISMATCH  its records contradict each other or its checkpoint, or it does not
 *                          contain what is pinned: see `writ ledger verify`
 *         WRIT_E_BUSY      another process has it open
 *         WRIT_E_LIMIT     more boundaries or budgets are live than the options admit
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_ledger_open(const char *path, const struct writ_ledger_options *options,
    struct writ_ledger **ret, struct writ_err *err);

/**
 * Drops what the ledger keeps for its start (manifest.h), when a start says that it does not hold:
 * the next one reads the records instead, and makes it again.
 *
 * The file is locked for it. Blocks. WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_PARSE, WRIT_E_BUSY,
 * WRIT_E_IO and WRIT_E_NOMEM as writ_ledger_open.
 */
WRIT_RESULT writ_ledger_rebuild(const char *path, struct writ_err *err);

/** Writes what was submitted, stops the writer and closes. Seals that still wait for calls in
 * flight are not written: their entries end with WRIT_E_BUSY. NULL is fine. No other thread may
 * use the ledger any more. Blocks for one group commit. */
void writ_ledger_close(struct writ_ledger *ledger);

/* ---- entries ---- */

enum writ_entry_kind {
    WRIT_ENTRY_NONE = 0,
    WRIT_ENTRY_DECISION,     /* records a decision; grants the call, or refuses it */
    WRIT_ENTRY_OUTCOME,      /* records what became of a granted call */
    WRIT_ENTRY_WAIT,         /* a granted call has no outcome yet, and may outlive the process */
    WRIT_ENTRY_WAITING,      /* finds a call that waits */
    WRIT_ENTRY_CALL,         /* finds a decision, and how far its call is */
    WRIT_ENTRY_SEAL,         /* ends a boundary */
    WRIT_ENTRY_REVIEW,       /* something happens to a review: a vote, a withdrawal, a cancel */
    WRIT_ENTRY_REVIEW_GET,   /* one review, with its records */
    WRIT_ENTRY_REVIEW_RULES, /* what policy says from now on: reviews of other rules are outdated */
    WRIT_ENTRY_REVIEW_AWAIT, /* ends when a review is no longer open, or when its time is over */
    WRIT_ENTRY_REVIEW_WATCH, /* ends when any review has changed, or when its time is over */
    WRIT_ENTRY_FACT,         /* records what belongs to no call: a stop, a loss */
    WRIT_ENTRY_SESSION_PUT,  /* creates or replaces a session's row */
    WRIT_ENTRY_SESSION_GET,
    WRIT_ENTRY_SESSION_DROP,
};

/** What a granted call waits for when its upstream has answered without ending it, or when its
 * caller makes it himself. */
enum writ_wait_kind {
    WRIT_WAIT_NONE = 0,
    WRIT_WAIT_INPUT, /* the client's input: a later decision follows */
    WRIT_WAIT_TASK,  /* the end of a task */
    WRIT_WAIT_BIND,  /* that its caller binds it, right before he makes it */
    WRIT_WAIT_RUN,   /* bound: that its caller says what became of it */
};

/** What a call claims. Make the digests with writ_ledger_claim. */
struct writ_claim {
    struct writ_digest key;  /* tenant, agent, upstream, tool and idempotency key */
    struct writ_digest call; /* the state-free identity of the call (contract 6) */
    /* stateless windows: the key in the window before, and in the one after, because two calls may
     * overtake each other at an edge; 0 in previous_since_us: neither is asked for */
    struct writ_digest previous, next;
    int64_t previous_since_us; /* a claim under `previous` counts if made at or after */
    bool caller_stated;        /* the caller named the key; else it contains the boundary */
};

/** What is known of the first call of a pair, when a second one is refused. */
struct writ_prior {
    bool known;
    bool in_flight;               /* it has no outcome yet */
    enum writ_wait_kind waits;    /* in flight: for what, when its upstream has answered */
    uint64_t leaf;                /* of its decision */
    struct writ_view decision_id; /* in the arena of the entry */
    enum writ_outcome_kind outcome;
    struct writ_view result; /* REPLAY: its stored result, in the entry's arena; ptr NULL when
                                none was stored or it is no longer kept */
};

#define WRIT_LEDGER_SAID_MAX 1024 /* bytes of a voter's feedback that the caller is told */

/** What a voter said with its last vote, from the beginning. */
struct writ_ask_voice {
    struct writ_view voter, feedback;
    enum writ_review_vote vote;
};

/** A draft `require_approval`, put under review: the call joins the review that is open for it,
 * opens one, is granted under one that approved it, or is told how it ended. */
struct writ_ask {
    const struct writ_review *terms; /* id: the draft's decision_id */
    struct writ_digest name;         /* made with writ_ledger_review */
    struct writ_view arguments;      /* canonical; kept while voters may read them */
    struct writ_view target_state;   /* canonical, kept with them; empty: not known */
    struct writ_view conditions;     /* that want the approval, canonical, kept with them; may be
                                        empty */
    struct writ_view continuation;   /* the review that the caller names; ptr NULL: none */

    /* written by the ledger, in the arena of the entry */
    enum writ_review_state state; /* of the review; ABSENT: it was not asked for one */
    struct writ_view id;
    int64_t until_us;                    /* wall time at which that state is over */
    const struct writ_ask_voice *voices; /* of those who said something, when the verdict is against
                                            the call */
    size_t voices_n;
};

/** The budget that refused a call. */
struct writ_exceeded {
    struct writ_view budget; /* its name; ptr NULL: none did */
    struct writ_decimal limit, used;
    int64_t frees_us; /* wall time: the end of the window that was looked at */
};

/** WRIT_ENTRY_DECISION. */
struct writ_entry_decision {
    struct writ_decision *draft; /* with decision_id and boundary_id; the writer gives it its place
                                    and, where it refuses, turns it into the deny that was recorded
                                    (extensions.writ included) */
    const struct writ_profile *profile;
    struct writ_view tenant;
    int64_t lifetime_us;   /* expires_at = issued_at + this, for what is granted or under review */
    int64_t held_until_us; /* wall time until which the boundary's session keeps it open; 0: it is
                              no session's boundary */
    bool shadow; /* policy does not bind: a draft that is not allow is recorded and granted all the
                    same, and so is the deny that an exceeded budget makes of a draft. Every other
                    refusal stands */
    enum writ_duplicates duplicates; /* ALLOW: no claim is looked for, and none is made */
    struct writ_claim claim;         /* used when the call may be granted */
    const struct writ_reservation *reservations;
    size_t reservations_n;
    bool follows;    /* it goes on with a call that waits for input: it takes its place, under its
                        claim and its budgets. The draft has the boundary of that call, and names it
                        in `supersedes` */
    uint64_t before; /* leaf of that call's decision */
    struct writ_ask *ask; /* of a `require_approval`; NULL: of any other draft */

    /* written by the ledger */
    bool granted;                  /* the one word that lets a call go upstream */
    enum writ_reason refused;      /* why the ledger made a deny of it; NONE: the draft stands */
    struct writ_exceeded exceeded; /* BUDGET_EXCEEDED */
    struct writ_prior prior;       /* for duplicates */
    uint64_t leaf;                 /* index of the decision's record */
};

/** WRIT_ENTRY_OUTCOME. The ledger gives it its place: completed_at and receipt_ref. One that proves
 * that nothing ran (writ_outcome_nothing_ran) releases the claim and gives the budgets back. */
struct writ_entry_outcome {
    uint64_t leaf;                        /* of the decision, as granted */
    const struct writ_decision *decision; /* as recorded */
    const struct writ_profile *profile;
    struct writ_outcome *outcome; /* writ_outcome_for(decision, kind) and what is known of it */
    struct writ_view result;      /* kept for replay when ttl is above 0; may be empty */
    int64_t result_ttl_us;

    uint64_t outcome_leaf; /* written by the ledger */
    bool kept;             /* with code WRIT_E_IO: the ledger will write it as soon as it can */
};

/** WRIT_ENTRY_WAIT. The upstream has answered a granted call without ending it, or the caller makes
 * it himself. Survives a restart. At `until_us` a call that is still there gets the outcome `error`
 * with error_type input_expired, task_expired, authorization_unused or
 * interrupted_execution_unknown. A call that waits to be bound is bound once, by a RUN; that it was
 * not bound in time proves nothing, and its claim stands. */
struct writ_entry_wait {
    /* of the decision, as granted; WRIT_E_INVALID: not in flight, or waits already (RUN: does not
     * wait to be bound, or no longer) */
    uint64_t leaf;
    enum writ_wait_kind kind;
    struct writ_digest name; /* made with writ_ledger_round or writ_ledger_task */
    int64_t until_us;        /* wall time */
};

#define WRIT_WAITING_KEYS 3 /* of a caller that states none: of its window and those beside it */

/** WRIT_ENTRY_WAITING. Finds what waits under a name; a task also after its outcome, until its time
 * has passed. Equal calls wait under one name when their upstream gave no state: of those of the
 * run, one under a given key comes before any other, and the newest before an older one. */
struct writ_entry_waiting {
    struct writ_digest name;
    struct writ_view boundary;                /* only of this run; ptr NULL: of any */
    struct writ_view keys[WRIT_WAITING_KEYS]; /* idempotency keys */
    size_t keys_n;                            /* 0: any will do */
    bool keyed;                               /* only under one of the keys */

    /* written by the ledger */
    uint64_t leaf;
    struct writ_decision decision; /* as recorded; lives in the entry's arena */
    bool ended;                    /* a task that has its outcome */
    int64_t until_us;
};

/** How far a call is that its caller makes himself. Zero: nobody goes on with it. */
enum writ_call_stage {
    WRIT_CALL_OVER = 0, /* refused, or over, or not the caller's to make */
    WRIT_CALL_BINDS,    /* it waits to be bound */
    WRIT_CALL_RUNS,     /* it was bound, and has no outcome */
};

/** WRIT_ENTRY_CALL. Whose it is, is for the submitter to see. */
struct writ_entry_call {
    struct writ_view decision_id;

    /* written by the ledger */
    uint64_t leaf;
    struct writ_decision decision; /* as recorded; lives in the entry's arena */
    enum writ_call_stage stage;
};

/** WRIT_ENTRY_SEAL. Waits until no call of the boundary is in flight; from its submission on the
 * boundary takes no further call. A boundary that is already sealed is WRIT_OK. After WRIT_E_IO it
 * stays closed, and is sealed as soon as that can be written. */
struct writ_entry_seal {
    struct writ_view tenant, boundary_id;
    bool of_agent; /* only while it is that agent's, who made its first call; else WRIT_E_ABSENT */
    struct writ_view agent_id;
    bool at_once; /* does not wait: while calls are in flight, WRIT_E_BUSY, and nothing is closed */

    uint64_t leaf; /* written by the ledger */
    uint64_t total;
    size_t in_flight;        /* WRIT_E_BUSY with `at_once`: how many are; 0: the ledger is closed */
    struct writ_view record; /* canonical, when the entry has an arena with room for it */
};

/** A review as it is told, in the arena of the entry. */
struct writ_review_told {
    struct writ_review review; /* with the votes as they stand */
    enum writ_review_state state;
    uint64_t n;         /* records that it has */
    int64_t changed_us; /* wall time of its last change of state */
    int64_t until_us;   /* wall time at which the state is over; 0: it is gone from memory */
    char digest[WRIT_DIGEST_TEXT]; /* of the terms: what votes name */
};

/** WRIT_ENTRY_REVIEW. Who may do it is for the submitter to know, but that voters are those of the
 * terms. */
struct writ_entry_review {
    enum writ_review_event event; /* VOTE, WITHDRAW, CANCEL, OUTDATE or DRIFT: what somebody does */
    struct writ_view id;
    struct writ_view tenant;   /* the review must be of it; ptr NULL: of any */
    struct writ_view agent_id; /* WITHDRAW: who asked; ptr NULL: not compared */
    struct writ_view by;       /* VOTE: the voter */
    struct writ_view digest;   /* VOTE: of the terms, as text */
    enum writ_review_vote vote;
    struct writ_view feedback, confidence; /* ptr NULL: none */
    struct writ_view signature;            /* of the voter's own; ptr NULL: none */

    /* written by the ledger */
    enum writ_reason refused; /* REVIEW_UNKNOWN, REVIEW_CLOSED, REVIEW_MISMATCH, VOTE_*; or NONE */
    struct writ_review_told told; /* unless REVIEW_UNKNOWN */
};

/** WRIT_ENTRY_REVIEW_GET. Also of a review that is over: its records stay. */
struct writ_entry_review_get {
    struct writ_view id;

    /* written by the ledger */
    struct writ_review_told told;
    struct writ_view target_state; /* while it lives: of which it is about; ptr NULL: not known */
    struct writ_view state_before; /* that the review before it was about; ptr NULL: not known */
    struct writ_view conditions; /* while it lives: those that want the approval; ptr NULL: none */
    struct writ_view decision;   /* record of the decision that opened it */
    const struct writ_view *records; /* its own, in their order */
    size_t records_n;
    struct writ_view arguments; /* canonical; ptr NULL: no longer kept */
};

/** WRIT_ENTRY_REVIEW_RULES. They end within a second. */
struct writ_entry_review_rules {
    const struct writ_view *rules; /* rules_digest of every approval that there is */
    size_t n;
};

/** WRIT_ENTRY_REVIEW_AWAIT. */
struct writ_entry_review_await {
    struct writ_view id;
    int64_t until_us; /* wall time; it may end up to a second later */

    enum writ_review_state state; /* written by the ledger; ABSENT: there is none (any more) */
};

/** WRIT_ENTRY_REVIEW_WATCH. Changes are counted by the place of their record in the log, so that a
 * count holds over a restart. What is told is how a review stands: of two changes shortly after
 * each other only the second may be seen. */
struct writ_entry_review_watch {
    uint64_t since;   /* changes up to there are known; 0: nothing is */
    int64_t until_us; /* wall time; it may end up to a second later, with n 0 */

    /* written by the ledger */
    bool anew;   /* `since` is too old: these are all that live, and nothing else does */
    uint64_t at; /* the next `since` */
    const struct writ_review_told *items;
    size_t n;
};

/** WRIT_ENTRY_FACT. Read with writ_reader_facts. */
struct writ_entry_fact {
    enum writ_fact_event event;
    struct writ_view data; /* a canonical object */

    uint64_t leaf; /* written by the ledger */
};

/** WRIT_ENTRY_SESSION_*. Not for the path of every call. */
struct writ_entry_session {
    struct writ_digest hash;      /* of the session id */
    struct writ_view value;       /* PUT: the bytes; GET: in the entry's arena */
    int64_t expires_us;           /* wall time; PUT sets it, GET tells it */
    struct writ_view tenant;      /* PUT: its boundary, or empty: not sealed as idle */
    struct writ_view boundary_id; /* before the session expires */
};

/**
 * One piece of work for the writer. Owned by the submitter, and left alone by him until `done`.
 * Zero-initialise, set what the kind needs, submit.
 *
 * code, when `done` runs:
 *   WRIT_OK         the record is on disk; a refused decision too is WRIT_OK: look at `granted`
 *   WRIT_E_INVALID  the draft is not a valid record, or the outcome's decision is not in flight
 *   WRIT_E_MISMATCH the outcome does not join its decision
 *   WRIT_E_ABSENT   SESSION_GET: no such session, or expired; SEAL: no record in that boundary;
 *                   WAITING: nothing waits under that name; REVIEW_GET: no such review;
 *                   CALL: no such decision
 *   WRIT_E_LIMIT    a name, record, result or session is too long, or the table is full
 *   WRIT_E_NOMEM    memory or the arena is exhausted
 *   WRIT_E_BUSY     the ledger was closed first
 *   WRIT_E_IO       could not be written; nothing is granted
 * Whatever is not WRIT_OK grants nothing.
 */
struct writ_entry {
    enum writ_entry_kind kind;
    enum writ_code code;
    void (*done)(struct writ_entry *entry); /* on the writer thread: must only post back */
    void *user;
    struct writ_arena *arena; /* what the ledger makes for the entry lives here; not used by
                                 anyone else until `done` */
    union {
        struct writ_entry_decision decision;
        struct writ_entry_outcome outcome;
        struct writ_entry_wait wait;
        struct writ_entry_waiting waiting;
        struct writ_entry_call call;
        struct writ_entry_seal seal;
        struct writ_entry_review review;
        struct writ_entry_review_get review_get;
        struct writ_entry_review_await review_await;
        struct writ_entry_review_watch review_watch;
        struct writ_entry_review_rules review_rules;
        struct writ_entry_session session;
        struct writ_entry_fact fact;
    };
    struct writ_entry *next; /* the ledger's own */
};

/**
 * Hands entries over, all or none, in order. Call it with as many as came while the loop was busy:
 * a group costs a sync and a signature, however many it has. Does not block.
 *
 * @return WRIT_OK      `done` will be called once for each
 *         WRIT_E_BUSY  the queue is full; none was taken. Entries of kind OUTCOME are never
 *                      refused for that
 */
WRIT_RESULT writ_ledger_submit(struct writ_ledger *ledger, struct writ_entry **entries, size_t n);

/** Keys that an open ledger shall take. */
struct writ_ledger_keys;

/** `ring` is taken on success; `ret` is new, free with writ_ledger_keys_free or hand it over.
 * WRIT_E_INVALID when the ring has no active Ed25519 key for the ledger; WRIT_E_NOMEM. */
WRIT_RESULT writ_ledger_keys_new(
    struct writ_keyring *ring, struct writ_ledger_keys **ret, struct writ_err *err);
/** NULL is fine. */
void writ_ledger_keys_free(struct writ_ledger_keys *keys);

/**
 * Hands other keys over, which the ledger takes: every group that is submitted later is signed by
 * the active one among them, and those are believed.
 *
 * When the key so far was revoked, the new one signs for all that was recorded since the ledger was
 * opened. When what was there before is not believed any more, the ledger is poisoned, as it would
 * not open. One thread at a time; does not block.
 */
void writ_ledger_rekey(struct writ_ledger *ledger, struct writ_ledger_keys *keys);

/** Something outside shows that the ledger is not what it was: it is poisoned, with that reason.
 * Thread-safe; does not block. */
void writ_ledger_distrust(struct writ_ledger *ledger, const struct writ_err *why);

/** Makes the digest that names a claim. WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_claim(struct writ_view tenant, struct writ_view agent_id,
    struct writ_view upstream, struct writ_view tool, struct writ_view idempotency_key,
    struct writ_digest *ret, struct writ_err *err);

/** Makes the name under which a call waits for input: the state-free identity of the call, and the
 * state that its upstream gave for the next round (ptr NULL: none). WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_round(const struct writ_digest *call, struct writ_view request_state,
    struct writ_digest *ret, struct writ_err *err);

/** Makes the name of a review: the same call of the same agent in the same run, under the same key.
 *
 * @param boundary  ptr NULL: the run is a window of time, and a later one will do
 * @param key       that the caller stated; ptr NULL: none
 *
 * WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_review(const struct writ_digest *call, struct writ_view boundary,
    struct writ_view key, struct writ_digest *ret, struct writ_err *err);

/** Makes the name under which a task is found. WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_task(struct writ_view tenant, struct writ_view agent_id,
    struct writ_view upstream, struct writ_view task_id, struct writ_digest *ret,
    struct writ_err *err);

/* ---- health ---- */

enum writ_ledger_state {
    WRIT_LEDGER_POISONED = 0, /* refuses all until it is opened anew */
    WRIT_LEDGER_REFUSING,     /* the last attempt to write failed; it is tried again */
    WRIT_LEDGER_READY,
};

struct writ_ledger_health {
    enum writ_ledger_state state;
    struct writ_err why;  /* empty when ready */
    uint64_t records;     /* on disk */
    uint64_t groups;      /* committed since the ledger was opened */
    size_t queued;        /* entries waiting for the writer */
    size_t kept_outcomes; /* outcomes that could not be written yet */
    size_t claims, in_flight, waits, boundaries, budgets, sessions, reviews;
    uint64_t scrubs;    /* verifications of all of it, since it was opened, that found nothing */
    uint64_t wal_pages; /* of the write-ahead log, since it was last folded in */
    int64_t last_commit_us; /* duration of the last commit */
    int64_t last_time_us;   /* the time of the last record (the high-water mark) */
};

/** For /readyz and /metrics. Thread-safe, does not block on the disk. */
void writ_ledger_health(struct writ_ledger *ledger, struct writ_ledger_health *ret);

#endif
