#include "store/reviews.h"

#include "evidence/record/extension.h"
#include "store/body.h"
#include "store/ending.h"
#include "store/group.h"
#include "store/sealing.h"
#include "store/vouch.h"

/* ---- the table ---- */

WRIT_RESULT
writ_reviews_init(struct writ_reviews *ret, size_t most, struct writ_err *err)
{
    struct writ_reviews reviews = {.most = most};

    WRIT_TRY(writ_map_init(&reviews.by_id, most, err));
    if (!writ_is_ok(writ_map_init(&reviews.by_name, most, err))) {
        writ_map_wipe(&reviews.by_id);
        return (writ_result){WRIT_E_NOMEM};
    }
    *ret = reviews;
    return WRIT_DONE;
}

void
writ_reviews_wipe(struct writ_reviews *reviews)
{
    while (reviews->ring != NULL) {
        writ_reviews_remove(reviews, reviews->ring);
    }
    for (size_t i = 0; i < WRIT_REVIEWS_PAST; i++) {
        if (reviews->past[i] != NULL) {
            writ_arena_free(WRIT_TAKE(reviews->past[i])->arena);
        }
    }
    writ_map_wipe(&reviews->by_id);
    writ_map_wipe(&reviews->by_name);
}

static WRIT_RESULT
tag_id(struct writ_view id, struct writ_tag *ret, struct writ_err *err)
{
    struct writ_digest digest;

    WRIT_TRY(writ_digest_bytes(id, &digest, err));
    *ret = writ_tag_of(&digest);
    return WRIT_DONE;
}

struct writ_reviewed *
writ_reviews_by_id(const struct writ_reviews *reviews, struct writ_view id)
{
    struct writ_reviewed *review;
    struct writ_tag tag;

    if (!writ_is_ok(tag_id(id, &tag, NULL))) {
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

size_t
writ_reviews_of(
    const struct writ_reviews *reviews, struct writ_view tenant, struct writ_view agent_id)
{
    const struct writ_reviewed *review = reviews->ring;
    size_t n = 0;

    for (size_t i = 0; i < reviews->count; i++, review = review->next) {
        n += writ_review_phase(review->story.state) == WRIT_REVIEW_LIVE &&
             writ_view_equal(review->story.review.agent_id, agent_id) &&
             writ_view_equal(review->story.review.tenant, tenant);
    }
    return n;
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
    if (review->changed > reviews->forgotten) {
        reviews->forgotten = review->changed;
    }
    writ_arena_free(review->arena); /* it lies in there itself */
}

void
writ_reviews_outlive(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    struct writ_reviewed **place = &reviews->past[reviews->past_next++ % WRIT_REVIEWS_PAST];

    unlink_one(reviews, review);
    if (*place != NULL) {
        if ((*place)->changed > reviews->forgotten) {
            reviews->forgotten = (*place)->changed;
        }
        writ_arena_free((*place)->arena);
    }
    *place = review;
}

static WRIT_RESULT
make(struct writ_reviews *reviews, struct writ_view id, struct writ_tag name,
    struct writ_reviewed **ret, struct writ_err *err)
{
    struct writ_arena *arena;
    struct writ_reviewed *review;
    struct writ_tag tag;

    if (reviews->count >= reviews->most) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%zu calls are under review, and no more may", reviews->most);
    }
    WRIT_TRY(tag_id(id, &tag, err));
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

    WRIT_TRY(writ_review_put_terms(terms, &text, err));
    WRIT_TRY(writ_body_json(writ_buf_view(&text), arena, &value, err));
    return writ_review_read_terms(value, arena, ret, err);
}

WRIT_RESULT
writ_reviews_add(struct writ_reviews *reviews, const struct writ_review *terms,
    struct writ_tag name, struct writ_reviewed **ret, struct writ_err *err)
{
    struct writ_reviewed *review = NULL;
    struct writ_digest digest;
    writ_result result;

    WRIT_TRY(make(reviews, terms->id, name, &review, err));
    result = copy_terms(terms, review->arena, &review->story.review, err);
    if (writ_is_ok(result)) {
        result = writ_review_digest(terms, &digest, err);
    }
    if (!writ_is_ok(result)) {
        writ_reviews_remove(reviews, review);
        return result;
    }
    writ_digest_text(&digest, review->story.digest);
    *ret = review;
    return WRIT_DONE;
}

/* ---- a change ---- */

static int64_t
until_of(const struct writ_reviewed *review)
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

static WRIT_RESULT
write_terms(const struct writ_review *review, struct writ_arena *arena,
    struct writ_member_object *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_TERMS_MAX);

    WRIT_TRY(writ_review_put_terms(review, &text, err));
    *ret = (struct writ_member_object){WRIT_PRESENT, NULL, writ_buf_view(&text), NULL};
    return WRIT_DONE;
}

