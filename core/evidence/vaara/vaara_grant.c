/* A grant is verified by a table of checks, walked in order; the first that fails is the reason. */
#include "evidence/vaara/vaara_grant.h"

#include "base/clock.h"
#include "base/decimal.h"
#include "evidence/json/jcs.h"

#define COUNT(array)    (sizeof(array) / sizeof((array)[0]))
#define ARGS_MAX        ((size_t)16 << 20) /* canonical bytes of the arguments */
#define LIFETIME_MAX    INT32_MAX          /* seconds */
#define SECOND_US       1000000
#define COMMITMENT_HEAD "{\"digest\":\""
#define COMMITMENT_TAIL "\"}"

/* The signed members, in canonical order. */
static const char *const signed_members[] = {
    "alg", "asserted", "binding", "capabilities", "scope", "version"};

/* One verification. */
struct verification {
    const struct writ_json *grant;
    const struct writ_vaara_keys *keys;
    const struct writ_vaara_call *call;
    /* from `well_formed` on */
    struct writ_view alg, signature;
    struct writ_view args_commitment, tenant, tool;
    struct writ_view attestation;
    struct writ_view iss, key;
    int64_t iat_s, lifetime_s;
    const struct writ_json *capabilities; /* NULL: none */
};

/* WRIT_OK: it holds; WRIT_E_MISMATCH: it does not. */
typedef writ_result check_fn(struct verification *v, struct writ_err *err);

static writ_result
holds(bool condition)
{
    return (writ_result){condition ? WRIT_OK : WRIT_E_MISMATCH};
}

/* ---- form */

static bool
take(const struct writ_json *object, const char *name, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(name));

    *ret = writ_json_string(value);
    return writ_json_type(value) == WRIT_JSON_STRING;
}

static bool
take_number(
    const struct writ_json *object, const char *name, int64_t least, int64_t most, int64_t *ret)
{
    return writ_is_ok(
        writ_json_integer(writ_json_get(object, writ_view_str(name)), least, most, ret));
}

static bool
is_object(const struct writ_json *value, size_t members)
{
    return writ_json_type(value) == WRIT_JSON_OBJECT && value->count == members;
}

static bool
capability_is_well_formed(const struct writ_json *capability)
{
    const struct writ_json *value = writ_json_get(capability, WRIT_LIT("value"));
    struct writ_view arg, op;
    struct writ_decimal bound;

    if (!is_object(capability, 3) || !take(capability, "arg", &arg) || arg.len == 0 ||
        !take(capability, "op", &op)) {
        return false;
    }
    if (writ_view_is(op, "in")) {
        WRIT_JSON_EACH(item, value)
        {
            if (writ_json_type(item) != WRIT_JSON_STRING) {
                return false;
            }
        }
        return writ_json_type(value) == WRIT_JSON_ARRAY && value->count > 0;
    }
    if (writ_view_is(op, "le") || writ_view_is(op, "ge")) {
        return writ_is_ok(writ_decimal_read(writ_json_string(value), &bound));
    }
    return writ_view_is(op, "eq") && writ_json_type(value) == WRIT_JSON_STRING;
}

static bool
capabilities_are_well_formed(const struct writ_json *capabilities)
{
    WRIT_JSON_EACH(capability, capabilities)
    {
        if (!capability_is_well_formed(capability)) {
            return false;
        }
    }
    return writ_json_type(capabilities) == WRIT_JSON_ARRAY && capabilities->count > 0;
}

static bool
asserted_is_well_formed(struct verification *v)
{
    const struct writ_json *asserted = writ_json_get(v->grant, WRIT_LIT("asserted"));
    struct writ_view iat, sub, nonce;
    int64_t iat_us;

    if (!is_object(asserted, 6) || !take(asserted, "iss", &v->iss) ||
        !take(asserted, "sub", &sub) || !take(asserted, "nonce", &nonce) ||
        !take(asserted, "secretVersion", &v->key) || !take(asserted, "iat", &iat) ||
        !take_number(asserted, "expSeconds", 0, LIFETIME_MAX, &v->lifetime_s) ||
        !writ_is_ok(writ_time_read(iat, &iat_us))) {
        return false;
    }
    v->iat_s = iat_us / SECOND_US;
    return true;
}

