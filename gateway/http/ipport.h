/* ipport.h - an IP address with a port. Pure. */
#ifndef WRIT_GATEWAY_IPPORT_H
#define WRIT_GATEWAY_IPPORT_H

#include "base/bytes.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define WRIT_IPPORT_TEXT 56 /* the longest text, "[" IPv6 "]:65535", and room */

/** Zero-initialise it; `any.sa_family` selects the member. */
union writ_ipport {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_storage storage;
};

/** Reads a literal address and a port: "127.0.0.1:8700", "[::1]:0". WRIT_E_INVALID. */
WRIT_RESULT writ_ipport_read(struct writ_view text, union writ_ipport *ret, struct writ_err *err);

/** The address as text, with or without its port; an IPv4 address mapped into IPv6 as an IPv4
 * address. The view lies in `ret`. */
struct writ_view writ_ipport_text(
    const union writ_ipport *endpoint, bool with_port, char ret[WRIT_IPPORT_TEXT]);

/** 127.0.0.0/8, ::1, and the former mapped into IPv6. */
bool writ_ipport_is_loopback(const union writ_ipport *endpoint);

/** 0.0.0.0 or :: */
bool writ_ipport_is_wildcard(const union writ_ipport *endpoint);

uint16_t writ_ipport_port(const union writ_ipport *endpoint);
void writ_ipport_set_port(union writ_ipport *endpoint, uint16_t port);

/** The length for bind and connect. */
socklen_t writ_ipport_len(const union writ_ipport *endpoint);

#endif
