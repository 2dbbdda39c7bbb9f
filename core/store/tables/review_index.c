/* A review is in an order exactly while its state says so. What it is counted as is derived from
 * its state again after each change, so that an undone change needs nothing of its own. */
#include "store/tables/review_index.h"

#include "base/alloc.h"
#include "store/tables/shares.h"

static WRIT_RESULT
tag_agent(
    struct writ_view tenant, struct writ_view agent_id, struct writ_tag *ret, struct writ_err *err)
{
    struct writ_owner owner;

    WRIT_TRY(writ_shares_owner(tenant, agent_id, &owner, err));
    *ret = owner.agent;
    return WRIT_DONE;
}

static struct writ_reviews_agent *
find(const struct writ_reviews *reviews, struct writ_tag tag)
{
    return WRIT_MAP_OF(writ_map_find(&reviews->agents, tag), struct writ_reviews_agent, by_agent);
}

WRIT_RESULT
writ_review_index_join(
    struct writ_reviews *reviews, struct writ_reviewed *review, struct writ_err *err)
{
    const struct writ_review *terms = &review->story.review;
    struct writ_reviews_agent *agent;
    struct writ_tag tag;

    WRIT_TRY(tag_agent(terms->tenant, terms->agent_id, &tag, err));
    agent = find(reviews, tag);
    if (agent == NULL) {
        agent = writ_alloc(sizeof *agent);
        if (agent == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to count the reviews of an agent");
        }
        writ_map_add(&reviews->agents, &agent->by_agent, tag);
    }
    agent->held++;
    review->agent = agent;
    return WRIT_DONE;
}

/* Moves it to the order that its state belongs to; NULL: none. */
static void
set_aged(struct writ_reviews *reviews, struct writ_reviewed *review, struct writ_order *aged)
{
    if (review->aged == aged) {
        return;
    }
    if (review->aged != NULL) {
        writ_order_remove(review->aged, &review->by_age);
        review->agent->live -= review->aged == &reviews->live;
    }
    if (aged != NULL) {
        writ_order_add(aged, &review->by_age, review->leaf);
        review->agent->live += aged == &reviews->live;
    }
    review->aged = aged;
}

static void
set_open(struct writ_reviews *reviews, struct writ_reviewed *review, bool opens)
{
    if (review->opens && !opens) {
        writ_order_remove(&reviews->open, &review->by_opening);
    } else if (!review->opens && opens) {
        writ_order_add(&reviews->open, &review->by_opening, review->leaf);
    }
    review->opens = opens;
}

/* The order of its boundary, while it is live. */
static void
set_bounded(struct writ_reviewed *review, struct writ_order *bounded)
{
    if (review->bounded == bounded) {
        return;
    }
    if (review->bounded != NULL) {
        writ_order_remove(review->bounded, &review->by_boundary);
    }
    if (bounded != NULL) {
        writ_order_add(bounded, &review->by_boundary, review->leaf);
    }
    review->bounded = bounded;
}

/* The wall time at which a sweep looks at it: at the end of its state, or of the first that waits
 * for it. */
static uint64_t
due_of(const struct writ_reviewed *review)
{
    int64_t due_us = review->until_us;

    if (review->leaving) {
        return UINT64_MAX;
    }
    for (const struct writ_entry *entry = review->awaiting; entry != NULL; entry = entry->next) {
        if (entry->review_await.until_us < due_us) {
            due_us = entry->review_await.until_us;
        }
    }
    return review->look || due_us < 0 ? 0 : (uint64_t)due_us;
}

static void
set_due(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    uint64_t due = due_of(review);

    if (review->by_due.key != due) {
        writ_order_remove(&reviews->due, &review->by_due);
        writ_order_add(&reviews->due, &review->by_due, due);
    }
}

void
writ_review_index_follow(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    enum writ_review_state state = review->story.state;
    struct writ_order *aged = NULL;

    if (writ_review_phase(state) == WRIT_REVIEW_LIVE) {
        aged = &reviews->live;
    } else if (state == WRIT_REVIEW_REDEEMED && !review->leaving) {
        aged = &review->agent->redeemed;
    }
    set_aged(reviews, review, aged);
    set_open(reviews, review, state == WRIT_REVIEW_OPEN);
    set_bounded(review,
        review->boundary != NULL && aged == &reviews->live ? &review->boundary->reviews : NULL);
    set_due(reviews, review);
}

void
writ_review_index_look(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    review->look = true;
    set_due(reviews, review);
}

void
writ_review_index_look_in(struct writ_reviews *reviews, struct writ_boundary *boundary)
{
    struct writ_order_node *node = writ_order_from(&boundary->reviews, 0);

    for (; node != NULL; node = writ_order_next(node)) {
        writ_review_index_look(reviews, WRIT_ORDER_OF(node, struct writ_reviewed, by_boundary));
    }
}

static struct writ_reviewed *
until(struct writ_order_node *node, int64_t now_us)
{
    return node != NULL && node->key <= (uint64_t)now_us
               ? WRIT_ORDER_OF(node, struct writ_reviewed, by_due)
               : NULL;
}

struct writ_reviewed *
writ_review_index_due(const struct writ_reviews *reviews, int64_t now_us)
{
    return until(writ_order_from(&reviews->due, 0), now_us);
}

struct writ_reviewed *
writ_review_index_due_next(const struct writ_reviewed *review, int64_t now_us)
{
    return until(writ_order_next(&review->by_due), now_us);
}

void
writ_review_index_leave(struct writ_reviews *reviews, struct writ_reviewed *review)
{
    struct writ_reviews_agent *agent = review->agent;

    if (agent == NULL) {
        return;
    }
    set_aged(reviews, review, NULL);
    set_open(reviews, review, false);
    set_bounded(review, NULL);
    review->agent = NULL;
    if (--agent->held == 0) {
        writ_map_remove(&reviews->agents, &agent->by_agent);
        writ_free(agent);
    }
}

void
writ_review_index_change(struct writ_reviews *reviews, struct writ_reviewed *review, uint64_t leaf)
{
    if (review->changed > 0) {
        writ_order_remove(&reviews->changes, &review->by_change);
    }
    review->changed = leaf;
    writ_order_add(&reviews->changes, &review->by_change, leaf);
    if (leaf > reviews->changed) {
        reviews->changed = leaf;
    }
}

size_t
writ_review_index_live(
    const struct writ_reviews *reviews, struct writ_view tenant, struct writ_view agent_id)
{
    const struct writ_reviews_agent *agent;
    struct writ_tag tag;

    if (!writ_is_ok(tag_agent(tenant, agent_id, &tag, NULL))) {
        return SIZE_MAX;
    }
    agent = find(reviews, tag);
    return agent != NULL ? agent->live : 0;
}

size_t
writ_review_index_open(const struct writ_reviews *reviews, int64_t *ret_since_us)
{
    const struct writ_reviewed *oldest =
        WRIT_ORDER_OF(writ_order_from(&reviews->open, 0), struct writ_reviewed, by_opening);

    *ret_since_us = oldest != NULL ? oldest->story.review.opened_us : 0;
    return reviews->open.count;
}

struct writ_reviewed *
writ_review_index_surplus(const struct writ_reviews_agent *agent, size_t most)
{
    return agent->live + agent->redeemed.count >= most
               ? WRIT_ORDER_OF(writ_order_from(&agent->redeemed, 0), struct writ_reviewed, by_age)
               : NULL;
}