/* The schema is closed. The reader refuses duplicates, so counting is enough. */
static writ_result
well_formed(struct verification *v, struct writ_err *err)
{
    const struct writ_json *scope = writ_json_get(v->grant, WRIT_LIT("scope"));
    const struct writ_json *binding = writ_json_get(v->grant, WRIT_LIT("binding"));
    struct writ_view nonce;
    int64_t version;

    (void)err;
    v->capabilities = writ_json_get(v->grant, WRIT_LIT("capabilities"));
    return holds(is_object(v->grant, v->capabilities == NULL ? 6 : 7) &&
                 take_number(v->grant, "version", 1, 1, &version) &&
                 take(v->grant, "alg", &v->alg) && writ_vaara_signature_knows(v->alg) &&
                 take(v->grant, "signature", &v->signature) && is_object(scope, 3) &&
                 take(scope, "argsCommitment", &v->args_commitment) &&
                 take(scope, "tenantId", &v->tenant) && take(scope, "toolName", &v->tool) &&
                 is_object(binding, 2) && take(binding, "attestationDigest", &v->attestation) &&
                 take(binding, "attestationNonce", &nonce) && asserted_is_well_formed(v) &&
                 (v->capabilities == NULL || capabilities_are_well_formed(v->capabilities)));
}

/* ---- the checks */

static writ_result
present(struct verification *v, struct writ_err *err)
{
    (void)err;
    return holds(
        writ_json_type(v->grant) != WRIT_JSON_NONE && writ_json_type(v->grant) != WRIT_JSON_NULL);
}

static writ_result
signature_holds(struct verification *v, struct writ_err *err)
{
    writ_result result = writ_vaara_signature_check(
        v->keys, v->alg, v->grant, signed_members, COUNT(signed_members), v->signature, err);

    /* a value without canonical form cannot have been signed */
    return result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT ? holds(false) : result;
}

static writ_result
is_in_time(struct verification *v, struct writ_err *err)
{
    int64_t begin_us = (v->iat_s - WRIT_VAARA_GRANT_SKEW_S) * SECOND_US;
    int64_t end_us = (v->iat_s + v->lifetime_s + WRIT_VAARA_GRANT_SKEW_S) * SECOND_US;

    (void)err;
    return holds(v->call->now_us >= begin_us && v->call->now_us <= end_us);
}

/* H({"digest": H(args)}) */
static WRIT_RESULT
commit(const struct writ_json *args, char ret[WRIT_DIGEST_TEXT], struct writ_err *err)
{
    struct writ_digest inner, outer;
    char text[WRIT_DIGEST_TEXT];

    if (!writ_jcs_all_exact(args)) { /* their digest is that of other arguments */
        WRIT_FAIL(err, WRIT_E_PARSE, "a number of the arguments is not exact");
    }
    WRIT_TRY(writ_digest_json(args, ARGS_MAX, &inner, err));
    writ_digest_text(&inner, text);
    {
        const struct writ_view pieces[] = {
            WRIT_LIT(COMMITMENT_HEAD), writ_view_str(text), WRIT_LIT(COMMITMENT_TAIL)};
        WRIT_TRY(writ_digest_pieces(pieces, COUNT(pieces), &outer, err));
    }
    writ_digest_text(&outer, ret);
    return WRIT_DONE;
}

static writ_result
scope_is_right(struct verification *v, struct writ_err *err)
{
    char commitment[WRIT_DIGEST_TEXT];
    writ_result result;

    if (!writ_view_equal(v->tool, v->call->tool) || !writ_view_equal(v->tenant, v->call->tenant)) {
        return holds(false);
    }
    if (v->capabilities != NULL) {
        return holds(true); /* they bound the arguments, the commitment does not */
    }
    result = commit(v->call->args, commitment, err);
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
        return holds(false);
    }
    WRIT_TRY(result);
    return holds(writ_view_equal_secret(v->args_commitment, writ_view_str(commitment)));
}

static bool
is_named(const struct writ_json *capabilities, const struct writ_json *argument)
{
    WRIT_JSON_EACH(capability, capabilities)
    {
        if (writ_json_is(writ_json_get(capability, WRIT_LIT("arg")), writ_json_string(argument))) {
            return true;
        }
    }
    return false;
}

static writ_result
arguments_are_covered(struct verification *v, struct writ_err *err)
{
    (void)err;
    if (v->capabilities != NULL) {
        WRIT_JSON_EACH(name, v->call->args)
        {
            if (!is_named(v->capabilities, name)) {
                return holds(false);
            }
        }
    }
    return holds(true);
}

