/* label_set.c - a hash table with open addressing, twice as large as the most series it may hold,
 * so a search always ends. */
#include "gateway/listener/label_set.h"

#include "base/utf8.h"

void
writ_label_set_wipe(struct writ_label_set *set)
{
    for (size_t i = 0; i < WRIT_LABEL_SET_PLACES; i++) {
        writ_buf_wipe(&set->places[i]);
    }
}

/* FNV-1a: the names are the configuration's own. */
static size_t
place_of(struct writ_view text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return hash % WRIT_LABEL_SET_PLACES;
}

size_t
writ_label_set_find(struct writ_label_set *set, const struct writ_buf *labels)
{
    struct writ_view text = writ_buf_view(labels);
    size_t at = place_of(text);

    if (!writ_is_ok(writ_buf_check(labels, NULL))) {
        return WRIT_LABEL_SET_OTHER;
    }
    while (set->places[at].len > 0) {
        if (writ_view_equal(text, writ_buf_view(&set->places[at]))) {
            return at;
        }
        at = (at + 1) % WRIT_LABEL_SET_PLACES;
    }
    if (set->n >= WRIT_LABEL_SET_MAX) {
        return WRIT_LABEL_SET_OTHER;
    }
    set->places[at] = writ_buf_make(text.len);
    writ_buf_put(&set->places[at], text);
    if (set->places[at].len == 0) {
        return WRIT_LABEL_SET_OTHER;
    }
    set->n++;
    return at;
}

struct writ_view
writ_label_set_view(const struct writ_label_set *set, size_t number)
{
    return writ_buf_view(&set->places[number]);
}

void
writ_label_set_put(struct writ_buf *buf, const char *name, struct writ_view value)
{
    writ_buf_str(buf, buf->len > 0 ? "," : "");
    writ_buf_str(buf, name);
    writ_buf_str(buf, "=\"");
    for (size_t i = 0, len; i<value.len; i += len> 0 ? len : 1) {
        uint32_t point = 0;

        len = writ_utf8_character(writ_view_sub(value, i, value.len), &point);
        if (point == '"' || point == '\\' || point == '\n') {
            writ_buf_byte(buf, '\\');
        }
        if (len == 0) {
            writ_buf_byte(buf, '?');
        } else if (point == '\n') {
            writ_buf_byte(buf, 'n');
        } else {
            writ_buf_put(buf, writ_view_sub(value, i, len));
        }
    }
    writ_buf_byte(buf, '"');
}
