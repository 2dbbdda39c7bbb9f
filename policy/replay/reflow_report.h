/* reflow_report.h - what can contradict the records of a run, and the counts of what was
 * recomputed. */
#ifndef WRIT_POLICY_REFLOW_REPORT_H
#define WRIT_POLICY_REFLOW_REPORT_H

#include "policy/replay/reflow.tbl.h"

#include <stdint.h>

#define WRIT_REFLOW_LAG_US    INT64_C(10000000)
#define WRIT_REFLOW_RUNS_MAX  65536
#define WRIT_REFLOW_CALLS_MAX 1000000

enum writ_reflow_kind {
#define WRIT_REFLOW_KIND(NAME, word, is_mismatch, sentence) WRIT_REFLOW_##NAME,
    WRIT_REFLOW_KINDS(WRIT_REFLOW_KIND)
#undef WRIT_REFLOW_KIND
};
#define WRIT_REFLOW_KINDS_N (WRIT_REFLOW_VERDICT + 1)

/** What was recomputed, and what was not. */
struct writ_reflow_report {
    uint64_t runs;      /* with a decision that states its run */
    uint64_t decisions; /* that state their run */
    uint64_t sources;   /* places of values that were looked for in the records */
    uint64_t verdicts;  /* of rules about the run */
    uint64_t behind;    /* decisions that did not count some record of their last seconds */
    uint64_t operators; /* values of a list of the policy: only the value itself can show that */
    uint64_t unjudged;  /* decisions whose verdict was not recomputed: no configuration of that
                         * digest, an argument that several constraints name, an unknown state */
    uint64_t skipped;   /* decisions of a run behind INCOMPLETE, KEY or LIMIT */
    uint64_t open;      /* calls that were let through, without an outcome */
    uint64_t found[WRIT_REFLOW_KINDS_N]; /* findings */
};

#endif
