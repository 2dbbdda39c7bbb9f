/* vaara_read.h - reads the members of vaara's records as ours. Pure. */
#ifndef WRIT_EVIDENCE_VAARA_READ_H
#define WRIT_EVIDENCE_VAARA_READ_H

#include "evidence/record/profile.h"

/** The profile vaara-v0. */
const struct writ_profile *writ_vaara_read_profile(void);

/** The value at a JSON Pointer, or NULL. */
const struct writ_json *writ_vaara_read_at(const struct writ_json *value, const char *pointer);

/** The text at a JSON Pointer; borrowed from the record. */
struct writ_member_text writ_vaara_read_text(const struct writ_json *record, const char *pointer);
/** The count at a JSON Pointer; absent when it is not a count. */
struct writ_member_number writ_vaara_read_number(
    const struct writ_json *record, const char *pointer);

/** A record of crewai.governance.decision/v1, or outcome/v1, as ours. The views are borrowed from
 * the record and the arena. WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_read_decision(const struct writ_json *record, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err);
WRIT_RESULT writ_vaara_read_outcome(const struct writ_json *record, struct writ_arena *arena,
    struct writ_outcome *ret, struct writ_err *err);

#endif
