/* Bytes have exactly one text in each encoding, and only that text reads back. */
#include "support/fuzz.h"

#include "base/bytes.h"

#define OUT_MAX (4U << 20)

typedef void put_fn(struct writ_buf *buf, struct writ_view bytes);
typedef writ_result read_fn(struct writ_view text, struct writ_buf *ret);

static void
check_encoding(struct writ_view input, put_fn *put, read_fn *read)
{
    writ_auto_buf text = writ_buf_make(OUT_MAX);
    writ_auto_buf bytes = writ_buf_make(OUT_MAX);

    /* any bytes survive */
    put(&text, input);
    WRIT_INVARIANT(writ_is_ok(read(writ_buf_view(&text), &bytes)));
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&bytes), input));

    /* a text that is accepted is the one that we would write */
    writ_buf_clear(&bytes);
    if (writ_is_ok(read(input, &bytes))) {
        writ_buf_clear(&text);
        put(&text, writ_buf_view(&bytes));
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&text), input));
    } else {
        WRIT_INVARIANT(bytes.len == 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);

    check_encoding(input, writ_base64_put, writ_base64_read);
    check_encoding(input, writ_base64url_put, writ_base64url_read);
    return 0;
}
