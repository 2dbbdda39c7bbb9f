/* Issuing and verifying credentials. A credential verifies for exactly the call and decision that
 * it was issued for; every difference has its reason, and libjwt agrees in both directions. */
#include "evidence/record/derive.h"
#include "support/evidence/keys.h"
#include "support/evidence/sample.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/credential/credential.h"
#include "evidence/json/jcs.h"

#include <jwt.h>
#include <stdlib.h>
#include <string.h>

#define ISSUER   "https://gateway.example/"
#define AUDIENCE "http://127.0.0.1:9000/mcp"
#define BEGIN_S  (WRIT_SAMPLE_ISSUED_US / 1000000)
#define END_S    (BEGIN_S + WRIT_SAMPLE_LIFETIME_US / 1000000)

static struct writ_arena *arena;
static struct writ_signer *signer, *stranger;
static struct writ_jwks *keys;
static struct writ_decision decision;

static void
setup(void)
{
    const struct writ_signer *all[1];

    arena = writ_value_arena();
    signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    stranger = writ_keys_signer(WRIT_JWK_ALG_ES256);
    all[0] = signer;
    keys = writ_keys_set(all, 1);
    decision =
        writ_sample_decision(WRIT_DECISION_ALLOW, writ_profile_find(WRIT_LIT("crewai-v1")), arena);
}

static void
teardown(void)
{
    writ_jwks_free(keys);
    writ_signer_free(signer);
    writ_signer_free(stranger);
    writ_arena_free(arena);
}

static struct writ_credential_request
request(void)
{
    return (struct writ_credential_request){
        .decision = &decision,
        .issuer = WRIT_LIT(ISSUER),
        .audience = WRIT_LIT(AUDIENCE),
        .tenant = WRIT_LIT("acme"),
    };
}

/* The tool server's view of the call that the sample decision allows. */
static struct writ_credential_expect
expectation(void)
{
    struct writ_credential_expect expect = {
        .keys = keys,
        .issuer = WRIT_LIT(ISSUER),
        .audience = WRIT_LIT(AUDIENCE),
        .tool = decision.tool.view,
        .agent_id = decision.agent_id.view,
        .tenant = WRIT_LIT("acme"),
        .target_state = decision.target_state_digest,
        .now_s = BEGIN_S + 10,
    };

    ck_assert_ok(writ_digest_read(decision.params_hash.view, &expect.params_hash, NULL));
    return expect;
}

/* The token of the sample with this typ; lives in the arena. */
static struct writ_view
issued_as(const char *typ, const struct writ_signer *by)
{
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_credential_request wanted = request();
    struct writ_err err = {0};

    wanted.typ = writ_view_str(typ);
    ck_assert_msg(writ_is_ok(writ_credential_issue(by, &wanted, &token, &err)), "%s", err.text);
    return writ_view_copy(writ_buf_view(&token), arena);
}

static struct writ_view
issued(const struct writ_signer *by)
{
    return issued_as("", by);
}

static const char *
reason_of(struct writ_view token, const struct writ_credential_expect *expect)
{
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_err err = {0};

    ck_assert_msg(
        writ_is_ok(writ_credential_verify(token, expect, arena, NULL, &why, &err)), "%s", err.text);
    return writ_reason_name(why).ptr;
}

static const struct writ_json *
payload_of(struct writ_view token)
{
    const struct writ_json *payload = NULL;
    struct writ_jws jws;

    ck_assert_ok(writ_jws_read(token, arena, &jws, NULL));
    ck_assert_ok(writ_jws_claims(&jws, arena, &payload, NULL));
    return payload;
}

/* ---- issuing */

START_TEST(credential_issue_gives_a_verifying_credential)
{
    struct writ_credential_expect expect;
    struct writ_claims claims;
    enum writ_reason why = WRIT_REASON_NONE;

    setup();
    expect = expectation();
    ck_assert_ok(writ_credential_verify(issued(signer), &expect, arena, &claims, &why, NULL));
    ck_assert_int_eq(why, WRIT_REASON_CREDENTIAL_OK);
    ck_assert_int_eq(claims.iat, BEGIN_S);
    ck_assert_int_eq(claims.nbf, BEGIN_S);
    ck_assert_int_eq(claims.exp, END_S);
    teardown();
}
END_TEST

START_TEST(credential_issue_takes_every_claim_from_the_decision)
{
#define SAME(claim, member) ck_assert(writ_view_equal(claims.claim, decision.member.view))
    struct writ_claims claims;

    setup();
    ck_assert_ok(writ_claim_read(payload_of(issued(signer)), &claims, NULL));
    ck_assert_view(claims.iss, ISSUER);
    ck_assert_view(claims.aud, AUDIENCE);
    ck_assert_view(claims.tenant, "acme");
    ck_assert_view(claims.authorization_details.location, AUDIENCE);
    SAME(authorization_details.tool, tool);
    SAME(authorization_details.params_hash, params_hash);
    SAME(sub, agent_id);
    SAME(jti, decision_id);
    SAME(decision_id, decision_id);
    SAME(intent_ref, intent_ref);
    SAME(intent_digest, intent_digest);
    SAME(params_hash, params_hash);
    SAME(target_state_digest, target_state_digest);
    SAME(normalized_scope, normalized_scope);
    SAME(continuation_id, continuation_id);
    SAME(idempotency_key, idempotency_key);
    SAME(boundary_id, boundary_id);
    SAME(policy_digest, policy_digest);
    SAME(receipt_ref, receipt_ref);
    SAME(decision_context_hash, decision_context_hash);
    ck_assert_int_eq(claims.seq, decision.seq.value);
    teardown();
}
END_TEST

START_TEST(credential_issue_adds_no_other_member)
{
    const struct writ_json *payload;
    struct writ_jws jws;
    size_t rows = 0;

    setup();
    ck_assert_ok(writ_jws_read(issued(signer), arena, &jws, NULL));
    ck_assert_view(jws.typ, WRIT_CREDENTIAL_TYP);
    ck_assert(writ_view_equal(jws.kid, writ_jwk_thumbprint(writ_signer_jwk(signer))));
    ck_assert_ok(writ_jws_claims(&jws, arena, &payload, NULL));
    while (writ_claim_rows[rows].kind != WRIT_CLAIM_NONE) {
        rows++;
    }
    ck_assert_uint_eq(payload->count, rows - 2); /* no delegate and no list were given */
    ck_assert_ptr_null(writ_json_get(payload, WRIT_LIT("subject")));
    ck_assert_ptr_null(writ_json_get(payload, WRIT_LIT("status")));
    teardown();
}
END_TEST

