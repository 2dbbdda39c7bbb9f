/* client_env.h - the environment variables and the folder that a client gave to its `writ wrap`, on
 * their way to the server: a field of the head of every request over a Unix socket.
 *
 * The configuration says which variables a server gets (`inherit`, beside the small set of every
 * child); the client says their values. The values are secrets of the client: they are kept in
 * memory, and never logged, recorded or written to a file. Pure. */
#ifndef WRIT_GATEWAY_CLIENT_ENV_H
#define WRIT_GATEWAY_CLIENT_ENV_H

#include "gateway/io/exec_env.h"

#define WRIT_CLIENT_ENV_FIELD     "Writ-Environment"
#define WRIT_CLIENT_ENV_MAX       9000  /* bytes of the JSON in it */
#define WRIT_CLIENT_ENV_FIELD_MAX 12000 /* bytes of its value */

/**
 * Appends the value of the field.
 *
 * @param server       the variables that it inherits are taken from `environment`
 * @param environment  "NAME=value", NULL-terminated
 * @param directory    absolute
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT    longer than WRIT_CLIENT_ENV_MAX; `err` names the longest variable
 *         WRIT_E_INVALID  a value is not UTF-8; `err` names its variable
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_client_env_put(const struct writ_upstream_config *server,
    const char *const *environment, struct writ_view directory, struct writ_buf *ret,
    struct writ_err *err);

/** What the field says; in the arena, NUL-terminated. */
struct writ_client_env {
    struct writ_pairs variables;
    struct writ_view directory; /* empty: none */
};

/**
 * Reads the field.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not of this form
 *         WRIT_E_INVALID  it has a variable that the server does not inherit; `err` names it
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_client_env_read(struct writ_view field, const struct writ_upstream_config *server,
    struct writ_arena *arena, struct writ_client_env *ret, struct writ_err *err);

#endif
