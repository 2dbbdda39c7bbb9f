/* A ring of signing keys. Each purpose has one active key, states only go forward, a revocation is
 * final, and a failed change leaves the ring as it was. */
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "evidence/jose/keyring.h"

#define CREDENTIAL WRIT_KEY_PURPOSE_CREDENTIAL
#define LEDGER     WRIT_KEY_PURPOSE_LEDGER

static struct writ_keyring *
ring_new(void)
{
    struct writ_keyring *ring = NULL;

    ck_assert_ok(writ_keyring_new(&ring, NULL));
    return ring;
}

/* Adds a new ES256 key and gives its kid, borrowed from the ring. */
static struct writ_view
add(struct writ_keyring *ring, enum writ_key_purpose purpose, int64_t now_us)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);

    ck_assert_ok(writ_keyring_add(ring, purpose, signer, now_us, NULL));
    return writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ring, purpose)));
}

static void
rotate(struct writ_keyring *ring, enum writ_key_purpose purpose, int64_t now_us)
{
    ck_assert_ok(
        writ_keyring_rotate(ring, purpose, writ_keys_signer(WRIT_JWK_ALG_ES256), now_us, NULL));
}

START_TEST(keyring_when_empty_has_no_key)
{
    struct writ_keyring *ring = ring_new();
    writ_auto_buf set = writ_buf_make(1000);

    ck_assert_uint_eq(writ_keyring_count(ring), 0);
    ck_assert_ptr_null(writ_keyring_active(ring, CREDENTIAL));
    ck_assert_ptr_null(writ_keyring_find(ring, CREDENTIAL, WRIT_LIT("")));
    writ_keyring_jwks(&set, ring, CREDENTIAL, false);
    ck_assert_view(writ_buf_view(&set), "{\"keys\":[]}");
    writ_keyring_free(ring);
    writ_keyring_free(NULL);
}
END_TEST

