/* hidden.c - looks characters up in the ranges of hidden.tbl.h, and strips a text of those that
 * hide. Plain ASCII takes a short path. */
#include "base/hidden.h"

#include "base/hidden.tbl.h"
#include "base/sixteen.h"
#include "base/utf8.h"

struct range {
    uint32_t first, last;
    enum writ_hidden kind;
};

#define ROW(first, last, kind) {first, last, WRIT_HIDDEN_##kind},
static const struct range ranges[] = {WRIT_HIDDEN_TABLE(ROW)};
#undef ROW

enum writ_hidden
writ_hidden_kind(uint32_t point)
{
    size_t low = 0, high = sizeof ranges / sizeof ranges[0];

    if (point >= 0x20 && point < 0x7f) {
        return WRIT_HIDDEN_NOT; /* nearly every character */
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point > ranges[middle].last) {
            low = middle + 1;
        } else if (point < ranges[middle].first) {
            high = middle;
        } else {
            return ranges[middle].kind;
        }
    }
    return WRIT_HIDDEN_NOT;
}

bool
writ_hidden_in(struct writ_view text)
{
    while (text.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(text, &point);
        if (len == 0 || writ_hidden_kind(point) != WRIT_HIDDEN_NOT) {
            return true;
        }
        text = writ_view_sub(text, len, text.len);
    }
    return false;
}

bool
writ_hidden_unseen(uint32_t point)
{
    switch (writ_hidden_kind(point)) {
    case WRIT_HIDDEN_CONTROL:
        return point != '\t' && point != '\n' && point != '\r';
    case WRIT_HIDDEN_DIRECTION:
    case WRIT_HIDDEN_TAG:
    case WRIT_HIDDEN_SELECTOR:
    case WRIT_HIDDEN_INVISIBLE:
        return true;
    case WRIT_HIDDEN_NOT:
    case WRIT_HIDDEN_LINE:
    case WRIT_HIDDEN_SPACE:
    case WRIT_HIDDEN_FORMAT:
    case WRIT_HIDDEN_PRIVATE:
    case WRIT_HIDDEN_UNASSIGNED:
        break;
    }
    return false;
}

static bool
is_foreign(uint32_t point)
{
    return point > 0x7f && !writ_hidden_unseen(point);
}

/* Emoji and several scripts need a few of them; one by one they mean nothing. `before` is the last
 * character that was kept, 0 when the one in front was not. */
static bool
is_needed(uint32_t point, uint32_t before, struct writ_view after)
{
    uint32_t next = 0;

    if (point == 0xfe0e || point == 0xfe0f) {
        return is_foreign(before);
    }
    if (point != 0x200c && point != 0x200d) {
        return false;
    }
    return (is_foreign(before) || before == 0xfe0f) && writ_utf8_character(after, &next) > 0 &&
           is_foreign(next);
}

/* How many characters of visible ASCII, and spaces, a text begins with: nearly all of most texts.
 */
static size_t
plain_len(struct writ_view text)
{
    size_t at = 0;

    for (; text.len - at >= 16; at += 16) {
        writ_sixteen bytes = writ_sixteen_load(text.ptr + at);
        if (writ_sixteen_any((writ_sixteen)(bytes < 0x20) | (writ_sixteen)(bytes > 0x7e))) {
            break;
        }
    }
    while (at < text.len && text.ptr[at] >= 0x20 && text.ptr[at] <= 0x7e) {
        at++;
    }
    return at;
}

size_t
writ_hidden_strip(struct writ_buf *ret, struct writ_view text)
{
    size_t left_out = 0;
    uint32_t before = 0;

    while (text.len > 0) {
        uint32_t point = 0;
        size_t plain = plain_len(text), len;
        struct writ_view rest;
        if (plain > 0) {
            writ_buf_put(ret, writ_view_sub(text, 0, plain));
            before = ' '; /* as any of ASCII */
            text = writ_view_sub(text, plain, text.len);
        }
        if (text.len == 0) {
            break;
        }
        len = writ_utf8_character(text, &point);
        rest = writ_view_sub(text, len > 0 ? len : 1, text.len);
        if (len == 0 || (writ_hidden_unseen(point) && !is_needed(point, before, rest))) {
            left_out++;
            before = 0;
        } else {
            writ_buf_put(ret, writ_view_sub(text, 0, len));
            before = point;
        }
        text = rest;
    }
    return left_out;
}

