/* flow.h - judges a call by what its run has seen: the task and its tools, where each argument came
 * from (the op `from`), and `flows`. Pure and total: (policy, state of the run, call) goes in.
 *
 * A value is found when its words stand in one piece in a permitted source, each in the form of
 * evidence/flow/token.h. Every text and number in an argument is a value; true, false, null and the
 * empty text come from nowhere and need no source.
 *
 * What cannot be determined is a refusal (run_state_unknown). */
#ifndef WRIT_POLICY_DECIDE_FLOW_H
#define WRIT_POLICY_DECIDE_FLOW_H

#include "evidence/flow/run.h"
#include "policy/decide/policy.h"
#include "policy/model/flow.h"

#define WRIT_FLOW_WORDS_MAX  512   /* words of one value that is searched for */
#define WRIT_FLOW_VALUES_MAX 256   /* values of one call that are searched for */
#define WRIT_TASK_MAX        65536 /* bytes of the text of a task */
#define WRIT_TASK_TOOLS_MAX  256

/** The statement of a task with this call. */
struct writ_task_stated {
    struct writ_view text;         /* ptr NULL: none */
    const struct writ_json *tools; /* an array of "upstream/tool" or patterns (policy/model/glob.h);
                                      NULL: it names none */
};

/** A call that policy allows, or the statement of a task without a call. All borrowed. */
struct writ_flow_call {
    const struct writ_policy_call *call;
    const struct writ_tool_rule *rule; /* NULL: there is no call */
    const struct writ_task_stated *task;
    const unsigned *hints; /* of the tool's accepted definition; NULL: unknown */
    int64_t now_us;
};

struct writ_flow_verdict {
    enum writ_reason reason;                         /* NONE: nothing against it */
    const struct writ_approval *approval;            /* what it needs first; NULL: nothing */
    struct writ_view argument, constraint, accepted; /* as in struct writ_verdict */
    struct writ_view rule;                           /* of `flows`; or empty */
    struct writ_view conditions; /* for voters: the values from elsewhere and the rules that apply,
                                    as writ_conditions_make has them; in the arena */
    struct writ_view record;     /* `flow` of the decision, canonical, in the arena */
    struct writ_views labels;    /* that its result brings into the run, in the arena */
};

/** Judges. `ret` is always written completely; `record` may be empty after RUN_STATE_UNKNOWN. */
void writ_flow_judge(const struct writ_config *config, const struct writ_run *run,
    const struct writ_mark_key *key, const struct writ_flow_call *call, struct writ_arena *arena,
    struct writ_flow_verdict *ret);

/** Whether the caller may state tasks. */
bool writ_flow_may_state(const struct writ_config *config, const struct writ_agent *agent);

#endif
