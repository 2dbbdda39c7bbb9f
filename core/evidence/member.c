#include "evidence/member.h"

#include "base/clock.h"
#include "base/text.h"

bool
writ_member_text_equal(
    const struct writ_member_text *a, const struct writ_member_text *b, bool absent_equal)
{
    bool a_none = a->is == WRIT_ABSENT || a->is == WRIT_NULL;
    bool b_none = b->is == WRIT_ABSENT || b->is == WRIT_NULL;

    if (a_none && b_none) {
        return absent_equal;
    }
    return a->is == WRIT_PRESENT && b->is == WRIT_PRESENT &&
           writ_view_equal_secret(a->view, b->view);
}

void
writ_member_put_list(const struct writ_member_list *list, struct writ_buf *ret)
{
    writ_buf_byte(ret, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) {
            writ_buf_byte(ret, ',');
        }
        writ_text_json(ret, list->items[i]);
    }
    writ_buf_byte(ret, ']');
}

/* The shape of the part before the fraction: 9 stands for a digit. */
static bool
has_shape(struct writ_view text, struct writ_view shape)
{
    if (text.len < shape.len) {
        return false;
    }
    for (size_t i = 0; i < shape.len; i++) {
        bool digit = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        if (shape.ptr[i] == '9' ? !digit : text.ptr[i] != shape.ptr[i]) {
            return false;
        }
    }
    return true;
}

bool
writ_member_time(struct writ_view text, int64_t *ret_us)
{
    struct writ_view shape = WRIT_LIT("9999-99-99T99:99:99");
    int64_t us;

    /* RFC 3339 allows more spellings of the same time; a record has one (contract 3) */
    if (!has_shape(text, shape) || !writ_view_has_suffix(text, WRIT_LIT("Z"))) {
        return false;
    }
    if (!writ_is_ok(writ_time_read(text, &us))) {
        return false;
    }
    if (ret_us != NULL) {
        *ret_us = us;
    }
    return true;
}

WRIT_RESULT
writ_member_time_make(
    int64_t wall_us, struct writ_arena *arena, struct writ_member_text *ret, struct writ_err *err)
{
    char *text = writ_arena_get(arena, WRIT_TIME_TEXT);

    if (text == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the time of a record");
    }
    writ_time_format(wall_us, text);
    *ret = writ_member_text(writ_view(text, WRIT_TIME_TEXT - 1));
    return WRIT_DONE;
}
