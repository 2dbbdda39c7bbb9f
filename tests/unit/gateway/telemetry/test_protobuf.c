/* Fields as protobuf.dev defines their bytes, on both sides of every length; and what is read back.
 */
#include "support/unit.h"

#include "gateway/telemetry/protobuf.h"

#define BODY_MAX 1024

static void
check_hex(const struct writ_buf *got, const char *want)
{
    writ_auto_buf hex = writ_buf_make(2 * BODY_MAX);

    ck_assert_ok(writ_buf_check(got, NULL));
    writ_hex_put(&hex, got->ptr, got->len);
    ck_assert_view(writ_buf_view(&hex), want);
}

START_TEST(put_writes_a_varint_of_each_length)
{
    static const struct {
        uint64_t value;
        const char *hex;
    } rows[] = {{0, "0800"}, {127, "087f"}, {128, "088001"}, {300, "08ac02"}, {16383, "08ff7f"},
        {16384, "08808001"}, {UINT64_MAX, "08ffffffffffffffffff01"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writ_protobuf_field field;
        struct writ_view rest;
        writ_auto_buf buf = writ_buf_make(BODY_MAX);

        writ_protobuf_put(&buf, 1, rows[i].value);
        check_hex(&buf, rows[i].hex);
        ck_assert_uint_eq(writ_protobuf_varint_len(rows[i].value), buf.len - 1);
        rest = writ_buf_view(&buf);
        ck_assert_ok(writ_protobuf_read(&rest, &field));
        ck_assert_uint_eq(rest.len, 0);
        ck_assert_uint_eq(field.number, 1);
        ck_assert_uint_eq(field.wire, WRIT_PROTOBUF_VARINT);
        ck_assert(field.value == rows[i].value);
    }
}
END_TEST

START_TEST(put_writes_fields_of_eight_bytes_texts_and_messages)
{
    writ_auto_buf buf = writ_buf_make(BODY_MAX);
    size_t at;

    writ_protobuf_put_fixed64(&buf, 15, 258);
    writ_protobuf_put_double(&buf, 2, 0.5);
    writ_protobuf_put_bytes(&buf, 3, WRIT_LIT("ab"));
    at = writ_protobuf_begin(&buf, 4);
    writ_protobuf_put_word(&buf, 1);
    writ_protobuf_end(&buf, at);
    at = writ_protobuf_begin(&buf, 5);
    writ_protobuf_end(&buf, at);
    check_hex(&buf, "790201000000000000"
                    "11000000000000e03f"
                    "1a026162"
                    "2288808000"
                    "0100000000000000"
                    "2a80808000");
}
END_TEST

START_TEST(read_gives_the_fields_in_their_order)
{
    struct writ_view rest = WRIT_LIT("\x08\x05\x12\x83\x80\x80\x00"
                                     "abc"
                                     "\x1d\x01\x00\x00\x00\x21\x02\x00\x00\x00\x00\x00\x00\x80");
    struct writ_protobuf_field field;

    ck_assert_ok(writ_protobuf_read(&rest, &field));
    ck_assert_uint_eq(field.value, 5);
    ck_assert_ok(writ_protobuf_read(&rest, &field));
    ck_assert_uint_eq(field.number, 2);
    ck_assert_view(field.bytes, "abc");
    ck_assert_ok(writ_protobuf_read(&rest, &field));
    ck_assert_uint_eq(field.wire, WRIT_PROTOBUF_FIXED32);
    ck_assert_uint_eq(field.value, 1);
    ck_assert_ok(writ_protobuf_read(&rest, &field));
    ck_assert_uint_eq(field.wire, WRIT_PROTOBUF_FIXED64);
    ck_assert(field.value == UINT64_C(0x8000000000000002));
    ck_assert_uint_eq(rest.len, 0);
}
END_TEST

START_TEST(read_of_a_malformed_field_fails_and_keeps_its_place)
{
    static const struct writ_view bad[] = {
        WRIT_LIT(""),
        WRIT_LIT("\x08"),     /* cut short */
        WRIT_LIT("\x08\x80"), /* within a number */
        WRIT_LIT("\x0a\x02"
                 "a"),                                                /* within a text */
        WRIT_LIT("\x09\x01\x02\x03\x04\x05\x06\x07"),                 /* within eight bytes */
        WRIT_LIT("\x0d\x01\x02\x03"),                                 /* within four */
        WRIT_LIT("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),     /* 65 bits */
        WRIT_LIT("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), /* eleven bytes */
        WRIT_LIT("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),     /* a length without end */
        WRIT_LIT("\x0b"),                                             /* a group */
        WRIT_LIT("\x0e"),                                             /* a kind that is none */
        WRIT_LIT("\x02\x00"),                                         /* the number 0 */
        WRIT_LIT("{}"),
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct writ_protobuf_field field = {.number = 77};
        struct writ_view rest = bad[i];

        ck_assert_code(writ_protobuf_read(&rest, &field), WRIT_E_PARSE);
        ck_assert_uint_eq(field.number, 77);
        ck_assert_uint_eq(rest.len, bad[i].len);
    }
}
END_TEST

START_TEST(message_that_does_not_fit_fails_the_buffer)
{
    for (size_t max = 0; max < 14; max++) {
        writ_auto_buf buf = writ_buf_make(max);
        size_t at = writ_protobuf_begin(&buf, 1);

        writ_protobuf_put_fixed64(&buf, 1, 1);
        writ_protobuf_end(&buf, at);
        ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
    }
}
END_TEST

WRIT_UNIT_MAIN("protobuf", put_writes_a_varint_of_each_length,
    put_writes_fields_of_eight_bytes_texts_and_messages, read_gives_the_fields_in_their_order,
    read_of_a_malformed_field_fails_and_keeps_its_place, message_that_does_not_fit_fails_the_buffer)
