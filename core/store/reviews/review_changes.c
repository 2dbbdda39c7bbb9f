/* A change is made in memory when it is prepared, and its op undoes or finishes it with the group;
 * `was` has everything that undoing needs. The boundary of a review waits from its opening until
 * its end is on disk. */
#include "store/reviews/review_changes.h"

#include "evidence/record/extension.h"
#include "store/tables/body.h"
#include "store/write/content_rows.h"
#include "store/write/group.h"
#include "store/write/sealing.h"
#include "store/write/vouch.h"
#include "evidence/record/review_terms.h"
#include "store/tables/review_index.h"

/* ---- a change ---- */

static WRIT_RESULT
write_terms(const struct writ_review *review, struct writ_arena *arena,
    struct writ_member_object *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_TERMS_MAX);

    WRIT_TRY(writ_review_terms_put(review, &text, err));
    *ret = (struct writ_member_object){WRIT_PRESENT, NULL, writ_buf_view(&text), NULL};
    return WRIT_DONE;
}

/* The review context is kept beside the records, which have its digest. */
static WRIT_RESULT
note_context(struct writ_view bytes, struct writ_arena *arena, struct writ_member_object *ret,
    struct writ_err *err)
{
    struct writ_extension extension = {0};
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    WRIT_TRY(writ_digest_bytes(bytes, &digest, err));
    writ_digest_text(&digest, text);
    extension.showing = writ_member_text(writ_view_copy(writ_view_str(text), arena));
    if (extension.showing.view.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    return writ_extension_make(&extension, arena, ret, err);
}

static WRIT_RESULT
put_record(struct writ_group *group, const struct writ_reviewed *review,
    const struct writ_reviews_event *event, enum writ_review_state next, int64_t now_us,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_review_record record = {
        .boundary_id = writ_member_text(review->boundary_id),
        .by = writ_member_text_or_absent(event->by),
        .confidence = writ_member_text_or_absent(event->confidence),
        .decision_id = writ_member_text(review->story.review.id),
        .event = writ_member_text(writ_review_event_name(event->event)),
        .feedback = writ_member_text_or_absent(event->feedback),
        .n = writ_member_number((int64_t)review->story.n),
        .review_digest = writ_member_text(writ_view_str(review->story.digest)),
        .signature = writ_member_text_or_absent(event->signature),
        .state = writ_member_text(writ_review_state_name(next)),
        .vote = writ_member_text_or_absent(writ_review_vote_name(event->vote)),
    };
    struct writ_faults faults = {0};
    struct writ_view names[WRIT_REVIEW_OPTIONS_MAX];

    WRIT_TRY(writ_member_time_make(now_us, arena, &record.at, err));
    for (size_t i = 0; i < event->ranking.n; i++) {
        names[i] = writ_review_vote_name(event->ranking.list[i]);
    }
    if (event->ranking.n > 0) {
        record.ranking = writ_member_list(names, event->ranking.n);
    }
    if (event->reason != WRIT_REASON_NONE) {
        record.reason = writ_member_text(writ_reason_name(event->reason));
    }
    if (event->finding != NULL && event->finding->elected != WRIT_REVIEW_NO_VOTE) {
        record.elected = writ_member_text(writ_review_vote_name(event->finding->elected));
    }
    if (event->finding != NULL && event->finding->fault.len > 0) {
        const struct writ_extension extension = {
            .count_fault = writ_member_text(event->finding->fault)};
        WRIT_TRY(writ_extension_make(&extension, arena, &record.extensions, err));
    } else if (event->finding != NULL) {
        record.log = writ_member_list(event->finding->log, event->finding->log_n);
    }
    if (event->event == WRIT_REVIEW_DO_VOTE &&
        (event->via.ptr != NULL || event->crew_log.ptr != NULL)) {
        const struct writ_extension extension = {.via = writ_member_text_or_absent(event->via),
            .crew_log = writ_member_text_or_absent(event->crew_log)};
        WRIT_TRY(writ_extension_make(&extension, arena, &record.extensions, err));
    }
    if (event->event == WRIT_REVIEW_DO_OPEN) {
        WRIT_TRY(write_terms(&review->story.review, arena, &record.terms, err));
        WRIT_TRY(note_context(event->arguments, arena, &record.extensions, err));
    }
    writ_review_record_validate(&record, &faults);
    if (faults.count > 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the record of a review is not valid");
    }
    return writ_review_record_put(&record, &group->bodies, err);
}

/* keeps (2) */
static void
apply(struct writ_reviews *reviews, struct writ_reviewed *review,
    const struct writ_reviews_event *event, enum writ_review_state next, int64_t now_us,
    struct writ_reviews_before *was)
{
    struct writ_review_story *story = &review->story;

