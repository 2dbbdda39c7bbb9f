/* The query of an address, and cursors that clients send back. For every text: a parameter that is
 * read is clean UTF-8 within its limit, and reads again from its percent-encoded form; a cursor
 * that is read has one spelling. */
#include "base/utf8.h"
#include "support/fuzz.h"

#include "gateway/mcp/cursor.h"
#include "gateway/http/query.h"

#define ARENA_MAX ((size_t)4 << 20)
#define VALUE_MAX 64

static struct writ_arena *arena;

static void
check_again(struct writ_view value)
{
    writ_auto_buf query = writ_buf_make(4096);
    struct writ_view again;

    writ_buf_str(&query, "b=%61&a=");
    for (size_t i = 0; i < value.len; i++) {
        writ_buf_fmt(&query, i % 2 == 0 ? "%%%02x" : "%%%02X", (unsigned char)value.ptr[i]);
    }
    WRIT_INVARIANT(
        writ_is_ok(writ_query_get(writ_buf_view(&query), WRIT_LIT("a"), VALUE_MAX, arena, &again)));
    WRIT_INVARIANT(again.ptr != NULL && writ_view_equal(again, value));
}

static void
check_query(struct writ_view text)
{
    struct writ_view value = WRIT_LIT("untouched");
    writ_result read = writ_query_get(text, WRIT_LIT("a"), VALUE_MAX, arena, &value);

    WRIT_INVARIANT(read.code != WRIT_E_NOMEM);
    if (!writ_is_ok(read)) {
        WRIT_INVARIANT(writ_view_is(value, "untouched"));
        return;
    }
    WRIT_INVARIANT(value.len <= VALUE_MAX && (value.ptr != NULL || value.len == 0));
    if (value.ptr == NULL) {
        return;
    }
    WRIT_INVARIANT(writ_utf8_is_valid(value, NULL));
    for (size_t i = 0; i < value.len; i++) {
        WRIT_INVARIANT((unsigned char)value.ptr[i] >= ' ' && value.ptr[i] != 0x7f);
    }
    check_again(value);
}

static void
check_cursor(struct writ_view text)
{
    writ_auto_buf room = writ_buf_make(WRIT_CURSOR_MAX), again = writ_buf_make(2 * WRIT_CURSOR_MAX);
    struct writ_view upstream, cursor;

    if (writ_is_ok(writ_cursor_read(text, &room, &upstream, &cursor))) {
        WRIT_INVARIANT(writ_view_find(upstream, '/') == upstream.len);
        WRIT_INVARIANT(writ_utf8_is_valid(upstream, NULL) && writ_utf8_is_valid(cursor, NULL));
        writ_cursor_put(upstream, cursor, &again);
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), text));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    check_query(writ_view(data, size));
    check_cursor(writ_view(data, size));
    writ_arena_reset(arena);
    return 0;
}
