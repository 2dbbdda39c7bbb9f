/* mended.c - in JSON a backslash is only in strings, so escapes are found without reading it. */
#include "gateway/mcp/mended.h"

#include "gateway/mcp/mcp.h"

#define UNIT        6 /* "\ud800" */
#define REPLACEMENT "\\ufffd"
#define REPLACED    "\xef\xbf\xbd" /* as it is read */

enum half { NEITHER = 0, FIRST, SECOND };

/* What the escape at the begin of the text is: \ud800 to \udbff, \udc00 to \udfff, or another
 * one. */
static enum half
half_of(struct writ_view text)
{
    if (text.len < UNIT || !writ_view_has_prefix(text, WRIT_LIT("\\u")) ||
        writ_hex_digit(text.ptr[2]) != 0xd || writ_hex_digit(text.ptr[3]) < 8 ||
        writ_hex_digit(text.ptr[4]) < 0 || writ_hex_digit(text.ptr[5]) < 0) {
        return NEITHER;
    }
    return writ_hex_digit(text.ptr[3]) < 0xc ? FIRST : SECOND;
}

/* Bytes of the escape at the begin of the text; `ret_alone`: it is half a character. */
static size_t
escape_of(struct writ_view text, bool *ret_alone)
{
    enum half half = half_of(text);

    *ret_alone = false;
    if (half == FIRST && half_of(writ_view_sub(text, UNIT, text.len)) == SECOND) {
        return (size_t)2 * UNIT;
    }
    *ret_alone = half != NEITHER;
    return half != NEITHER ? UNIT : 2; /* also "\\", which begins no other one */
}

struct writ_view
writ_mended_text(struct writ_view text, struct writ_arena *arena)
{
    struct writ_buf ret = writ_buf_in(arena, text.len);
    bool any = false;

    while (text.len > 0) {
        size_t at = writ_view_find(text, '\\');
        struct writ_view before = writ_view_sub(text, 0, at);
        bool alone;
        size_t len;

        writ_buf_put(&ret, before);
        text = writ_view_sub(text, at, text.len);
        len = escape_of(text, &alone);
        writ_buf_put(&ret, alone ? WRIT_LIT(REPLACEMENT) : writ_view_sub(text, 0, len));
        text = writ_view_sub(text, len, text.len);
        any = any || alone;
    }
    return any && writ_is_ok(writ_buf_check(&ret, NULL)) ? writ_buf_view(&ret)
                                                         : (struct writ_view){NULL, 0};
}

const struct writ_json *
writ_mended_id(const struct writ_json *message)
{
    bool request = writ_json_type(writ_json_get(message, WRIT_LIT("method"))) == WRIT_JSON_STRING;
    const struct writ_json *id = request ? writ_mcp_id(message) : NULL;

    struct writ_view text = writ_json_string(id);

    return writ_view_search(text, WRIT_LIT(REPLACED)) == text.len ? id : NULL;
}
