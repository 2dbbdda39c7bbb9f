/* vaara_grant.h - the credential of the Vaara broker, as a gateway in front of a tool verifies it.
 *
 * A grant is a JSON object with a closed schema: {version, alg, scope {argsCommitment, tenantId,
 * toolName}, binding {attestationDigest, attestationNonce}, asserted {iss, sub, iat, expSeconds,
 * nonce, secretVersion}, signature[, capabilities]}. The first reason against it is told, in this
 * order:
 *
 *     missing_credential, malformed, bad_signature, expired, scope_mismatch,
 *     capability_uncovered, capability_exceeded, revoked, binding_unknown
 *
 * A grant with capabilities is for every call whose arguments they all name (`capability_uncovered`
 * else) and that keeps to every one (`capability_exceeded` else); without them it is for the
 * arguments of its commitment alone.
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
    const struct writ_json *known; /* array of the attestation digests that are known */
    int64_t now_us;
    struct writ_view revoked; /* an issuer, or the secretVersion of a key; empty: none */
    int64_t revoked_since_s;  /* what it issued from then on counts as revoked */
};

/**
 * Verifies a grant.
 *
 * @param grant    NULL or null: there is none
 * @param call     NULL: its form and signature alone are looked at
 * @param ret_why  WRIT_REASON_CREDENTIAL_OK, or the first reason against it; written on WRIT_OK
 *
 * @return WRIT_OK  there is an answer in `ret_why`
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_vaara_grant_verify(const struct writ_json *grant,
    const struct writ_vaara_keys *keys, const struct writ_vaara_call *call,
    enum writ_reason *ret_why, struct writ_err *err);

/** By what an authorization names its grant: the digest of what is signed. WRIT_E_PARSE,
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_vaara_grant_fingerprint(
    const struct writ_json *grant, struct writ_digest *ret, struct writ_err *err);

#endif
