/* For every text: a token that is read is the one spelling of its parts, and it verifies only when
 * the owner of the key once signed exactly these bytes. */
#include "support/fuzz.h"
#include "support/evidence/token.h"

#include "evidence/jose/jws.h"

#define ARENA_MAX ((size_t)65536)

static struct writ_arena *arena;
static struct writ_jwks *keys;

static void
prepare(void)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(writ_is_ok(writ_jwks_read(WRIT_LIT(WRIT_TOKEN_JWKS), &keys, NULL)));
    }
}

/* The payload and the signature, encoded again, are what stood there. */
static void
check_spelling(struct writ_view token, const struct writ_jws *jws)
{
    writ_auto_buf again = writ_buf_make(2 * WRIT_JWS_BYTES_MAX);

    writ_buf_put(&again, writ_view_sub(token, 0, writ_view_find(token, '.') + 1));
    writ_base64url_put(&again, jws->payload);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), jws->input));
    writ_buf_byte(&again, '.');
    writ_base64url_put(&again, jws->signature);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), token));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view token = writ_view(data, size);
    struct writ_view genuine = WRIT_LIT(WRIT_TOKEN_TEXT);
    const struct writ_json *claims = NULL;
    struct writ_jws jws;
    writ_result read;

    prepare();
    read = writ_jws_read(token, arena, &jws, NULL);
    WRIT_INVARIANT(read.code != WRIT_E_NOMEM);
    WRIT_INVARIANT(size <= WRIT_JWS_BYTES_MAX || read.code == WRIT_E_LIMIT);
    if (writ_is_ok(read)) {
        check_spelling(token, &jws);
        WRIT_INVARIANT(writ_jws_claims(&jws, arena, &claims, NULL).code != WRIT_E_NOMEM);
        if (writ_is_ok(writ_jws_verify(&jws, keys, NULL))) {
            WRIT_INVARIANT(writ_view_has_prefix(genuine, jws.input));
            WRIT_INVARIANT(writ_view_is(jws.alg, "ES256"));
        }
    }
    writ_arena_reset(arena);
    return 0;
}
