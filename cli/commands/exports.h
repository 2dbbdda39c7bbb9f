/* exports.h - writ ledger export with --keys: a bundle. */
#ifndef WRIT_CLI_EXPORTS_H
#define WRIT_CLI_EXPORTS_H

#include "cli/base/cli.h"

/** True with an option that only a bundle has. */
bool writ_exports_is_asked(const struct writ_cli *cli);

/** Makes the bundle and prints it. */
enum writ_exit writ_exports_bundle(const struct writ_cli *cli);

#endif
