/* client_block.h - what an MCP client's own configuration needs to reach a gateway. */
#ifndef WRIT_CLI_CLIENT_BLOCK_H
#define WRIT_CLI_CLIENT_BLOCK_H

#include "evidence/json/write.h"

/** The address of a gateway, and the agent's token. All borrowed. */
struct writ_client_block {
    struct writ_view name;  /* of the gateway in the client */
    struct writ_view url;   /* of its MCP endpoint */
    struct writ_view token; /* of the agent; a secret */
};

/** Writes the object that most clients read: {"mcpServers": {name: {type, url, headers}}}. */
void writ_client_block_write(struct writ_write *w, const struct writ_client_block *block);

#endif
