/* socket.c - non-blocking reads and writes on one descriptor, plain or through OpenSSL. After the
 * first failure the socket is broken and keeps that fault. OpenSSL's error queue is empty after
 * every call. */
#include "gateway/io/socket.h"

#include "base/alloc.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX 16384 /* of TLS: the bytes that one write call puts into one record */
#define VIEWS_MAX  4

struct writ_socket {
    int fd;
    SSL *ssl; /* NULL: plain */
    bool connected, ready, broken, cut;
    const char *fault;
    struct writ_buf record; /* the views of one TLS write, side by side */
};

static enum writ_socket_io
broken(struct writ_socket *socket, const char *fault)
{
    socket->broken = true;
    socket->fault = fault;
    return WRIT_SOCKET_FAILED;
}

static enum writ_socket_io
broken_errno(struct writ_socket *socket, int fault)
{
    const char *text = strerrordesc_np(fault);

    return broken(socket, text != NULL ? text : "unknown error");
}

static bool
is_again(int fault)
{
    return fault == EAGAIN || fault == EWOULDBLOCK || fault == EINTR;
}

/* the meaning of a failed call of OpenSSL; its error queue is empty afterwards */
static enum writ_socket_io
tls_result(struct writ_socket *socket, int returned)
{
    int saved = errno;
    int kind = SSL_get_error(socket->ssl, returned);
    unsigned long reason = ERR_peek_error();
    long verified = SSL_get_verify_result(socket->ssl);

    ERR_clear_error();
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
        return WRIT_SOCKET_AGAIN;
    }
    if (kind == SSL_ERROR_ZERO_RETURN) {
        return WRIT_SOCKET_CLOSED;
    }
    if (!socket->ready && verified != X509_V_OK) {
        return broken(socket, X509_verify_cert_error_string(verified));
    }
    socket->cut = (kind == SSL_ERROR_SYSCALL && saved == 0) ||
                  ERR_GET_REASON(reason) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    if (kind == SSL_ERROR_SYSCALL) {
        return saved != 0 ? broken_errno(socket, saved) : broken(socket, "closed without notice");
    }
    return broken(socket, reason != 0 && ERR_reason_error_string(reason) != NULL
                              ? ERR_reason_error_string(reason)
                              : "TLS error");
}

/* ---- opening */

