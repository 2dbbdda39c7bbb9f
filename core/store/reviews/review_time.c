/* The ends of reviews that no call and no voter causes: their time or their run is over, or their
 * rules no longer exist. */
#include "store/reviews/review_time.h"

#include "store/reviews/delegated_terms.h"
#include "store/reviews/review_changes.h"
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

/* The next one from there on, of the `*left` that may follow, that is to be forgotten; NULL: none.
 */
static struct writ_reviewed *
next_forgotten(struct writ_reviewed *review, size_t *left, int64_t now_us)
{
    for (; *left > 0; review = review->next) {
        --*left;
        if (is_forgotten(review, now_us)) {
            return review;
        }
    }
    return NULL;
}

static WRIT_RESULT
drop_rows(struct writ_ledger *ledger, int64_t now_us, size_t *ret_n, struct writ_err *err)
{
    size_t left = ledger->reviews.count;
    struct writ_reviewed *review = next_forgotten(ledger->reviews.ring, &left, now_us);

    for (; review != NULL && *ret_n < AT_ONCE; ++*ret_n) {
        WRIT_TRY(
            writ_disk_run(&ledger->disk, WRIT_SQL_REVIEW_DROP, err, "t", review->story.review.id));
        review = next_forgotten(review->next, &left, now_us);
    }
    return WRIT_DONE;
}

/* One commit for all; what is left, or fails, is tried in the next turn. */
static void
forget(struct writ_ledger *ledger, int64_t now_us)
{
    size_t left = ledger->reviews.count, n = 0;
    struct writ_reviewed *review = next_forgotten(ledger->reviews.ring, &left, now_us);

    if (review == NULL || !writ_is_ok(writ_turn_begin(ledger, NULL)) ||
        !writ_is_ok(writ_turn_finish(ledger, drop_rows(ledger, now_us, &n, NULL), NULL))) {
        return;
    }
    left = ledger->reviews.count; /* with what the turn brought from others */
    review = next_forgotten(ledger->reviews.ring, &left, now_us);
    for (; n > 0; n--) {
        struct writ_reviewed *next = review->next;

        writ_reviews_remove(&ledger->reviews, review);
        review = next_forgotten(next, &left, now_us);
    }
}

void
writ_review_time_sweep(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_reviewed *review = ledger->reviews.ring;
    struct writ_arena *arena = review != NULL ? writ_arena_new(SWEEP_ARENA) : NULL;
    struct writ_err err = {0};

    if (arena == NULL) {
        return;
    }
    if (!writ_is_ok(writ_turn_enter(ledger, &err))) {
        writ_group_trouble(ledger, &err);
        writ_arena_free(arena);
        return;
    }
    review = ledger->reviews.ring; /* others may have ended some */
    for (size_t i = ledger->reviews.count; i > 0 && writ_group_has_room(&ledger->group); i--) {
        struct writ_reviews_changes changes = {.n = 0};

        writ_review_changes_release(ledger, review, now_us, WRIT_OK); /* before its state may
                                                                         change */
        WRIT_IGNORE(writ_delegated_terms_withdraw(ledger, review, arena, NULL));
        /* a failure is tried again in the next turn */
        if (writ_is_ok(sweep_one(ledger, review, now_us, arena, &changes))) {
            writ_review_changes_settle(ledger, &changes, NULL);
        }
        review = review->next;
    }
    (void)writ_group_commit(ledger).code;
    forget(ledger, now_us);
    writ_arena_free(arena);
}