START_TEST(keyring_add_of_a_second_active_key_is_refused)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *second = writ_keys_signer(WRIT_JWK_ALG_EDDSA);
    struct writ_view kid = add(ring, CREDENTIAL, 1);

    ck_assert_code(writ_keyring_add(ring, CREDENTIAL, second, 2, NULL), WRIT_E_INVALID);
    ck_assert_uint_eq(writ_keyring_count(ring), 1);
    ck_assert(
        writ_view_equal(kid, writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ring, CREDENTIAL)))));
    ck_assert_ok(writ_keyring_add(ring, LEDGER, second, 2, NULL));
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_add_of_a_key_for_two_purposes_is_refused)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_signer *same = NULL;
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    struct writ_err err = {0};

    ck_assert_ok(writ_signer_put_pem(signer, &pem, NULL));
    ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &same, NULL));
    ck_assert_ok(writ_keyring_add(ring, CREDENTIAL, signer, 1, NULL));
    ck_assert_code(writ_keyring_add(ring, LEDGER, same, 2, &err), WRIT_E_INVALID);
    ck_assert_str_eq(err.text, "the ring has this key already, for purpose credential");
    ck_assert_ptr_null(writ_keyring_find(ring, LEDGER, writ_jwk_kid(writ_signer_jwk(same))));
    writ_signer_free(same);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_rotated_key_verifies_until_it_is_retired)
{
    struct writ_keyring *ring = ring_new();
    struct writ_view old = add(ring, CREDENTIAL, 1);
    struct writ_view ledger = add(ring, LEDGER, 1);

    rotate(ring, CREDENTIAL, 2);
    old = writ_jwk_kid(writ_keyring_key(ring, 0)->public);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_VERIFYING);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->changed_us, 2);
    ck_assert_ptr_null(writ_keyring_key(ring, 0)->signer);
    ck_assert_ptr_nonnull(writ_keyring_find(ring, CREDENTIAL, old));
    ck_assert_ptr_null(writ_keyring_find(ring, LEDGER, old));
    ck_assert(!writ_view_equal(
        old, writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ring, CREDENTIAL)))));
    ck_assert_ptr_null(writ_keyring_find(ring, CREDENTIAL, ledger));

    ck_assert_ok(writ_keyring_retire(ring, old, 3, NULL));
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_RETIRED);
    ck_assert_ptr_null(writ_keyring_find(ring, CREDENTIAL, old));
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_states_never_go_back)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_view kid;

    ck_assert_code(writ_keyring_rotate(ring, CREDENTIAL, signer, 1, NULL), WRIT_E_ABSENT);
    ck_assert_ok(writ_keyring_add(ring, CREDENTIAL, signer, 1, NULL));
    kid = writ_jwk_kid(writ_keyring_key(ring, 0)->public);
    ck_assert_code(writ_keyring_retire(ring, kid, 2, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_keyring_retire(ring, WRIT_LIT("nobody"), 2, NULL), WRIT_E_ABSENT);
    rotate(ring, CREDENTIAL, 2);
    ck_assert_ok(writ_keyring_retire(ring, kid, 3, NULL));
    ck_assert_code(writ_keyring_retire(ring, kid, 4, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->changed_us, 3);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_rotate_on_failure_changes_nothing)
{
    struct writ_keyring *ring = ring_new();
    struct writ_view kid = add(ring, CREDENTIAL, 1);
    struct writ_signer *same = NULL;
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);

    ck_assert_ok(writ_signer_put_pem(writ_keyring_active(ring, CREDENTIAL), &pem, NULL));
    ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &same, NULL));
    ck_assert_code(writ_keyring_rotate(ring, CREDENTIAL, same, 2, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_ACTIVE);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->changed_us, 1);
    ck_assert(
        writ_view_equal(kid, writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ring, CREDENTIAL)))));
    writ_signer_free(same);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_add_beyond_the_maximum_is_refused)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *one_more = writ_keys_signer(WRIT_JWK_ALG_ES256);

    (void)add(ring, CREDENTIAL, 1);
    while (writ_keyring_count(ring) < WRIT_KEYRING_KEYS_MAX) {
        rotate(ring, CREDENTIAL, 2);
    }
    ck_assert_code(writ_keyring_rotate(ring, CREDENTIAL, one_more, 3, NULL), WRIT_E_LIMIT);
    ck_assert_ptr_nonnull(writ_keyring_active(ring, CREDENTIAL));
    writ_signer_free(one_more);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_set_lists_verifying_keys_active_first)
{
    struct writ_keyring *ring = ring_new();
    struct writ_jwks *set = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);

    (void)add(ring, CREDENTIAL, 1);
    (void)add(ring, LEDGER, 1);
    rotate(ring, CREDENTIAL, 2);
    rotate(ring, CREDENTIAL, 3);
    ck_assert_ok(
        writ_keyring_retire(ring, writ_jwk_kid(writ_keyring_key(ring, 0)->public), 4, NULL));
    writ_keyring_jwks(&text, ring, CREDENTIAL, false);
    ck_assert_ok(writ_jwks_read(writ_buf_view(&text), &set, NULL));
    ck_assert_uint_eq(writ_jwks_count(set), 2);
    ck_assert(writ_view_equal(writ_jwk_kid(writ_jwks_key(set, 0)),
        writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ring, CREDENTIAL)))));
    ck_assert_ptr_nonnull(writ_jwks_find(set, writ_jwk_kid(writ_keyring_key(ring, 2)->public)));
    writ_jwks_free(set);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_reads_back_as_written)
{
    struct writ_keyring *ring = ring_new();
    struct writ_keyring *again = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    writ_auto_buf text_again = writ_buf_make(WRIT_KEYRING_BYTES_MAX);

    (void)add(ring, CREDENTIAL, 1000000);
    (void)add(ring, LEDGER, 2000000);
    rotate(ring, CREDENTIAL, 3000000);
    writ_keyring_put(&text, ring);
    ck_assert_ok(writ_keyring_read(writ_buf_view(&text), &again, NULL));
    writ_keyring_put(&text_again, again);
    ck_assert(writ_view_equal(writ_buf_view(&text), writ_buf_view(&text_again)));
    ck_assert_int_eq(writ_keyring_key(again, 0)->created_us, 1000000);
    ck_assert_int_eq(writ_keyring_key(again, 0)->changed_us, 3000000);
    ck_assert_ptr_null(writ_keyring_active(again, CREDENTIAL)); /* no private half is in the text */
    writ_keyring_free(ring);
    writ_keyring_free(again);
}
END_TEST

