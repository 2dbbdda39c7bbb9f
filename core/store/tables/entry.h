/* entry.h - the requests to a ledger and their answers: entries, and the digests that name them. */
#ifndef WRIT_STORE_ENTRY_H
#define WRIT_STORE_ENTRY_H

#include "evidence/record/budget.h"
#include "evidence/record/content.h"
#include "evidence/record/delegation.h"
#include "evidence/record/derive.h"
#include "evidence/record/duplicates.h"
#include "evidence/record/fact.h"
#include "evidence/record/reason.h"
#include "evidence/record/record.h"
#include "evidence/record/review.h"
#include "evidence/record/review_judge.h"
#include "store/tables/remove.h"

#define WRIT_LEDGER_ORIGIN_MAX  128       /* bytes of the name in its checkpoints */
#define WRIT_LEDGER_NAME_MAX    1024      /* bytes of a tenant, boundary_id or decision_id */
#define WRIT_LEDGER_RECORD_MAX  (1 << 20) /* canonical bytes of one record */
#define WRIT_LEDGER_RESULT_MAX  (8 << 20) /* bytes of one result kept for replay */
#define WRIT_LEDGER_SESSION_MAX 16384     /* bytes of one session's value */
#define WRIT_LEDGER_RESULTS_MAX 65536     /* results kept for replay */

/** The ledger's own boundaries begin with this; a draft that names one is refused (WRIT_E_INVALID).
 * Calls under a sealed boundary are recorded, as denied, in one per tenant and day that is named
 * writ:refused:YYYY-MM-DD; the boundary that the caller stated is in their evidence_refs as
 * boundary:<id>. */
#define WRIT_LEDGER_RESERVED "writ:"

enum writ_entry_kind {
    WRIT_ENTRY_NONE = 0,
    WRIT_ENTRY_DECISION,     /* records a decision; grants the call, or refuses it */
    WRIT_ENTRY_OUTCOME,      /* records the outcome of a granted call */
    WRIT_ENTRY_WAIT,         /* a granted call has no outcome yet, and may outlive the process */
    WRIT_ENTRY_WAITING,      /* finds a call that waits */
    WRIT_ENTRY_CALL,         /* finds a decision, and how far its call is */
    WRIT_ENTRY_SEAL,         /* ends a boundary */
    WRIT_ENTRY_REVIEW,       /* an event of a review: a vote, a withdrawal, a cancel */
    WRIT_ENTRY_REVIEW_GET,   /* one review, with its records */
    WRIT_ENTRY_REVIEW_RULES, /* the present rules of the policy: reviews of other rules are
                                outdated */
    WRIT_ENTRY_REVIEW_AWAIT, /* ends when a review is no longer open, or when its time is over */
    WRIT_ENTRY_REVIEW_WATCH, /* ends when any review has changed, or when its time is over */
    WRIT_ENTRY_DELEGATE,     /* a voter names another one, and that is recorded */
    WRIT_ENTRY_UNDELEGATE,   /* takes a delegation back, and records that */
    WRIT_ENTRY_DELEGATIONS,  /* the delegations whose time is not over */
    WRIT_ENTRY_FACT,         /* records a fact that belongs to no call: a stop, a loss */
    WRIT_ENTRY_ERASE,        /* destroys kept contents, and records that */
    WRIT_ENTRY_REMOVE,       /* removes records that an archive has, and records that */
    WRIT_ENTRY_SESSION_PUT,  /* creates or replaces a session's row */
    WRIT_ENTRY_SESSION_GET,
    WRIT_ENTRY_SESSION_DROP,
    WRIT_ENTRY_POOL_PUT,    /* keeps an insight for the agents of a tenant, and records that */
    WRIT_ENTRY_POOL_REMOVE, /* removes one, and records that */
    WRIT_ENTRY_POOL_READ,   /* the insights of a tenant */
    WRIT_ENTRY_POOL_WATCH,  /* ends when an insight was put, or when its time is over */
};

/** What a granted call waits for after its upstream has answered without ending it, or when its
 * caller makes it itself. */