/* What voters will be shown is kept beside the records: they have its digest. */
static WRIT_RESULT
note_showing(struct writ_view bytes, struct writ_arena *arena, struct writ_member_object *ret,
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
put_record(struct writ_ledger *ledger, const struct writ_reviewed *review,
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

    WRIT_TRY(writ_member_time_make(now_us, arena, &record.at, err));
    if (event->reason != WRIT_REASON_NONE) {
        record.reason = writ_member_text(writ_reason_name(event->reason));
    }
    if (event->finding != NULL) {
        record.log = writ_member_list(event->finding->log, event->finding->log_n);
    }
    if (event->event == WRIT_REVIEW_DO_OPEN) {
        WRIT_TRY(write_terms(&review->story.review, arena, &record.terms, err));
        WRIT_TRY(note_showing(event->arguments, arena, &record.extensions, err));
    }
    writ_review_record_validate(&record, &faults);
    if (faults.count > 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the record of a review is not valid");
    }
    return writ_review_record_put(&record, &ledger->group.bodies, err);
}

/* keeps (2) */
static void
apply(struct writ_reviewed *review, const struct writ_reviews_event *event,
    enum writ_review_state next, int64_t now_us, struct writ_reviews_before *was)
{
    struct writ_review_story *story = &review->story;

    *was = (struct writ_reviews_before){
        .state = story->state,
        .n = story->n,
        .changed_us = story->changed_us,
        .until_us = review->until_us,
        .fresh = event->event == WRIT_REVIEW_DO_OPEN,
        .forget = event->forget,
        .arguments = event->arguments,
        .feedback = event->feedback,
    };
    if (event->event == WRIT_REVIEW_DO_OPEN) {
        story->review.opened_us = now_us;
        review->boundary->in_flight++; /* keeps (3) */
    }
    if (event->event == WRIT_REVIEW_DO_VOTE) {
        was->voter = writ_review_voter(&story->review, event->by);
        WRIT_INVARIANT(was->voter != NULL);
        was->vote = *was->voter;
        was->voter->vote = event->vote;
        was->voter->voted_us = now_us;
        was->voter->votes++;
    }
    story->n++;
    if (next != story->state) {
        story->state = next;
        story->changed_us = now_us;
        review->until_us = until_of(review);
    }
    review->leaving = event->forget;
}

static void
take_back(
    struct writ_ledger *ledger, struct writ_reviewed *review, const struct writ_reviews_before *was)
{
    if (was->fresh) {
        review->boundary->in_flight--;
        writ_reviews_remove(&ledger->reviews, review);
        return;
    }
    if (was->voter != NULL) {
        *was->voter = was->vote;
    }
    review->story.state = was->state;
    review->story.n = was->n;
    review->story.changed_us = was->changed_us;
    review->until_us = was->until_us;
    review->leaving = false;
}

WRIT_RESULT
writ_reviews_change(struct writ_ledger *ledger, struct writ_reviewed *review,
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
        WRIT_FAIL(err, WRIT_E_MISMATCH, "that cannot happen to the review");
    }
    at = writ_group_body(ledger);
    result = put_record(ledger, review, event, next, now_us, arena, err);
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
    apply(review, event, next, now_us, &change->was);
    changes->n++;
    return WRIT_DONE;
}

void
writ_reviews_revert(struct writ_ledger *ledger, const struct writ_reviews_changes *changes)
{
    for (size_t i = changes->n; i-- > 0;) {
        take_back(ledger, changes->list[i].review, &changes->list[i].was);
    }
}

/* ---- what voters say ---- */

/* Without half a character at its end. */
static struct writ_view
cut(struct writ_view text)
{
    size_t n = text.len;

    if (n > WRIT_LEDGER_SAID_MAX) {
        n = WRIT_LEDGER_SAID_MAX;
        while (n > 0 && ((unsigned char)text.ptr[n] & 0xC0) == 0x80) {
            n--;
        }
    }
    return writ_view_sub(text, 0, n);
}

/* Each voter has one place of the same size, however often it votes: memory is bounded. What there
 * is no memory for is in the record, and the caller is not told. */
