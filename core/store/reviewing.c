/* 1. What a call is told is found without any change; the changes that go with it are made behind
 *    the body of its decision, and become rows and ops with it.
 * 2. An approval is spent by the change that stands in the same group as the grant, or not at all.
 * 3. An end is told to its caller once, and then forgotten, so that asking again opens a new
 *    review; but what voters have said about the very call holds as long as it is remembered. */
#include "store/reviewing.h"

#include "evidence/ballot.h"
#include "store/group.h"
#include "store/showing.h"

#define SWEEP_ARENA  (1 << 20)
#define SHOWING_HEAD 128 /* bytes of it besides its parts */

/* ---- a call asks ---- */

static bool
same_terms(const struct writ_review *a, const struct writ_review *b)
{
    return writ_view_equal(a->agent_id, b->agent_id) && writ_view_equal(a->tenant, b->tenant);
}

static bool
holds(enum writ_review_state state)
{
    return state == WRIT_REVIEW_REJECTED || state == WRIT_REVIEW_REVISED;
}

/* What would happen to a live review for being asked now, or JOIN or REDEEM. */
static enum writ_review_event
event_of(const struct writ_reviewed *review, const struct writ_review *asked, int64_t now_us)
{
    const struct writ_review *terms = &review->story.review;

    if (review->until_us <= now_us) {
        return WRIT_REVIEW_DO_EXPIRE;
    }
    if (!writ_view_equal(terms->rules_digest, asked->rules_digest)) {
        return WRIT_REVIEW_DO_OUTDATE;
    }
    if (!writ_view_equal(terms->target_state_digest, asked->target_state_digest) ||
        !writ_view_equal(terms->intent_digest, asked->intent_digest)) {
        return WRIT_REVIEW_DO_DRIFT;
    }
    return review->story.state == WRIT_REVIEW_APPROVED ? WRIT_REVIEW_DO_REDEEM
                                                       : WRIT_REVIEW_DO_JOIN;
}

static WRIT_RESULT
refuse(struct writ_reviewing *reviewing, enum writ_reason reason)
{
    reviewing->answer = WRIT_REVIEWING_REFUSES;
    reviewing->reason = reason;
    return WRIT_DONE;
}

static WRIT_RESULT
ask_for_new(
    struct writ_ledger *ledger, const struct writ_review *terms, struct writ_reviewing *reviewing)
{
    const struct writ_reviews *reviews = &ledger->reviews;

    if (ledger->options.judge == NULL || !writ_is_ok(writ_review_check(terms, NULL))) {
        return refuse(reviewing, WRIT_REASON_REVIEW_UNAVAILABLE);
    }
    if (reviews->count >= reviews->most) {
        return refuse(reviewing, WRIT_REASON_OVERLOADED);
    }
    if (writ_reviews_of(reviews, terms->tenant, terms->agent_id) >=
        ledger->options.reviews_agent_max) {
        return refuse(reviewing, WRIT_REASON_REVIEWS_EXCEEDED);
    }
    reviewing->answer = WRIT_REVIEWING_PENDS;
    return WRIT_DONE;
}

/* The caller names a review: it must be there, be its own, and be for this very call. */
static bool
is_named(const struct writ_ask *ask, const struct writ_reviewed *review)
{
    return ask->continuation.ptr == NULL ||
           (review != NULL && writ_view_equal(ask->continuation, review->story.review.id));
}

WRIT_RESULT
writ_reviewing_ask(struct writ_ledger *ledger, const struct writ_entry_decision *d, int64_t now_us,
    struct writ_reviewing *ret, struct writ_err *err)
{
    const struct writ_ask *ask = d->ask;
    struct writ_reviewing reviewing = {0};
    struct writ_reviewed *review = writ_reviews_by_name(&ledger->reviews, &ask->name);