enum writ_wait_kind {
    WRIT_WAIT_NONE = 0,
    WRIT_WAIT_INPUT, /* the client's input: a later decision follows */
    WRIT_WAIT_TASK,  /* the end of a task */
    WRIT_WAIT_BIND,  /* its caller must bind it, right before making it */
    WRIT_WAIT_RUN,   /* bound: its caller must report the outcome */
};

/** What a call claims. Make the digests with writ_ledger_claim. */
struct writ_claim {
    struct writ_digest key;  /* tenant, agent, upstream, tool and idempotency key */
    struct writ_digest call; /* the state-free identity of the call (derive.h) */
    /* stateless windows: the key in the window before, and in the one after, because two calls may
     * overtake each other at an edge; 0 in previous_since_us: neither is checked */
    struct writ_digest previous, next;
    int64_t previous_since_us; /* a claim under `previous` counts if made at or after this time */
    bool caller_stated;        /* the caller named the key; else it contains the boundary */
};

/** The known facts about the first call of a pair, when the second one is refused. */
struct writ_prior {
    bool known;
    bool in_flight;               /* it has no outcome yet */
    enum writ_wait_kind waits;    /* in flight: what it waits for, after its upstream has
                                     answered */
    uint64_t leaf;                /* of its decision */
    struct writ_view decision_id; /* in the arena of the entry */
    enum writ_outcome_kind outcome;
    struct writ_view result; /* REPLAY: its stored result, in the entry's arena; ptr NULL when none
                                was stored or it is no longer kept */
};

#define WRIT_LEDGER_SAID_MAX 1024 /* bytes of a voter's feedback that the caller gets */

/** The last feedback of a voter, from its beginning. */
struct writ_ask_voice {
    struct writ_view voter, feedback;
    enum writ_review_vote vote;
};

/** A draft `require_approval`, put under review: the call joins the open review for it, opens one,
 * is granted under one that approved it, or gets the end of one. */
struct writ_ask {
    const struct writ_review *terms; /* id: the draft's decision_id */
    struct writ_digest name;         /* made with writ_ledger_review */
    struct writ_view arguments;      /* canonical; kept while voters may read them */
    struct writ_view target_state;   /* canonical, kept with them; empty: unknown */
    struct writ_view conditions;     /* the conditions that need the approval, canonical, kept with
                                        them; may be empty */
    struct writ_view candidates;     /* what voters see of each candidate, canonical, kept with
                                        them; empty: the terms have none */
    bool proposes;                   /* several candidates, also where policy left one alone: the
                                        caller makes the elected call, and the ledger never grants
                                        this one */
    struct writ_view continuation;   /* the review that the caller names; ptr NULL: none */
    struct writ_delegable delegable; /* of the voters of a review that opens; lives as the terms */
    struct writ_view boundary;       /* a candidate redeems only in the run of its review; ptr
                                        NULL: in any */

    /* written by the ledger, in the arena of the entry */
    enum writ_review_state state;  /* of the review; ABSENT: the call needed none */
    enum writ_review_vote elected; /* its candidate that may run; NO_VOTE: none */
    struct writ_view id;
    int64_t until_us;                    /* wall time at which that state is over */
    const struct writ_ask_voice *voices; /* of voters with feedback, when the verdict is against the
                                            call */
    size_t voices_n;
};

/** The budget that refused a call. */
struct writ_exceeded {
    struct writ_view budget; /* its name; ptr NULL: none did */
    struct writ_decimal limit, used;
    int64_t frees_us; /* wall time: the end of the window that was checked */
};

/** WRIT_ENTRY_DECISION. */
struct writ_entry_decision {
    struct writ_decision *draft; /* with decision_id and boundary_id; the writer gives it its place
                                    and, when it refuses, turns it into the deny that was recorded
                                    (extensions.writ included) */
    const struct writ_profile *profile;
    struct writ_view tenant;
    int64_t lifetime_us;   /* expires_at = issued_at + this, for what is granted or under review */
    int64_t held_until_us; /* wall time until which the boundary's session keeps it open; 0: it is
                              no session's boundary */
    bool shadow; /* policy is not enforced: a draft that is not allow is recorded and granted all
                    the same, and so is the deny that an exceeded budget makes of a draft. Every
                    other refusal stands */
    enum writ_duplicates duplicates; /* ALLOW: claims are not checked, and none is made */
    struct writ_claim claim;         /* used when the call may be granted */
    const struct writ_reservation *reservations;
    size_t reservations_n;
    struct writ_decimal *used; /* `reservations_n` places, or NULL: get the amount that each budget
                                  has used after this call; unchanged when it was not checked */
    bool follows;         /* it continues a call that waits for input: it takes its place, under its
                             claim and its budgets. The draft has the boundary of that call, and names it
                             in `supersedes` */
    uint64_t before;      /* leaf of that call's decision */
    struct writ_ask *ask; /* of a `require_approval`; NULL: of any other draft */
    const struct writ_sealed *content; /* its arguments, to be kept beside the record, whatever the
                                          verdict is; NULL: nothing is */