START_TEST(keyring_adopt_takes_the_private_half_of_its_active_key_only)
{
    struct writ_keyring *ring = ring_new();
    struct writ_keyring *again = NULL;
    struct writ_signer *signer = NULL;
    struct writ_signer *stranger = writ_keys_signer(WRIT_JWK_ALG_ES256);
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);

    (void)add(ring, CREDENTIAL, 1);
    writ_keyring_put(&text, ring);
    ck_assert_ok(writ_signer_put_pem(writ_keyring_active(ring, CREDENTIAL), &pem, NULL));
    ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &signer, NULL));
    ck_assert_ok(writ_keyring_read(writ_buf_view(&text), &again, NULL));
    ck_assert_code(writ_keyring_adopt(again, stranger, NULL), WRIT_E_MISMATCH);
    ck_assert_ptr_null(writ_keyring_active(again, CREDENTIAL));
    rotate(ring, CREDENTIAL, 2);
    ck_assert_code(writ_keyring_adopt(ring, signer, NULL), WRIT_E_MISMATCH); /* it is verifying */
    ck_assert_ok(writ_keyring_adopt(again, signer, NULL));
    ck_assert_ptr_eq(writ_keyring_active(again, CREDENTIAL), signer);
    writ_signer_free(stranger);
    writ_keyring_free(ring);
    writ_keyring_free(again);
}
END_TEST

START_TEST(keyring_revoke_twice_keeps_the_earlier_time)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *fresh = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_view kid = add(ring, CREDENTIAL, 10);

    ck_assert_code(writ_keyring_revoke(ring, WRIT_LIT("x"), 20, NULL, 30, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_keyring_revoke(ring, kid, 20, NULL, 30, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_keyring_revoke(ring, kid, 31, fresh, 30, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_keyring_revoke(ring, kid, 0, fresh, 30, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_ACTIVE);
    ck_assert_ok(writ_keyring_revoke(ring, kid, 20, fresh, 30, NULL));
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_REVOKED);
    ck_assert_ptr_null(writ_keyring_key(ring, 0)->signer);
    ck_assert_ptr_null(writ_keyring_find(ring, CREDENTIAL, kid));
    ck_assert_ptr_eq(writ_keyring_active(ring, CREDENTIAL), fresh);
    ck_assert_uint_eq(writ_keyring_key(ring, 1)->rotation.len, 0); /* no key vouches for it */
    ck_assert_code(writ_keyring_retire(ring, kid, 40, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_keyring_revoke(ring, kid, 20, NULL, 40, NULL), WRIT_E_INVALID);
    ck_assert_ok(writ_keyring_revoke(ring, kid, 19, NULL, 40, NULL));
    ck_assert_int_eq(writ_keyring_key(ring, 0)->revoked_us, 19);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_revoke_at_a_wrong_time_names_the_fault)
{
    static const struct {
        int64_t since_us;
        const char *text;
    } cases[] = {
        {-315619200000000, "must be after 1970-01-01T00:00:00Z"},
        {0, "must be after 1970-01-01T00:00:00Z"},
        {41, "must not be in the future"},
        {20, "can only move to an earlier time"},
        {21, "can only move to an earlier time"},
    };
    struct writ_keyring *ring = ring_new();
    struct writ_view kid = add(ring, CREDENTIAL, 10);

    ck_assert_ok(
        writ_keyring_revoke(ring, kid, 20, writ_keys_signer(WRIT_JWK_ALG_ES256), 30, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_err err = {0};
        struct writ_view text;
        ck_assert_code(
            writ_keyring_revoke(ring, kid, cases[i].since_us, NULL, 40, &err), WRIT_E_INVALID);
        text = writ_view_str(err.text);
        ck_assert_msg(
            writ_view_search(text, writ_view_str(cases[i].text)) < text.len, "%s", err.text);
    }
    ck_assert_int_eq(writ_keyring_key(ring, 0)->revoked_us, 20);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_revoke_on_failure_changes_nothing)
{
    struct writ_keyring *ring = ring_new();
    struct writ_signer *same = NULL;
    struct writ_view kid = add(ring, CREDENTIAL, 10);
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);

    ck_assert_ok(writ_signer_put_pem(writ_keyring_active(ring, CREDENTIAL), &pem, NULL));
    ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &same, NULL));
    ck_assert_code(writ_keyring_revoke(ring, kid, 20, same, 30, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_ACTIVE);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->revoked_us, 0);
    ck_assert_ptr_nonnull(writ_keyring_active(ring, CREDENTIAL));
    writ_signer_free(same);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_window_ends_an_hour_after_a_rotation_or_at_the_retirement)
{
    struct writ_keyring *ring = ring_new();
    const int64_t second = 1000000, hour = (int64_t)WRIT_KEYRING_GRACE_S * second;

    (void)add(ring, CREDENTIAL, second);
    ck_assert_int_eq(writ_keyring_window(writ_keyring_key(ring, 0)).from_s, 1);
    ck_assert_int_eq(writ_keyring_window(writ_keyring_key(ring, 0)).until_s, INT64_MAX);
    rotate(ring, CREDENTIAL, 2 * second);
    rotate(ring, CREDENTIAL, 3 * second);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->until_us, 2 * second + hour);
    ck_assert_ok(
        writ_keyring_retire(ring, writ_jwk_kid(writ_keyring_key(ring, 0)->public), 2 * hour, NULL));
    ck_assert_int_eq(writ_keyring_key(ring, 0)->until_us, 2 * second + hour);
    ck_assert_ok(writ_keyring_retire(
        ring, writ_jwk_kid(writ_keyring_key(ring, 1)->public), 4 * second, NULL));
    ck_assert_int_eq(writ_keyring_key(ring, 1)->until_us, 4 * second);
    writ_keyring_free(ring);
}
END_TEST

