/* The ends of reviews that no call and no voter causes: their time or their run is over, or their
 * rules no longer exist. */
#include "store/reviews/review_time.h"

#include "store/reviews/delegated_terms.h"
#include "store/reviews/review_changes.h"
#include "store/tables/review_index.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#define SWEEP_ARENA (1 << 20)
#define AT_ONCE     256 /* that are forgotten; a commit each would stop all calls */

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
writ_review_time_rules(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        review->outdated = !has_rules(&entry->review_rules, review->story.review.rules_digest);
        if (review->outdated) {
            writ_review_index_look(&ledger->reviews, review);
        }
    }
    ledger->turn.ticked_us -= WRIT_STORE_TICK_US; /* they end in this turn */
    return WRIT_DONE;
}

/* ---- time passes ---- */

/* An end that no caller fetched is forgotten when its time is over. */
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
    return writ_review_changes_make(ledger, review, &event, arena, changes, NULL);
}

static bool
is_forgotten(const struct writ_reviewed *review, int64_t now_us)
{
    return writ_review_phase(review->story.state) == WRIT_REVIEW_OVER && !review->leaving &&
           review->until_us <= now_us;
}

/* The first from there on, among those that are due, that is to be forgotten; NULL: none. */
static struct writ_reviewed *
forgotten(struct writ_reviewed *review, int64_t now_us)
{
    while (review != NULL && !is_forgotten(review, now_us)) {
        review = writ_review_index_due_next(review, now_us);
    }
    return review;
}

static struct writ_reviewed *
first_forgotten(const struct writ_ledger *ledger, int64_t now_us)
{
    return forgotten(writ_review_index_due(&ledger->reviews, now_us), now_us);
}

static WRIT_RESULT
drop_rows(struct writ_ledger *ledger, int64_t now_us, size_t *ret_n, struct writ_err *err)
{
    struct writ_reviewed *review = first_forgotten(ledger, now_us);

    for (; review != NULL && *ret_n < AT_ONCE; ++*ret_n) {
        WRIT_TRY(
            writ_disk_run(&ledger->disk, WRIT_SQL_REVIEW_DROP, err, "t", review->story.review.id));
        review = forgotten(writ_review_index_due_next(review, now_us), now_us);
    }
    return WRIT_DONE;
}

/* One commit for all; what is left, or fails, is tried in the next turn. */
static void
forget(struct writ_ledger *ledger, int64_t now_us)
{
    size_t n = 0;

    if (first_forgotten(ledger, now_us) == NULL || !writ_is_ok(writ_turn_begin(ledger, NULL)) ||
        !writ_is_ok(writ_turn_finish(ledger, drop_rows(ledger, now_us, &n, NULL), NULL))) {
        return;
    }
    for (; n > 0; n--) { /* in the same order, with what the turn brought from others */
        struct writ_reviewed *review = first_forgotten(ledger, now_us);

        if (review == NULL) {
            return;
        }
        writ_reviews_remove(&ledger->reviews, review);
    }
}

/* A failure is tried again in the next turn. */
static void
look_at(struct writ_ledger *ledger, struct writ_reviewed *review, int64_t now_us,
    struct writ_arena *arena)
{
    struct writ_reviews_changes changes = {.n = 0};
    bool done;

    writ_review_changes_release(ledger, review, now_us, WRIT_OK); /* before its state may change */
    done = writ_is_ok(writ_delegated_terms_withdraw(ledger, review, arena, NULL));
    if (writ_is_ok(sweep_one(ledger, review, now_us, arena, &changes))) {
        writ_review_changes_settle(ledger, &changes, NULL);
    } else {
        done = false;
    }
    review->look = review->look && !done;
    writ_review_index_follow(&ledger->reviews, review);
}

void
writ_review_time_sweep(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_reviewed *review;
    struct writ_arena *arena;
    struct writ_err err = {0};

    if (ledger->reviews.ring == NULL ||
        (ledger->sharing == NULL && writ_review_index_due(&ledger->reviews, now_us) == NULL)) {
        return;
    }
    arena = writ_arena_new(SWEEP_ARENA);
    if (arena == NULL) {
        return;
    }
    if (!writ_is_ok(writ_turn_enter(ledger, &err))) {
        writ_group_trouble(ledger, &err);
        writ_arena_free(arena);
        return;
    }
    review = writ_review_index_due(&ledger->reviews, now_us); /* others may have ended some */
    while (review != NULL && writ_group_has_room(&ledger->group)) {
        struct writ_reviewed *next = writ_review_index_due_next(review, now_us);

        look_at(ledger, review, now_us, arena);
        review = next;
    }
    (void)writ_group_commit(ledger).code;
    forget(ledger, now_us);
    writ_arena_free(arena);
}
