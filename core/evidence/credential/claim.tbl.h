/* claim.tbl.h - the claims of a credential, in canonical order (a test checks it). Every credential
 * has all of them, except those marked as absent, and each has the type of its row.
 *
 * X(claim, KIND, by, source)
 * */
#ifndef WRIT_EVIDENCE_CLAIM_TBL_H
#define WRIT_EVIDENCE_CLAIM_TBL_H

/* clang-format off */
#define WRIT_CLAIMS(X, R)                                                                          \
    R(aud, TEXT, JWT)                                                                              \
    R(authorization_details, DETAILS, OURS)                                                        \
    X(boundary_id, TEXT, OURS, boundary_id)                                                        \
    X(continuation_id, TEXT0, OURS, continuation_id)                                               \
    X(decision_context_hash, DIGEST, OURS, decision_context_hash)                                  \
    X(decision_id, TEXT, OURS, decision_id)                                                        \
    X(exp, SECONDS, JWT, expires_at)                                                               \
    X(iat, SECONDS, JWT, issued_at)                                                                \
    X(idempotency_key, TEXT, OURS, idempotency_key)                                                \
    X(intent_digest, DIGEST, OURS, intent_digest)                                                  \
    X(intent_ref, DIGEST, OURS, intent_ref)                                                        \
    R(iss, TEXT, JWT)                                                                              \
    X(jti, TEXT, JWT, decision_id)                                                                 \
    X(nbf, SECONDS, JWT, issued_at)                                                                \
    X(normalized_scope, TEXT, OURS, normalized_scope)                                              \
    X(params_hash, DIGEST, OURS, params_hash)                                                      \
    X(policy_digest, DIGEST, OURS, policy_digest)                                                  \
    X(receipt_ref, DIGEST, OURS, receipt_ref)                                                      \
    X(seq, COUNT, OURS, seq)                                                                       \
    R(status, STATUS, OURS)                                                                        \
    X(sub, TEXT, JWT, agent_id)                                                                    \
    R(subject, TEXTA, OURS)                                                                        \
    X(target_state_digest, DIGEST0, OURS, target_state_digest)                                     \
    R(tenant, TEXT0, OURS)
/* clang-format on */

#endif