    *was = (struct writ_reviews_before){
        .state = story->state,
        .elected = story->elected,
        .n = story->n,
        .changed_us = story->changed_us,
        .until_us = review->until_us,
        .fresh = event->event == WRIT_REVIEW_DO_OPEN,
        .voted = event->event == WRIT_REVIEW_DO_VOTE,
        .forget = event->forget,
        .arguments = event->arguments,
        .feedback = event->feedback,
        .content = event->content,
    };
    if (event->event == WRIT_REVIEW_DO_OPEN) {
        story->review.opened_us = now_us;
        review->boundary->in_flight++; /* keeps (3) */
    }
    if (event->event == WRIT_REVIEW_DO_VOTE) {
        was->voter = writ_review_voter(&story->review, event->by);
        WRIT_INVARIANT(was->voter != NULL);
        was->vote = *was->voter;
        writ_review_cast(was->voter, event->vote, &event->ranking, event->confidence, now_us);
        was->voter->votes++;
    }
    if (event->event == WRIT_REVIEW_DO_REVOKE) {
        was->voter = writ_review_voter(&story->review, event->by);
        WRIT_INVARIANT(was->voter != NULL);
        was->vote = *was->voter;
        was->voter->revoked = true;
    }
    if (event->finding != NULL) {
        story->elected = event->finding->elected;
    }
    story->n++;
    if (next != story->state) {
        story->state = next;
        story->changed_us = now_us;
        review->until_us = writ_reviews_until(review);
    }
    review->leaving = event->forget;
    writ_review_index_follow(reviews, review);
}

static void
take_back(struct writ_reviews *reviews, struct writ_reviewed *review,
    const struct writ_reviews_before *was)
{
    if (was->fresh) {
        review->boundary->in_flight--;
        writ_reviews_remove(reviews, review);
        return;
    }
    if (was->voter != NULL) {
        *was->voter = was->vote;
    }
    review->story.state = was->state;
    review->story.elected = was->elected;
    review->story.n = was->n;
    review->story.changed_us = was->changed_us;
    review->until_us = was->until_us;
    review->leaving = false;
    review->look = true; /* what a sweep did is undone, too */
    writ_review_index_follow(reviews, review);
}

WRIT_RESULT
writ_review_changes_make(struct writ_ledger *ledger, struct writ_reviewed *review,
    const struct writ_reviews_event *event, struct writ_arena *arena,
    struct writ_reviews_changes *changes, struct writ_err *err)
{
    struct writ_buf *bodies = &ledger->group.bodies;
    size_t before = bodies->len, at;
    enum writ_review_state next = review->story.state;
    struct writ_reviews_change *change = &changes->list[changes->n];
    int64_t now_us = writ_group_stamp(ledger);
    writ_result result;

