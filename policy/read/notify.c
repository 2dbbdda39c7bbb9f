/* Reads `notify`. A secret is never in the file: URLs that are secrets, and passwords, are read
 * from files of their own. What a message goes through is checked here, so that no address can add
 * a header or a recipient. */
#include "policy/read/notify.h"

#include "policy/model/host.h"

#define ADDRESS_MAX  254 /* bytes; RFC 5321 4.5.3.1.3 */
#define HOUR_MINUTES 60
#define EVENT_WORDS  4

static const struct {
    const char *word;
    enum writ_notify_event event;
} words[EVENT_WORDS] = {
    {"review_opened", WRIT_NOTIFY_REVIEW_OPENED},
    {"review_expiring", WRIT_NOTIFY_REVIEW_EXPIRING},
    {"stop_pulled", WRIT_NOTIFY_STOP_PULLED},
    {"stop_lifted", WRIT_NOTIFY_STOP_LIFTED},
};

/* One address, without a name, quotes or comments: "ops@example.com". */
static bool
is_address(struct writ_view text)
{
    size_t at = writ_view_find(text, '@');

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == ',' || c == ';' || c == '"' ||
            c == '\\' || c == '(' || c == ')') {
            return false;
        }
    }
    return at > 0 && at + 1 < text.len && text.len <= ADDRESS_MAX &&
           writ_view_find(writ_view_sub(text, at + 1, text.len), '@') == text.len - at - 1;
}

static void
read_email(struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_notify *raw)
{
    bool plain = writ_view_has_prefix(raw->email, WRIT_LIT("smtp://"));

    if ((!plain && !writ_view_has_prefix(raw->email, WRIT_LIT("smtps://"))) ||
        writ_view_find(raw->email, '@') < raw->email.len) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "email"),
            "must be smtp://HOST:PORT or smtps://HOST:PORT, without a user");
    }
    if (!is_address(raw->from)) {
        WRIT_OPTION_FAULT(o, node, "an email needs from: one address, such as writ@example.com");
    }
    if (raw->to.n == 0) {
        WRIT_OPTION_FAULT(o, node, "an email needs to: a list of addresses");
    }
    for (size_t i = 0; i < raw->to.n; i++) {
        if (!is_address(raw->to.items[i])) {
            WRIT_OPTION_FAULT(
                o, writ_option_of(node, "to"), "must be addresses, such as ops@example.com");
        }
    }
    if ((raw->user.len > 0) != (raw->password.len > 0)) {
        WRIT_OPTION_FAULT(o, node, "user and password go together");
    }
}

static unsigned
read_events(struct writ_options *o, const struct writ_yaml *node, const struct writ_views *given)
{
    unsigned events = given->n > 0 ? 0 : WRIT_NOTIFY_EVENTS;

    for (size_t i = 0; i < given->n; i++) {
        size_t w = 0;
        while (w < EVENT_WORDS && !writ_view_is(given->items[i], words[w].word)) {
            w++;
        }
        if (w == EVENT_WORDS) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "events"),
                "must be of review_opened, review_expiring, stop_pulled, stop_lifted");
            return events;
        }
        events |= (unsigned)words[w].event;
    }
    return events;
}

/* Two digits at that place; 99: there are none. */
static int
two_digits(struct writ_view text, size_t at)
{
    char tens = text.ptr[at], ones = text.ptr[at + 1];

    return tens >= '0' && tens <= '9' && ones >= '0' && ones <= '9' ? (tens - '0') * 10 + ones - '0'
                                                                    : 99;
}

/* "07:30": the minute of the day; -1: not a time. */
static int
minute_of(struct writ_view text)
{
    int hour, minute;

    if (text.len != 5 || text.ptr[2] != ':') {
        return -1;
    }
    hour = two_digits(text, 0);
    minute = two_digits(text, 3);
    return hour < 24 && minute < HOUR_MINUTES ? hour * HOUR_MINUTES + minute : -1;
}

static void
read_quiet(struct writ_options *o, const struct writ_yaml *node, struct writ_view text,
    struct writ_notify_config *ret)
{
    size_t dash = writ_view_find(text, '-');
    int from = minute_of(writ_view_sub(text, 0, dash));
    int to = minute_of(writ_view_sub(text, dash + 1, text.len));

    if (text.len == 0) {
        return;
    }
    if (from < 0 || to < 0 || from == to) {
        WRIT_OPTION_FAULT(
            o, writ_option_of(node, "quiet"), "must be two times of UTC, such as 22:00-06:30");
        return;
    }
    ret->quiet_from_min = from;
    ret->quiet_to_min = to;
}

static void
read_kind(struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_notify *raw,
    struct writ_notify_config *ret)
{
    if (raw->slack.len > 0) {
        ret->kind = WRIT_NOTIFY_SLACK;
        ret->secret = raw->slack;
    } else if (raw->teams.len > 0) {
        ret->kind = WRIT_NOTIFY_TEAMS;
        ret->secret = raw->teams;
    } else if (raw->email.len > 0) {
        ret->kind = WRIT_NOTIFY_EMAIL;
        ret->url = raw->email;
        ret->secret = raw->password;
        read_email(o, node, raw);
    } else {
        ret->kind = WRIT_NOTIFY_WEBHOOK;
        ret->url = raw->webhook;
        ret->secret = raw->secret;
        if (raw->webhook.len > 0 && !writ_host_is_protected(raw->webhook)) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "webhook"),
                "must be an https URL, or an http URL on loopback");
        }
        if (raw->webhook.len > 0 && raw->secret.len == 0) {
            WRIT_OPTION_FAULT(o, node, "a webhook needs a secret, with which it is signed");
        }
    }
}

static void
read_one(struct writ_options *o, const struct writ_yaml *node, struct writ_notify_config *ret)
{
    struct writ_raw_notify raw = {0};

    writ_option_read(o, WRIT_SECTION_notify, node, &raw);
    *ret = (struct writ_notify_config){
        .name = node->key,
        .from = raw.from,
        .to = raw.to,
        .user = raw.user,
        .ca = raw.ca,
        .tenants = raw.tenants,
        .batch_us = raw.batch_us,
        .expiring_us = raw.expiring_us,
    };
    if (node->type != WRIT_YAML_MAP || !writ_option_choice(o, WRIT_SECTION_notify, node)) {
        return; /* with a finding */
    }
    (void)writ_option_together(o, WRIT_SECTION_notify, node);
    ret->events = read_events(o, node, &raw.events);
    read_quiet(o, node, raw.quiet, ret);
    read_kind(o, node, &raw, ret);
}

void
writ_notify_read(struct writ_options *o, const struct writ_yaml *node, struct writ_config *config)
{
    struct writ_notify_config *all;

    if (node == NULL) {
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > WRIT_NOTIFY_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a map of names to at most %d places", WRIT_NOTIFY_MAX);
        return;
    }
    all = writ_option_memory(o, node->count, sizeof *all);
    config->notify = all;
    WRIT_YAML_EACH(element, node)
    {
        if (all != NULL) {
            read_one(o, element, &all[config->notify_n++]);
        }
    }
}
