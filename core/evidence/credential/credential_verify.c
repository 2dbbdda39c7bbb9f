/* Verifying: a table of checks, walked in order; the first that does not hold is the reason. */
#include "evidence/credential/credential.h"

#define NOW_MAX ((INT64_C(1) << 53) - 1)

/* The state of one verification. */
struct verification {
    const struct writ_credential_expect *expect;
    struct writ_arena *arena;
    struct writ_view token;
    struct writ_jws jws;        /* from `well_formed` on */
    struct writ_claims claims;  /* likewise */
    const struct writ_jwk *key; /* from `key_known` on */
    enum writ_status status;    /* from `status_is_known` on */
};

/* A check returns WRIT_OK (holds), WRIT_E_MISMATCH (does not), or another code: it could not
 * decide. */
typedef writ_result check_fn(struct verification *v, struct writ_err *err);

static writ_result
holds(bool condition)
{
    return (writ_result){condition ? WRIT_OK : WRIT_E_MISMATCH};
}

/* A fault of the input is a mismatch; a fault of ours keeps its code. */
static writ_result
input_fault(writ_result result)
{
    switch (result.code) {
    case WRIT_E_PARSE:
    case WRIT_E_LIMIT:
    case WRIT_E_INVALID:
        return holds(false);
    case WRIT_E_UNSET:
    case WRIT_OK:
    case WRIT_E_MISMATCH:
    case WRIT_E_ABSENT:
    case WRIT_E_BUSY:
    case WRIT_E_NOMEM:
    case WRIT_E_IO:
    case WRIT_E_CRYPTO:
        break;
    }
    return result;
}

static writ_result
present(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(v->token.len > 0);
}

/* Refuses a token of another type, or without a type (RFC 8725 3.11). */
static bool
typ_is_right(struct writ_view typ, struct writ_view want)
{
    return writ_view_equal(typ, want.len > 0 ? want : WRIT_LIT(WRIT_CREDENTIAL_TYP));
}

static writ_result
well_formed(struct verification *v, struct writ_err *err)
{
    const struct writ_credential_expect *expect = v->expect;
    int64_t longest =
        expect->lifetime_max_s > 0 ? expect->lifetime_max_s : WRIT_CREDENTIAL_LIFETIME_MAX_S;
    const struct writ_json *payload = NULL;

    WRIT_TRY(input_fault(writ_jws_read(v->token, v->arena, &v->jws, err)));
    WRIT_TRY(input_fault(writ_jws_claims(&v->jws, v->arena, &payload, err)));
    WRIT_TRY(input_fault(writ_claim_read(payload, &v->claims, err)));
    return holds(v->jws.kid.ptr != NULL && typ_is_right(v->jws.typ, expect->typ) &&
                 v->claims.exp - v->claims.iat <= longest);
}

static writ_result
key_known(struct verification *v, struct writ_err *err)
{
    (void)err;
    v->key = writ_jwks_find(v->expect->keys, v->jws.kid);
    return holds(v->key != NULL);
}

static writ_result
signature_holds(struct verification *v, struct writ_err *err)
{
    return writ_jws_check(&v->jws, v->key, err);
}

/* Also checks keys that have left the set, so that their tokens get the precise reason. */
static writ_result
key_not_revoked(struct verification *v, struct writ_err *err)
{
    int64_t since_s;

    (void)err;
    return holds(!writ_jwks_revoked(v->expect->keys, v->jws.kid, &since_s) ||
                 (v->expect->now_s < since_s && v->claims.iat < since_s));
}

static writ_result
key_signs_then(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(writ_key_validity_judge(writ_jwks_window(v->expect->keys, v->key), v->claims.iat,
                     v->expect->now_s, v->expect->skew_s) == WRIT_KEY_VALIDITY_HOLDS);
}

static writ_result
issuer_is_right(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(v->expect->any_issuer || writ_view_equal(v->claims.iss, v->expect->issuer));
}

static writ_result
audience_is_right(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(writ_view_equal(v->claims.aud, v->expect->audience) &&
                 writ_view_equal(v->claims.authorization_details.location, v->expect->audience));
}

/* RFC 7519 4.1.5; a token that was issued in the future is not valid either */
static writ_result
has_begun(struct verification *v, struct writ_err *err)
{
    int64_t latest = v->expect->now_s + v->expect->skew_s;

    (void)err;
    return holds(v->claims.nbf <= latest && v->claims.iat <= latest);
}

/* RFC 7519 4.1.4: the token ends at exp, exp excluded */
static writ_result
has_not_ended(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(v->expect->now_s - v->expect->skew_s < v->claims.exp);
}

static writ_result
scope_is_right(struct verification *v, struct writ_err *err)
{
    const struct writ_credential_expect *expect = v->expect;
    struct writ_view tenant = v->claims.tenant;

    (void)err;
    return holds(writ_view_equal(v->claims.authorization_details.tool, expect->tool) &&
                 (expect->any_agent || writ_view_equal(v->claims.sub, expect->agent_id)) &&
                 (expect->any_tenant || writ_view_equal(tenant, expect->tenant)));
}

