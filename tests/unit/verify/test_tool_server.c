/* writ/verify.h as a tool server calls it. Only a genuine credential for exactly this call is
 * good, each difference has its reason, and hostile input never changes the keys. */
#include "support/evidence/keys.h"
#include "support/evidence/token.h"
#include "support/unit.h"

#include "base/bytes.h"
#include "evidence/credential/status_list.h"
#include "writ/verify.h"

#include <string.h>

#define ARGUMENTS "{\"to\":\"DE89370400440532013000\",\"amount\":12.50,\"currency\":\"EUR\"}"

static struct writ_verify *verify;
static int asked;
static enum writ_verify_use known;

static enum writ_verify_use
use(void *ctx, struct writ_view jti, int64_t until_s)
{
    ck_assert_ptr_eq(ctx, &asked);
    ck_assert_view(jti, WRIT_TOKEN_JTI);
    ck_assert_int_ge(until_s, WRIT_TOKEN_NOW_S);
    asked++;
    return known;
}

static void
setup(void)
{
    asked = 0;
    known = WRIT_VERIFY_USE_FRESH;
    ck_assert_ok(writ_verify_new(&verify, NULL));
    ck_assert_ok(writ_verify_keys(verify, WRIT_LIT(WRIT_TOKEN_JWKS), NULL));
}

static void
teardown(void)
{
    writ_verify_free(verify);
}

static struct writ_verify_call
genuine(void)
{
    return (struct writ_verify_call){
        .tool = WRIT_LIT(WRIT_TOKEN_TOOL),
        .arguments = WRIT_LIT(ARGUMENTS),
        .audience = WRIT_LIT(WRIT_TOKEN_AUD),
        .issuer = WRIT_LIT(WRIT_TOKEN_ISS),
        .agent_id = WRIT_LIT(WRIT_TOKEN_AGENT),
        .tenant = WRIT_LIT(WRIT_TOKEN_TENANT),
        .now_s = WRIT_TOKEN_NOW_S,
        .use = use,
        .ctx = &asked,
    };
}

/* The reason, which is static and outlives the answer. */
static const char *
reason_for(struct writ_view token, const struct writ_verify_call *call)
{
    struct writ_verify_answer answer = {0};
    struct writ_err err = {{0}, 0, 0};
    const char *reason;

    ck_assert_msg(
        writ_is_ok(writ_verify_credential(verify, token, call, &answer, &err)), "%s", err.text);
    reason = answer.reason;
    ck_assert_int_eq(answer.ok, strcmp(reason, "ok") == 0);
    ck_assert_int_eq(answer.ok, answer.jti.len > 0);
    ck_assert_str_ne(answer.sentence, "");
    ck_assert_ptr_nonnull(answer.hint);
    writ_verify_wipe(&answer);
    return reason;
}

START_TEST(verify_of_a_good_credential_gives_its_claims)
{
    struct writ_verify_call call;
    struct writ_verify_answer answer = {0};

    setup();
    call = genuine();
    ck_assert_ok(writ_verify_credential(verify, WRIT_LIT(WRIT_TOKEN_TEXT), &call, &answer, NULL));
    ck_assert(answer.ok);
    ck_assert_str_eq(answer.reason, "ok");
    ck_assert_view(answer.jti, WRIT_TOKEN_JTI);
    ck_assert_view(answer.issuer, WRIT_TOKEN_ISS);
    ck_assert_view(answer.agent_id, WRIT_TOKEN_AGENT);
    ck_assert_view(answer.tenant, WRIT_TOKEN_TENANT);
    ck_assert_view(answer.params_hash, WRIT_TOKEN_HASH);
    ck_assert_ptr_null(answer.target_state_digest.ptr);
    ck_assert_view(answer.normalized_scope, "payments/EUR");
    ck_assert_view(answer.boundary_id, "run-17");
    ck_assert_int_eq(answer.expires_at_s - answer.issued_at_s, 60);
    ck_assert_int_eq(asked, 1);
    writ_verify_wipe(&answer);
    ck_assert(!answer.ok);
    ck_assert_ptr_null(answer.jti.ptr);
    teardown();
}
END_TEST

