/* Result codes and error texts. Only WRIT_OK is success, an error is one line that says what
 * failed, and a broken invariant stops the process. */
#include "support/unit.h"

#include <string.h>

static writ_result
pass_on(writ_result r)
{
    WRIT_TRY(r);
    return WRIT_DONE;
}

static writ_result
refuse(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_INVALID, "option %s is %d", "retries", -1);
}

START_TEST(result_is_ok_for_ok_only)
{
    writ_result zeroed = {0};

    ck_assert(writ_is_ok(WRIT_DONE));
    ck_assert(!writ_is_ok(zeroed));
    ck_assert(!writ_is_ok((writ_result){WRIT_E_IO}));
    ck_assert_ok(pass_on(WRIT_DONE));
    ck_assert_code(pass_on((writ_result){WRIT_E_BUSY}), WRIT_E_BUSY);
    ck_assert_code(pass_on(zeroed), WRIT_E_UNSET);
}
END_TEST

START_TEST(err_holds_the_formatted_text)
{
    struct writ_err err = {.line = 3};

    ck_assert_code(refuse(&err), WRIT_E_INVALID);
    ck_assert_str_eq(err.text, "option retries is -1");
    ck_assert_uint_eq(err.line, 3);
    ck_assert_code(refuse(NULL), WRIT_E_INVALID);

    ck_assert_code(writ_fail_at(&err, WRIT_E_PARSE, 17, "no digit"), WRIT_E_PARSE);
    ck_assert_uint_eq(err.offset, 17);
    ck_assert_code(writ_fail_at(NULL, WRIT_E_PARSE, 17, "no digit"), WRIT_E_PARSE);
}
END_TEST

START_TEST(err_text_is_one_terminated_line)
{
    char text[2 * WRIT_ERR_TEXT];
    struct writ_err err;

    (void)writ_fail(&err, WRIT_E_IO, "a\nb\x1b\x7f");
    ck_assert_str_eq(err.text, "a?b??");
    /* NEL, right-to-left override, zero width space, a line separator, a tag, half a character */
    (void)writ_fail(&err, WRIT_E_IO,
        "M\xc3\xbcller \xc2\x85\xe2\x80\xae\xe2\x80\x8b\xe2\x80\xa8\xf3\xa0\x81\x81 \xe2\x80.");
    ck_assert_str_eq(err.text, "M\xc3\xbcller ????? ??.");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)writ_fail(&err, WRIT_E_IO, "%s", text);
    ck_assert_uint_eq(strlen(err.text), WRIT_ERR_TEXT - 1);
    (void)writ_fail(&err, WRIT_E_IO, "%.*s\xf0\x9f\x98\x80", WRIT_ERR_TEXT - 3, text);
    ck_assert_uint_eq(strlen(err.text), WRIT_ERR_TEXT - 3);
}
END_TEST

START_TEST(fail_in_twice_adds_the_place_once)
{
    char place[2 * WRIT_ERR_TEXT];
    struct writ_err err = {.text = "nothing", .line = 3, .offset = 7};

    ck_assert_ok(writ_fail_in(&err, WRIT_DONE, "a.json"));
    ck_assert_str_eq(err.text, "nothing");
    for (int i = 0; i < 2; i++) {
        ck_assert_code(writ_fail_in(&err, (writ_result){WRIT_E_PARSE}, "a.json"), WRIT_E_PARSE);
        ck_assert_str_eq(err.text, "a.json: nothing");
    }
    ck_assert_uint_eq(err.line, 3);
    ck_assert_uint_eq(err.offset, 7);
    ck_assert_code(writ_fail_in(NULL, (writ_result){WRIT_E_IO}, "a.json"), WRIT_E_IO);

    memset(place, 'x', sizeof place - 1);
    place[sizeof place - 1] = '\0';
    ck_assert_code(writ_fail_in(&err, (writ_result){WRIT_E_IO}, place), WRIT_E_IO);
    ck_assert_uint_eq(strlen(err.text), WRIT_ERR_TEXT - 1);
}
END_TEST

START_TEST(code_name_of_every_code_is_unique)
{
    for (int a = WRIT_E_UNSET; a <= WRIT_E_CRYPTO; a++) {
        ck_assert_str_ne(writ_code_name((enum writ_code)a), "unknown");
        for (int b = WRIT_E_UNSET; b < a; b++) {
            ck_assert_str_ne(writ_code_name((enum writ_code)a), writ_code_name((enum writ_code)b));
        }
    }
    ck_assert_str_eq(writ_code_name((enum writ_code)99), "unknown");
}
END_TEST

static void
check_invariant(void *arg)
{
    WRIT_INVARIANT(arg == NULL);
}

START_TEST(invariant_when_broken_stops_the_process)
{
    int here = 0;

    ck_assert(writ_unit_aborts(check_invariant, &here));
    ck_assert(!writ_unit_aborts(check_invariant, NULL));
}
END_TEST

WRIT_UNIT_MAIN("result", result_is_ok_for_ok_only, err_holds_the_formatted_text,
    err_text_is_one_terminated_line, fail_in_twice_adds_the_place_once,
    code_name_of_every_code_is_unique, invariant_when_broken_stops_the_process)
