/* init_client.h - the client's side of writ init: which file, what it gets, and --undo. */
#ifndef WRIT_CLI_INIT_CLIENT_H
#define WRIT_CLI_INIT_CLIENT_H

#include "cli/commands/client_undo.h"
#include "cli/commands/init_parts.h"

/** Whether --client, if given, names a known client; a mistake of use is reported. */
bool writ_init_client_is_named(const struct writ_cli *cli);

/**
 * Reads --client, --file and --apply, after --from; opens the file when it is to be written, so
 * that nothing is made for a file that cannot be.
 *
 * @return WRIT_OK
 *         as writ_client_place_find, writ_client_place_open
 */
WRIT_RESULT writ_init_client_read(struct writ_init *init, struct writ_err *err);

/** Whether the client reaches the gateway by a program that it starts (--socket, or it cannot
 * connect to a URL). */
bool writ_init_client_starts(const struct writ_init *init);

/** Fails when an entry could not be written: before the servers are asked. As
 * writ_client_place_check. */
WRIT_RESULT writ_init_client_check(struct writ_init *init, struct writ_err *err);

/** Makes the blocks for the configuration, and with --apply writes the file. As
 * writ_client_place_write. */
WRIT_RESULT writ_init_client_make(struct writ_init *init, struct writ_err *err);

/** --undo: takes back what was written, and says so. */
WRIT_RESULT writ_init_client_undo(
    struct writ_init *init, enum writ_client_undo *ret, struct writ_err *err);

#endif