START_TEST(verify_of_every_difference_has_its_reason)
{
    static const char *const digest = "sha256:"
                                      "00000000000000000000000000000000"
                                      "00000000000000000000000000000000";
    struct row {
        const char *reason;
        struct writ_verify_call call;
    } rows[] = {
        {"wrong_issuer", {.issuer = WRIT_LIT("https://gateway.example.com/")}},
        {"wrong_audience", {.audience = WRIT_LIT(WRIT_TOKEN_AUD "/")}},
        {"not_yet_valid", {.now_s = WRIT_TOKEN_NOW_S - 31}},
        {"expired", {.now_s = WRIT_TOKEN_NOW_S + 30}},
        {"scope_mismatch", {.tool = WRIT_LIT("transfer2")}},
        {"scope_mismatch", {.agent_id = WRIT_LIT("batch2")}},
        {"scope_mismatch", {.tenant = WRIT_LIT("umbrella")}},
        {"args_mismatch", {.arguments = WRIT_LIT("{}")}},
        {"args_mismatch", {.params_hash = writ_view_str(digest)}},
        {"state_drift", {.target_state_digest = writ_view_str(digest)}},
        {"malformed", {.typ = WRIT_LIT("writ+jwt")}},
        {"malformed", {.lifetime_max_s = 59}},
    };

    setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_verify_call call = genuine(), *change = &rows[i].call;

        call.issuer = change->issuer.len > 0 ? change->issuer : call.issuer;
        call.audience = change->audience.len > 0 ? change->audience : call.audience;
        call.now_s = change->now_s > 0 ? change->now_s : call.now_s;
        call.tool = change->tool.len > 0 ? change->tool : call.tool;
        call.agent_id = change->agent_id.len > 0 ? change->agent_id : call.agent_id;
        call.tenant = change->tenant.len > 0 ? change->tenant : call.tenant;
        call.arguments = change->arguments.len > 0 ? change->arguments : call.arguments;
        if (change->params_hash.len > 0) {
            call.arguments = (struct writ_view){NULL, 0};
            call.params_hash = change->params_hash;
        }
        call.target_state_digest = change->target_state_digest;
        call.typ = change->typ;
        call.lifetime_max_s = change->lifetime_max_s;
        ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), rows[i].reason);
    }
    ck_assert_int_eq(asked, 0); /* the credential was not used up */
    teardown();
}
END_TEST

/* Their digest is that of the genuine arguments: the double nearest to 12.50 is the same. */
START_TEST(verify_of_inexact_numbers_is_refused)
{
    static const char *const inexact[] = {"12.5000000000000000000001", "12.4999999999999999999999"};
    struct writ_verify_call call;

    setup();
    call = genuine();
    for (size_t i = 0; i < sizeof inexact / sizeof inexact[0]; i++) {
        writ_auto_buf text = writ_buf_make(256);

        writ_buf_fmt(&text,
            "{\"to\":\"DE89370400440532013000\",\"amount\":%s,\"currency\":\"EUR\"}", inexact[i]);
        call.arguments = writ_buf_view(&text);
        ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "number_not_exact");
        call.tool = WRIT_LIT("transfer2");
        ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "scope_mismatch");
        call.tool = WRIT_LIT(WRIT_TOKEN_TOOL);
    }
    call.arguments = WRIT_LIT("{\"amount\":9007199254740993}");
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "number_not_exact");
    ck_assert_int_eq(asked, 0); /* the credential was not used up */
    teardown();
}
END_TEST

