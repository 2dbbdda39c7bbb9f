/* Fields of Protocol Buffers. For every text: what is read shortens the rest, lies within the text,
 * and is written and read again as the same; what is not a field leaves the rest as it was. */
#include "support/fuzz.h"

#include "gateway/telemetry/protobuf.h"

#define FIELD_MAX 15 /* that the writer knows */

static void
put(struct writ_buf *ret, const struct writ_protobuf_field *field)
{
    unsigned number = (unsigned)field->number;

    if (field->wire == WRIT_PROTOBUF_VARINT) {
        writ_protobuf_put(ret, number, field->value);
    } else if (field->wire == WRIT_PROTOBUF_FIXED64) {
        writ_protobuf_put_fixed64(ret, number, field->value);
    } else {
        writ_protobuf_put_bytes(ret, number, field->bytes);
    }
}

static void
check_again(const struct writ_protobuf_field *field)
{
    writ_auto_buf text = writ_buf_make(SIZE_MAX / 2);
    struct writ_protobuf_field again = {.number = 0};
    struct writ_view rest;

    if (field->number > FIELD_MAX || field->wire == WRIT_PROTOBUF_FIXED32) {
        return;
    }
    put(&text, field);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&text, NULL)));
    rest = writ_buf_view(&text);
    WRIT_INVARIANT(writ_is_ok(writ_protobuf_read(&rest, &again)) && rest.len == 0);
    WRIT_INVARIANT(again.number == field->number && again.wire == field->wire &&
                   again.value == field->value && writ_view_equal(again.bytes, field->bytes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view rest = writ_view(data, size);

    for (;;) {
        struct writ_protobuf_field field = {.number = 0};
        struct writ_view before = rest;
        if (!writ_is_ok(writ_protobuf_read(&rest, &field))) {
            WRIT_INVARIANT(rest.ptr == before.ptr && rest.len == before.len && field.number == 0);
            return 0;
        }
        WRIT_INVARIANT(rest.len < before.len && field.bytes.len < before.len);
        check_again(&field);
    }
}
