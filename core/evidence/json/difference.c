/* Walks two values side by side in canonical order and writes a line per place that differs. Texts
 * are cut and made visible before they are written. */
#include "evidence/json/difference.h"

#include "base/text.h"
#include "evidence/json/jcs.h"

#define POINTER_MAX   4096
#define CANONICAL_MAX ((size_t)8 << 20)

struct walk {
    struct writ_buf pointer; /* of the present place; one that is too long is cut */
    struct writ_buf *ret;
    size_t most; /* bytes of a value that are shown */
    size_t lines;
};

static void walk(struct walk *w, const struct writ_json *before, const struct writ_json *after);

/* Canonical JSON with all digits of every number; hidden characters as numbers. */
static void
put_value(struct walk *w, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(CANONICAL_MAX);

    if (!writ_is_ok(writ_jcs_put_lossless(&text, value, NULL))) {
        writ_buf_str(w->ret, "(too long to show)");
        w->ret->failed = text.failed == WRIT_E_NOMEM ? WRIT_E_NOMEM : w->ret->failed;
        return;
    }
    writ_text_safe(w->ret, writ_buf_view(&text), w->most);
    if (text.len > w->most) {
        writ_buf_fmt(w->ret, "... (%zu bytes more)", text.len - w->most);
    }
}

static void
put_pointer(struct walk *w)
{
    struct writ_view pointer = writ_buf_view(&w->pointer);

    for (size_t i = 0; i < pointer.len; i++) {
        unsigned char c = (unsigned char)pointer.ptr[i];
        if (c < 0x20 || c > 0x7e) {
            writ_buf_fmt(w->ret, "\\x%02x", c);
        } else {
            writ_buf_byte(w->ret, (char)c);
        }
    }
    writ_buf_byte(w->ret, ' ');
}

static void
put_line(struct walk *w, const struct writ_json *before, const struct writ_json *after)
{
    const char *sign = before == NULL ? "+ " : after == NULL ? "- " : "~ ";

    w->lines++;
    writ_buf_str(w->ret, sign);
    put_pointer(w);
    if (before != NULL) {
        put_value(w, before);
    }
    if (before != NULL && after != NULL) {
        writ_buf_str(w->ret, " -> ");
    }
    if (after != NULL) {
        put_value(w, after);
    }
    writ_buf_byte(w->ret, '\n');
}

/* One step down: "~" and "/" of a name are escaped (RFC 6901). */
static void
step(struct walk *w, struct writ_view name, const struct writ_json *before,
    const struct writ_json *after)
{
    size_t length = w->pointer.len;

    writ_buf_byte(&w->pointer, '/');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~' || name.ptr[i] == '/') {
            writ_buf_str(&w->pointer, name.ptr[i] == '~' ? "~0" : "~1");
        } else {
            writ_buf_byte(&w->pointer, name.ptr[i]);
        }
    }
    walk(w, before, after);
    writ_buf_cut(&w->pointer, length);
}

static const struct writ_json *
value_or_null(const struct writ_json *name)
{
    return name != NULL ? writ_json_value(name) : NULL;
}

/* Both in canonical order, side by side. */
static void
walk_members(struct walk *w, const struct writ_json *before, const struct writ_json *after)
{
    const struct writ_json *a = writ_json_sorted_first(before);
    const struct writ_json *b = writ_json_sorted_first(after);

    while (a != NULL || b != NULL) {
        int order = a == NULL   ? 1
                    : b == NULL ? -1
                                : writ_jcs_compare(writ_json_string(a), writ_json_string(b));
        struct writ_view name = writ_json_string(order <= 0 ? a : b);
        step(w, name, order <= 0 ? value_or_null(a) : NULL, order >= 0 ? value_or_null(b) : NULL);
        a = order <= 0 ? writ_json_sorted_next(a) : a;
        b = order >= 0 ? writ_json_sorted_next(b) : b;
    }
}

static void
walk_elements(struct walk *w, const struct writ_json *before, const struct writ_json *after)
{
    const struct writ_json *a = writ_json_first(before), *b = writ_json_first(after);

    for (uint64_t i = 0; a != NULL || b != NULL; i++) {
        writ_auto_buf index = writ_buf_make(32);
        writ_buf_u64(&index, i);
        step(w, writ_buf_view(&index), a, b);
        a = a != NULL ? writ_json_next(before, a) : NULL;
        b = b != NULL ? writ_json_next(after, b) : NULL;
    }
}

/* writ_json_equal compares doubles: two numbers that differ may have the same double. */
static bool
is_same_number(const struct writ_json *before, const struct writ_json *after)
{
    writ_auto_buf a = writ_buf_make(CANONICAL_MAX), b = writ_buf_make(CANONICAL_MAX);

    return before->number == after->number && writ_is_ok(writ_jcs_put_lossless(&a, before, NULL)) &&
           writ_is_ok(writ_jcs_put_lossless(&b, after, NULL)) &&
           writ_view_equal(writ_buf_view(&a), writ_buf_view(&b));
}

static bool
is_same_leaf(const struct writ_json *before, const struct writ_json *after)
{
    return writ_json_equal(before, after) &&
           (writ_json_type(before) != WRIT_JSON_NUMBER || is_same_number(before, after));
}

static void
walk(struct walk *w, const struct writ_json *before, const struct writ_json *after)
{
    enum writ_json_type a = writ_json_type(before), b = writ_json_type(after);

    if (a == WRIT_JSON_OBJECT && b == WRIT_JSON_OBJECT) {
        walk_members(w, before, after);
    } else if (a == WRIT_JSON_ARRAY && b == WRIT_JSON_ARRAY) {
        walk_elements(w, before, after);
    } else if (!is_same_leaf(before, after)) {
        put_line(w, before, after);
    }
}

size_t
writ_difference_put(const struct writ_json *before, const struct writ_json *after, size_t most,
    struct writ_buf *ret)
{
    struct walk w = {.pointer = writ_buf_make(POINTER_MAX), .ret = ret, .most = most};

    walk(&w, before, after);
    writ_buf_wipe(&w.pointer);
    return w.lines;
}