START_TEST(verify_omits_the_named_comparisons_only)
{
    struct writ_verify_call call;
    const struct writ_verify_call empty = {.tool = WRIT_LIT(WRIT_TOKEN_TOOL),
        .audience = WRIT_LIT(WRIT_TOKEN_AUD),
        .params_hash = WRIT_LIT(WRIT_TOKEN_HASH),
        .now_s = WRIT_TOKEN_NOW_S};

    setup();
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &empty), "wrong_issuer");
    call = empty;
    call.any_issuer = true;
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "scope_mismatch");
    call.any_agent = true;
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "scope_mismatch");
    call.any_tenant = true;
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "ok");
    call.any_target_state = true;
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "ok");
    call.params_hash = (struct writ_view){NULL, 0};
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "args_mismatch");
    call.any_arguments = true;
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "ok");
    teardown();
}
END_TEST

START_TEST(verify_asks_the_replay_callback_last)
{
    struct writ_verify_call call;
    struct writ_verify_answer answer = {0};

    setup();
    call = genuine();
    known = WRIT_VERIFY_USE_SPENT;
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "replayed");
    known = WRIT_VERIFY_USE_UNKNOWN;
    ck_assert_code(
        writ_verify_credential(verify, WRIT_LIT(WRIT_TOKEN_TEXT), &call, &answer, NULL), WRIT_E_IO);
    ck_assert(!answer.ok);
    ck_assert_int_eq(asked, 2);
    teardown();
}
END_TEST

START_TEST(verify_of_hostile_tokens_spends_no_jti)
{
    static const char genuine_token[] = WRIT_TOKEN_TEXT;
    static char token[sizeof genuine_token], longer[8193];
    struct writ_verify_call call;

    setup();
    call = genuine();
    ck_assert_str_eq(reason_for(WRIT_LIT(""), &call), "missing_credential");
    ck_assert_str_eq(reason_for(WRIT_LIT("x"), &call), "malformed");
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT "="), &call), "malformed");
    ck_assert_str_eq(reason_for(WRIT_LIT(" " WRIT_TOKEN_TEXT), &call), "malformed");
    memset(longer, 'A', sizeof longer);
    ck_assert_str_eq(reason_for(writ_view(longer, sizeof longer), &call), "malformed");
    /* any one character of it changed, and any end cut off */
    for (size_t i = 0; i + 1 < sizeof genuine_token; i++) {
        memcpy(token, genuine_token, sizeof token);
        token[i] = token[i] == 'A' ? 'B' : 'A';
        ck_assert_str_ne(reason_for(writ_view(token, sizeof token - 1), &call), "ok");
        ck_assert_str_ne(reason_for(writ_view(genuine_token, i), &call), "ok");
    }
    ck_assert_int_eq(asked, 0);
    teardown();
}
END_TEST

START_TEST(keys_replace_with_hostile_text_keeps_the_old_keys)
{
    static char many[256 * 1024 + 1];
    static const char *const sets[] = {"", "x", "[]", "{\"keys\":{}}", "{\"keys\":[],\"keys\":[]}",
        "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\",\"kid\":\"a\"}]}"};
    struct writ_verify_call call;
    struct writ_verify *empty = NULL;
    const char *why = NULL;

    setup();
    call = genuine();
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        ck_assert(!writ_is_ok(writ_verify_keys(verify, writ_view_str(sets[i]), NULL)));
    }
    memset(many, ' ', sizeof many);
    ck_assert_code(writ_verify_keys(verify, writ_view(many, sizeof many), NULL), WRIT_E_LIMIT);
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "ok");
    ck_assert_uint_eq(writ_verify_left_out(verify, &why), 0);
    ck_assert_str_eq(why, "");

    ck_assert_ok(writ_verify_keys(verify, WRIT_LIT("{\"keys\":[]}"), NULL));
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "unknown_key");
    ck_assert_ok(writ_verify_keys(
        verify, WRIT_LIT("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\",\"kid\":\"a\"}]}"), NULL));
    ck_assert_uint_eq(writ_verify_left_out(verify, &why), 1);
    ck_assert_str_ne(why, "");

    ck_assert_ok(writ_verify_new(&empty, NULL));
    ck_assert_uint_eq(writ_verify_left_out(empty, &why), 0);
    writ_verify_free(verify);
    verify = empty; /* without keys every credential is refused */
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "unknown_key");
    writ_verify_free(NULL);
    teardown();
}
END_TEST

