/* Takes a compact JWS apart and puts one together. The form is checked completely before a key is
 * used, and the token chooses nothing: the key fixes the algorithm. */
#include "evidence/jose/jws.h"

#include "evidence/json/write.h"

const struct writ_json_limits writ_jws_limits = {
    .bytes = WRIT_JWS_BYTES_MAX,
    .depth = 8,
    .values = 512,
    .name_bytes = 128,
    .string_bytes = WRIT_JWS_BYTES_MAX,
    .number_bytes = 32,
};

#define HEADER_MAX 1024 /* longest header that we write */

static WRIT_RESULT
malformed(struct writ_err *err, const char *what)
{
    WRIT_FAIL(err, WRIT_E_PARSE, "token: %s", what);
}

/* Cuts the part before the next dot off `rest`; false when there is none. */
static bool
cut_part(struct writ_view *rest, struct writ_view *part)
{
    size_t dot = writ_view_find(*rest, '.');

    if (dot == rest->len) {
        return false;
    }
    *part = writ_view_sub(*rest, 0, dot);
    *rest = writ_view_sub(*rest, dot + 1, rest->len);
    return true;
}

/* Decodes one part into the arena. base64url has one spelling here (RFC 4648 3.5). */
static WRIT_RESULT
decode(struct writ_view part, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    writ_auto_buf bytes = writ_buf_make(WRIT_JWS_BYTES_MAX);
    writ_result read = writ_base64url_read(part, &bytes);
    struct writ_view copy;

    if (read.code == WRIT_E_PARSE) {
        return malformed(err, "a part is not strict base64url");
    }
    WRIT_TRY(read);
    copy = writ_view_copy(writ_buf_view(&bytes), arena);
    if (copy.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a token");
    }
    *ret = copy;
    return WRIT_DONE;
}

/* The header: the strings alg, typ and kid, and no other member (RFC 8725 3.1, 3.10; RFC 7515
 * 4.1.11: an unknown crit must be refused, and we know none). */
static WRIT_RESULT
read_header(const struct writ_json *header, struct writ_jws *ret, struct writ_err *err)
{
    WRIT_JSON_EACH(name, header)
    {
        struct writ_view text = writ_json_string(writ_json_value(name));

        if (text.ptr == NULL) {
            return malformed(err, "a member of the header is not a string");
        }
        if (writ_json_is(name, WRIT_LIT("alg"))) {
            ret->alg = text;
        } else if (writ_json_is(name, WRIT_LIT("typ"))) {
            ret->typ = text;
        } else if (writ_json_is(name, WRIT_LIT("kid"))) {
            ret->kid = text;
        } else {
            return malformed(err, "the header has a member besides alg, typ and kid");
        }
    }
    if (ret->alg.ptr == NULL) {
        return malformed(err, "the header has no alg");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_object(struct writ_view text, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(writ_json_read(text, &writ_jws_limits, arena, &value, err));
    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        return malformed(err, "a part is not a JSON object");
    }
    *ret = value;
    return WRIT_DONE;
}

WRIT_RESULT
writ_jws_read(
    struct writ_view token, struct writ_arena *arena, struct writ_jws *ret, struct writ_err *err)
{
    struct writ_view rest = token;
    struct writ_view header, payload, text;
    const struct writ_json *members = NULL;
    struct writ_jws jws = {0};

    if (token.len > WRIT_JWS_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "token: longer than %zu bytes", WRIT_JWS_BYTES_MAX);
    }
    if (!cut_part(&rest, &header) || !cut_part(&rest, &payload) ||
        writ_view_find(rest, '.') != rest.len) {
        return malformed(err, "not three parts");
    }
    WRIT_TRY(decode(header, arena, &text, err));
    WRIT_TRY(decode(payload, arena, &jws.payload, err));
    WRIT_TRY(decode(rest, arena, &jws.signature, err));
    WRIT_TRY(read_object(text, arena, &members, err));
    WRIT_TRY(read_header(members, &jws, err));
    jws.input = writ_view_sub(token, 0, token.len - rest.len - 1);
    *ret = jws;
    return WRIT_DONE;
}

WRIT_RESULT
writ_jws_check(const struct writ_jws *jws, const struct writ_jwk *key, struct writ_err *err)
{
    if (!writ_view_is(jws->alg, writ_jwk_alg_name(writ_jwk_alg(key)))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "token: its alg is not the algorithm of the key");
    }
    return writ_jwk_verify(key, jws->input, jws->signature, err);
}

WRIT_RESULT
writ_jws_verify(const struct writ_jws *jws, const struct writ_jwks *keys, struct writ_err *err)
{
    const struct writ_jwk *key = writ_jwks_find(keys, jws->kid);

    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "token: its kid is not in the key set");
    }
    return writ_jws_check(jws, key, err);
}

WRIT_RESULT
writ_jws_claims(const struct writ_jws *jws, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    return read_object(jws->payload, arena, ret, err);
}

/* ---- signing */

static void
put_header(const struct writ_jwk *key, struct writ_view typ, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);
    writ_result ended;

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "alg", writ_view_str(writ_jwk_alg_name(writ_jwk_alg(key))));
    writ_write_text(&w, "kid", writ_jwk_kid(key));
    writ_write_text(&w, "typ", typ);
    writ_write_object_end(&w);
    ended = writ_write_end(&w, NULL);
    (void)ended; /* the buffer keeps the failure */
}

WRIT_RESULT
writ_jws_sign(const struct writ_signer *signer, struct writ_view typ, struct writ_view payload,
    struct writ_buf *buf, struct writ_err *err)
{
    char header_room[HEADER_MAX], signature_room[WRIT_SIGNER_BYTES_MAX];
    struct writ_buf header = writ_buf_over(header_room, sizeof header_room);
    struct writ_buf signature = writ_buf_over(signature_room, sizeof signature_room);
    size_t begin = buf->len;

    put_header(writ_signer_jwk(signer), typ, &header);
    WRIT_TRY(writ_buf_check(&header, err));
    writ_base64url_put(buf, writ_buf_view(&header));
    writ_buf_byte(buf, '.');
    writ_base64url_put(buf, payload);
    WRIT_TRY(writ_buf_check(buf, err));
    WRIT_TRY(writ_signer_sign(
        signer, writ_view_sub(writ_buf_view(buf), begin, buf->len), &signature, err));
    writ_buf_byte(buf, '.');
    writ_base64url_put(buf, writ_buf_view(&signature));
    WRIT_TRY(writ_buf_check(buf, err));
    if (buf->len - begin > WRIT_JWS_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "token: would be longer than %zu bytes", WRIT_JWS_BYTES_MAX);
    }
    return WRIT_DONE;
}
