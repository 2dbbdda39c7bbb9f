/* For every text, as a token: the verification ends, it accepts only the one credential that was
 * ever signed with the key, or its twin (r, n - s), and it asks for a jti only then. As the
 * payload of a token: claims that are read pass the check that the issuer makes. */
#include "support/fuzz.h"
#include "support/evidence/token.h"

#include "evidence/credential/credential.h"

#define ARENA_MAX ((size_t)65536)

static struct writ_arena *arena;
static struct writ_jwks *keys;
static int asked;

static enum writ_credential_use
use(void *ctx, struct writ_view jti, int64_t until_s)
{
    (void)ctx;
    (void)until_s;
    WRIT_INVARIANT(writ_view_is(jti, WRIT_TOKEN_JTI));
    asked++;
    return WRIT_CREDENTIAL_USE_FRESH;
}

static struct writ_credential_expect
expectation(void)
{
    struct writ_credential_expect expect = {
        .keys = keys,
        .issuer = WRIT_LIT(WRIT_TOKEN_ISS),
        .audience = WRIT_LIT(WRIT_TOKEN_AUD),
        .tool = WRIT_LIT(WRIT_TOKEN_TOOL),
        .agent_id = WRIT_LIT(WRIT_TOKEN_AGENT),
        .tenant = WRIT_LIT(WRIT_TOKEN_TENANT),
        .target_state = {WRIT_NULL, {NULL, 0}},
        .now_s = WRIT_TOKEN_NOW_S,
        .use = use,
    };

    WRIT_INVARIANT(
        writ_is_ok(writ_digest_read(WRIT_LIT(WRIT_TOKEN_HASH), &expect.params_hash, NULL)));
    return expect;
}

static void
prepare(void)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(writ_is_ok(writ_jwks_read(WRIT_LIT(WRIT_TOKEN_JWKS), &keys, NULL)));
    }
}

static void
check_token(struct writ_view token)
{
    struct writ_credential_expect expect = expectation();
    struct writ_view genuine = WRIT_LIT(WRIT_TOKEN_TEXT);
    size_t signed_bytes = genuine.len - 86 - 1; /* a signature of 64 bytes, and its dot */
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_claims claims;

    asked = 0;
    WRIT_INVARIANT(writ_is_ok(writ_credential_verify(token, &expect, arena, &claims, &why, NULL)));
    WRIT_INVARIANT((writ_reason_groups(why) & WRIT_REASON_IN_CREDENTIAL) != 0);
    WRIT_INVARIANT(asked == (why == WRIT_REASON_CREDENTIAL_OK));
    if (why == WRIT_REASON_CREDENTIAL_OK) {
        WRIT_INVARIANT(writ_view_has_prefix(token, writ_view_sub(genuine, 0, signed_bytes)));
        WRIT_INVARIANT(writ_view_is(claims.sub, WRIT_TOKEN_AGENT));
    }
}

static void
check_payload(struct writ_view text)
{
    const struct writ_json *payload = NULL;
    struct writ_claims claims;

    if (writ_is_ok(writ_json_read(text, &writ_jws_limits, arena, &payload, NULL)) &&
        writ_is_ok(writ_claim_read(payload, &claims, NULL))) {
        WRIT_INVARIANT(writ_is_ok(writ_claim_check(&claims, NULL)));
        WRIT_INVARIANT(writ_view_equal(claims.jti, claims.decision_id));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prepare();
    check_token(writ_view(data, size));
    writ_arena_reset(arena);
    check_payload(writ_view(data, size));
    writ_arena_reset(arena);
    return 0;
}
