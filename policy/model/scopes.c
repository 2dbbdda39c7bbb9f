/* A list of scopes stays one text with spaces between them. Every function walks it from the front
 * and compares whole words, byte for byte. */
#include "policy/model/scopes.h"

bool
writ_scopes_is_one(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '\\') {
            return false;
        }
    }
    return text.len > 0;
}

struct writ_view
writ_scopes_next(struct writ_view *list)
{
    struct writ_view scope;
    size_t end;

    while (list->len > 0 && list->ptr[0] == ' ') {
        *list = writ_view_sub(*list, 1, list->len);
    }
    end = writ_view_find(*list, ' ');
    scope = writ_view_sub(*list, 0, end);
    *list = writ_view_sub(*list, end, list->len);
    return scope;
}

bool
writ_scopes_has(struct writ_view list, struct writ_view scope)
{
    struct writ_view one = writ_scopes_next(&list);

    while (one.len > 0 && !writ_view_equal(one, scope)) {
        one = writ_scopes_next(&list);
    }
    return one.len > 0;
}

bool
writ_scopes_has_all(struct writ_view list, const struct writ_views *wanted)
{
    for (size_t i = 0; i < wanted->n; i++) {
        if (!writ_scopes_has(list, wanted->items[i])) {
            return false;
        }
    }
    return true;
}

void
writ_scopes_add(struct writ_buf *list, struct writ_view scope)
{
    if (scope.len > 0 && !writ_scopes_has(writ_buf_view(list), scope)) {
        writ_buf_str(list, list->len > 0 ? " " : "");
        writ_buf_put(list, scope);
    }
}

void
writ_scopes_add_all(struct writ_buf *list, const struct writ_views *scopes)
{
    for (size_t i = 0; i < scopes->n; i++) {
        writ_scopes_add(list, scopes->items[i]);
    }
}
