/* Views, buffers, hexadecimal and base64. A view never leaves its bytes, a buffer takes its
 * maximum and not a byte more and remembers its first failure, and each encoding has one text. */
#include "support/unit.h"

#include "base/bytes.h"

#include <string.h>

START_TEST(views_compare_by_bytes_and_length)
{
    ck_assert(writ_view_equal(WRIT_LIT(""), writ_view(NULL, 0)));
    ck_assert(writ_view_equal(WRIT_LIT("ab"), WRIT_LIT("ab")));
    ck_assert(!writ_view_equal(WRIT_LIT("ab"), WRIT_LIT("aB")));
    ck_assert(!writ_view_equal(WRIT_LIT("ab"), WRIT_LIT("abc")));
    ck_assert(!writ_view_equal(writ_view("a\0b", 3), writ_view("a\0c", 3)));
    ck_assert(writ_view_is(WRIT_LIT("tools/call"), "tools/call"));
    ck_assert(!writ_view_is(writ_view("a\0", 2), "a"));
    ck_assert_uint_eq(writ_view_str(NULL).len, 0);

    ck_assert_int_lt(writ_view_compare(WRIT_LIT("a"), WRIT_LIT("b")), 0);
    ck_assert_int_lt(writ_view_compare(WRIT_LIT("a"), WRIT_LIT("aa")), 0);
    ck_assert_int_gt(writ_view_compare(WRIT_LIT("\xff"), WRIT_LIT("a")), 0);
    ck_assert_int_eq(writ_view_compare(WRIT_LIT("a"), WRIT_LIT("a")), 0);
    ck_assert_int_eq(writ_view_compare(writ_view(NULL, 0), WRIT_LIT("")), 0);
}
END_TEST

START_TEST(view_equal_nocase_folds_ascii_only)
{
    ck_assert(writ_view_equal_nocase(WRIT_LIT("Content-Length"), WRIT_LIT("CONTENT-length")));
    ck_assert(!writ_view_equal_nocase(WRIT_LIT("["), WRIT_LIT("{")));
    ck_assert(!writ_view_equal_nocase(WRIT_LIT("\xc4"), WRIT_LIT("\xe4")));
    ck_assert(!writ_view_equal_nocase(WRIT_LIT("a"), WRIT_LIT("ab")));
}
END_TEST

START_TEST(secrets_compare_by_all_their_bytes)
{
    ck_assert(writ_view_equal_secret(WRIT_LIT("token"), WRIT_LIT("token")));
    ck_assert(!writ_view_equal_secret(WRIT_LIT("token"), WRIT_LIT("tokeN")));
    ck_assert(!writ_view_equal_secret(WRIT_LIT("token"), WRIT_LIT("toke")));
    ck_assert(writ_view_equal_secret(WRIT_LIT(""), writ_view(NULL, 0)));
}
END_TEST

START_TEST(view_parts_stay_within_the_view)
{
    struct writ_view text = WRIT_LIT("abcdef");

    ck_assert_view(writ_view_sub(text, 2, 3), "cde");
    ck_assert_view(writ_view_sub(text, 2, 99), "cdef");
    ck_assert_view(writ_view_sub(text, 99, 99), "");
    ck_assert_view(writ_view_sub(text, 6, 1), "");
    ck_assert_view(writ_view_sub(text, 1, SIZE_MAX), "bcdef");
    ck_assert_view(writ_view_sub(writ_view(NULL, 0), 1, 1), "");
    ck_assert(writ_view_has_prefix(text, WRIT_LIT("abc")));
    ck_assert(writ_view_has_prefix(text, WRIT_LIT("")));
    ck_assert(!writ_view_has_prefix(text, WRIT_LIT("abcdefg")));
    ck_assert(writ_view_has_suffix(text, WRIT_LIT("def")));
    ck_assert(!writ_view_has_suffix(text, WRIT_LIT("de")));
    ck_assert(!writ_view_has_suffix(text, WRIT_LIT("0abcdef")));
}
END_TEST

