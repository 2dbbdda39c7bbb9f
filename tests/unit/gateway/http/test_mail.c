/* A mail as it is sent: a head of one line each, and a text that can neither end it nor add to the
 * head. */
#include "support/unit.h"

#include "gateway/http/mail.h"

#define MAIL_MAX       65536
#define LINE_MAX_BYTES 998 /* RFC 5322 2.1.1 */

static struct writ_mail
mail_of(const struct writ_view *to, size_t n, const char *text)
{
    return (struct writ_mail){.server = "smtp://127.0.0.1:1",
        .from = WRIT_LIT("writ@example.com"),
        .to = {to, n},
        .subject = WRIT_LIT("Writ: 1 stop was pulled"),
        .text = writ_view_str(text),
        .id = WRIT_LIT("writ-1"),
        .time_us = INT64_C(1764000000000000)};
}

START_TEST(mail_has_the_head_of_its_fields_and_a_body_in_base64)
{
    const struct writ_view to[] = {WRIT_LIT("a@example.com"), WRIT_LIT("b@example.com")};
    const struct writ_mail mail = mail_of(to, 2, "hello\r\n.\r\nBcc: x@example.com\r\n");
    writ_auto_buf text = writ_buf_make(MAIL_MAX);

    ck_assert_ok(writ_mail_put(&mail, &text, NULL));
    writ_buf_byte(&text, '\0');
    ck_assert_str_eq(text.ptr, "Date: Mon, 24 Nov 2025 16:00:00 +0000\r\n"
                               "From: writ@example.com\r\n"
                               "To: a@example.com,\r\n b@example.com\r\n"
                               "Subject: Writ: 1 stop was pulled\r\n"
                               "Message-ID: <writ-1@example.com>\r\n"
                               "Auto-Submitted: auto-generated\r\n"
                               "MIME-Version: 1.0\r\n"
                               "Content-Type: text/plain; charset=utf-8\r\n"
                               "Content-Transfer-Encoding: base64\r\n"
                               "\r\n"
                               "aGVsbG8NCi4NCkJjYzogeEBleGFtcGxlLmNvbQ0K\r\n");
}
END_TEST

START_TEST(mail_with_long_text_and_many_recipients_has_short_lines)
{
    struct writ_view to[64];
    char long_text[5000];
    writ_auto_buf text = writ_buf_make(MAIL_MAX);

    for (size_t i = 0; i < 64; i++) {
        to[i] = WRIT_LIT("somebody-with-a-long-name@department.example.com");
    }
    for (size_t i = 0; i < sizeof long_text; i++) {
        long_text[i] = 'x';
    }
    long_text[sizeof long_text - 1] = '\0';
    const struct writ_mail mail = mail_of(to, 64, long_text);
    ck_assert_ok(writ_mail_put(&mail, &text, NULL));
    for (struct writ_view rest = writ_buf_view(&text); rest.len > 0;) {
        size_t end = writ_view_find(rest, '\n');
        ck_assert_uint_lt(end, LINE_MAX_BYTES);
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
}
END_TEST

START_TEST(mail_send_reports_a_server_that_is_not_there)
{
    const struct writ_view to[] = {WRIT_LIT("a@example.com")};
    struct writ_mail mail = mail_of(to, 1, "x");
    struct writ_err err = {{0}, 0, 0};

    ck_assert_code(writ_mail_send(&mail, 5000, NULL, &err), WRIT_E_IO);
    ck_assert(writ_view_has_prefix(writ_view_str(err.text), WRIT_LIT("smtp://127.0.0.1:1: ")));
    mail.server = "not a url";
    ck_assert_code(writ_mail_send(&mail, 5000, NULL, &err), WRIT_E_INVALID);
    mail.server = "file:///etc/passwd";
    ck_assert(!writ_is_ok(writ_mail_send(&mail, 5000, NULL, &err)));
}
END_TEST

WRIT_UNIT_MAIN("mail", mail_has_the_head_of_its_fields_and_a_body_in_base64,
    mail_with_long_text_and_many_recipients_has_short_lines,
    mail_send_reports_a_server_that_is_not_there)
