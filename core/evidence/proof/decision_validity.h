/* decision_validity.h - what a decision is good for at a time, apart from whether the set it is in
 * is whole (contract 5, "Phase").
 *
 * A record stays auditable after it stops being spendable. For a time t a decision has one phase;
 * and for the time in which it could be spent, writ_completeness_until says whether the held set
 * was whole then. Pure: what the verifier knows from elsewhere, he says. */
#ifndef WRIT_EVIDENCE_DECISION_VALIDITY_H
#define WRIT_EVIDENCE_DECISION_VALIDITY_H

#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"

/** Zero is a phase in which nothing can be spent. */
enum writ_decision_validity {
    WRIT_DECISION_VALIDITY_REFUSED = 0, /* deny, revise, or no verdict at all */
    WRIT_DECISION_VALIDITY_UNBORN,      /* issued after t, or its time cannot be read */
    WRIT_DECISION_VALIDITY_FRESH,   /* allowed, within its lifetime, not superseded, not consumed */
    WRIT_DECISION_VALIDITY_PENDING, /* waiting for approval */
    WRIT_DECISION_VALIDITY_RESUMED, /* an approval redeemed through its continuation_id */
    WRIT_DECISION_VALIDITY_CONSUMED, /* an outcome exists */
    WRIT_DECISION_VALIDITY_STALE, /* its target state or policy changed, and nothing replaced it */
    WRIT_DECISION_VALIDITY_REVALIDATED, /* replaced by a decision that names it */
    WRIT_DECISION_VALIDITY_EXPIRED,     /* auditable only */
};

/** What is known beside the decision. Zeroed: nothing. */
struct writ_decision_validity_facts {
    const struct writ_outcome *outcome;    /* of this decision; NULL: none is held */
    const struct writ_decision *successor; /* whose `supersedes` names it; NULL: none is held */
    int64_t changed_us; /* when its target state or policy was first seen changed; 0: never */
};

/** "fresh", ... Static storage. */
struct writ_view writ_decision_validity_name(enum writ_decision_validity phase);

/** The phase at `t_us`. Records of a later time count as not there yet; an outcome or successor
 * whose own time cannot be read counts from the beginning (it may not make a decision fresher). */
enum writ_decision_validity writ_decision_validity_at(const struct writ_decision *decision,
    const struct writ_decision_validity_facts *facts, int64_t t_us);

/** When an allow could be spent: from issued_at to the first of outcome, successor, change and
 * expires_at; INT64_MAX when none of them ends it. False for what could never be spent. */
bool writ_decision_validity_spendable(const struct writ_decision *decision,
    const struct writ_decision_validity_facts *facts, int64_t *ret_from_us, int64_t *ret_until_us);

/** What became of a refusal (contract 4). */
enum writ_decision_validity_enforcement {
    WRIT_DECISION_VALIDITY_UNPROVEN =
        0, /* a deny or revise with no outcome that says that it did not run */
    WRIT_DECISION_VALIDITY_ENFORCED,   /* with an outcome that says so */
    WRIT_DECISION_VALIDITY_VIOLATION,  /* with an outcome that says that it ran, or may have */
    WRIT_DECISION_VALIDITY_SHADOWED,   /* the same, of a rule that only watches
                                          (extensions.writ.shadow) */
    WRIT_DECISION_VALIDITY_NO_REFUSAL, /* any other verdict */
};

/** "unproven", "enforced", ... Static storage. */
struct writ_view writ_decision_validity_enforcement_name(
    enum writ_decision_validity_enforcement enforcement);

/** Judges a refusal by its outcome (NULL: none is held). `shadow` is the flag of the decision's
 * extension. */
enum writ_decision_validity_enforcement writ_decision_validity_enforced(
    const struct writ_decision *decision, const struct writ_outcome *outcome, bool shadow);

#endif
