/* line_list.c - each text ends with LF. A change that fails leaves the list as it was. */
#include "gateway/mcp/line_list.h"

bool
writ_line_list_add(struct writ_buf *list, struct writ_view line)
{
    size_t before = list->len;

    writ_buf_put(list, line);
    writ_buf_byte(list, '\n');
    if (writ_is_ok(writ_buf_check(list, NULL))) {
        return true;
    }
    writ_buf_cut(list, before);
    return false;
}

struct writ_view
writ_line_list_next(const struct writ_buf *list, size_t *at)
{
    struct writ_view rest = writ_view_sub(writ_buf_view(list), *at, SIZE_MAX);
    size_t end = writ_view_find(rest, '\n');

    if (end == rest.len) {
        return (struct writ_view){NULL, 0};
    }
    *at += end + 1;
    return writ_view_sub(rest, 0, end);
}

bool
writ_line_list_take(struct writ_buf *list, struct writ_view line)
{
    writ_auto_buf after = writ_buf_make(list->max);
    size_t at = 0;

    for (size_t from = 0;; from = at) {
        struct writ_view found = writ_line_list_next(list, &at);
        if (found.ptr == NULL) {
            return false;
        }
        if (writ_view_equal(found, line)) {
            writ_buf_put(&after, writ_view_sub(writ_buf_view(list), at, SIZE_MAX));
            if (!writ_is_ok(writ_buf_check(&after, NULL))) {
                return false;
            }
            writ_buf_cut(list, from);
            writ_buf_put(list, writ_buf_view(&after));
            return true;
        }
    }
}
