/* Bytes from a disk: a length is compared with the bytes left before anything is read, and nothing
 * is read after the end. */
#include "store/tables/packed.h"

void
writ_packed_put_number(struct writ_buf *buf, uint64_t number)
{
    uint64_t bytes = htobe64(number);

    writ_buf_put(buf, writ_view(&bytes, sizeof bytes));
}

void
writ_packed_put_tag(struct writ_buf *buf, struct writ_tag tag)
{
    writ_packed_put_number(buf, tag.high);
    writ_packed_put_number(buf, tag.low);
}

void
writ_packed_put_text(struct writ_buf *buf, struct writ_view text)
{
    writ_packed_put_number(buf, text.len);
    writ_buf_put(buf, text);
}

void
writ_packed_put_digest(struct writ_buf *buf, const struct writ_digest *digest)
{
    writ_buf_put(buf, writ_view(digest->bytes, WRIT_DIGEST_BYTES));
}

struct writ_view
writ_packed_bytes(struct writ_packed *packed, uint64_t len)
{
    struct writ_view bytes;

    packed->ended = packed->ended || len > packed->left.len;
    if (packed->ended) {
        return writ_view("", 0);
    }
    bytes = writ_view_sub(packed->left, 0, (size_t)len);
    packed->left = writ_view_sub(packed->left, (size_t)len, packed->left.len);
    return bytes;
}

uint64_t
writ_packed_number(struct writ_packed *packed)
{
    struct writ_view bytes = writ_packed_bytes(packed, sizeof(uint64_t));

    return packed->ended ? 0 : __builtin_bswap64(writ_view_load64(bytes.ptr));
}

int64_t
writ_packed_time(struct writ_packed *packed)
{
    return (int64_t)writ_packed_number(packed);
}

struct writ_tag
writ_packed_tag(struct writ_packed *packed)
{
    uint64_t high = writ_packed_number(packed);

    return (struct writ_tag){high, writ_packed_number(packed)};
}

struct writ_view
writ_packed_text(struct writ_packed *packed)
{
    return writ_packed_bytes(packed, writ_packed_number(packed));
}

WRIT_RESULT
writ_packed_check(const struct writ_packed *packed, struct writ_err *err)
{
    if (packed->ended) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "it ends too early");
    }
    return WRIT_DONE;
}