START_TEST(credential_issue_with_subject_and_status_index_has_their_claims)
{
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_credential_request wanted;
    struct writ_credential_expect expect;
    struct writ_claims claims;
    enum writ_reason why;

    setup();
    wanted = request();
    wanted.subject = WRIT_LIT("alice \"a\"");
    wanted.status = (struct writ_claim_status){WRIT_LIT("https://gateway.example/list"), 77};
    ck_assert_ok(writ_credential_issue(signer, &wanted, &token, NULL));
    expect = expectation();
    ck_assert_ok(
        writ_credential_verify(writ_buf_view(&token), &expect, arena, &claims, &why, NULL));
    ck_assert_int_eq(why, WRIT_REASON_CREDENTIAL_OK);
    ck_assert_view(claims.subject, "alice \"a\"");
    ck_assert_view(claims.status.uri, "https://gateway.example/list");
    ck_assert_int_eq(claims.status.place, 77);
    wanted.subject = WRIT_LIT("\xff");
    ck_assert_code(writ_credential_issue(signer, &wanted, &token, NULL), WRIT_E_INVALID);
    wanted.subject = (struct writ_view){NULL, 0};
    wanted.status.uri = WRIT_LIT("\xff");
    ck_assert_code(writ_credential_issue(signer, &wanted, &token, NULL), WRIT_E_INVALID);
    teardown();
}
END_TEST

START_TEST(credential_issue_of_absent_members_writes_null)
{
    struct writ_credential_request wanted;
    struct writ_credential_expect expect;
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_claims claims;

    setup();
    decision.continuation_id.is = WRIT_ABSENT;
    decision.target_state_digest.is = WRIT_NULL;
    wanted = request();
    wanted.tenant = WRIT_LIT("");
    ck_assert_ok(writ_credential_issue(signer, &wanted, &token, NULL));
    ck_assert_ok(writ_claim_read(payload_of(writ_buf_view(&token)), &claims, NULL));
    ck_assert_ptr_null(claims.continuation_id.ptr);
    ck_assert_ptr_null(claims.target_state_digest.ptr);
    ck_assert_ptr_null(claims.tenant.ptr);
    expect = expectation();
    ck_assert_str_eq(reason_of(writ_buf_view(&token), &expect), "scope_mismatch");
    expect.tenant = WRIT_LIT("");
    ck_assert_str_eq(reason_of(writ_buf_view(&token), &expect), "credential_ok");
    teardown();
}
END_TEST

START_TEST(credential_issue_works_with_every_algorithm)
{
    static const enum writ_jwk_alg algs[] = {
        WRIT_JWK_ALG_ES256, WRIT_JWK_ALG_RS256, WRIT_JWK_ALG_EDDSA};

    setup();
    for (size_t i = 0; i < sizeof(algs) / sizeof(algs[0]); i++) {
        struct writ_signer *one = writ_keys_signer(algs[i]);
        const struct writ_signer *all[] = {one};
        struct writ_jwks *set = writ_keys_set(all, 1);
        struct writ_credential_expect expect = expectation();

        expect.keys = set;
        ck_assert_str_eq(reason_of(issued(one), &expect), "credential_ok");
        writ_jwks_free(set);
        writ_signer_free(one);
    }
    teardown();
}
END_TEST

static void
assert_not_issued(const struct writ_credential_request *wanted, enum writ_code code)
{
    writ_auto_buf token = writ_buf_make(65536);
    struct writ_err err = {0};
    writ_result result = writ_credential_issue(signer, wanted, &token, &err);

    ck_assert_msg(result.code == code, "%s: %s", writ_code_name(result.code), err.text);
}

START_TEST(credential_issue_of_a_deny_is_refused)
{
    struct writ_credential_request wanted;

    setup();
    for (int route = WRIT_DECISION_DENY; route <= WRIT_DECISION_REVISE; route++) {
        if (route != WRIT_DECISION_ALLOW) {
            decision = writ_sample_decision(
                (enum writ_decision_route)route, writ_profile_find(WRIT_LIT("crewai-v1")), arena);
            wanted = request();
            assert_not_issued(&wanted, WRIT_E_INVALID);
        }
    }
    decision = (struct writ_decision){0};
    wanted = request();
    assert_not_issued(&wanted, WRIT_E_INVALID);
    teardown();
}
END_TEST

START_TEST(credential_issue_without_a_needed_member_is_refused)
{
#define LACKS(member)                                                                              \
    do {                                                                                           \
        struct writ_decision whole = decision;                                                     \
        struct writ_credential_request wanted = request();                                         \
        decision.member.is = WRIT_ABSENT;                                                          \
        assert_not_issued(&wanted, WRIT_E_INVALID);                                                \
        decision = whole;                                                                          \
    } while (0)

    setup();
    LACKS(agent_id);
    LACKS(boundary_id);
    LACKS(decision_context_hash);
    LACKS(decision_id);
    LACKS(expires_at);
    LACKS(idempotency_key);
    LACKS(intent_digest);
    LACKS(intent_ref);
    LACKS(issued_at);
    LACKS(normalized_scope);
    LACKS(params_hash);
    LACKS(policy_digest);
    LACKS(receipt_ref);
    LACKS(seq);
    LACKS(tool);
    teardown();
}
END_TEST

START_TEST(credential_issue_without_issuer_or_audience_is_refused)
{
    struct writ_credential_request wanted;

    setup();
    wanted = request();
    wanted.issuer = WRIT_LIT("");
    assert_not_issued(&wanted, WRIT_E_INVALID);
    wanted = request();
    wanted.audience = WRIT_LIT("");
    assert_not_issued(&wanted, WRIT_E_INVALID);
    teardown();
}
END_TEST

