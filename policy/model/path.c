/* A path is decoded in rounds, as careless software could decode it, until nothing changes; too
 * many rounds refuse it. It is refused as soon as any form of it holds a parent component, a
 * backslash or a control character. The decision is by text alone: no file is looked up. */
#include "policy/model/path.h"

#include "base/hidden.h"
#include "base/utf8.h"
#include "policy/model/fold.h"
#include "policy/model/fold.tbl.h"

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

/* True when software could read the component as `..`: Windows cuts off spaces and dots (`+` is a
 * space in a form), servers in Java cut off the part from `;` on, NTFS has streams behind `:`, and
 * a URL ends its path at `?` or `#`. `...` without a space is a name. */
static bool
is_parent(struct writ_view part)
{
    size_t dots = 0, spaces = 0;

    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (c == ';' || c == ':' || c == '?' || c == '#') {
            break;
        }
        if (c == '.') {
            dots++;
        } else if (c == ' ' || c == '+') {
            spaces++;
        } else {
            return false;
        }
    }
    return dots == 2 || (dots > 2 && spaces > 0);
}

static bool
is_plainly_devious(struct writ_view text)
{
    struct writ_view part;

    if (has_control(text) || writ_view_find(text, '\\') < text.len) {
        return true;
    }
    while (component(&text, &part)) {
        if (is_parent(part)) {
            return true;
        }
    }
    return false;
}

/* ---- the path after decoding by software */

