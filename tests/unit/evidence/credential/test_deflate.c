/* Compressed status lists. A stream reads back whole or is refused, and no input makes the reader
 * take more memory than its bound. */
#include "support/unit.h"

#include "evidence/credential/deflate.h"

#include <string.h>

#define BITS "\xb9\xa3"

/* The bits b9 a3 as the example of draft-ietf-oauth-status-list has them. */
static const unsigned char example[] = {0x78, 0xda, 0xdb, 0xb9, 0x18, 0x00, 0x02, 0x17, 0x01, 0x5d};

static void
expect_refused(const void *packed, size_t len, const char *what)
{
    writ_auto_buf got = writ_buf_make(1000);

    ck_assert_msg(
        writ_deflate_read(writ_view(packed, len), &got, NULL).code == WRIT_E_PARSE, "%s", what);
}

START_TEST(read_appends_to_the_buffer)
{
    writ_auto_buf got = writ_buf_make(1000);

    writ_buf_str(&got, "before");
    ck_assert_ok(writ_deflate_read(writ_view(example, sizeof example), &got, NULL));
    ck_assert_view(writ_buf_view(&got), "before" BITS);
}
END_TEST

START_TEST(read_of_a_stream_cut_anywhere_is_refused)
{
    for (size_t len = 0; len < sizeof example; len++) {
        expect_refused(example, len, "cut");
    }
}
END_TEST

/* Some bits only fill the last byte of the deflated part. */
START_TEST(read_of_a_stream_with_a_changed_bit_is_refused_or_the_same)
{
    for (size_t bit = 0; bit < sizeof example * 8; bit++) {
        writ_auto_buf got = writ_buf_make(1000);
        unsigned char other[sizeof example];

        memcpy(other, example, sizeof other);
        other[bit / 8] = (unsigned char)(other[bit / 8] ^ 1U << bit % 8);
        ck_assert_msg(!writ_is_ok(writ_deflate_read(writ_view(other, sizeof other), &got, NULL)) ||
                          writ_view_is(writ_buf_view(&got), BITS),
            "bit %zu", bit);
    }
}
END_TEST

START_TEST(read_of_bytes_after_the_end_is_refused)
{
    unsigned char longer[2 * sizeof example] = {0};

    memcpy(longer, example, sizeof example);
    expect_refused(longer, sizeof example + 1, "a zero after the end");
    memcpy(longer + sizeof example, example, sizeof example);
    expect_refused(longer, sizeof longer, "a second stream");
}
END_TEST

/* One empty stored block, in every wrapping that zlib accepts. */
START_TEST(read_of_other_formats_is_refused)
{
    expect_refused("\x01\x00\x00\xff\xff", 5, "deflate without a header");
    expect_refused("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
                   "\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00",
        23, "gzip");
    expect_refused(
        "\x78\x20\x00\x00\x00\x01\x01\x00\x00\xff\xff\x00\x00\x00\x01", 15, "a preset dictionary");
}
END_TEST

START_TEST(read_of_the_longest_is_done_and_of_one_byte_more_is_a_limit)
{
    static char bytes[200000];
    writ_auto_buf packed = writ_buf_make(400000), got = writ_buf_make(sizeof bytes);
    writ_auto_buf small = writ_buf_make(sizeof bytes - 1);

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * i >> 3);
    }
    ck_assert_ok(writ_deflate_put(&packed, writ_view(bytes, sizeof bytes), NULL));
    ck_assert_ok(writ_deflate_read(writ_buf_view(&packed), &got, NULL));
    ck_assert(writ_view_equal(writ_buf_view(&got), writ_view(bytes, sizeof bytes)));
    ck_assert_code(writ_deflate_read(writ_buf_view(&packed), &small, NULL), WRIT_E_LIMIT);
    ck_assert_uint_lt(small.len, sizeof bytes);
}
END_TEST

/* A thousand bytes for one: the memory used is bounded by the buffer, not by the stream. */
START_TEST(read_of_a_bomb_takes_no_more_memory_than_its_bound)
{
    static const char zeros[16 << 20];
    writ_auto_buf packed = writ_buf_make(1 << 16), got = writ_buf_make(1 << 16);

    ck_assert_ok(writ_deflate_put(&packed, writ_view(zeros, sizeof zeros), NULL));
    ck_assert_code(writ_deflate_read(writ_buf_view(&packed), &got, NULL), WRIT_E_LIMIT);
    ck_assert_uint_le(got.cap, 1 << 16);
}
END_TEST

START_TEST(put_of_nothing_is_read_as_nothing)
{
    writ_auto_buf packed = writ_buf_make(100), got = writ_buf_make(1);

    ck_assert_ok(writ_deflate_put(&packed, writ_view(NULL, 0), NULL));
    ck_assert_ok(writ_deflate_read(writ_buf_view(&packed), &got, NULL));
    ck_assert_uint_eq(got.len, 0);
}
END_TEST

START_TEST(put_into_too_little_room_is_a_limit)
{
    writ_auto_buf small = writ_buf_make(9);

    ck_assert_code(writ_deflate_put(&small, writ_view(BITS, 2), NULL), WRIT_E_LIMIT);
}
END_TEST

WRIT_UNIT_MAIN("deflate", read_appends_to_the_buffer, read_of_a_stream_cut_anywhere_is_refused,
    read_of_a_stream_with_a_changed_bit_is_refused_or_the_same,
    read_of_bytes_after_the_end_is_refused, read_of_other_formats_is_refused,
    read_of_the_longest_is_done_and_of_one_byte_more_is_a_limit,
    read_of_a_bomb_takes_no_more_memory_than_its_bound, put_of_nothing_is_read_as_nothing,
    put_into_too_little_room_is_a_limit)