    WRIT_INVARIANT(changes->n < WRIT_REVIEWS_RECORDS);
    if (!writ_review_move(review->story.state, event->event, &next)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the event is impossible in the state of the review");
    }
    at = writ_group_body(&ledger->group);
    result = put_record(&ledger->group, review, event, next, now_us, arena, err);
    if (writ_is_ok(result) && bodies->len - at > WRIT_LEDGER_RECORD_MAX) {
        result = (writ_result){WRIT_E_LIMIT};
    }
    if (!writ_is_ok(result)) {
        writ_buf_cut(bodies, before);
        return result;
    }
    *change = (struct writ_reviews_change){.review = review,
        .event = event->event,
        .at = at,
        .len = bodies->len - at,
        .time_us = now_us};
    apply(&ledger->reviews, review, event, next, now_us, &change->was);
    changes->n++;
    return WRIT_DONE;
}

void
writ_review_changes_revert(struct writ_ledger *ledger, const struct writ_reviews_changes *changes)
{
    for (size_t i = changes->n; i-- > 0;) {
        take_back(&ledger->reviews, changes->list[i].review, &changes->list[i].was);
    }
}

/* ---- those who wait for it ---- */

void
writ_review_changes_release(
    struct writ_ledger *ledger, struct writ_reviewed *review, int64_t now_us, enum writ_code code)
{
    bool open = review->story.state == WRIT_REVIEW_OPEN && code == WRIT_OK;
    struct writ_entry **at = &review->awaiting;

    while (*at != NULL) {
        struct writ_entry *entry = *at;

        if (open && entry->review_await.until_us > now_us) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry->code = code;
        entry->review_await.state = review->story.state;
        entry->next = ledger->over;
        ledger->over = entry;
        writ_review_index_follow(&ledger->reviews, review);
    }
}

/* ---- with its group ---- */

static WRIT_RESULT
write_op(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_view id = op->review->story.review.id;
    uint8_t name[WRIT_TAG_BYTES];

    if (op->was.fresh) {
        writ_tag_put(op->review->by_name.tag, name);
        return writ_disk_run(disk, WRIT_SQL_REVIEW_PUT, err, "tubb", id, op->review->leaf,
            writ_view(name, sizeof name), op->was.arguments);
    }
    if (op->was.content != NULL && op->review->erased) {
        WRIT_TRY(writ_content_rows_write_destroyed(ledger, op->was.leaf, err));
    } else {
        WRIT_TRY(writ_content_rows_write(ledger, op->was.leaf, op->was.content, err));
    }
    if (op->was.forget) {
        return writ_disk_run(disk, WRIT_SQL_REVIEW_DROP, err, "t", id);
    }
    if (writ_review_phase(op->review->story.state) == WRIT_REVIEW_OVER) {
        return writ_disk_run(disk, WRIT_SQL_REVIEW_OVER, err, "t", id); /* keeps (4) */
    }
    return WRIT_DONE;
}

/* The end of the review is on disk: its boundary need not wait for it any more. */
static void
let_boundary_go(struct writ_ledger *ledger, struct writ_reviewed *review)
{
    struct writ_boundary *boundary = review->boundary;

    if (boundary != NULL && writ_review_phase(review->story.state) == WRIT_REVIEW_OVER) {
        review->boundary = NULL;
        boundary->in_flight--;
        boundary->active_us = writ_clock_mono_us(ledger->options.clock);
        writ_sealing_ready(&ledger->boundaries, boundary);
    }
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    let_boundary_go(ledger, op->review);
    if (op->was.voted) {
        writ_reviews_remember(op->review, op->was.voter, op->was.feedback);
    }
    writ_review_changes_release(ledger, op->review, 0, WRIT_OK);
    if (op->was.leaf > 0) {
        writ_review_index_change(&ledger->reviews, op->review, op->was.leaf);
    }
    if (op->was.forget) {
        writ_reviews_outlive(&ledger->reviews, op->review);
    }
}

static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    take_back(&ledger->reviews, op->review, &op->was);
}

static const struct writ_op_steps steps = {.write = write_op, .finish = finish_op, .undo = undo_op};

