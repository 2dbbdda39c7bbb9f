/* bridge.h - between a client that speaks MCP over standard input and output and a gateway that
 * listens on a Unix socket (writ wrap).
 *
 * The bridge decides nothing and keeps nothing: policy, ledger, credentials and reviews are the
 * gateway's. It sends each line as a request of Streamable HTTP and writes what comes back as
 * lines; a message for people goes to standard error. When the gateway is not there the bridge has
 * it started, and goes on in the same session. What was under way then is sent again only when that
 * cannot make a tool call twice; otherwise the bridge tells its client that it may have run. */
#ifndef WRIT_GATEWAY_BRIDGE_H
#define WRIT_GATEWAY_BRIDGE_H

#include "gateway/bridge/gateway_start.h"

struct writ_bridge_options {
    const struct writ_gateway_start *start; /* where the gateway is, and how it is started */
    struct writ_view target;                /* the endpoint: "/mcp/fs" */
    struct writ_view authorization; /* the value of the header, a secret; empty: none is sent */
    struct writ_view environment;   /* the client's, for the server (client_env.h), a secret; empty:
                                       none is sent */
    struct writ_view note; /* for the model, at the end of the server's instructions; empty: none */
    const struct writ_clock *clock;
};

/**
 * Carries messages until the client's last line is answered, its reader is gone, or SIGTERM.
 * Blocks.
 *
 * @return WRIT_OK   the client ended it
 *         WRIT_E_IO, and others  the gateway could not be started at all
 */
WRIT_RESULT writ_bridge_run(const struct writ_bridge_options *options, struct writ_err *err);

#endif
