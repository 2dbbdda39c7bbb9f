/* Status lists of revoked credentials. Each place reads back as issued, and lists of other issuers
 * are read or refused as a whole. */
#include "support/evidence/keys.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/credential/status_list.h"

#include <string.h>

#define URI "https://gateway.example/list"

static struct writ_arena *arena;
static struct writ_signer *signer, *stranger;
static struct writ_jwks *keys;

static void
setup(void)
{
    const struct writ_signer *all[1];

    arena = writ_value_arena();
    signer = writ_keys_signer(WRIT_JWK_ALG_RS256); /* the longest signatures */
    stranger = writ_keys_signer(WRIT_JWK_ALG_ES256);
    all[0] = signer;
    keys = writ_keys_set(all, 1);
}

static void
teardown(void)
{
    writ_jwks_free(keys);
    writ_signer_free(signer);
    writ_signer_free(stranger);
    writ_arena_free(arena);
}

static struct writ_view
signed_by(const struct writ_signer *by, const char *typ, struct writ_view payload)
{
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);

    ck_assert_ok(writ_jws_sign(by, writ_view_str(typ), payload, &token, NULL));
    return writ_view_copy(writ_buf_view(&token), arena);
}

START_TEST(status_list_reads_back_at_every_index)
{
    static char bits[WRIT_STATUS_LIST_BYTES];
    const struct writ_status_list list = {
        .uri = WRIT_LIT(URI),
        .bits = {bits, sizeof bits},
        .issued_s = 100,
        .expires_s = 160,
        .ttl_s = 1,
        .width = 1,
    };
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_status_list got;
    int64_t places = (int64_t)sizeof bits * 8;

    setup();
    for (size_t i = 0; i < sizeof bits; i++) {
        bits[i] = (char)(i * 37 + (i >> 5));
    }
    ck_assert_ok(writ_status_list_issue(signer, &list, &token, NULL)); /* it fits one token */
    ck_assert_ok(writ_status_list_read(writ_buf_view(&token), keys, arena, &got, NULL));
    ck_assert_view(got.uri, URI);
    ck_assert_int_eq(got.issued_s, 100);
    ck_assert_int_eq(got.expires_s, 160);
    for (int64_t i = 0; i < places; i++) {
        bool set = (bits[i / 8] >> i % 8 & 1) != 0;
        ck_assert_int_eq(
            writ_status_list_at(&got, i), set ? WRIT_STATUS_REVOKED : WRIT_STATUS_VALID);
    }
    ck_assert_int_eq(writ_status_list_at(&got, places), WRIT_STATUS_UNKNOWN);
    ck_assert_int_eq(writ_status_list_at(&got, -1), WRIT_STATUS_UNKNOWN);
    ck_assert_int_eq(writ_status_list_at(&(struct writ_status_list){0}, 0), WRIT_STATUS_UNKNOWN);
    teardown();
}
END_TEST

/* The example of the IETF's document: bits b9 a3 compress to this. */
START_TEST(status_list_of_another_issuer_is_read)
{
    static const char payload[] =
        "{\"exp\":2291720170,\"iat\":1686920170,\"status_list\":{\"bits\":1,\"lst\":"
        "\"eNrbuRgAAhcBXQ\"},\"sub\":\"https://example.com/statuslists/1\",\"ttl\":43200}";
    static const char two_bits[] =
        "{\"exp\":2291720170,\"iat\":1686920170,\"status_list\":{\"bits\":2,\"lst\":"
        "\"eNo76fITAAPfAgc\"},\"sub\":\"https://example.com/statuslists/1\"}";
    static const unsigned char expected[] = {0xb9, 0xa3};
    static const int second[] = {1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3};
    struct writ_status_list got;

    setup();
    ck_assert_ok(writ_status_list_read(
        signed_by(signer, WRIT_STATUS_LIST_TYP, writ_view_str(payload)), keys, arena, &got, NULL));
    ck_assert_uint_eq(got.bits.len, 2);
    ck_assert_int_eq(memcmp(got.bits.ptr, expected, 2), 0);
    ck_assert_int_eq(writ_status_list_at(&got, 0), WRIT_STATUS_REVOKED);
    ck_assert_int_eq(writ_status_list_at(&got, 1), WRIT_STATUS_VALID);
    ck_assert_ok(writ_status_list_read(
        signed_by(signer, WRIT_STATUS_LIST_TYP, writ_view_str(two_bits)), keys, arena, &got, NULL));
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(
            writ_status_list_at(&got, i), second[i] == 0 ? WRIT_STATUS_VALID : WRIT_STATUS_REVOKED);
    }
    teardown();
}
END_TEST

START_TEST(status_list_read_of_any_other_token_is_refused)
{
    static const char *const payloads[] = {"{}",
        "{\"exp\":2,\"iat\":1,\"status_list\":{\"bits\":1,\"lst\":\"eNrbuRgAAhcBXQ\"}}",
        "{\"iat\":1,\"status_list\":{\"bits\":1,\"lst\":\"eNrbuRgAAhcBXQ\"},\"sub\":\"u\"}",
        "{\"exp\":2,\"status_list\":{\"bits\":1,\"lst\":\"eNrbuRgAAhcBXQ\"},\"sub\":\"u\"}",
        "{\"exp\":2,\"iat\":1,\"status_list\":{\"bits\":3,\"lst\":\"eNrbuRgAAhcBXQ\"},\"sub\":"
        "\"u\"}",
        "{\"exp\":2,\"iat\":1,\"status_list\":{\"bits\":1},\"sub\":\"u\"}",
        "{\"exp\":2,\"iat\":1,\"status_list\":{\"bits\":1,\"lst\":\"eNrbuRgAAhcBXA\"},\"sub\":"
        "\"u\"}",
        "{\"exp\":2,\"iat\":1,\"status_list\":{\"bits\":1,\"lst\":\"!\"},\"sub\":\"u\"}",
        "{\"exp\":\"2\",\"iat\":1,\"status_list\":{\"bits\":1,\"lst\":\"eNrbuRgAAhcBXQ\"},\"sub\":"
        "\"u\"}"};
    static const char good[] = "{\"exp\":2,\"iat\":1,\"status_list\":{\"bits\":1,\"lst\":"
                               "\"eNrbuRgAAhcBXQ\"},\"sub\":\"u\"}";
    struct writ_status_list got = {.issued_s = 7};
    struct writ_view view = writ_view_str(good);

    setup();
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        ck_assert_msg(!writ_is_ok(writ_status_list_read(
                          signed_by(signer, WRIT_STATUS_LIST_TYP, writ_view_str(payloads[i])), keys,
                          arena, &got, NULL)),
            "%s", payloads[i]);
    }
    ck_assert_code(writ_status_list_read(signed_by(signer, "JWT", view), keys, arena, &got, NULL),
        WRIT_E_INVALID); /* a credential is not a list */
    ck_assert_code(writ_status_list_read(
                       signed_by(stranger, WRIT_STATUS_LIST_TYP, view), keys, arena, &got, NULL),
        WRIT_E_ABSENT);
    ck_assert_int_eq(got.issued_s, 7);
    ck_assert_ok(writ_status_list_read(
        signed_by(signer, WRIT_STATUS_LIST_TYP, view), keys, arena, &got, NULL));
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("status_list", status_list_reads_back_at_every_index,
    status_list_of_another_issuer_is_read, status_list_read_of_any_other_token_is_refused)
