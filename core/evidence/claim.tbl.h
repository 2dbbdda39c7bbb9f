/* claim.tbl.h - the claims of a credential, in canonical order (a test checks it). All of them are
 * there in every credential, and none of another type.
 *
 * X(claim, KIND, source)
 *   KIND    TEXT     string, not empty           DIGEST   "sha256:" and 64 lower-case hex digits
 *           TEXT0    the same, or null           DIGEST0  the same, or null
 *           SECONDS  integer: seconds since 1970 (RFC 7519 2, NumericDate without fractions)
 *           COUNT    integer from 0              DETAILS  authorization_details (RFC 9396), below
 *   source  the member of the placed decision (struct writ_decision) that the issuer takes it from
 * R(claim, KIND)  the issuer takes it from the request */
#ifndef WRIT_EVIDENCE_CLAIM_TBL_H
#define WRIT_EVIDENCE_CLAIM_TBL_H

/* clang-format off */
#define WRIT_CLAIMS(X, R)                                                                          \
    R(aud, TEXT)                                                                                   \
    R(authorization_details, DETAILS)                                                              \
    X(boundary_id, TEXT, boundary_id)                                                              \
    X(continuation_id, TEXT0, continuation_id)                                                     \
    X(decision_context_hash, DIGEST, decision_context_hash)                                        \
    X(decision_id, TEXT, decision_id)                                                              \
    X(exp, SECONDS, expires_at)                                                                    \
    X(iat, SECONDS, issued_at)                                                                     \
    X(idempotency_key, TEXT, idempotency_key)                                                      \
    X(intent_digest, DIGEST, intent_digest)                                                        \
    X(intent_ref, DIGEST, intent_ref)                                                              \
    R(iss, TEXT)                                                                                   \
    X(jti, TEXT, decision_id)                                                                      \
    X(nbf, SECONDS, issued_at)                                                                     \
    X(normalized_scope, TEXT, normalized_scope)                                                    \
    X(params_hash, DIGEST, params_hash)                                                            \
    X(policy_digest, DIGEST, policy_digest)                                                        \
    X(receipt_ref, DIGEST, receipt_ref)                                                            \
    X(seq, COUNT, seq)                                                                             \
    X(sub, TEXT, agent_id)                                                                         \
    X(target_state_digest, DIGEST0, target_state_digest)                                           \
    R(tenant, TEXT0)
/* clang-format on */

#endif
