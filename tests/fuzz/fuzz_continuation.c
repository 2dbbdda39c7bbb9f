/* For every text, as a requestState that comes back: it is refused, because it has no valid
 * signature. As the payload of a signed one: if it is read, it writes and reads back as the same
 * one, and is read only before it expires. Signed for another purpose it is refused. */
#include "support/fuzz.h"

#include "evidence/jose/jws.h"
#include "gateway/review/continuation.h"

#define ARENA_MAX ((size_t)1 << 20)
#define PREFIX    WRIT_LIT("io.writ/review:")
#define TYP       WRIT_LIT("writ-continuation")
#define NOW_S     1000

static struct writ_arena *arena;
static struct writ_keyring *ring;
static const struct writ_signer *signer;

static void
prepare(void)
{
    struct writ_signer *mine = NULL;

    if (arena != NULL) {
        return;
    }
    arena = writ_arena_new(ARENA_MAX);
    WRIT_INVARIANT(arena != NULL);
    WRIT_INVARIANT(writ_is_ok(writ_keyring_new(&ring, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_signer_new(WRIT_JWK_ALG_ES256, &mine, NULL)));
    WRIT_INVARIANT(
        writ_is_ok(writ_keyring_add(ring, WRIT_KEY_PURPOSE_CREDENTIAL, mine, NOW_S, NULL)));
    signer = mine;
}

static writ_result
read(struct writ_view text, int64_t now_s, struct writ_continuation *ret)
{
    writ_result result = writ_continuation_read(text, ring, now_s, arena, ret, NULL);

    WRIT_INVARIANT(result.code != WRIT_E_NOMEM && result.code != WRIT_E_CRYPTO);
    return result;
}

static void
check_read(const struct writ_continuation *c)
{
    writ_auto_buf text = writ_buf_make(WRIT_CONTINUATION_MAX);
    struct writ_continuation again;

    WRIT_INVARIANT(c->expires_s > NOW_S && c->review.len > 0);
    if (writ_is_ok(writ_continuation_put(c, signer, &text, NULL))) {
        WRIT_INVARIANT(writ_is_ok(read(writ_buf_view(&text), NOW_S, &again)));
        WRIT_INVARIANT(writ_view_equal(again.review, c->review) &&
                       writ_digest_equal(&again.call, &c->call) && again.shown == c->shown &&
                       again.expires_s == c->expires_s);
        WRIT_INVARIANT(!writ_is_ok(read(writ_buf_view(&text), c->expires_s, &again)));
    }
}

static void
check_payload(struct writ_view payload, struct writ_view typ)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_JWS_BYTES_MAX);
    struct writ_continuation c;

    writ_buf_put(&text, PREFIX);
    if (writ_is_ok(writ_jws_sign(signer, typ, payload, &text, NULL)) &&
        writ_is_ok(read(writ_buf_view(&text), NOW_S, &c))) {
        WRIT_INVARIANT(writ_view_equal(typ, TYP));
        check_read(&c);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);
    writ_auto_buf prefixed = writ_buf_make(size + PREFIX.len);
    struct writ_continuation c;

    prepare();
    WRIT_INVARIANT(!writ_is_ok(read(text, NOW_S, &c)));
    writ_buf_put(&prefixed, PREFIX);
    writ_buf_put(&prefixed, text);
    WRIT_INVARIANT(writ_continuation_is(writ_buf_view(&prefixed)));
    WRIT_INVARIANT(!writ_is_ok(read(writ_buf_view(&prefixed), NOW_S, &c)));
    check_payload(text, TYP);
    check_payload(text, WRIT_LIT("JWT"));
    writ_arena_reset(arena);
    return 0;
}
