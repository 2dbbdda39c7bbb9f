/* mcp.h - the bank as an MCP server: a message in, an answer out. */
#ifndef MCP_H
#define MCP_H

#include "bank.h"
#include "keys.h"

#include <jansson.h>

struct mcp_server {
    struct bank *bank;
    struct keys *keys;
    const char *resource; /* this server's identity: the `resource` of the upstream */
    const char *issuer;   /* the gateway's */
};

/** Whether the value of an MCP-Protocol-Version field names a revision that this server speaks. */
bool mcp_speaks(const char *revision);

/**
 * Answers one message.
 *
 * @param body        as it arrived
 * @param credential  NULL: there is none
 * @param ret         new, free with json_decref; NULL: an answer without a body
 *
 * @return the status of HTTP
 */
unsigned mcp_answer(
    const struct mcp_server *server, struct writ_view body, const char *credential, json_t **ret);

#endif
