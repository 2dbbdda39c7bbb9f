/* For every text, cut at its zero bytes into a key set, arguments and a token: a key set is taken
 * whole or not at all; there is a verdict only when the arguments are a JSON object; it is ok only
 * for the one credential that was ever signed with the genuine key, with the arguments that it was
 * signed for, and a jti is asked for only then. */
#include "support/fuzz.h"
#include "support/evidence/token.h"

#include "base/bytes.h"
#include "evidence/json/digest.h"
#include "writ/verify.h"

static struct writ_verify *genuine;
static struct writ_arena *arena;
static int asked;

static enum writ_verify_use
use(void *ctx, struct writ_view jti, int64_t until_s)
{
    (void)ctx;
    (void)until_s;
    WRIT_INVARIANT(writ_view_is(jti, WRIT_TOKEN_JTI));
    asked++;
    return WRIT_VERIFY_USE_FRESH;
}

static void
prepare(void)
{
    if (genuine == NULL) {
        arena = writ_arena_new((size_t)64 << 20);
        WRIT_INVARIANT(arena != NULL);
        WRIT_INVARIANT(writ_is_ok(writ_verify_new(&genuine, NULL)));
        WRIT_INVARIANT(writ_is_ok(writ_verify_keys(genuine, WRIT_LIT(WRIT_TOKEN_JWKS), NULL)));
    }
}

static struct writ_view
cut(struct writ_view *rest)
{
    struct writ_view part = writ_view_sub(*rest, 0, writ_view_find(*rest, '\0'));

    *rest = writ_view_sub(*rest, part.len + 1, rest->len);
    return part;
}

static bool
are_genuine(struct writ_view arguments)
{
    const struct writ_json *value = NULL;
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];
    bool same = false;

    if (writ_is_ok(writ_json_read(arguments, &writ_json_limits_default, arena, &value, NULL)) &&
        writ_is_ok(writ_digest_json(value, (size_t)16 << 20, &digest, NULL))) {
        writ_digest_text(&digest, text);
        same = writ_view_is(writ_view_str(text), WRIT_TOKEN_HASH);
    }
    writ_arena_reset(arena);
    return same;
}

static void
check(const struct writ_verify *verify, struct writ_view token, struct writ_view arguments)
{
    struct writ_verify_answer answer = {0};
    const struct writ_verify_call call = {
        .tool = WRIT_LIT(WRIT_TOKEN_TOOL),
        .arguments = arguments,
        .audience = WRIT_LIT(WRIT_TOKEN_AUD),
        .issuer = WRIT_LIT(WRIT_TOKEN_ISS),
        .any_agent = true,
        .any_tenant = true,
        .now_s = WRIT_TOKEN_NOW_S,
        .use = use,
    };

    asked = 0;
    if (!writ_is_ok(writ_verify_credential(verify, token, &call, &answer, NULL))) {
        WRIT_INVARIANT(!answer.ok && asked == 0);
        return;
    }
    WRIT_INVARIANT(answer.ok == (asked == 1));
    WRIT_INVARIANT(!answer.ok ||
                   (are_genuine(arguments) && writ_view_is(answer.params_hash, WRIT_TOKEN_HASH)));
    writ_verify_wipe(&answer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view rest = writ_view(data, size);
    struct writ_view jwks = cut(&rest), arguments = cut(&rest);
    struct writ_verify *other = NULL;

    prepare();
    check(genuine, rest, arguments);
    WRIT_INVARIANT(writ_is_ok(writ_verify_new(&other, NULL)));
    if (writ_is_ok(writ_verify_keys(other, jwks, NULL))) {
        check(other, WRIT_LIT(WRIT_TOKEN_TEXT), arguments);
    }
    writ_verify_free(other);
    return 0;
}