/* A string, or an integer by its digits. */
static bool
is_same(const struct writ_json *actual, struct writ_view want)
{
    int64_t integer;

    return (writ_json_type(actual) == WRIT_JSON_STRING ||
               writ_is_ok(writ_json_integer(actual, INT64_MIN, INT64_MAX, &integer))) &&
           writ_view_equal(writ_json_text(actual), want);
}

static bool
is_within(const struct writ_json *actual, const struct writ_json *value, bool upper)
{
    struct writ_decimal is, bound;
    int order;

    if (!writ_is_ok(writ_decimal_read(writ_json_text(actual), &is)) ||
        !writ_is_ok(writ_decimal_read(writ_json_string(value), &bound))) {
        return false;
    }
    order = writ_decimal_compare(&is, &bound);
    return upper ? order <= 0 : order >= 0;
}

static bool
capability_holds(const struct writ_json *capability, const struct writ_json *args)
{
    const struct writ_json *value = writ_json_get(capability, WRIT_LIT("value"));
    const struct writ_json *actual =
        writ_json_get(args, writ_json_string(writ_json_get(capability, WRIT_LIT("arg"))));
    struct writ_view op = writ_json_string(writ_json_get(capability, WRIT_LIT("op")));

    if (writ_view_is(op, "eq")) {
        return is_same(actual, writ_json_string(value));
    }
    if (writ_view_is(op, "in")) {
        WRIT_JSON_EACH(item, value)
        {
            if (is_same(actual, writ_json_string(item))) {
                return true;
            }
        }
        return false;
    }
    return is_within(actual, value, writ_view_is(op, "le"));
}

static writ_result
capabilities_hold(struct verification *v, struct writ_err *err)
{
    (void)err;
    WRIT_JSON_EACH(capability, v->capabilities)
    {
        if (!capability_holds(capability, v->call->args)) {
            return holds(false);
        }
    }
    return holds(true);
}

static writ_result
not_revoked(struct verification *v, struct writ_err *err)
{
    struct writ_view revoked = v->call->revoked;

    (void)err;
    return holds(revoked.len == 0 || v->iat_s < v->call->revoked_since_s ||
                 (!writ_view_equal(v->iss, revoked) && !writ_view_equal(v->key, revoked)));
}

static writ_result
binding_is_known(struct verification *v, struct writ_err *err)
{
    (void)err;
    WRIT_JSON_EACH(digest, v->call->known)
    {
        if (writ_json_is(digest, v->attestation)) {
            return holds(true);
        }
    }
    return holds(false);
}

static const struct {
    check_fn *check;
    enum writ_reason reason;
    bool of_call; /* it compares the grant with the call */
} checks[] = {
    {present, WRIT_REASON_MISSING_CREDENTIAL, false},
    {well_formed, WRIT_REASON_MALFORMED, false},
    {signature_holds, WRIT_REASON_BAD_SIGNATURE, false},
    {is_in_time, WRIT_REASON_EXPIRED, true},
    {scope_is_right, WRIT_REASON_SCOPE_MISMATCH, true},
    {arguments_are_covered, WRIT_REASON_CAPABILITY_UNCOVERED, true},
    {capabilities_hold, WRIT_REASON_CAPABILITY_EXCEEDED, true},
    {not_revoked, WRIT_REASON_REVOKED, true},
    {binding_is_known, WRIT_REASON_BINDING_UNKNOWN, true},
};

WRIT_RESULT
writ_vaara_grant_verify(const struct writ_json *grant, const struct writ_vaara_keys *keys,
    const struct writ_vaara_call *call, enum writ_reason *ret_why, struct writ_err *err)
{
    struct verification v = {.grant = grant, .keys = keys, .call = call};

    for (size_t i = 0; i < COUNT(checks); i++) {
        writ_result result = WRIT_DONE;

        if (call != NULL || !checks[i].of_call) {
            result = checks[i].check(&v, err);
        }
        if (result.code == WRIT_E_MISMATCH) {
            *ret_why = checks[i].reason;
            return WRIT_DONE;
        }
        WRIT_TRY(result);
    }
    *ret_why = WRIT_REASON_CREDENTIAL_OK;
    return WRIT_DONE;
}

WRIT_RESULT
writ_vaara_grant_fingerprint(
    const struct writ_json *grant, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf input = writ_buf_make(ARGS_MAX);

    WRIT_TRY(writ_vaara_signature_input(grant, signed_members, COUNT(signed_members), &input, err));
    return writ_digest_bytes(writ_buf_view(&input), ret, err);
}
