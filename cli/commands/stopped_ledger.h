/* stopped_ledger.h - the ledger of a gateway that does not run, opened as its writer by the
 * configuration that a command names. */
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

/** Opens it by the configuration in the file `config`. As writ_load_file, and as writ_ledgers_open
 * with `resume`: WRIT_E_BUSY while a gateway runs. Wipe `ret` in any case; it must be zeroed. */
WRIT_RESULT writ_stopped_ledger_open(const struct writ_cli *cli, const char *config, bool resume,
    struct writ_stopped_ledger *ret, struct writ_err *err);

/** As writ_stopped_ledger_open by the first operand, without `resume`, for a command that also asks
 * a running gateway: WRIT_E_BUSY says how. */
WRIT_RESULT writ_stopped_ledger_only(
    const struct writ_cli *cli, struct writ_stopped_ledger *ret, struct writ_err *err);

/** Appends who runs the command, for a record: "user ann", or "uid 1007" without a name. */
void writ_stopped_ledger_user(struct writ_buf *ret);

/** Submits an entry and waits for its end. `failed` is the error when that is not WRIT_OK; the code
 * is the entry's. */
WRIT_RESULT writ_stopped_ledger_do(struct writ_stopped_ledger *stopped, struct writ_entry *entry,
    const char *failed, struct writ_err *err);

/** Closes it. A zeroed one is permitted. */
void writ_stopped_ledger_wipe(struct writ_stopped_ledger *stopped);

#endif
