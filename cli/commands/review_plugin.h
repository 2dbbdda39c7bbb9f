/* review_plugin.h - the votes of a review, counted again; by the plug-in where it was one. */
#ifndef WRIT_CLI_REVIEW_PLUGIN_H
#define WRIT_CLI_REVIEW_PLUGIN_H

#include "evidence/record/review.h"
#include "evidence/record/review_judge.h"

/**
 * Counts the votes of a review again, as writ_review_judge_recount. The file of a plug-in must have
 * the digest of the terms.
 *
 * @param folder  of plug-ins; NULL: none was given
 *
 * @return as writ_review_judge_recount
 *         WRIT_E_INVALID   it needs a plug-in, and the folder is missing, or others can change it
 *         WRIT_E_MISMATCH  the file is another one, or the plug-in fails
 *         WRIT_E_ABSENT, WRIT_E_LIMIT, WRIT_E_IO
 */
WRIT_RESULT writ_review_plugin_recount(const struct writ_review *review, const char *folder,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err);

#endif