static WRIT_RESULT
start_connect(int fd, const struct writ_address *address, struct writ_err *err)
{
    int one = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (const struct sockaddr *)&address->sock, address->len) != 0 &&
        errno != EINPROGRESS) {
        WRIT_FAIL(err, WRIT_E_IO, "%s", strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

writ_result
writ_socket_open(const struct writ_address *address, struct writ_tls *tls, struct writ_socket **ret,
    struct writ_err *err)
{
    struct writ_socket *opened = writ_alloc(sizeof *opened);
    writ_result r;

    if (opened == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a connection");
    }
    opened->record = writ_buf_make(RECORD_MAX);
    opened->fd = socket(address->sock.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (opened->fd < 0) {
        int fault = errno;
        writ_socket_close(opened);
        WRIT_FAIL(
            err, fault == EAFNOSUPPORT ? WRIT_E_IO : WRIT_E_NOMEM, "%s", strerrordesc_np(fault));
    }
    r = start_connect(opened->fd, address, err);
    if (!writ_is_ok(r)) {
        writ_socket_close(opened);
        return r;
    }
    if (tls != NULL) {
        opened->ssl = writ_tls_session(tls, opened->fd);
        if (opened->ssl == NULL) {
            writ_socket_close(opened);
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for TLS");
        }
    }
    *ret = opened;
    return WRIT_DONE;
}

void
writ_socket_close(struct writ_socket *socket)
{
    if (socket == NULL) {
        return;
    }
    if (socket->ssl != NULL) {
        if (socket->ready && !socket->broken) {
            (void)SSL_shutdown(socket->ssl); /* sends the end; waits for nothing */
            ERR_clear_error();
        }
        SSL_free(socket->ssl);
    }
    writ_buf_wipe(&socket->record);
    if (socket->fd >= 0) {
        (void)close(socket->fd);
    }
    writ_free(socket);
}

int
writ_socket_fd(const struct writ_socket *socket)
{
    return socket->fd;
}

bool
writ_socket_is_secure(const struct writ_socket *socket)
{
    return socket->ssl != NULL;
}

bool
writ_socket_is_connected(const struct writ_socket *socket)
{
    return socket->connected;
}

bool
writ_socket_is_cut(const struct writ_socket *socket)
{
    return socket->cut;
}

const char *
writ_socket_fault(const struct writ_socket *socket)
{
    return socket->fault != NULL ? socket->fault : "";
}

static enum writ_socket_io
finish_connect(struct writ_socket *socket)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof peer, len = sizeof(int);
    int fault = 0;

    if (getsockopt(socket->fd, SOL_SOCKET, SO_ERROR, &fault, &len) != 0) {
        fault = errno;
    }
    if (fault != 0) {
        return broken_errno(socket, fault);
    }
    if (getpeername(socket->fd, (struct sockaddr *)&peer, &peer_len) != 0) {
        return WRIT_SOCKET_AGAIN; /* still under way */
    }
    socket->connected = true;
    return WRIT_SOCKET_DONE;
}

enum writ_socket_io
writ_socket_handshake(struct writ_socket *socket)
{
    if (!socket->connected) {
        enum writ_socket_io io = finish_connect(socket);
        if (io != WRIT_SOCKET_DONE) {
            return io;
        }
    }
    if (socket->ssl != NULL && !socket->ready) {
        int returned;
        errno = 0;
        returned = SSL_do_handshake(socket->ssl);
        if (returned != 1) {
            enum writ_socket_io io = tls_result(socket, returned);
            return io == WRIT_SOCKET_CLOSED ? broken(socket, "closed during the handshake") : io;
        }
    }
    socket->ready = true;
    return WRIT_SOCKET_DONE;
}

/* ---- bytes */

static enum writ_socket_io
write_plain(struct writ_socket *socket, const struct writ_view *views, size_t count, size_t *ret)
{
    struct iovec pieces[VIEWS_MAX];
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t written;

    for (size_t i = 0; i < count; i++) {
        pieces[i] = (struct iovec){(char *)views[i].ptr, views[i].len};
    }
    written = sendmsg(socket->fd, &message, MSG_NOSIGNAL);
    if (written < 0) {
        return is_again(errno) ? WRIT_SOCKET_AGAIN : broken_errno(socket, errno);
    }
    *ret = (size_t)written;
    return WRIT_SOCKET_DONE;
}

static enum writ_socket_io
write_tls(struct writ_socket *socket, const struct writ_view *views, size_t count, size_t *ret)
{
    int returned;

    writ_buf_clear(&socket->record);
    for (size_t i = 0; i < count; i++) { /* one record, one system call, as a plain writev */
        writ_buf_put(&socket->record, writ_view_sub(views[i], 0, RECORD_MAX - socket->record.len));
    }
    if (!writ_is_ok(writ_buf_check(&socket->record, NULL))) {
        return broken(socket, "no memory for a TLS record");
    }
    errno = 0;
    returned = SSL_write(socket->ssl, socket->record.ptr, (int)socket->record.len);
    if (returned <= 0) {
        enum writ_socket_io io = tls_result(socket, returned);
        return io == WRIT_SOCKET_CLOSED ? broken(socket, "closed while writing") : io;
    }
    *ret = (size_t)returned;
    return WRIT_SOCKET_DONE;
}

enum writ_socket_io
writ_socket_write(
    struct writ_socket *socket, const struct writ_view *views, size_t count, size_t *ret)
{
    WRIT_INVARIANT(count <= VIEWS_MAX);
    return socket->ssl != NULL ? write_tls(socket, views, count, ret)
                               : write_plain(socket, views, count, ret);
}

enum writ_socket_io
writ_socket_read(struct writ_socket *socket, char *to, size_t max, size_t *ret)
{
    ssize_t got;

    if (socket->ssl != NULL) {
        int returned;
        errno = 0;
        returned = SSL_read(socket->ssl, to, (int)max);
        if (returned <= 0) {
            return tls_result(socket, returned);
        }
        *ret = (size_t)returned;
        return WRIT_SOCKET_DONE;
    }
    got = recv(socket->fd, to, max, 0);
    if (got < 0) {
        return is_again(errno) ? WRIT_SOCKET_AGAIN : broken_errno(socket, errno);
    }
    if (got == 0) {
        return WRIT_SOCKET_CLOSED;
    }
    *ret = (size_t)got;
    return WRIT_SOCKET_DONE;
}

enum writ_socket_io
writ_socket_finish(struct writ_socket *socket)
{
    if (socket->ssl != NULL) {
        int returned;

        errno = 0;
        returned = SSL_shutdown(socket->ssl); /* 0: sent, and that of the other side is awaited */
        if (returned < 0) {
            return tls_result(socket, returned);
        }
    }
    return shutdown(socket->fd, SHUT_WR) == 0 ? WRIT_SOCKET_DONE : broken_errno(socket, errno);
}

enum writ_socket_io
writ_socket_peek(struct writ_socket *socket)
{
    char byte;
    ssize_t got;

    if (socket->ssl != NULL) {
        int returned;
        errno = 0;
        returned = SSL_peek(socket->ssl, &byte, 1); /* takes tickets and alerts, leaves data */
        return returned > 0 ? WRIT_SOCKET_DONE : tls_result(socket, returned);
    }
    got = recv(socket->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0) {
        return is_again(errno) ? WRIT_SOCKET_AGAIN : broken_errno(socket, errno);
    }
    return got == 0 ? WRIT_SOCKET_CLOSED : WRIT_SOCKET_DONE;
}