#define X              "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
#define KID            "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
#define JWK(more)      "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" X "\"" more "}"
#define TIMES          "\"created_at\":\"2026-01-01T00:00:00Z\",\"changed_at\":\"2026-01-01T00:00:00Z\""
#define ROW(jwk, rest) "{" TIMES ",\"jwk\":" jwk "," rest "}"
#define ACTIVE         "\"purpose\":\"credential\",\"state\":\"active\""
#define RING(rows)     "{\"version\":1,\"keys\":[" rows "]}"

struct text_row {
    const char *text;
    enum writ_code code;
};

static const struct text_row texts[] = {
    {RING(""), WRIT_OK},
    {RING(ROW(JWK(""), ACTIVE)), WRIT_OK},
    {"", WRIT_E_PARSE},
    {RING("") "x", WRIT_E_PARSE},
    {"[]", WRIT_E_INVALID},
    {"{\"keys\":[]}", WRIT_E_INVALID},
    {"{\"version\":2,\"keys\":[]}", WRIT_E_INVALID},
    {"{\"version\":1,\"keys\":[],\"more\":1}", WRIT_E_INVALID},
    {"{\"version\":1,\"keys\":{}}", WRIT_E_INVALID},
    {RING("1"), WRIT_E_INVALID},
    {RING(ROW(JWK(""), ACTIVE ",\"more\":1")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), "\"purpose\":\"credential\",\"state\":\"ACTIVE\"")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), "\"purpose\":\"other\",\"state\":\"active\"")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), "\"purpose\":\"\",\"state\":\"\"")), WRIT_E_INVALID},
    {RING(ROW("{}", ACTIVE)), WRIT_E_INVALID},
    {RING(ROW(JWK(",\"kid\":\"../../etc/passwd\""), ACTIVE)), WRIT_E_INVALID},
    {RING(ROW(JWK(",\"d\":\"AAAA\""), ACTIVE)), WRIT_E_MISMATCH},
    {RING(ROW(JWK(""), ACTIVE) "," ROW(JWK(""), ACTIVE)), WRIT_E_INVALID},
    {RING(ROW(JWK(""), ACTIVE) "," ROW(JWK(""), "\"purpose\":\"ledger\",\"state\":\"retired\"")),
        WRIT_E_INVALID},
    {RING(ROW(JWK(""), "\"purpose\":\"credential\",\"state\":\"verifying\","
                       "\"signs_until\":\"2026-01-01T01:00:00Z\",\"rotation\":\"a.b.c\"")),
        WRIT_OK},
    {RING(ROW(JWK(""), ACTIVE ",\"rotation\":1")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), ACTIVE ",\"rotation\":\"\"")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), ACTIVE ",\"signs_until\":\"never\"")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), ACTIVE ",\"revoked_since\":\"2026-01-01T00:00:00Z\"")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), "\"purpose\":\"credential\",\"state\":\"revoked\"")), WRIT_E_INVALID},
    {RING(ROW(JWK(""), "\"purpose\":\"credential\",\"state\":\"revoked\","
                       "\"revoked_since\":\"2026-01-01T00:00:00Z\"")),
        WRIT_OK},
    {RING("{\"created_at\":1,\"changed_at\":2,\"jwk\":" JWK("") "," ACTIVE "}"), WRIT_E_INVALID},
};

