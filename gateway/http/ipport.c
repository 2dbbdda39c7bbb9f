/* ipport.c - reads literal addresses only, never names. An IPv4 address mapped into IPv6 is treated
 * as the IPv4 address. */
#include "gateway/http/ipport.h"

#include "base/text.h"
#include "gateway/http/framing.h"

#include <arpa/inet.h>

static bool
read_ip(struct writ_view name, union writ_ipport *ret)
{
    char text[INET6_ADDRSTRLEN + 1] = {0};
    struct writ_buf copy = {.ptr = text, .cap = sizeof text - 1, .max = sizeof text - 1};
    bool six = name.len > 2 && name.ptr[0] == '[';

    writ_buf_put(&copy, six ? writ_view_sub(name, 1, name.len - 2) : name);
    if (!writ_is_ok(writ_buf_check(&copy, NULL))) {
        return false;
    }
    ret->any.sa_family = six ? AF_INET6 : AF_INET;
    return inet_pton(ret->any.sa_family, text,
               six ? (void *)&ret->in6.sin6_addr : (void *)&ret->in.sin_addr) == 1;
}

WRIT_RESULT
writ_ipport_read(struct writ_view text, union writ_ipport *ret, struct writ_err *err)
{
    union writ_ipport endpoint = {0};
    struct writ_view name, port;
    uint64_t number = 0;

    writ_framing_split_host(text, &name, &port);
    if (!writ_is_ok(writ_text_u64(port, 0, UINT16_MAX, &number)) || !read_ip(name, &endpoint)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "an address is a literal IP address and a port, as 127.0.0.1:8700 or [::1]:8700");
    }
    writ_ipport_set_port(&endpoint, (uint16_t)number);
    *ret = endpoint;
    return WRIT_DONE;
}

static bool
is_mapped(const union writ_ipport *endpoint)
{
    return endpoint->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&endpoint->in6.sin6_addr);
}

struct writ_view
writ_ipport_text(const union writ_ipport *endpoint, bool with_port, char ret[WRIT_IPPORT_TEXT])
{
    struct writ_buf text = {.ptr = ret, .cap = WRIT_IPPORT_TEXT, .max = WRIT_IPPORT_TEXT};
    char host[INET6_ADDRSTRLEN] = "?";

    if (endpoint->any.sa_family == AF_INET) {
        (void)inet_ntop(AF_INET, &endpoint->in.sin_addr, host, sizeof host);
        writ_buf_str(&text, host);
    } else if (is_mapped(endpoint)) {
        (void)inet_ntop(AF_INET, &endpoint->in6.sin6_addr.s6_addr[12], host, sizeof host);
        writ_buf_str(&text, host);
    } else {
        (void)inet_ntop(AF_INET6, &endpoint->in6.sin6_addr, host, sizeof host);
        writ_buf_fmt(&text, "[%s]", host);
    }
    if (with_port) {
        writ_buf_fmt(&text, ":%u", writ_ipport_port(endpoint));
    }
    return writ_buf_view(&text);
}

bool
writ_ipport_is_loopback(const union writ_ipport *endpoint)
{
    if (endpoint->any.sa_family == AF_INET) {
        return ntohl(endpoint->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    return IN6_IS_ADDR_LOOPBACK(&endpoint->in6.sin6_addr) ||
           (is_mapped(endpoint) && endpoint->in6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

bool
writ_ipport_is_wildcard(const union writ_ipport *endpoint)
{
    if (endpoint->any.sa_family == AF_INET) {
        return endpoint->in.sin_addr.s_addr == htonl(INADDR_ANY);
    }
    return IN6_IS_ADDR_UNSPECIFIED(&endpoint->in6.sin6_addr);
}

uint16_t
writ_ipport_port(const union writ_ipport *endpoint)
{
    return ntohs(
        endpoint->any.sa_family == AF_INET ? endpoint->in.sin_port : endpoint->in6.sin6_port);
}

void
writ_ipport_set_port(union writ_ipport *endpoint, uint16_t port)
{
    if (endpoint->any.sa_family == AF_INET) {
        endpoint->in.sin_port = htons(port);
    } else {
        endpoint->in6.sin6_port = htons(port);
    }
}

socklen_t
writ_ipport_len(const union writ_ipport *endpoint)
{
    return endpoint->any.sa_family == AF_INET ? sizeof endpoint->in : sizeof endpoint->in6;
}
