/* syslog_stream.h - sends syslog messages over TCP or TLS (RFC 6587, RFC 5425).
 *
 * Syslog has no acknowledgement, and bytes that are written may still be lost in the buffers of
 * both systems. So each batch is one connection: it ends with close_notify and the end of the
 * stream, and counts as delivered when the receiver has closed in turn. A receiver that was killed
 * with unread bytes resets the connection instead. Over TLS a receiver that does not answer with
 * close_notify may have been killed after its last read: then the batch does not count either,
 * except with `plain_close`, for receivers that never send one.
 *
 * Blocks, with a limit; any thread. */
#ifndef WRIT_GATEWAY_SYSLOG_STREAM_H
#define WRIT_GATEWAY_SYSLOG_STREAM_H

#include "base/bytes.h"

#include <stdatomic.h>

#define WRIT_SYSLOG_TIMEOUT_MS 30000 /* for one batch, in all */

/** A receiver. NUL-terminated texts. Zero-initialise, then writ_syslog_stream_place. */
struct writ_syslog_place {
    char host[256]; /* without brackets */
    uint16_t port;
    bool tls;
    const char *ca, *cert, *key; /* PEM files of TLS; NULL: the system's authorities, none */
    bool plain_close;            /* of TLS: the end of the bytes is enough, without close_notify */
};

/** True for a URL of a syslog receiver. */
bool writ_syslog_stream_is_url(struct writ_view url);

/** Reads syslog+tls://HOST[:6514], or syslog+tcp://LOOPBACK[:601]: plain TCP stays on this machine.
 * Sets host, port and tls. WRIT_E_INVALID. */
WRIT_RESULT writ_syslog_stream_place(
    const char *url, struct writ_syslog_place *ret, struct writ_err *err);

/**
 * Sends a batch over one connection, and waits until the receiver has taken it.
 *
 * @param stop  cancels soon after it becomes true; may be NULL
 *
 * @return WRIT_OK
 *         WRIT_E_IO      no connection, or it was lost: the receiver may have some of the messages
 *         WRIT_E_CRYPTO  a file of TLS is not usable
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_syslog_stream_send(const struct writ_syslog_place *place, struct writ_view batch,
    const atomic_bool *stop, struct writ_err *err);

#endif