    (void)err;
    if (review != NULL && !same_terms(&review->story.review, ask->terms)) {
        review = NULL; /* two calls with one tag: 2^64 work, and yet */
    }
    reviewing.review = review;
    if (!is_named(ask, review)) {
        WRIT_TRY(refuse(&reviewing, WRIT_REASON_CONTINUATION_MISMATCH));
        reviewing.review = NULL;
    } else if (review == NULL) {
        WRIT_TRY(ask_for_new(ledger, ask->terms, &reviewing));
    } else if (writ_review_phase(review->story.state) == WRIT_REVIEW_OVER) {
        WRIT_TRY(refuse(&reviewing, writ_review_reason(review->story.state)));
    } else {
        enum writ_review_event event = event_of(review, ask->terms, now_us);
        enum writ_review_state next = WRIT_REVIEW_ABSENT;

        WRIT_INVARIANT(writ_review_move(review->story.state, event, &next));
        reviewing.until_us = review->until_us;
        if (event == WRIT_REVIEW_DO_JOIN) {
            reviewing.answer = WRIT_REVIEWING_PENDS;
        } else if (event == WRIT_REVIEW_DO_REDEEM) {
            reviewing.answer = WRIT_REVIEWING_REDEEMS;
        } else if (event == WRIT_REVIEW_DO_EXPIRE) {
            WRIT_TRY(refuse(&reviewing, writ_review_reason(next)));
        } else { /* the world moved on: ended, and a new one in its place */
            WRIT_TRY(ask_for_new(ledger, ask->terms, &reviewing));
            reviewing.before = review->story.review.id;
            if (reviewing.answer == WRIT_REVIEWING_PENDS) {
                reviewing.reason = writ_review_reason(next);
            }
        }
    }
    *ret = reviewing;
    return WRIT_DONE;
}

/* ---- and is told ---- */

/* What voters were shown of a review that is on disk, in the arena. Empty: there is nothing. */
static WRIT_RESULT
read_showing(struct writ_ledger *ledger, struct writ_view id, struct writ_arena *arena,
    struct writ_showing *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result =
        writ_disk_query(&ledger->disk, WRIT_SQL_REVIEW_ARGUMENTS, &row, err, "t", id);

    *ret = (struct writ_showing){0};
    if (writ_is_ok(result) && row) {
        struct writ_view bytes = writ_disk_bytes(&ledger->disk, WRIT_SQL_REVIEW_ARGUMENTS, 0);

        if (bytes.len > 0) {
            *ret = writ_showing_read(writ_view_copy(bytes, arena));
        }
    }
    writ_disk_end(&ledger->disk, WRIT_SQL_REVIEW_ARGUMENTS);
    return result;
}

