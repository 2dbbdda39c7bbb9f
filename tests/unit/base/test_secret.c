/* Secrets in files and environment variables. A file that others can read or write is refused, and
 * so is an empty or overlong secret. */
#include "base/secret.h"
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/writ-secret-XXXXXX";

/* A file with this text and mode. */
static const char *
file_of(const char *text, size_t len, mode_t mode)
{
    int fd;

    (void)snprintf(path, sizeof path, "/tmp/writ-secret-XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    ck_assert_int_eq(close(fd), 0);
    return path;
}

START_TEST(secret_of_a_file_drops_the_line_end)
{
    static const struct {
        const char *text, *secret;
    } rows[] = {{"s3cret", "s3cret"}, {"s3cret\n", "s3cret"}, {"a b\r\n\n", "a b"}, {" x", " x"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf secret = writ_buf_make(WRIT_SECRET_MAX);

        ck_assert_ok(
            writ_secret_file(file_of(rows[i].text, strlen(rows[i].text), 0600), &secret, NULL));
        ck_assert_view(writ_buf_view(&secret), rows[i].secret);
        (void)unlink(path);
    }
}
END_TEST

START_TEST(secret_of_a_shared_file_is_refused)
{
    static const struct {
        mode_t mode;
        enum writ_code code;
    } rows[] = {{0400, WRIT_OK}, {0600, WRIT_OK}, {0640, WRIT_OK}, {0440, WRIT_OK},
        {0604, WRIT_E_INVALID}, {0602, WRIT_E_INVALID}, {0601, WRIT_E_INVALID},
        {0620, WRIT_E_INVALID}, {0644, WRIT_E_INVALID}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf secret = writ_buf_make(WRIT_SECRET_MAX);
        struct writ_err err = {{0}, 0, 0};
        writ_result r = writ_secret_file(file_of("s3cret", 6, rows[i].mode), &secret, &err);

        ck_assert_msg(r.code == rows[i].code, "%o: %s", rows[i].mode, writ_code_name(r.code));
        ck_assert_uint_eq(secret.len, rows[i].code == WRIT_OK ? 6 : 0);
        ck_assert_ptr_null(strstr(err.text, "s3cret"));
        (void)unlink(path);
    }
}
END_TEST

START_TEST(secret_of_a_missing_or_empty_file_is_refused)
{
    writ_auto_buf secret = writ_buf_make(WRIT_SECRET_MAX);

    ck_assert_code(writ_secret_file("/nowhere/at-all", &secret, NULL), WRIT_E_ABSENT);
    ck_assert_code(writ_secret_file("/tmp", &secret, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_secret_file("/dev/null", &secret, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_secret_file(file_of("", 0, 0600), &secret, NULL), WRIT_E_INVALID);
    (void)unlink(path);
    ck_assert_code(writ_secret_file(file_of("\r\n", 2, 0600), &secret, NULL), WRIT_E_INVALID);
    (void)unlink(path);
    ck_assert_uint_eq(secret.len, 0);
}
END_TEST

START_TEST(secret_of_more_than_the_maximum_is_refused)
{
    static char text[WRIT_SECRET_MAX + 2];

    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = 'x';
    }
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf secret = writ_buf_make(2 * WRIT_SECRET_MAX);
        writ_result r =
            writ_secret_file(file_of(text, WRIT_SECRET_MAX + extra, 0600), &secret, NULL);

        ck_assert_int_eq(r.code, extra == 0 ? WRIT_OK : WRIT_E_LIMIT);
        ck_assert_uint_eq(secret.len, extra == 0 ? WRIT_SECRET_MAX : 0);
        (void)unlink(path);
    }
}
END_TEST

START_TEST(secret_of_a_variable_is_its_text)
{
    writ_auto_buf secret = writ_buf_make(WRIT_SECRET_MAX), small = writ_buf_make(3);

    ck_assert_int_eq(setenv("WRIT_TEST_SECRET", "k-1\n", 1), 0);
    ck_assert_ok(writ_secret_variable("WRIT_TEST_SECRET", &secret, NULL));
    ck_assert_view(writ_buf_view(&secret), "k-1");
    ck_assert_int_eq(setenv("WRIT_TEST_SECRET", "four", 1), 0);
    ck_assert_code(writ_secret_variable("WRIT_TEST_SECRET", &small, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(setenv("WRIT_TEST_SECRET", "", 1), 0);
    ck_assert_code(writ_secret_variable("WRIT_TEST_SECRET", &secret, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(unsetenv("WRIT_TEST_SECRET"), 0);
    ck_assert_code(writ_secret_variable("WRIT_TEST_SECRET", &secret, NULL), WRIT_E_ABSENT);
    ck_assert_view(writ_buf_view(&secret), "k-1");
}
END_TEST

WRIT_UNIT_MAIN("secret", secret_of_a_file_drops_the_line_end, secret_of_a_shared_file_is_refused,
    secret_of_a_missing_or_empty_file_is_refused, secret_of_more_than_the_maximum_is_refused,
    secret_of_a_variable_is_its_text)
