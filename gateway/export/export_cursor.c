/* The file is written beside its place and renamed (trusted.h), with its folder synced: after a
 * crash it has the old index or the new one. */
#include "gateway/export/export_cursor.h"

#include "base/text.h"
#include "store/trusted/trusted.h"

#define CURSOR_MAX 4096
#define FIRST_LINE "writ-export 1\n"

/* The next line, which the text loses. */
static struct writ_view
take_line(struct writ_view *text)
{
    struct writ_view line = writ_view_sub(*text, 0, writ_view_find(*text, '\n'));

    *text = writ_view_sub(*text, line.len + 1, text->len);
    return line;
}

WRIT_RESULT
writ_export_cursor_read(
    const char *path, struct writ_view origin, uint64_t *ret, struct writ_err *err)
{
    writ_auto_buf bytes = writ_buf_make(CURSOR_MAX);
    struct writ_view text, name;
    uint64_t next = 0;

    WRIT_TRY(writ_trusted_load(path, WRIT_TRUSTED_UNWRITABLE, &bytes, err));
    text = writ_buf_view(&bytes);
    if (!writ_view_has_prefix(text, WRIT_LIT(FIRST_LINE))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s is not a cursor of an export", path);
    }
    (void)take_line(&text);
    name = take_line(&text);
    if (!writ_is_ok(writ_text_u64(take_line(&text), 0, INT64_MAX, &next)) || text.len > 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s is not a cursor of an export", path);
    }
    if (!writ_view_equal(name, origin)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s is the cursor of another ledger, " WRIT_VIEW_FMT
            ". Remove the file to export this one from its beginning.",
            path, WRIT_VIEW_ARG(name));
    }
    *ret = next;
    return WRIT_DONE;
}

WRIT_RESULT
writ_export_cursor_write(
    const char *path, struct writ_view origin, uint64_t next, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    writ_auto_buf bytes = writ_buf_make(CURSOR_MAX);
    const char *name = NULL;

    writ_buf_str(&bytes, FIRST_LINE);
    writ_buf_put(&bytes, origin);
    writ_buf_byte(&bytes, '\n');
    writ_buf_u64(&bytes, next);
    writ_buf_byte(&bytes, '\n');
    WRIT_TRY(writ_buf_check(&bytes, err));
    WRIT_TRY(writ_trusted_folder(path, &dir, &name, err));
    WRIT_TRY(writ_trusted_write(dir, name, WRIT_TRUSTED_OURS, writ_buf_view(&bytes), err));
    return writ_trusted_sync(dir, err);
}
