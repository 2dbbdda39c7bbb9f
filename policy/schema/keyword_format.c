/* keyword_format.c - the formats that can be asserted (2020-12 validation, 7.3). */
#include "policy/schema/keyword.h"

#include "evidence/record/member.h"

#include <arpa/inet.h>

#define LABEL_MAX 63
#define HOST_MAX  253

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* RFC 1123 2.1. */
static bool
is_hostname(struct writ_view text)
{
    size_t label = 0;

    if (text.len == 0 || text.len > HOST_MAX) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool ends = i + 1 == text.len || text.ptr[i + 1] == '.';
        if (c == '.') {
            if (label == 0) {
                return false;
            }
            label = 0;
        } else if (!is_alnum(c) && !(c == '-' && label > 0 && !ends)) {
            return false;
        } else if (++label > LABEL_MAX) {
            return false;
        }
    }
    return label > 0;
}

/* The plain form of RFC 5321 4.1.2: a local part of atoms, and a host. */
static bool
is_email(struct writ_view text)
{
    static const struct writ_view others = WRIT_LIT("!#$%&'*+-/=?^_`{|}~.");
    size_t at = writ_view_find(text, '@');

    if (at == 0 || at > 64 || text.ptr[0] == '.' || text.ptr[at - 1] == '.') {
        return false;
    }
    for (size_t i = 0; i < at; i++) {
        bool dots = text.ptr[i] == '.' && text.ptr[i + 1] == '.';
        if (dots || (!is_alnum(text.ptr[i]) && writ_view_find(others, text.ptr[i]) == others.len)) {
            return false;
        }
    }
    return at < text.len && is_hostname(writ_view_sub(text, at + 1, text.len));
}

static bool
is_address(int family, struct writ_view text)
{
    char room[INET6_ADDRSTRLEN + 1], address[sizeof(struct in6_addr)];

    if (text.len >= sizeof room || writ_view_find(text, '\0') < text.len) {
        return false;
    }
    (void)writ_view_place(text, room);
    room[text.len] = '\0';
    return inet_pton(family, room, address) == 1;
}

static bool
is_uuid(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        char c = text.ptr[i];
        if (hyphen ? c != '-'
                   : !is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) {
            return false;
        }
    }
    return text.len == 36;
}

static bool
is_number(struct writ_view text, size_t from, size_t len, int least, int most)
{
    int value = 0;

    for (size_t i = from; i < from + len; i++) {
        if (i >= text.len || !is_digit(text.ptr[i])) {
            return false;
        }
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value >= least && value <= most;
}

/* RFC 3339 5.6: full-date; the day must exist. */
static bool
is_date(struct writ_view text)
{
    char room[32];
    struct writ_buf whole = writ_buf_over(room, sizeof room);

    if (text.len != 10 || !is_number(text, 0, 4, 0, 9999)) {
        return false;
    }
    writ_buf_put(&whole, text);
    writ_buf_str(&whole, "T00:00:00Z");
    return writ_member_time(writ_buf_view(&whole), NULL);
}

/* "Z" or "+01:30"; `ret_minutes` is what the time is ahead of UTC. */
static bool
is_offset(struct writ_view text, int *ret_minutes)
{
    int hours, minutes;

    *ret_minutes = 0;
    if (writ_view_is(text, "Z") || writ_view_is(text, "z")) {
        return true;
    }
    if (text.len != 6 || (text.ptr[0] != '+' && text.ptr[0] != '-') || text.ptr[3] != ':' ||
        !is_number(text, 1, 2, 0, 23) || !is_number(text, 4, 2, 0, 59)) {
        return false;
    }
    hours = (text.ptr[1] - '0') * 10 + text.ptr[2] - '0';
    minutes = (text.ptr[4] - '0') * 10 + text.ptr[5] - '0';
    *ret_minutes = (hours * 60 + minutes) * (text.ptr[0] == '-' ? -1 : 1);
    return true;
}

/* RFC 3339 5.6: full-time. The 60th second is the last one of a day in UTC. */
static bool
is_time(struct writ_view text)
{
    size_t end = 8;
    int ahead, of_day;

    if (text.len < 9 || text.ptr[2] != ':' || text.ptr[5] != ':' || !is_number(text, 0, 2, 0, 23) ||
        !is_number(text, 3, 2, 0, 59) || !is_number(text, 6, 2, 0, 60)) {
        return false;
    }
    if (text.ptr[end] == '.') {
        for (end++; end < text.len && is_digit(text.ptr[end]); end++) {
        }
        if (end == 9) {
            return false;
        }
    }
    if (!is_offset(writ_view_sub(text, end, text.len), &ahead)) {
        return false;
    }
    of_day = ((text.ptr[0] - '0') * 10 + text.ptr[1] - '0') * 60 + (text.ptr[3] - '0') * 10 +
             text.ptr[4] - '0' - ahead;
    return !is_number(text, 6, 2, 60, 60) || (of_day + 2 * 1440) % 1440 == 1439;
}

static bool
is_date_time(struct writ_view text)
{
    return text.len > 11 && (text.ptr[10] == 'T' || text.ptr[10] == 't') &&
           is_date(writ_view_sub(text, 0, 10)) && is_time(writ_view_sub(text, 11, text.len));
}

/* RFC 3986 3: a scheme, and characters that a URI may have. */
static bool
is_uri(struct writ_view text)
{
    static const struct writ_view refused = WRIT_LIT("\"<>\\^`{|} ");
    size_t colon = writ_view_find(text, ':');

    if (colon == 0 || colon >= text.len || is_digit(text.ptr[0]) || !is_alnum(text.ptr[0])) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool in_scheme = i >= colon || is_alnum((char)c) || c == '+' || c == '-' || c == '.';
        bool escape = c != '%' ||
                      (i + 2 < text.len && is_alnum(text.ptr[i + 1]) && is_alnum(text.ptr[i + 2]));
        if (c <= ' ' || c >= 0x7f || !in_scheme || !escape ||
            writ_view_find(refused, (char)c) < refused.len) {
            return false;
        }
    }
    return true;
}

static bool
is_ipv4(struct writ_view text)
{
    return is_address(AF_INET, text);
}

static bool
is_ipv6(struct writ_view text)
{
    return is_address(AF_INET6, text);
}

static const struct {
    struct writ_view name;
    bool (*is)(struct writ_view text);
} formats[] = {{{"date", 4}, is_date}, {{"date-time", 9}, is_date_time}, {{"email", 5}, is_email},
    {{"hostname", 8}, is_hostname}, {{"ipv4", 4}, is_ipv4}, {{"ipv6", 4}, is_ipv6},
    {{"json-pointer", 12}, writ_json_is_pointer}, {{"time", 4}, is_time}, {{"uri", 3}, is_uri},
    {{"uuid", 4}, is_uuid}};

bool
writ_keyword_knows_format(struct writ_view format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (writ_view_equal(formats[i].name, format)) {
            return true;
        }
    }
    return false;
}

bool
writ_keyword_has_format(struct writ_view format, struct writ_view text)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (writ_view_equal(formats[i].name, format)) {
            return formats[i].is(text);
        }
    }
    return false;
}
