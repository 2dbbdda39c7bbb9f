/* fetch.h - one GET or POST with libcurl, for requests outside of calls, to URLs of the
 * configuration: the key sets of issuers, tokens for upstreams; and for commands that talk to a
 * gateway.
 *
 * https, or http to a loopback address; nothing else. No redirects, no proxies whatever the
 * environment says, no .netrc, no credentials in the URL; the certificate is verified. Time and
 * size have limits, and another thread can cancel a fetch. */
#ifndef WRIT_GATEWAY_FETCH_H
#define WRIT_GATEWAY_FETCH_H

#include "base/bytes.h"

#include <stdatomic.h>

/** A URL in an error text: without its query, which may be a secret. */
#define WRIT_FETCH_FMT      "%.*s"
#define WRIT_FETCH_ARG(url) writ_fetch_named(url), (url)
/** How many bytes of it may be shown. */
int writ_fetch_named(const char *url);

/** A URL to which something is posted, in an error text: its scheme and host, because the path may
 * be a secret, as that of an incoming webhook. */
#define WRIT_FETCH_POST_ARG(url) writ_fetch_origin(url), (url)
/** How many bytes of it may be shown; all, if it is not a URL. */
int writ_fetch_origin(const char *url);

/** WRIT_OK when the URL may be fetched; else WRIT_E_INVALID, with its fault. */
WRIT_RESULT writ_fetch_check(const char *url, struct writ_err *err);

/**
 * Fetches, and appends the body of a 200 answer to `ret`.
 *
 * @param url         NUL-terminated
 * @param timeout_ms  in all
 * @param stop        cancels soon after it becomes true; may be NULL
 * @param ret         its maximum is the longest accepted body
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  as writ_fetch_check
 *         WRIT_E_LIMIT    the body is longer than `ret` may become
 *         WRIT_E_IO       no connection, not 200, too slow, cancelled
 *         WRIT_E_NOMEM
 *
 * Blocks; any thread.
 */
WRIT_RESULT writ_fetch_get(const char *url, int64_t timeout_ms, const atomic_bool *stop,
    struct writ_buf *ret, struct writ_err *err);

/** A connection that stays open between requests to one server. For one thread at a time. */
struct writ_fetch_link;
/** NULL without memory. Free with writ_fetch_link_free. */
struct writ_fetch_link *writ_fetch_link_new(void);
void writ_fetch_link_free(struct writ_fetch_link *link);

/** A request. NUL-terminated; body, authorization and fields hold secrets, which errors never
 * show. */
struct writ_fetch_request {
    const char *accept;           /* a whole field; NULL: "Accept: application/json" */
    const char *body;             /* of a POST; NULL: a GET */
    size_t body_len;              /* 0: up to its NUL */
    const char *type;             /* of the body: "Content-Type: ..."; NULL: a form, urlencoded */
    const char *authorization;    /* a whole field, "Authorization: Basic ..."; NULL: none */
    const char *ca_file;          /* PEM; NULL: the system's authorities */
    const char *cert_file;        /* PEM of a client certificate; NULL: none */
    const char *key_file;         /* PEM, unencrypted; NULL without a certificate */
    const char *const *fields;    /* whole fields besides those, NULL at their end; or NULL */
    struct writ_fetch_link *link; /* NULL: a connection of its own */
    int64_t *ret_retry_us;        /* Retry-After of the answer, or 0; NULL: not asked for */
};

/** Sends a request, and appends the body of the answer, whatever its status, which goes to
 * `ret_status`. With timeout_ms 0 the answer may take any time: only connecting has a limit, 30 s.
 * Otherwise as writ_fetch_get. */
WRIT_RESULT writ_fetch_ask(const char *url, const struct writ_fetch_request *request,
    int64_t timeout_ms, const atomic_bool *stop, long *ret_status, struct writ_buf *ret,
    struct writ_err *err);

/**
 * Connects to an https URL, and appends the certificates that the server presents, its own first,
 * as PEM. Nothing is requested.
 *
 * @param ca_file  PEM; NULL: the system's authorities. A server that they do not vouch for is a
 *                 failure
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  as writ_fetch_check
 *         WRIT_E_IO       no connection, not trusted, too slow
 *         WRIT_E_NOMEM, WRIT_E_LIMIT (`ret`)
 *
 * Blocks; any thread.
 */
WRIT_RESULT writ_fetch_certificates(const char *url, const char *ca_file, int64_t timeout_ms,
    struct writ_buf *ret, struct writ_err *err);

#endif
