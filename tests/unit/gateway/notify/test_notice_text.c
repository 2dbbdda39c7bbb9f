/* Messages of many notices: titles that count, lines with a maximum, and names that are never
 * markup. */
#include "support/unit.h"

#include "base/utf8.h"
#include "gateway/notify/notice_text.h"

#define AT_US    INT64_C(1764000000000000) /* 2025-11-24T16:00:00Z */
#define MANY     25
#define NAME_MAX 5000

static struct writ_notice
notice_of(enum writ_notify_event event, const char *what)
{
    struct writ_notice notice = {.event = event, .at_us = AT_US, .until_us = AT_US + 60000000};

    writ_notice_set(&notice.id, WRIT_LIT("0190"));
    writ_notice_set(&notice.what, writ_view_str(what));
    writ_notice_set(&notice.kind, writ_view_str(event == WRIT_NOTIFY_STOP_PULLED ? "tool" : ""));
    writ_notice_set(&notice.who, WRIT_LIT("clerk"));
    writ_notice_set(&notice.tenant, WRIT_LIT("acme"));
    return notice;
}

static void
title_is(const struct writ_notice *items, size_t n, const char *want)
{
    const struct writ_notice_message message = {.items = items, .n = n};
    writ_auto_buf title = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);

    writ_notice_text_title(&message, &title);
    ck_assert_msg(writ_view_is(writ_buf_view(&title), want), WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_buf_view(&title)));
}

START_TEST(title_counts_each_event)
{
    const struct writ_notice items[] = {notice_of(WRIT_NOTIFY_REVIEW_OPENED, "a"),
        notice_of(WRIT_NOTIFY_STOP_LIFTED, "b"), notice_of(WRIT_NOTIFY_REVIEW_OPENED, "c"),
        notice_of(WRIT_NOTIFY_STOP_PULLED, "d"), notice_of(WRIT_NOTIFY_REVIEW_EXPIRING, "e")};

    title_is(items, 1, "Writ: 1 review waits for votes");
    title_is(items, 5,
        "Writ: 1 stop was pulled, 1 stop was lifted, 1 review expires soon, 2 reviews wait for "
        "votes");
}
END_TEST

START_TEST(plain_text_has_a_line_and_a_link_for_each_review)
{
    const struct writ_notice items[] = {notice_of(WRIT_NOTIFY_REVIEW_OPENED, "finance"),
        notice_of(WRIT_NOTIFY_STOP_PULLED, "up/x")};
    const struct writ_notice_message message = {
        .items = items, .n = 2, .page = WRIT_LIT("https://admin.example")};
    writ_auto_buf text = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);

    writ_notice_text_plain(&message, &text);
    writ_buf_byte(&text, '\0');
    ck_assert_ok(writ_buf_check(&text, NULL));
    ck_assert_str_eq(text.ptr,
        "Review finance: a call of clerk (acme) waits for votes until 2025-11-24T16:01 UTC\r\n"
        "  https://admin.example/reviews/0190\r\n"
        "Stop pulled by clerk (acme): calls of the tool up/x\r\n"
        "\r\nAll of them: https://admin.example/\r\n");
}
END_TEST

START_TEST(message_lists_a_maximum_of_notices_and_counts_the_rest)
{
    struct writ_notice items[MANY];
    const struct writ_notice_message message = {.items = items, .n = MANY};
    writ_auto_buf plain = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    writ_auto_buf slack = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    writ_auto_buf teams = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    writ_auto_buf json = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    struct writ_view more = WRIT_LIT("... and 5 more");

    for (size_t i = 0; i < MANY; i++) { /* each byte of a name may take six in JSON */
        char name[NAME_MAX];
        for (size_t c = 0; c < sizeof name; c++) {
            name[c] = '<';
        }
        name[sizeof name - 1] = '\0';
        items[i] = notice_of(WRIT_NOTIFY_STOP_PULLED, name);
    }
    writ_notice_text_plain(&message, &plain);
    ck_assert_ok(writ_buf_check(&plain, NULL));
    ck_assert_ok(writ_notice_text_slack(&message, &slack));
    ck_assert_ok(writ_notice_text_teams(&message, &teams));
    ck_assert_ok(writ_notice_text_json(&message, AT_US, &json));
    ck_assert(writ_view_search(writ_buf_view(&plain), more) < plain.len);
    ck_assert(writ_view_search(writ_buf_view(&slack), more) < slack.len);
    ck_assert(writ_view_search(writ_buf_view(&teams), more) < teams.len);
    ck_assert(writ_view_search(writ_buf_view(&json), WRIT_LIT("\"more\":5")) < json.len);
}
END_TEST

