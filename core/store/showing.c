/* "13 2 0" and a line feed, then the three texts without anything between them: none of them has to
 * be parsed, however large it is. Arguments begin with '{', so they are never taken for this. */
#include "store/showing.h"

#include "base/text.h"

#define PARTS 3

void
writ_showing_put(const struct writ_showing *showing, struct writ_buf *ret)
{
    const struct writ_view parts[PARTS] = {showing->arguments, showing->state, showing->before};

    for (size_t i = 0; i < PARTS; i++) {
        writ_buf_u64(ret, parts[i].len);
        writ_buf_byte(ret, i + 1 < PARTS ? ' ' : '\n');
    }
    for (size_t i = 0; i < PARTS; i++) {
        writ_buf_put(ret, parts[i]);
    }
}

/* Takes the length that stands before `end` off the front. */
static bool
take_length(struct writ_view *head, char end, size_t most, size_t *ret)
{
    size_t at = writ_view_find(*head, end);
    uint64_t length = 0;

    if (at >= head->len ||
        !writ_is_ok(writ_text_u64(writ_view_sub(*head, 0, at), 0, most, &length))) {
        return false;
    }
    *head = writ_view_sub(*head, at + 1, head->len);
    *ret = (size_t)length;
    return true;
}

struct writ_showing
writ_showing_read(struct writ_view bytes)
{
    struct writ_view rest = bytes;
    size_t a = 0, s = 0, b = 0;

    if (!take_length(&rest, ' ', bytes.len, &a) || !take_length(&rest, ' ', bytes.len, &s) ||
        !take_length(&rest, '\n', bytes.len, &b) || a + s + b != rest.len) {
        return (struct writ_showing){.arguments = bytes};
    }
    return (struct writ_showing){.arguments = writ_view_sub(rest, 0, a),
        .state = writ_view_sub(rest, a, s),
        .before = writ_view_sub(rest, a + s, b)};
}

WRIT_RESULT
writ_showing_find(struct writ_disk *disk, struct writ_view id, struct writ_arena *arena,
    struct writ_showing *ret, struct writ_err *err)
{
    struct writ_view bytes = {NULL, 0};
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_REVIEW_ARGUMENTS, &row, err, "t", id);

    if (writ_is_ok(result) && row) {
        bytes = writ_disk_bytes(disk, WRIT_SQL_REVIEW_ARGUMENTS, 0);
    }
    if (bytes.len > 0) {
        bytes = writ_view_copy(bytes, arena);
        if (bytes.ptr == NULL) {
            result = writ_fail(err, WRIT_E_NOMEM, "no memory for what voters are shown");
        }
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_ARGUMENTS);
    if (writ_is_ok(result)) {
        *ret = bytes.len > 0 ? writ_showing_read(bytes) : (struct writ_showing){0};
    }
    return result;
}
