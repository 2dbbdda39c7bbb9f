/* Statements of rotation in key sets. A verifier follows them from its pinned key to the current
 * one and no further. tests/integration/keys.test.mjs shows this end to end. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "evidence/jose/keyring.h"
#include "evidence/jose/rotation.h"

#define CREDENTIAL WRIT_KEY_PURPOSE_CREDENTIAL
#define HOUR_US    INT64_C(3600000000)

static struct writ_jwks *
set_of(struct writ_view text)
{
    struct writ_jwks *set = NULL;

    ck_assert_ok(writ_jwks_read(text, &set, NULL));
    return set;
}

static struct writ_jwks *
published(const struct writ_keyring *ring, bool history)
{
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);

    writ_keyring_jwks(&text, ring, CREDENTIAL, history);
    ck_assert_ok(writ_buf_check(&text, NULL));
    return set_of(writ_buf_view(&text));
}

static void
rotate(struct writ_keyring *ring, int64_t now_us)
{
    ck_assert_ok(
        writ_keyring_rotate(ring, CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), now_us, NULL));
}

static struct writ_keyring *
ring_new(void)
{
    struct writ_keyring *ring = NULL;

    ck_assert_ok(writ_keyring_new(&ring, NULL));
    ck_assert_ok(
        writ_keyring_add(ring, CREDENTIAL, writ_keys_signer(WRIT_JWK_ALG_ES256), 1000000, NULL));
    return ring;
}

START_TEST(rotation_follow_of_the_longest_chain_succeeds)
{
    struct writ_keyring *ring = ring_new();
    struct writ_jwks *pin = published(ring, false), *now;

    for (int i = 1; i < WRIT_KEYRING_KEYS_MAX; i++) {
        rotate(ring, 1000000 + i * HOUR_US);
    }
    now = published(ring, false);
    ck_assert_uint_eq(writ_jwks_rotations(now), WRIT_KEYRING_KEYS_MAX - 1);
    ck_assert_ok(writ_rotation_follow(now, pin, NULL));
    ck_assert_uint_eq(writ_jwks_count(now), WRIT_KEYRING_KEYS_MAX);
    writ_jwks_free(now);
    writ_jwks_free(pin);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(rotation_follow_without_a_pin_reaches_no_key)
{
    struct writ_keyring *ring = ring_new();
    struct writ_jwks *pin = set_of(WRIT_LIT("{\"keys\":[]}")), *now = published(ring, false);

    ck_assert_ok(writ_rotation_follow(now, pin, NULL));
    ck_assert_uint_eq(writ_jwks_count(now), 0);
    writ_jwks_free(now);
    writ_jwks_free(pin);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(rotation_follow_ignores_invalid_statements)
{
    struct writ_keyring *ring = ring_new();
    struct writ_jwks *pin = published(ring, false);
    struct writ_jwks *now =
        set_of(WRIT_LIT("{\"keys\":[],\"rotations\":[\"x\",\"a.b.c\",\"..\"]}"));

    ck_assert_uint_eq(writ_jwks_rotations(now), 3);
    ck_assert_ok(writ_rotation_follow(now, pin, NULL));
    writ_jwks_free(now);
    writ_jwks_free(pin);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(lists_of_another_form_make_a_set_invalid_and_too_long_ones_a_limit)
{
    static const char *const texts[] = {"{\"keys\":[],\"rotations\":{}}",
        "{\"keys\":[],\"rotations\":[1]}", "{\"keys\":[],\"rotations\":[\"\"]}",
        "{\"keys\":[],\"revoked\":null}", "{\"keys\":[],\"revoked\":[{\"kid\":\"a\"}]}",
        "{\"keys\":[],\"revoked\":[{\"revoked_at\":1}]}",
        "{\"keys\":[],\"revoked\":[{\"kid\":\"\",\"revoked_at\":1}]}",
        "{\"keys\":[],\"revoked\":[{\"kid\":\"a\",\"revoked_at\":-1}]}"};
    writ_auto_buf text = writ_buf_make(10000);
    struct writ_jwks *set = NULL;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_code(writ_jwks_read(writ_view_str(texts[i]), &set, NULL), WRIT_E_INVALID);
        ck_assert_ptr_null(set);
    }
    for (int n = WRIT_JWKS_KEYS_MAX; n <= WRIT_JWKS_KEYS_MAX + 1; n++) {
        writ_buf_clear(&text);
        writ_buf_str(&text, "{\"keys\":[],\"rotations\":[\"x\"");
        for (int i = 1; i < n; i++) {
            writ_buf_str(&text, ",\"x\"");
        }
        writ_buf_str(&text, "]}");
        ck_assert_code(writ_jwks_read(writ_buf_view(&text), &set, NULL),
            n == WRIT_JWKS_KEYS_MAX ? WRIT_OK : WRIT_E_LIMIT);
    }
    writ_jwks_free(set);
}
END_TEST

START_TEST(rotation_set_lists_validity_and_revocations)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *fresh = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_view first = writ_jwk_kid(writ_keyring_key(ring, 0)->public);
    struct writ_jwks *now, *history;
    int64_t since_s = 0;

    rotate(ring, 2000000);
    ck_assert_ok(writ_keyring_revoke(ring, first, 1500000, NULL, 3000000, NULL));
    ck_assert_ok(writ_keyring_revoke(
        ring, writ_jwk_kid(writ_keyring_key(ring, 1)->public), 2500000, fresh, 3000000, NULL));
    now = published(ring, false);
    history = published(ring, true);
    ck_assert_uint_eq(writ_jwks_count(now), 1);
    ck_assert_uint_eq(writ_jwks_count(history), 3);
    ck_assert(writ_jwks_revoked(now, first, &since_s));
    ck_assert_int_eq(since_s, 1);
    ck_assert(!writ_jwks_revoked(now, WRIT_LIT("nobody"), &since_s));
    ck_assert(!writ_jwks_revoked(NULL, first, &since_s));
    ck_assert_int_eq(writ_jwks_window(now, writ_jwks_key(now, 0))->from_s, 3);
    ck_assert_int_eq(writ_jwks_window(now, writ_jwks_key(now, 0))->until_s, INT64_MAX);
    ck_assert_int_eq(writ_jwks_window(history, writ_jwks_find(history, first))->until_s,
        2 + WRIT_KEYRING_GRACE_S);
    writ_jwks_free(now);
    writ_jwks_free(history);
    writ_keyring_free(ring);
}
END_TEST

WRIT_UNIT_MAIN("rotation", rotation_follow_of_the_longest_chain_succeeds,
    rotation_follow_without_a_pin_reaches_no_key, rotation_follow_ignores_invalid_statements,
    lists_of_another_form_make_a_set_invalid_and_too_long_ones_a_limit,
    rotation_set_lists_validity_and_revocations)
