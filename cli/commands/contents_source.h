/* contents_source.h - the kept contents of a ledger, for commands that read them: opened
 * with the keys of a key directory, and recorded in the ledger before anything is printed.
 *
 *     WRIT_AUTO(struct writ_contents_source, writ_contents_source_wipe) source = {0};
 *     WRIT_TRY(writ_contents_source_open(&order, &source, err));
 *     ... writ_contents_source_each(&source, ...), count the contents that were read ...
 *     WRIT_TRY(writ_contents_source_record(&source, since_us, count, err));
 *     ... print ...
 *
 * The command has the options `keys`, `url`, `token` and `ca`. */
#ifndef WRIT_CLI_CONTENTS_SOURCE_H
#define WRIT_CLI_CONTENTS_SOURCE_H

#include "cli/base/progress.h"
#include "policy/model/config.h"
#include "store/read/contents.h"

/** What is opened, and why. All borrowed until the source is wiped. */
struct writ_contents_source_order {
    const struct writ_cli *cli;
    const char *path;                 /* of the ledger */
    const struct writ_config *config; /* its key directory is used without --keys; its options of
                                         the ledger to write the record */
    const char *purpose;              /* "replay", "learn", "why": for the record */
    struct writ_view decision_id;     /* the one call that is read; ptr NULL: several */
};

/** Zeroed: closed. */
struct writ_contents_source {
    struct writ_contents_source_order order;
    const char *keys;
    struct writ_keyring *ring;
    struct writ_contents *contents;
    uint64_t records; /* of the ledger when it was opened */
};

/** Reads the keys and opens the contents. WRIT_E_ABSENT also when the directory has no key of
 * contents; else as writ_keydir_load and writ_contents_open. */
WRIT_RESULT writ_contents_source_open(const struct writ_contents_source_order *order,
    struct writ_contents_source *ret, struct writ_err *err);
void writ_contents_source_wipe(struct writ_contents_source *source);

/** As writ_contents_each, with the progress on a terminal. */
WRIT_RESULT writ_contents_source_each(const struct writ_contents_source *source,
    const struct writ_contents_filter *filter,
    bool (*each)(void *ctx, const struct writ_contents_call *call), void *ctx,
    struct writ_err *err);

/**
 * Records that `count` contents of calls since that time (0: of all) were read: by the gateway of
 * --url, else in the ledger itself, which no gateway may have open then. It is on disk with
 * WRIT_OK; print nothing of what was read before.
 *
 * WRIT_E_BUSY: a gateway has the ledger open; else as writ_admin_client_ask, writ_ledgers_open,
 * writ_ledger_record. Blocks.
 */
WRIT_RESULT writ_contents_source_record(const struct writ_contents_source *source, int64_t since_us,
    uint64_t count, struct writ_err *err);

#endif
