/* For every JSON text with lines: each is read as a record of a review and, when it follows, added
 * to its story. Reading and writing gives the canonical form; terms that were read keep their
 * digest; a story never leaves what review.tbl.h allows, no voter votes twice in it, and in every
 * state the votes can be counted. */
#include "support/fuzz.h"

#include "crew/panel.h"
#include "evidence/json/jcs.h"
#include "evidence/record/review_judge.h"
#include "evidence/record/review_story.h"
#include "evidence/record/review_terms.h"

#define ARENA_MAX ((size_t)1 << 26)

static struct writ_arena *arena;

static void
check_written(const struct writ_review_record *record, const struct writ_json *value)
{
    writ_auto_buf got = writ_buf_make(ARENA_MAX), want = writ_buf_make(ARENA_MAX);
    writ_result put = writ_review_record_put(record, &got, NULL);
    writ_result canonical = writ_jcs_put(&want, value, NULL);

    WRIT_INVARIANT(put.code == canonical.code);
    WRIT_INVARIANT(!writ_is_ok(put) || writ_view_equal(writ_buf_view(&got), writ_buf_view(&want)));
}

/* Terms are the same when they were written and read again. */
static void
check_terms(const struct writ_review *review)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_TERMS_MAX);
    struct writ_digest first, second;
    const struct writ_json *value;
    struct writ_review again;

    WRIT_INVARIANT(writ_is_ok(writ_review_terms_check(review, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_review_terms_digest(review, &first, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_review_terms_put(review, &text, NULL)));
    WRIT_INVARIANT(writ_is_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_review_terms_read(value, arena, &again, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_review_terms_digest(&again, &second, NULL)));
    WRIT_INVARIANT(writ_digest_equal(&first, &second));
    for (size_t i = 0; i < review->voters_n; i++) {
        WRIT_INVARIANT(!writ_view_equal(review->voters[i].id, review->subject));
        WRIT_INVARIANT(writ_review_voter(review, review->voters[i].id) == &review->voters[i]);
    }
}

static void
check_count(const struct writ_review *review)
{
    struct writ_review_finding finding;
    writ_result looked = writ_review_judge_look(&writ_panel_judge, review, arena, &finding, NULL);

    WRIT_INVARIANT(looked.code == WRIT_OK || looked.code == WRIT_E_INVALID ||
                   looked.code == WRIT_E_NOMEM || looked.code == WRIT_E_LIMIT);
}

static void
take_line(struct writ_review_story *story, struct writ_view line)
{
    const struct writ_review_story before = *story;
    struct writ_review_record *record = writ_arena_get(arena, sizeof *record);
    struct writ_faults faults = {0};
    const struct writ_json *value;

    if (record == NULL ||
        !writ_is_ok(writ_json_read(line, &writ_json_limits_default, arena, &value, NULL)) ||
        !writ_is_ok(writ_review_record_read(value, arena, record, NULL))) {
        return;
    }
    check_written(record, value);
    writ_review_record_validate(record, &faults);
    if (!writ_is_ok(writ_review_story_add(story, record, arena, NULL))) {
        *story = before; /* a reader of a ledger stops here */
        return;
    }
    WRIT_INVARIANT(faults.count == 0);
    WRIT_INVARIANT(story->n == before.n + 1);
    WRIT_INVARIANT(before.n == 0 || writ_review_phase(before.state) == WRIT_REVIEW_LIVE);
    if (before.n == 0) {
        check_terms(&story->review);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view rest = writ_view(data, size);
    struct writ_review_story story = {.state = WRIT_REVIEW_ABSENT};

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');

        take_line(&story, writ_view_sub(rest, 0, end));
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    if (story.n > 0) {
        check_count(&story.review);
    }
    writ_arena_reset(arena);
    return 0;
}
