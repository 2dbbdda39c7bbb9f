/* hidden.c - looks characters up in the ranges of hidden.tbl.h, and strips a text of those that
 * hide. Plain ASCII takes a short path. */
#include "base/hidden.h"

#include "base/hidden.tbl.h"
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

static bool
is_unseen(uint32_t point)
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
    return point > 0x7f && !is_unseen(point);
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

size_t
writ_hidden_strip(struct writ_buf *ret, struct writ_view text)
{
    size_t left_out = 0;
    uint32_t before = 0;

    while (text.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(text, &point);
        struct writ_view rest = writ_view_sub(text, len > 0 ? len : 1, text.len);
        if (len == 0 || (is_unseen(point) && !is_needed(point, before, rest))) {
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
