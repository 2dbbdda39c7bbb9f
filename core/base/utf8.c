/* utf8.c - reads UTF-8 strictly (RFC 3629): an overlong form and a surrogate are not characters.
 * Runs of ASCII are read eight bytes at a time, with the same result as the loop after it. */
#include "base/utf8.h"

#include <string.h>

/* The ranges are those of RFC 3629 4, which leave no overlong form and no surrogate. */
size_t
writ_utf8_character(struct writ_view text, uint32_t *ret_point)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    unsigned char low = 0x80, high = 0xbf;
    uint32_t point;
    size_t len;

    if (text.len == 0) {
        return 0;
    }
    if (at[0] < 0x80) {
        *ret_point = at[0];
        return 1;
    }
    if (at[0] < 0xc2 || at[0] > 0xf4) {
        return 0;
    }
    len = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (len > text.len) {
        return 0;
    }
    low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : low;
    high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : high;
    if (at[1] < low || at[1] > high) {
        return 0;
    }
    point = (uint32_t)(at[0] & (0x7f >> len)) << 6 | (at[1] & 0x3fU);
    for (size_t i = 2; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        point = point << 6 | (at[i] & 0x3fU);
    }
    *ret_point = point;
    return len;
}

/* How many bytes from the start are ASCII, eight at a time. */
static size_t
ascii_run(struct writ_view text)
{
    size_t at = 0;

    while (text.len - at >= 8) {
        uint64_t eight;
        memcpy(&eight, text.ptr + at, 8);
        if ((eight & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
        at += 8;
    }
    while (at < text.len && (unsigned char)text.ptr[at] < 0x80) {
        at++;
    }
    return at;
}

bool
writ_utf8_is_valid(struct writ_view text, size_t *bad)
{
    size_t at = 0;

    for (;;) {
        uint32_t point;
        size_t len;
        at += ascii_run(writ_view_sub(text, at, text.len - at));
        if (at >= text.len) {
            return true;
        }
        len = writ_utf8_character(writ_view_sub(text, at, text.len - at), &point);
        if (len == 0) {
            if (bad != NULL) {
                *bad = at;
            }
            return false;
        }
        at += len;
    }
}

size_t
writ_utf8_points(struct writ_view text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t at = 0, following = 0;

    for (; text.len - at >= 8; at += 8) {
        uint64_t eight = writ_view_load64(text.ptr + at);
        /* 1 in each place where the byte is 10xxxxxx; the product has their sum at the top */
        following += (size_t)((eight >> 7 & ~(eight >> 6) & ones) * ones >> 56);
    }
    for (; at < text.len; at++) {
        following += ((unsigned char)text.ptr[at] & 0xc0) == 0x80;
    }
    return text.len - following;
}

struct writ_view
writ_utf8_cut(struct writ_view text, size_t most)
{
    size_t len = text.len < most ? text.len : most;

    while (len > 0 && len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80) {
        len--;
    }
    return writ_view_sub(text, 0, len);
}
