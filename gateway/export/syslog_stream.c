/* One connection, driven by poll: connect, write, end, wait for the other end. */
#include "gateway/export/syslog_stream.h"

#include "base/clock.h"
#include "base/text.h"
#include "gateway/io/socket.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>

#define TLS_URL    "syslog+tls://"
#define TCP_URL    "syslog+tcp://"
#define TLS_PORT   6514 /* RFC 5425 */
#define TCP_PORT   601  /* RFC 3195, as receivers use it */
#define SLICE_MS   50   /* how soon a stop is noticed */
#define MS_US      1000
#define READ_BYTES 4096
#define ANSWER_MAX ((size_t)1 << 20) /* bytes of a receiver, which are dropped */

static void
tls_freep(struct writ_tls **tls)
{
    if (*tls != NULL) {
        writ_tls_close(*tls);
    }
}

static void
socket_freep(struct writ_socket **socket)
{
    writ_socket_close(*socket);
}

static void
found_freep(struct addrinfo **found)
{
    if (*found != NULL) {
        freeaddrinfo(*found);
    }
}

/* ---- where to */

bool
writ_syslog_stream_is_url(struct writ_view url)
{
    return writ_view_has_prefix(url, WRIT_LIT(TLS_URL)) ||
           writ_view_has_prefix(url, WRIT_LIT(TCP_URL));
}

static WRIT_RESULT
refuse(const char *url, const char *why, struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_INVALID, "%s: %s", url, why);
}

/* Splits HOST, HOST:PORT or [ADDRESS]:PORT. */
static bool
split(struct writ_view rest, struct writ_view *ret_host, struct writ_view *ret_port)
{
    size_t end = writ_view_find(rest, ':');

    if (rest.len > 0 && rest.ptr[0] == '[') {
        end = writ_view_find(rest, ']');
        *ret_host = writ_view_sub(rest, 1, end - 1);
        rest = writ_view_sub(rest, end + 1, rest.len);
        end = 0;
        if (rest.len > 0 && rest.ptr[0] != ':') {
            return false;
        }
    } else {
        *ret_host = writ_view_sub(rest, 0, end);
    }
    *ret_port = writ_view_sub(rest, end + 1, rest.len);
    return end == rest.len || ret_port->len > 0 || rest.len == 0;
}

static bool
is_loopback(struct writ_view host)
{
    return writ_view_is(host, "127.0.0.1") || writ_view_is(host, "::1") ||
           writ_view_is(host, "localhost");
}

WRIT_RESULT
writ_syslog_stream_place(const char *url, struct writ_syslog_place *ret, struct writ_err *err)
{
    struct writ_view text = writ_view_str(url), host, port;
    bool tls = writ_view_has_prefix(text, WRIT_LIT(TLS_URL));
    uint64_t number = tls ? TLS_PORT : TCP_PORT;

    if (!writ_syslog_stream_is_url(text)) {
        return refuse(url, "not a URL of a syslog receiver", err);
    }
    text = writ_view_sub(text, sizeof TLS_URL - 1, text.len);
    if (writ_view_find(text, '/') < text.len || writ_view_find(text, '@') < text.len ||
        !split(text, &host, &port) || host.len == 0 || host.len >= sizeof ret->host ||
        (port.len > 0 && !writ_is_ok(writ_text_u64(port, 1, UINT16_MAX, &number)))) {
        return refuse(url, "write syslog+tls://HOST:PORT", err);
    }
    if (!tls && !is_loopback(host)) {
        return refuse(url, "plain TCP is for receivers on this machine: use syslog+tls://", err);
    }
    (void)writ_view_place(host, ret->host);
    ret->host[host.len] = '\0';
    ret->port = (uint16_t)number;
    ret->tls = tls;
    return WRIT_DONE;
}

/* ---- waiting */

struct delivery {
    const struct writ_syslog_place *place;
    const atomic_bool *stop;
    int64_t deadline_us;
    struct writ_socket *socket;
    struct writ_err *err;
};

static int64_t
now_us(void)
{
    return writ_clock_mono_us(writ_clock_system());
}

static WRIT_RESULT
fail(const struct delivery *d, const char *why)
{
    WRIT_FAIL(d->err, WRIT_E_IO, "%s:%u: %s", d->place->host, d->place->port, why);
}

/* Waits for the socket, for a slice of time at most. */
static WRIT_RESULT
rest(const struct delivery *d, short events)
{
    struct pollfd one = {.fd = writ_socket_fd(d->socket), .events = events};

    if (d->stop != NULL && atomic_load(d->stop)) {
        return fail(d, "cancelled");
    }
    if (now_us() >= d->deadline_us) {
        return fail(d, "too slow");
    }
    (void)poll(&one, 1, SLICE_MS);
    return WRIT_DONE;
}

