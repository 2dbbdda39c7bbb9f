/* bundle_file.h - verifies the bundle that is the operand of a command, by the options of its
 * signers. */
#ifndef WRIT_CLI_BUNDLE_FILE_H
#define WRIT_CLI_BUNDLE_FILE_H

#include "cli/base/progress.h"
#include "cli/commands/signers.h"
#include "evidence/json/write.h"
#include "evidence/proof/bundle_check.h"

/** A bundle and what is found. Initialise with `fd` -1. */
struct writ_bundle_file {
    struct writ_signers signers;
    struct writ_bundle_check *check;
    int fd;
    uint64_t size, done; /* bytes; size 0: not known */
    struct writ_progress progress;
    uint64_t number;      /* of the line */
    struct writ_buf rest; /* the input read so far, from the beginning of a line on */
    enum writ_reason why; /* EVIDENCE_OK, or the first reason against the file */
    struct writ_err more; /* explains it */
    struct writ_bundle_report report;
    struct writ_checkpoint head;
};

/** Takes a record, when its line is good so far: what comes later may still be against the file. */
typedef WRIT_RESULT (*writ_bundle_file_fn)(
    void *ctx, enum writ_detached_record_kind kind, struct writ_view record, struct writ_err *err);

/** Reads all of it once. `fn` may be NULL. Blocks on the file. WRIT_E_ABSENT, WRIT_E_IO; as
 * writ_signers_read, writ_bundle_check_line and `fn`. Wipe `ret` in any case. */
WRIT_RESULT writ_bundle_file_verify(const struct writ_cli *cli, writ_bundle_file_fn fn, void *ctx,
    struct writ_bundle_file *ret, struct writ_err *err);

/** Prints the reason, and on standard error the line. */
void writ_bundle_file_print_reason(const struct writ_bundle_file *file);

/** Writes members of an object: whether it holds, and the counts or the line. `why`: the reason,
 * when it is not that of the file alone. */
void writ_bundle_file_put(
    struct writ_write *w, const struct writ_bundle_file *file, enum writ_reason why);

void writ_bundle_file_wipe(struct writ_bundle_file *file);

#endif
