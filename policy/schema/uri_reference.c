/* uri_reference.c - see uri_reference.h. */
#include "policy/schema/uri_reference.h"

struct parts {
    struct writ_view scheme, authority, path, query; /* with their delimiters; ptr NULL: absent */
};

static bool
is_scheme_char(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

    return letter || (!first && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'));
}

/* "https:", or nothing. */
static struct writ_view
scheme_of(struct writ_view text)
{
    size_t n = 0;

    while (n < text.len && is_scheme_char(text.ptr[n], n == 0)) {
        n++;
    }
    return n > 0 && n < text.len && text.ptr[n] == ':' ? writ_view_sub(text, 0, n + 1)
                                                       : writ_view(NULL, 0);
}

/* RFC 3986 appendix B, without the fragment. */
static struct parts
split(struct writ_view text)
{
    struct parts parts = {.scheme = {NULL, 0}};
    size_t end;

    text = writ_view_sub(text, 0, writ_view_find(text, '#'));
    parts.scheme = scheme_of(text);
    text = writ_view_sub(text, parts.scheme.len, text.len);
    end = writ_view_find(text, '?');
    if (end < text.len) {
        parts.query = writ_view_sub(text, end, text.len);
        text = writ_view_sub(text, 0, end);
    }
    if (writ_view_has_prefix(text, WRIT_LIT("//"))) {
        end = 2 + writ_view_find(writ_view_sub(text, 2, text.len), '/');
        parts.authority = writ_view_sub(text, 0, end);
        text = writ_view_sub(text, end, text.len);
    }
    parts.path = text;
    return parts;
}

/* RFC 3986 5.2.4: appends the path without its dot segments. */
static void
put_path(struct writ_buf *ret, struct writ_view path)
{
    size_t begin = ret->len;

    while (path.len > 0) {
        size_t slash = path.ptr[0] == '/' ? 1 : 0;
        size_t end = slash + writ_view_find(writ_view_sub(path, slash, path.len), '/');
        struct writ_view segment = writ_view_sub(path, slash, end - slash);
        bool last = end >= path.len;
        if (writ_view_is(segment, "..")) {
            while (ret->len > begin && ret->ptr[--ret->len] != '/') {
            }
            writ_buf_str(ret, last ? "/" : "");
        } else if (writ_view_is(segment, ".")) {
            writ_buf_str(ret, last ? "/" : "");
        } else {
            writ_buf_put(ret, writ_view_sub(path, 0, end));
        }
        path = writ_view_sub(path, end, path.len);
    }
}

/* The path of the base up to its last slash, and the path of the reference. */
static void
put_merged(struct writ_buf *ret, const struct parts *base, struct writ_view path)
{
    writ_auto_buf merged = writ_buf_make(2 * WRIT_URI_REFERENCE_MAX);
    size_t end = base->path.len;

    while (end > 0 && base->path.ptr[end - 1] != '/') {
        end--;
    }
    if (end == 0 && base->authority.ptr != NULL) {
        writ_buf_byte(&merged, '/');
    }
    writ_buf_put(&merged, writ_view_sub(base->path, 0, end));
    writ_buf_put(&merged, path);
    put_path(ret, writ_buf_view(&merged));
}

/* RFC 3986 5.2.2. */
WRIT_RESULT
writ_uri_reference_resolve(struct writ_view base, struct writ_view reference,
    struct writ_arena *arena, struct writ_view *ret)
{
    struct writ_buf text = writ_buf_in(arena, 2 * WRIT_URI_REFERENCE_MAX);
    struct parts b = split(base), r = split(reference);

    if (base.len > WRIT_URI_REFERENCE_MAX || reference.len > WRIT_URI_REFERENCE_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    writ_buf_put(&text, r.scheme.ptr != NULL ? r.scheme : b.scheme);
    if (r.scheme.ptr != NULL || r.authority.ptr != NULL) {
        writ_buf_put(&text, r.authority);
        put_path(&text, r.path);
        writ_buf_put(&text, r.query);
    } else {
        writ_buf_put(&text, b.authority);
        if (r.path.len == 0) {
            writ_buf_put(&text, b.path);
            writ_buf_put(&text, r.query.ptr != NULL ? r.query : b.query);
        } else {
            if (r.path.ptr[0] == '/') {
                put_path(&text, r.path);
            } else {
                put_merged(&text, &b, r.path);
            }
            writ_buf_put(&text, r.query);
        }
    }
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret = writ_view_copy(writ_buf_view(&text), arena);
    return (writ_result){ret->ptr != NULL ? WRIT_OK : WRIT_E_NOMEM};
}

WRIT_RESULT
writ_uri_reference_fragment(
    struct writ_view reference, struct writ_arena *arena, struct writ_view *ret)
{
    struct writ_view raw =
        writ_view_sub(reference, writ_view_find(reference, '#') + 1, reference.len);
    struct writ_buf text = writ_buf_in(arena, WRIT_URI_REFERENCE_MAX);

    for (size_t i = 0; i < raw.len; i++) {
        if (raw.ptr[i] != '%') {
            writ_buf_byte(&text, raw.ptr[i]);
            continue;
        }
        if (i + 2 >= raw.len || writ_hex_digit(raw.ptr[i + 1]) < 0 ||
            writ_hex_digit(raw.ptr[i + 2]) < 0) {
            return (writ_result){WRIT_E_PARSE};
        }
        writ_buf_byte(
            &text, (char)(writ_hex_digit(raw.ptr[i + 1]) * 16 + writ_hex_digit(raw.ptr[i + 2])));
        i += 2;
    }
    WRIT_TRY(writ_buf_check(&text, NULL));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}
