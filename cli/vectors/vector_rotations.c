/* writ-rotations/1: the keys of a set that earlier trusted keys reach. */
#include "cli/vectors/vector.h"
#include "evidence/jose/rotation.h"
#include "evidence/json/write.h"

static WRIT_RESULT
read_set(const struct writ_json *value, struct writ_jwks **ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);

    WRIT_TRY(writ_vector_text(value, "jwks or pin", &text, err));
    return writ_jwks_read(writ_buf_view(&text), ret, err);
}

writ_result
writ_vector_rotations(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_jwks keys = NULL;
    writ_auto_jwks pin = NULL;
    struct writ_write w = writ_write_to(ret);
    writ_result followed;

    (void)set;
    (void)arena;
    WRIT_TRY(read_set(writ_json_get(vector, WRIT_LIT("jwks")), &keys, err));
    WRIT_TRY(read_set(writ_json_get(vector, WRIT_LIT("pin")), &pin, err));
    followed = writ_rotation_follow(keys, pin, err);
    if (!writ_is_ok(followed) && followed.code != WRIT_E_MISMATCH) {
        return followed;
    }
    writ_write_object_begin(&w);
    writ_write_flag(&w, "fork", !writ_is_ok(followed));
    writ_write_name(&w, WRIT_LIT("keys"));
    writ_write_array_begin(&w);
    for (size_t i = 0; writ_is_ok(followed) && i < writ_jwks_count(keys); i++) {
        writ_write_string(&w, writ_jwk_kid(writ_jwks_key(keys, i)));
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
