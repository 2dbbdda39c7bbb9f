/* notice_text.c - the line of a notice is plain text; each form escapes it as a whole. */
#include "gateway/notify/notice_text.h"

#include "base/clock.h"
#include "evidence/json/write.h"

#define LINE_MAX_BYTES 2048
#define URL_MAX_BYTES  2048

static size_t
shown(const struct writ_notice_message *message)
{
    return message->n < WRIT_NOTICE_LINES_MAX ? message->n : WRIT_NOTICE_LINES_MAX;
}

/* ---- the title */

static size_t
count(const struct writ_notice_message *message, enum writ_notify_event event)
{
    size_t n = 0;

    for (size_t i = 0; i < message->n; i++) {
        n += message->items[i].event == event ? 1 : 0;
    }
    return n;
}

void
writ_notice_text_title(const struct writ_notice_message *message, struct writ_buf *ret)
{
    static const struct {
        enum writ_notify_event event;
        const char *one, *many;
    } parts[] = {
        {WRIT_NOTIFY_STOP_PULLED, "stop was pulled", "stops were pulled"},
        {WRIT_NOTIFY_STOP_LIFTED, "stop was lifted", "stops were lifted"},
        {WRIT_NOTIFY_REVIEW_EXPIRING, "review expires soon", "reviews expire soon"},
        {WRIT_NOTIFY_REVIEW_OPENED, "review waits for votes", "reviews wait for votes"},
    };
    const char *before = "Writ: ";

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = count(message, parts[i].event);
        if (n > 0) {
            writ_buf_fmt(ret, "%s%zu %s", before, n, n == 1 ? parts[i].one : parts[i].many);
            before = ", ";
        }
    }
}

/* ---- one notice */

static void
put_who(const struct writ_notice *notice, struct writ_buf *ret)
{
    writ_buf_put(ret, writ_notice_view(&notice->who));
    if (notice->tenant.len > 0) {
        writ_buf_str(ret, " (");
        writ_buf_put(ret, writ_notice_view(&notice->tenant));
        writ_buf_str(ret, ")");
    }
}

/* "2026-11-22T20:10:50Z": the fraction of a second is of no use to a person */
static void
put_time(int64_t us, struct writ_buf *ret)
{
    char text[WRIT_TIME_TEXT];

    writ_time_format(us, text);
    writ_buf_put(ret, writ_view_sub(writ_view_str(text), 0, sizeof "2026-11-22T20:10" - 1));
    writ_buf_str(ret, " UTC");
}

static void
put_line(const struct writ_notice *notice, struct writ_buf *ret)
{
    switch (notice->event) {
    case WRIT_NOTIFY_REVIEW_OPENED:
    case WRIT_NOTIFY_REVIEW_EXPIRING:
        writ_buf_str(ret, "Review ");
        writ_buf_put(ret, writ_notice_view(&notice->what));
        writ_buf_str(ret, ": a call of ");
        put_who(notice, ret);
        writ_buf_str(ret, " waits for votes until ");
        put_time(notice->until_us, ret);
        if (notice->delegates.len > 0) {
            writ_buf_str(ret, "; votes are delegated: ");
            writ_buf_put(ret, writ_notice_view(&notice->delegates));
        }
        return;
    case WRIT_NOTIFY_STOP_PULLED:
        writ_buf_str(ret, "Stop pulled by ");
        put_who(notice, ret);
        writ_buf_str(ret, ": calls of the ");
        writ_buf_put(ret, writ_notice_view(&notice->kind));
        writ_buf_str(ret, " ");
        writ_buf_put(ret, writ_notice_view(&notice->what));
        return;
    case WRIT_NOTIFY_STOP_LIFTED:
        writ_buf_str(ret, "Stop lifted by ");
        put_who(notice, ret);
        writ_buf_str(ret, ": ");
        writ_buf_put(ret, writ_notice_view(&notice->id));
        return;
    }
}

/* Nothing for a stop, which has no page of its own. */
static void
put_url(const struct writ_notice_message *message, const struct writ_notice *notice,
    struct writ_buf *ret)
{
    if (message->page.len > 0 && writ_notice_is_review(notice)) {
        writ_buf_put(ret, message->page);
        writ_buf_str(ret, "/reviews/");
        writ_buf_put(ret, writ_notice_view(&notice->id));
    }
}

