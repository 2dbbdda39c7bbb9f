/* Watchers get only changes that are on disk: their entries are answered between two groups. An
 * entry ends once, with its change, its time or the ledger. */
#include "store/reviews/watching.h"

#include "store/reviews/review_changes.h"
#include "store/tables/review_index.h"
#include "store/write/group.h"
#include "store/write/vouch.h"

#define PORTION_BYTES ((size_t)4 << 20) /* of the reviews that one answer tells */

/* ---- looking ---- */

/* Reads the records of one decision_id: the decision, and those of its review. */
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
    WRIT_TRY(writ_disk_records(disk, get->id, &row, err));
    while (row && get->records_n < WRIT_REVIEW_VOTES_MAX + 8) {
        int64_t kind = writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1);
        struct writ_view body =
            writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2), entry->arena);

        if (body.ptr == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        WRIT_TRY(writ_vouch(
            ledger, (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0), body, err));
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
read_arguments(
    struct writ_ledger *ledger, struct writ_entry *entry, bool lives, struct writ_err *err)
{
    struct writ_entry_review_get *get = &entry->review_get;
    static const struct writ_view none = {NULL, 0};
    struct writ_review_context context;

    WRIT_TRY(writ_review_changes_shown(ledger, get->id, lives, entry->arena, &context, err));
    get->arguments = context.arguments.len > 0 ? context.arguments : none;
    get->target_state = context.state.len > 0 ? context.state : none;
    get->state_before = context.before.len > 0 ? context.before : none;
    get->conditions = context.conditions.len > 0 ? context.conditions : none;
    get->candidates = context.candidates.len > 0 ? context.candidates : none;
    return WRIT_DONE;
}

static void
tell_story(const struct writ_review_story *story, struct writ_review_told *ret)
{
    ret->review = story->review;
    ret->state = story->state;
    ret->elected = story->elected;
    ret->n = story->n;
    ret->changed_us = story->changed_us;
    for (size_t i = 0; i < sizeof ret->digest; i++) {
        ret->digest[i] = story->digest[i];
    }
}

WRIT_RESULT
writ_watching_get(struct writ_ledger *ledger, struct writ_entry *entry)
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
    get->arguments = get->target_state = (struct writ_view){NULL, 0};
    get->state_before = get->conditions = get->candidates = (struct writ_view){NULL, 0};
    if (writ_is_ok(result)) {
        result = story.n == 0 ? (writ_result){WRIT_E_ABSENT}
                              : read_arguments(ledger, entry,
                                    writ_review_phase(story.state) == WRIT_REVIEW_LIVE, &err);
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

/* ---- waiting ---- */

bool
writ_watching_await(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_review_await *await = &entry->review_await;
    bool named = await->id.ptr == NULL;
    struct writ_reviewed *review = named ? writ_reviews_by_name(&ledger->reviews, await->name)
                                         : writ_reviews_by_id(&ledger->reviews, await->id);

    entry->code = WRIT_OK;
    await->state = WRIT_REVIEW_ABSENT;
    await->elected = WRIT_REVIEW_NO_VOTE;
    if (review == NULL) {
        return false;
    }
    if (named) {
        await->found = writ_view_copy(review->story.review.id, entry->arena);
        if (await->found.ptr == NULL) {
            entry->code = WRIT_E_NOMEM;
            return false;
        }
    }
    await->state = review->story.state;
    await->elected = review->story.elected;
    if (named || review->story.state != WRIT_REVIEW_OPEN) {
        return false;
    }
    entry->next = review->awaiting;
    review->awaiting = entry;
    writ_review_index_follow(&ledger->reviews, review);
    return true;
}

/* ---- watching ---- */

/* In a list all that live, by their age; else all that have changed, by their last change. */
static const struct writ_reviewed *
first_of(const struct writ_reviews *reviews, const struct writ_entry_review_watch *watch)
{
    return watch->reset ? WRIT_ORDER_OF(writ_order_from(&reviews->live, watch->from),
                              struct writ_reviewed, by_age)
                        : WRIT_ORDER_OF(writ_order_from(&reviews->changes, watch->since),
                              struct writ_reviewed, by_change);
}

static const struct writ_reviewed *
next_of(const struct writ_entry_review_watch *watch, const struct writ_reviewed *review)
{
    return watch->reset
               ? WRIT_ORDER_OF(writ_order_next(&review->by_age), struct writ_reviewed, by_age)
               : WRIT_ORDER_OF(
                     writ_order_next(&review->by_change), struct writ_reviewed, by_change);
}

/* About the memory that it needs as a told one. */
static size_t
bytes_of(const struct writ_review *terms)
{
    size_t bytes = sizeof(struct writ_review_told) +
                   terms->candidates_n * (sizeof *terms->candidates + 3 * WRIT_DIGEST_TEXT);

    for (size_t i = 0; i < terms->voters_n; i++) {
        const struct writ_review_voter *voter = &terms->voters[i];

        bytes += sizeof *voter + voter->id.len + voter->delegate.len + voter->delegation.len +
                 voter->delegation_digest.len + voter->key.len;
    }
    return bytes;
}

/* The first one after this portion, which has one, however long it is, or more; NULL: none. */
static const struct writ_reviewed *
end_of(const struct writ_entry_review_watch *watch, const struct writ_reviewed *first, size_t *ret)
{
    const struct writ_reviewed *review = first;
    size_t n = 0, bytes = 0;

    while (review != NULL && (watch->most == 0 || n < watch->most)) {
        bytes += bytes_of(&review->story.review);
        if (n > 0 && bytes > PORTION_BYTES) {
            break;
        }
        n++;
        review = next_of(watch, review);
    }
    *ret = n;
    return review;
}

static WRIT_RESULT
tell_portion(const struct writ_reviews *reviews, struct writ_entry *entry)
{
    struct writ_entry_review_watch *watch = &entry->review_watch;
    const struct writ_reviewed *review = first_of(reviews, watch), *end;
    struct writ_review_told *items;
    size_t n;

    end = end_of(watch, review, &n);
    items = writ_arena_get(entry->arena, (n + 1) * sizeof *items);
    if (items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    watch->items = items;
    for (; review != end; review = next_of(watch, review)) {
        WRIT_TRY(writ_reviews_tell(review, entry->arena, &items[watch->n], NULL));
        watch->n++;
    }
    watch->more = end != NULL;
    if (watch->reset) {
        watch->next = end != NULL ? end->leaf : 0;
    } else if (end != NULL && end->changed < watch->at) {
        watch->at = end->changed;
    }
    return WRIT_DONE;
}

bool
writ_watching_add(struct writ_ledger *ledger, struct writ_entry *entry)
{
    entry->next = ledger->reviews.watching;
    ledger->reviews.watching = entry;
    return true;
}

/* Where the next watch begins: not behind a review that another gateway opened and that could not
 * be loaded yet. */
static uint64_t
next_place(const struct writ_ledger *ledger)
{
    struct writ_view opened = writ_buf_view(&ledger->fleet.opened);
    uint64_t leaf;

    if (opened.len == 0) {
        return ledger->reviews.changed + 1;
    }
    (void)writ_view_place(writ_view_sub(opened, 0, sizeof leaf), (char *)&leaf);
    return leaf;
}

/* The state in memory between two groups is on disk: only then do watchers get it. */
static bool
ends_watch(struct writ_ledger *ledger, struct writ_entry *entry, int64_t now_us)
{
    struct writ_entry_review_watch *watch = &entry->review_watch;
    const struct writ_reviews *reviews = &ledger->reviews;
    bool goes_on = watch->from > 0;

    watch->reset =
        goes_on || watch->since <= reviews->forgotten || watch->since > reviews->changed + 1;
    watch->at = goes_on ? watch->since : next_place(ledger);
    watch->next = 0;
    watch->more = false;
    watch->n = 0;
    if (!watch->reset && watch->since >= watch->at) {
        entry->code = WRIT_OK;
        return watch->until_us <= now_us;
    }
    entry->code = tell_portion(reviews, entry).code;
    return true;
}

void
writ_watching_tell(struct writ_ledger *ledger, bool ending)
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
writ_watching_end_all(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        writ_review_changes_release(ledger, review, 0, code);
    }
}
