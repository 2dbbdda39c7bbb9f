#include "policy/path.h"

#include "base/hidden.h"
#include "base/text.h"
#include "policy/fold.tbl.h"

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

static bool
is_plainly_devious(struct writ_view text)
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

/* Some characters of UTF-8, as bytes. */
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

static const struct {
    uint32_t first, last;
    char to;
} folds[] = {
#define ROW(first, last, to) {first, last, to},
    WRIT_FOLDS(ROW)
#undef ROW
};

/* What a code point is after folding; false when it stays as it is. */
static bool
fold(uint32_t point, struct piece *ret)
{
    size_t low = 0, high = sizeof folds / sizeof folds[0];

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
    default:
        break;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point > folds[middle].last) {
            low = middle + 1;
        } else if (point < folds[middle].first) {
            high = middle;
        } else {
            *ret = (struct piece){
                .bytes = {(char)(folds[middle].to + (int)(point - folds[middle].first))}, .len = 1};
            return true;
        }
    }
    return false;
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

/* The escape at the start of `text`, %2e or %u002e; 0 when there is none. */
static size_t
decode_escape(struct writ_view text, struct piece *ret)
{
    int value = hex_number(writ_view_sub(text, 1, 2), 2);
    uint32_t point;

    if (value >= 0) {
        *ret = (struct piece){.bytes = {(char)value}, .len = 1};
        return 3;
    }
    value =
        text.len > 1 && (text.ptr[1] | 0x20) == 'u' ? hex_number(writ_view_sub(text, 2, 4), 4) : -1;
    if (value < 0) {
        return 0;
    }
    point = (uint32_t)value;
    if (point < 0x80) {
        *ret = (struct piece){.bytes = {(char)point}, .len = 1};
    } else if (!fold(point, ret)) {
        *ret = piece_of("_"); /* some other character */
    }
    return 6;
}

/* One unit at the start of `text` and how many bytes it takes: an escape is decoded, a look-alike
 * is folded; 0 when it is a byte that stays. */
static size_t
decode_unit(struct writ_view text, struct piece *ret)
{
    uint32_t point = 0;
    size_t len;

    if (text.ptr[0] == '%') {
        return decode_escape(text, ret);
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
    len = writ_text_character(text, &point);
    return len > 0 && fold(point, ret) ? len : 0;
}

/* In place: a unit is never longer than what it stands for. True when something changed. */
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

/* keeps "also where it would appear only once somebody decoded it" */
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
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '%' || (unsigned char)path.ptr[i] >= 0x80) {
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

/* ---- what is asked of a path */

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

/* By whole components; `.` and doubled slashes count for nothing. */
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