START_TEST(view_find_without_a_match_gives_the_length)
{
    struct writ_view text = writ_view("ab\0ab", 5);

    ck_assert_uint_eq(writ_view_find(text, 'b'), 1);
    ck_assert_uint_eq(writ_view_find(text, '\0'), 2);
    ck_assert_uint_eq(writ_view_find(text, 'x'), 5);
    ck_assert_uint_eq(writ_view_find(writ_view(NULL, 0), 'x'), 0);
    ck_assert_uint_eq(writ_view_search(text, writ_view("\0a", 2)), 2);
    ck_assert_uint_eq(writ_view_search(text, WRIT_LIT("ba")), 5);
    ck_assert_uint_eq(writ_view_search(text, WRIT_LIT("")), 0);
    ck_assert_uint_eq(writ_view_search(WRIT_LIT("a"), WRIT_LIT("ab")), 1);
}
END_TEST

START_TEST(line_end_is_the_first_of_both_kinds)
{
    static const char ends[] = {'\n', '\r'};
    char text[48];

    for (size_t len = 0; len <= sizeof text; len++) {
        memset(text, '\x0b', sizeof text); /* between LF and CR */
        ck_assert_uint_eq(writ_view_find_line_end(writ_view(text, len)), len);
        for (size_t at = 0; at < len; at++) {
            text[at] = ends[at % 2];
            if (at + 1 < len) {
                text[len - 1] = ends[len % 2];
            }
            ck_assert_uint_eq(writ_view_find_line_end(writ_view(text, len)), at);
            memset(text, '\x0b', sizeof text);
        }
    }
    ck_assert_uint_eq(writ_view_find_line_end(writ_view(NULL, 0)), 0);
}
END_TEST

START_TEST(trimming_takes_spaces_and_tabs_only)
{
    ck_assert_view(writ_view_trim(WRIT_LIT(" \t a b\t ")), "a b");
    ck_assert_view(writ_view_trim(WRIT_LIT(" \t ")), "");
    ck_assert_view(writ_view_trim(WRIT_LIT("\va\r\n")), "\va\r\n");
}
END_TEST

START_TEST(view_copy_is_in_the_arena_and_ends_with_nul)
{
    struct writ_arena *arena = writ_arena_new(64);
    struct writ_view copy = writ_view_copy(writ_view("a\0b", 3), arena);

    ck_assert_uint_eq(copy.len, 3);
    ck_assert_mem_eq(copy.ptr, "a\0b", 4);
    copy = writ_view_copy(writ_view(NULL, 0), arena);
    ck_assert_ptr_nonnull(copy.ptr);
    ck_assert_str_eq(copy.ptr, "");
    copy = writ_view_copy(WRIT_LIT("0123456789012345678901234567890123456789"), arena);
    ck_assert_ptr_null(copy.ptr);
    ck_assert_uint_eq(copy.len, 0);
    writ_arena_free(arena);
}
END_TEST

START_TEST(buf_put_beyond_the_maximum_fails)
{
    writ_auto_buf buf = writ_buf_make(3);
    struct writ_err err = {0};

    writ_buf_str(&buf, "abc");
    ck_assert_ok(writ_buf_check(&buf, NULL));
    writ_buf_byte(&buf, 'd');
    ck_assert_code(writ_buf_check(&buf, &err), WRIT_E_LIMIT);
    ck_assert_str_eq(err.text, "more than 3 bytes");
    ck_assert_view(writ_buf_view(&buf), "abc");
}
END_TEST

START_TEST(buf_after_a_failure_fails_until_cleared)
{
    writ_auto_buf buf = writ_buf_make(4);

    writ_buf_str(&buf, "abcde");
    writ_buf_str(&buf, "x"); /* would fit, but a piece is lost already */
    writ_buf_fmt(&buf, "%d", 1);
    writ_buf_u64(&buf, 1);
    writ_hex_put(&buf, "a", 1);
    writ_base64url_put(&buf, WRIT_LIT("a"));
    ck_assert_ptr_null(writ_buf_reserve(&buf, 0));
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);

    writ_buf_clear(&buf);
    writ_buf_str(&buf, "abcd");
    ck_assert_ok(writ_buf_check(&buf, NULL));
}
END_TEST

START_TEST(buf_zeroed_refuses_bytes)
{
    struct writ_buf buf = {0};

    writ_buf_str(&buf, "");
    ck_assert_ok(writ_buf_check(&buf, NULL));
    writ_buf_byte(&buf, 'a');
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&buf);
    writ_buf_wipe_secret(&buf);
}
END_TEST

