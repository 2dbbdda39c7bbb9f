/* spelling.c - the same checks as those of json_read.c, in steps: an escape or a character of which
 * the end is not there yet is left for the next one. */
#include "evidence/json/spelling.h"

#include "base/utf8.h"
#include "evidence/json/escape.h"

#define UNIT       6 /* "\u0000" */
#define CHARACTER  4 /* of UTF-8, at most */
#define CONTROLS   0x20
#define SURROGATES 0xd800
#define LOW        0xdc00
#define AFTER      0xe000

/* RFC 8785 3.2.2.2: \u is for controls that have no shorter escape, in lower case. */
static bool
is_canonical_unit(const char *at, int32_t unit)
{
    return unit < CONTROLS && unit != '\b' && unit != '\t' && unit != '\n' && unit != '\f' &&
           unit != '\r' && at[5] >= '0' && (at[5] <= '9' || at[5] >= 'a');
}

/* The escape "\u" at `at`, of `left` bytes; a character beyond U+FFFF has two. Gives its bytes; 0:
 * they are not all there, or it is malformed (`*bad`). */
static size_t
read_unit(struct writ_spelling *spelling, const char *at, const char *end, bool *bad)
{
    int32_t unit = writ_escape_unit(at, end), low;
    char utf8[CHARACTER];

    if (unit < SURROGATES || unit >= AFTER) {
        *bad = unit < 0 && end - at >= UNIT;
        if (unit < 0) {
            return 0;
        }
        spelling->canonical = spelling->canonical && is_canonical_unit(at, unit);
        spelling->bytes += writ_escape_utf8((uint32_t)unit, utf8);
        return UNIT;
    }
    low = writ_escape_unit(at + UNIT, end);
    if (unit >= LOW || low < LOW || low >= AFTER) {
        *bad = unit >= LOW || end - at >= 2 * UNIT;
        return 0;
    }
    spelling->canonical = false;
    spelling->bytes += CHARACTER;
    return 2 * UNIT;
}

static size_t
read_escape(struct writ_spelling *spelling, const char *at, const char *end, bool *bad)
{
    if (end - at < 2) {
        return 0;
    }
    spelling->escaped = true;
    if (at[1] == 'u') {
        return read_unit(spelling, at, end, bad);
    }
    *bad = writ_escape_short[(unsigned char)at[1]] == '\0';
    if (*bad) {
        return 0;
    }
    spelling->canonical = spelling->canonical && at[1] != '/';
    spelling->bytes++;
    return 2;
}

static size_t
read_character(struct writ_spelling *spelling, const char *at, const char *end, bool *bad)
{
    uint32_t point;
    size_t len = writ_utf8_character(writ_view(at, (size_t)(end - at)), &point);

    if (len <= 1) { /* a control is a character of one byte */
        *bad = len == 1 || end - at >= CHARACTER;
        return 0;
    }
    spelling->bytes += len;
    return len;
}

enum writ_spelling_state
writ_spelling_read(struct writ_spelling *spelling, struct writ_view rest)
{
    const char *at = rest.ptr, *end = rest.ptr + rest.len;
    bool bad = false;

    for (;;) {
        const char *plain = writ_escape_skip(at, end);
        size_t step;
        spelling->bytes += (size_t)(plain - at);
        spelling->source += (size_t)(plain - at);
        at = plain;
        if (at == end) {
            return WRIT_SPELLING_MORE;
        }
        if (*at == '"') {
            return WRIT_SPELLING_CLOSED;
        }
        step = *at == '\\' ? read_escape(spelling, at, end, &bad)
                           : read_character(spelling, at, end, &bad);
        if (step == 0) {
            return bad ? WRIT_SPELLING_BAD : WRIT_SPELLING_MORE;
        }
        spelling->source += step;
        at += step;
    }
}

/* The escape at `*at`, as UTF-8. */
static size_t
unescape(const char **at, const char *end, char *to)
{
    uint32_t point;

    if ((*at)[1] != 'u') {
        *to = writ_escape_short[(unsigned char)(*at)[1]];
        *at += 2;
        return 1;
    }
    point = (uint32_t)writ_escape_unit(*at, end);
    if (point >= SURROGATES && point < AFTER) {
        *at += UNIT;
        point =
            0x10000 + ((point - SURROGATES) << 10) + (uint32_t)(writ_escape_unit(*at, end) - LOW);
    }
    *at += UNIT;
    return writ_escape_utf8(point, to);
}

struct writ_view
writ_spelling_unescape(struct writ_view source, char *to)
{
    const char *at = source.ptr, *end = source.ptr + source.len;
    size_t len = 0;

    while (at < end) {
        const char *from = at;
        at = writ_escape_copy(from, end, to + len);
        len += (size_t)(at - from);
        if (at == end) {
            break;
        }
        if (*at == '\\') {
            len += unescape(&at, end, to + len);
        } else {
            to[len++] = *at++; /* a byte of a character that was found valid */
        }
    }
    return writ_view(to, len);
}
