/* credential.h - the credential: a JWT that is bound to exactly one tool call.
 *
 * It is a compact JWS (jws.h) whose claims are the rows of claim.tbl.h. They come from the placed
 * decision, digests included, so the credential is the signed decision. `authorization_details`
 * (RFC 9396) describes the call in the standard's terms:
 *
 *     [{"locations":["<aud>"],"params_hash":"sha256:...","tool":"<tool>","type":"mcp_tool_call"}]
 *
 * The verifier compares the credential with the call and returns the first reason against it, in
 * this order:
 *
 *     missing_credential, malformed, key_revoked, unknown_key, bad_signature, key_out_of_time,
 *     wrong_issuer, wrong_audience, not_yet_valid, expired, scope_mismatch, number_not_exact,
 *     args_mismatch, state_drift, status_unknown, revoked, replayed
 *
 * `malformed` is every fault of structure or type, found before the lookup of a key: not a compact
 * JWS of at most 8 KiB, header members besides alg, typ, kid, another typ, a claim missing, of
 * another type or twice, a jti that is not the decision_id, a lifetime that is longer than the
 * verifier's most. `bad_signature` is also an alg that is not the key's. The lookup of the jti
 * comes last, so that a forged or misdirected copy cannot use up the genuine one (single use goes
 * by jti, never by the bytes of the token: every ECDSA signature has a second valid form).
 *
 * Only the callbacks may do I/O or block. Thread-safe. */
#ifndef WRIT_EVIDENCE_CREDENTIAL_H
#define WRIT_EVIDENCE_CREDENTIAL_H

#include "evidence/credential/claim.h"
#include "evidence/credential/status_list.h"
#include "evidence/jose/jws.h"
#include "evidence/json/digest.h"
#include "evidence/record/decision.h"
#include "evidence/record/reason.h"

/* typ of the header unless configured: RFC 8725 3.11 */
#define WRIT_CREDENTIAL_TYP            "writ-credential+jwt"
#define WRIT_CREDENTIAL_LIFETIME_MAX_S 3600 /* longest lifetime that is ever issued or accepted */
#define WRIT_CREDENTIAL_SKEW_MAX_S     60  /* largest difference of clocks that may be configured */
#define WRIT_CREDENTIAL_ID_MAX         256 /* longest jti: a store of used ones needs a bound */

/** What the issuer adds to the decision. Borrowed for the call. */
struct writ_credential_request {
    const struct writ_decision *decision; /* placed, `allow`, with expires_at */
    struct writ_view issuer;              /* iss */
    struct writ_view audience;            /* aud: the resource URI of the upstream */
    struct writ_view tenant;              /* empty: null */
    struct writ_view typ;                 /* empty: WRIT_CREDENTIAL_TYP */
    struct writ_view subject;             /* the user behind the agent; empty: unknown */
    struct writ_claim_status status;      /* `uri` empty: no claim */
};

/**
 * Issues a credential and appends it to `buf`. After a failure, discard what was appended.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  the decision is not `allow`, lacks a claim, or has one that is not UTF-8,
 *                         or (in a claim of RFC 7519) has a NUL; or it lives longer than
 *                         WRIT_CREDENTIAL_LIFETIME_MAX_S
 *         WRIT_E_LIMIT    the token would be longer than WRIT_JWS_BYTES_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_credential_issue(const struct writ_signer *signer,
    const struct writ_credential_request *request, struct writ_buf *buf, struct writ_err *err);

/** What is known about a jti. Zero: the lookup failed. */
enum writ_credential_use {
    WRIT_CREDENTIAL_USE_UNKNOWN = 0,
    WRIT_CREDENTIAL_USE_FRESH, /* was absent, and is stored now */
    WRIT_CREDENTIAL_USE_SPENT,
};

/**
 * What the verifier expects. A zeroed expectation refuses every credential: to skip a comparison,
 * set the member that names it.
 */
struct writ_credential_expect {
    const struct writ_jwks *keys;
    struct writ_view issuer;
    bool any_issuer; /* the key alone identifies the issuer */
    struct writ_view audience;
    struct writ_view typ; /* of the header, exactly; empty: WRIT_CREDENTIAL_TYP */

    struct writ_view tool;
    struct writ_view agent_id;
    bool any_agent;
    struct writ_view tenant; /* empty: the credential must say null */
    bool any_tenant;
    struct writ_digest params_hash; /* of the arguments of this call */
    bool inexact_params; /* they have a number that is not exact (jcs.h): their digest is also that
                            of other arguments */
    bool any_params; /* the verifier does not see them: a component behind it compares the claim */
    struct writ_member_text target_state; /* PRESENT or NULL: as it is now; else never equal */
    bool any_target_state;                /* the verifier cannot observe it */

    int64_t now_s;
    int64_t skew_s;         /* 0..WRIT_CREDENTIAL_SKEW_MAX_S */
    int64_t lifetime_max_s; /* longest exp - iat; 0: WRIT_CREDENTIAL_LIFETIME_MAX_S */

    /** Looks the credential up in a status list; NULL: no lookup. */
    enum writ_status (*status)(void *ctx, const struct writ_claims *claims);
    /** Stores a jti at least until `until_s` and returns whether it was there before, in one atomic
     * step. Called once, as the last check. NULL: another component enforces single use. */
    enum writ_credential_use (*use)(void *ctx, struct writ_view jti, int64_t until_s);
    void *ctx;
};

/**
 * Verifies a credential.
 *
 * @param token   borrowed as long as `ret` is used; empty when there is none
 * @param expect  borrowed for the call
 * @param arena   takes the parts of the token; 64 KiB are enough for every token
 * @param ret     the claims, for credential_ok; may be NULL
 * @param ret_why WRIT_REASON_CREDENTIAL_OK, or the first reason against it; written whenever the
 *                result is WRIT_OK
 *
 * @return WRIT_OK         `ret_why` is written
 *         WRIT_E_INVALID  `expect` is out of range
 *         WRIT_E_IO       `use` failed
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO After any other result than WRIT_OK, refuse the call.
 */
WRIT_RESULT writ_credential_verify(struct writ_view token,
    const struct writ_credential_expect *expect, struct writ_arena *arena, struct writ_claims *ret,
    enum writ_reason *ret_why, struct writ_err *err);

#endif
