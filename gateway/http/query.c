/* query.c - finds one parameter and decodes it. A parameter that appears twice is an error, because
 * two readers could use different values. */
#include "gateway/http/query.h"

#include "base/utf8.h"

/* One byte of a value; how many of its text it took. */
static size_t
decode(struct writ_view text, unsigned char *ret)
{
    if (text.ptr[0] == '%' && text.len >= 3) {
        char lower[2];

        for (int i = 0; i < 2; i++) {
            char c = text.ptr[1 + i];
            lower[i] = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        }
        if (writ_is_ok(writ_hex_read(writ_view(lower, 2), ret, 1))) {
            return 3;
        }
    }
    *ret = text.ptr[0] == '+' ? ' ' : (unsigned char)text.ptr[0];
    return 1;
}

static WRIT_RESULT
read_value(struct writ_view text, size_t max, struct writ_arena *arena, struct writ_view *ret)
{
    struct writ_buf value = writ_buf_in(arena, max);
    bool clean = true;

    while (text.len > 0) {
        unsigned char byte;
        size_t took = decode(text, &byte);

        clean = clean && byte >= ' ' && byte != 0x7f;
        writ_buf_byte(&value, (char)byte);
        text = writ_view_sub(text, took, text.len);
    }
    WRIT_TRY(writ_buf_check(&value, NULL));
    if (!clean || !writ_utf8_is_valid(writ_buf_view(&value), NULL)) {
        return (writ_result){WRIT_E_PARSE};
    }
    *ret = value.len > 0 ? writ_buf_view(&value) : WRIT_LIT("");
    return WRIT_DONE;
}

writ_result
writ_query_get(struct writ_view query, struct writ_view name, size_t max, struct writ_arena *arena,
    struct writ_view *ret)
{
    struct writ_view found = {NULL, 0};

    while (query.len > 0) {
        size_t end = writ_view_find(query, '&');
        struct writ_view pair = writ_view_sub(query, 0, end);
        size_t equals = writ_view_find(pair, '=');

        if (writ_view_equal(writ_view_sub(pair, 0, equals), name)) {
            if (found.ptr != NULL) {
                return (writ_result){WRIT_E_PARSE};
            }
            WRIT_TRY(read_value(writ_view_sub(pair, equals + 1, pair.len), max, arena, &found));
        }
        query = writ_view_sub(query, end + 1, query.len);
    }
    *ret = found;
    return WRIT_DONE;
}