    /* written by the ledger */
    bool granted;                  /* the only word that lets a call go upstream */
    uint64_t epoch;                /* of this gateway when it was granted: writ_ledger_may_send */
    enum writ_reason refused;      /* why the ledger turned it into a deny; NONE: the draft
                                      stands */
    enum writ_reason elsewhere;    /* why the record is not in the draft's boundary: it is sealed,
                                      or there is no room for it; NONE: it is there */
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
    const struct writ_sealed *content; /* the result, to be kept beside the record; NULL: nothing
                                          is */

    uint64_t outcome_leaf; /* written by the ledger */
    bool kept;             /* with code WRIT_E_IO: the ledger keeps it and writes it as soon as it
                              can */
    struct writ_outcome_texts texts; /* the ledger's, in the outcome */
};

/** WRIT_ENTRY_WAIT. The upstream has answered a granted call without ending it, or the caller makes
 * the call itself. Survives a restart. At `until_us` a call that still waits gets the outcome
 * `error` with error_type input_expired, task_expired, authorization_unused or
 * interrupted_execution_unknown. A call that waits to be bound is bound once, by a RUN. When it is
 * not bound in time, that proves nothing, and its claim stands. */
struct writ_entry_wait {
    /* of the decision, as granted; WRIT_E_INVALID: not in flight, or waits already (RUN: does not
     * wait to be bound, or no longer) */
    uint64_t leaf;
    enum writ_wait_kind kind;
    struct writ_digest name; /* made with writ_ledger_round or writ_ledger_task */
    int64_t until_us;        /* wall time */
};

#define WRIT_WAITING_KEYS 3 /* of its window and of those beside it, when none is stated */

/** WRIT_ENTRY_WAITING. Finds the call that waits under a name; a task also after its outcome, until
 * its time has passed. Equal calls wait under one name when their upstream gave no state: of those
 * of the run, one under a given key comes before any other, and the newest before an older one. */
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

/** The progress of a call that its caller makes itself. Zero: it does not continue. */
enum writ_call_stage {
    WRIT_CALL_OVER = 0, /* refused, or over, or made by the gateway and not by the caller */
    WRIT_CALL_BINDS,    /* it waits to be bound */
    WRIT_CALL_RUNS,     /* it was bound, and has no outcome */
};

/** WRIT_ENTRY_CALL. The submitter checks whose call it is. */
struct writ_entry_call {
    struct writ_view decision_id;
    bool wants_result; /* also the result that is kept for replay */

    /* written by the ledger */
    uint64_t leaf;
    struct writ_decision decision; /* as recorded; lives in the entry's arena */
    enum writ_call_stage stage;
    enum writ_reason unmade; /* OVER: why it was not made; NONE: it was made, or may have been */
    bool ended;              /* OVER: it has its outcome */
    struct writ_view error_type, told; /* of the outcome: the digest of the result that the caller
                                          got, as text; ptr NULL: none */
    struct writ_view result; /* kept, canonical, with that digest; ptr NULL: none is kept */
};

/** WRIT_ENTRY_SEAL. Waits until no call of the boundary is in flight; from its submission on the
 * boundary takes no further call. A boundary that is already sealed is WRIT_OK. After WRIT_E_IO the
 * boundary stays closed, and is sealed as soon as the seal can be written. */
struct writ_entry_seal {
    struct writ_view tenant, boundary_id;
    bool of_agent; /* only if that agent made its first call; else WRIT_E_ABSENT */
    struct writ_view agent_id;
    bool at_once; /* does not wait: while calls are in flight, WRIT_E_BUSY, and nothing is closed */