static void
put_more(const struct writ_notice_message *message, struct writ_buf *ret)
{
    if (message->n > shown(message)) {
        writ_buf_fmt(ret, "... and %zu more", message->n - shown(message));
    }
}

/* ---- the forms */

void
writ_notice_text_plain(const struct writ_notice_message *message, struct writ_buf *ret)
{
    for (size_t i = 0; i < shown(message); i++) {
        put_line(&message->items[i], ret);
        writ_buf_str(ret, "\r\n");
        if (message->page.len > 0 && writ_notice_is_review(&message->items[i])) {
            writ_buf_str(ret, "  ");
            put_url(message, &message->items[i], ret);
            writ_buf_str(ret, "\r\n");
        }
    }
    if (message->n > shown(message)) {
        put_more(message, ret);
        writ_buf_str(ret, "\r\n");
    }
    if (message->page.len > 0) {
        writ_buf_str(ret, "\r\nAll of them: ");
        writ_buf_put(ret, message->page);
        writ_buf_str(ret, "/\r\n");
    }
}

/* The three characters that begin markup in mrkdwn. */
static void
put_mrkdwn(struct writ_buf *ret, struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '&':
            writ_buf_str(ret, "&amp;");
            break;
        case '<':
            writ_buf_str(ret, "&lt;");
            break;
        case '>':
            writ_buf_str(ret, "&gt;");
            break;
        default:
            writ_buf_byte(ret, text.ptr[i]);
        }
    }
}

static void
put_slack_line(const struct writ_notice_message *message, const struct writ_notice *notice,
    struct writ_buf *ret)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX_BYTES);
    writ_auto_buf url = writ_buf_make(URL_MAX_BYTES);

    put_line(notice, &line);
    put_url(message, notice, &url);
    put_mrkdwn(ret, writ_buf_view(&line));
    if (url.len > 0) {
        writ_buf_str(ret, " <");
        writ_buf_put(ret, writ_buf_view(&url));
        writ_buf_str(ret, "|vote>");
    }
    writ_buf_str(ret, "\n");
}

