/* mail.c - one libcurl transfer for each mail. The text goes as base64, so that no line of it can
 * end the mail, become a header, or be too long (RFC 5321 4.5.3.1). */
#include "gateway/http/mail.h"

#include "base/text.h"
#include "gateway/http/transfer.h"

#include <time.h>

#define MAIL_MAX   (256U << 10) /* bytes of a whole mail */
#define LINE_BYTES 57           /* in one line of base64: 76 characters */
#define US_PER_S   1000000
#define DATE_MAX   64

/* The part of the mail that is not sent yet. */
struct upload {
    struct writ_view rest;
};

/* ---- the mail */

/* RFC 5322 3.3, in UTC; no locale can change it. */
static void
put_date(struct writ_buf *ret, int64_t time_us)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(time_us / US_PER_S);
    struct tm at = {0};

    if (gmtime_r(&seconds, &at) != NULL) {
        writ_buf_fmt(ret, "Date: %s, %02d %s %d %02d:%02d:%02d +0000\r\n", days[at.tm_wday],
            at.tm_mday, months[at.tm_mon], at.tm_year + 1900, at.tm_hour, at.tm_min, at.tm_sec);
    }
}

static void
put_to(struct writ_buf *ret, const struct writ_views *to)
{
    writ_buf_str(ret, "To: ");
    for (size_t i = 0; i < to->n; i++) {
        writ_buf_str(ret, i > 0 ? ",\r\n " : ""); /* folded: a line has at most 998 bytes */
        writ_buf_put(ret, to->items[i]);
    }
    writ_buf_str(ret, "\r\n");
}

WRIT_RESULT
writ_mail_put(const struct writ_mail *mail, struct writ_buf *ret, struct writ_err *err)
{
    size_t at = writ_view_find(mail->from, '@');

    put_date(ret, mail->time_us);
    writ_buf_fmt(ret, "From: " WRIT_VIEW_FMT "\r\n", WRIT_VIEW_ARG(mail->from));
    put_to(ret, &mail->to);
    writ_buf_fmt(ret, "Subject: " WRIT_VIEW_FMT "\r\n", WRIT_VIEW_ARG(mail->subject));
    writ_buf_fmt(ret, "Message-ID: <" WRIT_VIEW_FMT WRIT_VIEW_FMT ">\r\n", WRIT_VIEW_ARG(mail->id),
        WRIT_VIEW_ARG(writ_view_sub(mail->from, at, mail->from.len)));
    writ_buf_str(ret, "Auto-Submitted: auto-generated\r\n" /* RFC 3834: no answers from robots */
                      "MIME-Version: 1.0\r\n"
                      "Content-Type: text/plain; charset=utf-8\r\n"
                      "Content-Transfer-Encoding: base64\r\n"
                      "\r\n");
    for (size_t i = 0; i < mail->text.len; i += LINE_BYTES) {
        writ_base64_put(ret, writ_view_sub(mail->text, i, LINE_BYTES));
        writ_buf_str(ret, "\r\n");
    }
    return writ_buf_check(ret, err);
}

/* ---- sending */

static size_t
give(char *to, size_t size, size_t count, void *arg)
{
    struct upload *upload = arg;
    struct writ_view part = writ_view_sub(upload->rest, 0, size * count);

    (void)writ_view_place(part, to);
    upload->rest = writ_view_sub(upload->rest, part.len, upload->rest.len);
    return part.len;
}

static bool
append(struct curl_slist **list, struct writ_view address)
{
    writ_auto_buf text = writ_buf_make(address.len + 3);

    writ_buf_byte(&text, '<');
    writ_buf_put(&text, address);
    writ_buf_str(&text, ">");
    writ_buf_byte(&text, '\0');
    return writ_is_ok(writ_buf_check(&text, NULL)) && writ_transfer_append(list, text.ptr);
}

/* Whether the server may get a mail over a plain connection. */
static WRIT_RESULT
find_plain(const struct writ_mail *mail, bool *ret, struct writ_err *err)
{
    WRIT_AUTO(CURLU *, writ_transfer_url_freep) parsed = curl_url();
    WRIT_AUTO(char *, writ_transfer_text_freep) host = NULL;

    if (parsed == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a URL");
    }
    if (curl_url_set(parsed, CURLUPART_URL, mail->server, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: not a URL", mail->server);
    }
    *ret = mail->ca_file == NULL && writ_transfer_is_loopback(host);
    return WRIT_DONE;
}

static bool
set_connection(CURL *easy, const struct writ_mail *mail, bool plain, int64_t timeout_ms,
    const atomic_bool *stop)
{
    const struct writ_transfer transfer = {.url = mail->server,
        .protocols = "smtp,smtps",
        .ca_file = mail->ca_file,
        .timeout_ms = timeout_ms,
        .stop = stop};

    return writ_transfer_set(easy, &transfer) &&
           curl_easy_setopt(easy, CURLOPT_USE_SSL,
               (long)(plain ? CURLUSESSL_NONE : CURLUSESSL_ALL)) == CURLE_OK &&
           (mail->user == NULL ||
               (curl_easy_setopt(easy, CURLOPT_USERNAME, mail->user) == CURLE_OK &&
                   curl_easy_setopt(easy, CURLOPT_PASSWORD, mail->password) == CURLE_OK));
}

static bool
set_mail(CURL *easy, const struct writ_mail *mail, struct curl_slist **to, struct curl_slist **from,
    struct upload *upload)
{
    for (size_t i = 0; i < mail->to.n; i++) {
        if (!append(to, mail->to.items[i])) {
            return false;
        }
    }
    return append(from, mail->from) &&
           curl_easy_setopt(easy, CURLOPT_MAIL_FROM, (*from)->data) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, *to) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_READFUNCTION, give) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_READDATA, upload) == CURLE_OK;
}

WRIT_RESULT
writ_mail_send(
    const struct writ_mail *mail, int64_t timeout_ms, const atomic_bool *stop, struct writ_err *err)
{
    WRIT_AUTO(CURL *, writ_transfer_freep) easy = NULL;
    WRIT_AUTO(struct curl_slist *, writ_transfer_list_freep) to = NULL;
    WRIT_AUTO(struct curl_slist *, writ_transfer_list_freep) from = NULL;
    writ_auto_buf text = writ_buf_make(MAIL_MAX);
    struct upload upload;
    bool plain = false;
    long status = 0;
    CURLcode code;

    WRIT_TRY(writ_mail_put(mail, &text, err));
    upload.rest = writ_buf_view(&text);
    easy = writ_transfer_new();
    if (easy == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a mail");
    }
    WRIT_TRY(find_plain(mail, &plain, err));
    if (!set_connection(easy, mail, plain, timeout_ms, stop) ||
        !set_mail(easy, mail, &to, &from, &upload)) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a mail");
    }
    code = curl_easy_perform(easy);
    if (code != CURLE_OK) {
        (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s (the server's last answer: %ld)", mail->server,
            curl_easy_strerror(code), status);
    }
    return WRIT_DONE;
}