START_TEST(buf_after_a_failed_allocation_stays_failed)
{
    writ_auto_buf buf = writ_buf_make(1000);

    writ_fault_arm(1);
    writ_buf_str(&buf, "a");
    ck_assert(writ_fault_disarm());
    writ_buf_str(&buf, "b");
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_NOMEM);
    ck_assert_uint_eq(buf.len, 0);
}
END_TEST

START_TEST(buf_beyond_lent_memory_moves_to_the_heap)
{
    char room[8] = "";
    struct writ_buf lent = writ_buf_from(room, sizeof room, 20);

    writ_fault_arm(1);
    writ_buf_str(&lent, "12345678");
    ck_assert(!writ_fault_disarm());
    ck_assert_ptr_eq(lent.ptr, room);
    writ_fault_arm(1);
    writ_buf_byte(&lent, '9');
    ck_assert(writ_fault_disarm());
    ck_assert_code(writ_buf_check(&lent, NULL), WRIT_E_NOMEM);
    writ_buf_cut(&lent, 8);
    writ_buf_str(&lent, "9abcdefghijk");
    ck_assert_view(writ_buf_view(&lent), "123456789abcdefghijk");
    ck_assert_ptr_ne(lent.ptr, room);
    ck_assert_view(writ_view(room, sizeof room), "12345678");
    writ_buf_byte(&lent, 'l');
    ck_assert_code(writ_buf_check(&lent, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&lent);
    ck_assert_ptr_null(lent.ptr);

    lent = writ_buf_from(room, sizeof room, 4); /* the maximum is the smaller one */
    writ_buf_str(&lent, "12345");
    ck_assert_code(writ_buf_check(&lent, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&lent); /* frees no memory */
}
END_TEST

START_TEST(given_content_lives_in_the_arena)
{
    struct writ_arena *arena = writ_arena_new(1000);
    char room[8];
    struct writ_buf heap = writ_buf_make(2000), lent = writ_buf_over(room, sizeof room);
    const char *was;
    struct writ_view given;

    writ_buf_str(&heap, "on the heap");
    was = heap.ptr;
    given = writ_buf_give(&heap, arena);
    ck_assert_view(given, "on the heap");
    ck_assert_ptr_eq(given.ptr, was);
    ck_assert_ptr_null(heap.ptr);
    writ_buf_str(&lent, "lent");
    given = writ_buf_give(&lent, arena);
    ck_assert_view(given, "lent");
    ck_assert_ptr_ne(given.ptr, room);
    writ_buf_cut(&heap, 0);
    ck_assert_ptr_nonnull(writ_buf_reserve(&heap, 1500));
    heap.len = 1500;
    ck_assert_ptr_null(writ_buf_give(&heap, arena).ptr); /* more than the arena holds */
    ck_assert_uint_eq(heap.len, 0);
    writ_arena_free(arena);
}
END_TEST

struct collector {
    struct writ_drain drain;
    struct writ_buf all;
};

static void
collect(struct writ_drain *drain, struct writ_view bytes)
{
    writ_buf_put(&((struct collector *)drain)->all, bytes);
}

START_TEST(drained_buffer_passes_all_bytes_in_order)
{
    char room[8];
    struct collector collector = {{collect}, writ_buf_make(1000)};
    struct writ_buf buf = writ_buf_drained(room, sizeof room, 30, &collector.drain);

    writ_buf_str(&buf, "1234567");
    ck_assert_uint_eq(collector.all.len, 0);
    writ_buf_str(&buf, "890");
    writ_buf_str(&buf, "abcdefghijkl"); /* longer than the room */
    ck_assert_view(writ_buf_view(&collector.all), "1234567890abcdefghijkl");
    ck_assert_ptr_nonnull(writ_buf_reserve(&buf, 8));
    writ_buf_u64(&buf, 12345678);
    ck_assert_ok(writ_buf_check(&buf, NULL));
    writ_buf_flush(&buf);
    ck_assert_view(writ_buf_view(&collector.all), "1234567890abcdefghijkl12345678");
    writ_buf_byte(&buf, 'x'); /* beyond the maximum of all */
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);

    buf = writ_buf_drained(room, sizeof room, 30, &collector.drain);
    ck_assert_ptr_null(writ_buf_reserve(&buf, 9)); /* more than the room */
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
    buf = writ_buf_drained(room, sizeof room, 30, &collector.drain);
    writ_buf_put(&buf, writ_view(collector.all.ptr, 30));
    ck_assert_ok(writ_buf_check(&buf, NULL));
    writ_buf_byte(&buf, 'x');
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&collector.all);
}
END_TEST

