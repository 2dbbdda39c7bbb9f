/* continuation.c - signs and reads the claims of a requestState. A reader accepts only its own
 * type, a valid signature and a time that is not over. */
#include "gateway/review/continuation.h"

#include "evidence/jose/jws.h"
#include "evidence/json/write.h"

#define PREFIX      "io.writ/review:"
#define TYP         "writ-continuation"
#define PAYLOAD_MAX 4096

#define TIME_S_MAX INT64_C(253402300799) /* the end of the year 9999 */

bool
writ_continuation_is(struct writ_view text)
{
    return writ_view_has_prefix(text, WRIT_LIT(PREFIX));
}

writ_result
writ_continuation_put(const struct writ_continuation *continuation,
    const struct writ_signer *signer, struct writ_buf *buf, struct writ_err *err)
{
    writ_auto_buf payload = writ_buf_make(PAYLOAD_MAX);
    struct writ_write w = writ_write_to(&payload);
    char call[WRIT_DIGEST_TEXT];

    writ_digest_text(&continuation->call, call);
    writ_write_object_begin(&w);
    writ_write_text(&w, "call", writ_view_str(call));
    writ_write_integer(&w, "exp", continuation->expires_s);
    writ_write_text_if(&w, "name", continuation->name);
    writ_write_text(&w, "review", continuation->review);
    writ_write_text_if(&w, "session", continuation->session);
    writ_write_flag(&w, "shown", continuation->shown);
    writ_write_text_if(&w, "terms", continuation->terms);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_str(buf, PREFIX);
    return writ_jws_sign(signer, WRIT_LIT(TYP), writ_buf_view(&payload), buf, err);
}

static WRIT_RESULT
read_claims(const struct writ_json *claims, struct writ_continuation *ret, struct writ_err *err)
{
    const struct writ_json *shown = writ_json_get(claims, WRIT_LIT("shown"));
    struct writ_continuation c = {0};

    c.review = writ_json_string(writ_json_get(claims, WRIT_LIT("review")));
    c.name = writ_json_string(writ_json_get(claims, WRIT_LIT("name")));
    c.session = writ_json_string(writ_json_get(claims, WRIT_LIT("session")));
    c.terms = writ_json_string(writ_json_get(claims, WRIT_LIT("terms")));
    c.shown = writ_json_type(shown) == WRIT_JSON_TRUE;
    if (c.review.len == 0 ||
        !writ_is_ok(writ_digest_read(
            writ_json_string(writ_json_get(claims, WRIT_LIT("call"))), &c.call, NULL)) ||
        !writ_is_ok(writ_json_integer(
            writ_json_get(claims, WRIT_LIT("exp")), 0, TIME_S_MAX, &c.expires_s))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a continuation lacks a claim");
    }
    *ret = c;
    return WRIT_DONE;
}

writ_result
writ_continuation_read(struct writ_view text, const struct writ_keyring *keys, int64_t now_s,
    struct writ_arena *arena, struct writ_continuation *ret, struct writ_err *err)
{
    struct writ_continuation continuation;
    const struct writ_json *claims;
    const struct writ_jwk *key;
    struct writ_jws jws;

    if (!writ_continuation_is(text)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a requestState was not made by this gateway");
    }
    WRIT_TRY(writ_jws_read(
        writ_view_sub(text, sizeof PREFIX - 1, text.len - (sizeof PREFIX - 1)), arena, &jws, err));
    if (!writ_view_is(jws.typ, TYP)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a requestState is a token of another type");
    }
    key = writ_keyring_find(keys, WRIT_KEY_PURPOSE_CREDENTIAL, jws.kid);
    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "a requestState was signed with a key that is not known");
    }
    WRIT_TRY(writ_jws_check(&jws, key, err));
    WRIT_TRY(writ_jws_claims(&jws, arena, &claims, err));
    WRIT_TRY(read_claims(claims, &continuation, err));
    if (continuation.expires_s <= now_s) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the time of a requestState is over");
    }
    *ret = continuation;
    return WRIT_DONE;
}