START_TEST(keyring_read_of_another_form_is_refused)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct writ_keyring *ring = NULL;

        ck_assert_msg(
            writ_keyring_read(writ_view_str(texts[i].text), &ring, NULL).code == texts[i].code,
            "%s", texts[i].text);
        ck_assert_msg((ring != NULL) == (texts[i].code == WRIT_OK), "%s", texts[i].text);
        writ_keyring_free(ring);
    }
}
END_TEST

START_TEST(keyring_read_of_two_active_keys_of_one_purpose_is_refused)
{
    struct writ_keyring *ring = ring_new();
    struct writ_keyring *again = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    writ_auto_buf forged = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    struct writ_view rest;
    size_t at;

    (void)add(ring, CREDENTIAL, 1);
    rotate(ring, CREDENTIAL, 2);
    writ_keyring_put(&text, ring);
    rest = writ_buf_view(&text);
    at = writ_view_search(rest, WRIT_LIT("verifying"));
    writ_buf_put(&forged, writ_view_sub(rest, 0, at));
    writ_buf_str(&forged, "active");
    writ_buf_put(&forged, writ_view_sub(rest, at + 9, rest.len));
    ck_assert_code(writ_keyring_read(writ_buf_view(&forged), &again, NULL), WRIT_E_INVALID);
    writ_keyring_free(ring);
}
END_TEST

/* Adds a key of contents and gives its kid, borrowed from the ring. */
static struct writ_view
add_wrap(struct writ_keyring *ring, int64_t now_us)
{
    struct writ_wrap_key *wrap = NULL;

    ck_assert_ok(writ_wrap_key_new(&wrap, NULL));
    ck_assert_ok(writ_keyring_add_wrap(ring, wrap, now_us, NULL));
    return writ_wrap_key_kid(writ_keyring_wrap(ring));
}

