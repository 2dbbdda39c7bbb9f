/* transfer.h - what every transfer with libcurl has in common: no proxy whatever the environment
 * says, no .netrc, a verified certificate, a limit of time, and another thread that can cancel it.
 */
#ifndef WRIT_GATEWAY_TRANSFER_H
#define WRIT_GATEWAY_TRANSFER_H

#include "base/bytes.h"

#include <curl/curl.h>
#include <stdatomic.h>

/** Texts are NUL-terminated. */
struct writ_transfer {
    const char *url;
    const char *protocols;   /* "http,https" */
    const char *ca_file;     /* PEM; NULL: the system's authorities */
    int64_t timeout_ms;      /* in all; 0: none */
    const atomic_bool *stop; /* cancels soon after it becomes true; may be NULL */
};

/** A handle; NULL without memory, or if libcurl cannot be used. Any thread. */
CURL *writ_transfer_new(void);

/** Sets the options of `transfer`, and those that all have. False: no memory. Texts are copied;
 * `stop` is borrowed until the end of the transfer. */
bool writ_transfer_set(CURL *easy, const struct writ_transfer *transfer);

/** Appends a copy of the line. False: no memory, and the list is unchanged. */
bool writ_transfer_append(struct curl_slist **list, const char *line);

/** Whether a host of a URL, as libcurl gives it, is this machine itself: 127.0.0.0/8, [::1] or
 * localhost. */
bool writ_transfer_is_loopback(const char *host);

/** Free at the end of a scope: WRIT_AUTO(CURL *, writ_transfer_freep). NULL is permitted. */
void writ_transfer_freep(CURL **easy);
void writ_transfer_url_freep(CURLU **url);
void writ_transfer_text_freep(char **text);
void writ_transfer_list_freep(struct curl_slist **list);

#endif
