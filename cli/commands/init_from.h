/* init_from.h - the servers of a client's own file, for writ init --from. */
#ifndef WRIT_CLI_INIT_FROM_H
#define WRIT_CLI_INIT_FROM_H

#include "gateway/discover/client_file.h"

/** What to read, and which servers not. Borrowed. */
struct writ_init_from_options {
    struct writ_view file;
    struct writ_view skip; /* NAME,NAME: the client's names, or those of the configuration */
};

/** One server. */
struct writ_init_from_server {
    struct writ_view client;            /* its name in the client */
    const struct writ_json *env;        /* of its entry there; NULL: none. May have secrets */
    struct writ_upstream_config config; /* with a name of the configuration */
};

/** What the file lists. All of it is in the arena. */
struct writ_init_from {
    struct writ_init_from_server *servers;
    size_t n;
    struct writ_views left;       /* names in the client of servers that are not taken */
    struct writ_client_path list; /* the object that they are in */
};

/**
 * Reads the file. Disabled servers are left, and those of --skip.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  a server cannot be taken (err names it, and says why), --skip names one
 *                         that is not there, or none is left
 *         as writ_client_file_read, with the path, and writ_cli_read
 */
WRIT_RESULT writ_init_from_read(const struct writ_init_from_options *options,
    struct writ_arena *arena, struct writ_init_from *ret, struct writ_err *err);

/** Whether the configuration's entry starts the same program, or has the same URL. */
bool writ_init_from_is_same(
    const struct writ_upstream_config *a, const struct writ_upstream_config *b);

#endif
