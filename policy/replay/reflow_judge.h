/* reflow_judge.h - one decision against the state of its run. */
#ifndef WRIT_POLICY_REFLOW_JUDGE_H
#define WRIT_POLICY_REFLOW_JUDGE_H

#include "evidence/flow/run.h"
#include "policy/model/flow.h"
#include "policy/model/rule.h"
#include "policy/replay/past.h"
#include "policy/replay/reflow_report.h"

/** A decision and its run. All borrowed. */
struct writ_reflow_judged {
    const struct writ_past *past;
    const struct writ_json *flow;      /* extensions.writ.flow */
    const struct writ_run *full;       /* all records before */
    const struct writ_run *must;       /* those that it must have counted */
    const struct writ_config *config;  /* of its policy_digest; NULL: not known */
    const struct writ_tool_rule *rule; /* of its call; NULL: none, or not known */
    struct writ_arena *arena;
    struct writ_reflow_report *report; /* counts are added; not those of findings */
    bool behind;                       /* out: it did not count some record */
    void (*found)(void *ctx, enum writ_reflow_kind kind, struct writ_view argument);
    void *ctx;
};

/** Looks for contradictions, and tells each. WRIT_E_NOMEM, WRIT_E_PARSE. */
WRIT_RESULT writ_reflow_judge(struct writ_reflow_judged *judged, struct writ_err *err);

#endif