    uint64_t leaf; /* written by the ledger */
    uint64_t total;
    size_t in_flight;        /* WRIT_E_BUSY with `at_once`: the number of them; 0: the ledger is
                                closed */
    struct writ_view record; /* canonical, when the entry has an arena with room for it */
};

/** A copy of a review, in the arena of the entry. */
struct writ_review_told {
    struct writ_review review; /* with the votes so far */
    enum writ_review_state state;
    uint64_t n;                    /* number of its records */
    int64_t changed_us;            /* wall time of its last change of state */
    int64_t until_us;              /* wall time at which the state ends; 0: gone from memory */
    enum writ_review_vote elected; /* the candidate of the verdict; NO_VOTE: none */
    char digest[WRIT_DIGEST_TEXT]; /* of the terms: what votes name */
};

/** WRIT_ENTRY_REVIEW. The submitter checks who may do it; the ledger checks that voters are those
 * of the terms. */
struct writ_entry_review {
    enum writ_review_event event; /* VOTE, WITHDRAW, CANCEL, OUTDATE or DRIFT; with `finding` its
                                     verdict */
    struct writ_view id;
    struct writ_view tenant;   /* the review must be of it; ptr NULL: of any */
    struct writ_view agent_id; /* WITHDRAW: the agent that asked; ptr NULL: not compared */
    struct writ_view by;       /* VOTE: the voter */
    struct writ_view digest;   /* VOTE, and a verdict: of the terms, as text */
    enum writ_review_vote vote;
    struct writ_review_ranking ranking;    /* VOTE: n 0 without one */
    struct writ_view feedback, confidence; /* ptr NULL: none */
    struct writ_view signature;            /* of the voter's own; ptr NULL: none */
    struct writ_view via; /* VOTE: how it came, for the record; ptr NULL: by the API */
    bool first; /* VOTE: refused as VOTES_USED_UP unless it is the first one of the voter */
    struct writ_view crew_log; /* VOTE: digest of the log of the crew that voted; ptr NULL: none */
    const struct writ_sealed
        *content; /* VOTE: that log, to be kept beside the record; NULL: none */
    const struct writ_review_finding *finding; /* a verdict: the count of a plug-in; NULL: none */
    uint64_t counted; /* a verdict: the records of the review that it was counted from */

    /* written by the ledger */
    enum writ_reason refused; /* REVIEW_UNKNOWN, REVIEW_CLOSED, REVIEW_MISMATCH, VOTE_*; or NONE */
    struct writ_review_told told; /* unless REVIEW_UNKNOWN */
};

/** WRIT_ENTRY_REVIEW_GET. Also of a review that is over: its records stay. */
struct writ_entry_review_get {
    struct writ_view id;

    /* written by the ledger */
    struct writ_review_told told;
    struct writ_view target_state;   /* while it is open: the state that it is about; ptr NULL:
                                        unknown */
    struct writ_view state_before;   /* the state that the review before was about; ptr NULL:
                                        unknown */
    struct writ_view conditions;     /* while it is open: the conditions that need the approval; ptr
                                        NULL: none */
    struct writ_view candidates;     /* while it is open: what voters see of each; ptr NULL: none */
    struct writ_view decision;       /* record of the decision that opened it */
    const struct writ_view *records; /* its own, in their order */
    size_t records_n;
    struct writ_view arguments; /* canonical; ptr NULL: no longer kept */
};

/** What its voters are shown: the candidates, or the arguments of the one call. ptr NULL: no longer
 * kept. */
static inline struct writ_view
writ_entry_review_shown(const struct writ_entry_review_get *get)
{
    return get->candidates.ptr != NULL ? get->candidates : get->arguments;
}

/** WRIT_ENTRY_REVIEW_RULES. They end within a second. */
struct writ_entry_review_rules {
    const struct writ_view *rules; /* rules_digest of every approval that there is */
    size_t n;
};

/** A delegation of the configuration. */
struct writ_delegation_edge {
    struct writ_view from, to;
};

/** WRIT_ENTRY_DELEGATE. The submitter checks which reviews permit it, and gives the longest time of
 * these, and the key that the voter must sign with, if it has one; the ledger checks the rest:
 * form, time, signature, that the id is new, and that no cycle closes, whatever tools and times. */
