/* flow_rules.h - whether a rule of `flows` applies to a call, by the state of its run and the marks
 * of its arguments alone. So it answers the same before the call, and about its records later. */
#ifndef WRIT_POLICY_DECIDE_FLOW_RULES_H
#define WRIT_POLICY_DECIDE_FLOW_RULES_H

#include "evidence/flow/run.h"
#include "evidence/json/digest.h"
#include "policy/model/flow.h"

#define WRIT_FLOW_RULES_NAME_MAX 1024 /* "upstream/tool" */

/** A call, as rules about its run see it. All borrowed. */
struct writ_flow_rules_asked {
    const struct writ_run *run;
    struct writ_view name;           /* "upstream/tool" */
    const struct writ_views *labels; /* that the run had; NULL: those of `run` */
    int64_t now_us;
    struct writ_arena *arena;
    /* Appends the marks of an argument of the call as base64url; false: it has no such value. */
    bool (*marks)(void *ctx, struct writ_view argument, struct writ_buf *ret);
    void *ctx;
};

/** Whether the rule applies: it refuses the call, or asks for its approval. Never for `at_most`,
 * which the ledger counts. */
bool writ_flow_rules_apply(
    const struct writ_flow_rules_asked *asked, const struct writ_flow_rule *flow);

/** Whether the rule is about the tool. */
bool writ_flow_rules_is_sink(
    const struct writ_flow_rule *flow, struct writ_view upstream, struct writ_view tool);

/** The key of the counter of `at_most` in a run. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_flow_rules_counter(const struct writ_flow_rule *flow, struct writ_view tenant,
    struct writ_view run, struct writ_digest *ret);

/** Whether what a task names permits the tool: the same name, or a pattern that matches it. One
 * that cannot be evaluated permits nothing. */
bool writ_flow_rules_name(struct writ_view granted, struct writ_view tool);

/** The same for a list of such names; NULL: the task names none, and permits every tool. */
bool writ_flow_rules_task(const struct writ_json *granted, struct writ_view tool);

/** Whether one of the patterns matches. One that cannot be evaluated matches: the rule applies. */
bool writ_flow_rules_match(const struct writ_views *patterns, struct writ_view name);

/** "upstream/tool" in the buffer; empty when it is too long for it. */
struct writ_view writ_flow_rules_name_of(
    struct writ_view upstream, struct writ_view tool, struct writ_buf *room);

/** "account" is "/account". */
struct writ_view writ_flow_rules_pointer(struct writ_view argument, struct writ_arena *arena);

#endif