static WRIT_RESULT
connect_to(struct delivery *d)
{
    enum writ_socket_io io;

    while ((io = writ_socket_handshake(d->socket)) == WRIT_SOCKET_AGAIN) {
        WRIT_TRY(rest(d, writ_socket_is_connected(d->socket) ? POLLIN : POLLOUT));
    }
    return io == WRIT_SOCKET_DONE ? WRIT_DONE : fail(d, writ_socket_fault(d->socket));
}

static WRIT_RESULT
write_all(struct delivery *d, struct writ_view batch)
{
    while (batch.len > 0) {
        size_t n = 0;
        enum writ_socket_io io = writ_socket_write(d->socket, &batch, 1, &n);

        if (io == WRIT_SOCKET_AGAIN) {
            WRIT_TRY(rest(d, POLLOUT));
            continue;
        }
        if (io != WRIT_SOCKET_DONE) {
            return fail(d, writ_socket_fault(d->socket));
        }
        batch = writ_view_sub(batch, n, batch.len);
    }
    return WRIT_DONE;
}

/* Ends the stream, and reads until the receiver has ended its side. */
static WRIT_RESULT
finish(struct delivery *d)
{
    char bytes[READ_BYTES];
    enum writ_socket_io io;
    size_t n = 0, all = 0;

    while ((io = writ_socket_finish(d->socket)) == WRIT_SOCKET_AGAIN) {
        WRIT_TRY(rest(d, POLLOUT));
    }
    while (io == WRIT_SOCKET_DONE && all < ANSWER_MAX) {
        io = writ_socket_read(d->socket, bytes, sizeof bytes, &n);
        if (io == WRIT_SOCKET_AGAIN) {
            WRIT_TRY(rest(d, POLLIN));
            io = WRIT_SOCKET_DONE;
            continue;
        }
        all += n;
    }
    if (io == WRIT_SOCKET_FAILED && d->place->plain_close && writ_socket_is_cut(d->socket)) {
        return WRIT_DONE;
    }
    if (io != WRIT_SOCKET_CLOSED) {
        return fail(d, io == WRIT_SOCKET_DONE ? "the receiver does not stop sending"
                                              : writ_socket_fault(d->socket));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
send_to(
    struct delivery *d, const struct addrinfo *found, struct writ_tls *tls, struct writ_view batch)
{
    WRIT_AUTO(struct writ_socket *, socket_freep) socket = NULL;
    struct writ_address address = {.len = found->ai_addrlen};

    (void)writ_view_place(writ_view(found->ai_addr, found->ai_addrlen), (char *)&address.sock);
    WRIT_TRY(writ_socket_open(&address, tls, &socket, d->err));
    d->socket = socket;
    WRIT_TRY(connect_to(d));
    WRIT_TRY(write_all(d, batch));
    return finish(d);
}

static WRIT_RESULT
resolve(const struct delivery *d, struct addrinfo **ret)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char memory[8];
    struct writ_buf port = writ_buf_over(memory, sizeof memory);
    int fault;

    writ_buf_u64(&port, d->place->port);
    writ_buf_byte(&port, '\0');
    fault = getaddrinfo(d->place->host, memory, &hints, ret);
    return fault == 0 ? WRIT_DONE : fail(d, gai_strerror(fault));
}

WRIT_RESULT
writ_syslog_stream_send(const struct writ_syslog_place *place, struct writ_view batch,
    const atomic_bool *stop, struct writ_err *err)
{
    WRIT_AUTO(struct addrinfo *, found_freep) found = NULL;
    WRIT_AUTO(struct writ_tls *, tls_freep) tls = NULL;
    struct delivery d = {.place = place,
        .stop = stop,
        .err = err,
        .deadline_us = now_us() + (int64_t)WRIT_SYSLOG_TIMEOUT_MS * MS_US};
    const struct writ_tls_options options = {.host = place->host,
        .ca_file = place->ca,
        .cert_file = place->cert,
        .key_file = place->key};
    writ_result result = {WRIT_E_IO};

    WRIT_TRY(resolve(&d, &found));
    if (place->tls) {
        struct writ_addresses numeric;
        struct writ_tls_options named = options;

        named.host_is_address =
            writ_resolver_numeric(writ_view_str(place->host), place->port, &numeric);
        WRIT_TRY(writ_tls_open(&named, &tls, err));
    }
    for (const struct addrinfo *one = found; one != NULL && !writ_is_ok(result);
         one = one->ai_next) {
        result = send_to(&d, one, tls, batch);
    }
    return result;
}
