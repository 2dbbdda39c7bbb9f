/* A socket that sends bytes unchanged and reads until a condition or a timeout. */
#include "support/gateway/raw.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

int
raw_connect(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    WRIT_INVARIANT(fd >= 0);
    WRIT_INVARIANT(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

bool
raw_send(int fd, struct writ_view bytes)
{
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        bytes = writ_view_sub(bytes, (size_t)n, bytes.len);
    }
    return true;
}

bool
raw_text(int fd, const char *text)
{
    return raw_send(fd, writ_view_str(text));
}

bool
raw_wait(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, RAW_WAIT_MS) > 0;
}

/* One read: 1 for bytes, 0 for closed, -1 for a timeout. */
static int
read_some(int fd, struct writ_buf *ret)
{
    char *to;
    ssize_t n;

    if (!raw_wait(fd)) {
        return -1;
    }
    to = writ_buf_reserve(ret, 65536);
    WRIT_INVARIANT(to != NULL);
    n = recv(fd, to, 65536, 0);
    if (n <= 0) {
        return 0;
    }
    ret->len += (size_t)n;
    return 1;
}

bool
raw_drain(int fd, struct writ_buf *ret)
{
    int r = 1;

    while (r > 0) {
        r = read_some(fd, ret);
    }
    return r == 0;
}

/* The length of the response at the begin of `bytes`, or 0 when it is not whole. */
static size_t
whole_response(struct writ_view bytes)
{
    size_t head = writ_view_search(bytes, WRIT_LIT("\r\n\r\n"));
    struct writ_view fields = writ_view_sub(bytes, 0, head + 2);
    size_t at = writ_view_search(fields, WRIT_LIT("\r\nContent-Length: "));
    struct writ_view number = writ_view_sub(fields, at + 18, fields.len);
    uint64_t length = 0;

    if (head == bytes.len) {
        return 0;
    }
    number = writ_view_sub(number, 0, writ_view_find(number, '\r'));
    if (at < fields.len) {
        WRIT_INVARIANT(writ_is_ok(writ_text_u64(number, 0, RAW_BYTES_MAX, &length)));
    }
    return bytes.len - head - 4 >= length ? head + 4 + (size_t)length : 0;
}

unsigned
raw_count(struct writ_view bytes)
{
    unsigned count = 0;

    for (size_t n = whole_response(bytes); n > 0; n = whole_response(bytes)) {
        count++;
        bytes = writ_view_sub(bytes, n, bytes.len);
        if (!writ_view_has_prefix(bytes, WRIT_LIT("HTTP/1.1 "))) {
            break;
        }
    }
    return count;
}

unsigned
raw_responses(int fd, unsigned count, struct writ_buf *ret)
{
    while (raw_count(writ_buf_view(ret)) < count && read_some(fd, ret) > 0) {
    }
    return raw_count(writ_buf_view(ret));
}

unsigned
raw_status(struct writ_view bytes)
{
    uint64_t status = 0;

    if (!writ_view_has_prefix(bytes, WRIT_LIT("HTTP/1.1 ")) ||
        !writ_is_ok(writ_text_u64(writ_view_sub(bytes, 9, 3), 100, 599, &status))) {
        return 0;
    }
    return (unsigned)status;
}

unsigned
raw_ask(uint16_t port, struct writ_view request, struct writ_buf *ret)
{
    int fd = raw_connect(port);

    (void)raw_send(fd, request);
    (void)shutdown(fd, SHUT_WR);
    (void)raw_drain(fd, ret);
    (void)close(fd);
    return raw_status(writ_buf_view(ret));
}

void
raw_reset(int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    (void)close(fd);
}
