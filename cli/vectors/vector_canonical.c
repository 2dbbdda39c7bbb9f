/* writ-canonical/1: the canonical form of a JSON text with its digest, or that it has none. Only
 * the refusal of the text means that it has none; any other failure fails the case. */
#include "cli/vectors/vector.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#define TEXT_MAX ((size_t)1 << 20)

static WRIT_RESULT
put_answer(const struct writ_buf *canonical, bool held, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest digest;

    WRIT_TRY(writ_digest_bytes(writ_buf_view(canonical), &digest, err));
    writ_digest_text(&digest, text);
    writ_write_object_begin(&w);
    writ_write_text_or_null(&w, "canonical", held ? writ_buf_view(canonical) : writ_view(NULL, 0));
    writ_write_text_or_null(&w, "digest", held ? writ_view_str(text) : writ_view(NULL, 0));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

writ_result
writ_vector_canonical(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_view text = writ_json_string(writ_json_get(vector, WRIT_LIT("text")));
    struct writ_view hex = writ_json_string(writ_json_get(vector, WRIT_LIT("hex")));
    writ_auto_buf canonical = writ_buf_make(TEXT_MAX);
    writ_auto_buf bytes = writ_buf_make(TEXT_MAX);
    const struct writ_json *value = NULL;
    writ_result result;

    (void)set;
    if (text.ptr == NULL) { /* bytes that are not even UTF-8 */
        char *to = writ_buf_reserve(&bytes, hex.len / 2);
        if (to == NULL || !writ_is_ok(writ_hex_read(hex, to, hex.len / 2))) {
            WRIT_FAIL(err, WRIT_E_PARSE, "there is neither text nor hex");
        }
        text = writ_view(to, hex.len / 2);
    }
    result = writ_json_read(text, &writ_json_limits_default, arena, &value, err);
    if (writ_is_ok(result)) {
        result = writ_jcs_put(&canonical, value, err);
    }
    if (!writ_is_ok(result) && result.code != WRIT_E_PARSE) {
        return result;
    }
    return put_answer(&canonical, writ_is_ok(result), ret, err);
}
