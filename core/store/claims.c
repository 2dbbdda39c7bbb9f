/* 1. A claim is in both maps from writ_claims_add until it is freed.
 * 2. It is in exactly one list: that of its boundary while that is open, then a slot of the wheel.
 * 3. The slot of time t is (t / slot_us) % SLOTS. slot_us is made from the longest time that a
 *    claim is kept, so that the wheel need not turn more than once for it; a claim says itself
 *    when it ends, and none is freed before that, however the clock jumps. */
#include "store/claims.h"

#define BLOCK_HOLDS 512

struct writ_hold_block {
    struct writ_hold_block *next;
    struct writ_hold holds[BLOCK_HOLDS];
};

WRIT_RESULT
writ_claims_init(struct writ_claims *ret, size_t most, int64_t kept_us, int64_t window_kept_us,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_claims, writ_claims_wipe)
    claims = {.most = most};
    int64_t longest = kept_us > window_kept_us ? kept_us : window_kept_us;

    claims.slot_us = longest / (WRIT_CLAIMS_SLOTS / 2) + 1; /* keeps (3) */
    WRIT_TRY(writ_map_init(&claims.by_key, most, err));
    WRIT_TRY(writ_map_init(&claims.by_intent, most, err));
    WRIT_TRY(writ_shares_init(&claims.shares, most, err));
    *ret = claims;
    claims = (struct writ_claims){0};
    return WRIT_DONE;
}

void
writ_claims_wipe(struct writ_claims *claims)
{
    for (size_t i = 0; i < claims->by_key.bucket_count; i++) {
        for (struct writ_map_node *at = claims->by_key.buckets[i]; at != NULL; at = at->next) {
            struct writ_hold *hold = WRIT_MAP_OF(at, struct writ_hold, by_key);

            writ_shares_release(&claims->shares, &hold->charge);
        }
    }
    writ_shares_wipe(&claims->shares);
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

WRIT_RESULT
writ_claims_owner(struct writ_claims *claims, struct writ_view tenant, struct writ_view agent_id,
    struct writ_owner *ret, struct writ_err *err)
{
    if (claims->recent_tenant.ptr != NULL && writ_view_equal(claims->recent_tenant, tenant) &&
        writ_view_equal(claims->recent_agent, agent_id)) {
        *ret = claims->recent;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_shares_owner(tenant, agent_id, ret, err));
    if (tenant.len <= WRIT_CLAIMS_RECENT && agent_id.len <= WRIT_CLAIMS_RECENT - tenant.len) {
        claims->recent = *ret;
        claims->recent_tenant = writ_view_place(tenant, claims->recent_text);
        claims->recent_agent = writ_view_place(agent_id, claims->recent_text + tenant.len);
    }
    return WRIT_DONE;
}

struct writ_hold *
writ_claims_add(struct writ_claims *claims, struct writ_tag key, struct writ_tag intent,
    const struct writ_owner *owner)
{
    struct writ_charge charge = {0};
    struct writ_hold *hold;

    if (claims->by_key.count >= claims->most) {
        return NULL;
    }
    if (claims->spare == NULL) {
        more_spares(claims);
    }
    hold = claims->spare;
    if (hold == NULL) {
        return NULL;
    }
    if (owner != NULL &&
        !writ_is_ok(writ_shares_charge_to(&claims->shares, owner, &charge, NULL))) {
        return NULL;
    }
    claims->spare = hold->next;
    *hold = (struct writ_hold){.charge = charge};
    writ_map_add(&claims->by_key, &hold->by_key, key);
    writ_map_add(&claims->by_intent, &hold->by_intent, intent);
    return hold;
}

void
writ_claims_link(struct writ_hold **list, struct writ_hold *hold)
{
    hold->prev = NULL;
    hold->next = *list;
    if (*list != NULL) {
        (*list)->prev = hold;
    }
    *list = hold;
}

static void
hold_free(struct writ_claims *claims, struct writ_hold *hold)
{
    writ_map_remove(&claims->by_key, &hold->by_key);
    writ_map_remove(&claims->by_intent, &hold->by_intent);
    writ_shares_release(&claims->shares, &hold->charge);
    *hold = (struct writ_hold){.next = claims->spare};
    claims->spare = hold;
}

void
writ_claims_remove(struct writ_claims *claims, struct writ_hold **list, struct writ_hold *hold)
{
    if (hold->prev != NULL) {
        hold->prev->next = hold->next;
    } else {
        WRIT_INVARIANT(*list == hold);
        *list = hold->next;
    }
    if (hold->next != NULL) {
        hold->next->prev = hold->prev;
    }
    hold_free(claims, hold);
}

void
writ_claims_retire(
    struct writ_claims *claims, struct writ_hold *hold, int64_t sealed_us, int64_t now_us)
{
    int64_t until = hold->made_us + hold->kept_us;
    int64_t farthest = now_us + claims->slot_us * (WRIT_CLAIMS_SLOTS - 2);

    until = until > sealed_us ? until : sealed_us;
    until = until < farthest ? until : farthest; /* made "in the future": the clock went back */
    if (until <= now_us) {
        hold_free(claims, hold);
        return;
    }
    hold->until_us = until;
    writ_claims_link(&claims->slots[until / claims->slot_us % WRIT_CLAIMS_SLOTS], hold);
}

/* Frees what has ended in one slot and looks at `*most` claims at most; true when it came through.
 */
static bool
tick_slot(struct writ_claims *claims, struct writ_hold **list, int64_t now_us, size_t *most)
{
    struct writ_hold *hold = *list;

    while (hold != NULL) {
        struct writ_hold *next = hold->next;

        if (*most == 0) {
            return false;
        }
        (*most)--;
        if (hold->until_us <= now_us) {
            writ_claims_remove(claims, list, hold);
        }
        hold = next;
    }
    return true;
}

void
writ_claims_tick(struct writ_claims *claims, int64_t now_us, size_t most)
{
    int64_t now_slot = now_us / claims->slot_us;
    int64_t slot = claims->ticked_us / claims->slot_us;

    if (now_slot - slot > WRIT_CLAIMS_SLOTS) {
        slot = now_slot - WRIT_CLAIMS_SLOTS; /* once around the wheel is everything */
    }
    while (slot < now_slot &&
           tick_slot(claims, &claims->slots[slot % WRIT_CLAIMS_SLOTS], now_us, &most)) {
        slot++;
    }
    claims->ticked_us = (slot < now_slot ? slot : now_slot) * claims->slot_us;
}