START_TEST(credential_issue_of_an_unwritable_claim_is_refused)
{
    struct writ_credential_request wanted;
    struct writ_claims claims;

    setup();
    wanted = request();
    decision.agent_id.view = writ_view("a\0b", 3); /* libraries take it as a C string */
    assert_not_issued(&wanted, WRIT_E_INVALID);
    decision.agent_id.view = WRIT_LIT("a\xff");
    assert_not_issued(&wanted, WRIT_E_INVALID);
    decision.agent_id.view = WRIT_LIT("a");
    decision.normalized_scope.view = WRIT_LIT("a\xff");
    assert_not_issued(&wanted, WRIT_E_INVALID);
    decision.normalized_scope.view = writ_view("a\0b", 3);
    decision.tool.view = WRIT_LIT("a\xff");
    assert_not_issued(&wanted, WRIT_E_INVALID);
    decision.tool.view = WRIT_LIT("a\"\\\n\xe2\x80\xa8\xf0\x9f\x98\x80");
    ck_assert_ok(writ_claim_read(payload_of(issued(signer)), &claims, NULL));
    ck_assert(writ_view_equal(claims.authorization_details.tool, decision.tool.view));
    ck_assert(writ_view_equal(claims.normalized_scope, decision.normalized_scope.view));
    teardown();
}
END_TEST

START_TEST(credential_issue_beyond_the_lifetime_limits_is_refused)
{
    static const struct {
        int64_t lifetime_us;
        enum writ_code code;
    } rows[] = {
        {999999, WRIT_E_INVALID},
        {1000000, WRIT_OK},
        {WRIT_CREDENTIAL_LIFETIME_MAX_S * INT64_C(1000000), WRIT_OK},
        {(WRIT_CREDENTIAL_LIFETIME_MAX_S + 1) * INT64_C(1000000), WRIT_E_INVALID},
    };

    setup();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct writ_credential_request wanted = request();

        ck_assert_ok(writ_decision_place(&decision, writ_profile_find(WRIT_LIT("crewai-v1")), 3,
            WRIT_SAMPLE_ISSUED_US, rows[i].lifetime_us, arena, NULL));
        assert_not_issued(&wanted, rows[i].code);
    }
    teardown();
}
END_TEST

START_TEST(credential_issue_beyond_the_maximum_length_is_refused)
{
    writ_auto_buf scope = writ_buf_make(16384);
    struct writ_credential_request wanted;

    setup();
    wanted = request();
    while (scope.len < 4000) {
        writ_buf_byte(&scope, 's');
    }
    decision.normalized_scope.view = writ_buf_view(&scope);
    assert_not_issued(&wanted, WRIT_OK);
    while (scope.len < WRIT_JWS_BYTES_MAX - 1) {
        writ_buf_byte(&scope, 's');
    }
    decision.normalized_scope.view = writ_buf_view(&scope);
    assert_not_issued(&wanted, WRIT_E_LIMIT);
    teardown();
}
END_TEST

/* ---- libjwt as the oracle */

/* The token that libjwt makes of the claims; new, for free(3). */
static char *
assembled_by_libjwt(const struct writ_json *payload)
{
    jwt_t *jwt = NULL;
    char *text;

    ck_assert_int_eq(jwt_new(&jwt), 0);
    WRIT_JSON_EACH(name, payload)
    {
        const struct writ_json *value = writ_json_value(name);
        writ_auto_buf key = writ_buf_make(256);
        writ_auto_buf member = writ_buf_make(8192);

        writ_buf_put(&key, writ_json_string(name));
        writ_buf_byte(&key, '\0');
        if (writ_json_type(value) == WRIT_JSON_STRING) {
            writ_buf_put(&member, writ_json_string(value));
            writ_buf_byte(&member, '\0');
            ck_assert_int_eq(jwt_add_grant(jwt, key.ptr, member.ptr), 0);
        } else if (writ_json_type(value) == WRIT_JSON_NUMBER) {
            ck_assert_int_eq(jwt_add_grant_int(jwt, key.ptr, (long)value->number), 0);
        } else {
            writ_buf_fmt(&member, "{\"%s\":", key.ptr);
            ck_assert_ok(writ_jcs_put(&member, value, NULL));
            writ_buf_put(&member, writ_view("}", 2));
            ck_assert_int_eq(jwt_add_grants_json(jwt, member.ptr), 0);
        }
    }
    text = jwt_get_grants_json(jwt, NULL);
    ck_assert_ptr_nonnull(text);
    jwt_free(jwt);
    return text;
}

START_TEST(libjwt_assembles_the_same_bytes)
{
    struct writ_jws jws;
    char *text;

    setup();
    decision.target_state_digest = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    decision.normalized_scope.view = WRIT_LIT("a \"scope\" \\ of/one");
    ck_assert_ok(writ_jws_read(issued(signer), arena, &jws, NULL));
    text = assembled_by_libjwt(payload_of(issued(signer)));
    ck_assert_view(jws.payload, text);
    free(text);
    teardown();
}
END_TEST

static void
put_public_pem(struct writ_buf *ret)
{
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);

    ck_assert_ok(writ_signer_put_pem(signer, &pem, NULL));
    writ_keys_public_pem(writ_buf_view(&pem), ret);
}

/* libjwt 1.10 takes no typ but JWT, later ones take any: this is what `credential.typ` is for. */
START_TEST(credential_issue_verifies_with_libjwt)
{
    writ_auto_buf pem = writ_buf_make(4096);
    struct writ_view token;
    jwt_t *jwt = NULL;
    char *json;

    setup();
    put_public_pem(&pem);
    token = issued_as("JWT", signer);
    ck_assert_int_eq(jwt_decode(&jwt, token.ptr, (const unsigned char *)pem.ptr, (int)pem.len), 0);
    ck_assert_int_eq(jwt_get_alg(jwt), JWT_ALG_ES256);
    ck_assert_str_eq(jwt_get_grant(jwt, "iss"), ISSUER);
    ck_assert_str_eq(jwt_get_grant(jwt, "aud"), AUDIENCE);
    ck_assert_int_eq(jwt_get_grant_int(jwt, "exp"), END_S);
    ck_assert_int_eq(jwt_get_grant_int(jwt, "seq"), 0);
    ck_assert(writ_view_is(decision.decision_id.view, jwt_get_grant(jwt, "jti")));
    json = jwt_get_grants_json(jwt, "authorization_details");
    ck_assert_ptr_nonnull(strstr(json, "\"mcp_tool_call\""));
    free(json);
    jwt_free(jwt);
    teardown();
}
END_TEST

