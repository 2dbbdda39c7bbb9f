/* Without the option a command reads the ledger alone. */
#include "cli/commands/archive_option.h"

WRIT_RESULT
writ_archive_option_open(const struct writ_cli *cli, struct writ_joined_order order,
    struct writ_reader **ret, struct writ_err *err)
{
    if (!writ_cli_has(cli, "archive")) {
        return writ_reader_open(order.path, ret, err);
    }
    order.folder = writ_cli_get(cli, "archive").ptr;
    return writ_reader_open_joined(&order, ret, err);
}