START_TEST(verify_of_a_hostile_call_gives_no_verdict)
{
    static const struct {
        enum writ_code code;
        const char *arguments;
    } rows[] = {
        {WRIT_E_INVALID, "[]"},
        {WRIT_E_INVALID, "null"},
        {WRIT_E_INVALID, "7"},
        {WRIT_E_PARSE, "{"},
        {WRIT_E_PARSE, "{} "
                       "{}"},
        {WRIT_E_PARSE, "{\"a\":1,\"\\u0061\":2}"},
        {WRIT_E_PARSE, "{\"a\":\"\xff\"}"},
        {WRIT_E_PARSE, "{\"a\":1e400}"},
    };
    struct writ_verify_call call;
    struct writ_verify_answer answer = {.reason = "before"};

    setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        call = genuine();
        call.arguments = writ_view_str(rows[i].arguments);
        ck_assert_code(
            writ_verify_credential(verify, WRIT_LIT(WRIT_TOKEN_TEXT), &call, &answer, NULL),
            rows[i].code);
    }
#define NO_ANSWER(change)                                                                          \
    do {                                                                                           \
        call = genuine();                                                                          \
        change;                                                                                    \
        ck_assert_code(                                                                            \
            writ_verify_credential(verify, WRIT_LIT(WRIT_TOKEN_TEXT), &call, &answer, NULL),       \
            WRIT_E_INVALID);                                                                       \
    } while (0)
    NO_ANSWER(call.tool.len = 0);
    NO_ANSWER(call.audience.len = 0);
    NO_ANSWER(call.params_hash = WRIT_LIT(WRIT_TOKEN_HASH)); /* and arguments */
    NO_ANSWER(call.arguments.len = 0; call.params_hash = WRIT_LIT("sha256:x"));
    NO_ANSWER(call.target_state_digest = WRIT_LIT("drifted"));
    NO_ANSWER(call.now_s = -1);
    NO_ANSWER(call.skew_s = WRIT_VERIFY_SKEW_MAX_S + 1);
    NO_ANSWER(call.lifetime_max_s = WRIT_VERIFY_LIFETIME_S + 1);
#undef NO_ANSWER
    ck_assert_str_eq(answer.reason, "before");
    ck_assert_int_eq(asked, 0);
    teardown();
}
END_TEST

START_TEST(verify_limits_the_arguments)
{
    static char text[WRIT_VERIFY_ARGUMENTS_MAX + 1];
    struct writ_verify_call call;
    struct writ_verify_answer answer = {0};

    setup();
    call = genuine();
    memset(text, ' ', sizeof text);
    text[0] = '{';
    text[1] = '}';
    call.arguments = writ_view(text, WRIT_VERIFY_ARGUMENTS_MAX);
    ck_assert_str_eq(reason_for(WRIT_LIT(WRIT_TOKEN_TEXT), &call), "args_mismatch");
    call.arguments = writ_view(text, sizeof text);
    ck_assert_code(writ_verify_credential(verify, WRIT_LIT(WRIT_TOKEN_TEXT), &call, &answer, NULL),
        WRIT_E_LIMIT);
    teardown();
}
END_TEST

START_TEST(verify_with_a_failed_allocation_is_never_good)
{
    struct writ_verify_call call;
    bool reached = true;

    setup();
    call = genuine();
    for (long nth = 1; reached; nth++) {
        struct writ_verify_answer answer = {0};
        writ_result result;

        writ_fault_arm(nth);
        result = writ_verify_credential(verify, WRIT_LIT(WRIT_TOKEN_TEXT), &call, &answer, NULL);
        reached = writ_fault_disarm();
        ck_assert_int_eq(result.code, reached ? WRIT_E_NOMEM : WRIT_OK);
        ck_assert_int_eq(answer.ok, !reached);
        writ_verify_wipe(&answer);
    }
    teardown();
}
END_TEST

