/* why_contents.h - the kept arguments of one call, for `writ why --contents`: from the gateway of
 * --url, else from the ledger with the keys of a key directory. The look is on disk when a function
 * here returns, in both ways. */
#ifndef WRIT_CLI_WHY_CONTENTS_H
#define WRIT_CLI_WHY_CONTENTS_H

#include "cli/base/cli.h"
#include "gateway/admin/source_texts.h"
#include "policy/why/why.h"

/** False: the options contradict each other, and that was printed. */
bool writ_why_contents_check(const struct writ_cli *cli);

/**
 * Takes the kept arguments, or the reason why there are none, and finds where the values came from:
 * without --url with the kept texts there.
 *
 * @param texts  with its reader, its tenant and its run
 *
 * @return WRIT_OK          also when none are kept: see why->source
 *         WRIT_E_MISMATCH  they are not those of the record, or the gateway refuses the caller
 *         WRIT_E_BUSY      a gateway has the ledger open, and --url is missing
 *
 * else as writ_admin_client_ask, writ_contents_source_open, writ_contents_source_record. Blocks.
 */
WRIT_RESULT writ_why_contents_take(const struct writ_cli *cli, struct writ_source_texts *texts,
    struct writ_why *why, struct writ_err *err);

#endif
