/* vectors/jose-rfc: the examples of RFC 7515, 7517, 7520, 7638, 7797 and 8037.
 *
 * The rule of that folder's README: compact tokens of our algorithms verify with their key; every
 * other algorithm, every other serialisation, detached content and b64 is refused. */
#include "support/evidence/keys.h"
#include "support/unit.h"
#include "support/vectors.h"

#include "evidence/jose/jws.h"

#include <stdio.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 20)

static struct writ_arena *arena;

static const struct writ_json *
read_json(struct writ_view text, const char *name)
{
    const struct writ_json *value = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, &err)),
        "%s: %s", name, err.text);
    return value;
}

/* The public half of an example key, or NULL when it is not of our kinds. */
static struct writ_jwk *
public_key(const struct writ_json *jwk)
{
    writ_auto_buf text = writ_buf_make(8192);
    struct writ_arena *own = writ_arena_new(ARENA_MAX);
    const struct writ_json *value = NULL;
    struct writ_jwk *key = NULL;
    writ_result result;

    writ_keys_public(jwk, &text);
    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, own, &value, NULL));
    result = writ_jwk_read(value, &key, NULL);
    ck_assert(writ_is_ok(result) == (key != NULL));
    writ_arena_free(own);
    return key;
}

/* How a compact token does with its key. */
static void
check_compact(const char *name, struct writ_view token, const struct writ_json *jwk, int *verified)
{
    struct writ_jwk *key = public_key(jwk);
    struct writ_jws jws;
    writ_result read = writ_jws_read(token, arena, &jws, NULL);
    bool ours = writ_is_ok(read) && writ_jwk_alg_named(jws.alg) != WRIT_JWK_ALG_NONE;

    if (ours) {
        ck_assert_ptr_nonnull(key);
        ck_assert_msg(writ_is_ok(writ_jws_check(&jws, key, NULL)), "%s", name);
        (*verified)++;
    } else if (writ_is_ok(read) && key != NULL) {
        ck_assert_msg(!writ_is_ok(writ_jws_check(&jws, key, NULL)), "%s", name);
    }
    writ_jwk_free(key);
}

static void
each_compact(const char *name, struct writ_view content, void *arg)
{
    char path[256];

    arena = writ_arena_new(ARENA_MAX);
    (void)snprintf(path, sizeof(path), "jose-rfc/%.*s.jwk", (int)(strlen(name) - 5), name);
    if (strstr(name, "A.5") != NULL) { /* alg none has no key; try another example's */
        (void)snprintf(path, sizeof(path), "jose-rfc/rfc7515_A.3.jwk");
    }
    writ_auto_buf jwk = writ_vectors_read(path);
    check_compact(name, content, read_json(writ_buf_view(&jwk), path), arg);
    writ_arena_free(arena);
}

START_TEST(jws_of_a_supported_algorithm_verifies_and_of_others_is_refused)
{
    int verified = 0;

    ck_assert_uint_eq(writ_vectors_each("jose-rfc", ".jwsc", each_compact, &verified), 10);
    ck_assert_int_eq(verified, 3); /* A.2, A.3 and 4.1 */
}
END_TEST

static void
each_refused(const char *name, struct writ_view content, void *arg)
{
    struct writ_jws jws;

    (void)arg;
    arena = writ_arena_new(ARENA_MAX);
    ck_assert_msg(!writ_is_ok(writ_jws_read(content, arena, &jws, NULL)), "%s", name);
    writ_arena_free(arena);
}

START_TEST(json_serialisations_are_refused)
{
    ck_assert_uint_gt(writ_vectors_each("jose-rfc", ".jwsf", each_refused, NULL), 0);
    ck_assert_uint_gt(writ_vectors_each("jose-rfc", ".jwsg", each_refused, NULL), 0);
}
END_TEST

static void
each_cookbook(const char *name, struct writ_view content, void *arg)
{
    const struct writ_json *example, *compact, *jwk;

    arena = writ_arena_new(ARENA_MAX);
    example = read_json(content, name);
    compact = writ_json_pointer(example, WRIT_LIT("/output/compact"));
    jwk = writ_json_pointer(example, WRIT_LIT("/input/key"));
    if (compact != NULL && writ_json_type(jwk) == WRIT_JSON_OBJECT) {
        check_compact(name, writ_json_string(compact), jwk, arg);
    }
    writ_arena_free(arena);
}

START_TEST(jws_of_the_cookbook_verifies)
{
    int verified = 0;

    ck_assert_uint_gt(
        writ_vectors_each("jose-rfc/cookbook/jws", ".json", each_cookbook, &verified), 0);
    ck_assert_int_eq(verified, 1); /* 4.1 */
    verified = 0;
    ck_assert_uint_eq(
        writ_vectors_each("jose-rfc/cookbook/curve25519", ".json", each_cookbook, &verified), 1);
    ck_assert_int_eq(verified, 1);
    verified = 0;
    ck_assert_uint_gt(
        writ_vectors_each("jose-rfc/cookbook/rfc7797", ".json", each_cookbook, &verified), 0);
    ck_assert_int_eq(verified, 0);
}
END_TEST

START_TEST(jwk_thumbprint_of_the_example_is_that_of_rfc_7638)
{
    writ_auto_buf jwk = writ_vectors_read("jose-rfc/rfc7638_3.1.jwk");
    writ_auto_buf want = writ_vectors_read("jose-rfc/rfc7638_3.1.thp");
    struct writ_jwk *key;

    arena = writ_arena_new(ARENA_MAX);
    key = public_key(read_json(writ_buf_view(&jwk), "rfc7638_3.1.jwk"));
    ck_assert(writ_view_equal(writ_jwk_thumbprint(key), writ_buf_view(&want)));
    writ_jwk_free(key);
    writ_arena_free(arena);
}
END_TEST

START_TEST(sets_of_private_and_symmetric_keys_are_refused)
{
    writ_auto_buf public = writ_vectors_read("jose-rfc/rfc7517_A.1.jwkset");
    writ_auto_buf private = writ_vectors_read("jose-rfc/rfc7517_A.2.jwkset");
    writ_auto_buf symmetric = writ_vectors_read("jose-rfc/rfc7517_A.3.jwkset");
    struct writ_jwks *set = NULL;

    ck_assert_code(writ_jwks_read(writ_buf_view(&private), &set, NULL), WRIT_E_MISMATCH);
    ck_assert_code(writ_jwks_read(writ_buf_view(&symmetric), &set, NULL), WRIT_E_MISMATCH);
    ck_assert_ptr_null(set);
    ck_assert_ok(writ_jwks_read(writ_buf_view(&public), &set, NULL));
    ck_assert_ptr_null(writ_jwks_find(set, WRIT_LIT("1"))); /* use enc */
    ck_assert_ptr_nonnull(writ_jwks_find(set, WRIT_LIT("2011-04-29")));
    writ_jwks_free(set);
}
END_TEST

WRIT_UNIT_MAIN("jose-rfc", jws_of_a_supported_algorithm_verifies_and_of_others_is_refused,
    json_serialisations_are_refused, jws_of_the_cookbook_verifies,
    jwk_thumbprint_of_the_example_is_that_of_rfc_7638,
    sets_of_private_and_symmetric_keys_are_refused)