/* ---- marks */

#define WITHIN(point, first, last) ((point) >= (first) && (point) <= (last))

/* Armenian, Cherokee, Coptic, Cyrillic, Greek and Lisu have letters that look like Latin ones. */
static bool
is_alike(uint32_t point)
{
    return WITHIN(point, 0x370, 0x58f) || WITHIN(point, 0x13a0, 0x13ff) ||
           WITHIN(point, 0x1c80, 0x1c8f) || WITHIN(point, 0x1f00, 0x1fff) ||
           WITHIN(point, 0x2c80, 0x2cff) || WITHIN(point, 0x2de0, 0x2dff) ||
           WITHIN(point, 0xa4d0, 0xa4ff) || WITHIN(point, 0xa640, 0xa69f) ||
           WITHIN(point, 0xab70, 0xabbf);
}

/* Letterlike, enclosed, full-width and mathematical forms of ASCII characters. */
static bool
is_form(uint32_t point)
{
    return WITHIN(point, 0x2100, 0x214f) || WITHIN(point, 0x2460, 0x24ff) ||
           WITHIN(point, 0xff01, 0xff5e) || WITHIN(point, 0x1d400, 0x1d7ff);
}

static bool
is_latin(uint32_t point)
{
    return WITHIN(point | 0x20, 'a', 'z') || WITHIN(point, 0xc0, 0x24f);
}

static bool
is_in_word(uint32_t point)
{
    return is_latin(point) || WITHIN(point, '0', '9') || point >= 0x80;
}

/* Bytes of the word that the text begins with; `ret_latin`: it has a Latin letter. */
static size_t
measure_word(struct writ_view text, bool *ret_latin)
{
    size_t at = 0;

    *ret_latin = false;
    while (at < text.len) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(writ_view_sub(text, at, text.len), &point);

        if (len == 0 || !is_in_word(point)) {
            break;
        }
        *ret_latin = *ret_latin || is_latin(point);
        at += len;
    }
    return at;
}

static size_t
mark_word(struct writ_buf *ret, struct writ_view word, bool latin)
{
    size_t marks = 0;

    while (word.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(word, &point);
        bool hides = writ_hidden_kind(point) != WRIT_HIDDEN_NOT;

        if (hides || is_form(point) || (latin && is_alike(point))) {
            writ_buf_fmt(ret, "[U+%04X]", (unsigned)point);
            marks++;
        }
        if (!hides) {
            writ_buf_put(ret, writ_view_sub(word, 0, len));
        }
        word = writ_view_sub(word, len, word.len);
    }
    return marks;
}

/* The letter of an escape of JSON belongs to no word. */
static size_t
escape_len(struct writ_view text, bool json)
{
    return !json || text.ptr[0] != '\\' ? 0 : text.len > 1 && (text.ptr[1] & 0x80) == 0 ? 2 : 1;
}

static size_t
mark(struct writ_buf *ret, struct writ_view text, bool json)
{
    size_t marks = 0;

    while (text.len > 0) {
        bool latin = false;
        uint32_t point = 0;
        size_t len = measure_word(text, &latin);

        if (len > 0) {
            marks += mark_word(ret, writ_view_sub(text, 0, len), latin);
        } else if ((len = escape_len(text, json)) > 0) {
            writ_buf_put(ret, writ_view_sub(text, 0, len));
        } else if (writ_utf8_character(text, &point) == 0) {
            len = 1;
            marks++;
            writ_buf_str(ret, "[?]");
        } else {
            len = 1; /* ASCII: what is beyond it is in a word */
            marks += mark_word(ret, writ_view_sub(text, 0, len), false);
        }
        text = writ_view_sub(text, len, text.len);
    }
    return marks;
}

size_t
writ_hidden_mark(struct writ_buf *ret, struct writ_view json)
{
    return mark(ret, json, true);
}

size_t
writ_hidden_mark_text(struct writ_buf *ret, struct writ_view text)
{
    return mark(ret, text, false);
}