void
writ_review_changes_settle(struct writ_ledger *ledger, const struct writ_reviews_changes *changes,
    struct writ_entry *entry)
{
    for (size_t i = 0; i < changes->n; i++) {
        const struct writ_reviews_change *change = &changes->list[i];
        struct writ_reviewed *review = change->review;
        struct writ_op *op =
            writ_group_op(&ledger->group, &steps, i + 1 == changes->n ? entry : NULL);
        struct writ_group_row *row;

        op->review = review;
        op->was = change->was;
        row = writ_group_row(ledger);
        op->was.leaf = row->row.leaf;
        row->body_at = change->at;
        row->body_len = change->len;
        row->row.kind = WRIT_ROW_REVIEW;
        row->row.boundary = review->boundary_row;
        row->row.seq = review->seq;
        row->row.time_us = change->time_us;
        row->row.decision_id = review->story.review.id;
    }
}

void
writ_review_changes_forget(struct writ_ledger *ledger, struct writ_reviewed *review)
{
    struct writ_op *op = writ_group_op(&ledger->group, &steps, NULL);

    op->review = review;
    op->was = (struct writ_reviews_before){
        .state = review->story.state,
        .elected = review->story.elected,
        .n = review->story.n,
        .changed_us = review->story.changed_us,
        .until_us = review->until_us,
        .forget = true,
    };
    review->leaving = true;
    writ_review_index_follow(&ledger->reviews, review);
}

/* ---- from the disk ---- */

/* Reads the records of a review, in order, as far as the memory knows the log: a gateway takes the
 * later ones one by one. */
static WRIT_RESULT
read_story(struct writ_ledger *ledger, struct writ_view id, struct writ_reviewed *review,
    struct writ_arena *scratch, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;

    WRIT_TRY(writ_disk_records(disk, id, &row, err));
    while (row) {
        uint64_t leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0);

        if (leaf < ledger->log.next_leaf &&
            writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) == WRIT_ROW_REVIEW) {
            struct writ_view body = writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2);

            WRIT_TRY(writ_vouch(ledger, leaf, body, err));
            WRIT_TRY(writ_reviews_hear(&review->story, body, review, review->arena, scratch, err));
            writ_review_index_change(&ledger->reviews, review, leaf);
        }
        WRIT_TRY(writ_disk_next(disk, WRIT_SQL_REVIEW_RECORDS, &row, err));
    }
    if (review->story.n == 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a review has no records: see `writ ledger verify`");
    }
    return writ_review_index_join(&ledger->reviews, review, err);
}

