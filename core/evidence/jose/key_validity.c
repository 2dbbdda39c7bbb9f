/* Judges a signing time by the validity and the revocation of its key. The revocation is checked
 * against the present, not against the stated time: the thief of a key can state any time. */
#include "evidence/jose/key_validity.h"

#define SECONDS_MAX ((INT64_C(1) << 53) - 1)

enum writ_key_validity_answer
writ_key_validity_judge(
    const struct writ_key_validity *window, int64_t signed_s, int64_t now_s, int64_t skew_s)
{
    if (window->revoked_s <= now_s || window->revoked_s <= signed_s) {
        return WRIT_KEY_VALIDITY_REVOKED;
    }
    /* written so that ends at the limits of the type do not overflow */
    if (signed_s + skew_s < window->from_s || signed_s - skew_s > window->until_s) {
        return WRIT_KEY_VALIDITY_OUTSIDE;
    }
    return WRIT_KEY_VALIDITY_HOLDS;
}

/* Reads a number of seconds if the member is there. */
static bool
take(const struct writ_json *object, struct writ_view name, int64_t *ret)
{
    const struct writ_json *value = writ_json_get(object, name);

    return value == NULL || writ_is_ok(writ_json_integer(value, 0, SECONDS_MAX, ret));
}

WRIT_RESULT
writ_key_validity_read(
    const struct writ_json *jwk, struct writ_key_validity *ret, struct writ_err *err)
{
    const struct writ_json *revoked = writ_json_get(jwk, WRIT_LIT("revoked"));
    struct writ_key_validity window = WRIT_KEY_VALIDITY_OPEN;

    if (!take(jwk, WRIT_LIT("nbf"), &window.from_s) ||
        !take(jwk, WRIT_LIT("exp"), &window.until_s) ||
        (revoked != NULL &&
            !writ_is_ok(writ_json_integer(writ_json_get(revoked, WRIT_LIT("revoked_at")), 0,
                SECONDS_MAX, &window.revoked_s)))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "nbf, exp or revoked.revoked_at of a key is not a number of seconds since 1970");
    }
    *ret = window;
    return WRIT_DONE;
}

void
writ_key_validity_put(
    struct writ_buf *buf, struct writ_view text, const struct writ_key_validity *window)
{
    WRIT_INVARIANT(writ_view_has_suffix(text, WRIT_LIT("}")));
    writ_buf_put(buf, writ_view_sub(text, 0, text.len - 1));
    if (window->from_s != INT64_MIN) {
        writ_buf_fmt(buf, ",\"nbf\":%lld", (long long)window->from_s);
    }
    if (window->until_s != INT64_MAX) {
        writ_buf_fmt(buf, ",\"exp\":%lld", (long long)window->until_s);
    }
    if (window->revoked_s != INT64_MAX) {
        writ_buf_fmt(buf, ",\"revoked\":{\"revoked_at\":%lld}", (long long)window->revoked_s);
    }
    writ_buf_byte(buf, '}');
}