struct writ_entry_delegate {
    struct writ_delegation delegation;
    int64_t longest_us;                       /* how far it may reach, by the clock of the ledger */
    const struct writ_delegation_edge *edges; /* of the configuration */
    size_t edges_n;

    /* written by the ledger */
    enum writ_reason refused; /* DELEGATION_*, DELEGATIONS_EXCEEDED; or NONE */
    char digest[WRIT_DIGEST_TEXT];
    int64_t at_us; /* when it was set */
    uint64_t leaf; /* of the fact */
};

/** WRIT_ENTRY_UNDELEGATE. */
struct writ_entry_undelegate {
    struct writ_view id;
    struct writ_view by;     /* its voter or its delegate, unless `any` */
    bool any;                /* `by` may revoke that of others */
    struct writ_view tenant; /* it must be of it, or of none; empty: of any */

    /* written by the ledger */
    enum writ_reason refused; /* DELEGATION_UNKNOWN, or NONE */
    struct writ_delegation delegation;
    uint64_t leaf; /* of the fact */
};

/** A delegation as it stands. */
struct writ_delegation_told {
    struct writ_delegation delegation;
    char digest[WRIT_DIGEST_TEXT];
    int64_t at_us;  /* when it was set */
    bool revocable; /* WRIT_ENTRY_UNDELEGATE of the same asker takes it back */
};

/** WRIT_ENTRY_DELEGATIONS: a page of them, in the order in which they were set. Revoked ones are
 * not told. */
struct writ_entry_delegations {
    struct writ_view by;     /* those of this voter or delegate; ptr NULL: all */
    struct writ_view tenant; /* of this tenant, or of none; empty: of any */
    int64_t after_us;        /* those that were set after it: `next_us` of the page before, or 0 */

    /* written by the ledger, in the arena of the entry */
    struct writ_view ledger; /* its name, for signatures */
    const struct writ_delegation_told *items;
    size_t n;
    int64_t next_us; /* 0: there are no more */
};

/** WRIT_ENTRY_REVIEW_AWAIT. */
struct writ_entry_review_await {
    struct writ_view id;            /* ptr NULL: the one with that name, at once: */
    const struct writ_digest *name; /* made with writ_ledger_review */
    int64_t until_us;               /* wall time; it may end up to a second later */

    enum writ_review_state state;  /* written by the ledger; ABSENT: there is none (any more) */
    enum writ_review_vote elected; /* its candidate that may run; NO_VOTE: none */
    struct writ_view found;        /* by its name: its id, in the arena of the entry */
};

/** WRIT_ENTRY_REVIEW_WATCH. Changes are counted by the place of their record in the log, so that a
 * count stays valid after a restart. The answer is the present state of a review: of two changes in
 * quick succession a watcher may see only the second.
 *
 * An answer has a portion, so that its memory does not depend on the number of reviews. Ask again
 * with `since` from `at` and `from` from `next`, whatever they are: the next portion comes at once
 * as long as there is more. */
struct writ_entry_review_watch {
    uint64_t since;   /* changes up to this one are known; 0: none is */
    uint64_t from;    /* of a list of all: where the portion begins; 0: the first */
    int64_t until_us; /* wall time; it may end up to a second later, with n 0 */
    size_t most;      /* reviews of a portion; 0: only their bytes are limited */

    /* written by the ledger */
    bool reset;    /* `since` is too old: a list of all that are open or approved, in all of its
                     portions, the oldest first */
    uint64_t at;   /* the next `since`; in all portions of a list it is that of the first */
    uint64_t next; /* the next `from`; 0: the list, if it is one, ends with this portion */
    bool more;     /* there are further portions */
    const struct writ_review_told *items;
    size_t n;
};

/** WRIT_ENTRY_FACT. Read with writ_reader_facts. */
struct writ_entry_fact {
    enum writ_fact_event event;
    struct writ_view data; /* a canonical object */

    uint64_t leaf; /* written by the ledger */
};

