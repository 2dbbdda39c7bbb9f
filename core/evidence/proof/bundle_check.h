/* bundle_check.h - verifies a bundle (bundle.h), line by line: makes each line again from its own
 * contents, with all lines that follow from it, and compares the bytes. */
#ifndef WRIT_EVIDENCE_BUNDLE_CHECK_H
#define WRIT_EVIDENCE_BUNDLE_CHECK_H

#include "evidence/json/write.h"
#include "evidence/proof/bundle.h"

struct writ_bundle_check;

/** `trust` names the keys that must have signed the checkpoint; borrowed until the end. `ret` is
 * new, free with writ_bundle_check_free. WRIT_E_NOMEM. */
WRIT_RESULT writ_bundle_check_new(const struct writ_checkpoint_trust *trust,
    struct writ_bundle_check **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_bundle_check_free(struct writ_bundle_check *check);

/**
 * Takes the next line, without its end.
 *
 * @param ret_why  EVIDENCE_OK: the file is valid so far; or the first reason against it:
 *                 EVIDENCE_MALFORMED, those of writ_checkpoint_judge, RECORD_NOT_IN_LOG, and those
 *                 of writ_bundle_record. Written on WRIT_OK
 * @param err      explains the reason on WRIT_OK
 *
 * @return WRIT_OK, whatever is wrong
 *         WRIT_E_LIMIT  over WRIT_BUNDLE_LIVE_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_bundle_check_line(struct writ_bundle_check *check, struct writ_view line,
    enum writ_reason *ret_why, struct writ_err *err);

/** The record of the line that was taken last, canonical, borrowed until the next line. NONE: the
 * line has no record. */
enum writ_detached_record_kind writ_bundle_check_record(
    const struct writ_bundle_check *check, struct writ_view *ret);

/** The result; the checkpoint is borrowed until the check is freed. False before the last line of
 * the bundle: a file that ends there is truncated. */
bool writ_bundle_check_ended(const struct writ_bundle_check *check, struct writ_bundle_report *ret,
    struct writ_checkpoint *ret_head);

/** Writes the result as members of the object that `w` is in: origin and size of the log, and the
 * counts, under the names of the last line. */
void writ_bundle_check_put(struct writ_write *w, const struct writ_bundle_report *report,
    const struct writ_checkpoint *head);

#endif
