/* Fails the 1st, 2nd, 3rd ... allocation of the functions that read keys, and issue and verify
 * credentials. The result is complete or absent, and running out of memory is never a verdict. */
#include "support/evidence/keys.h"
#include "support/evidence/sample.h"
#include "support/evidence/token.h"
#include "support/unit.h"

#include "evidence/credential/credential.h"
#include "evidence/credential/status_list.h"
#include "evidence/jose/keyring.h"

#define ARENA_MAX ((size_t)1 << 20)

static struct writ_signer *signer;
static struct writ_jwks *keys;
static struct writ_arena *arena; /* of the test's own preparation */
static struct writ_decision decision;

static void
setup(void)
{
    arena = writ_arena_new(ARENA_MAX);
    signer = writ_keys_signer(WRIT_JWK_ALG_EDDSA); /* signs the same text alike each time */
    ck_assert_ok(writ_jwks_read(WRIT_LIT(WRIT_TOKEN_JWKS), &keys, NULL));
    decision = writ_sample_decision(WRIT_DECISION_ALLOW, writ_profile_default(), arena);
}

static void
teardown(void)
{
    writ_jwks_free(keys);
    writ_signer_free(signer);
    writ_arena_free(arena);
}

/* One operation: appends its result to `ret`. */
typedef writ_result (*operation)(struct writ_buf *ret);

/* Runs it once undisturbed, then with the 1st, 2nd, ... allocation failing, until it is through. */
static void
expect_same_or_error(operation run)
{
    writ_auto_buf want = writ_buf_make(ARENA_MAX);
    bool reached = true;
    long nth = 1;

    ck_assert_ok(run(&want));
    for (; reached; nth++) {
        writ_auto_buf got = writ_buf_make(ARENA_MAX);
        writ_result result;

        writ_fault_arm(nth);
        result = run(&got);
        reached = writ_fault_disarm();
        if (writ_is_ok(result)) {
            ck_assert_msg(
                writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)), "allocation %ld", nth);
        } else {
            ck_assert_int_eq(result.code, WRIT_E_NOMEM);
        }
    }
    ck_assert_int_gt(nth, 3); /* some allocation was reached */
}

static writ_result
issue(struct writ_buf *ret)
{
    struct writ_credential_request request = {
        .decision = &decision,
        .issuer = WRIT_LIT("https://gateway.example/"),
        .audience = WRIT_LIT("http://127.0.0.1:9000/mcp"),
        .tenant = WRIT_LIT("acme"),
    };

    return writ_credential_issue(signer, &request, ret, NULL);
}

START_TEST(credential_issue_with_a_failed_allocation_gives_the_same_or_none)
{
    setup();
    expect_same_or_error(issue);
    teardown();
}
END_TEST

static writ_result
verify(struct writ_buf *ret)
{
    struct writ_credential_expect expect = {
        .keys = keys,
        .any_issuer = true,
        .audience = WRIT_LIT(WRIT_TOKEN_AUD),
        .tool = WRIT_LIT(WRIT_TOKEN_TOOL),
        .any_agent = true,
        .any_tenant = true,
        .any_target_state = true,
        .now_s = WRIT_TOKEN_NOW_S,
    };
    struct writ_arena *own = writ_arena_new(ARENA_MAX);
    enum writ_reason why = WRIT_REASON_NONE;
    writ_result result = {WRIT_E_NOMEM};

    if (own != NULL) {
        WRIT_TRY(writ_digest_read(WRIT_LIT(WRIT_TOKEN_HASH), &expect.params_hash, NULL));
        result = writ_credential_verify(WRIT_LIT(WRIT_TOKEN_TEXT), &expect, own, NULL, &why, NULL);
        writ_buf_put(ret, writ_reason_name(why));
    }
    writ_arena_free(own);
    return writ_is_ok(result) ? writ_buf_check(ret, NULL) : result;
}

START_TEST(credential_verify_with_a_failed_allocation_gives_no_other_verdict)
{
    setup();
    expect_same_or_error(verify);
    teardown();
}
END_TEST

