/* past.h - what the record of a decision says about a past call: who called which tool, and what
 * became of the call. Pure; safe from any thread. */
#ifndef WRIT_POLICY_PAST_H
#define WRIT_POLICY_PAST_H

#include "evidence/record/decision.h"
#include "evidence/record/extension.h"
#include "evidence/record/reason.h"
#include "policy/model/config.h"

/** What became of a call. */
enum writ_effect {
    WRIT_EFFECT_REFUSED = 0,
    WRIT_EFFECT_REVIEW,  /* it waits for an approval */
    WRIT_EFFECT_ALLOWED, /* it may run; also in shadow mode, whatever the verdict says */
};

/** A past call. Views are borrowed from the record. */
struct writ_past {
    struct writ_view decision_id;
    int64_t issued_us;
    struct writ_agent agent; /* without OAuth scopes: records do not have them */
    struct writ_view upstream, tool;
    enum writ_effect effect;
    enum writ_reason reason;               /* NONE for an allowed call */
    struct writ_view argument, constraint; /* at fault; may be empty */
    struct writ_view policy_digest;
    bool shadow;    /* the call was made against the verdict */
    bool apart;     /* refused for a cause outside of the configuration: a duplicate, a stop, the
                     * state of the target, a full gateway */
    bool continues; /* a later decision about the same call: a round, or the return to a review */
    bool approved;  /* such a return, which redeemed the approval */
};

/**
 * Reads the facts of a decision.
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  it lacks an id, a time, an agent, a tool or a verdict, as no decision of
 *                          a gateway does
 */
WRIT_RESULT writ_past_of(const struct writ_decision *decision,
    const struct writ_extension *extension, struct writ_past *ret, struct writ_err *err);

/** "refused", "review", "allowed". Static storage. */
struct writ_view writ_past_effect_word(enum writ_effect effect);

#endif
