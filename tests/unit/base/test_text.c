/* Text from outside. Integers, UTF-8, JSON strings, header values and files are accepted within
 * their limits only; text of unknown origin never leaves its log line. */
#include "base/utf8.h"
#include "support/unit.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(text_number_accepts_digits_within_its_range)
{
    static const struct {
        const char *text;
        uint64_t least, most;
        enum writ_code want;
    } cases[] = {
        {"0", 0, UINT64_MAX, WRIT_OK},
        {"18446744073709551615", 0, UINT64_MAX, WRIT_OK},
        {"18446744073709551616", 0, UINT64_MAX, WRIT_E_LIMIT},
        {"99999999999999999999999", 0, UINT64_MAX, WRIT_E_LIMIT},
        {"10", 10, 20, WRIT_OK},
        {"20", 10, 20, WRIT_OK},
        {"9", 10, 20, WRIT_E_LIMIT},
        {"21", 10, 20, WRIT_E_LIMIT},
        {"", 0, 9, WRIT_E_PARSE},
        {"01", 0, 9, WRIT_E_PARSE},
        {"00", 0, 9, WRIT_E_PARSE},
        {"+1", 0, 9, WRIT_E_PARSE},
        {"-1", 0, 9, WRIT_E_PARSE},
        {" 1", 0, 9, WRIT_E_PARSE},
        {"1 ", 0, 9, WRIT_E_PARSE},
        {"0x1", 0, 9, WRIT_E_PARSE},
        {"1.0", 0, 9, WRIT_E_PARSE},
        {"99999999999999999999999x", 0, 9, WRIT_E_PARSE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 7;
        writ_result r =
            writ_text_u64(writ_view_str(cases[i].text), cases[i].least, cases[i].most, &value);
        ck_assert_msg(r.code == cases[i].want, "%s: %s", cases[i].text, writ_code_name(r.code));
        if (writ_is_ok(r)) {
            ck_assert_uint_eq(value, strtoull(cases[i].text, NULL, 10));
        } else {
            ck_assert_uint_eq(value, 7);
        }
    }
}
END_TEST

START_TEST(utf8_accepts_exactly_rfc_3629)
{
    static const struct {
        const char *text;
        size_t bad; /* SIZE_MAX: well-formed */
    } cases[] = {
        {"", SIZE_MAX},
        {"plain text that is longer than eight bytes", SIZE_MAX},
        {"\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", SIZE_MAX},
        {"\xed\x9f\xbf\xee\x80\x80", SIZE_MAX},
        {"\x80", 0},
        {"ab\xbf", 2},
        {"12345678\xff", 8},
        {"\xc0\x80", 0},             /* overlong NUL */
        {"\xc1\xbf", 0},             /* overlong */
        {"\xe0\x9f\xbf", 0},         /* overlong */
        {"\xf0\x8f\xbf\xbf", 0},     /* overlong */
        {"\xed\xa0\x80", 0},         /* surrogate */
        {"\xed\xbf\xbf", 0},         /* surrogate */
        {"\xf4\x90\x80\x80", 0},     /* past U+10FFFF */
        {"\xf5\x80\x80\x80", 0},     /* past U+10FFFF */
        {"\xf8\x88\x80\x80\x80", 0}, /* five bytes */
        {"a\xc2", 1},                /* cut */
        {"a\xe2\x82", 1},            /* cut */
        {"a\xf0\x9f\x98", 1},        /* cut */
        {"\xe2\x82 ", 0},
        {"\xe2 \x82", 0},
        {"\xf0\x9f\x98 ", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t bad = SIZE_MAX;
        bool good = writ_utf8_is_valid(writ_view_str(cases[i].text), &bad);
        ck_assert_msg(good == (cases[i].bad == SIZE_MAX), "case %zu", i);
        ck_assert_msg(bad == cases[i].bad, "case %zu: offset %zu", i, bad);
        (void)writ_utf8_is_valid(writ_view_str(cases[i].text), NULL);
    }
    ck_assert(writ_utf8_is_valid(writ_view("\0", 1), NULL));
    ck_assert(writ_utf8_is_valid(writ_view(NULL, 0), NULL));
}
END_TEST

START_TEST(json_strings_have_the_minimal_escapes)
{
    writ_auto_buf buf = writ_buf_make(1000);

    writ_text_json(&buf,
        writ_view("\0\x01\b\t\n\v\f\r\x1f \"\\/\x7f\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80<", 24));
    ck_assert_view(writ_buf_view(&buf),
        "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\x7f\xc3\xa9\xe2\x80\xa8"
        "\xf0\x9f\x98\x80<\"");
    writ_buf_clear(&buf);
    writ_text_json(&buf, writ_view(NULL, 0));
    ck_assert_view(writ_buf_view(&buf), "\"\"");
}
END_TEST

START_TEST(log_safe_text_stays_on_its_line)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"plain", "\"plain\""},
        {"a\nb\x1b[31m", "\"a\\nb\\u001b[31m\""},
        {"\x7f", "\"\\u007f\""},
        {"\xc2\x85\xc2\x9b", "\"\\u0085\\u009b\""},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\""},
        {"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f", "\"\\u202e\\u2066\\u200f\""},
        {"\xd8\x9c\xef\xbb\xbf", "\"\\u061c\\ufeff\""},
        {"\xe2\x80\x8b\xef\xb8\x8f\xc2\xa0", "\"\\u200b\\ufe0f\\u00a0\""},
        {"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},
        {"\xff\xc3\x28", "\"?\?(\""},
        {"\xed\xa0\x80", "\"???\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(1000);
        writ_text_json_safe(&buf, writ_view_str(cases[i].text), 1000);
        ck_assert_view(writ_buf_view(&buf), cases[i].want);
    }
}
END_TEST

