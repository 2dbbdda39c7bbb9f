/* 1. A claim is in both maps from writ_claims_add until it is freed.
 * 2. It is in the list exactly when it is not in flight. */
#include "store/tables/claims.h"

#define BLOCK_HOLDS 512

struct writ_hold_block {
    struct writ_hold_block *next;
    struct writ_hold holds[BLOCK_HOLDS];
};

WRIT_RESULT
writ_claims_init(struct writ_claims *ret, size_t most, struct writ_err *err)
{
    WRIT_AUTO(struct writ_claims, writ_claims_wipe) claims = {0};

    WRIT_TRY(writ_map_init(&claims.by_key, most, err));
    WRIT_TRY(writ_map_init(&claims.by_intent, most, err));
    *ret = claims;
    claims = (struct writ_claims){0};
    return WRIT_DONE;
}

void
writ_claims_wipe(struct writ_claims *claims)
{
    while (claims->blocks != NULL) {
        struct writ_hold_block *block = claims->blocks;

        claims->blocks = block->next;
        writ_free(block);
    }
    writ_map_wipe(&claims->by_key);
    writ_map_wipe(&claims->by_intent);
    *claims = (struct writ_claims){0};
}

size_t
writ_claims_count(const struct writ_claims *claims)
{
    return claims->by_key.count;
}

struct writ_hold *
writ_claims_by_key(const struct writ_claims *claims, struct writ_tag key)
{
    return WRIT_MAP_OF(writ_map_find(&claims->by_key, key), struct writ_hold, by_key);
}

struct writ_hold *
writ_claims_by_intent(const struct writ_claims *claims, struct writ_tag intent)
{
    return WRIT_MAP_OF(writ_map_find(&claims->by_intent, intent), struct writ_hold, by_intent);
}

static void
more_spares(struct writ_claims *claims)
{
    struct writ_hold_block *block = writ_alloc(sizeof *block);

    if (block == NULL) {
        return;
    }
    block->next = claims->blocks;
    claims->blocks = block;
    for (size_t i = 0; i < BLOCK_HOLDS; i++) {
        block->holds[i].next = claims->spare;
        claims->spare = &block->holds[i];
    }
}

struct writ_hold *
writ_claims_add(struct writ_claims *claims, struct writ_tag key, struct writ_tag intent,
    const struct writ_claim_facts *facts)
{
    struct writ_hold *hold;

    if (claims->spare == NULL) {
        more_spares(claims);
    }
    hold = claims->spare;
    if (hold == NULL) {
        return NULL;
    }
    claims->spare = hold->next;
    *hold = (struct writ_hold){.facts = *facts};
    hold->facts.in_flight = true;
    writ_map_add(&claims->by_key, &hold->by_key, key);
    writ_map_add(&claims->by_intent, &hold->by_intent, intent);
    return hold;
}

void
writ_claims_conclude(
    struct writ_claims *claims, struct writ_hold *hold, uint8_t outcome, bool interrupted)
{
    hold->facts.in_flight = false;
    hold->facts.outcome = outcome;
    hold->facts.interrupted = interrupted;
    hold->prev = claims->last; /* keeps (2) */
    hold->next = NULL;
    if (claims->last != NULL) {
        claims->last->next = hold;
    } else {
        claims->first = hold;
    }
    claims->last = hold;
    claims->concluded++;
}

static void
unlist(struct writ_claims *claims, struct writ_hold *hold)
{
    if (hold->prev != NULL) {
        hold->prev->next = hold->next;
    } else {
        claims->first = hold->next;
    }
    if (hold->next != NULL) {
        hold->next->prev = hold->prev;
    } else {
        claims->last = hold->prev;
    }
    claims->concluded--;
}

void
writ_claims_remove(struct writ_claims *claims, struct writ_hold *hold)
{
    if (!hold->facts.in_flight) {
        unlist(claims, hold);
    }
    writ_map_remove(&claims->by_key, &hold->by_key);
    writ_map_remove(&claims->by_intent, &hold->by_intent);
    *hold = (struct writ_hold){.next = claims->spare};
    claims->spare = hold;
}
