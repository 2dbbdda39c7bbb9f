/* vaara_receipt.h - the records of a call that back-link to its attestation: the schema of each,
 * and the digest that an outcome record states of its own result. For outcome records the checks
 * are those of the set record_conformance_v0; for decision records those that the broker makes; an
 * attestation has its members of the right form. Signatures are checked elsewhere (vaara.h).
 *
 * Every check has an id; the required ones make a record conform, the others are advice. A check
 * that lost its input to a failed one (the digest of an absent back link) does not fail as well.
 * Pure. */
#ifndef WRIT_EVIDENCE_VAARA_RECEIPT_H
#define WRIT_EVIDENCE_VAARA_RECEIPT_H

#include "evidence/json/json.h"

/* X(NAME, id, required), ids in the order of their bytes */
/* clang-format off */
#define WRIT_VAARA_RECEIPT_CHECKS(X)                                                               \
    X(ALG_SUPPORTED, alg_supported, true)                                                          \
    X(BACK_LINK_DIGEST_FORMAT, back_link_digest_format, true)                                      \
    X(BACK_LINK_NONCE_TYPE, back_link_nonce_type, true)                                            \
    X(BACK_LINK_PRESENT, back_link_present, true)                                                  \
    X(COMPLETED_AT_TYPE, completed_at_type, true)                                                  \
    X(DECIDED_AT_TYPE, decided_at_type, true)                                                      \
    X(DECISION_DIGEST_FORMAT, decision_digest_format, true)                                        \
    X(DECISION_PRESENT, decision_present, true)                                                    \
    X(DECISION_VALID, decision_valid, true)                                                        \
    X(ISSUER_ASSERTED_ALG_MATCHES, issuer_asserted_alg_matches, true)                              \
    X(ISSUER_ASSERTED_PRESENT, issuer_asserted_present, true)                                      \
    X(OUTCOME_PRESENT, outcome_present, true)                                                      \
    X(PAYLOAD_DERIVED_PRESENT, payload_derived_present, true)                                      \
    X(PLANNER_DECLARED_PRESENT, planner_declared_present, true)                                    \
    X(RECEIPT_ASSERTED_ALG_MATCHES, receipt_asserted_alg_matches, true)                            \
    X(RECEIPT_ASSERTED_PRESENT, receipt_asserted_present, true)                                    \
    X(REFUSED_HAS_NO_RESULT, refused_has_no_result, false)                                         \
    X(RESULT_COMMITMENT_DIGEST_FORMAT, result_commitment_digest_format, true)                      \
    X(RESULT_COMMITMENT_SELF_CONSISTENT, result_commitment_self_consistent, true)                  \
    X(RESULT_COMMITMENT_SHAPE, result_commitment_shape, true)                                      \
    X(RISK_SCORE_IS_STRING, riskScore_is_string, false)                                            \
    X(SIGNATURE_HEX, signature_hex, true)                                                          \
    X(SIGNATURE_LENGTH, signature_length, false)                                                   \
    X(STATUS_VALID, status_valid, true)                                                            \
    X(THRESHOLD_ALLOW_IS_STRING, thresholdAllow_is_string, false)                                  \
    X(THRESHOLD_BLOCK_IS_STRING, thresholdBlock_is_string, false)                                  \
    X(TOOL_CALLS_SHAPE, tool_calls_shape, true)                                                    \
    X(TOP_LEVEL_OBJECT, top_level_object, true)                                                    \
    X(VERSION, version, true)
/* clang-format on */

enum writ_vaara_receipt_check {
#define WRIT_VAARA_RECEIPT_ENUM(NAME, id, required) WRIT_VAARA_RECEIPT_##NAME,
    WRIT_VAARA_RECEIPT_CHECKS(WRIT_VAARA_RECEIPT_ENUM)
#undef WRIT_VAARA_RECEIPT_ENUM
        WRIT_VAARA_RECEIPT_COUNT
};

/** The id; static storage. */
const char *writ_vaara_receipt_id(enum writ_vaara_receipt_check check);
/** False for advice. */
bool writ_vaara_receipt_required(enum writ_vaara_receipt_check check);

enum writ_vaara_record {
    WRIT_VAARA_RECORD_OUTCOME,     /* outcomeDerived: the outcome of a call */
    WRIT_VAARA_RECORD_DECISION,    /* decisionDerived: whether it may be made */
    WRIT_VAARA_RECORD_ATTESTATION, /* payloadDerived: the request */
};

/** The checks that fail for a record of this sort, bit i for check i, into `ret_failed`; 0 for a
 * conforming record. `record` may be any value. WRIT_E_CRYPTO. */
WRIT_RESULT writ_vaara_receipt_check(const struct writ_json *record, enum writ_vaara_record sort,
    uint32_t *ret_failed, struct writ_err *err);

/** True when no required check is among the failed ones. */
bool writ_vaara_receipt_conforms(uint32_t failed);

#endif
