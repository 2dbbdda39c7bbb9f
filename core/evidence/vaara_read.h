/* vaara_read.h - what the files of vaara share: the members of its records as ours, and the faults
 * of a finding. Pure. */
#ifndef WRIT_EVIDENCE_VAARA_READ_H
#define WRIT_EVIDENCE_VAARA_READ_H

#include "evidence/profile.h"
#include "evidence/vaara.h"

/** The profile vaara-v0. */
const struct writ_profile *writ_vaara_read_profile(void);

/** Notes a fault, in the arena; the finding does not hold any more. WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_read_fault(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const char *pointer, const char *what, struct writ_err *err);

/** Notes faults that were collected elsewhere. WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_read_faults(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const struct writ_faults *faults, struct writ_err *err);

/** What a JSON Pointer names, or NULL. */
const struct writ_json *writ_vaara_read_at(const struct writ_json *value, const char *pointer);

/** A text that a JSON Pointer names; borrowed from the record. */
struct writ_member_text writ_vaara_read_text(const struct writ_json *record, const char *pointer);
/** A count that a JSON Pointer names; absent when it is none. */
struct writ_member_number writ_vaara_read_number(
    const struct writ_json *record, const char *pointer);

/** A record of crewai.governance.decision/v1, or outcome/v1, as ours. The views are borrowed from
 * the record and the arena. WRIT_E_NOMEM. */
WRIT_RESULT writ_vaara_read_decision(const struct writ_json *record, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err);
WRIT_RESULT writ_vaara_read_outcome(const struct writ_json *record, struct writ_arena *arena,
    struct writ_outcome *ret, struct writ_err *err);

#endif
