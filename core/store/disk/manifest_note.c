/* A note that is read is written again and compared: each note has exactly one spelling. */
#include "store/disk/manifest_note.h"

#include "base/text.h"
#include "evidence/log/tree.h"

#define TITLE WRIT_LIT("writ ledger state v1\n")

uint64_t
writ_manifest_note_row(uint64_t area, uint64_t piece)
{
    return WRIT_MANIFEST_NOTE + (area + 1) * WRIT_MANIFEST_AREA_ROWS + piece;
}

void
writ_manifest_note_wipe(struct writ_manifest *manifest)
{
    writ_buf_wipe(&manifest->bytes);
    writ_buf_wipe(&manifest->loaded);
    *manifest = (struct writ_manifest){0};
}

/* ---- its text ---- */

static void
put_base64(struct writ_buf *buf, const struct writ_digest *digest)
{
    writ_base64_put(buf, writ_view(digest->bytes, WRIT_DIGEST_BYTES));
    writ_buf_byte(buf, '\n');
}

void
writ_manifest_note_put(
    struct writ_view origin, const struct writ_manifest_stated *stated, struct writ_buf *buf)
{
    writ_buf_put(buf, TITLE);
    writ_buf_put(buf, origin);
    writ_buf_byte(buf, '\n');
    writ_buf_u64(buf, stated->leaf);
    writ_buf_byte(buf, '\n');
    put_base64(buf, &stated->root);
    writ_buf_u64(buf, stated->area);
    writ_buf_byte(buf, ' ');
    writ_buf_u64(buf, stated->bytes);
    writ_buf_byte(buf, ' ');
    put_base64(buf, &stated->digest);
}

static struct writ_view
take_until(struct writ_view *text, char end)
{
    size_t len = writ_view_find(*text, end);
    struct writ_view part = writ_view_sub(*text, 0, len);

    *text = len < text->len ? writ_view_sub(*text, len + 1, text->len) : writ_view("", 0);
    return part;
}

static bool
take_number(struct writ_view *text, char end, uint64_t most, uint64_t *ret)
{
    return writ_is_ok(writ_text_u64(take_until(text, end), 0, most, ret));
}

static bool
take_digest(struct writ_view *text, struct writ_digest *ret)
{
    char room[WRIT_DIGEST_BYTES];
    struct writ_buf bytes = writ_buf_over(room, sizeof room);

    if (!writ_is_ok(writ_base64_read(take_until(text, '\n'), &bytes)) ||
        bytes.len != WRIT_DIGEST_BYTES) {
        return false;
    }
    (void)writ_view_place(writ_buf_view(&bytes), (char *)ret->bytes);
    return true;
}

bool
writ_manifest_note_read(
    struct writ_view text, struct writ_view origin, struct writ_manifest_stated *ret)
{
    char room[WRIT_MANIFEST_TEXT_MAX];
    struct writ_buf again = writ_buf_over(room, sizeof room);
    struct writ_view left = text;

    if (!writ_view_has_prefix(text, TITLE)) {
        return false;
    }
    (void)take_until(&left, '\n');
    if (!writ_view_equal(take_until(&left, '\n'), origin) ||
        !take_number(&left, '\n', WRIT_TREE_SIZE_MAX, &ret->leaf) ||
        !take_digest(&left, &ret->root) || !take_number(&left, ' ', 1, &ret->area) ||
        !take_number(&left, ' ', WRIT_MANIFEST_BYTES_MAX, &ret->bytes) ||
        !take_digest(&left, &ret->digest)) {
        return false;
    }
    writ_manifest_note_put(origin, ret, &again);
    return writ_is_ok(writ_buf_check(&again, NULL)) && writ_view_equal(writ_buf_view(&again), text);
}
