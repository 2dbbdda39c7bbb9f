/* decision_validity.h - the phase of a decision at a time, apart from the completeness of its set
 * (docs/evidence.md, "What a reader checks").
 *
 * A record stays auditable after it stops being spendable. At a time t a decision has one phase;
 * writ_completeness_until judges the set over the time in which it could be spent. Pure: the caller
 * supplies the facts. */
#ifndef WRIT_EVIDENCE_DECISION_VALIDITY_H
#define WRIT_EVIDENCE_DECISION_VALIDITY_H

#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"

/** In the phase zero nothing can be spent. */
enum writ_decision_validity {
    WRIT_DECISION_VALIDITY_REFUSED = 0, /* deny, revise, or without a verdict */
    WRIT_DECISION_VALIDITY_UNBORN,      /* issued after t, or its time cannot be read */
    WRIT_DECISION_VALIDITY_FRESH,   /* allowed, within its lifetime, not superseded, not consumed */
    WRIT_DECISION_VALIDITY_PENDING, /* waiting for approval */
    WRIT_DECISION_VALIDITY_RESUMED, /* an approval redeemed through its continuation_id */
    WRIT_DECISION_VALIDITY_CONSUMED, /* an outcome exists */
    WRIT_DECISION_VALIDITY_STALE,    /* its target state or policy changed, and no decision replaced
                                      * it */
    WRIT_DECISION_VALIDITY_REVALIDATED, /* another decision replaced it by name */
    WRIT_DECISION_VALIDITY_EXPIRED,     /* auditable only */
};

/** The known facts beside the decision. Zeroed: none. */
struct writ_decision_validity_facts {
    const struct writ_outcome *outcome;    /* of this decision; NULL: none in the set */
    const struct writ_decision *successor; /* its `supersedes` names this one; NULL: none in the
                                            * set */
    int64_t changed_us; /* when its target state or policy was first observed changed; 0: never */
};

/** "fresh", ... Static storage. */
struct writ_view writ_decision_validity_name(enum writ_decision_validity phase);

/** The phase at `t_us`. Later records do not count; an outcome or successor with an unreadable time
 * counts from the beginning (it must not make a decision fresher). */
enum writ_decision_validity writ_decision_validity_at(const struct writ_decision *decision,
    const struct writ_decision_validity_facts *facts, int64_t t_us);

/** When an allow could be spent: from issued_at to the first of outcome, successor, change and
 * expires_at; INT64_MAX when none of them ends it. False for a decision that could never be
 * spent. */
bool writ_decision_validity_spendable(const struct writ_decision *decision,
    const struct writ_decision_validity_facts *facts, int64_t *ret_from_us, int64_t *ret_until_us);

/** How a refusal was enforced. */
enum writ_decision_validity_enforcement {
    WRIT_DECISION_VALIDITY_UNPROVEN =
        0, /* a deny or revise without an outcome that says that it did not run */
    WRIT_DECISION_VALIDITY_ENFORCED,   /* with an outcome that proves it */
    WRIT_DECISION_VALIDITY_VIOLATION,  /* with an outcome that says that it ran, or may have run */
    WRIT_DECISION_VALIDITY_SHADOWED,   /* the same, under a rule that only observes
                                        * (extensions.writ.shadow) */
    WRIT_DECISION_VALIDITY_NO_REFUSAL, /* any other verdict */
};

/** "unproven", "enforced", ... Static storage. */
struct writ_view writ_decision_validity_enforcement_name(
    enum writ_decision_validity_enforcement enforcement);

/** Judges a refusal by its outcome (NULL: none in the set). `shadow` is the flag of the decision's
 * extension. */
enum writ_decision_validity_enforcement writ_decision_validity_enforced(
    const struct writ_decision *decision, const struct writ_outcome *outcome, bool shadow);

#endif
