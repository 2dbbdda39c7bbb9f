/* For two JSON values, a line each: there is a difference exactly when they are not equal; it has
 * as many lines as reported, each with its sign and without any control sequence for a terminal;
 * and in the other direction it is as long, with every sign turned. */
#include "base/utf8.h"
#include "support/fuzz.h"

#include "evidence/json/difference.h"

#define ARENA_MAX ((size_t)16 << 20)
#define TEXT_MAX  ((size_t)64 << 20)

static void
check_lines(struct writ_view text, size_t lines)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        WRIT_INVARIANT(c == '\n' || (c >= ' ' && c != 0x7f));
        n += c == '\n' ? 1 : 0;
    }
    WRIT_INVARIANT(writ_utf8_is_valid(text, NULL));
    WRIT_INVARIANT(n == lines && (text.len == 0 || text.ptr[text.len - 1] == '\n'));
    while (text.len > 0) {
        char sign = text.ptr[0];

        WRIT_INVARIANT((sign == '+' || sign == '-' || sign == '~') && text.ptr[1] == ' ');
        text = writ_view_sub(text, writ_view_find(text, '\n') + 1, text.len);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct writ_arena *arena;
    struct writ_view text = writ_view(data, size);
    size_t end = writ_view_find(text, '\n'), lines;
    writ_auto_buf there = writ_buf_make(TEXT_MAX), back = writ_buf_make(TEXT_MAX);
    const struct writ_json *before = NULL, *after = NULL;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    /* text that is not JSON gives NULL */
    (void)!writ_is_ok(writ_json_read(
        writ_view_sub(text, 0, end), &writ_json_limits_default, arena, &before, NULL));
    (void)!writ_is_ok(writ_json_read(
        writ_view_sub(text, end + 1, text.len), &writ_json_limits_default, arena, &after, NULL));
    lines = writ_difference_put(before, after, WRIT_DIFFERENCE_TEXT_MAX, &there);
    WRIT_INVARIANT(lines == writ_difference_put(after, before, WRIT_DIFFERENCE_TEXT_MAX, &back));
    WRIT_INVARIANT(
        (lines == 0) == ((before == NULL && after == NULL) ||
                            (before != NULL && after != NULL && writ_json_equal(before, after))));
    if (writ_is_ok(writ_buf_check(&there, NULL))) {
        check_lines(writ_buf_view(&there), lines);
    }
    if (writ_is_ok(writ_buf_check(&back, NULL))) {
        check_lines(writ_buf_view(&back), lines);
    }
    return 0;
}