START_TEST(credential_verify_accepts_a_token_of_libjwt)
{
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    writ_auto_buf kid = writ_buf_make(256);
    writ_auto_buf claims = writ_buf_make(8192);
    struct writ_credential_expect expect;
    jwt_t *jwt = NULL;
    char *token;

    setup();
    expect = expectation();
    expect.typ = WRIT_LIT("JWT");
    ck_assert_ok(writ_jcs_put(&claims, payload_of(issued(signer)), NULL));
    writ_buf_byte(&claims, '\0');
    ck_assert_ok(writ_signer_put_pem(signer, &pem, NULL));
    writ_buf_put(&kid, writ_jwk_kid(writ_signer_jwk(signer)));
    writ_buf_byte(&kid, '\0');
    ck_assert_int_eq(jwt_new(&jwt), 0);
    ck_assert_int_eq(jwt_add_grants_json(jwt, claims.ptr), 0);
    ck_assert_int_eq(jwt_add_header(jwt, "kid", kid.ptr), 0);
    ck_assert_int_eq(
        jwt_set_alg(jwt, JWT_ALG_ES256, (const unsigned char *)pem.ptr, (int)pem.len), 0);
    token = jwt_encode_str(jwt);
    ck_assert_str_eq(reason_of(writ_view_str(token), &expect), "credential_ok");
    free(token);
    jwt_free(jwt);
    teardown();
}
END_TEST

/* libjwt takes the algorithm from the token and would accept this one */
START_TEST(credential_verify_of_an_hmac_keyed_with_the_public_pem_is_refused)
{
    writ_auto_buf pem = writ_buf_make(4096);
    writ_auto_buf kid = writ_buf_make(256);
    writ_auto_buf claims = writ_buf_make(8192);
    struct writ_credential_expect expect;
    jwt_t *jwt = NULL;
    jwt_t *fooled = NULL;
    char *token;

    setup();
    expect = expectation();
    expect.typ = WRIT_LIT("JWT");
    put_public_pem(&pem);
    ck_assert_ok(writ_jcs_put(&claims, payload_of(issued(signer)), NULL));
    writ_buf_byte(&claims, '\0');
    writ_buf_put(&kid, writ_jwk_kid(writ_signer_jwk(signer)));
    writ_buf_byte(&kid, '\0');
    ck_assert_int_eq(jwt_new(&jwt), 0);
    ck_assert_int_eq(jwt_add_grants_json(jwt, claims.ptr), 0);
    ck_assert_int_eq(jwt_add_header(jwt, "kid", kid.ptr), 0);
    ck_assert_int_eq(
        jwt_set_alg(jwt, JWT_ALG_HS256, (const unsigned char *)pem.ptr, (int)pem.len), 0);
    token = jwt_encode_str(jwt);
    ck_assert_int_eq(jwt_decode(&fooled, token, (const unsigned char *)pem.ptr, (int)pem.len), 0);
    ck_assert_str_eq(reason_of(writ_view_str(token), &expect), "bad_signature");
    free(token);
    jwt_free(jwt);
    jwt_free(fooled);
    teardown();
}
END_TEST

/* ---- verifying */

/* The sample's claims with some replaced: pairs of a name and its JSON text, or NULL to leave it
 * out; ended by a NULL name. A name that the claims do not have is added. */
struct change {
    const char *name, *json;
};

static const struct change *
change_of(const struct change *changes, const struct writ_json *name)
{
    for (; changes->name != NULL; changes++) {
        if (name != NULL && writ_json_is(name, writ_view_str(changes->name))) {
            return changes;
        }
    }
    return NULL;
}

static void
put_changed(const struct writ_json *claims, const struct change *changes, struct writ_buf *ret)
{
    const char *comma = "{";

    WRIT_JSON_EACH(name, claims)
    {
        const struct change *change = change_of(changes, name);

        if (change != NULL) {
            continue;
        }
        writ_buf_str(ret, comma);
        ck_assert_ok(writ_jcs_put(ret, name, NULL));
        writ_buf_byte(ret, ':');
        ck_assert_ok(writ_jcs_put(ret, writ_json_value(name), NULL));
        comma = ",";
    }
    for (; changes->name != NULL; changes++) {
        if (changes->json != NULL) {
            writ_buf_fmt(ret, ",\"%s\":%s", changes->name, changes->json);
        }
    }
    writ_buf_byte(ret, '}');
}

static struct writ_view
forged(const struct writ_signer *by, const char *typ, const struct change *changes)
{
    writ_auto_buf payload = writ_buf_make(65536);
    writ_auto_buf token = writ_buf_make(65536);

    put_changed(payload_of(issued(signer)), changes, &payload);
    ck_assert_ok(writ_jws_sign(by, writ_view_str(typ), writ_buf_view(&payload), &token, NULL));
    return writ_view_copy(writ_buf_view(&token), arena);
}

struct claim_row {
    const char *what, *reason;
    struct change changes[4];
};

#define OTHER "\"sha256:3333333333333333333333333333333333333333333333333333333333333333\""
#define DETAILS(location, hash, tool)                                                              \
    "[{\"locations\":[\"" location "\"],\"params_hash\":" hash ",\"tool\":\"" tool                 \
    "\",\"type\":\"mcp_tool_call\"}]"
#define HASH "\"sha256:b8cc604f76c5932528fd34fdfa09e8d8389c8d7010828a8b6641b536015122e0\""

/* Claims that are wrong, and bindings that differ. The sample begins at 1782363600 and ends 300 s
 * later; the check is 10 s after its begin. */
