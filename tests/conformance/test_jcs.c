/* RFC 8785 on vectors/jcs. Each input has the published canonical form, and each number the
 * published text. */
#include "support/unit.h"
#include "support/vectors.h"

#include "evidence/json/jcs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65536

static void
put_canonical(struct writ_view text, struct writ_buf *ret)
{
    struct writ_arena *arena = writ_arena_new((size_t)1 << 24);
    const struct writ_json *value;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, &err)),
        "%s", err.text);
    ck_assert_msg(writ_is_ok(writ_jcs_put(ret, value, &err)), "%s", err.text);
    writ_arena_free(arena);
}

/* The hexadecimal files have white space between the bytes. */
static void
assert_hex(const char *name, struct writ_view bytes)
{
    char path[256];
    writ_auto_buf digits = writ_buf_make(TEXT_MAX);
    writ_auto_buf want = writ_buf_make(TEXT_MAX);

    (void)snprintf(path, sizeof path, "jcs/outhex/%.*s.txt", (int)(strlen(name) - 5), name);
    writ_auto_buf hex = writ_vectors_read(path);
    for (size_t i = 0; i < hex.len; i++) {
        if (strchr(" \r\n", hex.ptr[i]) == NULL) {
            writ_buf_byte(&want, hex.ptr[i]);
        }
    }
    writ_hex_put(&digits, bytes.ptr, bytes.len);
    ck_assert_msg(writ_view_equal(writ_buf_view(&digits), writ_buf_view(&want)), "%s", name);
}

static void
check_input(const char *name, struct writ_view content, void *arg)
{
    char path[256];
    writ_auto_buf canonical = writ_buf_make(TEXT_MAX);
    writ_auto_buf again = writ_buf_make(TEXT_MAX);

    (void)arg;
    (void)snprintf(path, sizeof path, "jcs/output/%s", name);
    writ_auto_buf want = writ_vectors_read(path);
    put_canonical(content, &canonical);
    ck_assert_msg(writ_view_equal(writ_buf_view(&canonical), writ_buf_view(&want)),
        "%s: " WRIT_VIEW_FMT, name, WRIT_VIEW_ARG(writ_buf_view(&canonical)));
    assert_hex(name, writ_buf_view(&canonical));

    put_canonical(writ_buf_view(&canonical), &again);
    ck_assert_msg(writ_view_equal(writ_buf_view(&again), writ_buf_view(&want)), "%s again", name);
}

START_TEST(jcs_of_each_input_is_the_published_form)
{
    ck_assert_uint_eq(writ_vectors_each("jcs/input", ".json", check_input, NULL), 6);
}
END_TEST

/* One line: bits, comma, text. */
static void
check_number(struct writ_view line)
{
    size_t comma = writ_view_find(line, ',');
    struct writ_view want = writ_view_sub(line, comma + 1, line.len);
    uint64_t bits = strtoull(line.ptr, NULL, 16);
    char text[WRIT_JCS_NUMBER_TEXT];
    double number, again;

    memcpy(&number, &bits, sizeof number);
    struct writ_view got = writ_view(text, writ_jcs_number_text(number, text));
    ck_assert_msg(writ_view_equal(got, want), WRIT_VIEW_FMT " is not " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(got), WRIT_VIEW_ARG(want));
    ck_assert_ok(writ_number_read(want, &again));
    ck_assert_msg(again == number, WRIT_VIEW_FMT " reads as %a", WRIT_VIEW_ARG(want), again);
}

START_TEST(ten_thousand_numbers_have_the_published_text)
{
    writ_auto_buf file = writ_vectors_read("jcs/es6numbers-10000.txt");
    struct writ_view rest = writ_buf_view(&file);
    size_t lines = 0;

    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');
        check_number(writ_view_sub(rest, 0, end));
        rest = writ_view_sub(rest, end + 1, rest.len);
        lines++;
    }
    ck_assert_uint_eq(lines, 10000);
}
END_TEST

WRIT_UNIT_MAIN("conformance_jcs", jcs_of_each_input_is_the_published_form,
    ten_thousand_numbers_have_the_published_text)
