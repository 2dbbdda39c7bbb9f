/* init_parts.h - one run of writ init, for its files alone. */
#ifndef WRIT_CLI_INIT_PARTS_H
#define WRIT_CLI_INIT_PARTS_H

#include "cli/commands/client_block.h"
#include "cli/commands/client_place.h"
#include "cli/commands/command.h"
#include "cli/commands/init_from.h"
#include "cli/commands/setup.h"

#define WRIT_INIT_ADDRESS_MAX 512

/** The client's side. */
struct writ_init_client {
    const struct writ_client *row; /* NULL: none is known */
    struct writ_view path;         /* of its file; empty: none is known */
    struct writ_client_path list;  /* the object of servers in it */
    bool apply;
    struct writ_client_place place; /* open when it is to be written */
    bool open;
    struct writ_client_block *blocks;
    size_t n;
    struct writ_view backup; /* after the write; empty: the file was not there */
};

struct writ_init {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_upstream_config servers[WRIT_SETUP_SERVERS_MAX];
    size_t n;
    struct writ_init_from from; /* n = 0: without --from */
    struct writ_setup setup;
    bool present; /* the configuration was there, and is used as it is */
    struct writ_setup_made made;
    struct writ_view address; /* of the MCP endpoint of all servers; empty: a Unix socket */
    struct writ_init_client client;
};

#endif