static const struct claim_row claim_rows[] = {
    {"unchanged", "credential_ok", {{0}}},
    {"a claim more", "credential_ok", {{"more", "[1,{\"a\":2}]"}}},
    {"exp missing", "malformed", {{"exp", NULL}}},
    {"exp a string", "malformed", {{"exp", "\"1782363900\""}}},
    {"exp a fraction", "malformed", {{"exp", "1782363900.5"}}},
    {"exp with an exponent", "malformed", {{"exp", "1782363900e0"}}},
    {"exp beyond a double", "malformed", {{"exp", "1e400"}}},
    {"exp negative", "malformed", {{"exp", "-1"}}},
    {"exp null", "malformed", {{"exp", "null"}}},
    {"exp twice", "malformed", {{"exp", "1782363900"}, {"exp", "1782363900"}}},
    {"exp in decades", "malformed", {{"exp", "2782363900"}}},
    {"exp at the longest lifetime", "credential_ok", {{"exp", "1782367200"}}},
    {"exp a second later", "malformed", {{"exp", "1782367201"}}},
    {"exp now", "expired", {{"exp", "1782363610"}}},
    {"exp in a second", "credential_ok", {{"exp", "1782363611"}}},
    {"exp before iat", "expired", {{"exp", "1782363000"}}},
    {"exp 0", "expired", {{"exp", "0"}}},
    {"nbf missing", "malformed", {{"nbf", NULL}}},
    {"nbf now", "credential_ok", {{"nbf", "1782363610"}}},
    {"nbf in a second", "not_yet_valid", {{"nbf", "1782363611"}}},
    {"iat missing", "malformed", {{"iat", NULL}}},
    {"iat in the future", "not_yet_valid", {{"iat", "1782363611"}}},
    {"aud a list", "malformed", {{"aud", "[\"" AUDIENCE "\"]"}}},
    {"aud longer", "wrong_audience", {{"aud", "\"" AUDIENCE "/\""}}},
    {"aud shorter", "wrong_audience", {{"aud", "\"http://127.0.0.1:9000/\""}}},
    {"aud in other case", "wrong_audience", {{"aud", "\"HTTP://127.0.0.1:9000/mcp\""}}},
    {"aud missing", "malformed", {{"aud", NULL}}},
    {"another location", "wrong_audience",
        {{"authorization_details", DETAILS("http://other/", HASH, "customer_export")}}},
    {"iss of another", "wrong_issuer", {{"iss", "\"https://gateway.example\""}}},
    {"iss missing", "malformed", {{"iss", NULL}}},
    {"sub of another", "scope_mismatch", {{"sub", "\"researcher_02\""}}},
    {"sub missing", "malformed", {{"sub", NULL}}},
    {"jti missing", "malformed", {{"jti", NULL}}},
    {"jti empty", "malformed", {{"jti", "\"\""}}},
    {"jti a number", "malformed", {{"jti", "7"}}},
    {"jti of another decision", "malformed", {{"jti", "\"other\""}}},
    {"tool of another", "scope_mismatch",
        {{"authorization_details", DETAILS(AUDIENCE, HASH, "customer_delete")}}},
    {"tool in other case", "scope_mismatch",
        {{"authorization_details", DETAILS(AUDIENCE, HASH, "Customer_export")}}},
    {"tool with a NUL", "scope_mismatch",
        {{"authorization_details", DETAILS(AUDIENCE, HASH, "customer_export\\u0000")}}},
    {"another type of authorization", "malformed",
        {{"authorization_details", "[{\"type\":\"payment\",\"locations\":[\"" AUDIENCE "\"],"
                                   "\"params_hash\":" HASH ",\"tool\":\"customer_export\"}]"}}},
    {"no authorization_details", "malformed", {{"authorization_details", NULL}}},
    {"tenant of another", "scope_mismatch", {{"tenant", "\"acme2\""}}},
    {"tenant null", "scope_mismatch", {{"tenant", "null"}}},
    {"tenant missing", "malformed", {{"tenant", NULL}}},
    {"other arguments", "args_mismatch", {{"params_hash", OTHER}}},
    {"other arguments in the details", "args_mismatch",
        {{"authorization_details", DETAILS(AUDIENCE, OTHER, "customer_export")}}},
    {"other state", "state_drift", {{"target_state_digest", OTHER}}},
    {"no state", "state_drift", {{"target_state_digest", "null"}}},
    {"state missing", "malformed", {{"target_state_digest", NULL}}},
    {"seq missing", "malformed", {{"seq", NULL}}},
    {"policy_digest no digest", "malformed", {{"policy_digest", "\"v7\""}}},
};

START_TEST(credential_verify_compares_each_claim_with_the_call)
{
    setup();
    for (size_t i = 0; i < sizeof(claim_rows) / sizeof(claim_rows[0]); i++) {
        struct writ_credential_expect expect = expectation();
        const char *got =
            reason_of(forged(signer, WRIT_CREDENTIAL_TYP, claim_rows[i].changes), &expect);

        ck_assert_msg(strcmp(got, claim_rows[i].reason) == 0, "%s: %s", claim_rows[i].what, got);
        writ_arena_reset(arena);
        decision = writ_sample_decision(
            WRIT_DECISION_ALLOW, writ_profile_find(WRIT_LIT("crewai-v1")), arena);
    }
    teardown();
}
END_TEST

START_TEST(credential_verify_of_empty_text_is_missing)
{
    struct writ_credential_expect expect;

    setup();
    expect = expectation();
    ck_assert_str_eq(reason_of(writ_view(NULL, 0), &expect), "missing_credential");
    ck_assert_str_eq(reason_of(WRIT_LIT(" "), &expect), "malformed");
    ck_assert_str_eq(reason_of(WRIT_LIT("x"), &expect), "malformed");
    ck_assert_str_eq(reason_of(WRIT_LIT("e30.e30.e30"), &expect), "malformed");
    teardown();
}
END_TEST

START_TEST(credential_verify_with_an_absent_key_is_unknown_key)
{
    const struct change none[] = {{0}};
    struct writ_credential_expect expect;

    setup();
    expect = expectation();
    ck_assert_str_eq(
        reason_of(forged(stranger, WRIT_CREDENTIAL_TYP, none), &expect), "unknown_key");
    expect.keys = NULL;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "unknown_key");
    teardown();
}
END_TEST

/* A stranger's signature under the kid of a known key; and the known key under another alg. */
START_TEST(credential_verify_of_another_key_under_a_known_kid_is_bad_signature)
{
    static const char *const algs[] = {"ES256", "none", "HS256", "EdDSA", "RS256", "es256"};

    setup();
    for (size_t i = 0; i < sizeof(algs) / sizeof(algs[0]); i++) {
        writ_auto_buf header = writ_buf_make(1024);
        writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);
        writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
        struct writ_credential_expect expect = expectation();
        struct writ_jws jws;

        ck_assert_ok(writ_jws_read(issued(signer), arena, &jws, NULL));
        writ_buf_fmt(&header,
            "{\"alg\":\"%s\",\"kid\":\"" WRIT_VIEW_FMT "\",\"typ\":\"" WRIT_CREDENTIAL_TYP "\"}",
            algs[i], WRIT_VIEW_ARG(jws.kid));
        writ_base64url_put(&token, writ_buf_view(&header));
        writ_buf_byte(&token, '.');
        writ_base64url_put(&token, jws.payload);
        ck_assert_ok(
            writ_signer_sign(i == 0 ? stranger : signer, writ_buf_view(&token), &signature, NULL));
        writ_buf_byte(&token, '.');
        if (i != 1) { /* none comes unsigned */
            writ_base64url_put(&token, writ_buf_view(&signature));
        }
        ck_assert_str_eq(reason_of(writ_buf_view(&token), &expect), "bad_signature");
    }
    teardown();
}
END_TEST

