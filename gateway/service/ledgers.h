/* ledgers.h - opens the ledger of a configuration, with all that is known of it from outside: what
 * the gateway remembers (`ledger.remember`), the files of `ledger.anchors`, and `ledger.pinned`. */
#ifndef WRIT_GATEWAY_LEDGERS_H
#define WRIT_GATEWAY_LEDGERS_H

#include "policy/model/config.h"
#include "store/ledger/ledger.h"

/**
 * Opens it.
 *
 * @param resume    as in writ_ledger_options
 * @param reports   as there
 * @param ret_keys  new, and borrowed by the ledger: free with writ_keyring_free after it is closed;
 *                  written as soon as there are any
 *
 * As writ_ledger_open, writ_keydir_load, writ_trusted_load. Blocks.
 */
WRIT_RESULT writ_ledgers_open(const struct writ_config *config, const struct writ_clock *clock,
    bool resume, const struct writ_ledger_reports *reports, struct writ_keyring **ret_keys,
    struct writ_ledger **ret, struct writ_err *err);

/** After a loss: what contradicts the ledger in files of anchors, and in what is remembered, is
 * moved aside (NAME.lost-<time>), and the last checkpoint is put in its place. As writ_anchor_send.
 */
WRIT_RESULT writ_ledgers_replace(
    const struct writ_config *config, const struct writ_clock *clock, struct writ_err *err);

#endif
