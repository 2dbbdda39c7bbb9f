/* A review is found by id and by name, and is in the ring by age. Its memory has a maximum,
 * whatever its voters send. */
#include "store/tables/reviews.h"

#include "base/utf8.h"
#include "store/tables/body.h"
#include "store/tables/review_index.h"
#include "evidence/record/review_terms.h"

/* No watcher gets its changes any more. */
static void
release(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    if (review->changed > 0) {
        writ_order_remove(&reviews->changes, &review->by_change);
    }
    if (review->changed > reviews->forgotten) {
        reviews->forgotten = review->changed;
    }
    writ_arena_free(review->arena); /* the arena holds the review itself */
}

void
writ_reviews_wipe(struct writ_reviews *reviews)
{
    while (reviews->ring != NULL) {
        writ_reviews_remove(reviews, reviews->ring);
    }
    for (size_t i = 0; i < WRIT_REVIEWS_PAST; i++) {
        if (reviews->past[i] != NULL) {
            release(reviews, WRIT_TAKE(reviews->past[i]));
        }
    }
    writ_map_wipe(&reviews->by_id);
    writ_map_wipe(&reviews->by_name);
    writ_map_wipe(&reviews->agents);
}

WRIT_RESULT
writ_reviews_init(struct writ_reviews *ret, size_t most, struct writ_err *err)
{
    struct writ_reviews reviews = {.most = most};
    struct writ_map *maps[] = {&reviews.by_id, &reviews.by_name, &reviews.agents};
    writ_result result = WRIT_DONE;

    for (size_t i = 0; i < sizeof maps / sizeof maps[0] && writ_is_ok(result); i++) {
        result = writ_map_init(maps[i], most, err);
    }
    if (!writ_is_ok(result)) {
        writ_reviews_wipe(&reviews);
        return result;
    }
    *ret = reviews;
    return WRIT_DONE;
}

struct writ_reviewed *
writ_reviews_by_id(const struct writ_reviews *reviews, struct writ_view id)
{
    struct writ_reviewed *review;
    struct writ_tag tag;

    if (!writ_is_ok(writ_tag_name(id, &tag, NULL))) {
        return NULL;
    }
    review = WRIT_MAP_OF(writ_map_find(&reviews->by_id, tag), struct writ_reviewed, by_id);
    return review != NULL && !review->leaving && writ_view_equal(review->story.review.id, id)
               ? review
               : NULL;
}

struct writ_reviewed *
writ_reviews_by_name(const struct writ_reviews *reviews, const struct writ_digest *name)
{
    struct writ_reviewed *review = WRIT_MAP_OF(
        writ_map_find(&reviews->by_name, writ_tag_of(name)), struct writ_reviewed, by_name);

    return review != NULL && !review->leaving ? review : NULL;
}

static void
link_last(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    if (reviews->ring == NULL) {
        review->next = review->prev = review;
        reviews->ring = review;
    } else {
        review->next = reviews->ring;
        review->prev = reviews->ring->prev;
        review->prev->next = review->next->prev = review;
    }
    reviews->count++;
}

static void
unlink_one(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    writ_review_index_leave(reviews, review);
    writ_order_remove(&reviews->due, &review->by_due);
    writ_map_remove(&reviews->by_id, &review->by_id);
    writ_map_remove(&reviews->by_name, &review->by_name);
    if (reviews->ring == review) {
        reviews->ring = review->next == review ? NULL : review->next;
    }
    review->next->prev = review->prev;
    review->prev->next = review->next;
    reviews->count--;
}

void
writ_reviews_remove(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    unlink_one(reviews, review);
    release(reviews, review);
}

void
writ_reviews_outlive(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    struct writ_reviewed **place = &reviews->past[reviews->past_next++ % WRIT_REVIEWS_PAST];

    unlink_one(reviews, review);
    if (*place != NULL) {
        release(reviews, *place);
    }
    *place = review;
}

WRIT_RESULT
writ_reviews_make(struct writ_reviews *reviews, struct writ_view id, struct writ_tag name,
    struct writ_reviewed **ret, struct writ_err *err)
{
    struct writ_arena *arena;
    struct writ_reviewed *review;
    struct writ_tag tag;

