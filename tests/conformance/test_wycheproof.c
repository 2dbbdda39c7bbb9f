/* vectors/wycheproof: signatures and key sets that implementations got wrong. Each verifies, or is
 * read, exactly as its vector says. */
#include "support/evidence/keys.h"
#include "support/unit.h"
#include "support/vectors.h"

#include "evidence/jose/jws.h"
#include "evidence/json/jcs.h"

#define ARENA_MAX ((size_t)1 << 24)

static const struct writ_json_limits limits = {
    .bytes = (size_t)1 << 20,
    .depth = 16,
    .values = 100000,
    .name_bytes = 1024,
    .string_bytes = 65536,
    .number_bytes = 32,
};

static const struct writ_json *
member(const struct writ_json *object, const char *name)
{
    return writ_json_get(object, writ_view_str(name));
}

static void
unhex(const struct writ_json *text, struct writ_buf *ret)
{
    struct writ_view hex = writ_json_string(text);
    char *room = writ_buf_reserve(ret, hex.len / 2 + 1);

    ck_assert_ok(writ_hex_read(hex, room, hex.len / 2));
    ret->len += hex.len / 2;
}

static bool
says_valid(const struct writ_json *test)
{
    return writ_json_is(member(test, "result"), WRIT_LIT("valid"));
}

static long
id_of(const struct writ_json *test)
{
    int64_t id = 0;

    ck_assert_ok(writ_json_integer(member(test, "tcId"), 0, 100000, &id));
    return (long)id;
}

/* The key of a group, from its point: not every group has it as a JWK too. */
static struct writ_jwk *
point_key(const struct writ_json *group)
{
    writ_auto_buf point = writ_buf_make(128);
    writ_auto_buf text = writ_buf_make(1024);
    struct writ_arena *arena = writ_arena_new(65536);
    struct writ_jwk *key = NULL;

    unhex(member(member(group, "publicKey"), "uncompressed"), &point);
    ck_assert_uint_eq(point.len, 65);
    writ_buf_str(&text, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"");
    writ_base64url_put(&text, writ_view_sub(writ_buf_view(&point), 1, 32));
    writ_buf_str(&text, "\",\"y\":\"");
    writ_base64url_put(&text, writ_view_sub(writ_buf_view(&point), 33, 32));
    writ_buf_str(&text, "\"}");
    writ_buf_byte(&text, '\0');
    ck_assert_ok(writ_jwk_read(writ_keys_json(text.ptr, arena), &key, NULL));
    writ_arena_free(arena);
    return key;
}

START_TEST(ecdsa_verify_of_each_vector_gives_its_result)
{
    writ_auto_buf text = writ_vectors_read("wycheproof/ecdsa_secp256r1_sha256_p1363_test.json");
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *root = NULL;
    size_t count = 0;
    size_t keys = 0;

    ck_assert_ok(writ_json_read(writ_buf_view(&text), &limits, arena, &root, NULL));
    WRIT_JSON_EACH(group, member(root, "testGroups"))
    {
        struct writ_jwk *key = point_key(group);

        keys++;
        WRIT_JSON_EACH(test, member(group, "tests"))
        {
            writ_auto_buf message = writ_buf_make(65536);
            writ_auto_buf signature = writ_buf_make(65536);
            writ_result result;

            unhex(member(test, "msg"), &message);
            unhex(member(test, "sig"), &signature);
            result = writ_jwk_verify(key, writ_buf_view(&message), writ_buf_view(&signature), NULL);
            ck_assert_msg(result.code == (says_valid(test) ? WRIT_OK : WRIT_E_MISMATCH), "%ld: %s",
                id_of(test), writ_code_name(result.code));
            count++;
        }
        writ_jwk_free(key);
    }
    ck_assert_uint_eq(count, 262);
    ck_assert_uint_gt(keys, 100);
    writ_arena_free(arena);
}
END_TEST

/* A token and the set that it must or must not verify with. Sets of symmetric keys are always
 * refused here: there is no MAC. */
static bool
verifies(const struct writ_json *group, const struct writ_json *test, struct writ_arena *arena)
{
    const struct writ_json *public = member(group, "public");
    writ_auto_buf text = writ_buf_make(65536);
    struct writ_jwks *set = NULL;
    struct writ_jws jws;
    bool verified;

    ck_assert_ok(writ_jcs_put(&text, public != NULL ? public : member(group, "private"), NULL));
    verified =
        writ_is_ok(writ_jwks_read(writ_buf_view(&text), &set, NULL)) &&
        writ_is_ok(writ_jws_read(writ_json_string(member(test, "jws")), arena, &jws, NULL)) &&
        writ_is_ok(writ_jws_verify(&jws, set, NULL));
    writ_jwks_free(set);
    return verified;
}

START_TEST(jwks_read_of_each_vector_gives_its_result)
{
    writ_auto_buf text = writ_vectors_read("wycheproof/json_web_key_test.json");
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *root = NULL;
    size_t count = 0;
    size_t valid = 0;

    ck_assert_ok(writ_json_read(writ_buf_view(&text), &limits, arena, &root, NULL));
    WRIT_JSON_EACH(group, member(root, "testGroups"))
    {
        bool asymmetric = member(group, "public") != NULL;

        WRIT_JSON_EACH(test, member(group, "tests"))
        {
            bool want = says_valid(test) && asymmetric;

            ck_assert_msg(verifies(group, test, arena) == want, "%ld", id_of(test));
            count++;
            valid += want;
        }
    }
    ck_assert_uint_eq(count, 26);
    ck_assert_uint_eq(valid, 1);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("wycheproof", ecdsa_verify_of_each_vector_gives_its_result,
    jwks_read_of_each_vector_gives_its_result)
