/* rewrite.c - copies a message member by member, in order, and replaces values on the way. */
#include "gateway/mcp/rewrite.h"

#include "evidence/json/write.h"

writ_result
writ_rewrite_id(const struct writ_json *message, struct writ_view id_json, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, message)
    {
        writ_write_name(&w, writ_json_string(name));
        if (writ_view_is(writ_json_string(name), "id")) {
            writ_write_raw(&w, id_json);
        } else {
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
put_at(struct writ_write *w, const struct writ_json *object, const struct writ_view *path, size_t n,
    struct writ_view raw)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, object)
    {
        const struct writ_json *value = writ_json_value(name);
        bool on_path = writ_view_equal(writ_json_string(name), *path);
        writ_write_name(w, writ_json_string(name));
        if (on_path && n == 1) {
            writ_write_raw(w, raw);
        } else if (on_path && writ_json_type(value) == WRIT_JSON_OBJECT) {
            put_at(w, value, path + 1, n - 1, raw);
        } else {
            writ_write_verbatim(w, value);
        }
    }
    writ_write_object_end(w);
}

writ_result
writ_rewrite_at(const struct writ_json *message, const struct writ_view *path, size_t n,
    struct writ_view raw, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    put_at(&w, message, path, n, raw);
    return writ_write_end(&w, NULL);
}

/* Writes `object` with every string that equals `from` under the name "name" replaced. */
static void
put_renamed(struct writ_write *w, const struct writ_json *object, struct writ_view from,
    struct writ_view to)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, object)
    {
        const struct writ_json *value = writ_json_value(name);
        struct writ_view key = writ_json_string(name);
        writ_write_name(w, key);
        if (writ_view_is(key, "name") && writ_json_is(value, from)) {
            writ_write_string(w, to);
        } else if ((writ_view_is(key, "params") || writ_view_is(key, "ref")) &&
                   writ_json_type(value) == WRIT_JSON_OBJECT) {
            put_renamed(w, value, from, to);
        } else {
            writ_write_value(w, value);
        }
    }
    writ_write_object_end(w);
}

writ_result
writ_rewrite_name(const struct writ_json *message, struct writ_view from, struct writ_view to,
    struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    put_renamed(&w, message, from, to);
    return writ_write_end(&w, NULL);
}
