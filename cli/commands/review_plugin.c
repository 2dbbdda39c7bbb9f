/* A plug-in runs only when it is the recorded one, byte for byte. */
#include "cli/commands/review_plugin.h"

#include "crew/panel.h"
#include "gateway/engines/engine_child.h"
#include "gateway/engines/engine_count.h"
#include "store/trusted/trusted.h"
#include "evidence/record/review_judge.h"

#define NOTHING (-1) /* stops a count before its time */

static WRIT_RESULT
read_plugin(const struct writ_review *review, const char *folder, struct writ_arena *arena,
    struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    struct writ_buf name = writ_buf_in(arena, WRIT_REVIEW_PLUGIN_MAX + 1);
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    writ_buf_put(&name, review->engine);
    writ_buf_byte(&name, '\0');
    WRIT_TRY(writ_buf_check(&name, err));
    WRIT_TRY(writ_trusted_dir(folder, &dir, err));
    WRIT_TRY(writ_trusted_read(dir, name.ptr, WRIT_TRUSTED_UNWRITABLE, ret, err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(ret), &digest, err));
    writ_digest_text(&digest, text);
    if (!writ_view_is(review->engine_digest, text)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s has digest %s; the votes were counted by the one with " WRIT_VIEW_FMT, name.ptr,
            text, WRIT_VIEW_ARG(review->engine_digest));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
recount_with(const struct writ_review *review, const char *folder, struct writ_arena *arena,
    struct writ_review_finding *ret, struct writ_err *err)
{
    writ_auto_buf object = writ_buf_make(WRIT_ENGINE_LIBRARY_MAX);
    struct writ_engine_count how = {.seconds = WRIT_ENGINE_SECONDS, .stop = NOTHING};
    const struct writ_panel_plugin plugin = writ_engine_count_plugin(&how);
    const struct writ_review_judge judge = writ_panel_judge_with(&plugin);
    struct writ_review_finding again = {.verdict = WRIT_REVIEW_DO_VOTE};

    WRIT_TRY(read_plugin(review, folder, arena, &object, err));
    how.object = writ_buf_view(&object);
    WRIT_TRY(writ_review_judge_recount(&judge, review, arena, &again, err));
    if (again.verdict == WRIT_REVIEW_DO_FAIL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, WRIT_VIEW_FMT ": " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(review->engine), WRIT_VIEW_ARG(again.fault));
    }
    *ret = again;
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_plugin_recount(const struct writ_review *review, const char *folder,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    struct writ_review_finding again = {.verdict = WRIT_REVIEW_DO_VOTE};

    WRIT_TRY(writ_review_judge_recount(&writ_panel_judge, review, arena, &again, err));
    if (again.verdict != WRIT_REVIEW_DO_VOTE || !writ_review_is_plugin(review->engine)) {
        *ret = again;
        return WRIT_DONE;
    }
    if (folder == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the plug-in " WRIT_VIEW_FMT " counted the votes, so the verdict is not computed "
            "again without it: pass its folder with --engines",
            WRIT_VIEW_ARG(review->engine));
    }
    return recount_with(review, folder, arena, ret, err);
}
