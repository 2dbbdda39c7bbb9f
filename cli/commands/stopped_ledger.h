/* stopped_ledger.h - the ledger of a gateway that does not run, opened as its writer by the
 * configuration in the first operand of a command. */
#ifndef WRIT_CLI_STOPPED_LEDGER_H
#define WRIT_CLI_STOPPED_LEDGER_H

#include "cli/commands/command.h"
#include "gateway/service/ledgers.h"
#include "policy/model/config.h"

/** Zeroed: nothing is open. */
struct writ_stopped_ledger {
    struct writ_config *config;
    struct writ_keyring *keys;
    struct writ_ledger *ledger;
};

/** Opens it. As writ_load_file, and as writ_ledgers_open with `resume`: WRIT_E_BUSY while a gateway
 * runs. Wipe `ret` in any case; it must be zeroed. */
WRIT_RESULT writ_stopped_ledger_open(
    const struct writ_cli *cli, bool resume, struct writ_stopped_ledger *ret, struct writ_err *err);

/** Closes it. A zeroed one is permitted. */
void writ_stopped_ledger_wipe(struct writ_stopped_ledger *stopped);

#endif