static writ_result
read_set(struct writ_buf *ret)
{
    struct writ_jwks *set = NULL;
    const struct writ_jwk *all[1];

    WRIT_TRY(writ_jwks_read(WRIT_LIT(WRIT_TOKEN_JWKS), &set, NULL));
    all[0] = writ_jwks_count(set) == 1 ? writ_jwks_key(set, 0) : NULL;
    writ_jwks_put(ret, all, all[0] != NULL);
    writ_jwks_free(set);
    return writ_buf_check(ret, NULL);
}

/* A key is not left out of a set because there was no memory to read it. */
START_TEST(jwks_read_with_a_failed_allocation_gives_the_same_or_none)
{
    setup();
    expect_same_or_error(read_set);
    teardown();
}
END_TEST

static const struct writ_status_list revoked = {.uri = WRIT_LIT("https://gateway.example/list"),
    .bits = WRIT_LIT("\1\2\3"),
    .issued_s = 100,
    .expires_s = 160,
    .ttl_s = 1,
    .width = 1};

static writ_result
issue_list(struct writ_buf *ret)
{
    return writ_status_list_issue(signer, &revoked, ret, NULL);
}

static writ_result
read_list(struct writ_buf *ret)
{
    const struct writ_jwk *all[1] = {writ_signer_jwk(signer)};
    struct writ_status_list list = {.uri = {NULL, 0}};
    struct writ_arena *own = writ_arena_new(ARENA_MAX);
    struct writ_jwks *set = NULL;
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX), text = writ_buf_make(ARENA_MAX);
    writ_result result = {WRIT_E_NOMEM};

    writ_jwks_put(&text, all, 1);
    if (own != NULL && writ_is_ok(writ_buf_check(&text, NULL))) {
        result = writ_jwks_read(writ_buf_view(&text), &set, NULL);
    }
    if (writ_is_ok(result)) {
        result = issue_list(&token);
    }
    if (writ_is_ok(result)) {
        result = writ_status_list_read(writ_buf_view(&token), set, own, &list, NULL);
        writ_buf_put(ret, list.bits);
    }
    writ_jwks_free(set);
    writ_arena_free(own);
    return writ_is_ok(result) ? writ_buf_check(ret, NULL) : result;
}

/* A list contains every revoked place, or it is not made. */
START_TEST(status_list_read_with_a_failed_allocation_gives_the_same_or_none)
{
    setup();
    expect_same_or_error(issue_list);
    expect_same_or_error(read_list);
    teardown();
}
END_TEST

#define RING                                                                                       \
    "{\"version\":1,\"keys\":[{\"created_at\":\"2026-01-01T00:00:00.000000Z\","                    \
    "\"changed_at\":\"2026-01-01T00:00:00.000000Z\",\"purpose\":\"credential\","                   \
    "\"state\":\"verifying\",\"jwk\":{\"kty\":\"OKP\",\"crv\":\"Ed25519\","                        \
    "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}}]}"

static writ_result
read_ring(struct writ_buf *ret)
{
    struct writ_keyring *ring = NULL;
    struct writ_signer *mine = NULL;
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    writ_result result = writ_keyring_read(WRIT_LIT(RING), &ring, NULL);

    if (writ_is_ok(result)) {
        result = writ_signer_put_pem(signer, &pem, NULL);
    }
    if (writ_is_ok(result)) {
        result = writ_signer_read(writ_buf_view(&pem), &mine, NULL);
    }
    if (writ_is_ok(result)) {
        result = writ_keyring_add(ring, WRIT_KEY_PURPOSE_LEDGER, mine, 0, NULL);
    }
    if (writ_is_ok(result)) {
        mine = NULL; /* the ring has it */
        writ_keyring_put(ret, ring);
        result = writ_buf_check(ret, NULL);
    }
    writ_signer_free(mine);
    writ_keyring_free(ring);
    return result;
}

START_TEST(keyring_read_with_a_failed_allocation_gives_the_same_or_none)
{
    setup();
    expect_same_or_error(read_ring);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("credential under faults",
    credential_issue_with_a_failed_allocation_gives_the_same_or_none,
    credential_verify_with_a_failed_allocation_gives_no_other_verdict,
    status_list_read_with_a_failed_allocation_gives_the_same_or_none,
    jwks_read_with_a_failed_allocation_gives_the_same_or_none,
    keyring_read_with_a_failed_allocation_gives_the_same_or_none)