/* What the voters will be shown; with the state that the review before was about. */
static WRIT_RESULT
make_showing(struct writ_ledger *ledger, const struct writ_ask *ask, struct writ_view before,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_showing showing = {.arguments = ask->arguments, .state = ask->target_state}, was;
    struct writ_buf text;

    if (before.ptr != NULL) {
        WRIT_TRY(read_showing(ledger, before, arena, &was, err));
        showing.before = was.state;
    }
    text = writ_buf_in(
        arena, showing.arguments.len + showing.state.len + showing.before.len + SHOWING_HEAD);
    writ_showing_put(&showing, &text);
    WRIT_TRY(writ_buf_check(&text, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

static WRIT_RESULT
open_review(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    const struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_reviews_event event = {
        .event = WRIT_REVIEW_DO_OPEN,
        .by = d->ask->terms->agent_id,
        .reason = WRIT_REASON_APPROVAL_REQUIRED,
    };
    struct writ_reviewed *review = NULL;
    writ_result result;

    WRIT_TRY(make_showing(ledger, d->ask, reviewing->before, arena, &event.arguments, err));
    WRIT_TRY(writ_reviews_add(
        &ledger->reviews, d->ask->terms, writ_tag_of(&d->ask->name), &review, err));
    review->boundary = boundary;
    review->boundary_row = boundary->id;
    review->boundary_id = writ_view_copy(boundary->name, review->arena);
    review->seq = boundary->next_seq;
    review->leaf = leaf;
    result = review->boundary_id.ptr == NULL
                 ? (writ_result){WRIT_E_NOMEM}
                 : writ_reviews_change(ledger, review, &event, arena, &reviewing->changes, err);
    if (!writ_is_ok(result)) {
        writ_reviews_remove(&ledger->reviews, review);
        return result;
    }
    reviewing->review = review;
    return WRIT_DONE;
}

/* The review that stood in the way ends, and is forgotten: its caller is told by this answer. */
static WRIT_RESULT
end_before(struct writ_ledger *ledger, struct writ_reviewing *reviewing, const struct writ_ask *ask,
    int64_t now_us, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_reviewed *review = reviewing->review;
    struct writ_reviews_event event = {.by = ask->terms->agent_id, .forget = true};
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    event.event = event_of(review, ask->terms, now_us);
    WRIT_INVARIANT(writ_review_move(review->story.state, event.event, &next));
    event.reason = writ_review_reason(next);
    return writ_reviews_change(ledger, review, &event, arena, &reviewing->changes, err);
}

static WRIT_RESULT
change_for(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    const struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary,
    bool granted, struct writ_arena *arena, struct writ_err *err)
{
    int64_t now_us = ledger->last_us;
    bool lives = reviewing->review != NULL &&
                 writ_review_phase(reviewing->review->story.state) == WRIT_REVIEW_LIVE;

    switch (reviewing->answer) {
    case WRIT_REVIEWING_REDEEMS:
        if (granted) { /* keeps (2) */
            const struct writ_reviews_event event = {.event = WRIT_REVIEW_DO_REDEEM,
                .by = d->ask->terms->agent_id,
                .reason = WRIT_REASON_APPROVAL_GRANTED,
                .forget = true};

            return writ_reviews_change(
                ledger, reviewing->review, &event, arena, &reviewing->changes, err);
        }
        return WRIT_DONE;
    case WRIT_REVIEWING_PENDS:
        if (reviewing->before.ptr != NULL) {
            WRIT_TRY(end_before(ledger, reviewing, d->ask, now_us, arena, err));
        }
        if (reviewing->review == NULL || reviewing->before.ptr != NULL) {
            return open_review(ledger, reviewing, d, leaf, boundary, arena, err);
        }
        return WRIT_DONE;
    case WRIT_REVIEWING_REFUSES:
        return lives && reviewing->reason != WRIT_REASON_CONTINUATION_MISMATCH
                   ? end_before(ledger, reviewing, d->ask, now_us, arena, err)
                   : WRIT_DONE;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reviewing_record(struct writ_ledger *ledger, struct writ_reviewing *reviewing,
    struct writ_entry_decision *d, uint64_t leaf, struct writ_boundary *boundary, bool granted,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_ask *ask = d->ask;
    writ_result result = change_for(ledger, reviewing, d, leaf, boundary, granted, arena, err);

    ask->id = (struct writ_view){NULL, 0};
    if (writ_is_ok(result) && reviewing->review != NULL) {
        ask->state = reviewing->review->story.state;
        ask->until_us = reviewing->review->until_us;
        if (holds(ask->state)) {
            writ_reviews_voices(reviewing->review, arena, ask);
        }
        ask->id = writ_view_copy(reviewing->review->story.review.id, arena);
        if (ask->id.ptr == NULL) {
            result = (writ_result){WRIT_E_NOMEM};
        }
    }
    if (!writ_is_ok(result)) {
        writ_reviewing_revert(ledger, reviewing);
    } else if (reviewing->answer == WRIT_REVIEWING_REFUSES && reviewing->review != NULL &&
               reviewing->changes.n == 0 && !holds(ask->state)) {
        reviewing->told = reviewing->review; /* keeps (3) */
    }
    return result;
}

void
writ_reviewing_settle(struct writ_ledger *ledger, struct writ_reviewing *reviewing)
{
    writ_reviews_settle(ledger, &reviewing->changes, NULL);
    if (reviewing->told != NULL) {
        writ_reviews_forget(ledger, reviewing->told);
    }
}

void
writ_reviewing_revert(struct writ_ledger *ledger, struct writ_reviewing *reviewing)
{
    writ_reviews_revert(ledger, &reviewing->changes);
    reviewing->changes.n = 0;
}

/* ---- somebody votes, or ends it ---- */

/* Who has a key votes signed, by whatever way the vote came; else there is nothing to sign with. */
static enum writ_reason
check_signature(const struct writ_entry_review *r, const struct writ_reviewed *review,
    const struct writ_review_voter *voter)
{
    const struct writ_ballot want = {.digest = writ_view_str(review->story.digest),
        .voter = voter->id,
        .vote = r->vote,
        .feedback = r->feedback,
        .confidence = r->confidence,
        .revision = voter->votes};
    struct writ_arena *scratch;
    writ_result result = {WRIT_E_NOMEM};

    if (voter->key.len == 0 || r->signature.ptr == NULL) {
        return voter->key.len > 0         ? WRIT_REASON_VOTE_UNSIGNED
               : r->signature.ptr != NULL ? WRIT_REASON_VOTE_FORGED
                                          : WRIT_REASON_NONE;
    }
    scratch = writ_arena_new_small(WRIT_REVIEWS_SCRATCH);
    if (scratch != NULL) {
        result = writ_ballot_check(r->signature, voter->key, &want, scratch, NULL);
    }
    writ_arena_free(scratch);
    return writ_is_ok(result) ? WRIT_REASON_NONE : WRIT_REASON_VOTE_FORGED;
}

static enum writ_reason
check_vote(const struct writ_entry_review *r, const struct writ_reviewed *review)
{
    const struct writ_review_voter *voter = writ_review_voter(&review->story.review, r->by);

    if (!writ_view_is(r->digest, review->story.digest)) {
        return WRIT_REASON_REVIEW_MISMATCH;
    }
    if (voter == NULL) {
        return WRIT_REASON_VOTE_NOT_ENTITLED;
    }
    if (r->vote == WRIT_REVIEW_NO_VOTE ||
        (r->feedback.ptr != NULL && !writ_review_is_feedback(r->feedback)) ||
        (r->confidence.ptr != NULL && !writ_review_is_confidence(r->confidence))) {
        return WRIT_REASON_VOTE_MALFORMED;
    }
    return voter->votes >= writ_review_votes_each(&review->story.review)
               ? WRIT_REASON_REVIEW_CLOSED
               : check_signature(r, review, voter);
}

/* What somebody can do to a review. The rest follows: from votes, from time, from its call. */
static bool
is_somebodys(enum writ_review_event event)
{
    return event == WRIT_REVIEW_DO_VOTE || event == WRIT_REVIEW_DO_WITHDRAW ||
           event == WRIT_REVIEW_DO_CANCEL || event == WRIT_REVIEW_DO_OUTDATE ||
           event == WRIT_REVIEW_DO_DRIFT;
}

static enum writ_reason
check_event(const struct writ_entry_review *r, const struct writ_reviewed *review, int64_t now_us)
{
    enum writ_review_state next;

    if (review == NULL ||
        (r->tenant.ptr != NULL && !writ_view_equal(r->tenant, review->story.review.tenant))) {
        return WRIT_REASON_REVIEW_UNKNOWN;
    }
    if (r->agent_id.ptr != NULL && !writ_view_equal(r->agent_id, review->story.review.agent_id)) {
        return WRIT_REASON_REVIEW_UNKNOWN;
    }
    if (!is_somebodys(r->event)) {
        return WRIT_REASON_VOTE_NOT_ENTITLED;
    }
    if (!writ_review_move(review->story.state, r->event, &next) || review->until_us <= now_us) {
        return WRIT_REASON_REVIEW_CLOSED;
    }
    return r->event == WRIT_REVIEW_DO_VOTE ? check_vote(r, review) : WRIT_REASON_NONE;
}

/* The verdict, when nothing that is still out can change it. */
static WRIT_RESULT
close_if_decided(struct writ_ledger *ledger, struct writ_reviewed *review, struct writ_arena *arena,
    struct writ_reviews_changes *changes, struct writ_err *err)
{
    struct writ_review_finding finding = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_reviews_event event = {.finding = &finding};
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    if (ledger->options.judge == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_review_look(ledger->options.judge, &review->story.review, arena, &finding, err));
    if (finding.verdict == WRIT_REVIEW_DO_VOTE) {
        return WRIT_DONE;
    }
    event.event = finding.verdict;
    if (writ_review_move(review->story.state, event.event, &next)) {
        event.reason = writ_review_reason(next);
    }
    return writ_reviews_change(ledger, review, &event, arena, changes, err);
}

static WRIT_RESULT
make_event(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_reviewed *review,
    struct writ_reviews_changes *changes, struct writ_err *err)
{
    const struct writ_entry_review *r = &entry->review;
    struct writ_reviews_event event = {
        .event = r->event,
        .by = r->by,
        .feedback = r->feedback,
        .confidence = r->confidence,
        .signature = r->signature,
        .vote = r->event == WRIT_REVIEW_DO_VOTE ? r->vote : WRIT_REVIEW_NO_VOTE,
    };
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    if (writ_review_move(review->story.state, r->event, &next) &&
        writ_review_phase(next) == WRIT_REVIEW_OVER) {
        event.reason = writ_review_reason(next);
    }
    WRIT_TRY(writ_reviews_change(ledger, review, &event, entry->arena, changes, err));
    if (r->event == WRIT_REVIEW_DO_VOTE) {
        WRIT_TRY(close_if_decided(ledger, review, entry->arena, changes, err));
    }
    return writ_reviews_tell(review, entry->arena, &entry->review.told, err);
}

WRIT_RESULT
writ_reviewing_event(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_review *r = &entry->review;
    struct writ_reviewed *review = writ_reviews_by_id(&ledger->reviews, r->id);
    struct writ_reviews_changes changes = {.n = 0};
    size_t before = ledger->group.bodies.len;
    writ_result result;

    r->refused = check_event(r, review, writ_clock_wall_us(ledger->options.clock));
    if (r->refused == WRIT_REASON_REVIEW_UNKNOWN) {
        return WRIT_DONE;
    }
    if (r->refused != WRIT_REASON_NONE) {
        return writ_reviews_tell(review, entry->arena, &r->told, NULL);
    }
    result = make_event(ledger, entry, review, &changes, NULL);
    if (!writ_is_ok(result)) {
        writ_reviews_revert(ledger, &changes);
        writ_buf_cut(&ledger->group.bodies, before);
        return result;
    }
    writ_reviews_settle(ledger, &changes, entry);
    return WRIT_DONE;
}

/* ---- looking ---- */

/* The records of one decision_id: the decision, and those of its review. */
static WRIT_RESULT
read_records(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_review_story *story,
    struct writ_arena *scratch, struct writ_err *err)
{
    struct writ_entry_review_get *get = &entry->review_get;
    struct writ_disk *disk = &ledger->disk;
    struct writ_view *records =
        writ_arena_get(entry->arena, (WRIT_REVIEW_VOTES_MAX + 8) * sizeof *records);
    bool row = false;

    if (records == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    get->records = records;
    get->records_n = 0;
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_REVIEW_RECORDS, &row, err, "t", get->id));
    while (row && get->records_n < WRIT_REVIEW_VOTES_MAX + 8) {
        int64_t kind = writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1);
        struct writ_view body =
            writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2), entry->arena);

        if (body.ptr == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        if (kind == WRIT_ROW_DECISION) {
            get->decision = body;
        } else if (kind == WRIT_ROW_REVIEW) {
            records[get->records_n++] = body;
            WRIT_TRY(writ_reviews_hear(story, body, NULL, entry->arena, scratch, err));
        }
        WRIT_TRY(writ_disk_next(disk, WRIT_SQL_REVIEW_RECORDS, &row, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_arguments(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_err *err)
{
    struct writ_entry_review_get *get = &entry->review_get;
    static const struct writ_view none = {NULL, 0};
    struct writ_showing showing;

    WRIT_TRY(read_showing(ledger, get->id, entry->arena, &showing, err));
    get->arguments = showing.arguments.len > 0 ? showing.arguments : none;
    get->target_state = showing.state.len > 0 ? showing.state : none;
    get->state_before = showing.before.len > 0 ? showing.before : none;
    return WRIT_DONE;
}

static void
tell_story(const struct writ_review_story *story, struct writ_review_told *ret)
{
    ret->review = story->review;
    ret->state = story->state;
    ret->n = story->n;
    ret->changed_us = story->changed_us;
    for (size_t i = 0; i < sizeof ret->digest; i++) {
        ret->digest[i] = story->digest[i];
    }
}

WRIT_RESULT
writ_reviewing_get(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_review_get *get = &entry->review_get;
    const struct writ_reviewed *live = writ_reviews_by_id(&ledger->reviews, get->id);
    struct writ_review_story story = {.state = WRIT_REVIEW_ABSENT};
    struct writ_arena *scratch = writ_arena_new(WRIT_REVIEWS_SCRATCH);
    struct writ_err err = {0};
    writ_result result;

    if (scratch == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    result = read_records(ledger, entry, &story, scratch, &err);
    writ_disk_end(&ledger->disk, WRIT_SQL_REVIEW_RECORDS);
    writ_arena_free(scratch);
    get->arguments = get->target_state = get->state_before = (struct writ_view){NULL, 0};
    if (writ_is_ok(result)) {
        result = story.n == 0 ? (writ_result){WRIT_E_ABSENT} : read_arguments(ledger, entry, &err);
    }
    if (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) {
        writ_group_trouble(ledger, &err);
        result.code = WRIT_E_IO;
    }
    WRIT_TRY(result);
    tell_story(&story, &get->told);
    get->told.until_us = live != NULL ? live->until_us : 0;
    return WRIT_DONE;
}

/* ---- another policy ---- */

static bool
has_rules(const struct writ_entry_review_rules *rules, struct writ_view digest)
{
    for (size_t i = 0; i < rules->n; i++) {
        if (writ_view_equal(rules->rules[i], digest)) {
            return true;
        }
    }
    return false;
}

WRIT_RESULT
writ_reviewing_rules(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        review->outdated = !has_rules(&entry->review_rules, review->story.review.rules_digest);
    }
    ledger->ticked_us -= WRIT_STORE_TICK_US; /* they end in this turn */
    return WRIT_DONE;
}

/* ---- waiting ---- */

bool
writ_reviewing_await(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_reviewed *review = writ_reviews_by_id(&ledger->reviews, entry->review_await.id);

    entry->code = WRIT_OK;
    entry->review_await.state = WRIT_REVIEW_ABSENT;
    if (review == NULL) {
        return false;
    }
    entry->review_await.state = review->story.state;
    if (review->story.state != WRIT_REVIEW_OPEN) {
        return false;
    }
    entry->next = review->awaiting;
    review->awaiting = entry;
    return true;
}

static WRIT_RESULT
add_changed(
    const struct writ_reviewed *review, struct writ_entry *entry, struct writ_review_told *items)
{
    struct writ_entry_review_watch *watch = &entry->review_watch;
    bool lives = !review->leaving && writ_review_phase(review->story.state) == WRIT_REVIEW_LIVE;

    if (watch->anew ? !lives : review->changed < watch->since) {
        return WRIT_DONE;
    }
    return writ_reviews_tell(review, entry->arena, &items[watch->n++], NULL);
}

static WRIT_RESULT
tell_changes(struct writ_ledger *ledger, struct writ_entry *entry)
{
    const struct writ_reviews *reviews = &ledger->reviews;
    const struct writ_reviewed *review = reviews->ring;
    struct writ_entry_review_watch *watch = &entry->review_watch;
    struct writ_review_told *items =
        writ_arena_get(entry->arena, (reviews->count + WRIT_REVIEWS_PAST) * sizeof *items);

    if (items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    watch->items = items;
    for (size_t i = 0; !watch->anew && i < WRIT_REVIEWS_PAST; i++) {
        if (reviews->past[i] != NULL) {
            WRIT_TRY(add_changed(reviews->past[i], entry, items));
        }
    }
    for (size_t i = 0; i < reviews->count; i++, review = review->next) {
        WRIT_TRY(add_changed(review, entry, items));
    }
    return WRIT_DONE;
}

void
writ_reviewing_watch(struct writ_ledger *ledger, struct writ_entry *entry)
{
    entry->next = ledger->reviews.watching;
    ledger->reviews.watching = entry;
}

/* What the memory holds between two groups is on disk: only then is it told. */
static bool
ends_watch(struct writ_ledger *ledger, struct writ_entry *entry, int64_t now_us)
{
    struct writ_entry_review_watch *watch = &entry->review_watch;
    const struct writ_reviews *reviews = &ledger->reviews;

    watch->anew = watch->since <= reviews->forgotten || watch->since > reviews->changed + 1;
    watch->at = reviews->changed + 1;
    watch->n = 0;
    if (!watch->anew && watch->since == watch->at) {
        entry->code = WRIT_OK;
        return watch->until_us <= now_us;
    }
    entry->code = tell_changes(ledger, entry).code;
    return true;
}

void
writ_reviewing_watched(struct writ_ledger *ledger, bool ending)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_entry **at = &ledger->reviews.watching;

    while (*at != NULL) {
        struct writ_entry *entry = *at;

        if (!ends_watch(ledger, entry, now_us) && !ending) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry->code = ending ? WRIT_E_BUSY : entry->code;
        entry->next = ledger->over;
        ledger->over = entry;
    }
}

void
writ_reviewing_end_all(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        writ_reviews_release(ledger, review, 0, code);
    }
}

/* ---- time passes ---- */

/* keeps (3): what nobody came back for is forgotten in its time */
static WRIT_RESULT
sweep_one(struct writ_ledger *ledger, struct writ_reviewed *review, int64_t now_us,
    struct writ_arena *arena, struct writ_reviews_changes *changes)
{
    struct writ_reviews_event event = {.event = WRIT_REVIEW_DO_EXPIRE};
    enum writ_review_state next = WRIT_REVIEW_ABSENT;

    if (writ_review_phase(review->story.state) == WRIT_REVIEW_OVER || review->leaving) {
        return WRIT_DONE;
    }
    if (review->boundary->sealing) {
        event.event = WRIT_REVIEW_DO_WITHDRAW;
    } else if (review->outdated) {
        event.event = WRIT_REVIEW_DO_OUTDATE;
    } else if (review->until_us > now_us) {
        return WRIT_DONE;
    }
    if (writ_review_move(review->story.state, event.event, &next)) {
        event.reason = writ_review_reason(next);
    }
    return writ_reviews_change(ledger, review, &event, arena, changes, NULL);
}

static bool
is_forgotten(const struct writ_reviewed *review, int64_t now_us)
{
    return writ_review_phase(review->story.state) == WRIT_REVIEW_OVER && !review->leaving &&
           review->until_us <= now_us;
}

static void
forget(struct writ_ledger *ledger, int64_t now_us)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = ledger->reviews.count; i > 0; i--) {
        struct writ_reviewed *next = review->next;

        if (is_forgotten(review, now_us)) {
            if (!writ_is_ok(writ_disk_run(
                    &ledger->disk, WRIT_SQL_REVIEW_DROP, NULL, "t", review->story.review.id))) {
                return; /* tried again in the next turn */
            }
            writ_reviews_remove(&ledger->reviews, review);
        }
        review = next;
    }
}

void
writ_reviewing_sweep(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_reviewed *review = ledger->reviews.ring;
    struct writ_arena *arena = review != NULL ? writ_arena_new(SWEEP_ARENA) : NULL;

    if (arena == NULL) {
        return;
    }
    for (size_t i = ledger->reviews.count; i > 0 && writ_group_has_room(&ledger->group); i--) {
        struct writ_reviews_changes changes = {.n = 0};

        writ_reviews_release(ledger, review, now_us, WRIT_OK); /* before it may change */
        /* what fails is tried again in the next turn */
        if (writ_is_ok(sweep_one(ledger, review, now_us, arena, &changes))) {
            writ_reviews_settle(ledger, &changes, NULL);
        }
        review = review->next;
    }
    (void)writ_group_commit(ledger).code;
    forget(ledger, now_us);
    writ_arena_free(arena);
}
