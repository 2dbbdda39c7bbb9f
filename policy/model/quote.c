/* Escapes by code point, because YAML and JSON differ in those beyond U+FFFF alone. JSON hides
 * nothing outside of its strings, so that escapes stand in strings alone. */
#include "policy/model/quote.h"

#include "base/hidden.h"
#include "base/utf8.h"

static void
put_beyond(struct writ_buf *ret, uint32_t point, enum writ_quote file)
{
    switch (file) {
    case WRIT_QUOTE_YAML:
        writ_buf_fmt(ret, "\\U%08x", (unsigned)point);
        return;
    case WRIT_QUOTE_JSON:
        writ_buf_fmt(ret, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((point - 0x10000) >> 10)),
            (unsigned)(0xdc00 + ((point - 0x10000) & 0x3ff)));
        return;
    }
}

static void
put_point(struct writ_buf *ret, struct writ_view character, uint32_t point, enum writ_quote file)
{
    if (writ_hidden_kind(point) == WRIT_HIDDEN_NOT) {
        writ_buf_put(ret, character);
    } else if (point <= 0xffff) {
        writ_buf_fmt(ret, "\\u%04x", (unsigned)point);
    } else {
        put_beyond(ret, point, file);
    }
}

/* `quotes`: quotes and backslashes are of the text, and escaped. */
static void
put_points(struct writ_buf *ret, struct writ_view text, bool quotes, enum writ_quote file)
{
    while (text.len > 0) {
        uint32_t point = 0xfffd;
        size_t len = writ_utf8_character(text, &point);

        len = len > 0 ? len : 1;
        if (quotes && (point == '"' || point == '\\')) {
            writ_buf_byte(ret, '\\');
        }
        put_point(ret, writ_view_sub(text, 0, len), point, file);
        text = writ_view_sub(text, len, text.len);
    }
}

void
writ_quote_text(struct writ_buf *ret, struct writ_view text, enum writ_quote file)
{
    writ_buf_byte(ret, '"');
    put_points(ret, text, true, file);
    writ_buf_byte(ret, '"');
}

void
writ_quote_json(struct writ_buf *ret, struct writ_view json, enum writ_quote file)
{
    put_points(ret, json, false, file);
}
