/* discover_http.h - a link to a URL. Part of discover.h. */
#ifndef WRIT_GATEWAY_DISCOVER_HTTP_H
#define WRIT_GATEWAY_DISCOVER_HTTP_H

#include "gateway/discover/discover_link.h"
#include "gateway/http/header.h"
#include "gateway/io/resolver.h"

/** Connects at the first message. Everything is borrowed until the close.
 * @param shown    what it is shown, or NULL
 * @param ends_us  monotonic: when all of it is over
 * As writ_http_client_open. */
WRIT_RESULT writ_discover_http_open(const struct writ_upstream_config *server,
    struct writ_loop *loop, struct writ_resolver *resolver, const struct writ_header *shown,
    int64_t ends_us, struct writ_discover_link **ret, struct writ_err *err);

#endif