START_TEST(credential_verify_of_another_typ_is_malformed)
{
    static const struct {
        const char *typ, *want, *reason;
    } rows[] = {
        {"writ-credential+jwt", "", "credential_ok"},
        {"writ-credential+JWT", "", "malformed"},
        {"application/writ-credential+jwt", "", "malformed"},
        {"JWT", "", "malformed"},
        {"at+jwt", "", "malformed"},
        {"statuslist+jwt", "", "malformed"},
        {"", "", "malformed"},
        {"JWT", "JWT", "credential_ok"},
        {"jwt", "JWT", "malformed"},
        {"", "JWT", "malformed"},
        {"writ-credential+jwt", "JWT", "malformed"},
        {"writ-credential+jwt", "writ-credential+jwt", "credential_ok"},
    };
    const struct change none[] = {{0}};

    setup();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct writ_credential_expect expect = expectation();

        expect.typ = writ_view_str(rows[i].want);
        ck_assert_str_eq(reason_of(forged(signer, rows[i].typ, none), &expect), rows[i].reason);
    }
    teardown();
}
END_TEST

/* A token with this header and the sample's claims, signed. */
static struct writ_view
with_header(const char *before_kid, const char *after_kid)
{
    writ_auto_buf header = writ_buf_make(1024);
    writ_auto_buf signature = writ_buf_make(WRIT_SIGNER_BYTES_MAX);
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_jws jws;

    ck_assert_ok(writ_jws_read(issued(signer), arena, &jws, NULL));
    writ_buf_str(&header, before_kid);
    writ_buf_put(&header, jws.kid);
    writ_buf_str(&header, after_kid);
    writ_base64url_put(&token, writ_buf_view(&header));
    writ_buf_byte(&token, '.');
    writ_base64url_put(&token, jws.payload);
    ck_assert_ok(writ_signer_sign(signer, writ_buf_view(&token), &signature, NULL));
    writ_buf_byte(&token, '.');
    writ_base64url_put(&token, writ_buf_view(&signature));
    return writ_view_copy(writ_buf_view(&token), arena);
}

#define TYPED "{\"alg\":\"ES256\",\"typ\":\"" WRIT_CREDENTIAL_TYP "\",\"kid\":\""

START_TEST(faulty_header_is_malformed_under_any_signature)
{
    static const struct {
        const char *before, *after, *reason;
    } rows[] = {
        {TYPED, "\"}", "credential_ok"},
        {"{\"alg\":\"ES256\",\"kid\":\"", "\"}", "malformed"}, /* no typ */
        {TYPED, "\",\"crit\":[\"x\"],\"x\":1}", "malformed"},
        {TYPED, "\",\"jku\":\"http://127.0.0.1/\"}", "malformed"},
        {TYPED, "\",\"jwk\":{}}", "malformed"},
        {TYPED, "\",\"b64\":true}", "malformed"},
        {TYPED, "\",\"alg\":\"ES256\"}", "malformed"},
        {"{\"typ\":\"writ-credential+jwt\",\"kid\":\"", "\"}", "malformed"},
        {"{\"alg\":\"ES256\",\"typ\":\"writ-credential+jwt\",\"kid\":[\"", "\"]}", "malformed"},
        {"{\"alg\":\"ES256\",\"typ\":\"", "\"}", "malformed"}, /* no kid */
        {TYPED "x", "\"}", "unknown_key"},
    };

    setup();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct writ_credential_expect expect = expectation();
        const char *got = reason_of(with_header(rows[i].before, rows[i].after), &expect);

        ck_assert_msg(strcmp(got, rows[i].reason) == 0, "%zu: %s", i, got);
    }
    teardown();
}
END_TEST

static enum writ_status
always_revoked(void *ctx, const struct writ_claims *claims)
{
    (void)claims;
    (*(int *)ctx)++;
    return WRIT_STATUS_REVOKED;
}

static enum writ_status
never_known(void *ctx, const struct writ_claims *claims)
{
    (void)ctx;
    (void)claims;
    return WRIT_STATUS_UNKNOWN;
}

static enum writ_credential_use
always_spent(void *ctx, struct writ_view jti, int64_t until_s)
{
    (void)jti;
    (void)until_s;
    (*(int *)ctx)++;
    return WRIT_CREDENTIAL_USE_SPENT;
}

/* Everything is wrong at first; each step repairs one fault. */
START_TEST(credential_verify_reports_the_first_reason_in_order)
{
    static const struct change wrong[] = {{"iss", "\"x\""}, {"aud", "\"x\""}, {"nbf", "1782364000"},
        {"exp", "1782363000"}, {"sub", "\"x\""}, {"params_hash", OTHER},
        {"target_state_digest", OTHER}, {0}};
    struct change changes[sizeof(wrong) / sizeof(wrong[0])];
    static const char *const order[] = {"wrong_issuer", "wrong_audience", "not_yet_valid",
        "expired", "scope_mismatch", "args_mismatch", "state_drift", "revoked"};
    struct writ_credential_expect expect;
    int asked = 0;

    setup();
    expect = expectation();
    expect.status = always_revoked;
    expect.use = always_spent;
    expect.ctx = &asked;
    for (size_t right = 0; right < sizeof(order) / sizeof(order[0]); right++) {
        size_t n = 0;
        for (size_t i = right; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
            changes[n++] = wrong[i];
        }
        if (right == sizeof(wrong) / sizeof(wrong[0])) {
            changes[0] = (struct change){0};
        }
        ck_assert_str_eq(
            reason_of(forged(signer, WRIT_CREDENTIAL_TYP, changes), &expect), order[right]);
        ck_assert_int_eq(asked, right == 7 ? 1 : 0);
        ck_assert_str_eq(
            reason_of(forged(stranger, WRIT_CREDENTIAL_TYP, changes), &expect), "unknown_key");
        expect.inexact_params = true; /* before the arguments, after the scope */
        ck_assert_str_eq(reason_of(forged(signer, WRIT_CREDENTIAL_TYP, changes), &expect),
            right < 5 ? order[right] : "number_not_exact");
        expect.inexact_params = false;
    }
    expect.status = never_known;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "status_unknown");
    expect.status = NULL;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "replayed");
    ck_assert_int_eq(asked, 2);
    teardown();
}
END_TEST