static writ_result
numbers_are_exact(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(!v->expect->inexact_params);
}

static writ_result
arguments_are_right(struct verification *v, struct writ_err *err)
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_view want;

    (void)err;
    if (v->expect->any_params) {
        return holds(
            writ_view_equal(v->claims.params_hash, v->claims.authorization_details.params_hash));
    }
    writ_digest_text(&v->expect->params_hash, text);
    want = writ_view(text, WRIT_DIGEST_TEXT - 1);
    return holds(writ_view_equal_secret(v->claims.params_hash, want) &&
                 writ_view_equal_secret(v->claims.authorization_details.params_hash, want));
}

static writ_result
state_is_right(struct verification *v, struct writ_err *err)
{
    const struct writ_member_text *state = &v->expect->target_state;
    struct writ_view claimed = v->claims.target_state_digest;

    (void)err;
    if (v->expect->any_target_state) {
        return holds(true);
    }
    switch (state->is) {
    case WRIT_NULL:
        return holds(claimed.ptr == NULL);
    case WRIT_PRESENT:
        return holds(claimed.ptr != NULL && writ_view_equal_secret(claimed, state->view));
    case WRIT_ABSENT:
    case WRIT_WRONG:
        break;
    }
    return holds(false);
}

static writ_result
status_is_known(struct verification *v, struct writ_err *err)
{
    (void)err;
    v->status = v->expect->status != NULL ? v->expect->status(v->expect->ctx, &v->claims)
                                          : WRIT_STATUS_VALID;
    return holds(v->status != WRIT_STATUS_UNKNOWN);
}

static writ_result
not_revoked(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(v->status == WRIT_STATUS_VALID);
}

static writ_result
not_used(struct verification *v, struct writ_err *err)
{
    if (v->expect->use == NULL) {
        return holds(true);
    }
    switch (v->expect->use(v->expect->ctx, v->claims.jti, v->claims.exp + v->expect->skew_s)) {
    case WRIT_CREDENTIAL_USE_FRESH:
        return holds(true);
    case WRIT_CREDENTIAL_USE_SPENT:
        return holds(false);
    case WRIT_CREDENTIAL_USE_UNKNOWN:
        break;
    }
    WRIT_FAIL(err, WRIT_E_IO, "the check for an earlier use of the credential failed");
}

/* The order is a promise: docs/credentials.md, "The checks, in this order". */
static const struct {
    check_fn *check;
    enum writ_reason reason;
} checks[] = {
    {present, WRIT_REASON_MISSING_CREDENTIAL}, {well_formed, WRIT_REASON_MALFORMED},
    {key_not_revoked, WRIT_REASON_KEY_REVOKED}, {key_known, WRIT_REASON_UNKNOWN_KEY},
    {signature_holds, WRIT_REASON_BAD_SIGNATURE}, {key_signs_then, WRIT_REASON_KEY_OUT_OF_TIME},
    {issuer_is_right, WRIT_REASON_WRONG_ISSUER}, {audience_is_right, WRIT_REASON_WRONG_AUDIENCE},
    {has_begun, WRIT_REASON_NOT_YET_VALID}, {has_not_ended, WRIT_REASON_EXPIRED},
    {scope_is_right, WRIT_REASON_SCOPE_MISMATCH}, {numbers_are_exact, WRIT_REASON_NUMBER_NOT_EXACT},
    {arguments_are_right, WRIT_REASON_ARGS_MISMATCH}, {state_is_right, WRIT_REASON_STATE_DRIFT},
    {status_is_known, WRIT_REASON_STATUS_UNKNOWN}, {not_revoked, WRIT_REASON_REVOKED},
    {not_used, WRIT_REASON_REPLAYED}, /* last: the check itself uses the credential up */
};

static WRIT_RESULT
check_expect(const struct writ_credential_expect *expect, struct writ_err *err)
{
    if (expect->now_s < 0 || expect->now_s > NOW_MAX || expect->skew_s < 0 ||
        expect->skew_s > WRIT_CREDENTIAL_SKEW_MAX_S || expect->lifetime_max_s < 0 ||
        expect->lifetime_max_s > WRIT_CREDENTIAL_LIFETIME_MAX_S) {
        WRIT_FAIL(err, WRIT_E_INVALID, "time, skew or lifetime is out of range");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_credential_verify(struct writ_view token, const struct writ_credential_expect *expect,
    struct writ_arena *arena, struct writ_claims *ret, enum writ_reason *ret_why,
    struct writ_err *err)
{
    struct verification v = {.expect = expect, .arena = arena, .token = token};

    WRIT_TRY(check_expect(expect, err));
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        writ_result result = checks[i].check(&v, err);

        if (result.code == WRIT_E_MISMATCH) {
            *ret_why = checks[i].reason;
            return WRIT_DONE;
        }
        WRIT_TRY(result);
    }
    if (ret != NULL) {
        *ret = v.claims;
    }
    *ret_why = WRIT_REASON_CREDENTIAL_OK;
    return WRIT_DONE;
}
