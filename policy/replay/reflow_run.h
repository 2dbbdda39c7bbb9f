/* reflow_run.h - the runs and calls of a bundle while it is read.
 *
 * A run has two states: `full` of all its records so far, and `must` of those that its next
 * decision must have counted. A record waits until it is old enough for `must`. */
#ifndef WRIT_POLICY_REFLOW_RUN_H
#define WRIT_POLICY_REFLOW_RUN_H

#include "evidence/flow/run.h"
#include "policy/model/rule.h"

#define WRIT_REFLOW_RUN_BUCKETS 65536

struct writ_reflow_run_waiting;

/** What the calls of a run drew from one counter. */
struct writ_reflow_charge {
    struct writ_reflow_charge *next;
    int64_t n;
    size_t len;
    char text[]; /* of the charge */
};

struct writ_reflow_run {
    struct writ_reflow_run *next; /* in its bucket */
    struct writ_run *full, *must;
    struct writ_reflow_run_waiting *first, **last;
    struct writ_reflow_charge *charges;
    char key[WRIT_MARK_KEY_ID + 1];
    bool has_key, has_flow;
    bool is_shut; /* nothing behind this point is judged: what a record brought is not known */
    int64_t next_seq;
    struct writ_view tenant, name; /* in `text` */
    char text[];
};

struct writ_reflow_call {
    struct writ_reflow_call *next; /* in its bucket */
    struct writ_reflow_run *run;
    const struct writ_tool_rule *rule; /* NULL: not known */
    struct writ_reflow_charge *charge; /* that it drew; NULL: none */
    bool is_open;                      /* it was let through, and has no outcome */
    struct writ_view id;               /* in `text` */
    char text[];
};

/** Zero-initialise. Wipe it. */
struct writ_reflow_runs {
    struct writ_reflow_run *runs[WRIT_REFLOW_RUN_BUCKETS];
    struct writ_reflow_call *calls[WRIT_REFLOW_RUN_BUCKETS];
    size_t runs_n, calls_n;
};

void writ_reflow_run_wipe_all(struct writ_reflow_runs *runs);

/** The run of that name of a tenant, also a new one. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reflow_run_of(struct writ_reflow_runs *runs, struct writ_view tenant,
    struct writ_view name, struct writ_reflow_run **ret, struct writ_err *err);

/** A new call. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reflow_run_add_call(struct writ_reflow_runs *runs, struct writ_reflow_run *run,
    struct writ_view id, struct writ_reflow_call **ret, struct writ_err *err);

/** The newest call of that id, or NULL. WRIT_E_CRYPTO. */
WRIT_RESULT writ_reflow_run_call(struct writ_reflow_runs *runs, struct writ_view id,
    struct writ_reflow_call **ret, struct writ_err *err);

/** Adds a record to `full`, and to `must` once it is old enough. WRIT_E_NOMEM; WRIT_E_LIMIT,
 * WRIT_E_PARSE: the state of the run does not hold it. */
WRIT_RESULT writ_reflow_run_add(struct writ_reflow_run *run, bool is_outcome,
    struct writ_view record, int64_t at_us, struct writ_err *err);

/** Adds to `must` what a decision of that time must have counted. As writ_reflow_run_add. */
WRIT_RESULT writ_reflow_run_catch_up(
    struct writ_reflow_run *run, int64_t at_us, struct writ_err *err);

/** Counts a charge. WRIT_E_NOMEM. */
WRIT_RESULT writ_reflow_run_charge(struct writ_reflow_run *run, struct writ_view text,
    struct writ_reflow_charge **ret, struct writ_err *err);

#endif