/* Remembers one jti. */
struct memory {
    char jti[64];
    int64_t until_s;
    int asked;
};

static enum writ_credential_use
remember(void *ctx, struct writ_view jti, int64_t until_s)
{
    struct memory *memory = ctx;

    memory->asked++;
    memory->until_s = until_s;
    if (writ_view_is(jti, memory->jti)) {
        return WRIT_CREDENTIAL_USE_SPENT;
    }
    ck_assert_uint_lt(jti.len, sizeof(memory->jti));
    memset(memory->jti, 0, sizeof(memory->jti));
    memcpy(memory->jti, jti.ptr, jti.len);
    return WRIT_CREDENTIAL_USE_FRESH;
}

START_TEST(credential_verify_spends_a_jti_once_and_only_on_success)
{
    static const struct change other_args[] = {{"params_hash", OTHER}, {0}};
    struct writ_credential_expect expect;
    struct memory memory = {0};
    struct writ_view token;

    setup();
    expect = expectation();
    expect.skew_s = 3;
    expect.use = remember;
    expect.ctx = &memory;
    token = issued(signer);
    ck_assert_str_eq(
        reason_of(forged(stranger, WRIT_CREDENTIAL_TYP, other_args), &expect), "unknown_key");
    ck_assert_str_eq(
        reason_of(forged(signer, WRIT_CREDENTIAL_TYP, other_args), &expect), "args_mismatch");
    ck_assert_int_eq(memory.asked, 0);
    ck_assert_str_eq(reason_of(token, &expect), "credential_ok");
    ck_assert_int_eq(memory.until_s, END_S + 3);
    ck_assert_str_eq(reason_of(token, &expect), "replayed");
    /* signed again: other bytes, the same jti */
    ck_assert_str_eq(reason_of(issued(signer), &expect), "replayed");
    ck_assert_int_eq(memory.asked, 3);
    teardown();
}
END_TEST

static enum writ_credential_use
cannot_tell(void *ctx, struct writ_view jti, int64_t until_s)
{
    (void)ctx;
    (void)jti;
    (void)until_s;
    return WRIT_CREDENTIAL_USE_UNKNOWN;
}

START_TEST(credential_verify_with_an_unknown_use_is_an_io_error)
{
    struct writ_credential_expect expect;
    enum writ_reason why = WRIT_REASON_NONE;

    setup();
    expect = expectation();
    expect.use = cannot_tell;
    ck_assert_code(
        writ_credential_verify(issued(signer), &expect, arena, NULL, &why, NULL), WRIT_E_IO);
    ck_assert_int_eq(why, WRIT_REASON_NONE);
    teardown();
}
END_TEST

START_TEST(credential_verify_with_a_zeroed_expectation_always_fails)
{
    struct writ_credential_expect expect = {0};

    setup();
    ck_assert_str_eq(reason_of(issued(signer), &expect), "unknown_key");
    expect.keys = keys;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "wrong_issuer");
    expect.any_issuer = true;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "wrong_audience");
    expect.audience = WRIT_LIT(AUDIENCE);
    ck_assert_str_eq(reason_of(issued(signer), &expect), "not_yet_valid");
    expect.now_s = BEGIN_S;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "scope_mismatch");
    expect.tool = decision.tool.view;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "scope_mismatch");
    expect.any_agent = true;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "scope_mismatch");
    expect.any_tenant = true;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "args_mismatch");
    ck_assert_ok(writ_digest_read(decision.params_hash.view, &expect.params_hash, NULL));
    ck_assert_str_eq(reason_of(issued(signer), &expect), "state_drift");
    expect.any_target_state = true;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "credential_ok");
    teardown();
}
END_TEST

START_TEST(credential_verify_permits_the_skew_to_the_second)
{
    static const struct {
        int64_t now_s;
        const char *reason;
    } rows[] = {
        {BEGIN_S - 6, "not_yet_valid"},
        {BEGIN_S - 5, "credential_ok"},
        {END_S + 4, "credential_ok"},
        {END_S + 5, "expired"},
    };

    setup();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct writ_credential_expect expect = expectation();

        expect.skew_s = 5;
        expect.now_s = rows[i].now_s;
        ck_assert_str_eq(reason_of(issued(signer), &expect), rows[i].reason);
    }
    teardown();
}
END_TEST

START_TEST(credential_verify_of_an_expectation_beyond_its_limits_is_invalid)
{
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_credential_expect expect;

#define ASSERT_EXPECT(member, value, want)                                                         \
    do {                                                                                           \
        expect = expectation();                                                                    \
        expect.member = (value);                                                                   \
        ck_assert_code(                                                                            \
            writ_credential_verify(issued(signer), &expect, arena, NULL, &why, NULL), want);       \
    } while (0)

    setup();
    ASSERT_EXPECT(skew_s, WRIT_CREDENTIAL_SKEW_MAX_S, WRIT_OK);
    ASSERT_EXPECT(skew_s, WRIT_CREDENTIAL_SKEW_MAX_S + 1, WRIT_E_INVALID);
    ASSERT_EXPECT(skew_s, -1, WRIT_E_INVALID);
    ASSERT_EXPECT(lifetime_max_s, WRIT_CREDENTIAL_LIFETIME_MAX_S, WRIT_OK);
    ASSERT_EXPECT(lifetime_max_s, WRIT_CREDENTIAL_LIFETIME_MAX_S + 1, WRIT_E_INVALID);
    ASSERT_EXPECT(lifetime_max_s, -1, WRIT_E_INVALID);
    ASSERT_EXPECT(now_s, -1, WRIT_E_INVALID);
    ASSERT_EXPECT(now_s, (INT64_C(1) << 53) - 1, WRIT_OK);
    ASSERT_EXPECT(now_s, INT64_C(1) << 53, WRIT_E_INVALID);
    expect = expectation();
    expect.lifetime_max_s = 300;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "credential_ok");
    expect.lifetime_max_s = 299;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "malformed");
    teardown();
}
END_TEST

