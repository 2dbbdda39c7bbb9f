/* The recount knows states and terms alone: nothing that the index keeps. */
#include "support/store/recount.h"

#include "store/write/store.h"
#include "support/unit.h"

#define ARENA (1 << 20)

struct recount {
    struct writ_ledger *ledger;
    const char *wrong; /* NULL: nothing */
    sem_t done;
};

static bool
lives(const struct writ_reviewed *review)
{
    return writ_review_phase(review->story.state) == WRIT_REVIEW_LIVE;
}

static bool
opens(const struct writ_reviewed *review)
{
    return review->story.state == WRIT_REVIEW_OPEN;
}

static bool
redeemed(const struct writ_reviewed *review)
{
    return review->story.state == WRIT_REVIEW_REDEEMED && !review->leaving;
}

static bool
changed(const struct writ_reviewed *review)
{
    return review->changed > 0;
}

static uint64_t
due(const struct writ_reviewed *review)
{
    int64_t first_us = review->until_us;

    for (const struct writ_entry *at = review->awaiting; at != NULL; at = at->next) {
        first_us = at->review_await.until_us < first_us ? at->review_await.until_us : first_us;
    }
    return review->leaving ? UINT64_MAX : review->look ? 0 : (uint64_t)first_us;
}

/* Of one agent, or of all: NULL. */
static size_t
number(const struct writ_reviews *reviews, const struct writ_review *of,
    bool (*is)(const struct writ_reviewed *review))
{
    const struct writ_reviewed *review = reviews->ring;
    size_t n = 0;

    for (size_t i = 0; i < reviews->count; i++, review = review->next) {
        n += is(review) &&
             (of == NULL || (writ_view_equal(review->story.review.agent_id, of->agent_id) &&
                                writ_view_equal(review->story.review.tenant, of->tenant)));
    }
    return n;
}

/* Its keys do not sink, and it has so many. */
static bool
is_sound(const struct writ_order *order, size_t n)
{
    const struct writ_order_node *at = writ_order_from(order, 0), *before = NULL;
    size_t found = 0;

    for (; at != NULL; before = at, at = writ_order_next(at), found++) {
        if (before != NULL && before->key > at->key) {
            return false;
        }
    }
    return found == n && order->count == n;
}

static const char *
compare_one(const struct writ_reviews *reviews, const struct writ_reviewed *review)
{
    const struct writ_reviews_agent *agent = review->agent;
    const struct writ_review *terms = &review->story.review;
    const struct writ_order *aged = lives(review)      ? &reviews->live
                                    : redeemed(review) ? &agent->redeemed
                                                       : NULL;

    if (review->aged != aged || review->opens != opens(review)) {
        return "a review is counted as another one";
    }
    if (aged != NULL && review->by_age.key != review->leaf) {
        return "the place of a review by its age";
    }
    if (review->by_change.key != review->changed) {
        return "the place of a review by its change";
    }
    if (review->bounded !=
        (lives(review) && review->boundary != NULL ? &review->boundary->reviews : NULL)) {
        return "a review among those of its boundary";
    }
    if (review->by_due.key != due(review)) {
        return "when a sweep looks at a review";
    }
    if (lives(review) && !review->look && !review->leaving &&
        (review->outdated || (review->boundary != NULL && review->boundary->sealing))) {
        return "a review that is over and that no sweep looks at";
    }
    return agent->live == number(reviews, terms, lives) &&
                   is_sound(&agent->redeemed, number(reviews, terms, redeemed))
               ? NULL
               : "the reviews of an agent";
}

static const char *
compare(const struct writ_reviews *reviews)
{
    const struct writ_reviewed *review = reviews->ring;
    size_t held = 0, past = 0;
    const char *wrong = NULL;

    for (size_t i = 0; i < WRIT_REVIEWS_PAST; i++) {
        past += reviews->past[i] != NULL && changed(reviews->past[i]);
    }
    for (size_t i = 0; i < reviews->agents.bucket_count; i++) {
        for (const struct writ_map_node *at = reviews->agents.buckets[i]; at != NULL;
             at = at->next) {
            held += WRIT_MAP_OF(at, struct writ_reviews_agent, by_agent)->held;
        }
    }
    for (size_t i = 0; i < reviews->count && wrong == NULL; i++, review = review->next) {
        wrong = compare_one(reviews, review);
    }
    if (wrong != NULL) {
        return wrong;
    }
    return held != reviews->count                                                ? "agents"
           : !is_sound(&reviews->live, number(reviews, NULL, lives))             ? "live"
           : !is_sound(&reviews->open, number(reviews, NULL, opens))             ? "open"
           : !is_sound(&reviews->due, reviews->count)                            ? "due"
           : !is_sound(&reviews->changes, number(reviews, NULL, changed) + past) ? "changes"
                                                                                 : NULL;
}

static void
on_writer(struct writ_entry *entry)
{
    struct recount *r = entry->user;

    r->wrong = compare(&r->ledger->reviews);
    ck_assert_int_eq(sem_post(&r->done), 0);
}

void
writ_recount(struct writ_kit *kit, const char *when)
{
    struct recount r = {.ledger = kit->ledger};
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_WATCH,
        .done = on_writer,
        .user = &r,
        .arena = writ_arena_new(ARENA),
        .review_watch = {.most = 1}};
    struct writ_entry *list = &entry;

    ck_assert_int_eq(sem_init(&r.done, 0, 0), 0);
    ck_assert_ok(writ_ledger_submit(kit->ledger, &list, 1));
    ck_assert_int_eq(sem_wait(&r.done), 0);
    ck_assert_msg(r.wrong == NULL, "%s: %s", when, r.wrong);
    (void)sem_destroy(&r.done);
    writ_arena_free(entry.arena);
}
