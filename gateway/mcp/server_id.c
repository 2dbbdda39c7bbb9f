/* server_id.c - an id reads back exactly: a number stays a number. */
#include "gateway/mcp/server_id.h"

#include "base/text.h"
#include "gateway/mcp/mcp.h"

WRIT_RESULT
writ_server_id_put(struct writ_view upstream, const struct writ_json *id, struct writ_buf *ret_json)
{
    writ_auto_buf text = writ_buf_make(WRIT_MCP_ANSWER_ID_MAX);

    writ_buf_put(&text, upstream);
    writ_buf_str(&text, writ_json_type(id) == WRIT_JSON_NUMBER ? "/n/" : "/s/");
    writ_buf_put(&text, writ_json_text(id));
    WRIT_TRY(writ_buf_check(&text, NULL)); /* an incomplete id would lead to no request */
    writ_text_json(ret_json, writ_buf_view(&text));
    return writ_buf_check(ret_json, NULL);
}

static bool
is_integer(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((text.ptr[i] < '0' || text.ptr[i] > '9') && !(i == 0 && text.ptr[i] == '-')) {
            return false;
        }
    }
    return text.len > 0;
}

WRIT_RESULT
writ_server_id_read(
    struct writ_view text, struct writ_view *ret_upstream, struct writ_buf *ret_json)
{
    size_t slash = writ_view_find(text, '/');
    struct writ_view kind = writ_view_sub(text, slash, 3);
    struct writ_view id = writ_view_sub(text, slash + 3, SIZE_MAX);

    if (writ_view_is(kind, "/s/")) {
        writ_text_json(ret_json, id);
    } else if (writ_view_is(kind, "/n/") && is_integer(id)) {
        writ_buf_put(ret_json, id);
    } else {
        return (writ_result){WRIT_E_PARSE};
    }
    WRIT_TRY(writ_buf_check(ret_json, NULL));
    *ret_upstream = writ_view_sub(text, 0, slash);
    return WRIT_DONE;
}