/* A live one has the name of its boundary. */
static WRIT_RESULT
name_boundary(
    struct writ_reviewed *review, const struct writ_boundary *boundary, struct writ_err *err)
{
    if (writ_review_phase(review->story.state) != WRIT_REVIEW_LIVE) {
        return WRIT_DONE;
    }
    if (boundary == NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a review lives on in a run that is sealed");
    }
    review->boundary_id = writ_view_copy(boundary->name, review->arena);
    if (review->boundary_id.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_changes_load(struct writ_ledger *ledger, struct writ_view id, struct writ_tag name,
    uint64_t leaf, struct writ_boundary *boundary, const struct writ_row *row, struct writ_err *err)
{
    struct writ_arena *scratch = writ_arena_new(WRIT_REVIEWS_SCRATCH);
    struct writ_reviewed *review = NULL;
    writ_result result;

    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    result = writ_reviews_make(&ledger->reviews, id, name, &review, err);
    if (writ_is_ok(result)) {
        result = read_story(ledger, id, review, scratch, err);
        writ_disk_end(&ledger->disk, WRIT_SQL_REVIEW_RECORDS);
        if (writ_is_ok(result)) {
            result = name_boundary(review, boundary, err);
        }
        if (!writ_is_ok(result)) { /* read again when the connection is back */
            writ_reviews_remove(&ledger->reviews, review);
        }
    }
    writ_arena_free(scratch);
    WRIT_TRY(result);
    review->leaf = leaf;
    review->boundary_row = row->boundary;
    review->seq = row->seq;
    review->until_us = writ_reviews_until(review);
    if (writ_review_phase(review->story.state) == WRIT_REVIEW_LIVE) {
        review->boundary = boundary;
        boundary->in_flight++; /* keeps (3) */
    }
    writ_review_index_follow(&ledger->reviews, review);
    return WRIT_DONE;
}

/* ---- from other gateways ---- */

WRIT_RESULT
writ_review_changes_hear(struct writ_ledger *ledger, struct writ_reviewed *review, uint64_t leaf,
    struct writ_view body, struct writ_err *err)
{
    struct writ_arena *scratch = writ_arena_new(WRIT_REVIEWS_SCRATCH);
    writ_result result;

    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    result = writ_reviews_hear(&review->story, body, review, review->arena, scratch, err);
    writ_arena_free(scratch);
    WRIT_TRY(result);
    review->until_us = writ_reviews_until(review);
    writ_review_index_change(&ledger->reviews, review, leaf);
    writ_review_index_follow(&ledger->reviews, review);
    let_boundary_go(ledger, review);
    writ_review_changes_release(ledger, review, 0, WRIT_OK);
    if (review->story.state == WRIT_REVIEW_REDEEMED && review->story.review.candidates_n <= 1) {
        writ_reviews_outlive(&ledger->reviews, review); /* as where it was redeemed */
    }
    return WRIT_DONE;
}

/* ---- what voters are shown ---- */

/* The record that opened the review. */
static WRIT_RESULT
find_opening(struct writ_disk *disk, struct writ_view id, struct writ_arena *arena,
    uint64_t *ret_leaf, struct writ_view *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_records(disk, id, &row, err);

    while (writ_is_ok(result) && row &&
           writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) != WRIT_ROW_REVIEW) {
        result = writ_disk_next(disk, WRIT_SQL_REVIEW_RECORDS, &row, err);
    }
    if (writ_is_ok(result) && row) {
        *ret_leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0);
        *ret = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2), arena);
        result = ret->ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_RECORDS);
    return result;
}

static WRIT_RESULT
read_row(struct writ_disk *disk, struct writ_view id, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_view bytes = {NULL, 0};
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_REVIEW_ARGUMENTS, &row, err, "t", id);

    if (writ_is_ok(result) && row) {
        bytes = writ_disk_bytes(disk, WRIT_SQL_REVIEW_ARGUMENTS, 0);
    }
    if (bytes.len > 0) {
        bytes = writ_view_copy(bytes, arena);
        if (bytes.ptr == NULL) {
            result = writ_fail(err, WRIT_E_NOMEM, "no memory for what voters are shown");
        }
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_ARGUMENTS);
    *ret = bytes;
    return result;
}

WRIT_RESULT
writ_review_changes_shown(struct writ_ledger *ledger, struct writ_view id, bool lives,
    struct writ_arena *arena, struct writ_review_context *ret, struct writ_err *err)
{
    struct writ_view bytes = {NULL, 0}, opening = {NULL, 0};
    uint64_t leaf = 0;
    writ_result result;

    WRIT_TRY(read_row(&ledger->disk, id, arena, &bytes, err));
    if (bytes.len == 0 && !lives) {
        *ret = (struct writ_review_context){0};
        return WRIT_DONE;
    }
    WRIT_TRY(find_opening(&ledger->disk, id, arena, &leaf, &opening, err));
    WRIT_TRY(writ_vouch(ledger, leaf, opening, err));
    result = writ_review_context_check(opening, bytes, arena, err);
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_PARSE) {
        return writ_group_poison(
            ledger, leaf, "what its voters are shown is not what it has the digest of", err);
    }
    WRIT_TRY(result);
    *ret = writ_review_context_read(bytes);
    return WRIT_DONE;
}
