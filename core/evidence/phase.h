/* phase.h - what a decision is good for at a time, apart from whether the set it is in is whole
 * (contract 5, "Phase").
 *
 * A record stays auditable after it stops being spendable. For a time t a decision has one phase;
 * and for the time in which it could be spent, writ_completeness_until says whether the held set
 * was whole then. Pure: what the verifier knows from elsewhere, he says. */
#ifndef WRIT_EVIDENCE_PHASE_H
#define WRIT_EVIDENCE_PHASE_H

#include "evidence/decision.h"
#include "evidence/outcome.h"

/** Zero is a phase in which nothing can be spent. */
enum writ_phase {
    WRIT_PHASE_REFUSED = 0, /* deny, revise, or no verdict at all */
    WRIT_PHASE_UNBORN,      /* issued after t, or its time cannot be read */
    WRIT_PHASE_FRESH,       /* allowed, within its lifetime, not superseded, not consumed */
    WRIT_PHASE_PENDING,     /* waiting for approval */
    WRIT_PHASE_RESUMED,     /* an approval redeemed through its continuation_id */
    WRIT_PHASE_CONSUMED,    /* an outcome exists */
    WRIT_PHASE_STALE,       /* its target state or policy changed, and nothing replaced it */
    WRIT_PHASE_REVALIDATED, /* replaced by a decision that names it */
    WRIT_PHASE_EXPIRED,     /* auditable only */
};

/** What is known beside the decision. Zeroed: nothing. */
struct writ_phase_facts {
    const struct writ_outcome *outcome;    /* of this decision; NULL: none is held */
    const struct writ_decision *successor; /* whose `supersedes` names it; NULL: none is held */
    int64_t changed_us; /* when its target state or policy was first seen changed; 0: never */
};

/** "fresh", ... Static storage. */
struct writ_view writ_phase_name(enum writ_phase phase);

/** The phase at `t_us`. Records of a later time count as not there yet; an outcome or successor
 * whose own time cannot be read counts from the beginning (it may not make a decision fresher). */
enum writ_phase writ_phase_at(
    const struct writ_decision *decision, const struct writ_phase_facts *facts, int64_t t_us);

/** When an allow could be spent: from issued_at to the first of outcome, successor, change and
 * expires_at; INT64_MAX when none of them ends it. False for what could never be spent. */
bool writ_phase_spendable(const struct writ_decision *decision,
    const struct writ_phase_facts *facts, int64_t *ret_from_us, int64_t *ret_until_us);

/** What became of a refusal (contract 4). */
enum writ_phase_enforcement {
    WRIT_PHASE_UNPROVEN = 0, /* a deny or revise with no outcome that says that it did not run */
    WRIT_PHASE_ENFORCED,     /* with an outcome that says so */
    WRIT_PHASE_VIOLATION,    /* with an outcome that says that it ran, or may have */
    WRIT_PHASE_SHADOWED,     /* the same, of a rule that only watches (extensions.writ.shadow) */
    WRIT_PHASE_NO_REFUSAL,   /* any other verdict */
};

/** "unproven", "enforced", ... Static storage. */
struct writ_view writ_phase_enforcement_name(enum writ_phase_enforcement enforcement);

/** Judges a refusal by its outcome (NULL: none is held). `shadow` is the flag of the decision's
 * extension. */
enum writ_phase_enforcement writ_phase_enforced(
    const struct writ_decision *decision, const struct writ_outcome *outcome, bool shadow);

#endif