WRIT_RESULT
writ_notice_text_slack(const struct writ_notice_message *message, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    struct writ_write w = writ_write_to(ret);

    writ_buf_str(&text, "*");
    writ_notice_text_title(message, &text);
    writ_buf_str(&text, "*\n");
    for (size_t i = 0; i < shown(message); i++) {
        put_slack_line(message, &message->items[i], &text);
    }
    put_more(message, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    writ_write_object_begin(&w);
    writ_write_text(&w, "text", writ_buf_view(&text));
    writ_write_flag(&w, "unfurl_links", false);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
write_run(struct writ_write *w, struct writ_view text, bool bold)
{
    writ_write_object_begin(w);
    writ_write_text(w, "type", WRIT_LIT("RichTextBlock"));
    writ_write_name(w, WRIT_LIT("inlines"));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_text(w, "type", WRIT_LIT("TextRun"));
    writ_write_text(w, "text", text);
    if (bold) {
        writ_write_text(w, "weight", WRIT_LIT("Bolder"));
    }
    writ_write_object_end(w);
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
write_button(struct writ_write *w, struct writ_view title, struct writ_view url)
{
    writ_write_object_begin(w);
    writ_write_text(w, "type", WRIT_LIT("Action.OpenUrl"));
    writ_write_text(w, "title", title);
    writ_write_text(w, "url", url);
    writ_write_object_end(w);
}

/* A card shows few buttons well: the review itself when it is one, else the page of all. */
static void
write_actions(struct writ_write *w, const struct writ_notice_message *message)
{
    writ_auto_buf url = writ_buf_make(URL_MAX_BYTES);

    writ_write_name(w, WRIT_LIT("actions"));
    writ_write_array_begin(w);
    if (message->n == 1) {
        put_url(message, &message->items[0], &url);
    }
    if (url.len == 0 && message->page.len > 0) {
        writ_buf_put(&url, message->page);
        writ_buf_str(&url, "/");
    }
    if (url.len > 0) {
        write_button(
            w, message->n == 1 ? WRIT_LIT("Open") : WRIT_LIT("Open the page"), writ_buf_view(&url));
    }
    writ_write_array_end(w);
}

static void
write_card(struct writ_write *w, const struct writ_notice_message *message)
{
    writ_auto_buf text = writ_buf_make(LINE_MAX_BYTES);

    writ_write_object_begin(w);
    writ_write_text(w, "type", WRIT_LIT("AdaptiveCard"));
    writ_write_text(w, "$schema", WRIT_LIT("http://adaptivecards.io/schemas/adaptive-card.json"));
    writ_write_text(w, "version", WRIT_LIT("1.4"));
    writ_write_name(w, WRIT_LIT("body"));
    writ_write_array_begin(w);
    writ_notice_text_title(message, &text);
    write_run(w, writ_buf_view(&text), true);
    for (size_t i = 0; i < shown(message); i++) {
        writ_buf_clear(&text);
        put_line(&message->items[i], &text);
        write_run(w, writ_buf_view(&text), false);
    }
    writ_buf_clear(&text);
    put_more(message, &text);
    if (text.len > 0) {
        write_run(w, writ_buf_view(&text), false);
    }
    writ_write_array_end(w);
    write_actions(w, message);
    writ_write_object_end(w);
}

WRIT_RESULT
writ_notice_text_teams(const struct writ_notice_message *message, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "type", WRIT_LIT("message"));
    writ_write_name(&w, WRIT_LIT("attachments"));
    writ_write_array_begin(&w);
    writ_write_object_begin(&w);
    writ_write_text(&w, "contentType", WRIT_LIT("application/vnd.microsoft.card.adaptive"));
    writ_write_name(&w, WRIT_LIT("content"));
    write_card(&w, message);
    writ_write_object_end(&w);
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
write_time(struct writ_write *w, const char *name, int64_t us)
{
    char text[WRIT_TIME_TEXT];

    writ_time_format(us, text);
    writ_write_text(w, name, writ_view_str(text));
}

static void
write_notice(
    struct writ_write *w, const struct writ_notice_message *message, const struct writ_notice *n)
{
    writ_auto_buf url = writ_buf_make(URL_MAX_BYTES);
    bool review = writ_notice_is_review(n);

    put_url(message, n, &url);
    writ_write_object_begin(w);
    writ_write_text(w, "event", writ_notice_event_name(n->event));
    write_time(w, "at", n->at_us);
    writ_write_text(w, "id", writ_notice_view(&n->id));
    writ_write_text_if(w, review ? "review" : "value", writ_notice_view(&n->what));
    writ_write_text_if(w, "by", writ_notice_view(&n->kind));
    writ_write_text_if(w, review ? "agent_id" : "who", writ_notice_view(&n->who));
    writ_write_text_if(w, "tenant", writ_notice_view(&n->tenant));
    writ_write_text_if(w, "delegates", writ_notice_view(&n->delegates));
    if (review) {
        write_time(w, "expires_at", n->until_us);
    }
    writ_write_text_if(w, "url", writ_buf_view(&url));
    writ_write_object_end(w);
}

WRIT_RESULT
writ_notice_text_json(
    const struct writ_notice_message *message, int64_t now_us, struct writ_buf *ret)
{
    writ_auto_buf title = writ_buf_make(LINE_MAX_BYTES);
    struct writ_write w = writ_write_to(ret);

    writ_notice_text_title(message, &title);
    writ_write_object_begin(&w);
    writ_write_text(&w, "type", WRIT_LIT("notices"));
    write_time(&w, "timestamp", now_us);
    writ_write_name(&w, WRIT_LIT("data"));
    writ_write_object_begin(&w);
    writ_write_text(&w, "title", writ_buf_view(&title));
    writ_write_name(&w, WRIT_LIT("notices"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < shown(message); i++) {
        write_notice(&w, message, &message->items[i]);
    }
    writ_write_array_end(&w);
    writ_write_count(&w, "more", message->n - shown(message));
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}
