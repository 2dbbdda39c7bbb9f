/* why_answer.h - why a call was decided as it was, in JSON, for those who may read the policy: the
 * object of `writ why --json`, by the present configuration of the gateway. On the thread of the
 * lookups: it reads the files of the configuration when it tries an edit. */
#ifndef WRIT_GATEWAY_WHY_ANSWER_H
#define WRIT_GATEWAY_WHY_ANSWER_H

#include "gateway/admin/ledger_viewer.h"
#include "gateway/admin/source_texts.h"
#include "policy/why/why.h"
#include "store/read/contents.h"

/** One recorded decision. All borrowed. */
struct writ_why_answer {
    const struct writ_review_viewer *viewer; /* reads the policy (ledger_viewer.h) */
    const struct writ_decision *decision;
    const struct writ_extension *extension;
    struct writ_view tenant;
    const struct writ_content *arguments; /* the kept ones, when the viewer may read them and its
                                             look is recorded; NULL: not asked for */
    struct writ_source_texts *texts; /* to be searched for where its values came from; the caller
                                        records what was opened */
};

/** Takes kept arguments into an explanation, or the reason why they are not known. As
 * writ_why_arguments. */
WRIT_RESULT writ_why_answer_take(
    struct writ_why *why, const struct writ_content *kept, struct writ_err *err);

/** Writes the object. An edit in it shows lines of rules alone. WRIT_E_NOMEM;
 * WRIT_E_MISMATCH as writ_why_arguments. */
WRIT_RESULT writ_why_answer_put(
    const struct writ_why_answer *about, struct writ_arena *arena, struct writ_write *w);

#endif
