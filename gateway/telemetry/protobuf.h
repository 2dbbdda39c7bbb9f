/* protobuf.h - fields of Protocol Buffers (protobuf.dev/programming-guides/encoding), written one
 * behind the other into a buffer, and read.
 *
 * Only what OTLP needs: numbers of fields up to 15, no groups. A failure of the buffer stays in it;
 * check it once, at the end. Pure. */
#ifndef WRIT_GATEWAY_PROTOBUF_H
#define WRIT_GATEWAY_PROTOBUF_H

#include "base/bytes.h"

/** How the value of a field is written. */
enum writ_protobuf_wire {
    WRIT_PROTOBUF_VARINT = 0,
    WRIT_PROTOBUF_FIXED64 = 1,
    WRIT_PROTOBUF_BYTES = 2, /* a text, a message, or packed numbers */
    WRIT_PROTOBUF_FIXED32 = 5,
};

/** A number as a varint: uint64, int64, bool or an enum. */
void writ_protobuf_put(struct writ_buf *buf, unsigned field, uint64_t value);
void writ_protobuf_put_fixed64(struct writ_buf *buf, unsigned field, uint64_t value);
void writ_protobuf_put_double(struct writ_buf *buf, unsigned field, double value);
/** A text (UTF-8), bytes, or a message that is written already. */
void writ_protobuf_put_bytes(struct writ_buf *buf, unsigned field, struct writ_view bytes);

/** Eight bytes of a packed list of fixed64 or double, without a field. */
void writ_protobuf_put_word(struct writ_buf *buf, uint64_t word);
/** The bits of a double. */
uint64_t writ_protobuf_double_bits(double value);

/** Begins a message or a packed list as a field, and gives its place for writ_protobuf_end. Its
 * length takes four bytes whatever it is, so that nothing moves at its end. It has less than 2^28
 * bytes: the maximum of the buffer is below that. */
size_t writ_protobuf_begin(struct writ_buf *buf, unsigned field);
void writ_protobuf_end(struct writ_buf *buf, size_t at);

/* For a message that is written in one piece: how long its parts will be. */

/** The bytes of a varint. */
static inline size_t
writ_protobuf_varint_len(uint64_t value)
{
    size_t n = 1;

    while (value >= 0x80) {
        value >>= 7;
        n++;
    }
    return n;
}

/** The bytes of a field of `len` bytes. */
static inline size_t
writ_protobuf_bytes_len(size_t len)
{
    return 1 + writ_protobuf_varint_len(len) + len;
}

/** Writes a field and its length or number at `to`, which has room; gives the place behind it. */
static inline char *
writ_protobuf_place(char *to, unsigned field, enum writ_protobuf_wire wire, uint64_t value)
{
    *to++ = (char)(field << 3 | wire);
    while (value >= 0x80) {
        *to++ = (char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (char)value;
    return to;
}

/** A field that was read. */
struct writ_protobuf_field {
    uint64_t number;
    enum writ_protobuf_wire wire;
    uint64_t value;         /* not of bytes */
    struct writ_view bytes; /* borrowed from the text */
};

/** Reads the field that `rest` begins with, and shortens `rest` by it. WRIT_E_PARSE: cut short, a
 * number of more than 64 bits, a group. */
WRIT_RESULT writ_protobuf_read(struct writ_view *rest, struct writ_protobuf_field *ret);

#endif