static void
remember(
    struct writ_reviewed *review, const struct writ_review_voter *voter, struct writ_view feedback)
{
    const struct writ_review *terms = &review->story.review;
    struct writ_view said = cut(feedback);
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

/* ---- those who wait for it ---- */

void
writ_reviews_release(
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
    if (op->was.forget) {
        return writ_disk_run(disk, WRIT_SQL_REVIEW_DROP, err, "t", id);
    }
    if (writ_review_phase(op->review->story.state) == WRIT_REVIEW_OVER) {
        return writ_disk_run(disk, WRIT_SQL_REVIEW_OVER, err, "t", id); /* keeps (4) */
    }
    return WRIT_DONE;
}

/* Its end is on disk: its boundary need not wait for it any more. */
static void
let_boundary_go(struct writ_ledger *ledger, struct writ_reviewed *review)
{
    struct writ_boundary *boundary = review->boundary;

    if (boundary != NULL && writ_review_phase(review->story.state) == WRIT_REVIEW_OVER) {
        review->boundary = NULL;
        boundary->in_flight--;
        boundary->active_us = writ_clock_mono_us(ledger->options.clock);
        writ_sealing_ready(ledger, boundary);
    }
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    let_boundary_go(ledger, op->review);
    if (op->was.voter != NULL) {
        remember(op->review, op->was.voter, op->was.feedback);
    }
    writ_reviews_release(ledger, op->review, 0, WRIT_OK);
    if (op->was.leaf > 0) {
        op->review->changed = op->was.leaf;
        ledger->reviews.changed = op->was.leaf;
    }
    if (op->was.forget) {
        writ_reviews_outlive(&ledger->reviews, op->review);
    }
}

static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    take_back(ledger, op->review, &op->was);
}

static const struct writ_op_steps steps = {.write = write_op, .finish = finish_op, .undo = undo_op};

void
writ_reviews_settle(struct writ_ledger *ledger, const struct writ_reviews_changes *changes,
    struct writ_entry *entry)
{
    for (size_t i = 0; i < changes->n; i++) {
        const struct writ_reviews_change *change = &changes->list[i];
        struct writ_reviewed *review = change->review;
        struct writ_op *op = writ_group_op(ledger, &steps, i + 1 == changes->n ? entry : NULL);
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
writ_reviews_forget(struct writ_ledger *ledger, struct writ_reviewed *review)
{
    struct writ_op *op = writ_group_op(ledger, &steps, NULL);

    op->review = review;
    op->was = (struct writ_reviews_before){
        .state = review->story.state,
        .n = review->story.n,
        .changed_us = review->story.changed_us,
        .until_us = review->until_us,
        .forget = true,
    };
    review->leaving = true;
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
copy_review(const struct writ_review *from, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    struct writ_view *views[] = {&ret->id, &ret->name, &ret->engine, &ret->threshold, &ret->quorum,
        &ret->subject, &ret->tenant, &ret->agent_id, &ret->intent_digest, &ret->target_state_digest,
        &ret->rules_digest};

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
        WRIT_TRY(copy_view(&ret->voters[i].key, arena, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reviews_tell(const struct writ_reviewed *review, struct writ_arena *arena,
    struct writ_review_told *ret, struct writ_err *err)
{
    struct writ_review_told told = {
        .state = review->story.state,
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
        remember(review, writ_review_voter(&story->review, record.by.view), record.feedback.view);
    }
    story->log = (struct writ_member_list){WRIT_ABSENT, NULL, 0};
    writ_arena_reset(scratch);
    return WRIT_DONE;
}

/* The records of a review, one after the other. */
static WRIT_RESULT
read_story(struct writ_ledger *ledger, struct writ_view id, struct writ_reviewed *review,
    struct writ_arena *scratch, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_REVIEW_RECORDS, &row, err, "t", id));
    while (row) {
        if (writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) == WRIT_ROW_REVIEW) {
            struct writ_view body = writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2);

            review->changed = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0);
            WRIT_TRY(writ_vouch(ledger, review->changed, body, err));
            WRIT_TRY(writ_reviews_hear(&review->story, body, review, review->arena, scratch, err));
        }
        WRIT_TRY(writ_disk_next(disk, WRIT_SQL_REVIEW_RECORDS, &row, err));
    }
    if (review->story.n == 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a review has no records: see `writ ledger verify`");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reviews_load(struct writ_ledger *ledger, struct writ_view id, struct writ_tag name,
    uint64_t leaf, struct writ_boundary *boundary, const struct writ_row *row, struct writ_err *err)
{
    struct writ_arena *scratch = writ_arena_new(WRIT_REVIEWS_SCRATCH);
    struct writ_reviewed *review = NULL;
    writ_result result;

    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    result = make(&ledger->reviews, id, name, &review, err);
    if (writ_is_ok(result)) {
        result = read_story(ledger, id, review, scratch, err);
        writ_disk_end(&ledger->disk, WRIT_SQL_REVIEW_RECORDS);
    }
    writ_arena_free(scratch);
    WRIT_TRY(result);
    review->leaf = leaf;
    review->boundary_row = row->boundary;
    review->seq = row->seq;
    review->until_us = until_of(review);
    if (writ_review_phase(review->story.state) == WRIT_REVIEW_LIVE) {
        if (boundary == NULL) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "a review lives on in a run that is sealed");
        }
        review->boundary_id = writ_view_copy(boundary->name, review->arena);
        if (review->boundary_id.ptr == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
        }
        review->boundary = boundary;
        boundary->in_flight++; /* keeps (3) */
    }
    return WRIT_DONE;
}