START_TEST(keyring_key_of_contents_decrypts_until_it_is_retired_or_revoked)
{
    struct writ_keyring *ring = ring_new();
    struct writ_view first, second;
    char kid[2][WRIT_WRAP_KID_TEXT] = {{0}};

    ck_assert_ptr_null(writ_keyring_wrap(ring));
    first = writ_view_place(add_wrap(ring, 1), kid[0]);
    second = writ_view_place(add_wrap(ring, 2), kid[1]);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->state, WRIT_KEY_STATE_VERIFYING);
    ck_assert_int_eq(writ_keyring_key(ring, 0)->changed_us, 2);
    ck_assert(writ_view_equal(writ_wrap_key_kid(writ_keyring_wrap(ring)), second));
    ck_assert_ptr_nonnull(writ_keyring_unwrap(ring, first));
    ck_assert_ptr_nonnull(writ_keyring_unwrap(ring, second));
    ck_assert_ptr_null(writ_keyring_unwrap(ring, WRIT_LIT("")));

    ck_assert_ok(writ_keyring_retire(ring, first, 3, NULL));
    ck_assert_ptr_null(writ_keyring_unwrap(ring, first));
    ck_assert(!writ_keyring_keeps_secret(writ_keyring_key(ring, 0)));
    ck_assert(!writ_wrap_key_is_secret(writ_keyring_key(ring, 0)->wrap));
    ck_assert_code(writ_keyring_revoke(ring, second, 3, NULL, 3, NULL), WRIT_E_INVALID);
    ck_assert_ptr_nonnull(writ_keyring_unwrap(ring, second)); /* as it was */
    (void)add_wrap(ring, 4);
    ck_assert_ok(writ_keyring_revoke(ring, second, 3, NULL, 4, NULL));
    ck_assert_ptr_null(writ_keyring_unwrap(ring, second));
    ck_assert_int_eq(writ_keyring_key(ring, 1)->state, WRIT_KEY_STATE_REVOKED);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_text_and_sets_never_have_a_secret_of_contents)
{
    struct writ_keyring *ring = ring_new(), *again = NULL;
    writ_auto_buf text = writ_buf_make(4096), set = writ_buf_make(4096);
    writ_auto_buf secret = writ_buf_make(WRIT_WRAP_TEXT_MAX);
    struct writ_wrap_key *copy = NULL, *other = NULL;
    struct writ_view k;

    (void)add_wrap(ring, 1000000);
    (void)add(ring, LEDGER, 1000000);
    ck_assert_ok(writ_wrap_key_put(writ_keyring_wrap(ring), &secret, NULL));
    k = writ_view_sub(writ_buf_view(&secret),
        writ_view_search(writ_buf_view(&secret), WRIT_LIT("\"k\"")) + 5, 43);
    writ_keyring_put(&text, ring);
    ck_assert_uint_eq(writ_view_search(writ_buf_view(&text), k), text.len);
    writ_keyring_jwks(&set, ring, WRIT_KEY_PURPOSE_CONTENTS, true);
    ck_assert_view(writ_buf_view(&set), "{\"keys\":[]}");
    ck_assert_ptr_null(writ_keyring_find(
        ring, WRIT_KEY_PURPOSE_CONTENTS, writ_keyring_kid(writ_keyring_key(ring, 0))));

    ck_assert_ok(writ_keyring_read(writ_buf_view(&text), &again, NULL));
    ck_assert_ptr_null(writ_keyring_wrap(again));
    ck_assert_str_eq(writ_keyring_alg_name(writ_keyring_key(again, 0)), "A256KW");
    ck_assert_ok(writ_wrap_key_new(&other, NULL));
    ck_assert_code(writ_keyring_adopt_wrap(again, other, NULL), WRIT_E_MISMATCH);
    ck_assert_ok(writ_wrap_key_read(writ_buf_view(&secret), &copy, NULL));
    ck_assert_ok(writ_keyring_adopt_wrap(again, copy, NULL));
    ck_assert_ptr_nonnull(writ_keyring_wrap(again));
    writ_wrap_key_free(other);
    writ_keyring_free(again);
    writ_keyring_free(ring);
}
END_TEST

START_TEST(keyring_read_of_a_secret_of_contents_is_refused)
{
    static const char *const jwks[] = {
        "{\"alg\":\"A256KW\",\"k\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\","
        "\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\",\"kty\":\"oct\",\"use\":\"enc\"}",
        "{\"alg\":\"A256KW\",\"kid\":\"x\",\"kty\":\"oct\",\"use\":\"enc\"}",
        "{\"alg\":\"A128KW\",\"kid\":\"WqjPPRvAP8oYbAqCwMErhzTg-Quaz-vLx_cef07yhOs\","
        "\"kty\":\"oct\",\"use\":\"enc\"}",
        "{}",
    };

    for (size_t i = 0; i < sizeof jwks / sizeof jwks[0]; i++) {
        writ_auto_buf text = writ_buf_make(4096);
        struct writ_keyring *ring = NULL;

        writ_buf_fmt(&text,
            "{\"version\":1,\"keys\":[{\"changed_at\":\"2026-01-01T00:00:00Z\","
            "\"created_at\":\"2026-01-01T00:00:00Z\",\"jwk\":%s,\"purpose\":\"contents\","
            "\"state\":\"active\"}]}",
            jwks[i]);
        ck_assert_code(writ_keyring_read(writ_buf_view(&text), &ring, NULL),
            i == 0 ? WRIT_E_MISMATCH : WRIT_E_INVALID);
        ck_assert_ptr_null(ring);
    }
}
END_TEST

/* What another gateway's keys.json says. */
static struct writ_keyring *
read_back(const struct writ_keyring *ring)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    struct writ_keyring *read = NULL;

    writ_keyring_put(&text, ring);
    ck_assert_ok(writ_keyring_read(writ_buf_view(&text), &read, NULL));
    return read;
}

/* Trusts `theirs` in `ours`, and gives how many keys changed. */
static size_t
trust(struct writ_keyring *ours, const struct writ_keyring *theirs, int64_t now_us)
{
    struct writ_keyring *other = read_back(theirs);
    size_t changed = 0;

    ck_assert_ok(writ_keyring_trust(ours, other, now_us, &changed, NULL));
    writ_keyring_free(other);
    return changed;
}

