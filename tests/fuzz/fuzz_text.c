/* For all bytes: a log-safe string is one line of valid JSON; a well-formed text written as a JSON
 * string reads back as itself. jansson is the oracle. */
#include "base/utf8.h"
#include "support/fuzz.h"

#include "base/text.h"

#include <jansson.h>

#define OUT_MAX (16U << 20)

static json_t *
read_back(const struct writ_buf *buf)
{
    return json_loadb(buf->ptr, buf->len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static void
check_safe(struct writ_view input)
{
    writ_auto_buf buf = writ_buf_make(OUT_MAX);
    json_auto_t *value = NULL;

    writ_text_json_safe(&buf, input, input.len / 2 + 1);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&buf, NULL)));
    for (size_t i = 0; i < buf.len; i++) {
        WRIT_INVARIANT((unsigned char)buf.ptr[i] >= 0x20 && buf.ptr[i] != 0x7f);
    }
    value = read_back(&buf);
    WRIT_INVARIANT(json_is_string(value));
}

static void
check_exact(struct writ_view input)
{
    writ_auto_buf buf = writ_buf_make(OUT_MAX);
    json_auto_t *value = NULL;

    writ_text_json(&buf, input);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&buf, NULL)));
    value = read_back(&buf);
    WRIT_INVARIANT(json_is_string(value));
    WRIT_INVARIANT(
        writ_view_equal(input, writ_view(json_string_value(value), json_string_length(value))));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);
    size_t bad = size;

    check_safe(input);
    if (writ_utf8_is_valid(input, &bad)) {
        check_exact(input);
    } else {
        /* the text before the first bad byte is good */
        WRIT_INVARIANT(bad < size);
        WRIT_INVARIANT(writ_utf8_is_valid(writ_view_sub(input, 0, bad), NULL));
    }
    return 0;
}