/** WRIT_ENTRY_ERASE. Destroys the keys and the ciphertext of kept contents, and what was derived
 * from them: results kept for replay, and arguments kept for voters. The members that are given
 * must all match; at least one is given. Records stay as they are, and so do all proofs.
 *
 * It is recorded (WRIT_FACT_CONTENTS_ERASED) and on disk when the entry ends with WRIT_OK; it ends
 * when no key that was destroyed remains in a file of the ledger, or when a reader in another
 * process prevents that for a few seconds (`held`): then the ledger tries again by itself. Large
 * ones take several groups; other entries are served between them. After a crash the next opening
 * continues it. WRIT_E_INVALID: no member is given, or no `by`. */
struct writ_entry_erase {
    struct writ_view decision_id; /* one call; ptr NULL: any */
    struct writ_view agent_id;    /* calls of this agent; ptr NULL: of any */
    struct writ_view tenant;      /* calls of this tenant; ptr NULL: of any */
    int64_t before_us;            /* calls that were decided before; 0: whenever */
    struct writ_view by;          /* who asked, for the record */

    /* written by the ledger */
    uint64_t contents; /* arguments and results that were destroyed, derived ones not counted */
    uint64_t reviews;  /* open reviews that it selects: their arguments stay until they end */
    bool held;         /* erased; a reader still holds old pages of PATH-wal */
    uint64_t leaf;     /* of the fact */
};

/** WRIT_ENTRY_REMOVE. Removes the records from before a time that an archive has and that the
 * ledger does not need; whole groups of them. What it needs: open runs, reviews and calls; claims
 * and budgets, for as long as they count; contents and results, for as long as they are kept;
 * facts.
 *
 * It is recorded (WRIT_FACT_ARCHIVED) when the entry ends with WRIT_OK, and the records are gone,
 * unless several gateways write the ledger: those may not remove records (disk/removal.h does, with
 * another role). A large removal takes many groups; other entries are served between them. After a
 * crash the next opening continues it. Without such records nothing is recorded, and `before` is as
 * it was. WRIT_E_INVALID: no time, or no `by`; WRIT_E_MISMATCH: the archive is one of another
 * ledger, and nothing is recorded. */
struct writ_entry_remove {
    int64_t before_us;       /* records of this time and later stay */
    uint64_t archived;       /* as many records the archive has */
    struct writ_digest root; /* of the tree over them */
    struct writ_view by;

    /* written by the ledger */
    uint64_t before;              /* the first record that stays */
    uint64_t removed;             /* by this entry */
    enum writ_remove_limit limit; /* why not all of them; NONE: all */
    int64_t limit_us;             /* since when */
    struct writ_view limit_name;  /* of the run or the review, in the entry's arena; or empty */
};

/** WRIT_ENTRY_SESSION_*. Not for the path of every call. */
struct writ_entry_session {
    struct writ_digest hash;      /* of the session id */
    struct writ_view value;       /* PUT: the bytes; GET: in the entry's arena */
    int64_t expires_us;           /* wall time; PUT sets it, GET returns it */
    struct writ_view tenant;      /* PUT: its boundary, or empty: not sealed as idle */
    struct writ_view boundary_id; /* before the session expires */
    bool renews;                  /* PUT: writes only a row that still exists */
};

/** WRIT_ENTRY_POOL_PUT. Insights are opaque here but for their tags: crew/pool.h has their meaning.
 * A put whose key the agent has used, for an insight that is still there, adds nothing. An insight
 * ends at `expires_us`. WRIT_E_LIMIT: the tenant has its insights or its bytes. */
struct writ_entry_pool_put {
    struct writ_view tenant, agent_id;
    struct writ_view key;          /* ptr NULL: none */
    struct writ_view bytes;        /* a canonical object */
    int64_t expires_us;            /* wall time; of an insight that was there before: its own */
    size_t entries_max, bytes_max; /* of the tenant */

    /* written by the ledger */
    bool added;
    uint64_t insight; /* its number: that of its record */
};

/** WRIT_ENTRY_POOL_REMOVE. WRIT_E_ABSENT: the tenant has no such insight, or it is another agent's.
 */
struct writ_entry_pool_remove {
    struct writ_view tenant;
    struct writ_view agent_id; /* who removes it */
    bool any_agent;            /* it may be another agent's */
    uint64_t insight;
};

