/* cursor.c - a cursor is split at its first '/', which no name of an upstream contains. */
#include "gateway/mcp/cursor.h"

#include "base/utf8.h"

void
writ_cursor_put(struct writ_view upstream, struct writ_view cursor, struct writ_buf *ret)
{
    writ_auto_buf plain = writ_buf_make(WRIT_CURSOR_MAX);

    writ_buf_put(&plain, upstream);
    writ_buf_byte(&plain, '/');
    writ_buf_put(&plain, cursor);
    if (!writ_is_ok(writ_buf_check(&plain, NULL))) {
        ret->failed = WRIT_E_LIMIT;
        return;
    }
    writ_base64url_put(ret, writ_buf_view(&plain));
}

writ_result
writ_cursor_read(struct writ_view text, struct writ_buf *room, struct writ_view *ret_upstream,
    struct writ_view *ret_cursor)
{
    struct writ_view plain;
    size_t slash;

    WRIT_TRY(writ_base64url_read(text, room));
    plain = writ_buf_view(room);
    slash = writ_view_find(plain, '/');
    if (slash == plain.len || !writ_utf8_is_valid(plain, NULL)) {
        return (writ_result){WRIT_E_PARSE};
    }
    *ret_upstream = writ_view_sub(plain, 0, slash);
    *ret_cursor = writ_view_sub(plain, slash + 1, SIZE_MAX);
    return WRIT_DONE;
}
