/* reason.h - the reasons of refusals, as one table (reason.tbl.h).
 *
 * The name alone identifies a reason: in answers, records, logs and metrics. No other part of Writ
 * invents reason strings; a new reason is a new row, and docs/reasons.md shows it (a test compares
 * them). The zero value is not a reason and allows nothing. */
#ifndef WRIT_EVIDENCE_REASON_H
#define WRIT_EVIDENCE_REASON_H

#include "base/bytes.h"
#include "evidence/record/reason.tbl.h"

/** WRIT_REASON_EXPIRED and so on: one value per row, WRIT_REASON_NONE = 0. */
enum writ_reason {
    WRIT_REASON_NONE = 0, /* no reason was given: never an allow */
#define WRIT_REASON_ENUM(NAME, name, groups, sentence, hint) WRIT_REASON_##NAME,
    WRIT_REASONS(WRIT_REASON_ENUM)
#undef WRIT_REASON_ENUM
        WRIT_REASON_COUNT /* not a reason: one more than the last */
};

/** The checks that give a reason; a row may belong to several groups. */
enum writ_reason_group {
    WRIT_REASON_IN_BINDING = 1 << 0,    /* the binding check */
    WRIT_REASON_IN_CREDENTIAL = 1 << 1, /* verifying a credential */
    WRIT_REASON_IN_POLICY = 1 << 2,     /* deciding by the configuration */
    WRIT_REASON_IN_GATEWAY = 1 << 3,    /* everything around: framing, ledger, upstream */
    WRIT_REASON_IN_REVIEW = 1 << 4,     /* approval by a crew */
    WRIT_REASON_IN_FOREIGN = 1 << 5,    /* verifying a grant of the profile vaara-v0 */
    WRIT_REASON_IN_EVIDENCE = 1 << 6,   /* verifying receipts and bundles */
    WRIT_REASON_IN_RUN = 1 << 7,        /* what a record says about a run: it is about no call */
};

/** The name as it is written everywhere ("expired"); "none" for 0 and for a value out of range.
 * Static storage. */
struct writ_view writ_reason_name(enum writ_reason reason);

/** One sentence for a person, without any value of the call. Static storage. */
struct writ_view writ_reason_sentence(enum writ_reason reason);

/** An imperative: what to do next. May be empty. Static storage. */
struct writ_view writ_reason_hint(enum writ_reason reason);

/** The groups it belongs to: a set of enum writ_reason_group, 0 for WRIT_REASON_NONE. */
unsigned writ_reason_groups(enum writ_reason reason);

/** Whether a record with that reason is about no call: it says something about its run. */
bool writ_reason_is_of_run(struct writ_view name);

/** The word for people and other systems about a record with that member `decision`: the same, but
 * for one that is about no call (writ_reason_is_of_run) the reason, because it is neither allowed
 * nor refused. One of the arguments. */
struct writ_view writ_reason_verdict(struct writ_view decision, struct writ_view reason);

/** The reason of that name, or WRIT_REASON_NONE for an unknown name. */
enum writ_reason writ_reason_find(struct writ_view name);

#endif
