/* admin_client.h - the requests of a command to the admin listener of a running gateway:
 *
 *     WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
 *     writ_result result = writ_admin_client_begin(&client, cli);
 *     ... writ_admin_client_ask(&client, "/v1/...", body), read client.value ...
 *     return writ_admin_client_end(&client, result);
 *
 * The command has the URL of the listener as its first operand, or sets `url` before it asks, and
 * the options `token` and `ca`. */
#ifndef WRIT_CLI_ADMIN_CLIENT_H
#define WRIT_CLI_ADMIN_CLIENT_H

#include "cli/base/cli.h"
#include "evidence/json/json.h"

/** One command while it runs. */
struct writ_admin_client {
    const struct writ_cli *cli;
    struct writ_view url; /* of the listener */
    struct writ_arena *arena;
    struct writ_buf authorization; /* a whole field; a secret */
    struct writ_buf answer;
    bool patient;                  /* set it: the answer may take any time */
    const struct writ_json *value; /* the answer, an object; until the next one */
    bool refused;                  /* by the gateway, or because of its answer */
    struct writ_err err;
};

/** Reads the token. Wipe `ret` also after a failure; its `err` has the reason. As writ_bearer_read,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_admin_client_begin(struct writ_admin_client *ret, const struct writ_cli *cli);
void writ_admin_client_wipe(struct writ_admin_client *client);

/**
 * Checks an id that becomes a part of a URL: one or more letters, digits and hyphens.
 *
 * @param what  what the id names, such as "a review", for the error
 *
 * @return WRIT_OK, or WRIT_E_INVALID with `err` filled
 */
WRIT_RESULT writ_admin_client_check_id(struct writ_view id, const char *what, struct writ_err *err);

/**
 * Requests a path of the listener.
 *
 * @param body  JSON, NUL-terminated: a POST; NULL: a GET
 *
 * @return WRIT_OK          `answer` and `value` are set
 *         WRIT_E_MISMATCH  refused; `err` has the reason of the problem (RFC 9457)
 *         WRIT_E_IO        no answer, or not JSON
 *         WRIT_E_LIMIT     the URL is too long
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_admin_client_ask(
    struct writ_admin_client *client, const char *path, const char *body);

/** A member of an answer that counts something; 0 when it is missing, or not a count. */
uint64_t writ_admin_client_count(const struct writ_json *answer, const char *name);

/** Reports a failure, or with --json the answer. Gives the exit code; NEGATIVE when refused. */
enum writ_exit writ_admin_client_end(const struct writ_admin_client *client, writ_result result);

#endif