START_TEST(credential_verify_compares_the_state_exactly)
{
    static const struct writ_member_text none = {WRIT_NULL, {NULL, 0}};
    static const struct writ_member_text absent = {WRIT_ABSENT, {NULL, 0}};
    struct writ_credential_expect expect;

    setup();
    expect = expectation();
    expect.target_state = none;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "state_drift");
    expect.target_state = absent;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "state_drift");
    decision.target_state_digest = none;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "state_drift");
    expect.target_state = none;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "credential_ok");
    teardown();
}
END_TEST

/* A reader behind the verifier compares one of the two. */
START_TEST(credential_verify_without_arguments_needs_equal_digests)
{
    static const struct change one[] = {{"params_hash", OTHER}, {0}};
    static const struct change both[] = {{"params_hash", OTHER},
        {"authorization_details", DETAILS(AUDIENCE, OTHER, "customer_export")}, {0}};
    struct writ_credential_expect expect;

    setup();
    expect = expectation();
    expect.any_params = true;
    ck_assert_str_eq(reason_of(issued(signer), &expect), "credential_ok");
    ck_assert_str_eq(reason_of(forged(signer, WRIT_CREDENTIAL_TYP, one), &expect), "args_mismatch");
    ck_assert_str_eq(
        reason_of(forged(signer, WRIT_CREDENTIAL_TYP, both), &expect), "credential_ok");
    expect.any_params = false;
    ck_assert_str_eq(
        reason_of(forged(signer, WRIT_CREDENTIAL_TYP, both), &expect), "args_mismatch");
    teardown();
}
END_TEST

/* The keys of the test, of which the signer's is revoked as of then. */
static struct writ_jwks *
revoked_since(int64_t since_s)
{
    const struct writ_jwk *all[] = {writ_signer_jwk(signer)};
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_jwks *set = NULL;

    writ_jwks_put(&text, all, 1);
    writ_buf_cut(&text, text.len - 1); /* the last brace */
    writ_buf_fmt(&text, ",\"revoked\":[{\"kid\":\"" WRIT_VIEW_FMT "\",\"revoked_at\":%lld}]}",
        WRIT_VIEW_ARG(writ_jwk_kid(all[0])), (long long)since_s);
    ck_assert_ok(writ_jwks_read(writ_buf_view(&text), &set, NULL));
    return set;
}

/* A holder of the key can sign with any date, so earlier tokens are rejected as well. */
START_TEST(credential_verify_after_the_revocation_of_its_key_fails)
{
    static const struct {
        int64_t since_s;
        const char *reason;
    } rows[] = {{BEGIN_S - 100, "key_revoked"}, {BEGIN_S + 10, "key_revoked"},
        {BEGIN_S + 11, "credential_ok"}};

    setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_jwks *set = revoked_since(rows[i].since_s);
        struct writ_credential_expect expect = expectation();

        expect.keys = set;
        ck_assert_str_eq(reason_of(issued(signer), &expect), rows[i].reason);
        writ_jwks_free(set);
    }
    teardown();
}
END_TEST

START_TEST(credential_verify_of_every_length_fits_an_arena_of_64_kib)
{
    struct writ_arena *small = writ_arena_new(65536);
    struct writ_credential_expect expect;
    enum writ_reason why;

    setup();
    expect = expectation();
    for (size_t len = 0; len <= WRIT_JWS_BYTES_MAX; len += 511) {
        writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);

        /* the most values for its length: "[0,0,0,...]" in both parts */
        writ_auto_buf text = writ_buf_make(WRIT_JWS_BYTES_MAX);
        writ_buf_str(&text, "{\"a\":[0");
        while (text.len + 4 < len * 3 / 8) {
            writ_buf_str(&text, ",0");
        }
        writ_buf_str(&text, "]}");
        writ_base64url_put(&token, writ_buf_view(&text));
        writ_buf_byte(&token, '.');
        writ_base64url_put(&token, writ_buf_view(&text));
        writ_buf_byte(&token, '.');
        ck_assert_ok(
            writ_credential_verify(writ_buf_view(&token), &expect, small, NULL, &why, NULL));
        writ_arena_reset(small);
    }
    writ_arena_free(small);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("credential", credential_issue_gives_a_verifying_credential,
    credential_issue_takes_every_claim_from_the_decision, credential_issue_adds_no_other_member,
    credential_issue_with_subject_and_status_index_has_their_claims,
    credential_issue_of_absent_members_writes_null, credential_issue_works_with_every_algorithm,
    credential_issue_of_a_deny_is_refused, credential_issue_without_a_needed_member_is_refused,
    credential_issue_without_issuer_or_audience_is_refused,
    credential_issue_of_an_unwritable_claim_is_refused,
    credential_issue_beyond_the_lifetime_limits_is_refused,
    credential_issue_beyond_the_maximum_length_is_refused, libjwt_assembles_the_same_bytes,
    credential_issue_verifies_with_libjwt, credential_verify_accepts_a_token_of_libjwt,
    credential_verify_of_an_hmac_keyed_with_the_public_pem_is_refused,
    credential_verify_compares_each_claim_with_the_call, credential_verify_of_empty_text_is_missing,
    credential_verify_with_an_absent_key_is_unknown_key,
    credential_verify_of_another_key_under_a_known_kid_is_bad_signature,
    credential_verify_of_another_typ_is_malformed, faulty_header_is_malformed_under_any_signature,
    credential_verify_reports_the_first_reason_in_order,
    credential_verify_spends_a_jti_once_and_only_on_success,
    credential_verify_with_an_unknown_use_is_an_io_error,
    credential_verify_with_a_zeroed_expectation_always_fails,
    credential_verify_permits_the_skew_to_the_second,
    credential_verify_of_an_expectation_beyond_its_limits_is_invalid,
    credential_verify_compares_the_state_exactly,
    credential_verify_without_arguments_needs_equal_digests,
    credential_verify_after_the_revocation_of_its_key_fails,
    credential_verify_of_every_length_fits_an_arena_of_64_kib)
