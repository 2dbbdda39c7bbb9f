/* Members by their kinds: their presence, equality and text. A member of a wrong type is never
 * equal to anything and gives no value. */
#include "evidence/record/member.h"

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

#define T_AT 10 /* the offset of the time in "2026-11-21T22:20:00.5Z" */

bool
writ_member_time(struct writ_view text, int64_t *ret_us)
{
    int64_t us;

    /* RFC 3339 allows t for T, and z or an offset for Z; a record does not */
    if (text.len <= T_AT || text.ptr[T_AT] != 'T' || text.ptr[text.len - 1] != 'Z') {
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
