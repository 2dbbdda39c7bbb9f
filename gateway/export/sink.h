/* sink.h - where events go, and when a batch of them counts as delivered:
 *
 *     https://...       one POST of lines; an answer of 2xx (http on loopback)
 *     syslog+tls://...  one connection; its orderly end (syslog_stream.h)
 *     standard output   a complete write
 *
 * Secrets come from files, which are read for each batch, so that a new one needs no restart. */
#ifndef WRIT_GATEWAY_SINK_H
#define WRIT_GATEWAY_SINK_H

#include "evidence/event/export_format.h"
#include "gateway/export/syslog_stream.h"

#define WRIT_SINK_TIMEOUT_MS 30000 /* for an answer of a collector */

/** NUL-terminated texts, borrowed until close. */
struct writ_sink_options {
    const char *to;         /* a URL; NULL: standard output */
    const char *ca;         /* PEM; NULL: the system's authorities */
    const char *token;      /* file of the secret of an https collector; NULL: none */
    const char *scheme;     /* of the token in Authorization; NULL: Bearer */
    const char *cert, *key; /* PEM files of a client certificate; NULL: none */
    bool plain_close;       /* as that of struct writ_syslog_place */
    enum writ_export_format format;
};

struct writ_sink;

/** WRIT_E_INVALID: the URL is not allowed, or an option does not fit it; WRIT_E_NOMEM. `ret` is
 * new, free with writ_sink_close. */
WRIT_RESULT writ_sink_open(
    const struct writ_sink_options *options, struct writ_sink **ret, struct writ_err *err);
void writ_sink_close(struct writ_sink *sink);

/** Appends one event as the sink needs it: a line, or a frame of syslog. The failures of the
 * buffer. */
WRIT_RESULT writ_sink_encode(const struct writ_sink *sink, const struct writ_export_event *event,
    struct writ_buf *batch, struct writ_err *err);

/**
 * Delivers a batch.
 *
 * @param batch  gets a NUL behind it meanwhile
 * @param stop   cancels soon after it becomes true; may be NULL
 *
 * @return WRIT_OK  the receiver has all of it
 *         WRIT_E_IO, WRIT_E_CRYPTO (TLS), WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_LIMIT (the file of
 *         the token), WRIT_E_NOMEM: it has all, a part, or nothing
 *
 * Blocks.
 */
WRIT_RESULT writ_sink_deliver(
    struct writ_sink *sink, struct writ_buf *batch, const atomic_bool *stop, struct writ_err *err);

#endif