START_TEST(log_safe_text_is_cut_between_characters)
{
    static const struct {
        const char *text;
        size_t max;
        const char *want;
    } cases[] = {
        {"abc", 3, "\"abc\""},
        {"abc", 2, "\"ab\""},
        {"abc", 0, "\"\""},
        {"a\xe2\x82\xac", 4, "\"a\xe2\x82\xac\""},
        {"a\xe2\x82\xac", 3, "\"a\""},
        {"a\xe2\x82\xac", 2, "\"a\""},
        {"a\xe2\x82", 3, "\"a??\""},
        {"a\xe2\x82(", 3, "\"a??\""},
        {"\xf0\x9f\x98\x80", 3, "\"\""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(1000);
        writ_text_json_safe(&buf, writ_view_str(cases[i].text), cases[i].max);
        ck_assert_view(writ_buf_view(&buf), cases[i].want);
    }
}
END_TEST

/* A folder of the test's own, and a file in it. */
struct place {
    char folder[64], file[80];
};

static struct place
place_with(const char *content, size_t len)
{
    struct place place = {.folder = "/tmp/writ-text-XXXXXX"};
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(place.folder));
    (void)snprintf(place.file, sizeof place.file, "%s/file", place.folder);
    fd = open(place.file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, content, len), (ssize_t)len);
    ck_assert_int_eq(close(fd), 0);
    return place;
}

static void
remove_place(const struct place *place)
{
    ck_assert_int_eq(unlink(place->file), 0);
    ck_assert_int_eq(rmdir(place->folder), 0);
}

START_TEST(text_file_is_read_up_to_its_limit)
{
    struct place place = place_with("a\0b\n", 4);
    writ_auto_buf exact = writ_buf_make(5);
    writ_auto_buf small = writ_buf_make(4);
    struct writ_err err = {0};

    writ_buf_byte(&exact, '>');
    ck_assert_ok(writ_text_file(place.file, 4, &exact, &err));
    ck_assert(writ_view_equal(writ_buf_view(&exact), writ_view(">a\0b\n", 5)));

    writ_buf_byte(&small, '>');
    ck_assert_code(writ_text_file(place.file, 3, &small, &err), WRIT_E_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, place.file));
    ck_assert_view(writ_buf_view(&small), ">");
    ck_assert_code(writ_text_file(place.file, 4, &small, &err), WRIT_E_LIMIT);
    ck_assert_view(writ_buf_view(&small), ">");
    remove_place(&place);
}
END_TEST

START_TEST(text_file_longer_than_one_read_is_read_whole)
{
    enum { LONG = 100000 };
    char *content = malloc(LONG);
    writ_auto_buf buf = writ_buf_make(LONG);
    struct place place;

    ck_assert_ptr_nonnull(content);
    for (int i = 0; i < LONG; i++) {
        content[i] = (char)(i % 251);
    }
    place = place_with(content, LONG);
    ck_assert_ok(writ_text_file(place.file, LONG, &buf, NULL));
    ck_assert(writ_view_equal(writ_buf_view(&buf), writ_view(content, LONG)));
    remove_place(&place);
    free(content);
}
END_TEST

START_TEST(file_of_unknown_length_is_limited)
{
    writ_auto_buf buf = writ_buf_make(100000);

    ck_assert_ok(writ_text_file("/proc/self/stat", 100000, &buf, NULL));
    ck_assert_uint_gt(buf.len, 10);
    writ_buf_clear(&buf);
    ck_assert_code(writ_text_file("/proc/self/stat", 10, &buf, NULL), WRIT_E_LIMIT);
    ck_assert_uint_eq(buf.len, 0);
}
END_TEST

