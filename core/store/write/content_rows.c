/* The ledger never decrypts: it has no key of contents. */
#include "store/write/content_rows.h"

WRIT_RESULT
writ_content_rows_write(struct writ_ledger *ledger, uint64_t leaf,
    const struct writ_sealed *content, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;

    if (content == NULL || content->expires_us <= ledger->log.last_us) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_disk_run(disk, WRIT_SQL_CONTENT_KEY_PUT, err, "ub", leaf,
        writ_view(content->wrapped, sizeof content->wrapped)));
    return writ_disk_run(disk, WRIT_SQL_CONTENT_PUT, err, "uiutb", leaf, content->expires_us,
        (uint64_t)content->redacted, content->kid, content->bytes);
}

static const uint8_t zeros[WRIT_WRAPPED_BYTES]; /* a key that is destroyed */

WRIT_RESULT
writ_content_rows_write_destroyed(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err)
{
    return writ_disk_run(
        &ledger->disk, WRIT_SQL_CONTENT_KEY_PUT, err, "ub", leaf, writ_view(zeros, sizeof zeros));
}

WRIT_RESULT
writ_content_rows_write_result(struct writ_ledger *ledger, const struct writ_flight *flight,
    uint64_t leaf, const struct writ_sealed *content, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result;

    if (content == NULL) {
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_CONTENT_KEY_IS, &row, err, "ub", flight->leaf,
        writ_view(zeros, sizeof zeros));
    writ_disk_end(disk, WRIT_SQL_CONTENT_KEY_IS);
    WRIT_TRY(result);
    return row || flight->erased ? writ_content_rows_write_destroyed(ledger, leaf, err)
                                 : writ_content_rows_write(ledger, leaf, content, err);
}

struct writ_sealed *
writ_content_rows_copy(const struct writ_sealed *content)
{
    size_t len = sizeof *content + content->kid.len + content->bytes.len;
    struct writ_sealed *copy = writ_alloc(len);
    char *at;

    if (copy == NULL) {
        return NULL;
    }
    at = (char *)(copy + 1);
    *copy = *content;
    copy->kid = writ_view_place(content->kid, at);
    copy->bytes = writ_view_place(content->bytes, at + content->kid.len);
    return copy;
}
