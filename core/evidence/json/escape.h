/* escape.h - the bytes of a JSON string: runs that need no second check, and escapes (RFC 8259 7).
 * For the readers of this folder. */
#ifndef WRIT_EVIDENCE_ESCAPE_H
#define WRIT_EVIDENCE_ESCAPE_H

#include "base/bytes.h"
#include "base/sixteen.h"

/** The byte that a backslash before this one stands for; 0: none. */
static const char writ_escape_short[256] = {['"'] = '"',
    ['\\'] = '\\',
    ['/'] = '/',
    ['b'] = '\b',
    ['f'] = '\f',
    ['n'] = '\n',
    ['r'] = '\r',
    ['t'] = '\t'};

static inline bool
writ_escape_is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static inline writ_sixteen
writ_escape_not_plain(writ_sixteen bytes)
{
    return (writ_sixteen)(bytes < 0x20) | (writ_sixteen)(bytes > 0x7f) |
           (writ_sixteen)(bytes == '"') | (writ_sixteen)(bytes == '\\');
}

/** Skips bytes that need no second check: ASCII except '"', '\\' and controls, sixteen bytes at a
 * time. */
static inline const char *
writ_escape_skip(const char *at, const char *end)
{
    while (end - at >= 16) {
        size_t plain = writ_sixteen_before(writ_escape_not_plain(writ_sixteen_load(at)));
        at += plain;
        if (plain < 16) {
            return at;
        }
    }
    while (at < end && writ_escape_is_plain(*at)) {
        at++;
    }
    return at;
}

/** Copies the same bytes to `to`, which has room for all up to `end`. */
static inline const char *
writ_escape_copy(const char *at, const char *end, char *to)
{
    while (end - at >= 16) {
        writ_sixteen bytes = writ_sixteen_load(at);
        size_t plain = writ_sixteen_before(writ_escape_not_plain(bytes));
        writ_sixteen_store(bytes, to);
        at += plain;
        to += plain;
        if (plain < 16) {
            return at;
        }
    }
    while (at < end && writ_escape_is_plain(*at)) {
        *to++ = *at++;
    }
    return at;
}

/** The UTF-16 unit of the "\uXXXX" at `at`, or -1. */
static inline int32_t
writ_escape_unit(const char *at, const char *end)
{
    int32_t unit = 0;

    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    for (int i = 2; i < 6; i++) {
        int digit = writ_hex_digit(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

/** Gives the number of bytes. */
static inline size_t
writ_escape_utf8(uint32_t point, char *to)
{
    size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    to[0] = (char)(len == 1 ? point : (0xf00U >> len & 0xff) | point);
    return len;
}

#endif
