/* rejudge.h - decides a past call again by a configuration, with the gateway's own code, and
 * compares two verdicts about one call.
 *
 * Decided are: the caller, the rule, constraints, scope and target, OAuth scopes, amounts, and
 * whether the call needs an approval. Not known are the state of the target, the definition of the
 * tool and duplicates; they change nothing here. The rest of budgets is the caller's to book: a
 * verdict has the reservations.
 *
 * A caller has the role, tenant and scopes of its entry in the configuration. One whom only the
 * tokens of an issuer can name has those of the record, and the OAuth scopes that its rule asks
 * for, unless it was refused for want of them: records do not have scopes. One whom the
 * configuration does not know is refused.
 *
 * Pure; safe from any thread. Results live in the arena, the configuration and the call. */
#ifndef WRIT_POLICY_REJUDGE_H
#define WRIT_POLICY_REJUDGE_H

#include "policy/decide/policy.h"
#include "policy/replay/change.tbl.h"
#include "policy/replay/past.h"

/** A configuration that decides, and the names that its upstreams had in the records. */
struct writ_rejudge_side {
    const struct writ_config *config;
    const struct writ_pair *renamed; /* name: in the records; value: in the configuration */
    size_t renamed_n;
};

/** A past call with its arguments. */
struct writ_rejudge_call {
    const struct writ_past *past;
    const struct writ_json *arguments;
    bool in_part; /* secret members were not kept */
};

/** A verdict about a past call. */
struct writ_rejudge_verdict {
    enum writ_effect effect;
    enum writ_reason reason; /* NONE for an allowed call */
    struct writ_view argument, constraint;
    struct writ_verdict policy; /* of the configuration */
    struct writ_view upstream;  /* by the configuration's name */
    bool shadowed;              /* allowed by shadow mode alone */
    bool annotated;             /* a review depends on the annotations of the tool */
    bool in_part;               /* members that were not kept could change it */
};

/** Decides. Total, as writ_policy_decide: without memory it is a refusal (policy_error). */
void writ_rejudge_decide(const struct writ_rejudge_side *side, const struct writ_rejudge_call *call,
    struct writ_arena *arena, struct writ_rejudge_verdict *ret);

/** Turns it into the refusal of a budget that is used up; in shadow mode the call is made. */
void writ_rejudge_exceed(size_t reservation, struct writ_rejudge_verdict *verdict);

/** Whether a call draws on the budgets of its verdict, when its record says `past`: it is made now,
 * or it was approved and needs an approval now too. */
bool writ_rejudge_draws(const struct writ_past *past, const struct writ_rejudge_verdict *verdict);

/** The verdict that a record states. */
void writ_rejudge_recorded(const struct writ_past *past, struct writ_rejudge_verdict *ret);

enum writ_rejudge_change {
    WRIT_REJUDGE_SAME = 0,
#define WRIT_REJUDGE_CHANGE(NAME, name, title) WRIT_REJUDGE_##NAME,
    WRIT_REJUDGE_CHANGES(WRIT_REJUDGE_CHANGE)
#undef WRIT_REJUDGE_CHANGE
        WRIT_REJUDGE_UNKNOWN, /* secret members or annotations decide */
};
#define WRIT_REJUDGE_CHANGES_N WRIT_REJUDGE_UNKNOWN /* one more than the last change */

/** Compares what becomes of the call, whatever the reasons. */
enum writ_rejudge_change writ_rejudge_compare(
    const struct writ_rejudge_verdict *before, const struct writ_rejudge_verdict *after);

/** "refused", and "newly refused"; empty for SAME and UNKNOWN. Static storage. */
struct writ_view writ_rejudge_change_name(enum writ_rejudge_change change);
struct writ_view writ_rejudge_change_title(enum writ_rejudge_change change);

#endif
