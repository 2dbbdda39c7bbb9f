/* review_record.h - the record of one event of a review, as it stands in the ledger. */
#ifndef WRIT_EVIDENCE_REVIEW_RECORD_H
#define WRIT_EVIDENCE_REVIEW_RECORD_H

#include "evidence/record/faults.h"
#include "evidence/record/member.h"
#include "evidence/record/review.h"

/** Zero-initialised: a record without any member. Fields as in member.tbl.h. */
struct writ_review_record {
    WRIT_REVIEW_MEMBERS(WRIT_MEMBER_FIELD)
    struct writ_member_others others;
};

/** As writ_decision_read. */
WRIT_RESULT writ_review_record_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_review_record *ret, struct writ_err *err);

/** As writ_decision_put. */
WRIT_RESULT writ_review_record_put(
    const struct writ_review_record *record, struct writ_buf *ret, struct writ_err *err);

/** As writ_decision_validate; `state` and `vote` must be words of their tables. */
void writ_review_record_validate(const struct writ_review_record *record, struct writ_faults *ret);

/** The event of the record. False, and `ret` untouched, when it is unknown. */
bool writ_review_record_event(const struct writ_review_record *record, enum writ_review_event *ret);

#endif