/* `digits` hex digits at the start of `text`, or -1. */
static int
hex_number(struct writ_view text, size_t digits)
{
    int value = 0;

    for (size_t i = 0; i < digits; i++) {
        int digit = i < text.len ? writ_hex_digit(text.ptr[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* Some characters, as bytes. */
struct piece {
    char bytes[4];
    size_t len;
};

static struct piece
piece_of(const char *text)
{
    struct piece piece = {.len = 0};

    for (; text[piece.len] != '\0'; piece.len++) {
        piece.bytes[piece.len] = text[piece.len];
    }
    return piece;
}

/* The result of folding a code point; false when it stays as it is. */
static bool
fold(uint32_t point, struct piece *ret)
{
    char folded;

    if (point >= 0x80 && writ_hidden_kind(point) != WRIT_HIDDEN_NOT &&
        writ_hidden_kind(point) != WRIT_HIDDEN_CONTROL) {
        *ret = piece_of(""); /* some file systems leave it out of names */
        return true;
    }
    switch (point) {
    case 0x2025: /* two dot leader */
    case 0xfe30: /* the same for vertical text */
        *ret = piece_of("..");
        return true;
    case 0x2026: /* ellipsis */
    case 0xfe19:
        *ret = piece_of("...");
        return true;
    case 0x215f: /* fraction numerator one: NFKC makes a fraction slash of it */
        *ret = piece_of("1/");
        return true;
    case 0x2047: /* two question marks */
    case 0x2048: /* question and exclamation mark */
        *ret = piece_of("?");
        return true;
    case 0x2a74: /* double colon equal */
        *ret = piece_of("::=");
        return true;
    default:
        break;
    }
    if (!writ_fold_point(point, &folded)) {
        return false;
    }
    *ret = (struct piece){.bytes = {folded}, .len = 1};
    return true;
}

/* The character that an escape names. Only parts of a path matter. */
static struct piece
piece_of_point(uint32_t point)
{
    struct piece piece;

    if (point < 0x80) {
        return (struct piece){.bytes = {(char)point}, .len = 1};
    }
    if (point < 0xa0) {
        return piece_of("\x7f"); /* C1: refused like any control character */
    }
    return fold(point, &piece) ? piece : piece_of("_");
}

/* The overlong UTF-8 forms that percent escapes can spell (RFC 3629 10). */
static const struct {
    struct writ_view from;
    char to;
} overlong[] = {
    {{"\xc0\xae", 2}, '.'},
    {{"\xc0\xaf", 2}, '/'},
    {{"\xc1\x9c", 2}, '/'},
    {{"\xe0\x80\xae", 3}, '.'},
    {{"\xe0\x80\xaf", 3}, '/'},
    {{"\xe0\x81\x9c", 3}, '/'},
    {{"\xf0\x80\x80\xae", 4}, '.'},
    {{"\xf0\x80\x80\xaf", 4}, '/'},
};

/* The escape at the start of `text`, %2e or %u002e; 0 without one. */
static size_t
decode_escape(struct writ_view text, struct piece *ret)
{
    int value = hex_number(writ_view_sub(text, 1, 2), 2);

    if (value >= 0) {
        *ret = (struct piece){.bytes = {(char)value}, .len = 1};
        return 3;
    }
    value =
        text.len > 1 && (text.ptr[1] | 0x20) == 'u' ? hex_number(writ_view_sub(text, 2, 4), 4) : -1;
    if (value < 0) {
        return 0;
    }
    *ret = piece_of_point((uint32_t)value);
    return 6;
}

static const struct {
    const char *name;
    uint32_t point;
} entities[] = {
#define ROW(name, point) {name, point},
    WRIT_ENTITIES(ROW)
#undef ROW
};

/* The number after `&#`, in decimal or after an x in hexadecimal; 0 without one. */
static size_t
decode_number(struct writ_view text, struct piece *ret)
{
    bool hex = text.len > 2 && (text.ptr[2] | 0x20) == 'x';
    size_t first = hex ? 3 : 2, at = first;
    uint32_t point = 0;

    for (; at < text.len; at++) {
        int digit = writ_hex_digit(text.ptr[at]);
        if (digit < 0 || (digit > 9 && !hex)) {
            break;
        }
        if (point <= 0x10ffff) { /* a larger number names no character, whatever follows */
            point = point * (hex ? 16 : 10) + (uint32_t)digit;
        }
    }
    if (at == first) {
        return 0;
    }
    *ret = piece_of_point(point);
    return at + (at < text.len && text.ptr[at] == ';' ? 1 : 0);
}

/* The HTML entity at the start of `text`, &#46; or &period;, also without its `;` where parsers of
 * HTML accept it; 0 without one. */
static size_t
decode_entity(struct writ_view text, struct piece *ret)
{
    if (text.len > 1 && text.ptr[1] == '#') {
        return decode_number(text, ret);
    }
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        struct writ_view name, rest = writ_view_sub(text, 1, text.len);

        if (rest.len == 0 || rest.ptr[0] != entities[i].name[0]) {
            continue; /* nearly every row: a long text may be full of ampersands */
        }
        name = writ_view_str(entities[i].name);
        if (writ_view_has_prefix(rest, name)) {
            rest = writ_view_sub(rest, name.len, rest.len);
            *ret = piece_of_point(entities[i].point);
            return 1 + name.len + (rest.len > 0 && rest.ptr[0] == ';' ? 1 : 0);
        }
    }
    return 0;
}

/* One unit at the start of `text` and its length in bytes: an escape or entity is decoded, a
 * look-alike is folded; 0 for a byte that stays. */
static size_t
decode_unit(struct writ_view text, struct piece *ret)
{
    uint32_t point = 0;
    size_t len;

    if (text.ptr[0] == '%') {
        return decode_escape(text, ret);
    }
    if (text.ptr[0] == '&') {
        return decode_entity(text, ret);
    }
    if ((unsigned char)text.ptr[0] < 0x80) {
        return 0;
    }
    for (size_t i = 0; i < sizeof overlong / sizeof overlong[0]; i++) {
        if (writ_view_has_prefix(text, overlong[i].from)) {
            *ret = (struct piece){.bytes = {overlong[i].to}, .len = 1};
            return overlong[i].from.len;
        }
    }
    len = writ_utf8_character(text, &point);
    return len > 0 && fold(point, ret) ? len : 0;
}

/* In place: a unit is never longer than its source. True when something changed. */
static bool
decode_round(char *bytes, size_t *len)
{
    size_t from = 0, to = 0;
    bool changed = false;

    while (from < *len) {
        struct piece piece = {.bytes = {bytes[from]}, .len = 1};
        size_t taken = decode_unit(writ_view(bytes + from, *len - from), &piece);

        changed = changed || taken > 0;
        for (size_t i = 0; i < piece.len; i++) {
            bytes[to++] = (char)(piece.bytes[i] == '\\' ? '/' : piece.bytes[i]);
        }
        from += taken > 0 ? taken : 1;
    }
    *len = to;
    return changed;
}

/* keeps "also where it appears only after decoding" */
static bool
is_disguised(struct writ_view path)
{
    char bytes[WRIT_PATH_MAX];
    size_t len = path.len;

    if (len > sizeof bytes) {
        return true;
    }
    for (size_t i = 0; i < len; i++) {
        bytes[i] = path.ptr[i];
    }
    for (int round = 0; round < DECODE_ROUNDS; round++) {
        if (!decode_round(bytes, &len)) {
            return false;
        }
        if (is_plainly_devious(writ_view(bytes, len))) {
            return true;
        }
    }
    return true;
}

static bool
needs_decoding(struct writ_view path)
{
    struct piece piece;

    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '%' || (unsigned char)c >= 0x80 ||
            (c == '&' && decode_entity(writ_view_sub(path, i, path.len), &piece) > 0)) {
            return true;
        }
    }
    return false;
}

bool
writ_path_is_devious(struct writ_view text)
{
    return is_plainly_devious(text) || (needs_decoding(text) && is_disguised(text));
}

/* ---- the checks of a path */

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
    return path.len == len || path.len == 1; /* no redundant slash */
}

/* By whole components; `.` and doubled slashes are ignored. */
static bool
contains(struct writ_view directory, struct writ_view path)
{
    struct writ_view rest = path, part, wanted;

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

bool
writ_path_is_under(struct writ_view path, const struct writ_view *directories, size_t n)
{
    if (path.len == 0 || path.len > WRIT_PATH_MAX || path.ptr[0] != '/' ||
        writ_view_has_prefix(path, WRIT_LIT("//")) || /* POSIX leaves its meaning open */
        writ_path_is_devious(path)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (contains(directories[i], path)) {
            return true;
        }
    }
    return false;
}
