/* tools_scan.h - what servers list, and what is odd about it, on standard output: writ tools scan,
 * and any command that scans servers of its own. */
#ifndef WRIT_CLI_COMMANDS_TOOLS_SCAN_H
#define WRIT_CLI_COMMANDS_TOOLS_SCAN_H

#include "cli/base/cli.h"
#include "gateway/mcp/oddity.h"
#include "policy/model/config.h"

/** One server to ask. Borrowed. */
struct writ_tools_scan_server {
    const struct writ_upstream_config *server; /* `name` is what the output calls it */
    const char *fault;                         /* why it is not asked; NULL: it is */
};

/**
 * Asks the servers one after the other and prints their tools and what is odd, as text or with
 * --json as one object.
 *
 * @param config  whose ledger has the definitions that were seen and accepted before; NULL: none
 *
 * @return WRIT_EXIT_OK        every server answered, and nothing is odd
 *         WRIT_EXIT_NEGATIVE  else
 *         as writ_cli_fail
 *
 * Blocks.
 */
enum writ_exit writ_tools_scan_run(const struct writ_cli *cli,
    const struct writ_tools_scan_server *servers, size_t n, const struct writ_config *config);

/** Appends one oddity as a line without its server and tool; nothing in it hides. */
void writ_tools_scan_put(struct writ_buf *ret, const struct writ_oddity *oddity);

#endif
