/* signers.h - the required signers of a checkpoint, by the options --key, --witness and --quorum.
 */
#ifndef WRIT_CLI_SIGNERS_H
#define WRIT_CLI_SIGNERS_H

#include "cli/commands/trust.h"
#include "evidence/log/checkpoint.h"

/** Zeroed: none, which trusts nothing. */
struct writ_signers {
    struct writ_trust logs, witnesses;
    struct writ_checkpoint_trust trust; /* borrows from both */
};

/** Reads the files that the options name. WRIT_E_INVALID for a quorum that cannot be; as
 * writ_trust_read. Wipe `ret` in any case. */
WRIT_RESULT writ_signers_read(
    const struct writ_cli *cli, struct writ_signers *ret, struct writ_err *err);

void writ_signers_wipe(struct writ_signers *signers);

#endif