START_TEST(keyring_trusts_keys_of_another_gateway_without_signing_with_them)
{
    struct writ_keyring *ours = ring_new(), *theirs = ring_new(), *again;
    struct writ_view own = add(ours, LEDGER, 1), other = add(theirs, LEDGER, 2);

    ck_assert_uint_eq(trust(ours, theirs, 3), 1);
    ck_assert_uint_eq(trust(ours, theirs, 4), 0);
    ck_assert_uint_eq(trust(theirs, ours, 4), 1);
    ck_assert_uint_eq(trust(ours, theirs, 5), 0); /* its own active key stays active */
    ck_assert(
        writ_view_equal(writ_jwk_kid(writ_signer_jwk(writ_keyring_active(ours, LEDGER))), own));
    ck_assert_ptr_nonnull(writ_keyring_find(ours, LEDGER, other));
    again = read_back(ours); /* such a ring can be written */
    ck_assert_uint_eq(writ_keyring_count(again), 2);
    writ_keyring_free(again);

    rotate(theirs, LEDGER, 6);
    ck_assert_uint_eq(trust(ours, theirs, 7), 2); /* the new key, and the end of the old one */
    ck_assert_int_gt(writ_keyring_key(ours, 1)->until_us, 0);
    ck_assert_ok(writ_keyring_revoke(theirs, other, 6, NULL, 8, NULL));
    ck_assert_uint_eq(trust(ours, theirs, 9), 1);
    ck_assert_ptr_null(writ_keyring_find(ours, LEDGER, other));
    ck_assert_int_eq(writ_keyring_key(ours, 1)->revoked_us, 6);
    writ_keyring_free(ours);
    writ_keyring_free(theirs);
}
END_TEST

START_TEST(keyring_trust_refuses_a_key_of_another_purpose)
{
    struct writ_keyring *ours = ring_new(), *theirs = ring_new(), *other;
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX), changed = writ_buf_make(1 << 16);
    struct writ_view ledger = WRIT_LIT("\"purpose\":\"ledger\"");
    size_t at, n = 0;

    (void)add(theirs, LEDGER, 1);
    ck_assert_uint_eq(trust(ours, theirs, 2), 1);
    writ_keyring_put(&text, theirs);
    at = writ_view_search(writ_buf_view(&text), ledger);
    writ_buf_put(&changed, writ_view_sub(writ_buf_view(&text), 0, at));
    writ_buf_str(&changed, "\"purpose\":\"credential\"");
    writ_buf_put(&changed, writ_view_sub(writ_buf_view(&text), at + ledger.len, text.len));
    ck_assert_ok(writ_keyring_read(writ_buf_view(&changed), &other, NULL));
    ck_assert_code(writ_keyring_trust(ours, other, 3, &n, NULL), WRIT_E_INVALID);
    writ_keyring_free(other);
    writ_keyring_free(ours);
    writ_keyring_free(theirs);
}
END_TEST

WRIT_UNIT_MAIN("keyring", keyring_when_empty_has_no_key,
    keyring_add_of_a_second_active_key_is_refused, keyring_add_of_a_key_for_two_purposes_is_refused,
    keyring_rotated_key_verifies_until_it_is_retired, keyring_states_never_go_back,
    keyring_rotate_on_failure_changes_nothing, keyring_add_beyond_the_maximum_is_refused,
    keyring_set_lists_verifying_keys_active_first, keyring_reads_back_as_written,
    keyring_adopt_takes_the_private_half_of_its_active_key_only,
    keyring_revoke_twice_keeps_the_earlier_time, keyring_revoke_at_a_wrong_time_names_the_fault,
    keyring_revoke_on_failure_changes_nothing,
    keyring_window_ends_an_hour_after_a_rotation_or_at_the_retirement,
    keyring_read_of_another_form_is_refused,
    keyring_read_of_two_active_keys_of_one_purpose_is_refused,
    keyring_key_of_contents_decrypts_until_it_is_retired_or_revoked,
    keyring_text_and_sets_never_have_a_secret_of_contents,
    keyring_read_of_a_secret_of_contents_is_refused,
    keyring_trusts_keys_of_another_gateway_without_signing_with_them,
    keyring_trust_refuses_a_key_of_another_purpose)