/* ---- the list of revoked credentials */

#define LIST   "https://gateway.example.com/list"
#define NOW_S  1000
#define DIGEST "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static struct writ_signer *signer, *stranger;

/* A credential that is good at NOW_S, with its place in a list; NULL: none. */
static void
issue(const char *status, struct writ_buf *ret)
{
    writ_auto_buf payload = writ_buf_make(4096);

    *ret = writ_buf_make(WRIT_JWS_BYTES_MAX);
    writ_buf_fmt(&payload,
        "{\"iss\":\"i\",\"aud\":\"me\",\"sub\":\"a\",\"iat\":%d,\"nbf\":%d,\"exp\":%d,\"jti\":"
        "\"j\","
        "\"decision_id\":\"j\",\"authorization_details\":[{\"type\":\"mcp_tool_call\",\"tool\":"
        "\"pay\","
        "\"locations\":[\"me\"],\"params_hash\":\"" DIGEST "\"}],\"params_hash\":\"" DIGEST "\","
        "\"intent_ref\":\"" DIGEST "\",\"intent_digest\":\"" DIGEST "\",\"receipt_ref\":\"" DIGEST
        "\",\"decision_context_hash\":\"" DIGEST "\",\"policy_digest\":\"" DIGEST
        "\",\"target_state_digest\":null,\"normalized_scope\":\"s\",\"continuation_id\":null,"
        "\"idempotency_key\":\"k\",\"boundary_id\":\"b\",\"seq\":0,\"tenant\":null%s%s}",
        NOW_S, NOW_S, NOW_S + 60, status != NULL ? ",\"status\":" : "",
        status != NULL ? status : "");
    ck_assert_ok(
        writ_jws_sign(signer, WRIT_LIT("writ-credential+jwt"), writ_buf_view(&payload), ret, NULL));
}

/* Loads a list that revokes place 5. */
static enum writ_code
take_list(const struct writ_signer *by, const char *uri, int64_t issued_s, int64_t expires_s)
{
    static char bits[16] = {1 << 5};
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    const struct writ_status_list list = {.uri = writ_view_str(uri),
        .bits = {bits, sizeof bits},
        .issued_s = issued_s,
        .expires_s = expires_s,
        .ttl_s = 1,
        .width = 1};

    ck_assert_ok(writ_status_list_issue(by, &list, &token, NULL));
    return writ_verify_status(verify, writ_buf_view(&token), NULL).code;
}

static const char *
reason_at(const struct writ_buf *token, int64_t now_s, int64_t skew_s)
{
    const struct writ_verify_call call = {.tool = WRIT_LIT("pay"),
        .audience = WRIT_LIT("me"),
        .any_issuer = true,
        .any_agent = true,
        .any_tenant = true,
        .any_arguments = true,
        .now_s = now_s,
        .skew_s = skew_s};

    return reason_for(writ_buf_view(token), &call);
}

static void
setup_list(void)
{
    writ_auto_buf jwks = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    const struct writ_jwk *key;

    signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    stranger = writ_keys_signer(WRIT_JWK_ALG_ES256);
    key = writ_signer_jwk(signer);
    writ_jwks_put(&jwks, &key, 1);
    ck_assert_ok(writ_verify_new(&verify, NULL));
    ck_assert_ok(writ_verify_keys(verify, writ_buf_view(&jwks), NULL));
}

static void
teardown_list(void)
{
    writ_signer_free(signer);
    writ_signer_free(stranger);
    writ_verify_free(verify);
}

