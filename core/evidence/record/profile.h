/* profile.h - derivation profiles: the members from which the digests of a record are made
 * (docs/evidence.md, "Recomputing the digests").
 *
 * A profile is data: for each derived field the member names of its preimage, in JCS order, and
 * where each value comes from. A preimage is written straight into a buffer as canonical JSON; no
 * value tree is made. The profile's name and the normalization_id are beside the digests and
 * (except in vaara-v0) never in a preimage. */
#ifndef WRIT_EVIDENCE_PROFILE_H
#define WRIT_EVIDENCE_PROFILE_H

#include "evidence/json/digest.h"
#include "evidence/record/decision.h"
#include "evidence/record/outcome.h"

/** Where the value of a preimage member comes from. */
enum writ_profile_source {
    WRIT_SOURCE_NONE = 0, /* no value: its preimage is never derived */
    WRIT_SOURCE_AGENT_ID,
    WRIT_SOURCE_TOOL,
    WRIT_SOURCE_NORMALIZED_SCOPE,
    WRIT_SOURCE_PARAMS_HASH,
    WRIT_SOURCE_INTENT_DIGEST,
    WRIT_SOURCE_INTENT_REF,
    WRIT_SOURCE_IDEMPOTENCY_KEY,
    WRIT_SOURCE_ISSUED_AT,
    WRIT_SOURCE_ISSUED_AT_MS, /* the same time as an integer of milliseconds */
    WRIT_SOURCE_COMPLETED_AT, /* of the outcome; none in a decision */
    WRIT_SOURCE_SEQ,
    WRIT_SOURCE_SCHEMA, /* a constant of the profile */
    WRIT_SOURCE_NORMALIZATION_ID,
    /* from here on a member without value becomes null; those above must have one */
    WRIT_SOURCE_TARGET_STATE_DIGEST,
    WRIT_SOURCE_CONTINUATION_ID,
    WRIT_SOURCE_EXPIRES_AT,
    WRIT_SOURCE_POLICY_DIGEST,
    WRIT_SOURCE_CREDENTIAL_SCOPE,
    WRIT_SOURCE_CREDENTIAL_TIER,
    WRIT_SOURCE_POLICY_REFS,
    WRIT_SOURCE_RETRIEVED_POLICY_REFS,
    WRIT_SOURCE_REVALIDATE_IF,
};

/** One member of a preimage. */
struct writ_profile_member {
    struct writ_view key; /* as it is written: "\"agent_id\":" */
    enum writ_profile_source source;
};

/** The fields that a profile derives. */
enum writ_profile_field {
    WRIT_PROFILE_INTENT_DIGEST,
    WRIT_PROFILE_INTENT_REF,
    WRIT_PROFILE_DECISION_RECEIPT_REF,
    WRIT_PROFILE_OUTCOME_RECEIPT_REF,
    WRIT_PROFILE_DECISION_CONTEXT_HASH,
    WRIT_PROFILE_FIELDS
};

#define WRIT_PROFILE_MAX_MEMBERS 12

/** The members of one preimage; the first without key ends it. */
struct writ_profile_preimage {
    struct writ_profile_member members[WRIT_PROFILE_MAX_MEMBERS];
};

/** The profiles, the default first: X(NAME, name, normalization_id, schema). */
#define WRIT_PROFILES(X)                                                                           \
    X(CREWAI, "crewai-v1", "jcs-sha256", "")                                                       \
    X(ALGOVOI, "algovoi-v1", "jcs-sha256", "")                                                     \
    X(VAARA, "vaara-v0", "jcs-rfc8785-v1", "crewai.governance.decision/v1")

struct writ_profile {
    struct writ_view name;                      /* "crewai-v1" */
    struct writ_view normalization_id;          /* for a new record, "jcs-sha256" */
    struct writ_view schema;                    /* the value of WRIT_SOURCE_SCHEMA; mostly empty */
    const struct writ_profile_preimage *fields; /* WRIT_PROFILE_FIELDS of them */
};

/** The profile of that name, or NULL. Static storage. */
const struct writ_profile *writ_profile_find(struct writ_view name);

/** crewai-v1. */
const struct writ_profile *writ_profile_default(void);

/** The n-th profile, or NULL after the last. */
const struct writ_profile *writ_profile_at(size_t n);

/** Longest preimage. */
#define WRIT_PROFILE_MAX_PREIMAGE WRIT_RECORD_MAX_BYTES

/** An ordinary preimage fits. */
#define WRIT_PROFILE_ROOM 1024

/** A buffer for preimages of at most WRIT_PROFILE_MAX_PREIMAGE bytes, which begins in `room` and
 * allocates only for a long one. Wipe it with writ_buf_wipe. */
struct writ_buf writ_profile_scratch(char room[WRIT_PROFILE_ROOM]);

/**
 * Derives one field from the members of a record.
 *
 * @param decision      gives the values: the record itself or, for an outcome, its decision
 * @param outcome       gives completed_at; NULL for the fields of a decision
 * @param scratch       holds the preimage afterwards; cleared first, so that one buffer serves
 *                      several fields (writ_profile_scratch)
 * @param ret           SHA-256 of the canonical preimage; untouched when not complete
 * @param ret_complete  false: a required value of the preimage is absent, such as the scope of a
 *                      deny without scope, so the field does not exist
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT   the preimage is longer than the scratch buffer may be
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 *
 * Thread-safe; does not block.
 */
WRIT_RESULT writ_profile_derive(const struct writ_profile *profile, enum writ_profile_field field,
    const struct writ_decision *decision, const struct writ_outcome *outcome,
    struct writ_buf *scratch, struct writ_digest *ret, bool *ret_complete, struct writ_err *err);

#endif
