/* Issues and reads a status list: a signed token with compressed bits. A list is bounded before and
 * after unpacking, and a place outside of it is unknown, never valid. */
#include "evidence/credential/status_list.h"

#include "evidence/credential/deflate.h"
#include "evidence/json/write.h"

#define NUMBER_MAX ((INT64_C(1) << 53) - 1)

WRIT_RESULT
writ_status_list_issue(const struct writ_signer *signer, const struct writ_status_list *list,
    struct writ_buf *buf, struct writ_err *err)
{
    char room[WRIT_JWS_BYTES_MAX];
    struct writ_buf payload = writ_buf_over(room, sizeof room);
    writ_auto_buf packed = writ_buf_make(list->bits.len + 1024);
    writ_auto_buf text = writ_buf_make(2 * list->bits.len + 1024);
    struct writ_write w = writ_write_to(&payload);

    WRIT_TRY(writ_deflate_put(&packed, list->bits, err));
    writ_base64url_put(&text, writ_buf_view(&packed));
    WRIT_TRY(writ_buf_check(&text, err));
    writ_write_object_begin(&w);
    writ_write_integer(&w, "exp", list->expires_s);
    writ_write_integer(&w, "iat", list->issued_s);
    writ_write_name(&w, WRIT_LIT("status_list"));
    writ_write_object_begin(&w);
    writ_write_integer(&w, "bits", 1);
    writ_write_text(&w, "lst", writ_buf_view(&text));
    writ_write_object_end(&w);
    writ_write_text(&w, "sub", list->uri);
    writ_write_integer(&w, "ttl", list->ttl_s);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return writ_jws_sign(signer, WRIT_LIT(WRIT_STATUS_LIST_TYP), writ_buf_view(&payload), buf, err);
}

static WRIT_RESULT
read_bits(
    struct writ_view text, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    writ_auto_buf packed = writ_buf_make(WRIT_JWS_BYTES_MAX);
    writ_auto_buf bits = writ_buf_make(WRIT_STATUS_LIST_BYTES_MAX);

    writ_result result = writ_base64url_read(text, &packed);

    if (!writ_is_ok(result) && result.code != WRIT_E_NOMEM) {
        WRIT_FAIL(err, WRIT_E_PARSE, "status list: lst is not strict base64url");
    }
    WRIT_TRY(result);
    WRIT_TRY(writ_deflate_read(writ_buf_view(&packed), &bits, err));
    *ret = writ_view_copy(writ_buf_view(&bits), arena);
    if (ret->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a status list");
    }
    return WRIT_DONE;
}

static bool
is_width(int64_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

static bool
read_claims(const struct writ_json *claims, struct writ_status_list *ret, struct writ_view *ret_lst)
{
    const struct writ_json *list = writ_json_get(claims, WRIT_LIT("status_list"));
    const struct writ_json *ttl = writ_json_get(claims, WRIT_LIT("ttl"));

    ret->uri = writ_json_string(writ_json_get(claims, WRIT_LIT("sub")));
    *ret_lst = writ_json_string(writ_json_get(list, WRIT_LIT("lst")));
    return ret->uri.len > 0 && ret_lst->len > 0 &&
           writ_is_ok(writ_json_integer(
               writ_json_get(claims, WRIT_LIT("iat")), 0, NUMBER_MAX, &ret->issued_s)) &&
           writ_is_ok(writ_json_integer(
               writ_json_get(claims, WRIT_LIT("exp")), 0, NUMBER_MAX, &ret->expires_s)) &&
           (ttl == NULL || writ_is_ok(writ_json_integer(ttl, 1, NUMBER_MAX, &ret->ttl_s))) &&
           writ_is_ok(
               writ_json_integer(writ_json_get(list, WRIT_LIT("bits")), 1, 8, &ret->width)) &&
           is_width(ret->width);
}

WRIT_RESULT
writ_status_list_read(struct writ_view token, const struct writ_jwks *keys,
    struct writ_arena *arena, struct writ_status_list *ret, struct writ_err *err)
{
    struct writ_status_list list = {0};
    const struct writ_json *claims = NULL;
    struct writ_view copy = writ_view_copy(token, arena), lst;
    struct writ_jws jws;

    if (copy.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a status list");
    }
    WRIT_TRY(writ_jws_read(copy, arena, &jws, err));
    if (!writ_view_is(jws.typ, WRIT_STATUS_LIST_TYP)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "status list: its typ is not " WRIT_STATUS_LIST_TYP);
    }
    WRIT_TRY(writ_jws_verify(&jws, keys, err));
    WRIT_TRY(writ_jws_claims(&jws, arena, &claims, err));
    if (!read_claims(claims, &list, &lst)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "status list: a claim is missing or malformed");
    }
    WRIT_TRY(read_bits(lst, arena, &list.bits, err));
    *ret = list;
    return WRIT_DONE;
}

enum writ_status
writ_status_list_at(const struct writ_status_list *list, int64_t place)
{
    int64_t places = (int64_t)list->bits.len * 8 / (list->width > 0 ? list->width : 8);
    unsigned char byte, value;

    if (place < 0 || place >= places) {
        return WRIT_STATUS_UNKNOWN;
    }
    byte = (unsigned char)list->bits.ptr[place * list->width / 8];
    value = (unsigned char)(byte >> place * list->width % 8 & ((1 << list->width) - 1));
    return value == 0 ? WRIT_STATUS_VALID : WRIT_STATUS_REVOKED;
}
