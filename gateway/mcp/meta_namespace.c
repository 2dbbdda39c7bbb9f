/* meta_namespace.c - finds and removes names that begin with "io.writ/", in any case. The rest of a
 * message is copied verbatim. A text that cannot be cleared is not passed on. */
#include "gateway/mcp/meta_namespace.h"

#include "evidence/json/write.h"

static const struct writ_view prefix = WRIT_LIT("io.writ/");

bool
writ_meta_namespace_is(struct writ_view name)
{
    return writ_view_equal_nocase(writ_view_sub(name, 0, prefix.len), prefix);
}

static bool
is_meta(const struct writ_json *name)
{
    return writ_view_equal_nocase(writ_json_string(name), WRIT_LIT("_meta")) &&
           writ_json_type(writ_json_value(name)) == WRIT_JSON_OBJECT;
}

static bool
meta_has_ours(const struct writ_json *meta)
{
    WRIT_JSON_EACH(name, meta)
    {
        if (writ_meta_namespace_is(writ_json_string(name))) {
            return true;
        }
    }
    return false;
}

/* params, or result. */
static bool
part_has_ours(const struct writ_json *part)
{
    if (writ_json_type(part) != WRIT_JSON_OBJECT) {
        return false;
    }
    WRIT_JSON_EACH(name, part)
    {
        if (is_meta(name) && meta_has_ours(writ_json_value(name))) {
            return true;
        }
    }
    return false;
}

bool
writ_meta_namespace_in(const struct writ_json *body)
{
    WRIT_JSON_EACH(name, body)
    {
        if (part_has_ours(writ_json_value(name))) {
            return true;
        }
    }
    return false;
}

static void
put_meta(struct writ_write *w, const struct writ_json *meta)
{
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, meta)
    {
        if (!writ_meta_namespace_is(writ_json_string(name))) {
            writ_write_name(w, writ_json_string(name));
            writ_write_verbatim(w, writ_json_value(name));
        }
    }
    writ_write_object_end(w);
}

static void
put_part(struct writ_write *w, const struct writ_json *part)
{
    if (!part_has_ours(part)) {
        writ_write_verbatim(w, part);
        return;
    }
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, part)
    {
        writ_write_name(w, writ_json_string(name));
        if (is_meta(name)) {
            put_meta(w, writ_json_value(name));
        } else {
            writ_write_verbatim(w, writ_json_value(name));
        }
    }
    writ_write_object_end(w);
}

writ_result
writ_meta_namespace_put_without(
    const struct writ_json *body, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, body)
    {
        writ_write_name(&w, writ_json_string(name));
        put_part(&w, writ_json_value(name));
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

bool
writ_meta_namespace_may_be_in(struct writ_view text)
{
    /* of the escapes only two can stand for a character of the prefix */
    if (writ_view_search(text, WRIT_LIT("\\u")) < text.len) {
        return true;
    }
    for (size_t at = writ_view_find(text, '/'); at < text.len;) {
        struct writ_view rest = writ_view_sub(text, at + 1, SIZE_MAX);
        size_t name = prefix.len - 1; /* the part before the slash */

        if ((at > 0 && text.ptr[at - 1] == '\\') ||
            (at >= name && writ_meta_namespace_is(writ_view_sub(text, at - name, prefix.len)))) {
            return true;
        }
        at += 1 + writ_view_find(rest, '/');
    }
    return false;
}

writ_result
writ_meta_namespace_clear(const struct writ_json_limits *limits, struct writ_arena *arena,
    struct writ_view *text, const struct writ_json **message)
{
    struct writ_buf clean;
    const struct writ_json *again;

    if (!writ_meta_namespace_in(*message)) {
        return WRIT_DONE;
    }
    clean = writ_buf_in(arena, text->len); /* the writer makes no text longer */
    WRIT_TRY(writ_meta_namespace_put_without(*message, &clean, NULL));
    WRIT_TRY(writ_json_read(writ_buf_view(&clean), limits, arena, &again, NULL));
    *text = writ_buf_view(&clean);
    *message = again;
    return WRIT_DONE;
}