START_TEST(name_is_shortened_at_a_character_and_marked)
{
    struct writ_notice_text text = {0};
    char bytes[NAME_MAX];

    for (size_t i = 0; i + 1 < sizeof bytes; i += 2) { /* U+00E4, beginning at an odd byte */
        bytes[i] = i == 0 ? 'x' : '\xa4';
        bytes[i + 1] = '\xc3';
    }
    writ_notice_set(&text, writ_view(bytes, sizeof bytes));
    ck_assert(text.len <= WRIT_NOTICE_TEXT_MAX);
    ck_assert(writ_utf8_is_valid(writ_notice_view(&text), NULL));
    writ_notice_set(&text, WRIT_LIT("a\xe2\x80\xae\r\nb"));
    ck_assert(writ_view_search(writ_notice_view(&text), WRIT_LIT("[U+202E]")) < text.len);
    ck_assert(writ_view_find(writ_notice_view(&text), '\n') == text.len);
    ck_assert(writ_view_find(writ_notice_view(&text), '\r') == text.len);
}
END_TEST

START_TEST(delegates_are_listed_while_there_is_room_and_counted)
{
    struct writ_review_voter voters[WRIT_REVIEW_VOTERS_MAX] = {
        {.id = WRIT_LIT("ann"), .delegate = WRIT_LIT("z\xe2\x80\xaeoe")},
        {.id = WRIT_LIT("bob")},
        {.id = WRIT_LIT("eve"), .delegate = WRIT_LIT("yan"), .revoked = true},
        {.id = WRIT_LIT("joe"), .delegate = WRIT_LIT("ann")},
    };
    struct writ_review review = {.voters = voters, .voters_n = 4};
    struct writ_notice notice = notice_of(WRIT_NOTIFY_REVIEW_OPENED, "finance");
    const struct writ_notice_message message = {.items = &notice, .n = 1};
    writ_auto_buf text = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    writ_auto_buf json = writ_buf_make(WRIT_NOTICE_MESSAGE_MAX);
    struct writ_view line = WRIT_LIT("16:01 UTC; votes are delegated: z[U+202E]oe for ann, "
                                     "ann for joe\r\n");
    struct writ_view member = WRIT_LIT("\"delegates\":\"z[U+202E]oe for ann, ann for joe\"");
    struct writ_view many;

    writ_notice_set_delegates(&notice.delegates, &review);
    writ_notice_text_plain(&message, &text);
    ck_assert(writ_view_search(writ_buf_view(&text), line) < text.len);
    ck_assert_ok(writ_notice_text_json(&message, AT_US, &json));
    ck_assert(writ_view_search(writ_buf_view(&json), member) < json.len);

    review.voters_n = WRIT_REVIEW_VOTERS_MAX;
    for (size_t i = 0; i < WRIT_REVIEW_VOTERS_MAX; i++) {
        voters[i] =
            (struct writ_review_voter){.id = WRIT_LIT("voter"), .delegate = WRIT_LIT("delegate")};
    }
    writ_notice_set_delegates(&notice.delegates, &review);
    many = writ_notice_view(&notice.delegates);
    ck_assert_msg(writ_view_has_suffix(many, WRIT_LIT("delegate for voter, and 56 more")),
        WRIT_VIEW_FMT, WRIT_VIEW_ARG(many));
    review.voters_n = 2;
    voters[0].delegate = voters[1].delegate = writ_view("", 0);
    writ_notice_set_delegates(&notice.delegates, &review);
    ck_assert_uint_eq(notice.delegates.len, 0);
}
END_TEST

WRIT_UNIT_MAIN("notice_text", title_counts_each_event,
    plain_text_has_a_line_and_a_link_for_each_review,
    message_lists_a_maximum_of_notices_and_counts_the_rest,
    name_is_shortened_at_a_character_and_marked,
    delegates_are_listed_while_there_is_room_and_counted)