START_TEST(borrowed_memory_never_grows)
{
    char memory[4];
    struct writ_buf buf = writ_buf_over(memory, sizeof memory);

    writ_fault_arm(1);
    writ_buf_str(&buf, "abcd");
    ck_assert_ptr_eq(buf.ptr, memory);
    ck_assert_ok(writ_buf_check(&buf, NULL));
    writ_buf_byte(&buf, 'e');
    ck_assert(!writ_fault_disarm());
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
}
END_TEST

/* Sometimes with a neighbour, so that the buffer also has to move. */
START_TEST(buf_in_an_arena_grows)
{
    struct writ_arena *arena = writ_arena_new(100000);
    struct writ_buf buf = writ_buf_in(arena, 10000);
    void *neighbour = NULL;

    for (int i = 0; i < 10000; i++) {
        writ_buf_byte(&buf, (char)('a' + i % 26));
        if (i % 700 == 0) {
            neighbour = writ_arena_get(arena, 1);
            ck_assert_ptr_nonnull(neighbour);
        }
    }
    ck_assert_ok(writ_buf_check(&buf, NULL));
    for (int i = 0; i < 10000; i++) {
        ck_assert_int_eq(buf.ptr[i], 'a' + i % 26);
    }
    writ_buf_byte(&buf, 'x');
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_LIMIT);
    writ_buf_wipe(&buf); /* frees no memory: it is the arena's */
    writ_buf_byte(&buf, 'y');
    ck_assert_view(writ_buf_view(&buf), "y");
    writ_arena_free(arena);
}
END_TEST

START_TEST(buf_in_a_full_arena_fails)
{
    struct writ_arena *arena = writ_arena_new(100);
    struct writ_buf buf = writ_buf_in(arena, 10000);

    writ_buf_put(&buf, WRIT_LIT("0123456789"));
    ck_assert_ptr_null(writ_buf_reserve(&buf, 200));
    ck_assert_code(writ_buf_check(&buf, NULL), WRIT_E_NOMEM);
    ck_assert_view(writ_buf_view(&buf), "0123456789");
    writ_arena_free(arena);
}
END_TEST

START_TEST(numbers_are_written_whole)
{
    writ_auto_buf buf = writ_buf_make(200);

    writ_buf_u64(&buf, 0);
    writ_buf_byte(&buf, ' ');
    writ_buf_u64(&buf, UINT64_MAX);
    writ_buf_byte(&buf, ' ');
    writ_buf_i64(&buf, INT64_MIN);
    writ_buf_byte(&buf, ' ');
    writ_buf_i64(&buf, 42);
    ck_assert_view(writ_buf_view(&buf), "0 18446744073709551615 -9223372036854775808 42");
}
END_TEST

START_TEST(formatted_text_of_any_length_is_appended_or_refused)
{
    enum { LONG = 700 }; /* longer than the local buffer */
    char text[LONG + 1];
    writ_auto_buf exact = writ_buf_make(LONG);
    writ_auto_buf tight = writ_buf_make(LONG - 1);

    memset(text, 'x', LONG);
    text[LONG] = '\0';
    writ_buf_fmt(&exact, "%s", text);
    ck_assert_ok(writ_buf_check(&exact, NULL));
    ck_assert_view(writ_buf_view(&exact), text);
    writ_buf_fmt(&tight, "%s", text);
    ck_assert_code(writ_buf_check(&tight, NULL), WRIT_E_LIMIT);
    ck_assert_uint_eq(tight.len, 0);

    writ_buf_clear(&exact);
    writ_fault_arm(1);
    writ_buf_fmt(&exact, "%s", text);
    ck_assert(writ_fault_disarm());
    ck_assert_code(writ_buf_check(&exact, NULL), WRIT_E_NOMEM);
}
END_TEST

