/* Continuation tokens of reviews. A token verifies until it expires, with its own key and purpose
 * only, and no changed byte is accepted. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "evidence/jose/jws.h"
#include "gateway/review/continuation.h"

#define NOW_S 1000

static struct writ_arena *arena;
static struct writ_keyring *ring;

static void
begin(void)
{
    arena = writ_arena_new(64 << 20);
    ck_assert_ok(writ_keyring_new(&ring, NULL));
    ck_assert_ok(writ_keyring_add(
        ring, WRIT_KEY_PURPOSE_CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), NOW_S, NULL));
}

static void
end(void)
{
    writ_keyring_free(ring);
    writ_arena_free(arena);
}

static struct writ_continuation
example(void)
{
    struct writ_continuation c = {
        .review = WRIT_LIT("0190-review"), .expires_s = NOW_S + 60, .shown = true};

    c.name = WRIT_LIT("finance");
    c.terms = WRIT_LIT("sha256:00");
    c.session = WRIT_LIT("session:0190");

    ck_assert_ok(writ_digest_bytes(WRIT_LIT("the call"), &c.call, NULL));
    return c;
}

static struct writ_view
state_of(const struct writ_continuation *c, const struct writ_signer *signer)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_CONTINUATION_MAX);

    ck_assert_ok(writ_continuation_put(c, signer, &text, NULL));
    return writ_buf_view(&text);
}

static enum writ_code
read(struct writ_view text, int64_t now_s, struct writ_continuation *ret)
{
    return writ_continuation_read(text, ring, now_s, arena, ret, NULL).code;
}

START_TEST(continuation_reads_back_until_it_expires)
{
    begin();
    struct writ_continuation put = example(), got = {.expires_s = 7};
    struct writ_view text = state_of(&put, writ_keyring_active(ring, WRIT_KEY_PURPOSE_CREDENTIAL));

    ck_assert(writ_continuation_is(text));
    ck_assert_int_eq(read(text, NOW_S + 60, &got), WRIT_E_MISMATCH);
    ck_assert_int_eq(got.expires_s, 7);
    ck_assert_int_eq(read(text, NOW_S + 59, &got), WRIT_OK);
    ck_assert(writ_view_equal(got.review, put.review));
    ck_assert(writ_digest_equal(&got.call, &put.call));
    ck_assert_int_eq(got.expires_s, put.expires_s);
    ck_assert(got.shown);
    ck_assert(writ_view_equal(got.name, put.name));
    ck_assert(writ_view_equal(got.terms, put.terms));
    ck_assert(writ_view_equal(got.session, put.session));
    put.shown = false;
    text = state_of(&put, writ_keyring_active(ring, WRIT_KEY_PURPOSE_CREDENTIAL));
    ck_assert_int_eq(read(text, NOW_S, &got), WRIT_OK);
    ck_assert(!got.shown);
    end();
}
END_TEST

START_TEST(continuation_verifies_until_its_key_is_retired)
{
    begin();
    struct writ_continuation put = example(), got;
    const struct writ_signer *before = writ_keyring_active(ring, WRIT_KEY_PURPOSE_CREDENTIAL);
    struct writ_view text = state_of(&put, before);
    struct writ_view kid = writ_view_copy(writ_jwk_kid(writ_signer_jwk(before)), arena);

    ck_assert_ok(writ_keyring_rotate(
        ring, WRIT_KEY_PURPOSE_CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), NOW_S, NULL));
    ck_assert_int_eq(read(text, NOW_S, &got), WRIT_OK);
    ck_assert_ok(writ_keyring_retire(ring, kid, NOW_S, NULL));
    ck_assert_int_eq(read(text, NOW_S, &got), WRIT_E_ABSENT);
    end();
}
END_TEST

START_TEST(continuation_read_of_every_changed_byte_fails)
{
    begin();
    struct writ_continuation put = example(), got = {.expires_s = 7};
    struct writ_view text = state_of(&put, writ_keyring_active(ring, WRIT_KEY_PURPOSE_CREDENTIAL));
    struct writ_view copy = writ_view_copy(text, arena);
    char *bytes = (char *)(uintptr_t)copy.ptr;

    for (size_t i = 0; i < copy.len; i++) {
        char was = bytes[i];

        bytes[i] = was == 'A' ? 'B' : 'A';
        ck_assert_int_ne(read(copy, NOW_S, &got), WRIT_OK);
        bytes[i] = was;
        ck_assert_int_ne(read(writ_view_sub(copy, 0, i), NOW_S, &got), WRIT_OK);
    }
    ck_assert_int_eq(got.expires_s, 7);
    end();
}
END_TEST

/* A token of the same key, but for another use: the credential's type, and no continuation. */
START_TEST(continuation_read_of_another_token_of_the_key_fails)
{
    begin();
    static const struct writ_view payloads[] = {
        WRIT_LIT("{}"),
        WRIT_LIT("[]"),
        WRIT_LIT("{\"call\":\"x\",\"exp\":2000,\"review\":\"r\",\"shown\":true}"),
        WRIT_LIT("{\"exp\":2000,\"review\":\"r\",\"shown\":true}"),
    };
    const struct writ_signer *signer = writ_keyring_active(ring, WRIT_KEY_PURPOSE_CREDENTIAL);
    struct writ_continuation put = example(), got;
    struct writ_view text = state_of(&put, signer);
    struct writ_jws jws;
    struct writ_buf other;

    ck_assert_ok(writ_jws_read(writ_view_sub(text, 15, text.len), arena, &jws, NULL));
    other = writ_buf_in(arena, WRIT_CONTINUATION_MAX);
    writ_buf_str(&other, "io.writ/review:");
    ck_assert_ok(writ_jws_sign(signer, WRIT_LIT("JWT"), jws.payload, &other, NULL));
    ck_assert_int_eq(read(writ_buf_view(&other), NOW_S, &got), WRIT_E_PARSE);
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        other = writ_buf_in(arena, WRIT_CONTINUATION_MAX);
        writ_buf_str(&other, "io.writ/review:");
        ck_assert_ok(writ_jws_sign(signer, jws.typ, payloads[i], &other, NULL));
        ck_assert_int_eq(read(writ_buf_view(&other), NOW_S, &got), WRIT_E_PARSE);
    }
    ck_assert(!writ_continuation_is(WRIT_LIT("an upstream's own")));
    ck_assert(!writ_continuation_is(writ_view(NULL, 0)));
    ck_assert_int_eq(read(WRIT_LIT("an upstream's own"), NOW_S, &got), WRIT_E_PARSE);
    end();
}
END_TEST

START_TEST(continuation_signed_by_the_ledger_key_is_refused)
{
    begin();
    struct writ_continuation put = example(), got;

    ck_assert_ok(writ_keyring_add(
        ring, WRIT_KEY_PURPOSE_LEDGER, writ_keys_signer(WRIT_JWK_ALG_ES256), NOW_S, NULL));
    ck_assert_int_eq(
        read(state_of(&put, writ_keyring_active(ring, WRIT_KEY_PURPOSE_LEDGER)), NOW_S, &got),
        WRIT_E_ABSENT);
    end();
}
END_TEST

WRIT_UNIT_MAIN("continuation", continuation_reads_back_until_it_expires,
    continuation_verifies_until_its_key_is_retired, continuation_read_of_every_changed_byte_fails,
    continuation_read_of_another_token_of_the_key_fails,
    continuation_signed_by_the_ledger_key_is_refused)