START_TEST(text_file_of_no_regular_file_is_refused)
{
    struct place place = place_with("", 0);
    writ_auto_buf buf = writ_buf_make(100);
    char pipe_path[80];

    (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe", place.folder);
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    ck_assert_code(writ_text_file(pipe_path, 100, &buf, NULL), WRIT_E_IO);
    ck_assert_code(writ_text_file(place.folder, 100, &buf, NULL), WRIT_E_IO);
    ck_assert_code(writ_text_file("/dev/null", 100, &buf, NULL), WRIT_E_IO);
    ck_assert_code(writ_text_file("/nonexistent/file", 100, &buf, NULL), WRIT_E_ABSENT);
    ck_assert_ok(writ_text_file(place.file, 100, &buf, NULL)); /* empty */
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_int_eq(unlink(pipe_path), 0);
    remove_place(&place);
}
END_TEST

START_TEST(text_file_with_a_failed_allocation_gives_no_part)
{
    struct place place = place_with("content", 7);
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        writ_auto_buf buf = writ_buf_make(100);
        writ_result r;
        writ_fault_arm(nth);
        r = writ_text_file(place.file, 100, &buf, NULL);
        reached = writ_fault_disarm();
        if (writ_is_ok(r)) {
            ck_assert_view(writ_buf_view(&buf), "content");
        } else {
            ck_assert_int_eq(r.code, WRIT_E_NOMEM);
            ck_assert_uint_eq(buf.len, 0);
        }
    }
    remove_place(&place);
}
END_TEST

/* The reference: escapes a text byte by byte, through writ_text_json of single bytes. */
static void
put_json_slowly(struct writ_buf *ret, const char *text, size_t len)
{
    writ_buf_byte(ret, '"');
    for (size_t i = 0; i < len; i++) {
        writ_auto_buf one = writ_buf_make(10);
        writ_text_json(&one, writ_view(&text[i], 1));
        writ_buf_put(ret, writ_view_sub(writ_buf_view(&one), 1, one.len - 2));
    }
    writ_buf_byte(ret, '"');
}

/* Strings are looked at in pieces of several bytes: every byte value at every place of such a
 * piece, beside the values that the arithmetic could mistake for it. */
START_TEST(text_json_finds_an_escape_at_every_offset)
{
    static const unsigned char beside[] = {'a', 0x20, 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xff};

    for (size_t b = 0; b < sizeof beside; b++) {
        for (unsigned value = 0; value < 256; value++) {
            for (size_t at = 0; at < 37; at++) {
                writ_auto_buf got = writ_buf_make(100), want = writ_buf_make(100);
                char text[37];

                for (size_t i = 0; i < sizeof text; i++) {
                    text[i] = (char)(i == at ? value : beside[b]);
                }
                writ_text_json(&got, writ_view(text, sizeof text));
                put_json_slowly(&want, text, sizeof text);
                ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
            }
        }
    }
}
END_TEST

START_TEST(text_json_finds_an_escape_in_every_length)
{
    char text[40];

    for (size_t len = 0; len <= sizeof text; len++) {
        for (size_t at = 0; at <= len; at++) { /* at == len: none */
            writ_auto_buf got = writ_buf_make(100), want = writ_buf_make(100);

            for (size_t i = 0; i < sizeof text; i++) {
                text[i] = i == at ? '"' : 'a'; /* also just behind the end */
            }
            writ_text_json(&got, writ_view(text, len));
            put_json_slowly(&want, text, len);
            ck_assert(writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
        }
    }
}
END_TEST

START_TEST(text_field_value_accepts_no_control_but_tab)
{
    char text[40];

    for (size_t len = 1; len <= sizeof text; len++) {
        for (size_t at = 0; at < len; at++) {
            for (unsigned value = 0; value < 256; value++) {
                bool good = (value >= 0x20 && value != 0x7f) || value == '\t';

                for (size_t i = 0; i < len; i++) {
                    text[i] = (char)(i == at ? value : 'a');
                }
                ck_assert(writ_text_is_field(writ_view(text, len)) == good);
            }
        }
    }
    ck_assert(writ_text_is_field(writ_view(NULL, 0)));
}
END_TEST

START_TEST(utf8_count_is_right_at_every_offset)
{
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    char text[200];

    for (size_t first = 0; first < 4; first++) {
        size_t len = 0;
        for (size_t n = 0; n < 40; n++) {
            ck_assert_uint_eq(writ_utf8_points(writ_view(text, len)), n);
            for (const char *c = characters[(first + n * n) % 4]; *c != '\0'; c++) {
                text[len++] = *c;
            }
        }
    }
    ck_assert_uint_eq(writ_utf8_points(writ_view(NULL, 0)), 0);
}
END_TEST

START_TEST(text_is_cut_between_characters)
{
    struct writ_view text = WRIT_LIT("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    static const size_t lengths[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};

    for (size_t most = 0; most < sizeof lengths / sizeof *lengths; most++) {
        ck_assert_uint_eq(writ_utf8_cut(text, most).len, lengths[most]);
    }
}
END_TEST

WRIT_UNIT_MAIN("text", text_number_accepts_digits_within_its_range, utf8_accepts_exactly_rfc_3629,
    json_strings_have_the_minimal_escapes, log_safe_text_stays_on_its_line,
    log_safe_text_is_cut_between_characters, text_file_is_read_up_to_its_limit,
    text_file_longer_than_one_read_is_read_whole, file_of_unknown_length_is_limited,
    text_file_of_no_regular_file_is_refused, text_file_with_a_failed_allocation_gives_no_part,
    text_json_finds_an_escape_at_every_offset, text_json_finds_an_escape_in_every_length,
    text_field_value_accepts_no_control_but_tab, utf8_count_is_right_at_every_offset,
    text_is_cut_between_characters)
