/* archive_option.h - the option --archive of commands that read records. */
#ifndef WRIT_CLI_ARCHIVE_OPTION_H
#define WRIT_CLI_ARCHIVE_OPTION_H

#include "cli/commands/command.h"
#include "store/read/reader.h"

/** Opens the ledger of the order, with --archive together with that folder. As writ_reader_open and
 * writ_reader_open_joined. */
WRIT_RESULT writ_archive_option_open(const struct writ_cli *cli, struct writ_joined_order order,
    struct writ_reader **ret, struct writ_err *err);

#endif
