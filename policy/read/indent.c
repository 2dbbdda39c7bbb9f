/* indent.c - see indent.h. It is given JSON that Writ wrote, so nothing is checked. */
#include "policy/read/indent.h"

static void
new_line(struct writ_buf *ret, size_t depth)
{
    writ_buf_byte(ret, '\n');
    for (size_t i = 0; i < depth; i++) {
        writ_buf_str(ret, "  ");
    }
}

/* An object or array with little text stays on one line. */
static bool
is_short(struct writ_view json)
{
    size_t depth = 0;

    for (size_t i = 0; i < json.len && i < 60; i++) {
        depth += json.ptr[i] == '{' || json.ptr[i] == '[' ? 1 : 0;
        depth -= json.ptr[i] == '}' || json.ptr[i] == ']' ? 1 : 0;
        if (depth == 0) {
            return true;
        }
    }
    return false;
}

void
writ_indent_put(struct writ_buf *ret, struct writ_view json)
{
    size_t depth = 0, inline_depth = 0;
    bool quoted = false, escaped = false;

    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        bool opens = !quoted && (c == '{' || c == '['), closes = !quoted && (c == '}' || c == ']');
        quoted = c == '"' && !escaped ? !quoted : quoted;
        escaped = quoted && c == '\\' && !escaped;
        inline_depth += opens && (inline_depth > 0 || is_short(writ_view_sub(json, i, json.len)));
        depth += opens && inline_depth == 0 ? 1 : 0;
        if (closes && inline_depth == 0) {
            new_line(ret, --depth);
        }
        writ_buf_byte(ret, c);
        inline_depth -= closes && inline_depth > 0 ? 1 : 0;
        if ((opens || (!quoted && c == ',')) && inline_depth == 0) {
            new_line(ret, depth);
        } else if (!quoted && (c == ',' || c == ':')) {
            writ_buf_byte(ret, ' ');
        }
    }
    writ_buf_byte(ret, '\n');
}
