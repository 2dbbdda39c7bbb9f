/* For every text, as a token: it is refused, because no list was signed. As the payload of a list
 * that its owner did sign: if it is read, it has a width, times and an answer for each of its
 * places and for no other, and reads the same again. */
#include "support/fuzz.h"

#include "evidence/credential/status_list.h"

#define ARENA_MAX ((size_t)4 << 20)
#define TIME_MAX  (INT64_C(1) << 53)

static struct writ_arena *arena;
static struct writ_signer *signer;
static struct writ_jwks *keys;

static void
prepare(void)
{
    const struct writ_jwk *all[1];
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);

    if (arena != NULL) {
        return;
    }
    arena = writ_arena_new(ARENA_MAX);
    WRIT_INVARIANT(arena != NULL);
    WRIT_INVARIANT(writ_is_ok(writ_signer_new(WRIT_JWK_ALG_ES256, &signer, NULL)));
    all[0] = writ_signer_jwk(signer);
    writ_jwks_put(&text, all, 1);
    WRIT_INVARIANT(writ_is_ok(writ_jwks_read(writ_buf_view(&text), &keys, NULL)));
}

static void
check_list(const struct writ_status_list *list)
{
    int64_t places;

    WRIT_INVARIANT(list->width == 1 || list->width == 2 || list->width == 4 || list->width == 8);
    WRIT_INVARIANT(list->bits.len <= WRIT_STATUS_LIST_BYTES_MAX && list->uri.len > 0);
    WRIT_INVARIANT(list->issued_s >= 0 && list->issued_s < TIME_MAX && list->expires_s >= 0 &&
                   list->expires_s < TIME_MAX && list->ttl_s >= 0);
    places = (int64_t)list->bits.len * 8 / list->width;
    for (int64_t i = 0; i < places; i++) {
        WRIT_INVARIANT(writ_status_list_at(list, i) != WRIT_STATUS_UNKNOWN);
    }
    WRIT_INVARIANT(writ_status_list_at(list, places) == WRIT_STATUS_UNKNOWN);
    WRIT_INVARIANT(writ_status_list_at(list, -1) == WRIT_STATUS_UNKNOWN);
    WRIT_INVARIANT(writ_status_list_at(list, INT64_MIN) == WRIT_STATUS_UNKNOWN);
    WRIT_INVARIANT(writ_status_list_at(list, INT64_MAX) == WRIT_STATUS_UNKNOWN);
}

static void
check_payload(struct writ_view payload)
{
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_status_list list, again;
    writ_result read;

    if (!writ_is_ok(writ_jws_sign(signer, WRIT_LIT(WRIT_STATUS_LIST_TYP), payload, &token, NULL))) {
        return;
    }
    read = writ_status_list_read(writ_buf_view(&token), keys, arena, &list, NULL);
    WRIT_INVARIANT(read.code != WRIT_E_NOMEM && read.code != WRIT_E_ABSENT);
    if (writ_is_ok(read)) {
        check_list(&list);
        WRIT_INVARIANT(
            writ_is_ok(writ_status_list_read(writ_buf_view(&token), keys, arena, &again, NULL)));
        WRIT_INVARIANT(writ_view_equal(list.bits, again.bits) && list.width == again.width);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);
    struct writ_status_list list;

    prepare();
    WRIT_INVARIANT(!writ_is_ok(writ_status_list_read(text, keys, arena, &list, NULL)));
    check_payload(text);
    writ_arena_reset(arena);
    return 0;
}
