/* upstream_http.h - an MCP server over HTTP, the other transport besides stdio.h. Part of
 * upstream.h.
 *
 * Every loop has connections of its own; an upcall stays on the loop that started it. */
#ifndef WRIT_GATEWAY_UPSTREAM_HTTP_H
#define WRIT_GATEWAY_UPSTREAM_HTTP_H

#include "gateway/upstream/upcall.h"

struct writ_gateway;
struct writ_upstream_config;
struct writ_upstream_http;

/** Opens connections of every worker's loop, before the loops run. `index`: of the upstream, under
 * which the gateway's tokens for it are. WRIT_E_INVALID, WRIT_E_NOMEM, WRIT_E_IO. */
WRIT_RESULT writ_upstream_http_open(struct writ_gateway *gateway,
    const struct writ_upstream_config *config, size_t index, struct writ_upstream_http **ret,
    struct writ_err *err);

/** Closes connections and frees; after the loops have ended, or before they run. NULL is
 * permitted. */
void writ_upstream_http_close(struct writ_upstream_http *http);

/** Ends the open messages on the worker's loop as timed out. */
void writ_upstream_http_expire(struct writ_upstream_http *http, const struct writ_worker *worker);

/** Sends the message. On failure nothing was started, and no callback will come. WRIT_E_ABSENT:
 * there is no valid credential for the upstream now; WRIT_E_LIMIT, WRIT_E_NOMEM, as
 * writ_http_client_send. */
WRIT_RESULT writ_upstream_http_start(
    struct writ_upstream_http *http, struct writ_worker *worker, struct writ_upcall *call);

/** As writ_upcall_cancel and so on, for an upcall that was started and has not ended. */
void writ_upstream_http_cancel(struct writ_upcall *call);
void writ_upstream_http_pause(struct writ_upcall *call);
void writ_upstream_http_resume(struct writ_upcall *call);

#endif
