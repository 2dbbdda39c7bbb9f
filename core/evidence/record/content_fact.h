/* content_fact.h - what the ledger records about kept contents: that a person looked at some, and
 * that some were erased. The data of WRIT_FACT_CONTENTS_LOOKED and WRIT_FACT_CONTENTS_ERASED; no
 * content, and no digest of one. */
#ifndef WRIT_EVIDENCE_CONTENT_FACT_H
#define WRIT_EVIDENCE_CONTENT_FACT_H

#include "evidence/json/json.h"

/** A look at one call, or at those of a time. It is recorded before contents are shown, so `count`
 * is the number that may be shown. */
struct writ_content_look {
    struct writ_view by;          /* the person, or the command and the user that ran it */
    struct writ_view purpose;     /* "show", "why", "learn", "replay", or words of the person */
    struct writ_view decision_id; /* ptr NULL: several */
    int64_t since_us, until_us;   /* several: of this time; 0: open */
    uint64_t count;
};

/** An erase: the members that selected, and how much was destroyed. */
struct writ_content_erasure {
    struct writ_view by;
    struct writ_view decision_id, agent_id, tenant; /* ptr NULL: not given */
    int64_t before_us;                              /* 0: not given */
    uint64_t count;
};

/** Appends the data of the fact, a canonical object. WRIT_E_INVALID: `by` is empty; WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_content_fact_look(
    const struct writ_content_look *look, struct writ_buf *ret, struct writ_err *err);
WRIT_RESULT writ_content_fact_erasure(
    const struct writ_content_erasure *erasure, struct writ_buf *ret, struct writ_err *err);

/** Reads the data of an erase; `ret` borrows from `data`. WRIT_E_MISMATCH: not of this form. */
WRIT_RESULT writ_content_fact_read_erasure(
    const struct writ_json *data, struct writ_content_erasure *ret, struct writ_err *err);

/** Whether an erase selects this call. */
bool writ_content_fact_selects(const struct writ_content_erasure *erasure,
    struct writ_view decision_id, struct writ_view agent_id, struct writ_view tenant,
    int64_t time_us);

#endif