    WRIT_TRY(writ_tag_name(id, &tag, err));
    arena = writ_arena_new_small(WRIT_REVIEWS_ARENA);
    review = arena != NULL ? writ_arena_get(arena, sizeof *review) : NULL;
    if (review == NULL) {
        writ_arena_free(arena);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    *review = (struct writ_reviewed){.arena = arena};
    writ_map_add(&reviews->by_id, &review->by_id, tag);
    writ_map_add(&reviews->by_name, &review->by_name, name);
    link_last(reviews, review);
    review->look = true; /* a sweep looks at it once */
    writ_order_add(&reviews->due, &review->by_due, 0);
    *ret = review;
    return WRIT_DONE;
}

/* The terms once more, in memory of their own. */
static WRIT_RESULT
copy_terms(const struct writ_review *terms, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_TERMS_MAX);
    const struct writ_json *value = NULL;

    WRIT_TRY(writ_review_terms_put(terms, &text, err));
    WRIT_TRY(writ_body_json(writ_buf_view(&text), arena, &value, err));
    return writ_review_terms_read(value, arena, ret, err);
}

WRIT_RESULT
writ_reviews_add(struct writ_reviews *reviews, const struct writ_review *terms,
    struct writ_tag name, struct writ_reviewed **ret, struct writ_err *err)
{
    struct writ_reviewed *review = NULL;
    struct writ_digest digest;
    writ_result result;

    WRIT_TRY(writ_reviews_make(reviews, terms->id, name, &review, err));
    result = copy_terms(terms, review->arena, &review->story.review, err);
    if (writ_is_ok(result)) {
        result = writ_review_terms_digest(terms, &digest, err);
    }
    if (writ_is_ok(result)) {
        result = writ_review_index_join(reviews, review, err);
    }
    if (!writ_is_ok(result)) {
        writ_reviews_remove(reviews, review);
        return result;
    }
    writ_digest_text(&digest, review->story.digest);
    *ret = review;
    return WRIT_DONE;
}

int64_t
writ_reviews_until(const struct writ_reviewed *review)
{
    const struct writ_review_story *story = &review->story;

    switch (writ_review_phase(story->state)) {
    case WRIT_REVIEW_LIVE:
        return story->state == WRIT_REVIEW_OPEN
                   ? story->review.opened_us + story->review.lifetime_us
                   : story->changed_us + story->review.redeem_us;
    case WRIT_REVIEW_OVER:
        return story->changed_us + WRIT_REVIEWS_KEPT_US;
    case WRIT_REVIEW_NONE:
        break;
    }
    return 0;
}

/* ---- what voters say ---- */

/* Each voter has one place of the same size, however often it votes: memory is bounded. When the
 * arena is full, feedback is only in the record, and the caller does not get it. */
void
writ_reviews_remember(
    struct writ_reviewed *review, const struct writ_review_voter *voter, struct writ_view feedback)
{
    const struct writ_review *terms = &review->story.review;
    struct writ_view said = writ_utf8_cut(feedback, WRIT_LEDGER_SAID_MAX);
    struct writ_reviews_said *place;

    if (review->said == NULL && said.len > 0) {
        review->said = writ_arena_get(review->arena, terms->voters_n * sizeof *review->said);
        for (size_t i = 0; review->said != NULL && i < terms->voters_n; i++) {
            review->said[i].len = 0;
        }
    }
    if (review->said != NULL) {
        place = &review->said[voter - terms->voters];
        place->len = writ_view_place(said, place->text).len;
    }
}

void
writ_reviews_voices(
    const struct writ_reviewed *review, struct writ_arena *arena, struct writ_ask *ret)
{
    const struct writ_review *terms = &review->story.review;
    struct writ_ask_voice *voices = writ_arena_get(arena, terms->voters_n * sizeof *voices);
    size_t n = 0;

    for (size_t i = 0; voices != NULL && review->said != NULL && i < terms->voters_n; i++) {
        struct writ_ask_voice voice = {.vote = terms->voters[i].vote};

        if (review->said[i].len == 0) {
            continue;
        }
        voice.voter = writ_view_copy(terms->voters[i].id, arena);
        voice.feedback =
            writ_view_copy(writ_view(review->said[i].text, review->said[i].len), arena);
        if (voice.voter.ptr != NULL && voice.feedback.ptr != NULL) {
            voices[n++] = voice;
        }
    }
    ret->voices = voices;
    ret->voices_n = n;
}

