/* claim.tbl.h - the claims of a credential, in canonical order (a test checks it). All of them are
 * there in every credential, but for those that say so, and none of another type.
 *
 * X(claim, KIND, by, source)
 *   KIND    TEXT     string, not empty           DIGEST   "sha256:" and 64 lower-case hex digits
 *           TEXT0    the same, or null           DIGEST0  the same, or null
 *           SECONDS  integer: seconds since 1970 (RFC 7519 2, NumericDate without fractions)
 *           COUNT    integer from 0              DETAILS  authorization_details (claim.h)
 *           TEXTA    as TEXT, or absent          STATUS   its place in a list (claim.h), or absent
 *   by      JWT      RFC 7519 4.1 defines it     OURS     everything else
 *   source  the member of the placed decision (struct writ_decision) that the issuer takes it from
 * R(claim, KIND, by)  the issuer takes it from the request */
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
