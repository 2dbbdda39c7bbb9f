/* reflow.h - recomputes what the decisions of runs say about their runs, from the records alone:
 * the labels of the run, where each judged argument came from, and, with the configuration whose
 * policy_digest a decision names, the verdict of `from`, `flows` and `tasks`. No value and no key
 * is needed: marks are compared as they are.
 *
 * Records come in the order of the log. The state of a run is made by the gateway's own code
 * (evidence/flow/run.h). Calls of one run at the same time may be judged before the records of each
 * other are on disk, so a decision must have counted all records up to WRIT_REFLOW_LAG_US before
 * its time, and may have counted those since. What needs that freedom is counted as `behind`.
 *
 * Memory grows with the number of runs and calls, at most WRIT_REFLOW_RUNS_MAX and
 * WRIT_REFLOW_CALLS_MAX. One thread; no I/O. */
#ifndef WRIT_POLICY_REFLOW_H
#define WRIT_POLICY_REFLOW_H

#include "base/bytes.h"
#include "policy/model/config.h"
#include "policy/replay/reflow_report.h"

/** The word and the sentence of a kind. Static storage. */
struct writ_view writ_reflow_kind_word(enum writ_reflow_kind kind);
const char *writ_reflow_kind_sentence(enum writ_reflow_kind kind);

/** Something that does not follow from the records. Views live for the call. */
struct writ_reflow_finding {
    enum writ_reflow_kind kind;
    struct writ_view tenant, run, decision_id;
    struct writ_view argument; /* FOUND, LEFT_OUT; else empty */
};

typedef void (*writ_reflow_fn)(void *ctx, const struct writ_reflow_finding *finding);

struct writ_reflow;

/** `config` is borrowed; NULL: verdicts are not recomputed. Free with writ_reflow_free.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reflow_new(const struct writ_config *config, writ_reflow_fn fn, void *ctx,
    struct writ_reflow **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_reflow_free(struct writ_reflow *reflow);

/** Takes the next record of the log, a valid decision or outcome in canonical form. WRIT_E_LIMIT,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO; WRIT_E_PARSE, WRIT_E_MISMATCH for one that is not valid. */
WRIT_RESULT writ_reflow_decision(
    struct writ_reflow *reflow, struct writ_view record, struct writ_err *err);
WRIT_RESULT writ_reflow_outcome(
    struct writ_reflow *reflow, struct writ_view record, struct writ_err *err);

void writ_reflow_report(const struct writ_reflow *reflow, struct writ_reflow_report *ret);

#endif
