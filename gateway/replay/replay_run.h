/* replay_run.h - one run of `writ policy replay`: past calls in the order of time, decided again by
 * one configuration or by two, with their budgets, counted and grouped. Memory does not grow with
 * the number of calls, but for the counters of budgets, of which those of past windows are dropped.
 *
 * Budgets are booked with the store's own arithmetic. A call draws when it is allowed and its
 * record does not say that something else refused it; one that is known not to have run gives its
 * amounts back. A call whose arguments are not kept counts with the charges of its record. */
#ifndef WRIT_GATEWAY_REPLAY_RUN_H
#define WRIT_GATEWAY_REPLAY_RUN_H

#include "policy/replay/rejudge_groups.h"

struct writ_budgets;

#define WRIT_REPLAY_RUN_POLICIES_MAX 16 /* digests of recorded policies */

/** Why a call of the range is not decided again. */
enum writ_replay_run_gap {
    WRIT_REPLAY_RUN_NOT_KEPT = 0,
    WRIT_REPLAY_RUN_ERASED, /* by an erase, or by their time */
    WRIT_REPLAY_RUN_LOCKED, /* their key is not in the key directory */
    WRIT_REPLAY_RUN_GAPS,   /* how many */
};

/** One record of a decision. All borrowed. */
struct writ_replay_run_record {
    const struct writ_decision *decision;
    const struct writ_extension *extension;
    const struct writ_json *arguments; /* NULL: not kept */
    struct writ_view canonical;        /* of the arguments */
    enum writ_replay_run_gap gap;      /* without arguments: why */
    bool in_part;                      /* secret members are left out */
    bool nothing_ran;                  /* its outcome proves that it did not run */
};

struct writ_replay_run_side {
    struct writ_rejudge_side rejudge;
    struct writ_budgets *budgets; /* its own; NULL: the records decide */
};

/** Zeroed but for the configurations and `since_us`. */
struct writ_replay_run {
    struct writ_replay_run_side now, before; /* before.rejudge.config NULL: the records */
    int64_t since_us;                        /* 0: all; earlier records only fill the budgets */
    struct writ_rejudge_groups *groups;
    struct writ_arena *arena; /* of one call */
    uint64_t decisions;       /* of the range */
    uint64_t continued;       /* of these: later ones about the same call */
    uint64_t decided;         /* calls that were decided again */
    uint64_t in_part;         /* of these: without secret members */
    uint64_t apart;           /* of these: refused by something else, and not compared */
    uint64_t shadowed;        /* of these: allowed now by shadow mode alone */
    uint64_t gaps[WRIT_REPLAY_RUN_GAPS];
    struct writ_digest policies[WRIT_REPLAY_RUN_POLICIES_MAX]; /* of the records */
    size_t policies_n;
    bool more_policies;
};

/** Makes groups, arena and counters. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_replay_run_begin(
    struct writ_replay_run *run, bool keeps_arguments, struct writ_err *err);
void writ_replay_run_wipe(struct writ_replay_run *run);

/** The time from which records are needed: `since_us`, or the begin of the window of a budget that
 * it is in. */
int64_t writ_replay_run_from(const struct writ_replay_run *run);

/** Takes the next record; `issued_at` must not decrease. WRIT_E_MISMATCH (writ_past_of),
 * WRIT_E_LIMIT (more counters of budgets than the memory has room for), WRIT_E_NOMEM. */
WRIT_RESULT writ_replay_run_take(
    struct writ_replay_run *run, const struct writ_replay_run_record *record, struct writ_err *err);

/** Calls of the range that nothing was said about: without arguments, or without a certain answer.
 */
uint64_t writ_replay_run_undecided(const struct writ_replay_run *run);

#endif
