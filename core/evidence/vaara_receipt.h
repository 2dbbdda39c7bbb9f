/* vaara_receipt.h - the outcome record of the Vaara record_conformance_v0 set: its schema, and the
 * digest that it states of its own result. The signature is not verified here: the set does not say
 * over what it is made.
 *
 * Every check has an id of the set; the required ones make a record conform, the others are advice.
 * What a failed check leaves nothing to look at for (the digest of a back link that is not there)
 * is not failed as well. Pure. */
#ifndef WRIT_EVIDENCE_VAARA_RECEIPT_H
#define WRIT_EVIDENCE_VAARA_RECEIPT_H

#include "evidence/json.h"

/* X(NAME, id, required), ids in the order of their bytes */
/* clang-format off */
#define WRIT_VAARA_RECEIPT_CHECKS(X)                                                               \
    X(ALG_SUPPORTED, alg_supported, true)                                                          \
    X(BACK_LINK_DIGEST_FORMAT, back_link_digest_format, true)                                      \
    X(BACK_LINK_NONCE_TYPE, back_link_nonce_type, true)                                            \
    X(BACK_LINK_PRESENT, back_link_present, true)                                                  \
    X(COMPLETED_AT_TYPE, completed_at_type, true)                                                  \
    X(DECISION_DIGEST_FORMAT, decision_digest_format, true)                                        \
    X(OUTCOME_PRESENT, outcome_present, true)                                                      \
    X(RECEIPT_ASSERTED_ALG_MATCHES, receipt_asserted_alg_matches, true)                            \
    X(RECEIPT_ASSERTED_PRESENT, receipt_asserted_present, true)                                    \
    X(REFUSED_HAS_NO_RESULT, refused_has_no_result, false)                                         \
    X(RESULT_COMMITMENT_DIGEST_FORMAT, result_commitment_digest_format, true)                      \
    X(RESULT_COMMITMENT_SELF_CONSISTENT, result_commitment_self_consistent, true)                  \
    X(RESULT_COMMITMENT_SHAPE, result_commitment_shape, true)                                      \
    X(SIGNATURE_HEX, signature_hex, true)                                                          \
    X(SIGNATURE_LENGTH, signature_length, false)                                                   \
    X(STATUS_VALID, status_valid, true)                                                            \
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

/** The checks that fail, bit i for check i, into `ret_failed`; 0 when the record is as it should
 * be. Any value may be given. WRIT_E_CRYPTO. */
WRIT_RESULT writ_vaara_receipt_check(
    const struct writ_json *record, uint32_t *ret_failed, struct writ_err *err);

/** True when no required check is among the failed ones. */
bool writ_vaara_receipt_conforms(uint32_t failed);

#endif
