/* notify_send.c - one body for each kind of place, and one way to post it. */
#include "gateway/notify/notify_send.h"

#include "base/secret.h"
#include "gateway/http/fetch.h"
#include "gateway/http/mail.h"
#include "gateway/http/webhook_signature.h"

#define ANSWER_MAX   65536 /* bytes of an answer, which is not used */
#define US_PER_S     1000000
#define FIELD_MAX    256
#define DIGITS_MAX   24
#define STATUS_OK    200
#define STATUS_AFTER 300
#define JSON_TYPE    "Content-Type: application/json"

/* What a try needs; secrets in it are wiped. */
struct letter {
    const struct writ_notify_config *place;
    const struct writ_notice_message *message;
    struct writ_view id;
    int64_t now_us;
    const atomic_bool *stop;
    struct writ_buf secret; /* NUL-terminated, of Slack, Teams and email */
};

static void
letter_wipe(struct letter *letter)
{
    writ_buf_wipe_secret(&letter->secret);
}

static bool
has_url_in_file(const struct writ_notify_config *place)
{
    return place->kind == WRIT_NOTIFY_SLACK || place->kind == WRIT_NOTIFY_TEAMS;
}

/* A fault of a URL names the file, because the URL is a secret. */
static WRIT_RESULT
check_url(const struct writ_notify_config *place, const struct writ_buf *url, struct writ_err *err)
{
    if (has_url_in_file(place) && !writ_is_ok(writ_fetch_check(url->ptr, NULL))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: needs one line, an https URL (http on loopback) without a user",
            place->secret.ptr);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_secret(const struct writ_notify_config *place, struct writ_buf *ret, struct writ_err *err)
{
    if (place->secret.len == 0) {
        return WRIT_DONE;
    }
    if (place->kind == WRIT_NOTIFY_WEBHOOK) {
        return writ_webhook_signature_read(place->secret.ptr, ret, err);
    }
    *ret = writ_buf_make(WRIT_SECRET_MAX + 1);
    WRIT_TRY(writ_secret_file(place->secret.ptr, ret, err));
    writ_buf_byte(ret, '\0');
    WRIT_TRY(writ_buf_check(ret, err));
    return check_url(place, ret, err);
}

WRIT_RESULT
writ_notify_send_check(const struct writ_notify_config *place, struct writ_err *err)
{
    WRIT_AUTO(struct letter, letter_wipe) letter = {.place = place};

    return read_secret(place, &letter.secret, err);
}

/* ---- posts */

/* The text of a failed fetch begins with its URL, which may be a secret. */
static WRIT_RESULT
tell_failure(const struct letter *letter, const char *url, writ_result failed,
    const struct writ_err *why, struct writ_err *err)
{
    struct writ_view text = writ_view_str(why->text);
    size_t named = (size_t)writ_fetch_origin(url);

    if (!has_url_in_file(letter->place)) {
        WRIT_FAIL(err, failed.code, "%s", why->text);
    }
    WRIT_FAIL(err, failed.code, "the URL in %s" WRIT_VIEW_FMT, letter->place->secret.ptr,
        WRIT_VIEW_ARG(writ_view_sub(text, named, text.len)));
}

static WRIT_RESULT
post(const struct letter *letter, const char *url, const struct writ_buf *body,
    const char *const *fields, struct writ_err *err)
{
    const struct writ_fetch_request request = {.body = body->ptr,
        .type = JSON_TYPE,
        .fields = fields,
        .ca_file = letter->place->ca.len > 0 ? letter->place->ca.ptr : NULL};
    writ_auto_buf answer = writ_buf_make(ANSWER_MAX);
    struct writ_err why = {{0}, 0, 0};
    long status = 0;
    writ_result result =
        writ_fetch_ask(url, &request, WRIT_NOTIFY_TIMEOUT_MS, letter->stop, &status, &answer, &why);

    if (!writ_is_ok(result)) {
        return tell_failure(letter, url, result, &why, err);
    }
    if (status < STATUS_OK || status >= STATUS_AFTER) {
        WRIT_FAIL(err, WRIT_E_IO, "answers with status %ld", status);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_field(struct writ_buf *buf, const char *name, struct writ_view value)
{
    writ_buf_fmt(buf, "%s: " WRIT_VIEW_FMT, name, WRIT_VIEW_ARG(value));
    writ_buf_byte(buf, '\0');
    return writ_buf_check(buf, NULL);
}

static WRIT_RESULT
post_signed(const struct letter *letter, const struct writ_buf *body, struct writ_err *err)
{
    char digits[DIGITS_MAX], mac[WRIT_WEBHOOK_SIGNATURE_BYTES];
    struct writ_buf time_s = writ_buf_over(digits, sizeof digits);
    struct writ_buf signature = writ_buf_over(mac, sizeof mac);
    writ_auto_buf id_field = writ_buf_make(FIELD_MAX);
    writ_auto_buf time_field = writ_buf_make(FIELD_MAX);
    writ_auto_buf signature_field = writ_buf_make(FIELD_MAX);

    writ_buf_i64(&time_s, letter->now_us / US_PER_S);
    WRIT_TRY(writ_webhook_signature_put(&letter->secret, letter->id, writ_buf_view(&time_s),
        writ_view(body->ptr, body->len - 1), &signature));
    WRIT_TRY(put_field(&id_field, "webhook-id", letter->id));
    WRIT_TRY(put_field(&time_field, "webhook-timestamp", writ_buf_view(&time_s)));
    WRIT_TRY(put_field(&signature_field, "webhook-signature", writ_buf_view(&signature)));
    const char *const fields[] = {id_field.ptr, time_field.ptr, signature_field.ptr, NULL};
    return post(letter, letter->place->url.ptr, body, fields, err);
}

static WRIT_RESULT
send_post(const struct letter *letter, struct writ_err *err)
{
    writ_auto_buf body = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    bool slack = letter->place->kind == WRIT_NOTIFY_SLACK;

    if (!has_url_in_file(letter->place)) {
        WRIT_TRY(writ_notice_text_json(letter->message, letter->now_us, &body));
    } else {
        WRIT_TRY(slack ? writ_notice_text_slack(letter->message, &body)
                       : writ_notice_text_teams(letter->message, &body));
    }
    writ_buf_byte(&body, '\0');
    WRIT_TRY(writ_buf_check(&body, err));
    return has_url_in_file(letter->place) ? post(letter, letter->secret.ptr, &body, NULL, err)
                                          : post_signed(letter, &body, err);
}

/* ---- mails */

static WRIT_RESULT
send_mail(const struct letter *letter, struct writ_err *err)
{
    const struct writ_notify_config *place = letter->place;
    writ_auto_buf title = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    writ_auto_buf text = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    bool login = place->user.len > 0;

    writ_notice_text_title(letter->message, &title);
    writ_notice_text_plain(letter->message, &text);
    WRIT_TRY(writ_buf_check(&title, err));
    WRIT_TRY(writ_buf_check(&text, err));
    const struct writ_mail mail = {.server = place->url.ptr,
        .user = login ? place->user.ptr : NULL,
        .password = login ? letter->secret.ptr : NULL,
        .ca_file = place->ca.len > 0 ? place->ca.ptr : NULL,
        .from = place->from,
        .to = place->to,
        .subject = writ_buf_view(&title),
        .text = writ_buf_view(&text),
        .id = letter->id,
        .time_us = letter->now_us};
    return writ_mail_send(&mail, WRIT_NOTIFY_TIMEOUT_MS, letter->stop, err);
}

WRIT_RESULT
writ_notify_send(const struct writ_notify_config *place, const struct writ_notice_message *message,
    struct writ_view id, const struct writ_clock *clock, const atomic_bool *stop,
    struct writ_err *err)
{
    WRIT_AUTO(struct letter, letter_wipe)
    letter = {.place = place,
        .message = message,
        .id = id,
        .now_us = writ_clock_wall_us(clock),
        .stop = stop};

    WRIT_TRY(read_secret(place, &letter.secret, err));
    return place->kind == WRIT_NOTIFY_EMAIL ? send_mail(&letter, err) : send_post(&letter, err);
}
