/* init_present.h - writ init for a client of a configuration that was made before. */
#ifndef WRIT_CLI_INIT_PRESENT_H
#define WRIT_CLI_INIT_PRESENT_H

#include "cli/commands/init_parts.h"

/**
 * Reads the configuration and the agent's token.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID   no address that a client could keep
 *         WRIT_E_MISMATCH  a server of --from is not one of its upstreams
 *         as writ_load_file, writ_secret_file
 */
WRIT_RESULT writ_init_present_use(struct writ_init *init, struct writ_err *err);

#endif
