/* The explanation is policy/why's own. Kept contents without their secret members are not the
 * arguments of the call, and are not judged. */
#include "gateway/admin/why_answer.h"

WRIT_RESULT
writ_why_answer_take(struct writ_why *why, const struct writ_content *kept, struct writ_err *err)
{
    switch (kept->state) {
    case WRIT_CONTENT_ABSENT:
    case WRIT_CONTENT_CHANGED: /* the reading fails before */
        writ_why_without(why, WRIT_WHY_NONE);
        return WRIT_DONE;
    case WRIT_CONTENT_ERASED:
        writ_why_without(why, WRIT_WHY_ERASED);
        return WRIT_DONE;
    case WRIT_CONTENT_LOCKED:
        writ_why_without(why, WRIT_WHY_LOCKED);
        return WRIT_DONE;
    case WRIT_CONTENT_KEPT:
        break;
    }
    if (kept->redacted) {
        writ_why_without(why, WRIT_WHY_PARTIAL);
        return WRIT_DONE;
    }
    return writ_why_arguments(why, kept->bytes, WRIT_WHY_CONTENTS, err);
}

WRIT_RESULT
writ_why_answer_put(
    const struct writ_why_answer *about, struct writ_arena *arena, struct writ_write *w)
{
    const struct writ_why_question question = {
        .config = about->viewer->generation->config,
        .decision = about->decision,
        .extension = about->extension,
        .tenant = about->tenant,
        .own_rule_only = !writ_ledger_viewer_of_all(about->viewer),
        .rules_only = true,
    };
    struct writ_why why;

    WRIT_TRY(writ_why_begin(&question, arena, &why, NULL));
    if (about->arguments != NULL) {
        WRIT_TRY(writ_why_answer_take(&why, about->arguments, NULL));
    }
    about->texts->arguments = why.arguments;
    WRIT_TRY(writ_source_texts_find(about->texts, &why.flow, arena, NULL));
    WRIT_TRY(writ_why_judge(&why, NULL));
    writ_why_json(&why, w);
    return WRIT_DONE;
}
