/* notice_text.h - one message of many notices, in the forms of the places it goes to. Every form
 * has at most WRIT_NOTICE_LINES_MAX notices, says how many more there are, and has links to the
 * page where one is known. No name in it can become markup. */
#ifndef WRIT_GATEWAY_NOTICE_TEXT_H
#define WRIT_GATEWAY_NOTICE_TEXT_H

#include "gateway/notify/notice.h"

#define WRIT_NOTICE_LINES_MAX   20
#define WRIT_NOTICE_MESSAGE_MAX ((size_t)128 << 10) /* bytes of a message, whatever its form */

/** What a message says. Borrowed for the call. */
struct writ_notice_message {
    const struct writ_notice *items;
    size_t n;
    struct writ_view page; /* https://admin.example; empty: none is known */
};

/** Appends one ASCII line: "Writ: 3 reviews wait for approval, 1 stop was pulled". */
void writ_notice_text_title(const struct writ_notice_message *message, struct writ_buf *ret);

/** Appends plain text, for a mail. */
void writ_notice_text_plain(const struct writ_notice_message *message, struct writ_buf *ret);

/** Appends the body of an incoming webhook of Slack: mrkdwn, with its special characters escaped.
 */
WRIT_RESULT writ_notice_text_slack(const struct writ_notice_message *message, struct writ_buf *ret);

/** Appends a message with an Adaptive Card, for a workflow of Teams. Names stand in text runs,
 * which have no markup. */
WRIT_RESULT writ_notice_text_teams(const struct writ_notice_message *message, struct writ_buf *ret);

/** Appends {"type": "notices", "timestamp", "data": {"title", "notices", "more"}}, for a webhook.
 */
WRIT_RESULT writ_notice_text_json(
    const struct writ_notice_message *message, int64_t now_us, struct writ_buf *ret);

#endif
