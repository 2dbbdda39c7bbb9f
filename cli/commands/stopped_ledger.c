/* stopped_ledger.c - what was opened before a failure stays in `ret`, until it is wiped. */
#include "cli/commands/stopped_ledger.h"

#include "policy/read/load.h"

WRIT_RESULT
writ_stopped_ledger_open(
    const struct writ_cli *cli, bool resume, struct writ_stopped_ledger *ret, struct writ_err *err)
{
    WRIT_TRY(writ_load_file(writ_cli_operand(cli, 0).ptr, NULL, &ret->config, err));
    return writ_ledgers_open(ret->config, cli->clock, resume, NULL, &ret->keys, &ret->ledger, err);
}

void
writ_stopped_ledger_wipe(struct writ_stopped_ledger *stopped)
{
    writ_ledger_close(stopped->ledger);
    writ_keyring_free(stopped->keys);
    writ_config_drop(stopped->config);
}
