/* ledgers.h - opens the ledger of a configuration, with all checkpoints known from outside: the
 * gateway's own memory file (`ledger.remember`), the files of `ledger.anchors`, and
 * `ledger.pinned`. */
#ifndef WRIT_GATEWAY_LEDGERS_H
#define WRIT_GATEWAY_LEDGERS_H

#include "policy/model/config.h"
#include "store/ledger/ledger.h"

/**
 * Opens the ledger.
 *
 * @param resume    as in writ_ledger_options
 * @param reports   as there
 * @param ret_keys  new, and borrowed by the ledger: free with writ_keyring_free after it is closed;
 *                  written as soon as they are read
 *
 * As writ_ledger_open, writ_keydir_load, writ_trusted_load. Blocks.
 */
WRIT_RESULT writ_ledgers_open(const struct writ_config *config, const struct writ_clock *clock,
    bool resume, const struct writ_ledger_reports *reports, struct writ_keyring **ret_keys,
    struct writ_ledger **ret, struct writ_err *err);

/** After a loss: moves aside the checkpoints of anchor files, and of the gateway's own file, that
 * contradict the ledger (NAME.lost-<time>), and puts the last checkpoint in their place. As
 * writ_anchor_send.
 */
WRIT_RESULT writ_ledgers_replace(
    const struct writ_config *config, const struct writ_clock *clock, struct writ_err *err);

#endif