START_TEST(verify_checks_the_current_status_list_of_the_credential)
{
    writ_auto_buf good = {0}, bad = {0}, outside = {0}, none = {0}, other = {0};

    setup_list();
    issue("{\"status_list\":{\"idx\":4,\"uri\":\"" LIST "\"}}", &good);
    issue("{\"status_list\":{\"idx\":5,\"uri\":\"" LIST "\"}}", &bad);
    issue("{\"status_list\":{\"idx\":128,\"uri\":\"" LIST "\"}}", &outside);
    issue("{\"status_list\":{\"idx\":4,\"uri\":\"" LIST "2\"}}", &other);
    issue(NULL, &none);
    ck_assert_str_eq(reason_at(&bad, NOW_S, 0), "ok"); /* no look */
    ck_assert_ok(writ_verify_status(verify, writ_view(NULL, 0), NULL));
    ck_assert_str_eq(reason_at(&good, NOW_S, 0), "status_unknown");
    ck_assert_int_eq(take_list(signer, LIST, NOW_S, NOW_S + 10), WRIT_OK);
    ck_assert_str_eq(reason_at(&good, NOW_S, 0), "ok");
    ck_assert_str_eq(reason_at(&bad, NOW_S, 0), "revoked");
    ck_assert_str_eq(reason_at(&outside, NOW_S, 0), "status_unknown");
    ck_assert_str_eq(reason_at(&other, NOW_S, 0), "status_unknown");
    ck_assert_str_eq(reason_at(&none, NOW_S, 0), "status_unknown");
    ck_assert_str_eq(reason_at(&good, NOW_S + 9, 0), "ok");
    ck_assert_str_eq(reason_at(&good, NOW_S + 10, 0), "status_unknown");
    ck_assert_str_eq(reason_at(&good, NOW_S + 10, 1), "ok");
    teardown_list();
}
END_TEST

START_TEST(status_list_replace_refuses_an_older_or_foreign_list)
{
    writ_auto_buf bad = {0}, good = {0};

    setup_list();
    issue("{\"status_list\":{\"idx\":5,\"uri\":\"" LIST "\"}}", &bad);
    issue("{\"status_list\":{\"idx\":4,\"uri\":\"" LIST "\"}}", &good);
    ck_assert_int_eq(take_list(signer, LIST, NOW_S, NOW_S + 10), WRIT_OK);
    ck_assert_int_eq(take_list(signer, LIST "2", NOW_S - 1, NOW_S + 60), WRIT_E_INVALID);
    ck_assert_int_eq(take_list(stranger, LIST "2", NOW_S + 1, NOW_S + 60), WRIT_E_ABSENT);
    ck_assert_code(writ_verify_status(verify, writ_buf_view(&good), NULL), WRIT_E_INVALID);
    ck_assert_code(writ_verify_status(verify, WRIT_LIT("x"), NULL), WRIT_E_PARSE);
    ck_assert_str_eq(reason_at(&good, NOW_S, 0), "ok");
    ck_assert_str_eq(reason_at(&bad, NOW_S, 0), "revoked");
    ck_assert_int_eq(take_list(signer, LIST "2", NOW_S, NOW_S + 60), WRIT_OK);
    ck_assert_str_eq(reason_at(&good, NOW_S, 0), "status_unknown");
    teardown_list();
}
END_TEST

WRIT_UNIT_MAIN("tool_server", verify_of_a_good_credential_gives_its_claims,
    verify_of_every_difference_has_its_reason, verify_of_inexact_numbers_is_refused,
    verify_omits_the_named_comparisons_only, verify_asks_the_replay_callback_last,
    verify_of_hostile_tokens_spends_no_jti, keys_replace_with_hostile_text_keeps_the_old_keys,
    verify_of_a_hostile_call_gives_no_verdict, verify_limits_the_arguments,
    verify_with_a_failed_allocation_is_never_good,
    verify_checks_the_current_status_list_of_the_credential,
    status_list_replace_refuses_an_older_or_foreign_list)
