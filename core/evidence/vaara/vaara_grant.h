/* vaara_grant.h - the credential of the Vaara broker, as a gateway in front of a tool verifies it.
 *
 * A grant is a JSON object with a closed schema: {version, alg, scope {argsCommitment, tenantId,
 * toolName}, binding {attestationDigest, attestationNonce}, asserted {iss, sub, iat, expSeconds,
 * nonce, secretVersion}, signature[, capabilities]}. The first reason against it, in this order:
 *
 *     missing_credential, malformed, bad_signature, expired, scope_mismatch,
 *     capability_uncovered, capability_exceeded, revoked, binding_unknown
 *
 * A grant with capabilities permits every call whose arguments they all name (else
 * `capability_uncovered`) and that satisfies every one (else `capability_exceeded`); without them
 * it permits only the arguments of its commitment.
 *
 * Pure functions; nothing blocks. */
#ifndef WRIT_EVIDENCE_VAARA_GRANT_H
#define WRIT_EVIDENCE_VAARA_GRANT_H

#include "evidence/json/digest.h"
#include "evidence/record/reason.h"
#include "evidence/vaara/vaara_signature.h"

#define WRIT_VAARA_GRANT_SKEW_S 30 /* difference of clocks that the profile forgives */

/** The call that is about to be made. Borrowed. */
struct writ_vaara_call {
    const struct writ_json *args; /* an object */
    struct writ_view tool, tenant;
    const struct writ_json *known; /* array of the known attestation digests */
    int64_t now_us;
    struct writ_view revoked; /* an issuer, or the secretVersion of a key; empty: none */
    int64_t revoked_since_s;  /* its grants from then on count as revoked */
};

/**
 * Verifies a grant.
 *
 * @param grant    NULL or null: none
 * @param call     NULL: only its form and signature are checked
 * @param ret_why  WRIT_REASON_CREDENTIAL_OK, or the first reason against it; written on WRIT_OK
 *
 * @return WRIT_OK  `ret_why` is written
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_grant_verify(const struct writ_json *grant,
    const struct writ_vaara_keys *keys, const struct writ_vaara_call *call,
    enum writ_reason *ret_why, struct writ_err *err);

/** The digest of the signed members, by which an authorization names its grant. WRIT_E_PARSE,
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_vaara_grant_fingerprint(
    const struct writ_json *grant, struct writ_digest *ret, struct writ_err *err);

#endif
