/* init_token.h - secrets that URLs of the command line need: --token-file and --token-header. */
#ifndef WRIT_CLI_INIT_TOKEN_H
#define WRIT_CLI_INIT_TOKEN_H

#include "cli/commands/init_parts.h"

/** Gives each server that --token-file names its `authorization`. The file is not read here.
 * WRIT_E_INVALID: it names no server with a URL, or several URLs have one file without a name;
 * WRIT_E_ABSENT, WRIT_E_IO: the file; WRIT_E_NOMEM. */
WRIT_RESULT writ_init_token_read(struct writ_init *init, struct writ_err *err);

#endif
