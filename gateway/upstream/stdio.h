/* stdio.h - an MCP server that is a child process, made to look like one that speaks HTTP.
 *
 * The gateway is the child's client, and the HTTP side of the transport for all clients. With
 * `sharing: session` a legacy session has a child of its own (an instance), which gets the
 * capabilities of that client: its requests and notices go to that session. Requests without a
 * session go to a child of their agent. With `sharing: all` one child serves all clients; its
 * initialize declares no client capabilities, because a request of the child would not say to which
 * client's call it belongs.
 *
 * Every request gets an id and a progress token of the gateway, and its answer the client's own;
 * cancellations name the gateway's id. A child that ends is restarted and gets the same initialize.
 *
 * The children and everything about them live on one owner loop; upcalls of other loops go there
 * and back through mailboxes. Any loop's own thread may call the public functions. */
#ifndef WRIT_GATEWAY_STDIO_H
#define WRIT_GATEWAY_STDIO_H

#include "gateway/upstream/upcall.h"

struct writ_stdio;
struct writ_catalog_snapshot;
struct writ_gateway;
struct writ_upstream_config;

/** Starts a first child on the loop of worker 0, once the loops run. `snapshot`: what was learned
 * of its tools; a new child puts it in doubt. WRIT_E_INVALID, WRIT_E_NOMEM. */
WRIT_RESULT writ_stdio_open(struct writ_gateway *gateway, const struct writ_upstream_config *config,
    struct writ_catalog_snapshot *snapshot, struct writ_stdio **ret, struct writ_err *err);

/** Stops the children (end of input, SIGTERM, SIGKILL of their groups); any thread. */
void writ_stdio_stop(struct writ_stdio *stdio);

/** True when no child is left; any thread. */
bool writ_stdio_is_stopped(const struct writ_stdio *stdio);

/** Frees. Only after the loops have ended. NULL is permitted. */
void writ_stdio_close(struct writ_stdio *stdio);

/** Whether the handshake is done and the child is up. Any thread. */
/** Whether `program_digest` refused its last start. Any thread. */
bool writ_stdio_is_refused(const struct writ_stdio *stdio);

/** Whether that was because an operator must accept a file of it. Any thread. */
bool writ_stdio_is_unaccepted(const struct writ_stdio *stdio);

bool writ_stdio_is_up(const struct writ_stdio *stdio);

/** Sends. WRIT_E_NOMEM: nothing was begun, and no callback will come. */
WRIT_RESULT writ_stdio_start(
    struct writ_stdio *stdio, struct writ_worker *worker, struct writ_upcall *call);

/** As writ_upcall_cancel and so on, for an upcall that was started and has not ended. */
void writ_stdio_cancel(struct writ_upcall *call, bool tell);
void writ_stdio_pause(struct writ_upcall *call);
void writ_stdio_resume(struct writ_upcall *call);

#endif
