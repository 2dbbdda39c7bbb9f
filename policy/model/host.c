/* Reads URLs by a narrow grammar. Parsers disagree about the rest of RFC 3986, so anything outside
 * of the grammar is refused, never guessed. A host is compared only after it was read this way. */
#include "policy/model/host.h"

#include "base/text.h"

#include <arpa/inet.h>

#define LABEL_MAX 63

static bool
is_ipv4(struct writ_view host)
{
    size_t dots = 0;

    for (size_t at = 0; at <= host.len; dots++) {
        size_t end = at;
        uint64_t byte;
        while (end < host.len && host.ptr[end] != '.') {
            end++;
        }
        if (!writ_is_ok(writ_text_u64(writ_view_sub(host, at, end - at), 0, 255, &byte))) {
            return false;
        }
        at = end + 1;
    }
    return dots == 4;
}

static bool
is_label(struct writ_view label)
{
    for (size_t i = 0; i < label.len; i++) {
        char c = (char)(label.ptr[i] | 0x20);
        bool letter = (c >= 'a' && c <= 'z') || (label.ptr[i] >= '0' && label.ptr[i] <= '9');
        bool inside = i > 0 && i + 1 < label.len;
        if (!letter && !((label.ptr[i] == '-' && inside) || label.ptr[i] == '_')) {
            return false;
        }
    }
    return label.len > 0 && label.len <= LABEL_MAX;
}

/* Some parsers take it for an IPv4 address: 0x7f.1, 127.1, 2130706433 (WHATWG URL 3.5, "ends in a
 * number"). */
static bool
ends_in_number(struct writ_view last)
{
    bool hex = last.len >= 2 && last.ptr[0] == '0' && (last.ptr[1] | 0x20) == 'x';

    for (size_t i = hex ? 2 : 0; i < last.len; i++) {
        char c = (char)(last.ptr[i] | 0x20);
        bool digit = last.ptr[i] >= '0' && last.ptr[i] <= '9';
        if (!digit && !(hex && c >= 'a' && c <= 'f')) {
            return false;
        }
    }
    return true;
}

static bool
is_host_name(struct writ_view host)
{
    struct writ_view label = {NULL, 0};

    if (host.len == 0 || host.len > WRIT_HOST_MAX) {
        return false;
    }
    for (size_t at = 0; at <= host.len; at += label.len + 1) {
        label = writ_view_sub(host, at, host.len);
        label = writ_view_sub(label, 0, writ_view_find(label, '.'));
        if (!is_label(label)) {
            return false;
        }
    }
    return !ends_in_number(label) || is_ipv4(host);
}

static bool
is_ipv6(struct writ_view host)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char bytes[16];

    if (host.len == 0 || host.len >= sizeof text) {
        return false;
    }
    for (size_t i = 0; i < host.len; i++) {
        text[i] = host.ptr[i];
    }
    text[host.len] = '\0';
    return inet_pton(AF_INET6, text, bytes) == 1;
}

/* host or [v6], each with an optional :port */
static WRIT_RESULT
read_authority(struct writ_view text, uint16_t fallback, struct writ_url *ret)
{
    size_t end = writ_view_find(text, ':');
    uint64_t port = fallback;

    ret->ipv6 = writ_view_has_prefix(text, WRIT_LIT("["));
    if (ret->ipv6) {
        end = writ_view_find(text, ']');
        ret->host = writ_view_sub(text, 1, end - 1);
        if (end == text.len || !is_ipv6(ret->host)) {
            return (writ_result){WRIT_E_PARSE};
        }
        end++;
    } else {
        ret->host = writ_view_sub(text, 0, end);
        if (!is_host_name(ret->host)) {
            return (writ_result){WRIT_E_PARSE};
        }
    }
    if (end < text.len &&
        (text.ptr[end] != ':' ||
            !writ_is_ok(writ_text_u64(writ_view_sub(text, end + 1, text.len), 1, 65535, &port)))) {
        return (writ_result){WRIT_E_PARSE};
    }
    ret->port = (uint16_t)port;
    ret->port_is_default = port == fallback;
    return WRIT_DONE;
}

static bool
is_visible_ascii(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= 0x20 || text.ptr[i] >= 0x7f || text.ptr[i] == '\\') {
            return false;
        }
    }
    return true;
}

