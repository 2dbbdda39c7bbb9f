/* For every text: a set that is read, written and read again is the same set; no key has a kid
 * twice; the written set holds no secret, because it reads again. Pinned to itself it keeps its
 * keys. */
#include "support/fuzz.h"

#include "evidence/jose/rotation.h"

static void
put_set(const struct writ_jwks *set, struct writ_buf *ret)
{
    const struct writ_jwk *keys[WRIT_JWKS_KEYS_MAX];

    for (size_t i = 0; i < writ_jwks_count(set); i++) {
        keys[i] = writ_jwks_key(set, i);
        WRIT_INVARIANT(writ_jwks_find(set, writ_jwk_kid(keys[i])) == keys[i]);
        WRIT_INVARIANT(writ_jwk_alg(keys[i]) != WRIT_JWK_ALG_NONE);
    }
    writ_jwks_put(ret, keys, writ_jwks_count(set));
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(ret, NULL)));
}

/* A set that is pinned to itself keeps its keys, unless one of them names two successors. */
static void
follow(struct writ_jwks *set, const struct writ_jwks *same)
{
    writ_result result = writ_rotation_follow(set, same, NULL);

    WRIT_INVARIANT(writ_is_ok(result) || result.code == WRIT_E_MISMATCH);
    WRIT_INVARIANT(writ_jwks_count(set) == writ_jwks_count(same));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    writ_auto_buf again = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_jwks *set = NULL;
    struct writ_jwks *same = NULL;

    if (writ_is_ok(writ_jwks_read(writ_view(data, size), &set, NULL))) {
        put_set(set, &text);
        WRIT_INVARIANT(writ_is_ok(writ_jwks_read(writ_buf_view(&text), &same, NULL)));
        put_set(same, &again);
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&text), writ_buf_view(&again)));
        follow(set, same);
    }
    writ_jwks_free(set);
    writ_jwks_free(same);
    return 0;
}