/** An insight that the ledger keeps. */
struct writ_pool_insight {
    uint64_t number;
    struct writ_view agent_id, bytes;
    int64_t expires_us;
};

/** WRIT_ENTRY_POOL_READ. What is on disk, in the order in which it was put. */
struct writ_entry_pool_read {
    struct writ_view tenant;
    uint64_t since;          /* from this number on */
    struct writ_arena *into; /* memory of the answer, as the arena of the entry */

    /* written by the ledger */
    const struct writ_pool_insight *insights;
    size_t n;
    uint64_t seen; /* the next number after the last put of any tenant: `since` of a watch */
};

/** WRIT_ENTRY_POOL_WATCH. Ends with the first put of any tenant from number `since` on. */
struct writ_entry_pool_watch {
    uint64_t since;
    int64_t until_us; /* wall time; it may end up to a second later */
};

/**
 * One piece of work for the writer. The submitter owns it, and must not touch it until `done`.
 * Zero-initialise, set the members of the kind, submit.
 *
 * code, when `done` runs:
 *   WRIT_OK         the record is on disk; also WRIT_OK for a refused decision: read `granted`
 *   WRIT_E_INVALID  the draft is not a valid record, or the outcome's decision is not in flight
 *   WRIT_E_MISMATCH the outcome does not join its decision
 *   WRIT_E_ABSENT   SESSION_GET: no such session, or expired; SEAL: no record in that boundary;
 *                   WAITING: nothing waits under that name; REVIEW_GET: no such review;
 *                   CALL: no such decision; POOL_REMOVE: no such insight
 *   WRIT_E_LIMIT    a name, record, result or session is too long, or the table is full
 *   WRIT_E_NOMEM    memory or the arena is exhausted
 *   WRIT_E_BUSY     the ledger was closed first
 *   WRIT_E_IO       could not be written; nothing is granted Any code but WRIT_OK grants nothing.
 */
struct writ_entry {
    enum writ_entry_kind kind;
    enum writ_code code;
    void (*done)(struct writ_entry *entry); /* on the writer thread: must only post back */
    void *user;
    struct writ_arena *arena; /* memory of the ledger's answer; only the ledger uses it until
                                 `done` */
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
        struct writ_entry_delegate delegate;
        struct writ_entry_undelegate undelegate;
        struct writ_entry_delegations delegations;
        struct writ_entry_session session;
        struct writ_entry_fact fact;
        struct writ_entry_erase erase;
        struct writ_entry_remove remove;
        struct writ_entry_pool_put pool_put;
        struct writ_entry_pool_remove pool_remove;
        struct writ_entry_pool_read pool_read;
        struct writ_entry_pool_watch pool_watch;
    };
    struct writ_entry *next; /* the ledger's own */
};

/** Makes the digest that names a claim. WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_claim(struct writ_view tenant, struct writ_view agent_id,
    struct writ_view upstream, struct writ_view tool, struct writ_view idempotency_key,
    struct writ_digest *ret, struct writ_err *err);

/** Makes the name under which a call waits for input, from the state-free identity of the call and
 * the state that its upstream gave for the next round (ptr NULL: none). WRIT_E_CRYPTO.
 * Thread-safe. */
WRIT_RESULT writ_ledger_round(const struct writ_digest *call, struct writ_view request_state,
    struct writ_digest *ret, struct writ_err *err);

/** Makes the name of a review: the same call of the same agent in the same run, under the same key.
 *
 * @param boundary  ptr NULL: the run is a window of time, and a later window matches too
 * @param key       stated by the caller; ptr NULL: none
 *
 * WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_review(const struct writ_digest *call, struct writ_view boundary,
    struct writ_view key, struct writ_digest *ret, struct writ_err *err);

/** Makes the name under which an insight of an agent is found. WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_insight(struct writ_view tenant, struct writ_view agent_id,
    struct writ_view key, struct writ_digest *ret, struct writ_err *err);

/** Makes the name under which a task is found. WRIT_E_CRYPTO. Thread-safe. */
WRIT_RESULT writ_ledger_task(struct writ_view tenant, struct writ_view agent_id,
    struct writ_view upstream, struct writ_view task_id, struct writ_digest *ret,
    struct writ_err *err);

#endif