WRIT_RESULT
writ_host_read_url(struct writ_view text, struct writ_url *ret)
{
    struct writ_url url = {0};
    size_t scheme = writ_view_find(text, ':');
    struct writ_view rest = writ_view_sub(text, scheme, text.len);
    size_t end = 0;

    if (text.len > WRIT_URL_MAX || !is_visible_ascii(text) ||
        !writ_view_has_prefix(rest, WRIT_LIT("://"))) {
        return (writ_result){WRIT_E_PARSE};
    }
    url.tls = writ_view_equal_nocase(writ_view_sub(text, 0, scheme), WRIT_LIT("https"));
    if (!url.tls && !writ_view_equal_nocase(writ_view_sub(text, 0, scheme), WRIT_LIT("http"))) {
        return (writ_result){WRIT_E_PARSE};
    }
    rest = writ_view_sub(rest, 3, rest.len);
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?' && rest.ptr[end] != '#') {
        end++;
    }
    url.rest = writ_view_sub(rest, end, rest.len);
    WRIT_TRY(read_authority(writ_view_sub(rest, 0, end), url.tls ? 443 : 80, &url));
    *ret = url;
    return WRIT_DONE;
}

static struct writ_view
without_star(struct writ_view entry)
{
    return writ_view_has_prefix(entry, WRIT_LIT("*.")) ? writ_view_sub(entry, 2, entry.len) : entry;
}

bool
writ_host_is_entry(struct writ_view entry)
{
    struct writ_url url = {0};
    struct writ_view bare = without_star(entry);

    for (size_t i = 0; i < entry.len; i++) {
        if (entry.ptr[i] >= 'A' && entry.ptr[i] <= 'Z') {
            return false;
        }
    }
    if (!writ_is_ok(read_authority(bare, 0, &url))) {
        return false;
    }
    return bare.len == entry.len || (!url.ipv6 && !is_ipv4(url.host));
}

static bool
same_ipv6(struct writ_view a, struct writ_view b)
{
    return writ_view_equal_nocase(a, b); /* one spelling, as in the configuration */
}

static bool
is_below(struct writ_view host, struct writ_view parent)
{
    size_t start = host.len > parent.len ? host.len - parent.len : 0;

    return start > 1 && host.ptr[start - 1] == '.' &&
           writ_view_equal_nocase(writ_view_sub(host, start, parent.len), parent);
}

bool
writ_host_covers(struct writ_view entry, const struct writ_url *url)
{
    struct writ_url wanted = {0};
    struct writ_view bare = without_star(entry);

    if (!writ_is_ok(read_authority(bare, 0, &wanted)) || wanted.ipv6 != url->ipv6) {
        return false;
    }
    if (wanted.port_is_default ? !url->port_is_default : wanted.port != url->port) {
        return false;
    }
    if (wanted.ipv6) {
        return same_ipv6(wanted.host, url->host);
    }
    return bare.len < entry.len ? is_below(url->host, wanted.host)
                                : writ_view_equal_nocase(url->host, wanted.host);
}

bool
writ_host_is_database(struct writ_view text)
{
    return writ_view_has_prefix(text, WRIT_LIT("postgresql://")) ||
           writ_view_has_prefix(text, WRIT_LIT("postgres://"));
}

bool
writ_host_has_user(struct writ_view text)
{
    size_t at = writ_view_search(text, WRIT_LIT("://"));

    if (at < text.len) {
        text = writ_view_sub(text, at + 3, text.len);
        text = writ_view_sub(text, 0, writ_view_find(text, '/'));
        text = writ_view_sub(text, 0, writ_view_find(text, '?'));
        text = writ_view_sub(text, 0, writ_view_find(text, '#'));
        return writ_view_find(text, '@') < text.len;
    }
    return false;
}

bool
writ_host_is_protected(struct writ_view url)
{
    struct writ_url read;

    return writ_is_ok(writ_host_read_url(url, &read)) &&
           (read.tls || writ_view_is(read.host, "localhost") || writ_view_is(read.host, "::1") ||
               (is_ipv4(read.host) && writ_view_has_prefix(read.host, WRIT_LIT("127."))));
}

bool
writ_host_is_url(struct writ_view text)
{
    return writ_view_search(text, WRIT_LIT("://")) < text.len;
}
