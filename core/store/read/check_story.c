/* A story stays in memory until its review is over. A story that contradicts itself is reported
 * once, and not judged any further. */
#include "store/read/check.h"

#include "store/tables/reviews.h"

/* A review that is not over. */
struct told {
    struct writ_map_node by_id;
    struct writ_review_story story;
    bool is_broken;           /* reported: later records cannot be judged */
    struct writ_arena *arena; /* its own */
};

static void
story_free(struct writ_check *v, struct told *told)
{
    writ_map_remove(&v->told, &told->by_id);
    writ_arena_free(told->arena); /* the arena holds the story itself */
}

static WRIT_RESULT
find_story(struct writ_check *v, struct writ_view id, struct told **ret)
{
    struct writ_arena *arena;
    struct writ_digest digest;
    struct told *told;

    WRIT_TRY(writ_digest_bytes(id, &digest, v->err));
    *ret = WRIT_MAP_OF(writ_map_find(&v->told, writ_tag_of(&digest)), struct told, by_id);
    if (*ret != NULL) {
        return WRIT_DONE;
    }
    if (v->told.count >= WRIT_VERIFY_REVIEWS_MAX) {
        WRIT_FAIL(
            v->err, WRIT_E_LIMIT, "more than %d reviews live at one time", WRIT_VERIFY_REVIEWS_MAX);
    }
    arena = writ_arena_new_small(WRIT_REVIEWS_ARENA);
    told = arena == NULL ? NULL : writ_arena_get(arena, sizeof *told);
    if (told == NULL) {
        writ_arena_free(arena);
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a review");
    }
    *told = (struct told){.arena = arena};
    writ_map_add(&v->told, &told->by_id, writ_tag_of(&digest));
    *ret = told;
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_story_hear(struct writ_check *v, struct writ_view body)
{
    struct told *told = NULL;
    struct writ_err why = {0};
    writ_result heard;

    WRIT_TRY(find_story(v, v->row.decision_id, &told));
    if (told->is_broken) {
        return WRIT_DONE;
    }
    heard = writ_reviews_hear(&told->story, body, NULL, told->arena, v->arena, &why);
    if (heard.code == WRIT_E_NOMEM || heard.code == WRIT_E_CRYPTO) {
        WRIT_FAIL(v->err, heard.code, "%s", why.text);
    }
    if (!writ_is_ok(heard)) {
        writ_check_problem(v, v->row.leaf, "its review: %s", why.text);
        told->is_broken = true;
    } else if (writ_review_phase(told->story.state) == WRIT_REVIEW_OVER) {
        story_free(v, told);
    }
    return WRIT_DONE;
}

void
writ_check_story_wipe(struct writ_check *v)
{
    for (size_t i = 0; i < v->told.bucket_count; i++) {
        while (v->told.buckets[i] != NULL) {
            story_free(v, WRIT_MAP_OF(v->told.buckets[i], struct told, by_id));
        }
    }
    writ_map_wipe(&v->told);
}
