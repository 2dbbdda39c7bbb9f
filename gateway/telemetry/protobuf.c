/* protobuf.c - a field is a varint of its number and its kind, then its value: a varint, eight or
 * four bytes, or a length and bytes. */
#include "gateway/telemetry/protobuf.h"

#define VARINT_MAX 10 /* bytes */
#define LENGTH     4  /* bytes of the length of a message that was begun */
#define WORD       8
#define HALF       4

static void
place_word(char *to, uint64_t word)
{
    for (int i = 0; i < WORD; i++) {
        to[i] = (char)(word >> 8 * i);
    }
}

static void
put_head(struct writ_buf *buf, unsigned field, enum writ_protobuf_wire wire, uint64_t value)
{
    char *to = writ_buf_reserve(buf, 1 + VARINT_MAX);

    if (to != NULL) {
        buf->len += (size_t)(writ_protobuf_place(to, field, wire, value) - to);
    }
}

void
writ_protobuf_put(struct writ_buf *buf, unsigned field, uint64_t value)
{
    put_head(buf, field, WRIT_PROTOBUF_VARINT, value);
}

void
writ_protobuf_put_word(struct writ_buf *buf, uint64_t word)
{
    char *to = writ_buf_reserve(buf, WORD);

    if (to != NULL) {
        place_word(to, word);
        buf->len += WORD;
    }
}

void
writ_protobuf_put_fixed64(struct writ_buf *buf, unsigned field, uint64_t value)
{
    char *to = writ_buf_reserve(buf, 1 + WORD);

    if (to != NULL) {
        *to = (char)(field << 3 | WRIT_PROTOBUF_FIXED64);
        place_word(to + 1, value);
        buf->len += 1 + WORD;
    }
}

uint64_t
writ_protobuf_double_bits(double value)
{
    union {
        double number;
        uint64_t bits;
    } both = {.number = value};

    return both.bits;
}

void
writ_protobuf_put_double(struct writ_buf *buf, unsigned field, double value)
{
    writ_protobuf_put_fixed64(buf, field, writ_protobuf_double_bits(value));
}

void
writ_protobuf_put_bytes(struct writ_buf *buf, unsigned field, struct writ_view bytes)
{
    size_t len = writ_protobuf_bytes_len(bytes.len);
    char *to = writ_buf_reserve(buf, len);

    if (to != NULL) {
        to = writ_protobuf_place(to, field, WRIT_PROTOBUF_BYTES, bytes.len);
        (void)writ_view_place(bytes, to);
        buf->len += len;
    }
}

size_t
writ_protobuf_begin(struct writ_buf *buf, unsigned field)
{
    char *to = writ_buf_reserve(buf, 1 + LENGTH);

    if (to != NULL) {
        *to = (char)(field << 3 | WRIT_PROTOBUF_BYTES);
        buf->len += 1 + LENGTH;
    }
    return buf->len;
}

/* All bytes of the length but the last one say that another follows, also when the rest is zero:
 * a reader takes it (protobuf's own writers do not make it). */
void
writ_protobuf_end(struct writ_buf *buf, size_t at)
{
    size_t len = buf->len - at;

    if (buf->failed != WRIT_E_UNSET) {
        return;
    }
    WRIT_INVARIANT(at >= LENGTH && len < (size_t)1 << 7 * LENGTH);
    for (size_t i = 0; i < LENGTH; i++) {
        buf->ptr[at - LENGTH + i] = (char)((len >> 7 * i & 0x7f) | (i + 1 < LENGTH ? 0x80 : 0));
    }
}

/* ---- reading */

static WRIT_RESULT
read_varint(struct writ_view *rest, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < VARINT_MAX && i < rest->len; i++) {
        uint64_t byte = (unsigned char)rest->ptr[i];

        if (i == VARINT_MAX - 1 && byte > 1) {
            break; /* beyond 64 bits */
        }
        value |= (byte & 0x7f) << 7 * i;
        if (byte < 0x80) {
            *rest = writ_view_sub(*rest, i + 1, SIZE_MAX);
            *ret = value;
            return WRIT_DONE;
        }
    }
    return (writ_result){WRIT_E_PARSE};
}

static WRIT_RESULT
read_bytes(struct writ_view *rest, uint64_t len, struct writ_view *ret)
{
    if (len > rest->len) {
        return (writ_result){WRIT_E_PARSE};
    }
    *ret = writ_view_sub(*rest, 0, (size_t)len);
    *rest = writ_view_sub(*rest, (size_t)len, SIZE_MAX);
    return WRIT_DONE;
}

static WRIT_RESULT
read_fixed(struct writ_view *rest, size_t n, uint64_t *ret)
{
    struct writ_view bytes = {NULL, 0};
    uint64_t value = 0;

    WRIT_TRY(read_bytes(rest, n, &bytes));
    for (size_t i = n; i-- > 0;) {
        value = value << 8 | (unsigned char)bytes.ptr[i];
    }
    *ret = value;
    return WRIT_DONE;
}

static WRIT_RESULT
read_value(struct writ_view *rest, struct writ_protobuf_field *field)
{
    uint64_t len = 0;

    switch (field->wire) {
    case WRIT_PROTOBUF_VARINT:
        return read_varint(rest, &field->value);
    case WRIT_PROTOBUF_FIXED64:
        return read_fixed(rest, WORD, &field->value);
    case WRIT_PROTOBUF_FIXED32:
        return read_fixed(rest, HALF, &field->value);
    case WRIT_PROTOBUF_BYTES:
        WRIT_TRY(read_varint(rest, &len));
        return read_bytes(rest, len, &field->bytes);
    }
    return (writ_result){WRIT_E_PARSE};
}

WRIT_RESULT
writ_protobuf_read(struct writ_view *rest, struct writ_protobuf_field *ret)
{
    struct writ_protobuf_field field = {.number = 0};
    struct writ_view after = *rest;
    uint64_t head = 0;

    WRIT_TRY(read_varint(&after, &head));
    field.number = head >> 3;
    field.wire = (enum writ_protobuf_wire)(head & 7);
    if (field.number == 0) {
        return (writ_result){WRIT_E_PARSE};
    }
    WRIT_TRY(read_value(&after, &field));
    *rest = after;
    *ret = field;
    return WRIT_DONE;
}
