/* host.h - the host of a URL, for the op `host_in`.
 *
 * URL parsers disagree, and an attacker uses the difference. So only URLs that all of them read the
 * same way are accepted: scheme http or https, `://`, a host, an optional port, and a path, query
 * or fragment, all of it visible ASCII without backslash. Userinfo, percent escapes in the host, a
 * trailing dot, an empty label, and IPv4 addresses in any spelling but four plain decimal numbers
 * are refused. Letters of the host are compared without case. */
#ifndef WRIT_POLICY_HOST_H
#define WRIT_POLICY_HOST_H

#include "base/bytes.h"

#define WRIT_URL_MAX  8192 /* longest URL */
#define WRIT_HOST_MAX 253  /* longest host name (RFC 1035 2.3.4, as text) */

struct writ_url {
    bool tls;
    struct writ_view host; /* as written; an IPv6 literal without its brackets */
    bool ipv6;
    uint16_t port;         /* the scheme's own when the URL has none */
    bool port_is_default;  /* it is the scheme's own */
    struct writ_view rest; /* path, query, fragment; may be empty */
};

/** Reads a URL as strictly as described above. WRIT_E_PARSE. */
WRIT_RESULT writ_host_read_url(struct writ_view text, struct writ_url *ret);

/** True when the text names a scheme ("x://"); the rest is not checked. */
bool writ_host_is_url(struct writ_view text);

/** True for the URI of a database on PostgreSQL (postgresql:// or postgres://), which may name a
 * user. */
bool writ_host_is_database(struct writ_view text);

/** True when a user or a password stands in the text of a URL of any scheme, before its host. */
bool writ_host_has_user(struct writ_view text);

/** True for an https URL, and for an http URL of a loopback address: no party on the way can read
 * the traffic. */
bool writ_host_is_protected(struct writ_view url);

/** The message for another URL, where an option could allow it. */
#define WRIT_HOST_PLAIN(what)                                                                      \
    "is plain http beyond loopback, where others can read and change " what                        \
    ". Use https, or set insecure: true for a network of your own"

/** True for an entry of `host_in`: "example.com", "*.example.com" (any host below it, not itself),
 * "127.0.0.1", "[::1]", each with an optional ":port". In lower case. */
bool writ_host_is_entry(struct writ_view entry);

/** True when `entry` covers the URL. An entry without port covers the scheme's own port alone. */
bool writ_host_covers(struct writ_view entry, const struct writ_url *url);

#endif
