/* mail.h - sends one mail over SMTP with libcurl, to a server of the configuration.
 *
 * The connection is encrypted, and the certificate verified: TLS from the beginning (smtps://), or
 * STARTTLS (smtp://), without which nothing is sent. Only a server on a loopback address, without
 * `ca_file`, gets mail over a plain connection. */
#ifndef WRIT_GATEWAY_MAIL_H
#define WRIT_GATEWAY_MAIL_H

#include "policy/model/config.h"

#include <stdatomic.h>

/** One mail. Texts are NUL-terminated where they are pointers; borrowed for the call. */
struct writ_mail {
    const char *server;          /* smtp://host:port or smtps://host:port */
    const char *user, *password; /* NULL: none */
    const char *ca_file;         /* PEM; NULL: the system's authorities */
    struct writ_view from;       /* addresses: no control characters, spaces or brackets */
    struct writ_views to;        /* at least one */
    struct writ_view subject;    /* ASCII, one line */
    struct writ_view text;       /* UTF-8, of any lines */
    struct writ_view id;         /* unique: letters, digits, '-' */
    int64_t time_us;             /* wall time: its Date */
};

/** Appends the mail as it is sent: head, and the text in base64. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_mail_put(const struct writ_mail *mail, struct writ_buf *ret, struct writ_err *err);

/**
 * Sends it, to all recipients or none.
 *
 * @param timeout_ms  in all
 * @param stop        cancels soon after it becomes true; may be NULL
 *
 * @return WRIT_OK         the server has taken it
 *         WRIT_E_INVALID  not a URL of SMTP
 *         WRIT_E_IO       no connection, no TLS, refused, too slow, cancelled
 *         WRIT_E_NOMEM
 *
 * Errors name the server, never the password. Blocks; any thread.
 */
WRIT_RESULT writ_mail_send(const struct writ_mail *mail, int64_t timeout_ms,
    const atomic_bool *stop, struct writ_err *err);

#endif
