/* Cursors of merged lists. A cursor reads back as written, and anything else is refused. */
#include "support/unit.h"

#include "gateway/mcp/cursor.h"

START_TEST(cursor_reads_back_as_written)
{
    static const char *const cursors[] = {"", "7", "a/b", "\xc3\xa9"};

    for (size_t i = 0; i < sizeof cursors / sizeof cursors[0]; i++) {
        writ_auto_buf text = writ_buf_make(1000);
        writ_auto_buf room = writ_buf_make(1000);
        struct writ_view upstream, cursor;
        writ_cursor_put(WRIT_LIT("fs"), writ_view_str(cursors[i]), &text);
        ck_assert_ok(writ_cursor_read(writ_buf_view(&text), &room, &upstream, &cursor));
        ck_assert_view(upstream, "fs");
        ck_assert_view(cursor, cursors[i]);
    }
}
END_TEST

START_TEST(cursor_read_of_another_text_is_refused)
{
    static const char *const texts[] = {"", "x", "Zg", "ZnM=", "Zi__", "!"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_buf room = writ_buf_make(1000);
        struct writ_view upstream = {NULL, 7}, cursor = {NULL, 7};
        ck_assert_code(
            writ_cursor_read(writ_view_str(texts[i]), &room, &upstream, &cursor), WRIT_E_PARSE);
        ck_assert_uint_eq(upstream.len + cursor.len, 14);
    }
}
END_TEST

START_TEST(cursor_put_beyond_the_maximum_fails)
{
    writ_auto_buf own = writ_buf_make(WRIT_CURSOR_MAX);
    writ_auto_buf text = writ_buf_make(2 * WRIT_CURSOR_MAX);

    for (size_t i = 0; i < WRIT_CURSOR_MAX - 2; i++) {
        writ_buf_byte(&own, 'c');
    }
    writ_cursor_put(WRIT_LIT("a"), writ_buf_view(&own), &text);
    ck_assert_ok(writ_buf_check(&text, NULL));
    writ_buf_byte(&own, 'c');
    writ_cursor_put(WRIT_LIT("a"), writ_buf_view(&own), &text);
    ck_assert_code(writ_buf_check(&text, NULL), WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("cursor", cursor_reads_back_as_written, cursor_read_of_another_text_is_refused,
    cursor_put_beyond_the_maximum_fails)