START_TEST(consuming_drops_from_the_front)
{
    writ_auto_buf buf = writ_buf_make(10);

    writ_buf_str(&buf, "abcdef");
    writ_buf_consume(&buf, 0);
    writ_buf_consume(&buf, 2);
    ck_assert_view(writ_buf_view(&buf), "cdef");
    writ_buf_consume(&buf, 99);
    ck_assert_uint_eq(buf.len, 0);
}
END_TEST

START_TEST(buf_growth_keeps_its_content)
{
    writ_auto_buf buf = writ_buf_make(10000);

    for (int i = 0; i < 10000; i++) {
        writ_buf_byte(&buf, (char)('a' + i % 26));
    }
    ck_assert_ok(writ_buf_check(&buf, NULL));
    for (int i = 0; i < 10000; i++) {
        ck_assert_int_eq(buf.ptr[i], 'a' + i % 26);
    }
    ck_assert_uint_le(buf.cap, buf.max);
}
END_TEST

START_TEST(hex_is_lower_case_and_of_the_exact_length)
{
    static const char *const bad[] = {"", "00f", "00ff0", "00ff00", "00FF", "0x0f", "00fg", "00f "};
    unsigned char bytes[2] = {7, 7};
    writ_auto_buf buf = writ_buf_make(100);

    writ_hex_put(&buf, "\x00\xff\x1a", 3);
    ck_assert_view(writ_buf_view(&buf), "00ff1a");
    ck_assert_ok(writ_hex_read(WRIT_LIT("00ff"), bytes, 2));
    ck_assert_mem_eq(bytes, "\x00\xff", 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(writ_hex_read(writ_view_str(bad[i]), bytes, 2), WRIT_E_PARSE);
        ck_assert_mem_eq(bytes, "\x00\xff", 2);
    }
}
END_TEST

/* Four bytes are written at once: every value at every place, at lengths around that. */
START_TEST(hex_of_every_byte_reads_back)
{
    for (size_t len = 1; len <= 9; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned value = 0; value < 256; value++) {
                unsigned char bytes[9] = {0x5a, 0xa5, 0x09, 0x90, 0xf0, 0x0f, 0x9a, 0xa9, 0xff},
                              back[9];
                writ_auto_buf got = writ_buf_make(100), want = writ_buf_make(100);

                bytes[at] = (unsigned char)value;
                writ_hex_put(&got, bytes, len);
                for (size_t i = 0; i < len; i++) {
                    writ_buf_fmt(&want, "%02x", bytes[i]);
                }
                ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
                ck_assert_ok(writ_hex_read(writ_buf_view(&got), back, len));
                ck_assert_mem_eq(back, bytes, len);
            }
        }
    }
}
END_TEST

START_TEST(hex_of_any_other_byte_is_refused)
{
    for (unsigned value = 0; value < 256; value++) {
        bool digit = (value >= '0' && value <= '9') || (value >= 'a' && value <= 'f');
        char text[2] = {'0', (char)value};
        unsigned char byte;

        ck_assert(writ_is_ok(writ_hex_read(writ_view(text, 2), &byte, 1)) == digit);
        for (size_t len = 1; len <= 40; len++) {
            for (size_t at = 0; at < len; at++) {
                char line[40] = "0123456789abcdef0123456789abcdef01234567";
                line[at] = (char)value;
                ck_assert(writ_hex_is(writ_view(line, len)) == digit);
            }
        }
    }
    ck_assert(writ_hex_is(writ_view(NULL, 0)));
}
END_TEST

/* RFC 4648 10, and two with the digits that differ between the alphabets. */
static const struct {
    const char *bytes, *base64, *base64url;
} encodings[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"\xfb\xff\xbe", "+/++", "-_--"},
    {"\xff\xff\xff\xff", "/////w==", "_____w"},
};

START_TEST(base64_gives_the_examples_of_rfc_4648)
{
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        writ_auto_buf text = writ_buf_make(100);
        writ_auto_buf bytes = writ_buf_make(100);

        writ_base64_put(&text, writ_view_str(encodings[i].bytes));
        ck_assert_view(writ_buf_view(&text), encodings[i].base64);
        ck_assert_ok(writ_base64_read(writ_buf_view(&text), &bytes));
        ck_assert_view(writ_buf_view(&bytes), encodings[i].bytes);

        writ_buf_clear(&text);
        writ_buf_clear(&bytes);
        writ_base64url_put(&text, writ_view_str(encodings[i].bytes));
        ck_assert_view(writ_buf_view(&text), encodings[i].base64url);
        ck_assert_ok(writ_base64url_read(writ_buf_view(&text), &bytes));
        ck_assert_view(writ_buf_view(&bytes), encodings[i].bytes);
    }
}
END_TEST

