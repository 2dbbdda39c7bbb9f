/* A story stays in memory until its review is over. A story that contradicts itself is reported
 * once, and not judged any further. At the end each story that is left has its row. */
#include "store/read/check.h"

#include "store/tables/review_context.h"
#include "store/tables/reviews.h"

/* A review that is not over. */
struct told {
    struct writ_map_node by_id;
    struct writ_review_story story;
    struct writ_view id;
    uint64_t leaf;            /* of its last record */
    bool is_broken;           /* reported: later records cannot be judged */
    bool has_row;             /* in the table `review` */
    bool is_granted;          /* a call, under its approval */
    struct writ_arena *arena; /* its own */
};

static void
story_free(struct writ_check *v, struct told *told)
{
    writ_map_remove(&v->told, &told->by_id);
    writ_arena_free(told->arena); /* the arena holds the story itself */
}

static WRIT_RESULT
look_up(struct writ_check *v, struct writ_view id, struct writ_tag *tag, struct told **ret)
{
    WRIT_TRY(writ_tag_name(id, tag, v->err));
    *ret = WRIT_MAP_OF(writ_map_find(&v->told, *tag), struct told, by_id);
    return WRIT_DONE;
}

static WRIT_RESULT
find_story(struct writ_check *v, struct writ_view id, bool adds, struct told **ret)
{
    struct writ_arena *arena;
    struct writ_tag tag;
    struct told *told;

    WRIT_TRY(look_up(v, id, &tag, ret));
    if (*ret != NULL || !adds) {
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
    *told = (struct told){.arena = arena, .id = writ_view_copy(id, arena)};
    if (told->id.ptr == NULL) {
        writ_arena_free(arena);
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a review");
    }
    writ_map_add(&v->told, &told->by_id, tag);
    *ret = told;
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_story_hear(struct writ_check *v, struct writ_view body, bool may_go_on)
{
    struct told *told = NULL;
    struct writ_err why = {0};
    writ_result heard;

    WRIT_TRY(find_story(v, v->row.decision_id, !may_go_on, &told));
    if (told == NULL) {
        return WRIT_DONE;
    }
    told->leaf = v->row.leaf;
    if (told->is_broken) {
        return WRIT_DONE;
    }
    heard = writ_reviews_hear(&told->story, body, NULL, told->arena, v->arena, &why);
    if (heard.code == WRIT_E_NOMEM || heard.code == WRIT_E_CRYPTO) {
        WRIT_FAIL(v->err, heard.code, "%s", why.text);
    }
    if (writ_is_ok(heard)) {
        writ_check_delegation_used(v, &told->story.review, told->story.n == 1);
    }
    if (!writ_is_ok(heard)) {
        writ_check_problem(v, v->row.leaf, "its review: %s", why.text);
        told->is_broken = true;
        return WRIT_DONE;
    }
    writ_check_expect(v, told->is_granted == (told->story.state == WRIT_REVIEW_REDEEMED),
        told->is_granted ? "a call was granted under its review, which was not redeemed"
                         : "its review was redeemed, and no call was granted under it");
    if (writ_review_phase(told->story.state) == WRIT_REVIEW_OVER) {
        story_free(v, told);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_story_grant(struct writ_check *v, const struct writ_decision *decision)
{
    struct told *told = NULL;

    WRIT_TRY(find_story(v, decision->continuation_id.view, false, &told));
    if (told == NULL) { /* its records may have been removed */
        writ_check_expect(v, v->first > 0 && v->archive == NULL,
            "it was granted under a review that is over, or does not exist");
        return WRIT_DONE;
    }
    writ_check_expect(v,
        told->is_broken ||
            (!told->is_granted && writ_review_story_approves(&told->story, decision)),
        "it was granted under a review that did not approve this call");
    told->is_granted = true;
    return WRIT_DONE;
}

/* ---- the rows of reviews ---- */

/* Reports a problem of the row of a review, unless a gateway has recorded more of it by now, and
 * with that changed the row. */
static WRIT_RESULT
report_row(struct writ_check *v, const struct told *told, const char *what)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_REVIEW_SINCE];
    bool row = false;

    writ_sql_bind_text(s, 1, told->id);
    writ_sql_bind_int(s, 2, (int64_t)told->leaf);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_REVIEW_SINCE, &row, v->err));
    if (row && writ_sql_int(s, 0) == 0) {
        writ_check_problem(v, told->leaf, "%s", what);
    }
    writ_sql_reset(s);
    return WRIT_DONE;
}

/* The row has what voters are shown, whose digest the record has that opened the review. */
static WRIT_RESULT
check_shown(struct writ_check *v, uint64_t leaf, struct writ_view id, struct writ_view shown)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_REVIEW_OPENING];
    struct writ_view opening = {NULL, 0};
    bool row = false;
    writ_result result;

    writ_arena_reset(v->arena);
    writ_sql_bind_text(s, 1, id);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_REVIEW_OPENING, &row, v->err));
    if (row) {
        opening = writ_view_copy(writ_column_bytes(s, 1), v->arena);
    }
    writ_sql_reset(s);
    if (row && opening.ptr == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a review");
    }
    result = row ? writ_review_context_check(opening, shown, v->arena, v->err)
                 : (writ_result){WRIT_E_MISMATCH};
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_PARSE) {
        writ_check_problem(
            v, leaf, "what the voters of its review are shown is not what it has the digest of");
        return WRIT_DONE;
    }
    return result;
}

static WRIT_RESULT
check_row(struct writ_check *v, struct writ_sql_statement *s)
{
    uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
    struct writ_view shown = writ_column_bytes(s, 1), id = writ_column_bytes(s, 3);
    struct told *told = NULL;
    struct writ_tag tag;

    WRIT_TRY(look_up(v, id, &tag, &told));
    if (told != NULL) {
        told->has_row = true;
    }
    if (!writ_view_equal(id, writ_column_bytes(s, 2))) {
        writ_check_problem(v, leaf, "a row of `review` is not of a call that asked for one");
        return WRIT_DONE;
    }
    if (shown.len > 0) {
        return check_shown(v, leaf, id, shown);
    }
    return told == NULL || told->is_broken ||
                   writ_review_phase(told->story.state) != WRIT_REVIEW_LIVE
               ? WRIT_DONE
               : report_row(v, told, "the row of its review does not have what voters are shown");
}

static WRIT_RESULT
check_rows(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_REVIEWS];
    bool row = false;

    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_REVIEWS, &row, v->err));
    while (row) {
        WRIT_TRY(check_row(v, s));
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_REVIEWS, &row, v->err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_story_rows(struct writ_check *v)
{
    writ_result result = check_rows(v);

    writ_sql_reset(v->statements[WRIT_CHECK_SQL_REVIEWS]);
    WRIT_TRY(result);
    for (size_t i = 0; i < v->told.bucket_count; i++) {
        for (struct writ_map_node *at = v->told.buckets[i]; at != NULL; at = at->next) {
            const struct told *told = WRIT_MAP_OF(at, struct told, by_id);

            if (!told->has_row && !told->is_broken) {
                WRIT_TRY(report_row(v, told, "the row of its review is missing"));
            }
            if (told->is_granted && !told->is_broken) {
                writ_check_problem(
                    v, told->leaf, "a call was granted under its review, which was not redeemed");
            }
        }
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
