/* client_block.h - what an MCP client's own configuration needs to reach a gateway. */
#ifndef WRIT_CLI_CLIENT_BLOCK_H
#define WRIT_CLI_CLIENT_BLOCK_H

#include "evidence/json/write.h"
#include "gateway/discover/client.h"
#include "policy/model/config.h"

/** The way to a gateway, or to one server behind it. All borrowed. */
struct writ_client_block {
    struct writ_view name;       /* in the client */
    struct writ_view url;        /* of the MCP endpoint; empty: the client starts a program */
    struct writ_view token;      /* of the agent, for the URL; a secret */
    struct writ_views program;   /* with its arguments */
    const struct writ_json *env; /* of the program, an object; NULL: none. May have secrets */
};

/** Writes the object that says the way: {type, url, headers} or {type, command, args}, as the
 * client reads it; NULL: as most clients do. */
void writ_client_block_write(
    struct writ_write *w, const struct writ_client *client, const struct writ_client_block *block);

/** Writes the whole part of the client's file: {"mcpServers": {name: way, ...}}. */
void writ_client_block_write_all(struct writ_write *w, const struct writ_client *client,
    const struct writ_client_block *blocks, size_t n);

#endif