/* Digits are written eight at a time, then four, then the rest. */
START_TEST(base64_of_any_length_has_its_digits)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (size_t len = 0; len < 64; len++) {
        for (size_t step = 1; step < 64; step++) {
            struct writ_view want;
            char digits[64];
            writ_auto_buf bytes = writ_buf_make(64);
            writ_auto_buf text = writ_buf_make(64);

            for (size_t i = 0; i < len; i++) {
                digits[i] = alphabet[(i * step + len) % 64];
            }
            want = writ_view(digits, len);
            if (!writ_is_ok(writ_base64url_read(want, &bytes))) {
                continue; /* bits that no byte uses */
            }
            writ_base64url_put(&text, writ_buf_view(&bytes));
            ck_assert(writ_view_equal(writ_buf_view(&text), want));
        }
    }
}
END_TEST

START_TEST(base64_of_a_second_spelling_is_refused)
{
    static const char *const bad[] = {"Zg==", "Zh", "Zm9", "Z", "A", "AAAAA", "Zm9vY", "Zm 8",
        "Zm8\n", "+/++", "Zm8=", "\xc3\xa9", "Zm.8"};
    static const char *const bad_padded[] = {"Zg", "Zg=", "Zh==", "Zm9=", "====", "=",
        "Zg===", "Z===", "Zm8=Zm8=", "-_--", "Zm9v\n", "Zm9v===="};
    writ_auto_buf ret = writ_buf_make(100);

    writ_buf_str(&ret, "kept");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(writ_base64url_read(writ_view_str(bad[i]), &ret), WRIT_E_PARSE);
        ck_assert_view(writ_buf_view(&ret), "kept");
    }
    for (size_t i = 0; i < sizeof bad_padded / sizeof bad_padded[0]; i++) {
        ck_assert_code(writ_base64_read(writ_view_str(bad_padded[i]), &ret), WRIT_E_PARSE);
        ck_assert_view(writ_buf_view(&ret), "kept");
    }
}
END_TEST

START_TEST(decoding_respects_the_maximum_of_the_buffer)
{
    writ_auto_buf fits = writ_buf_make(6);
    writ_auto_buf tight = writ_buf_make(5);

    ck_assert_ok(writ_base64url_read(WRIT_LIT("Zm9vYmFy"), &fits));
    ck_assert_code(writ_base64url_read(WRIT_LIT("Zm9vYmFy"), &tight), WRIT_E_LIMIT);
    ck_assert_uint_eq(tight.len, 0);
}
END_TEST

WRIT_UNIT_MAIN("bytes", views_compare_by_bytes_and_length, view_equal_nocase_folds_ascii_only,
    secrets_compare_by_all_their_bytes, view_parts_stay_within_the_view,
    view_find_without_a_match_gives_the_length, line_end_is_the_first_of_both_kinds,
    trimming_takes_spaces_and_tabs_only, view_copy_is_in_the_arena_and_ends_with_nul,
    buf_put_beyond_the_maximum_fails, buf_after_a_failure_fails_until_cleared,
    buf_zeroed_refuses_bytes, buf_after_a_failed_allocation_stays_failed,
    borrowed_memory_never_grows, buf_beyond_lent_memory_moves_to_the_heap, buf_in_an_arena_grows,
    buf_in_a_full_arena_fails, numbers_are_written_whole,
    formatted_text_of_any_length_is_appended_or_refused, consuming_drops_from_the_front,
    buf_growth_keeps_its_content, hex_is_lower_case_and_of_the_exact_length,
    hex_of_every_byte_reads_back, hex_of_any_other_byte_is_refused,
    base64_gives_the_examples_of_rfc_4648, base64_of_any_length_has_its_digits,
    base64_of_a_second_spelling_is_refused, decoding_respects_the_maximum_of_the_buffer,
    given_content_lives_in_the_arena, drained_buffer_passes_all_bytes_in_order)
