#include "policy/path.h"

#define DECODE_ROUNDS 4 /* %25252e: deeper nesting is refused */

/* The next component of `rest` between slashes; false at the end. */
static bool
component(struct writ_view *rest, struct writ_view *ret)
{
    size_t end;

    while (rest->len > 0 && rest->ptr[0] == '/') {
        *rest = writ_view_sub(*rest, 1, rest->len);
    }
    end = writ_view_find(*rest, '/');
    *ret = writ_view_sub(*rest, 0, end);
    *rest = writ_view_sub(*rest, end, rest->len);
    return ret->len > 0;
}

static bool
has_control(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        unsigned char next = i + 1 < text.len ? (unsigned char)text.ptr[i + 1] : 0;
        if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f)) { /* C0, C1 */
            return true;
        }
    }
    return false;
}

bool
writ_path_is_devious(struct writ_view text)
{
    struct writ_view part;

    if (has_control(text) || writ_view_find(text, '\\') < text.len) {
        return true;
    }
    while (component(&text, &part)) {
        if (writ_view_is(part, "..")) {
            return true;
        }
    }
    return false;
}

bool
writ_path_is_normal(struct writ_view path)
{
    struct writ_view rest = path, part;
    size_t len = 0;

    if (path.len == 0 || path.len > WRIT_PATH_MAX || path.ptr[0] != '/' ||
        writ_path_is_devious(path)) {
        return false;
    }
    while (component(&rest, &part)) {
        if (writ_view_is(part, ".")) {
            return false;
        }
        len += part.len + 1;
    }
    return path.len == len || path.len == 1; /* no slash too many */
}

/* ---- what a path would be if somebody decoded it */

static int
hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `digits` hex digits at the start of `text`, or -1. */
static int
hex_number(struct writ_view text, size_t digits)
{
    int value = 0;

    for (size_t i = 0; i < digits; i++) {
        int digit = i < text.len ? hex_value(text.ptr[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

struct fold {
    struct writ_view from;
    char to;
};

/* Look-alikes, and the overlong UTF-8 forms that percent escapes can spell. */
static const struct fold folds[] = {
    {{"\xef\xbc\x8e", 3}, '.'}, /* U+FF0E full-width full stop */
    {{"\xef\xb9\x92", 3}, '.'}, /* U+FE52 small full stop */
    {{"\xe2\x80\xa4", 3}, '.'}, /* U+2024 one dot leader */
    {{"\xef\xbc\x8f", 3}, '/'}, /* U+FF0F full-width solidus */
    {{"\xe2\x81\x84", 3}, '/'}, /* U+2044 fraction slash */
    {{"\xe2\x88\x95", 3}, '/'}, /* U+2215 division slash */
    {{"\xe2\xa7\xb8", 3}, '/'}, /* U+29F8 big solidus */
    {{"\xef\xbc\xbc", 3}, '/'}, /* U+FF3C full-width reverse solidus */
    {{"\xef\xb9\xa8", 3}, '/'}, /* U+FE68 small reverse solidus */
    {{"\xe2\x88\x96", 3}, '/'}, /* U+2216 set minus */
    {{"\xe2\xa7\xb5", 3}, '/'}, /* U+29F5 reverse solidus operator */
    {{"\xc0\xae", 2}, '.'},     /* overlong forms, RFC 3629 10 */
    {{"\xc0\xaf", 2}, '/'},
    {{"\xc1\x9c", 2}, '/'},
    {{"\xe0\x80\xae", 3}, '.'},
    {{"\xe0\x80\xaf", 3}, '/'},
    {{"\xe0\x81\x9c", 3}, '/'},
    {{"\xf0\x80\x80\xae", 4}, '.'},
    {{"\xf0\x80\x80\xaf", 4}, '/'},
};

/* One unit at the start of `text` and how many bytes it takes: an escape is decoded, a look-alike
 * is folded, anything else is the byte itself. */
static size_t
decode_unit(struct writ_view text, char *ret)
{
    int value;

    *ret = text.ptr[0];
    if (text.ptr[0] == '%') {
        value = hex_number(writ_view_sub(text, 1, 2), 2);
        if (value >= 0) {
            *ret = (char)value;
            return 3;
        }
        value = text.len > 1 && (text.ptr[1] | 0x20) == 'u'
                    ? hex_number(writ_view_sub(text, 2, 4), 4)
                    : -1;
        if (value >= 0) { /* %u002e; the full-width forms are 0xfee0 above ASCII */
            *ret = (char)(value > 0xff00 && value < 0xff5f ? value - 0xfee0 : value);
            return 6;
        }
        return 1;
    }
    for (size_t i = 0; (unsigned char)text.ptr[0] >= 0x80 && i < sizeof folds / sizeof folds[0];
         i++) {
        if (writ_view_has_prefix(text, folds[i].from)) {
            *ret = folds[i].to;
            return folds[i].from.len;
        }
    }
    return 1;
}

/* In place: the result is never longer. True when something changed. */
static bool
decode_round(char *bytes, size_t *len)
{
    size_t from = 0, to = 0;
    bool changed = false;

    while (from < *len) {
        char unit;
        size_t taken = decode_unit(writ_view(bytes + from, *len - from), &unit);
        changed = changed || taken > 1;
        bytes[to++] = unit == '\\' ? '/' : unit;
        from += taken;
    }
    *len = to;
    return changed;
}

/* keeps "also where it would appear only once somebody decoded it" */
static bool
is_disguised(struct writ_view path)
{
    char bytes[WRIT_PATH_MAX];
    size_t len = path.len;

    for (size_t i = 0; i < len; i++) {
        bytes[i] = path.ptr[i];
    }
    for (int round = 0; round < DECODE_ROUNDS; round++) {
        if (!decode_round(bytes, &len)) {
            return false;
        }
        if (writ_path_is_devious(writ_view(bytes, len))) {
            return true;
        }
    }
    return true;
}

static bool
needs_decoding(struct writ_view path)
{
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '%' || (unsigned char)path.ptr[i] >= 0x80) {
            return true;
        }
    }
    return false;
}

bool
writ_path_is_under(struct writ_view path, struct writ_view directory)
{
    struct writ_view rest = path, part, wanted;

    if (path.len == 0 || path.len > WRIT_PATH_MAX || path.ptr[0] != '/' ||
        writ_view_has_prefix(path, WRIT_LIT("//")) || /* POSIX leaves its meaning open */
        writ_path_is_devious(path) || (needs_decoding(path) && is_disguised(path))) {
        return false;
    }
    while (component(&directory, &wanted)) {
        do {
            if (!component(&rest, &part)) {
                return false;
            }
        } while (writ_view_is(part, "."));
        if (!writ_view_equal(part, wanted)) {
            return false;
        }
    }
    return true;
}