/* ---- telling ---- */

static WRIT_RESULT
copy_view(struct writ_view *view, struct writ_arena *arena, struct writ_err *err)
{
    *view = writ_view_copy(*view, arena);
    if (view->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to tell of a review");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
copy_candidates(const struct writ_review *from, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    if (from->candidates_n == 0) {
        return WRIT_DONE;
    }
    ret->candidates = writ_arena_get(arena, from->candidates_n * sizeof *ret->candidates);
    if (ret->candidates == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to tell of a review");
    }
    for (size_t i = 0; i < from->candidates_n; i++) {
        struct writ_review_candidate *candidate = &ret->candidates[i];

        *candidate = from->candidates[i];
        WRIT_TRY(copy_view(&candidate->state_free_digest, arena, err));
        WRIT_TRY(copy_view(&candidate->intent_digest, arena, err));
        WRIT_TRY(copy_view(&candidate->target_state_digest, arena, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
copy_review(const struct writ_review *from, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    struct writ_view *views[] = {&ret->id, &ret->name, &ret->engine, &ret->engine_digest,
        &ret->threshold, &ret->quorum, &ret->subject, &ret->tenant, &ret->agent_id,
        &ret->intent_digest, &ret->target_state_digest, &ret->rules_digest};

    *ret = *from;
    ret->voters = writ_arena_get(arena, from->voters_n * sizeof *ret->voters);
    if (ret->voters == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to tell of a review");
    }
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        WRIT_TRY(copy_view(views[i], arena, err));
    }
    for (size_t i = 0; i < from->voters_n; i++) {
        ret->voters[i] = from->voters[i];
        WRIT_TRY(copy_view(&ret->voters[i].id, arena, err));
        WRIT_TRY(copy_view(&ret->voters[i].delegate, arena, err));
        WRIT_TRY(copy_view(&ret->voters[i].delegation, arena, err));
        WRIT_TRY(copy_view(&ret->voters[i].delegation_digest, arena, err));
        WRIT_TRY(copy_view(&ret->voters[i].key, arena, err));
    }
    return copy_candidates(from, arena, ret, err);
}

WRIT_RESULT
writ_reviews_tell(const struct writ_reviewed *review, struct writ_arena *arena,
    struct writ_review_told *ret, struct writ_err *err)
{
    struct writ_review_told told = {
        .state = review->story.state,
        .elected = review->story.elected,
        .n = review->story.n,
        .changed_us = review->story.changed_us,
        .until_us = review->until_us,
    };

    WRIT_TRY(copy_review(&review->story.review, arena, &told.review, err));
    for (size_t i = 0; i < sizeof told.digest; i++) {
        told.digest[i] = review->story.digest[i];
    }
    *ret = told;
    return WRIT_DONE;
}

/* ---- from the disk ---- */

WRIT_RESULT
writ_reviews_hear(struct writ_review_story *story, struct writ_view body,
    struct writ_reviewed *review, struct writ_arena *arena, struct writ_arena *scratch,
    struct writ_err *err)
{
    struct writ_arena *at = story->n == 0 ? arena : scratch; /* the terms last */
    struct writ_view text = writ_view_copy(body, at);
    const struct writ_json *value = NULL;
    struct writ_review_record record = {0};

    if (text.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a record of a review");
    }
    WRIT_TRY(writ_body_json(text, at, &value, err));
    WRIT_TRY(writ_review_record_read(value, at, &record, err));
    WRIT_TRY(writ_review_story_add(story, &record, arena, err));
    if (review != NULL && record.vote.is == WRIT_PRESENT) {
        writ_reviews_remember(
            review, writ_review_voter(&story->review, record.by.view), record.feedback.view);
    }
    story->log = (struct writ_member_list){WRIT_ABSENT, NULL, 0};
    writ_arena_reset(scratch);
    return WRIT_DONE;
}
